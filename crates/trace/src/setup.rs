//! What a reader needs to know beside the content: the format's row, the units, what the user said.

use crate::formats::FormatInfo;
use crate::options::{Action, LbaUnit, OpenOptions, TimeUnit};
use floatgate_base::{Error, Place, Result};

/// What a format needs to know beside the lines.
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
    /// Why the unit of time is not the format's own, where the content decided.
    unit_note: Option<String>,
    /// Formats that the content fits as well, if the content decided.
    pub rivals: Vec<&'static str>,
}

impl Setup {
    /// Settles the units of a trace.
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
            return refuse("--action", "has no actions; only blkparse and ssdtrace have");
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

    /// Takes another unit of time, which the content has decided.
    pub fn take_unit(&mut self, unit: TimeUnit, note: String) {
        (self.time_unit, self.time_power, self.unit_note) = (unit, unit.power(), Some(note));
    }

    /// Bytes per unit of address where the user may say another one and has not.
    pub fn assumed_lba_bytes(&self) -> Option<u64> {
        (self.info.lba_unit.is_some() && self.options.lba_unit.is_none() && !self.info.states_units)
            .then_some(self.lba_bytes)
    }

    /// What is taken for granted: units, and the format itself where others fit too.
    pub fn assumed(&self) -> Vec<String> {
        let mut out = self.info.assumed(&self.options);
        out.extend(self.unit_note.clone());
        if !self.rivals.is_empty() {
            out.push(format!(
                "read as {} by its look; the content would fit {} too (--format decides)",
                self.info.name,
                self.rivals.join(", ")
            ));
        }
        out
    }

    /// The action that was asked for.
    pub fn action(&self) -> Option<Action> {
        self.options.action
    }
}
