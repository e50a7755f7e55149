//! Levels of a pin.

/// The level of a pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Busy.
    Low,
    /// Ready.
    High,
    /// Driven by nobody (`z`): an open-drain pin with its pull-up, which is ready.
    Released,
    /// Not known.
    Unknown,
}
