//! The setup of a reader: the format's row, the units, the user's options.

use crate::formats::FormatInfo;
use crate::options::{Action, LbaUnit, OpenOptions, TimeUnit};
use crate::time_unit;
use floatgate_base::{Error, Place, Result};

/// The setup of a reader beside the content.
#[derive(Clone)]
pub(crate) struct Setup {
    pub path: String,
    pub info: &'static FormatInfo,
    /// Unit of the stamps.
    pub time_unit: TimeUnit,
    /// The same as a power of ten of nanoseconds.
    pub time_power: u32,
    /// Bytes per unit of address.
    pub lba_bytes: u64,
    pub options: OpenOptions,
    /// Reason for a unit of time that differs from the format's own, if the content decided.
    unit_note: Option<String>,
    /// Other formats that the content fits, if the content decided.
    pub rivals: Vec<&'static str>,
}

impl Setup {
    /// Determines the units of a trace.
    pub fn new(path: &str, info: &'static FormatInfo, options: OpenOptions) -> Result<Self> {
        let refuse = |setting: &str, why: &str| {
            let what = format!("{} {why}", info.name);
            Err(Error::input(Place::Setting(setting.into()), what, "leave it out"))
        };
        if options.time_unit.is_some() && !info.has_times {
            return refuse("--time-unit", "has no times");
        }
        if options.time_unit.is_some() && info.time_unit.is_none() {
            return refuse("--time-unit", "states its own unit of time");
        }
        if options.lba_unit.is_some() && info.lba_unit.is_none() {
            return refuse("--lba-unit", "states its own unit of addresses");
        }
        if options.action.is_some() && !info.has_actions {
            return refuse("--action", "has no actions; only blkparse, blktrace, ftrace and ssdtrace have");
        }
        let time_unit = options.time_unit.or(info.time_unit).unwrap_or(TimeUnit::Nanoseconds);
        let lba_unit = options.lba_unit.or(info.lba_unit).unwrap_or(LbaUnit::Byte);
        Ok(Self {
            path: path.into(),
            info,
            time_unit,
            time_power: time_unit.power(),
            lba_bytes: lba_unit.bytes(),
            options,
            unit_note: None,
            rivals: Vec::new(),
        })
    }

    /// Sets another unit of time, determined by the content.
    pub fn take_unit(&mut self, unit: TimeUnit, note: String) {
        (self.time_unit, self.time_power, self.unit_note) = (unit, unit.power(), Some(note));
    }

    /// Returns the bytes per unit of address, if the user could set another one but has not.
    pub fn assumed_lba_bytes(&self) -> Option<u64> {
        (self.info.lba_unit.is_some() && self.options.lba_unit.is_none() && !self.info.states_units)
            .then_some(self.lba_bytes)
    }

    /// Lists the assumptions: units, and the format itself if others fit, too.
    pub fn assumed(&self) -> Vec<String> {
        let mut out = time_unit::described(self.info, &self.options, self.unit_note.as_ref());
        if !self.rivals.is_empty() {
            out.push(format!(
                "read as {}; the content would also fit {} (select with --format)",
                self.info.name,
                self.rivals.join(", ")
            ));
        }
        out
    }

    /// Returns the action that the user selected.
    pub fn action(&self) -> Option<Action> {
        self.options.action
    }
}
