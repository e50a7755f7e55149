//! SYSTOR '17 (virtual desktops): `Timestamp,Response,IOType,LUN,Offset,Size` behind a header of these names.
//!
//! Seconds since 1970, bytes, R or W; the response time may be empty. A record of no type (any other command) is another
//! record. The LUN is the device. No sample in this form was at hand; those in the tests are constructed from the
//! schema.

use super::{FormatInfo, Likeness, csv, no_head, text_reader};
use crate::intake::Record;
use crate::options::{LbaUnit, TimeUnit};
use crate::setup::Setup;
use crate::text::LineFormat;
use floatgate_base::Result;
use floatgate_input::{Cursor, Fault, scaled};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "systor17",
    summary: "SYSTOR '17 virtual desktops (SNIA IOTTA)",
    line: "expected Timestamp,Response,IOType,LUN,Offset,Size",
    units: "time in seconds, address and size in bytes",
    states_units: true,
    time_unit: Some(TimeUnit::Seconds),
    lba_unit: Some(LbaUnit::Byte),
    extensions: &["systor17"],
    has_times: true,
    has_actions: false,
    recognise,
    recognise_head: no_head,
    reader: text_reader::<Systor17>,
};

pub(super) struct Systor17 {
    time_power: u32,
    lba_bytes: u64,
}

impl LineFormat for Systor17 {
    fn new(setup: &Setup, _head: &[u8]) -> Result<Self> {
        Ok(Self { time_power: setup.time_power, lba_bytes: setup.lba_bytes })
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        line.blanks();
        if line.at_end() || is_header(line.rest()) {
            return Ok(None);
        }
        let stamp = csv::stamp(line, self.time_power, "expected seconds")?;
        if line.peek() != Some(b',') && line.stamp(self.time_power).is_none() {
            return Err(line.fault("is no response time", "expected seconds or nothing"));
        }
        csv::comma(line, "is no response time", "expected seconds or nothing")?;
        if line.peek() == Some(b',') {
            return Ok(None);
        }
        let op = csv::letter(line)?;
        let device = csv::device(line, "is no LUN")?;
        let lba = csv::uint(line, "is no offset", "expected bytes")?;
        let bytes = csv::last_uint(line, "is no size", "expected bytes")?;
        csv::end(line, "is no size", "expected bytes")?;
        Ok(Some(Record { stamp, op, offset: scaled(lba, self.lba_bytes)?, bytes, device }))
    }

    fn device_name(key: &[u8]) -> String {
        format!("LUN{}", String::from_utf8_lossy(key))
    }
}

/// Whether a line names the columns.
fn is_header(line: &[u8]) -> bool {
    line.get(..19).is_some_and(|w| w.eq_ignore_ascii_case(b"timestamp,response,"))
}

fn recognise(line: &[u8]) -> Likeness {
    let fields = csv::fields(line);
    let [time, response, op, lun, offset, size] = fields[..] else { return Likeness::No };
    let numbers = [lun, offset, size].into_iter().all(csv::is_uint) && csv::is_number(time);
    let record = numbers && (response.is_empty() || csv::is_number(response)) && csv::is_letter(op);
    Likeness::sure(record || is_header(line))
}
