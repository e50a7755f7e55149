//! Fixed: every block is erased in one mode, and programmed at its speed.
//!
//! Source: floatgate; the limits of what the modes of DPES (FAST 2014) can gain and cost. A block without margin in
//! that mode is erased in the next deeper one that has. Parameters: the modes, and the number of the mode. Cost: a
//! comparison per erase. Memory: 5 bytes per block.

use super::scaler::{Moment, Scaler};
use floatgate_base::{ChosenPolicy, Misfit, ParamInfo, PolicyInfo};
use floatgate_nand::EraseModes;
use floatgate_nand::erase_modes::{MODES, MODES_MAX};
use serde::{Deserialize, Serialize};

/// Its row.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "fixed",
    summary: "every block is erased in one mode; in functional mode, too",
    source: "floatgate; modes of Jeong et al., Dynamic Program and Erase Scaling (FAST 2014)",
    params: &[
        MODES,
        ParamInfo::whole(
            "mode",
            "row of modes in which blocks are erased, from 0",
            0,
            (0, MODES_MAX as u32 - 1),
        )
        .or("the last row"),
    ],
    cost: "a comparison per erase",
    memory: "5 bytes per block",
};

/// The mode, which is all that the policy knows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Params {
    pub(super) mode: u8,
}

impl Params {
    pub(super) fn of(settings: &ChosenPolicy, modes: &EraseModes) -> Result<Self, Misfit> {
        let mode = settings.find_whole("mode").map_or(modes.count - 1, |mode| mode as u8);
        if mode >= modes.count {
            let what = format!("mode is {mode}, and modes has {} rows", modes.count);
            return Err(Misfit::new("mode", what, format!("expected a row from 0 to {}", modes.count - 1)));
        }
        Ok(Self { mode })
    }
}

impl Scaler for Params {
    fn erase_mode(&mut self, _: &Moment) -> u8 {
        self.mode
    }

    fn open_mode(&mut self, _: &Moment, mode: u8) -> u8 {
        mode
    }
}
