//! Parquet with the columns that `floatgate trace convert` and `floatgate trace record` write.
//!
//! `time_ns`, `op`, `offset` and `bytes`, and optionally `device`, `context`, `stream`, `fingerprints` and
//! `compressed_bytes`. The names of contexts are in the file's metadata (docs/convert.md). Read through Arrow outside
//! of the core; see [`crate::external`].

use super::{FormatInfo, Likeness, no_line};
use crate::external::external_reader;

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "parquet",
    summary: "floatgate's own, with contexts, streams and content",
    line: "expected columns time_ns, op, offset, bytes, and optional ones",
    units: "time in nanoseconds, address and size in bytes",
    states_units: true,
    time_unit: None,
    other_time_units: &[],
    lba_unit: None,
    extensions: &["parquet"],
    has_times: true,
    has_actions: false,
    recognise: no_line,
    recognise_head,
    reader: external_reader,
};

fn recognise_head(head: &[u8]) -> Likeness {
    Likeness::sure(head.starts_with(b"PAR1"))
}
