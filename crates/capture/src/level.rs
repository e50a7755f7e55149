//! Levels of a pin.

/// What a pin is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Busy.
    Low,
    /// Ready.
    High,
    /// Neither is known.
    Unknown,
}
