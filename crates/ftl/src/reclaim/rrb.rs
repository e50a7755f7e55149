//! Read-resistant blocks alone: reclaimed data is programmed in a mode in which reads disturb less.
//!
//! Source: dissertation (redFTL), sections 4.2.1 and 4.4 ("RRB"). The first reclaim of data leads to mode 1, later ones
//! to the next mode; garbage collection moves data back to mode 0. Page types are ignored: each read counts as one of
//! the slowest type in the mode of its block. Triggers are those of redFTL+: `proactive_at` in idle time, the maximum
//! on demand. Cost: one sum per read. Memory: none of its own.

use super::manager::{Action, Manager, Reached};
use super::sums::Counting;
use super::view::DisturbView;
use crate::jobs::{Request, Target, Urgency};
use crate::pool::Want;
use floatgate_base::policy::Range;
use floatgate_base::{ChosenPolicy, ParamInfo, PolicyInfo, UnitId};
use floatgate_flash::{Cause, Layout};
use serde::{Deserialize, Serialize};

pub(super) const INFO: PolicyInfo = PolicyInfo {
    name: "rrb",
    summary: "reclaimed data is programmed slowly, into blocks that endure more reads",
    source: "dissertation on cross-layer optimization of NAND flash storage, section 4.2.1 (RRB)",
    params: &[PROACTIVE_AT],
    cost: "one sum per flash read",
    memory: "none besides that of drive.disturb.model",
};

/// For all managers with read-resistant blocks.
pub(super) const PROACTIVE_AT: ParamInfo = ParamInfo::within(
    "proactive_at",
    "share of the maximum at which a block is reclaimed in idle time",
    0.95,
    Range { above_least: true, ..Range::SHARE },
)
.shared();

/// Parameters of RRB.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Params {
    proactive_at: f64,
}

impl super::Params for Params {
    type State = State;

    const PROACTIVE: bool = true;

    fn of(settings: &ChosenPolicy) -> Self {
        Self { proactive_at: settings.real("proactive_at") }
    }

    fn reclaims_at(&self, at_once: bool) -> f64 {
        if at_once { self.proactive_at } else { 1.0 }
    }

    fn state(&self, _: &Layout) -> State {
        State { params: *self }
    }
}

/// State of RRB.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    params: Params,
}

impl Manager for State {
    fn counting(&self) -> Counting {
        Counting::ByMode
    }

    fn next_watch(&self, sum: u32, max: u32) -> u32 {
        let at = (self.params.proactive_at * f64::from(max)) as u32;
        if sum < at { at } else { u32::MAX }
    }

    fn reached(&mut self, _: &mut DisturbView<'_>, _: Reached) -> Action {
        Action::Reclaim
    }

    fn take_params(&mut self, from: &Self) {
        self.params = from.params;
    }

    fn request(&mut self, drive: &mut DisturbView<'_>, unit: UnitId, urgency: Urgency) -> Request {
        let domain = drive.layout.domain_of(unit);
        let target = Target::Own { domain, want: Want::Next, mode: drive.mode_after(unit), kept: false };
        Request::emptying(unit, domain, Cause::Reclaim, urgency).into(target)
    }
}
