//! READY with the optimistic regulator (section 3.4): as [`super::ready_pessimistic`], but an epoch may borrow from
//! later ones.
//!
//! Parameters: those of all throttles that plan in epochs, and `spare_share`. Cost and memory: as [`super::dynamic`].

use super::rows::BORROWING;
use super::{Budget, Delays, Parts, Regulator, Throttling};
use floatgate_base::PolicyInfo;

pub const INFO: PolicyInfo = PolicyInfo {
    name: "ready-optimistic",
    summary: "delays by predicted demand, counting on recovery; an epoch may borrow from later ones",
    source: "READY (FAST 2012), section 3",
    params: BORROWING,
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
        regulator: Regulator::Optimistic,
    };
}
