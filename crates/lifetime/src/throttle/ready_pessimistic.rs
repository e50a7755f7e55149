//! READY with the pessimistic regulator (section 3.4): as [`super::dynamic`], but counting on the recovery of resting
//! blocks, and never writing more in an epoch than its capacity.
//!
//! Parameters: those of all throttles that plan in epochs. Cost and memory: as [`super::dynamic`].

use super::rows::PLANNING;
use super::{Budget, Delays, Parts, Regulator, Throttling};
use floatgate_base::PolicyInfo;

pub const INFO: PolicyInfo = PolicyInfo {
    name: "ready-pessimistic",
    summary: "delays by predicted demand, counting on recovery; each epoch's capacity is allotted second by second",
    source: "READY (FAST 2012), section 3",
    params: PLANNING,
    cost: "O(1) per request",
    memory: "8 bytes per unit window remembered",
};

/// The throttle.
pub struct Policy;

impl Throttling for Policy {
    const PARTS: Parts = Parts {
        budget: Budget::Recovered,
        plans: true,
        delays: Delays::Predicted,
        regulator: Regulator::Pessimistic,
    };
}
