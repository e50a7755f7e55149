//! FIU IODedup: `ts_ns pid process lba size R|W major minor md5`, blank-separated.
//!
//! Sectors of 512 bytes. The name of the process may contain blanks and slashes; the fields after it are located from
//! the end of the line. One MD5 covers 4 KiB. The older traces of home folders have one per 512 bytes, and a line may
//! end in several. The traces come as `.tar.gz`; remains of the archive after naive unpacking are skipped and counted.
//! The device is `major,minor`.
//!
//! Content: the fingerprint of a page is the first 8 bytes of its MD5. If a line has an MD5 for each sector of a page,
//! they are mixed into one. If one MD5 covers several pages, each page gets its own value derived from it.

use super::{FormatInfo, Likeness, no_head, text_reader};
use crate::intake::Record;
use crate::options::{LbaUnit, TimeUnit};
use crate::setup::Setup;
use crate::text::LineFormat;
use floatgate_base::{Op, OptionalColumns, RequestBatch, Result, TRACE_PAGE_BYTES};
use floatgate_input::{Cursor, Fault, scaled};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "fiu",
    summary: "FIU IODedup with content hashes (SNIA IOTTA)",
    line: "expected ts_ns pid process lba size R|W major minor md5",
    units: "time in nanoseconds, address and size in sectors of 512 bytes",
    states_units: true,
    time_unit: Some(TimeUnit::Nanoseconds),
    other_time_units: &[],
    lba_unit: Some(LbaUnit::Sector),
    extensions: &["fiu", "blkparse"],
    has_times: true,
    has_actions: false,
    recognise,
    recognise_head: no_head,
    reader: text_reader::<Fiu>,
};

pub(super) struct Fiu {
    time_power: u32,
    lba_bytes: u64,
    /// First 8 bytes of the MD5s of the line parsed last.
    hashes: Vec<u64>,
}

impl LineFormat for Fiu {
    fn new(setup: &Setup, _head: &[u8]) -> Result<Self> {
        Ok(Self { time_power: setup.time_power, lba_bytes: setup.lba_bytes, hashes: Vec::new() })
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        line.blanks();
        if line.at_end() {
            return Ok(None);
        }
        let stamp = line
            .stamp(self.time_power)
            .ok_or_else(|| line.fault("is not a time stamp", "expected nanoseconds"))?;
        gap(line, "is not a time stamp", "expected nanoseconds")?;
        line.uint().ok_or_else(|| line.fault("is not a process number", "expected a whole number"))?;
        gap(line, "is not a process number", "expected a whole number")?;
        let fields = behind_process(line)?;
        line.skip(fields - line.at());
        let lba =
            line.uint().ok_or_else(|| line.fault("is not an address", "expected sectors of 512 bytes"))?;
        gap(line, "is not an address", "expected sectors of 512 bytes")?;
        let sectors =
            line.uint().ok_or_else(|| line.fault("is not a size", "expected sectors of 512 bytes"))?;
        gap(line, "is not a size", "expected sectors of 512 bytes")?;
        // Located by this letter.
        let op = if line.peek() == Some(b'W') { Op::Write } else { Op::Read };
        line.skip(1);
        line.blanks();
        let from = line.at();
        line.uint().ok_or_else(|| line.fault("is not a device", "expected major and minor number"))?;
        gap(line, "is not a device", "expected major and minor number")?;
        line.uint().ok_or_else(|| line.fault("is not a device", "expected major and minor number"))?;
        let device = line.since(from);
        gap(line, "is not a device", "expected major and minor number")?;
        hashes(line, &mut self.hashes)?;
        Ok(Some(Record {
            stamp,
            op,
            offset: scaled(lba, self.lba_bytes)?,
            bytes: scaled(sectors, 512)?,
            device,
        }))
    }

    fn columns(&self) -> OptionalColumns {
        OptionalColumns { content: true, ..OptionalColumns::default() }
    }

