//! Quality of service: a token bucket at the rate of the remaining life, and a target for the 99th percentile of the
//! time that page writes are held back. One page write in a hundred pays the debt that the target causes.
//!
//! With `max_delay_s` that one does not wait for the whole debt, and the years are no longer guaranteed.
//!
//! Parameters: `p99_us`, `burst_s`, `max_delay_s`, `unit_window_s` (interval of new rates). Cost: a few operations per
//! run of pages. Memory: none.

use super::rows::{BURST, MAX_DELAY, P99, UNIT_WINDOW};
use super::{Budget, Delays, Parts, Regulator, Throttling};
use floatgate_base::PolicyInfo;

pub const INFO: PolicyInfo = PolicyInfo {
    name: "qos",
    summary: "a token bucket at the rate that the life allows; 99 of 100 page writes are held back no longer than a target",
    source: "practice; virtual scheduling of ITU-T I.371",
    params: &[P99, BURST, UNIT_WINDOW, MAX_DELAY],
    cost: "O(1) per request",
    memory: "none",
};

/// The throttle.
pub struct Policy;

impl Throttling for Policy {
    const PARTS: Parts = Parts {
        budget: Budget::Recovered,
        plans: true,
        delays: Delays::None,
        regulator: Regulator::TokenBucket,
    };
}
