//! Dynamic throttling (DT in READY, section 4.1): delays per epoch, planned from predicted demand and the remaining
//! nominal cycles, with the optimistic regulator.
//!
//! Parameters: those of all throttles that plan in epochs, and `spare_share`. Cost: a comparison per write, a few
//! operations per period, a choice of lengths (`n ln n` of the windows remembered) after wrong predictions. Memory: 8
//! bytes per window.

use super::rows::BORROWING;
use super::{Budget, Delays, Parts, Regulator, Throttling};
use floatgate_base::PolicyInfo;

pub const INFO: PolicyInfo = PolicyInfo {
    name: "dynamic",
    summary: "delays by predicted demand and the remaining nominal cycles",
    source: "READY (FAST 2012), section 4.1 (DT)",
    params: BORROWING,
    cost: "O(1) per request",
    memory: "8 bytes per unit window remembered",
};

/// The throttle.
pub struct Policy;

impl Throttling for Policy {
    const PARTS: Parts = Parts {
        budget: Budget::Nominal,
        plans: true,
        delays: Delays::Predicted,
        regulator: Regulator::Optimistic,
    };
}
