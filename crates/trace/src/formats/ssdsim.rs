//! SSDsim ascii: `time_ns device lba size op`, sectors of 512 bytes, 1 = read.
//!
//! A file does not state the unit of time, and some are in microseconds (`time_unit.rs`).

use super::columns::{Columns, likeness};
use super::{FormatInfo, no_head, text_reader};
use crate::intake::Record;
use crate::options::{LbaUnit, TimeUnit};
use crate::setup::Setup;
use crate::text::LineFormat;
use floatgate_base::Result;
use floatgate_input::{Cursor, Fault};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "ssdsim",
    summary: "SSDsim ascii",
    line: "expected time device lba size op",
    units: "assumed: time in ns, address and size in sectors of 512 bytes, 1 = read",
    states_units: false,
    time_unit: Some(TimeUnit::Nanoseconds),
    other_time_units: &[TimeUnit::Microseconds],
    lba_unit: Some(LbaUnit::Sector),
    extensions: &["ssdsim"],
    has_times: true,
    has_actions: false,
    recognise: |line| likeness(line, |shape| !shape.float_time),
    recognise_head: no_head,
    reader: text_reader::<SsdSim>,
};

pub(super) struct SsdSim(Columns);

impl LineFormat for SsdSim {
    fn new(setup: &Setup, _head: &[u8]) -> Result<Self> {
        let (time_power, lba_bytes) = (setup.time_power, setup.lba_bytes);
        Ok(Self(Columns { time_power, lba_bytes, size_bytes: 512, flags: false }))
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        self.0.parse(line)
    }
}
