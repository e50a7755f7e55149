//! SSDTrace (YCSB on RocksDB, SNIA IOTTA): blkparse's text without leading blanks.
//!
//! The grammar is that of blkparse, and without the extension or `--format` such a trace is read as blkparse. The
//! difference is the default event: D, the requests that reached the drive, as users of the trace count; another event
//! if the first 256 KiB hold no D.

use super::blkparse::BlkParse;
use super::{FormatInfo, Likeness, blkparse, no_head, text_reader};
use crate::intake::Record;
use crate::setup::Setup;
use crate::text::{LineFormat, Usual};
use floatgate_base::{OptionalColumns, RequestBatch, Result};
use floatgate_input::{Cursor, Fault, Known, Scan};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "ssdtrace",
    summary: "SSDTrace (YCSB on RocksDB): blkparse text, events D",
    extensions: &["ssdtrace"],
    recognise,
    reader: text_reader::<SsdTrace>,
    other_time_units: &[],
    recognise_head: no_head,
    ..blkparse::INFO
};

pub(super) struct SsdTrace(BlkParse);

impl LineFormat for SsdTrace {
    fn new(setup: &Setup, head: &[u8]) -> Result<Self> {
        BlkParse::preferring(setup, head, Some(b'D')).map(Self)
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        self.0.parse(line)
    }

    const HAS_USUAL: bool = true;

    #[inline(always)]
    fn usual<'a>(&'a mut self, line: Scan<'a>, last_device: Known) -> Option<Usual<'a>> {
        self.0.usual(line, last_device)
    }

    fn columns(&self) -> OptionalColumns {
        self.0.columns()
    }

    fn extras(&mut self, bytes: u64, batch: &mut RequestBatch) {
        self.0.extras(bytes, batch);
    }

    fn restart(&mut self) {
        self.0.restart();
    }

    fn assumed(&self, out: &mut Vec<String>) {
        self.0.assumed(out);
    }

    fn hint_if_empty(&self) -> String {
        self.0.hint_if_empty()
    }
}

fn recognise(line: &[u8]) -> Likeness {
    match (blkparse::INFO.recognise)(line) {
        Likeness::Yes if line[0].is_ascii_digit() => Likeness::Fits,
        _ => Likeness::No,
    }
}
