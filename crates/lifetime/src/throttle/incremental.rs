//! Incremental throttling, common in commercial drives. At regular intervals the delay of page writes rises by a step
//! if the drive wrote more than its life allows, and falls by a step if it wrote less. Nothing is predicted.
//!
//! The years are guaranteed by the same budget and regulator as under [`super::ready_optimistic`]; the comparison shows
//! the benefit of READY's prediction.
//!
//! Parameters: `unit_window_s` (the interval), `step`, `first_step_us`, `period_s`, `spare_share`, `max_delay_s`. Cost:
//! a few comparisons per run of pages. Memory: none.

use super::rows::{FIRST_STEP, MAX_DELAY, PERIOD, SPARE_SHARE, STEP, UNIT_WINDOW};
use super::{Budget, Delays, Parts, Regulator, Throttling};
use floatgate_base::PolicyInfo;

pub const INFO: PolicyInfo = PolicyInfo {
    name: "incremental",
    summary: "delays rise by a step if more is written than the life allows, and fall by a step if less; guarantees the years",
    source: "practice; a step controller",
    params: &[PERIOD, UNIT_WINDOW, STEP, FIRST_STEP, SPARE_SHARE, MAX_DELAY],
    cost: "O(1) per request",
    memory: "none",
};

/// The throttle.
pub struct Policy;

impl Throttling for Policy {
    const PARTS: Parts = Parts {
        budget: Budget::Recovered,
        plans: true,
        delays: Delays::Stepped,
        regulator: Regulator::Optimistic,
    };
}
