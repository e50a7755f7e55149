//! FlashSim: `time_ms device lba size op`, 1 = read.
//!
//! The address counts sectors of 512 bytes, the size pages of 4 KiB. Its own files separate columns by tabs.

use super::columns::{Columns, likeness};
use super::{FormatInfo, no_head, text_reader};
use crate::intake::Record;
use crate::options::{LbaUnit, TimeUnit};
use crate::setup::Setup;
use crate::text::LineFormat;
use floatgate_base::Result;
use floatgate_input::{Cursor, Fault};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "flashsim",
    summary: "FlashSim (release 20100809)",
    line: "expected time device lba size op",
    units: "assumed: time in ms, address in sectors of 512 bytes, size in pages of 4096 bytes, 1 = read",
    states_units: false,
    time_unit: Some(TimeUnit::Milliseconds),
    other_time_units: &[],
    lba_unit: Some(LbaUnit::Sector),
    extensions: &["flashsim"],
    has_times: true,
    has_actions: false,
    recognise: |line| likeness(line, |shape| shape.float_time && shape.tabs),
    recognise_head: no_head,
    reader: text_reader::<FlashSim>,
};

pub(super) struct FlashSim(Columns);

impl LineFormat for FlashSim {
    fn new(setup: &Setup, _head: &[u8]) -> Result<Self> {
        let (time_power, lba_bytes) = (setup.time_power, setup.lba_bytes);
        Ok(Self(Columns { time_power, lba_bytes, size_bytes: 4096, flags: false }))
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        self.0.parse(line)
    }
}
