//! Output of `perf script`: kernel events, each with the stack that led to it.
//!
//! Block events (`block:block_rq_issue` or `_insert`) are requests by themselves. For system calls the files are laid
//! out on a drive and pass through the page-cache model of `floatgate trace record`, outside of the core; see
//! [`crate::external`].

use super::{FormatInfo, Likeness, no_head};
use crate::external::external_reader;
use memchr::memmem;

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "perf-script",
    summary: "perf script of block events, or of system calls through a page-cache model",
    line: "expected process time: event: fields, and stacks below",
    units: "time in seconds, addresses and sizes of block events in sectors, of calls in bytes",
    states_units: true,
    time_unit: None,
    other_time_units: &[],
    lba_unit: None,
    extensions: &["perf", "perf-script"],
    has_times: true,
    has_actions: false,
    recognise,
    recognise_head: no_head,
    reader: external_reader,
};

fn recognise(line: &[u8]) -> Likeness {
    let event =
        memmem::find(line, b" syscalls:sys_").is_some() || memmem::find(line, b" block:block_rq_").is_some();
    let frame = line.first().is_some_and(|b| matches!(b, b' ' | b'\t'))
        && line.ends_with(b")")
        && line.trim_ascii_start().first().is_some_and(u8::is_ascii_hexdigit)
        && memmem::rfind(line, b" (").is_some();
    Likeness::sure(event || frame)
}
