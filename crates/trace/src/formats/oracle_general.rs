//! libCacheSim's oracleGeneral: little-endian records `u32 seconds, u64 object, u32 bytes, i64 next access`.
//!
//! The object of a block trace is its address. Its unit is not stated; `--lba-unit` overrides sectors of 512 bytes. The
//! format has no operation: every request is a read. The number of the object's next request (-1 or 2^63 - 1 for none)
//! serves only to recognise the format. The sample in the tests is constructed from the schema.

use super::{FormatInfo, Likeness, binary_reader, no_line};
use crate::binary::{RecordFormat, u32_le, u64_le};
use crate::intake::{ONE_DEVICE, Record};
use crate::options::{LbaUnit, TimeUnit};
use crate::setup::Setup;
use floatgate_base::{Op, Result};
use floatgate_input::{Fault, scaled};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "oracle-general",
    summary: "libCacheSim oracleGeneral, binary",
    line: "expected records of 24 bytes",
    units: "assumed: time in seconds, address in sectors of 512 bytes, size in bytes; no operation in the file, all \
            requests are reads",
    states_units: false,
    time_unit: Some(TimeUnit::Seconds),
    other_time_units: &[],
    lba_unit: Some(LbaUnit::Sector),
    extensions: &["oraclegeneral", "oracle"],
    has_times: true,
    has_actions: false,
    recognise: no_line,
    recognise_head,
    reader: binary_reader::<OracleGeneral>,
};

const LEN: usize = 24;

pub(super) struct OracleGeneral {
    lba_bytes: u64,
    to_ns: i128,
}

impl RecordFormat for OracleGeneral {
    fn new(setup: &Setup, _head: &[u8]) -> Result<Self> {
        Ok(Self { lba_bytes: setup.lba_bytes, to_ns: 10i128.pow(setup.time_power) })
    }

    #[inline]
    fn shortest(&self) -> usize {
        LEN
    }

    #[inline]
    fn parse<'a>(&'a mut self, record: &'a [u8]) -> std::result::Result<Option<Record<'a>>, Fault> {
        Ok(Some(Record {
            stamp: i128::from(u32_le(record, 0)) * self.to_ns,
            op: Op::Read,
            offset: scaled(u64_le(record, 4), self.lba_bytes)?,
            bytes: u64::from(u32_le(record, 12)),
            device: ONE_DEVICE,
        }))
    }
}

/// Recognises records whose next access lies ahead and whose stamps do not decrease, which is unlikely by chance.
fn recognise_head(head: &[u8]) -> Likeness {
    const FAR: u64 = 1 << 40;
    let mut before = 0;
    let mut ahead = |(i, record): (usize, &[u8])| {
        let (time, next) = (u32_le(record, 0), u64_le(record, 16));
        let in_order = time >= before;
        before = time;
        // Both -1 and i64::MAX stand for no next access.
        let none = next == u64::MAX || next == i64::MAX as u64;
        in_order && (none || (next > i as u64 && next < FAR))
    };
    let records = head.chunks_exact(LEN).take(1000);
    Likeness::sure(head.len() >= LEN && records.enumerate().all(&mut ahead))
}
