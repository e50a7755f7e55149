//! What a throttle is made from: the drive's figures, the target, and its parameters.

use super::{Params, Throttle};
use crate::reduce::{ManagerSetup, Seen};
use floatgate_nand::Endurance;
use floatgate_nand::endurance::{READY_TABLE2, mean_idle_s};

/// A throttle for a drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setup {
    /// Which one.
    pub policy: Throttle,
    /// Time that the drive should last.
    pub target_ns: u64,
    /// Bytes of flash.
    pub physical_bytes: u64,
    /// Bytes of a page that the host writes.
    pub page_bytes: u32,
    /// How many cycles its blocks stand.
    pub endurance: Endurance,
    /// Cycles that the blocks had behind them when time began, and how old the drive was then, seconds.
    pub cycles_used: f64,
    /// Its age.
    pub age_s: f64,
    /// Whether later requests arrive later by what earlier ones were delayed (arrival `shifted`, `think` and
    /// `closed`), so that the delays must be taken out of the times of arrival to see what the host would have done.
    pub arrivals_follow: bool,
    /// Parameters.
    pub params: Params,
    /// The integrated manager, which throttles in some epochs only; the throttle is "none" then.
    pub manager: Option<ManagerSetup>,
}

impl Setup {
    /// A throttle for a new drive of `physical_bytes` with pages of 4 KiB and recovery as in READY's Table 2, that
    /// should last `target_ns`; later requests follow earlier ones.
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

    /// Mean rest of a block between two erases, seconds, `now_ns` after time began, when blocks have been through
    /// `cycles` more; none before the first cycle is complete.
    #[must_use]
    pub fn mean_idle_s(&self, now_ns: u64, cycles: f64) -> Option<f64> {
        mean_idle_s(self.age_s + now_ns as f64 / 1e9, self.cycles_used + cycles)
    }

    /// Cycles that blocks still stood when time began, at the rest that they have had `now_ns` after it.
    #[must_use]
    pub fn cycles(&self, now_ns: u64, cycles: f64) -> f64 {
        self.endurance.cycles(self.mean_idle_s(now_ns, cycles)) - self.cycles_used
    }
}

/// What a throttle sees of the drive. How long its blocks have rested follows: time over cycles, and cycles are bytes
/// programmed over bytes of flash.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Bytes programmed into flash since time began.
    pub programmed_bytes: f64,
    /// Write amplification that writes to come are expected to have.
    pub waf: f64,
    /// What a manager goes by, where there is one.
    pub seen: Option<Seen>,
}
