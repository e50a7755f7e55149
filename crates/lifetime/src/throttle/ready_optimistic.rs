//! READY with the optimistic regulator (section 3.4): as [`super::ready_pessimistic`], but an epoch may borrow from
//! those to come.
//!
//! Parameters: those of all throttles that plan in epochs, and `spare_share`. Cost and memory: as [`super::dynamic`].

use super::{Budget, Parts, Regulator};
use floatgate_base::{ParamInfo, PolicyInfo};

pub const PARAMS: &[ParamInfo] =
    &[ParamInfo::new("spare_share", "share of the later epochs' capacity that one may borrow; default 0.1")];

pub const INFO: PolicyInfo = PolicyInfo {
    name: "ready-optimistic",
    summary: "delays by predicted demand, counting on recovery; an epoch may borrow from those to come",
    source: "READY (FAST 2012), section 3",
    params: PARAMS,
    cost: "O(1) a request",
    memory: "8 bytes a unit window remembered",
};

pub const PARTS: Parts = Parts { budget: Budget::Recovered, plans: true, regulator: Regulator::Optimistic };
