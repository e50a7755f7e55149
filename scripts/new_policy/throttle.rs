//! @title@: Replace: which writes it delays, in one line.
//!
//! Source: Replace: authors and venue, or floatgate.
//! Parameters: those of all throttles that plan in epochs. Cost and memory: as [`super::dynamic`].

use super::rows::PLANNING;
use super::{Budget, Delays, Parts, Regulator, Throttling};
use floatgate_base::PolicyInfo;

pub const INFO: PolicyInfo = PolicyInfo {
    name: "@name@",
    summary: "Replace: which writes it delays",
    source: "floatgate",
    params: PLANNING,
    cost: "O(1) per request",
    memory: "8 bytes per unit window remembered",
};

/// The throttle.
pub struct Policy;

// Replace: its parts. New parts go beside the others (`budget.rs`, `predictor.rs`, `delay.rs`, `regulator/`).
impl Throttling for Policy {
    const PARTS: Parts = Parts {
        budget: Budget::Recovered,
        plans: true,
        delays: Delays::Predicted,
        regulator: Regulator::Pessimistic,
    };
}
