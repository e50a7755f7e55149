//! No manager: reads beyond the maximum are only counted.
//!
//! Cost: O(1) per read beyond the maximum. Memory: none of its own.

use super::manager::Manager;
use super::sums::Counting;
use super::view::DisturbView;
use crate::jobs::{Request, Urgency};
use floatgate_base::{ChosenPolicy, PolicyInfo, UnitId};
use floatgate_flash::{Cause, Layout};
use serde::{Deserialize, Serialize};

pub(super) const INFO: PolicyInfo = PolicyInfo::plain(
    "none",
    "reads beyond the maximum are only counted; with no drive.disturb.model nothing is",
);

/// No manager has no parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params;

impl super::Params for Params {
    type State = State;

    const PROACTIVE: bool = false;

    fn of(_: &ChosenPolicy) -> Self {
        Self
    }

    fn reclaims_at(&self, _: bool) -> f64 {
        f64::INFINITY
    }

    fn state(&self, _: &Layout) -> State {
        State
    }
}

/// No state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State;

impl Manager for State {
    fn counting(&self) -> Counting {
        Counting::Effective
    }

    fn acts(&self) -> bool {
        false
    }

    fn request(&mut self, drive: &mut DisturbView<'_>, unit: UnitId, urgency: Urgency) -> Request {
        Request::emptying(unit, drive.layout.domain_of(unit), Cause::Reclaim, urgency)
    }
}
