//! Output of `strace -f -y -k`: system calls, each with the stack that led to it.
//!
//! The files are laid out on a logical drive and pass through the page-cache model of `floatgate trace record`, outside
//! of the core; see [`crate::external`].

use super::{FormatInfo, Likeness, no_head};
use crate::external::external_reader;
use memchr::memmem;

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "strace",
    summary: "strace -f -y -k, through a page-cache model",
    line: "expected [pid] time call(arguments) = result, and stacks below",
    units: "time in seconds, offsets and sizes of calls in bytes",
    states_units: true,
    time_unit: None,
    other_time_units: &[],
    lba_unit: None,
    extensions: &["strace"],
    has_times: true,
    has_actions: false,
    recognise,
    recognise_head: no_head,
    reader: external_reader,
};

fn recognise(line: &[u8]) -> Likeness {
    let stack = line.starts_with(b" > ") && line.ends_with(b"]");
    let call = memmem::find(line, b"(").is_some()
        && (memmem::find(line, b") = ").is_some() || line.ends_with(b"<unfinished ...>"))
        || memmem::find(line, b" resumed>").is_some()
        || memmem::find(line, b"+++ ").is_some()
        || memmem::find(line, b"--- SIG").is_some();
    Likeness::sure(stack || call)
}
