//! Setup of a throttle: the drive's properties, the target, and the parameters.

use super::{Params, Throttle};
use crate::reduce::{ManagerSetup, Seen};
use floatgate_nand::Endurance;
use floatgate_nand::endurance::{READY_TABLE2, mean_idle_s};

/// A throttle for a drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setup {
    /// The policy.
    pub policy: Throttle,
    /// Target life of the drive.
    pub target_ns: u64,
    /// Bytes of flash.
    pub physical_bytes: u64,
    /// Bytes of a page that the host writes.
    pub page_bytes: u32,
    /// Endurance of its blocks.
    pub endurance: Endurance,
    /// Cycles of the blocks at time 0.
    pub cycles_used: f64,
    /// Age of the drive at time 0, seconds.
    pub age_s: f64,
    /// Whether the delays of earlier requests move the arrival of later ones (arrival `shifted`, `think` and `closed`).
    /// The throttle then subtracts the delays from arrival times to recover the host's demand.
    pub arrivals_follow: bool,
    /// Parameters of the policy.
    pub params: Params,
    /// The integrated manager, which throttles in some epochs only; the policy is then "none".
    pub manager: Option<ManagerSetup>,
}

impl Setup {
    /// Builds a throttle for a new drive of `physical_bytes` with pages of 4 KiB, recovery as in READY's Table 2, and a
    /// target of `target_ns`; later requests follow earlier ones.
    #[must_use]
    pub fn ready(policy: Throttle, physical_bytes: u64, target_ns: u64) -> Self {
        Self {
            policy,
            target_ns,
            physical_bytes,
            page_bytes: 4096,
            endurance: Endurance::Recovery { pe_cycles: 3000, law: READY_TABLE2 },
            cycles_used: 0.0,
            age_s: 0.0,
            arrivals_follow: true,
            params: Params::default(),
            manager: None,
        }
    }

    /// Returns the mean rest of a block between two erases, seconds, at `now_ns` when blocks have completed `cycles`
    /// more; None before the first cycle is complete.
    #[must_use]
    pub fn mean_idle_s(&self, now_ns: u64, cycles: f64) -> Option<f64> {
        mean_idle_s(self.age_s + now_ns as f64 / 1e9, self.cycles_used + cycles)
    }

    /// Returns the cycles that blocks still endured at time 0, at their rest until `now_ns`.
    #[must_use]
    pub fn cycles(&self, now_ns: u64, cycles: f64) -> f64 {
        self.endurance.cycles(self.mean_idle_s(now_ns, cycles)) - self.cycles_used
    }
}

/// State of the drive as a throttle sees it. The rest of its blocks follows from it: time over cycles, and cycles are
/// bytes programmed over bytes of flash.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Bytes programmed into flash since time 0.
    pub programmed_bytes: f64,
    /// Expected write amplification of coming writes.
    pub waf: f64,
    /// Counts for a manager, if there is one.
    pub seen: Option<Seen>,
}
