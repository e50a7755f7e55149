//! The table of trace formats and how one is told from another.

mod blkparse;
mod columns;
mod disksim;
mod fio_iolog;
mod flashsim;
mod mqsim;
mod msr;
mod nbdkit_log;
mod spc;
mod ssdsim;

use crate::lines::Lines;
use crate::options::{LbaUnit, OpenOptions, TimeUnit};
use crate::source::Source;
use crate::text::{LineFormat, Setup, TextReader};
use floatgate_base::Result;

/// What a line says about the format of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Likeness {
    /// Not a line of this format.
    No,
    /// The grammar fits, but only the file's extension can say that it is this format.
    Fits,
    /// Looks like this format.
    Yes,
}

impl Likeness {
    pub fn sure(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

/// One trace format.
pub struct FormatInfo {
    /// Name on the command line.
    pub name: &'static str,
    /// What it is and where it comes from.
    pub summary: &'static str,
    /// How a line looks.
    pub line: &'static str,
    /// Units of time, address and size, and what tells a read from a write.
    pub units: &'static str,
    /// Whether a file says these units itself; if not they are assumptions and are shown.
    pub states_units: bool,
    /// Unit of the stamps; none where it cannot be overridden.
    pub time_unit: Option<TimeUnit>,
    /// Unit of the addresses; none where it cannot be overridden.
    pub lba_unit: Option<LbaUnit>,
    /// Extensions of its files, without a suffix for compression.
    pub extensions: &'static [&'static str],
    /// Whether one of several events is chosen as the request.
    pub has_actions: bool,
    /// Whether a line looks like one of this format.
    pub(crate) recognise: fn(&[u8]) -> Likeness,
    pub(crate) reader: fn(Lines, Setup) -> Result<Box<dyn Source>>,
}

/// All formats that can be read.
pub const FORMATS: &[FormatInfo] = &[
    msr::INFO,
    spc::INFO,
    disksim::INFO,
    ssdsim::INFO,
    mqsim::INFO,
    flashsim::INFO,
    blkparse::INFO,
    fio_iolog::INFO,
    nbdkit_log::INFO,
];

impl std::fmt::Debug for FormatInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl FormatInfo {
    /// What is taken for granted about the units, given what the user says.
    pub(crate) fn assumed(&self, options: &OpenOptions) -> Vec<String> {
        let mut out = Vec::new();
        if !self.states_units {
            out.push(self.units.to_owned());
        }
        if let Some(unit) = options.time_unit {
            out.push(format!("time unit overridden: {}", unit.name()));
        }
        if let Some(unit) = options.lba_unit {
            out.push(format!("address unit overridden: {}", unit.name()));
        }
        out
    }
}

/// Builds the reader of a text format.
pub(crate) fn text_reader<F: LineFormat>(lines: Lines, setup: Setup) -> Result<Box<dyn Source>> {
    Ok(Box::new(TextReader::<F>::new(lines, setup)?))
}
