//! Slot `ftl.dpes`: dynamic program and erase scaling, that is, how deeply blocks are erased. One file per policy;
//! [`Scaler`] is the contract, `erasing` the actions on the drive.
//!
//! The mode of an erase (`nand::erase_modes`) determines the wear of the block, the time of the erase and the time of
//! its programs until the next erase. The mode of programs by which read disturb is managed (`ftl.reclaim`) is
//! independent of it: an erase keeps no mode of programs, and a mode of programs changes no wear. The factors of both
//! multiply the time of a program; only the mode of programs changes how much reads disturb.
//!
//! A policy decides when a block is erased, and again when the host opens it. A block that was erased too shallowly for
//! a burst may then be erased once more, to a deeper mode, before its first program. Blocks that jobs fill, and blocks
//! that already have pages, keep their mode. Levelers and free pools count erases, not effective wear.

mod erasing;
pub mod fixed;
pub mod idle;
mod none;
mod scaler;

pub use scaler::{Done, Moment, Scaler, Work};

use floatgate_base::{Acts, ChosenPolicy, Misfit, PolicyInfo, Slot};
use floatgate_nand::EraseModes;
use serde::{Deserialize, Serialize};

/// The slot.
pub const SLOT: Slot = Slot {
    key: "ftl.dpes",
    selector: "policy",
    what: "program and erase scaling",
    summary: "Dynamic program and erase scaling: how deeply blocks are erased.",
    policies: POLICIES,
    common: &[],
    acts: Acts::Always,
};

/// All policies.
pub const POLICIES: &[PolicyInfo] = &[none::INFO, fixed::INFO, idle::INFO];

/// A policy with its parameters, and the modes of a drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dpes {
    /// The modes.
    pub modes: EraseModes,
    policy: Policy,
    work: Work,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Policy {
    Fixed(fixed::Params),
    Idle(idle::Params),
}

impl Dpes {
    /// Returns the policy of blocks with these rated cycles and operations with these nominal times; none where every
    /// erase is an ordinary one.
    ///
    /// # Errors
    /// Parameters that contradict each other.
    pub fn of(settings: &ChosenPolicy, pe_cycles: u32, work: Work) -> Result<Option<Self>, Misfit> {
        let name = settings.name();
        if name == none::INFO.name {
            return Ok(None);
        }
        let modes = EraseModes::of(settings, pe_cycles)?;
        let policy = if name == fixed::INFO.name {
            Policy::Fixed(fixed::Params::of(settings, &modes)?)
        } else {
            Policy::Idle(idle::Params::of(settings))
        };
        Ok(Some(Self { modes, policy, work }))
    }

    pub(super) fn work(&self) -> Work {
        self.work
    }

    /// Returns whether the policy needs to know the time.
    #[must_use]
    pub fn needs_time(&self) -> bool {
        matches!(self.policy, Policy::Idle(_))
    }

    /// Returns the row of the policy table.
    #[must_use]
    pub fn info(&self) -> &'static PolicyInfo {
        match self.policy {
            Policy::Fixed(_) => &fixed::INFO,
            Policy::Idle(_) => &idle::INFO,
        }
    }

    /// Returns the largest factors by which programs and erases take longer.
    #[must_use]
    pub fn slowest(&self) -> [f64; 2] {
        let last = usize::from(self.modes.count - 1);
        [self.modes.program_factors[last], self.modes.erase_factors[last]]
    }

    /// Returns the mode of blocks that were not erased yet.
    #[must_use]
    pub fn start(&self) -> u8 {
        match self.policy {
            Policy::Fixed(fixed) => fixed.mode,
            Policy::Idle(_) => 0,
        }
    }

    /// Returns the mean wear of an erase over the rated cycles, as a share of a cycle; 1 where only a run determines it.
    #[must_use]
    pub fn planned_wear(&self) -> f64 {
        match self.policy {
            Policy::Fixed(fixed) => self.modes.mean_wear(fixed.mode),
            Policy::Idle(_) => 1.0,
        }
    }
}

/// State of any policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum ScalerState {
    Fixed(fixed::Params),
    Idle(idle::State),
}

impl Scaler for ScalerState {
    fn erase_mode(&mut self, moment: &Moment) -> u8 {
        match self {
            Self::Fixed(state) => state.erase_mode(moment),
            Self::Idle(state) => state.erase_mode(moment),
        }
    }

    fn open_mode(&mut self, moment: &Moment, mode: u8) -> u8 {
        match self {
            Self::Fixed(state) => state.open_mode(moment, mode),
            Self::Idle(state) => state.open_mode(moment, mode),
        }
    }
}

impl ScalerState {
    /// Creates the state for an empty drive.
    pub fn of(dpes: &Dpes) -> Self {
        match dpes.policy {
            Policy::Fixed(fixed) => Self::Fixed(fixed),
            Policy::Idle(params) => Self::Idle(idle::State::new(params)),
        }
    }

    /// Restarts counting.
    pub fn restart(&mut self) {
        if let Self::Idle(state) = self {
            state.restart();
        }
    }

    /// Takes over the state of a restored drive, as far as its policy is the same.
    pub fn adopt(&mut self, saved: Option<Self>) {
        if let (Self::Idle(own), Some(Self::Idle(mut state))) = (self, saved) {
            state.take_params(own);
            *own = state;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORK: Work =
        Work { read_ns: 1.0, program_ns: 1.0, send_ns: 1.0, erase_ns: 1.0, dies: 1, pages_per_block: 1 };

    #[test]
    fn the_mode_of_fixed_is_a_row() {
        let of = |settings: &ChosenPolicy| Dpes::of(settings, 3000, WORK);
        let fixed = |mode: f64| of(&SLOT.with("fixed", &[("mode", mode)]));
        let last = of(&SLOT.with("fixed", &[])).unwrap().unwrap();
        assert_eq!((last.start(), last.planned_wear(), last.needs_time()), (4, 0.4, false));
        let one = fixed(1.0).unwrap().unwrap();
        assert_eq!((one.start(), one.planned_wear()), (1, 0.86));
        let error = fixed(5.0).unwrap_err();
        assert_eq!((error.param, &*error.what), ("mode", "mode is 5, and modes has 5 rows"));
        assert_eq!(error.expected, "expected a row from 0 to 4");
        assert_eq!(of(&SLOT.with("none", &[])), Ok(None));
        let idle = of(&SLOT.with("idle", &[])).unwrap().unwrap();
        assert_eq!((idle.start(), idle.planned_wear(), idle.needs_time()), (0, 1.0, true));
    }
}
