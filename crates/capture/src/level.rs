//! Levels of a pin.

/// The level of a pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Busy.
    Low,
    /// Ready.
    High,
    /// Not known.
    Unknown,
}
