//! DiskSim ascii: `time_ms device lba size flags`, blocks of 512 bytes, bit 0 of the hexadecimal flags = read.

use super::columns::{Columns, likeness};
use super::{FormatInfo, no_head, text_reader};
use crate::intake::Record;
use crate::options::{LbaUnit, TimeUnit};
use crate::setup::Setup;
use crate::text::LineFormat;
use floatgate_base::Result;
use floatgate_input::{Cursor, Fault};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "disksim",
    summary: "DiskSim ascii",
    line: "expected time device lba size flags",
    units: "assumed: time in ms, address and size in blocks of 512 bytes, bit 0 of the flags = read",
    states_units: false,
    time_unit: Some(TimeUnit::Milliseconds),
    other_time_units: &[],
    lba_unit: Some(LbaUnit::Sector),
    extensions: &["disksim"],
    has_times: true,
    has_actions: false,
    recognise: |line| likeness(line, |shape| shape.float_time),
    recognise_head: no_head,
    reader: text_reader::<DiskSim>,
};

pub(super) struct DiskSim(Columns);

impl LineFormat for DiskSim {
    fn new(setup: &Setup, _head: &[u8]) -> Result<Self> {
        let (time_power, lba_bytes) = (setup.time_power, setup.lba_bytes);
        Ok(Self(Columns { time_power, lba_bytes, size_bytes: 512, flags: true }))
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        self.0.parse(line)
    }
}
