//! HP Labs' SRT, versions 1.1 to 1.3: a text header up to a form feed, then big-endian records of `u32`.
//!
//! A record is `size, id, sec, usec, start, stop, bytes, sector, device, driver, cylinder, flags, info[, queue]`. The
//! low half of the id is the kind: 1 is a request, 2 a suspect one, which is another record, as in DiskSim. The high
//! half is its version, 1 to 4; version 4 has the queue length. Bit 0 of the flags means read. Sectors have the
//! header's `sectorsize` if all disks agree, else 256 bytes.
//!
//! Addresses count from the beginning of the disk (cylinders in the traces confirm it); the disk is the device: bits 8
//! to 15 of the device number. The section and the use of the block or the character device do not matter.

use super::{FormatInfo, Likeness, binary_reader, no_line};
use crate::binary::{RECORD_MAX, RecordFormat, field_fault, u32_be};
use crate::intake::Record;
use crate::setup::Setup;
use floatgate_base::{Error, Op, Place, Result};
use floatgate_input::{Fault, scaled};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "srt",
    summary: "HP Labs SRT 1.1 to 1.3, binary (cello, hplajw, snake)",
    line: "expected a header that ends in a form feed, and records of 52 bytes or more",
    units: "time in seconds and microseconds, size in bytes, sectors as the header says",
    states_units: true,
    time_unit: None,
    other_time_units: &[],
    lba_unit: None,
    extensions: &["srt"],
    has_times: true,
    has_actions: false,
    recognise: no_line,
    recognise_head,
    reader: binary_reader::<Srt>,
};

/// Bytes of a record without queue length.
const SHORTEST: usize = 52;
const REQUEST: u32 = 1;
const SUSPECT: u32 = 2;
const MARK: &[u8] = b"$$TR_IOREC-";

pub(super) struct Srt {
    header: usize,
    sector_bytes: u64,
    in_header: bool,
}

impl RecordFormat for Srt {
    fn new(setup: &Setup, head: &[u8]) -> Result<Self> {
        let refuse = |byte: usize, what: &str, expected: &str| {
            let place = Place::Byte { path: setup.path.clone(), byte: byte as u64 };
            Err(Error::input(place, what, expected))
        };
        if !head.starts_with(MARK) {
            return refuse(0, "no SRT header", "expected $$TR_IOREC-1.3 or an earlier version");
        }
        let Some(end) = memchr::memchr(b'\x0c', head) else {
            return refuse(head.len(), "the header has no end", "expected a form feed after the header");
        };
        let stated = sector_bytes(&head[..end]);
        Ok(Self { header: end + 1, sector_bytes: stated.unwrap_or(256), in_header: stated.is_some() })
    }

    fn header(&self) -> usize {
        self.header
    }

    #[inline]
    fn shortest(&self) -> usize {
        SHORTEST
    }

    #[inline]
    fn length(&self, bytes: &[u8]) -> std::result::Result<usize, Fault> {
        let (size, id) = (u32_be(bytes, 0) as usize, u32_be(bytes, 4));
        let (version, kind) = (id >> 16, id & 0xffff);
        if !(1..=4).contains(&version) {
            return Err(field_fault(
                4,
                4,
                "is not a record",
                "expected a version from 1 to 4 in the upper half",
            ));
        }
        let due = SHORTEST + 4 * usize::from(version == 4) + 4 * usize::from(kind == SUSPECT);
        let known = matches!(kind, REQUEST | SUSPECT);
        if !(SHORTEST..=RECORD_MAX).contains(&size) || known && size != due {
            return Err(field_fault(0, 4, "is not the size of such a record", "expected 52 to 60 bytes"));
        }
        Ok(size)
    }

    #[inline]
    fn parse<'a>(&'a mut self, record: &'a [u8]) -> std::result::Result<Option<Record<'a>>, Fault> {
        if u32_be(record, 4) & 0xffff != REQUEST {
            return Ok(None);
        }
        let (seconds, micros) = (u32_be(record, 8), u32_be(record, 12));
        if micros >= 1_000_000 {
            return Err(field_fault(12, 4, "is not a time stamp", "expected less than 1000000 microseconds"));
        }
        Ok(Some(Record {
            stamp: (i128::from(seconds) * 1_000_000 + i128::from(micros)) * 1000,
            op: if u32_be(record, 44) & 1 == 1 { Op::Read } else { Op::Write },
            offset: scaled(u64::from(u32_be(record, 28)), self.sector_bytes)?,
            bytes: u64::from(u32_be(record, 24)),
            // Bits 8 to 15 of the device, of which the lowest come last.
            device: &record[34..35],
        }))
    }

    fn device_name(key: &[u8]) -> String {
        format!("disk{}", key.first().copied().unwrap_or(0))
    }

    fn assumed(&self, out: &mut Vec<String>) {
        if !self.in_header {
            out.push(
                "assumed: sectors of 256 bytes, since the header gives no size that holds for all disks"
                    .into(),
            );
        }
    }
}

/// Returns the sector size, if the header states one for all disks.
fn sector_bytes(header: &[u8]) -> Option<u64> {
    let mut sector_bytes = None;
    let mut rest = header;
    while let Some(at) = memchr::memmem::find(rest, b"sectorsize") {
        rest = &rest[at + b"sectorsize".len()..];
        let value = rest.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
        let digits = value.iter().take_while(|b| b.is_ascii_digit()).count();
        let bytes = std::str::from_utf8(&value[..digits]).ok()?.parse::<u64>().ok()?;
        if bytes == 0 || sector_bytes.is_some_and(|f| f != bytes) {
            return None;
        }
        sector_bytes = Some(bytes);
    }
    sector_bytes
}

fn recognise_head(head: &[u8]) -> Likeness {
    Likeness::sure(head.starts_with(MARK))
}
