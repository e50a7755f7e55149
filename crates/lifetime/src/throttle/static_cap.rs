//! Static throttling (ST in READY, section 3.1, Fig. 2b): limits the bandwidth to the rate that uses up the nominal
//! cycles exactly in the target time.
//!
//! Parameters: `target_years`, `period_s`. Cost: a comparison per write, a few operations per period. Memory: none.

use super::rows::PERIOD;
use super::{Budget, Delays, Parts, Regulator, Throttling};
use floatgate_base::PolicyInfo;

pub const INFO: PolicyInfo = PolicyInfo {
    name: "static",
    summary: "never more flash bytes per second than nominal endurance over the target time; unused capacity is lost",
    source: "READY (FAST 2012), section 3.1",
    params: &[PERIOD],
    cost: "O(1) per request",
    memory: "none",
};

/// The throttle.
pub struct Policy;

impl Throttling for Policy {
    const PARTS: Parts = Parts {
        budget: Budget::Nominal,
        plans: false,
        delays: Delays::None,
        regulator: Regulator::StaticCap,
    };
}
