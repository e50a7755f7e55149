//! What the caller says of captures.

use floatgate_base::Result;

/// Formats of captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A value change dump.
    Vcd,
    /// A sigrok session.
    Sigrok,
    /// Times and levels, as Saleae Logic 2 and sigrok-cli export them.
    Csv,
    /// A length per line.
    Intervals,
}

impl Format {
    /// All of them, by name.
    pub const NAMES: [(&str, Self); 4] =
        [("vcd", Self::Vcd), ("sigrok", Self::Sigrok), ("csv", Self::Csv), ("intervals", Self::Intervals)];

    /// The format of a name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, format)| format)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.into_iter().find(|(_, format)| *format == self).map_or("", |(name, _)| name)
    }
}

/// What the user says of a capture.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// The format; found out if it is not given.
    pub format: Option<Format>,
    /// Picoseconds of a unit of time, or between two samples, in place of what the file says.
    pub time_unit_ps: Option<f64>,
}

/// Is told how many bytes of the file were taken; an error ends the reading.
pub type Watch<'a> = dyn FnMut(u64) -> Result<()> + 'a;
