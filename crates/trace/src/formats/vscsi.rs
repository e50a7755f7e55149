//! VMware's vscsiStats traces (CloudPhysics): little-endian records of 32 bytes (version 1) or 40 (version 2).
//!
//! Version 1: `u32 serial, u32 bytes, u32 scatter-gather, u16 command, u16 version, u64 sector, u64 microseconds`;
//! version 2: `u16 command, u16 version, u32 serial, u32 bytes, u32 scatter-gather, u64 sector, u64 microseconds, u64
//! response`. The high byte of the version field holds the version, and the first record decides for the trace.
//! Commands that neither read nor write are other records (UNMAP has its ranges elsewhere). The sample of version 1 in
//! the tests is real, that of version 2 constructed from the layout in libCacheSim.

use super::{FormatInfo, Likeness, binary_reader, no_line};
use crate::binary::{RecordFormat, field_fault, u16_le, u32_le, u64_le};
use crate::intake::{ONE_DEVICE, Record};
use crate::options::{LbaUnit, TimeUnit};
use crate::setup::Setup;
use floatgate_base::{Error, Op, Place, Result};
use floatgate_input::{Fault, scaled};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "vscsi",
    summary: "VMware vscsi, versions 1 and 2 (CloudPhysics), binary",
    line: "expected records of 32 (version 1) or 40 bytes (version 2)",
    units: "time in microseconds, address in sectors of 512 bytes, size in bytes",
    states_units: true,
    time_unit: Some(TimeUnit::Microseconds),
    other_time_units: &[],
    lba_unit: Some(LbaUnit::Sector),
    extensions: &["vscsi", "vscsi1", "vscsi2"],
    has_times: true,
    has_actions: false,
    recognise: no_line,
    recognise_head,
    reader: binary_reader::<Vscsi>,
};

/// Positions of the fields of a version.
#[derive(Clone, Copy)]
struct Layout {
    version: u8,
    len: usize,
    command_at: usize,
    version_at: usize,
    bytes_at: usize,
    sector_at: usize,
}

const V1: Layout = Layout { version: 1, len: 32, command_at: 12, version_at: 14, bytes_at: 4, sector_at: 16 };
const V2: Layout = Layout { version: 2, len: 40, command_at: 0, version_at: 2, bytes_at: 8, sector_at: 16 };

impl Layout {
    /// Returns whether a record claims this version.
    #[inline]
    fn fits(&self, record: &[u8]) -> bool {
        u16_le(record, self.version_at) == u16::from(self.version) << 8
    }

    fn of(head: &[u8]) -> Option<Self> {
        [V1, V2].into_iter().find(|l| head.len() >= l.len && l.fits(head))
    }
}

/// Returns the operation of a SCSI command on data.
#[inline]
pub(super) fn operation(command: u8) -> Option<Op> {
    match command {
        0x08 | 0x28 | 0x88 | 0xa8 => Some(Op::Read),
        // Including WRITE AND VERIFY.
        0x0a | 0x2a | 0x8a | 0xaa | 0x2e | 0x8e | 0xae => Some(Op::Write),
        _ => None,
    }
}

pub(super) struct Vscsi {
    layout: Layout,
    lba_bytes: u64,
    to_ns: i128,
}

impl RecordFormat for Vscsi {
    fn new(setup: &Setup, head: &[u8]) -> Result<Self> {
        let Some(layout) = Layout::of(head) else {
            let place = Place::Byte { path: setup.path.clone(), byte: 0 };
            return Err(Error::input(place, "the first record has neither version 1 nor 2", INFO.line));
        };
        Ok(Self { layout, lba_bytes: setup.lba_bytes, to_ns: 10i128.pow(setup.time_power) })
    }

    #[inline]
    fn shortest(&self) -> usize {
        self.layout.len
    }

    #[inline]
    fn parse<'a>(&'a mut self, record: &'a [u8]) -> std::result::Result<Option<Record<'a>>, Fault> {
        let layout = &self.layout;
        if !layout.fits(record) {
            let expected = "expected that of the first record";
            return Err(field_fault(layout.version_at, 2, "is another version", expected));
        }
        let command = u16_le(record, layout.command_at);
        let Some(op) = u8::try_from(command).ok().and_then(operation) else { return Ok(None) };
        Ok(Some(Record {
            stamp: i128::from(u64_le(record, layout.sector_at + 8)) * self.to_ns,
            op,
            offset: scaled(u64_le(record, layout.sector_at), self.lba_bytes)?,
            bytes: u64::from(u32_le(record, layout.bytes_at)),
            device: ONE_DEVICE,
        }))
    }

    fn assumed(&self, out: &mut Vec<String>) {
        out.push(format!("records have version {}, as in the first record", self.layout.version));
    }
}

fn recognise_head(head: &[u8]) -> Likeness {
    let Some(layout) = Layout::of(head) else { return Likeness::No };
    let record = |r: &[u8]| layout.fits(r) && u16_le(r, layout.command_at) <= 0xff;
    Likeness::sure(head.chunks_exact(layout.len).take(1000).all(record))
}
