//! MQSim ascii: `time_ns device lba size op`, sectors of 512 bytes, 1 = read.
//!
//! The unit of time is part of MQSim's workload definition, not of the trace. Some users write the address in bytes
//! (`--lba-unit byte`) but the size in sectors.

use super::columns::{Columns, likeness};
use super::{FormatInfo, no_head, text_reader};
use crate::intake::Record;
use crate::options::{LbaUnit, TimeUnit};
use crate::setup::Setup;
use crate::text::LineFormat;
use floatgate_base::Result;
use floatgate_input::{Cursor, Fault};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "mqsim",
    summary: "MQSim ascii",
    line: "expected time device lba size op",
    units: "assumed: time in ns, address and size in sectors of 512 bytes, 1 = read",
    states_units: false,
    time_unit: Some(TimeUnit::Nanoseconds),
    other_time_units: &[],
    lba_unit: Some(LbaUnit::Sector),
    extensions: &["mqsim"],
    has_times: true,
    has_actions: false,
    recognise: |line| likeness(line, |shape| !shape.float_time),
    recognise_head: no_head,
    reader: text_reader::<MqSim>,
};

pub(super) struct MqSim(Columns);

impl LineFormat for MqSim {
    fn new(setup: &Setup, _head: &[u8]) -> Result<Self> {
        let (time_power, lba_bytes) = (setup.time_power, setup.lba_bytes);
        Ok(Self(Columns { time_power, lba_bytes, size_bytes: 512, flags: false }))
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        self.0.parse(line)
    }
}
