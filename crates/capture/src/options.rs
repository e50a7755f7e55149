//! Options for reading captures.

use floatgate_base::Result;

/// Formats of captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A value change dump.
    Vcd,
    /// A sigrok session.
    Sigrok,
    /// A channel in binary, as Saleae Logic 2 exports it.
    Saleae,
    /// Times and levels, as Saleae Logic 2 and sigrok-cli export them.
    Csv,
    /// One length per line.
    Intervals,
}

impl Format {
    /// All formats by name.
    pub const NAMES: [(&str, Self); 5] = [
        ("vcd", Self::Vcd),
        ("sigrok", Self::Sigrok),
        ("csv", Self::Csv),
        ("intervals", Self::Intervals),
        ("saleae", Self::Saleae),
    ];

    /// Returns the format with this name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, format)| format)
    }

    /// Returns the name of the format.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.into_iter().find(|(_, format)| *format == self).map_or("", |(name, _)| name)
    }
}

/// The user's options for a capture.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// The format; detected if absent.
    pub format: Option<Format>,
    /// Picoseconds per unit of time, or between two samples, instead of the value in the file.
    pub time_unit_ps: Option<f64>,
}

/// Callback with the bytes read so far; an error ends the reading.
pub type Watch<'a> = dyn FnMut(u64) -> Result<()> + 'a;
