//! The table of trace formats and how they are distinguished.

mod arc;
mod baleen;
mod biosnoop;
mod blkparse;
mod blktrace;
mod blktrace_cpus;
mod block_events;
mod columns;
mod csv;
mod described;
mod disksim;
mod disksim_valid;
mod etw;
mod fio_iolog;
mod fio_log;
mod fiu;
mod flashsim;
mod ftrace;
pub mod live;
pub mod live_parts;
mod mqsim;
mod nbdkit_log;
mod oracle_general;
mod pages;
mod parquet;
mod perf_script;
mod replayer;
mod rows;
pub mod samples;
mod sepbit;
mod spc;
mod srt;
mod ssdsim;
mod ssdtrace;
mod strace;
mod thesios;
pub(crate) mod user_columns;
#[cfg(test)]
mod usual_tests;
mod vscsi;
mod wiscsee;

use crate::binary::{BinaryReader, RecordFormat};
use crate::options::{LbaUnit, TimeUnit};
use crate::setup::Setup;
use crate::source::Source;
use crate::text::{LineFormat, TextReader};
use described::Row;
use floatgate_base::Result;
use floatgate_input::Input;

/// Evidence of a line for the format of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Likeness {
    /// Not a line of this format.
    No,
    /// The grammar fits, but only the file's extension can confirm the format.
    Fits,
    /// Typical of this format.
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
    /// Description and origin.
    pub summary: &'static str,
    /// Form of a line.
    pub line: &'static str,
    /// Units of time, address and size, and the distinction of reads and writes.
    pub units: &'static str,
    /// Whether the file states these units; otherwise they are assumptions and are shown.
    pub states_units: bool,
    /// Unit of the stamps; none if it cannot be overridden.
    pub time_unit: Option<TimeUnit>,
    /// Other units of time in which files of this format exist.
    pub(crate) other_time_units: &'static [TimeUnit],
    /// Unit of the addresses; none if it cannot be overridden.
    pub lba_unit: Option<LbaUnit>,
    /// Extensions of its files, without a suffix for compression.
    pub extensions: &'static [&'static str],
    /// Whether its files have stamps.
    pub has_times: bool,
    /// Whether one of several events is chosen as the request.
    pub has_actions: bool,
    /// Rates how typical a line is of this format.
    pub(crate) recognise: fn(&[u8]) -> Likeness,
    /// Rates how typical the beginning of a file, possibly all of it, is of this binary format.
    pub(crate) recognise_head: fn(&[u8]) -> Likeness,
    pub(crate) reader: Reader,
}

/// Constructor of a format's reader, from its content and the chunk size for reading.
pub(crate) type Reader = fn(Input, usize, Setup) -> Result<Box<dyn Source>>;

/// All readable formats.
pub const FORMATS: &[FormatInfo] = &[
    rows::Msr::INFO,
    spc::INFO,
    disksim::INFO,
    ssdsim::INFO,
    mqsim::INFO,
    flashsim::INFO,
    blkparse::INFO,
    blktrace::INFO,
    ftrace::INFO,
    biosnoop::INFO,
    fio_iolog::INFO,
    fio_log::INFO,
    nbdkit_log::INFO,
    disksim_valid::INFO,
    srt::INFO,
    fiu::INFO,
    ssdtrace::INFO,
    wiscsee::INFO,
    vscsi::INFO,
    rows::CloudPhysics::INFO,
    oracle_general::INFO,
    pages::INFO,
    arc::INFO,
    etw::INFO,
    rows::Alibaba::INFO,
    rows::Tencent::INFO,
    rows::Systor17::INFO,
    rows::K5Cloud::INFO,
    baleen::INFO,
    thesios::INFO,
    replayer::INFO,
    sepbit::INFO,
    strace::INFO,
    perf_script::INFO,
    parquet::INFO,
    live::INFO,
];

impl std::fmt::Debug for FormatInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// The format of blktrace's events.
pub(crate) const BLKTRACE: &FormatInfo = &blktrace::INFO;

/// Returns whether a path is the first of the files that blktrace wrote for several CPUs.
pub(crate) fn is_first_of_cpus(path: &str) -> bool {
    blktrace_cpus::files(path).len() > 1
}

/// Creates the reader of a text format.
pub(crate) fn text_reader<F: LineFormat>(
    input: Input,
    chunk: usize,
    setup: Setup,
) -> Result<Box<dyn Source>> {
    Ok(Box::new(TextReader::<F>::new(input, chunk, setup)?))
}

/// Creates the reader of a binary format.
pub(crate) fn binary_reader<F: RecordFormat>(
    input: Input,
    chunk: usize,
    setup: Setup,
) -> Result<Box<dyn Source>> {
    Ok(Box::new(BinaryReader::<F>::new(input, chunk, setup)?))
}

/// For text formats: no content is binary.
fn no_head(_: &[u8]) -> Likeness {
    Likeness::No
}

/// For binary formats: no line is text.
fn no_line(_: &[u8]) -> Likeness {
    Likeness::No
}
