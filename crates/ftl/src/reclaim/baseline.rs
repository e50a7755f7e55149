//! Reclaim on demand: when the reads of a block reach a limit, all its valid pages move to one other block, and it is
//! erased.
//!
//! Source: dissertation (redFTL), section 3.1 ("baseline"). Parameter: `at`, the share of the maximum at which a block
//! is reclaimed; its drives take 0.95 (38,000 of 40,000 reads). It ignores page types and modes: each read counts as
//! one of the slowest type. Cost: one sum per read. Memory: none of its own.

use super::manager::Manager;
use super::sums::Counting;
use super::view::DisturbView;
use crate::jobs::{Request, Target, Urgency};
use crate::pool::Want;
use floatgate_base::policy::Range;
use floatgate_base::{ChosenPolicy, ParamInfo, PolicyInfo, UnitId};
use floatgate_flash::{Cause, Layout};
use serde::{Deserialize, Serialize};

pub(super) const INFO: PolicyInfo = PolicyInfo {
    name: "baseline",
    summary: "a block whose reads reach a limit is moved as a whole and erased",
    source: "dissertation on cross-layer optimization of NAND flash storage, section 3.1",
    params: &[AT],
    cost: "one sum per flash read",
    memory: "none besides that of drive.disturb.model",
};

/// For all managers that reclaim on demand.
pub(super) const AT: ParamInfo = ParamInfo::within(
    "at",
    "share of the maximum at which a block is reclaimed on demand",
    1.0,
    Range { above_least: true, ..Range::SHARE },
)
.shared();

/// Parameters of reclaim on demand.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Params {
    at: f64,
}

impl super::Params for Params {
    type State = State;

    const PROACTIVE: bool = false;

    fn of(settings: &ChosenPolicy) -> Self {
        Self { at: settings.real("at") }
    }

    fn reclaims_at(&self, _: bool) -> f64 {
        self.at
    }

    fn state(&self, _: &Layout) -> State {
        State { params: *self }
    }
}

/// State of reclaim on demand.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    params: Params,
}

impl Manager for State {
    fn counting(&self) -> Counting {
        Counting::Reads
    }

    fn at(&self) -> f64 {
        self.params.at
    }

    fn take_params(&mut self, from: &Self) {
        self.params = from.params;
    }

    fn request(&mut self, drive: &mut DisturbView<'_>, unit: UnitId, urgency: Urgency) -> Request {
        let domain = drive.layout.domain_of(unit);
        let target = Target::Own { domain, want: Want::Next, mode: 0, kept: false };
        Request::emptying(unit, domain, Cause::Reclaim, urgency).into(target)
    }
}
