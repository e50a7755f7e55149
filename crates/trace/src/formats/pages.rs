//! Streams of page numbers: little-endian `u32` without anything else, or one decimal number per line.
//!
//! Cache research uses both (LIRS with `*` lines between phases, which are other records). A page is 4 KiB unless
//! `--lba-unit` sets another size. The format has neither operations nor times: every request is a read, and stamps are
//! 0. A file of digits, blanks, `*` and line breaks is text, any other binary. Since any content could be binary page
//! numbers, only the extension or `--format` selects this format. The samples in the tests are constructed from the
//! schema.

use super::{FormatInfo, Likeness, binary_reader, text_reader};
use crate::binary::{RecordFormat, u32_le};
use crate::intake::{ONE_DEVICE, Record};
use crate::options::LbaUnit;
use crate::setup::Setup;
use crate::source::Source;
use crate::text::LineFormat;
use floatgate_base::{Op, Result};
use floatgate_input::CHUNK;
use floatgate_input::Input;
use floatgate_input::{Cursor, Fault, scaled};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "pages",
    summary: "page numbers, as text or binary u32 (LIRS, caffeine)",
    line: "expected page numbers: one per line, or 4 bytes each",
    units: "assumed: pages of 4 KiB; no operation in the file, all requests are reads",
    states_units: false,
    time_unit: None,
    other_time_units: &[],
    lba_unit: Some(LbaUnit::Page4k),
    extensions: &["pages", "lirs"],
    has_times: false,
    has_actions: false,
    recognise,
    recognise_head,
    reader,
};

fn reader(mut input: Input, chunk: usize, setup: Setup) -> Result<Box<dyn Source>> {
    match is_text(input.peek(CHUNK)?) {
        true => text_reader::<TextPages>(input, chunk, setup),
        false => binary_reader::<BinaryPages>(input, chunk, setup),
    }
}

struct TextPages {
    page_bytes: u64,
}

impl LineFormat for TextPages {
    fn new(setup: &Setup, _head: &[u8]) -> Result<Self> {
        Ok(Self { page_bytes: setup.lba_bytes })
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        line.blanks();
        if line.at_end() || line.rest().trim_ascii_end() == b"*" {
            return Ok(None);
        }
        let page = line.uint().ok_or_else(|| line.fault("is not a page number", EXPECTED))?;
        line.blanks();
        if !line.at_end() {
            return Err(line.fault("is not a page number", EXPECTED));
        }
        let offset = scaled(page, self.page_bytes)?;
        Ok(Some(Record { stamp: 0, op: Op::Read, offset, bytes: self.page_bytes, device: ONE_DEVICE }))
    }

    fn has_times(&self) -> bool {
        false
    }

    fn assumed(&self, out: &mut Vec<String>) {
        out.push("page numbers are read as text, one per line".into());
    }
}

const EXPECTED: &str = "expected a whole number or *";

struct BinaryPages {
    page_bytes: u64,
}

impl RecordFormat for BinaryPages {
    fn new(setup: &Setup, _head: &[u8]) -> Result<Self> {
        Ok(Self { page_bytes: setup.lba_bytes })
    }

    #[inline]
    fn shortest(&self) -> usize {
        4
    }

    #[inline]
    fn parse<'a>(&'a mut self, record: &'a [u8]) -> std::result::Result<Option<Record<'a>>, Fault> {
        // 2^32 pages of 4 KiB fit.
        let offset = u64::from(u32_le(record, 0)) * self.page_bytes;
        Ok(Some(Record { stamp: 0, op: Op::Read, offset, bytes: self.page_bytes, device: ONE_DEVICE }))
    }

    fn has_times(&self) -> bool {
        false
    }

    fn assumed(&self, out: &mut Vec<String>) {
        out.push("page numbers are read as little-endian u32".into());
    }
}

/// Returns whether the beginning of a file contains only printable bytes, blanks and line breaks.
fn is_text(head: &[u8]) -> bool {
    head.iter().all(|b| matches!(b, b' '..=b'~' | b'\t' | b'\r' | b'\n'))
}

fn recognise(line: &[u8]) -> Likeness {
    let word = line.trim_ascii();
    Likeness::sure(word == b"*" || !word.is_empty() && word.iter().all(u8::is_ascii_digit))
}

fn recognise_head(head: &[u8]) -> Likeness {
    if is_text(head) { Likeness::No } else { Likeness::Fits }
}
