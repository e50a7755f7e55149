//! Settings of the mining.

use floatgate_base::{Error, Place, Result};
use floatgate_patterns::{Kind, Settings, TRANSACTION};

/// Most requests per window.
pub const WINDOW_MAX: u32 = 1 << 20;
/// Most requests of a window whose writes are mined.
pub const MINED_MAX: u32 = 1 << 14;

/// Settings of the mining. The defaults are the paper's, except for the length of a transaction, which it does not
/// state: with 12 its Table III can be reached (`docs/patterns.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatternSettings {
    /// Requests per window: reads, writes and TRIMs.
    pub window: u32,
    /// Requests at its beginning whose writes are mined.
    pub mined: u32,
    /// Write requests per transaction; the last one of a window may have fewer.
    pub transaction: u32,
    /// Least number of transactions of a window that contain a set.
    pub support: u32,
    /// Least number of addresses of a set.
    pub items_min: u32,
    /// Whether closed sets are counted instead of maximal ones.
    pub closed: bool,
}

impl Default for PatternSettings {
    fn default() -> Self {
        Self { window: 1024, mined: 256, transaction: TRANSACTION, support: 4, items_min: 3, closed: false }
    }
}

impl PatternSettings {
    /// Checks the settings.
    ///
    /// # Errors
    /// Names the command-line option and the valid values.
    pub fn validate(&self) -> Result<()> {
        let bounds = [
            ("--window", self.window, WINDOW_MAX, "requests", ""),
            ("--mined", self.mined, self.window.min(MINED_MAX), "requests", ", and no more than the window"),
            ("--transaction", self.transaction, WINDOW_MAX, "write requests", ""),
            ("--support", self.support, self.window, "transactions", ", and no more than the window"),
            ("--items-min", self.items_min, WINDOW_MAX, "addresses", ""),
        ];
        for (option, value, most, unit, why) in bounds {
            if !(1..=most).contains(&value) {
                return Err(Error::input(
                    Place::Setting(option.into()),
                    format!("{value} is out of range"),
                    format!("expected 1 to {most} {unit}{why}"),
                ));
            }
        }
        Ok(())
    }

    /// Converts to the settings of the miner.
    pub(super) fn of_miner(&self) -> Settings {
        let kind = if self.closed { Kind::Closed } else { Kind::Maximal };
        Settings { support: self.support, items_min: self.items_min, kind }
    }
}