    fn extras(&mut self, bytes: u64, batch: &mut RequestBatch) {
        let (hashes, content) = (&self.hashes, &mut batch.content);
        let (pages, sectors) = (bytes.div_ceil(TRACE_PAGE_BYTES), bytes.div_ceil(512));
        if hashes.len() as u64 == pages {
            hashes.iter().for_each(|&h| content.push(known(h), 0));
        } else if hashes.len() as u64 == sectors {
            hashes.chunks(8).for_each(|page| content.push(known(page.iter().fold(0, |h, &s| mix(h, s))), 0));
        } else if hashes.len() == 1 && pages <= PAGES_MAX {
            (0..pages).for_each(|page| content.push(known(mix(hashes[0], page)), 0));
        }
        content.close();
    }

    fn device_name(key: &[u8]) -> String {
        String::from_utf8_lossy(key).split_ascii_whitespace().collect::<Vec<_>>().join(",")
    }
}

/// Skips the blanks after a field.
#[inline]
fn gap(line: &mut Cursor<'_>, what: &'static str, expected: &'static str) -> std::result::Result<(), Fault> {
    if line.blanks() || line.at_end() { Ok(()) } else { Err(line.fault(what, expected)) }
}

/// Locates the address: two fields before the last R or W that is a field of its own.
#[inline]
fn behind_process(line: &Cursor<'_>) -> std::result::Result<usize, Fault> {
    let (at, text) = (line.at(), line.rest());
    let blank = |i: usize| text.get(i).is_some_and(|b| matches!(b, b' ' | b'\t'));
    // Neither letter occurs in the numbers and hexadecimal digits after it.
    let letter = text.iter().rposition(|b| matches!(b, b'R' | b'W'));
    let Some(letter) = letter.filter(|&i| i > 0 && blank(i - 1) && blank(i + 1)) else {
        let expected = "expected ts_ns pid process lba size R|W major minor md5";
        return Err(Fault { from: at, to: line.line().len(), what: "has no R or W", expected });
    };
    let mut i = letter;
    for _ in 0..2 {
        while i > 0 && blank(i - 1) {
            i -= 1;
        }
        while i > 0 && !blank(i - 1) {
            i -= 1;
        }
    }
    if i == 0 {
        return Err(Fault { from: at, to: at + letter, what: "has no process", expected: "expected a name" });
    }
    Ok(at + i)
}

/// Most pages to which one MD5 is spread: more than a block command moves, and a limit for broken lines.
const PAGES_MAX: u64 = 1 << 16;

/// Replaces a fingerprint of 0, which stands for none.
fn known(hash: u64) -> u64 {
    hash.max(1)
}

/// Mixes two values into one: equal pairs give equal results, different pairs hardly ever (the finaliser of
/// SplitMix64).
fn mix(a: u64, b: u64) -> u64 {
    let mut x = a.rotate_left(5).wrapping_add(b).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Parses the first 8 bytes of a hexadecimal number.
#[inline]
fn first_bytes(hex: &[u8]) -> u64 {
    hex[..16].iter().fold(0, |value, &b| {
        // In the low bits, letters of either case are 9 below their value.
        value << 4 | u64::from((b & 15) + 9 * (b >> 6))
    })
}

/// Reads the MD5s at the end of a line.
#[inline]
fn hashes(line: &mut Cursor<'_>, out: &mut Vec<u64>) -> std::result::Result<(), Fault> {
    out.clear();
    loop {
        let from = line.at();
        let word = line.word();
        // Not `all`, which stops early and prevents vectorisation of the loop.
        let hex = word.iter().fold(true, |ok, b| ok & b.is_ascii_hexdigit());
        if word.len() != 32 || !hex {
            return Err(line.fault_from(from, "is not an MD5", "expected 32 hexadecimal digits"));
        }
        out.push(first_bytes(word));
        line.blanks();
        if line.at_end() {
            return Ok(());
        }
    }
}

fn recognise(line: &[u8]) -> Likeness {
    let words: Vec<&[u8]> = line.split(|b| matches!(b, b' ' | b'\t')).filter(|w| !w.is_empty()).collect();
    let number = |w: &[u8]| w.iter().all(u8::is_ascii_digit);
    let letter = words.iter().rposition(|w| matches!(*w, b"R" | b"W"));
    Likeness::sure(letter.is_some_and(|i| {
        i >= 5
            && words.len() > i + 3
            && number(words[0])
            && number(words[1])
            && words[i - 2..i].iter().chain(&words[i + 1..i + 3]).all(|w| number(w))
            && words[i + 3].len() == 32
    }))
}
