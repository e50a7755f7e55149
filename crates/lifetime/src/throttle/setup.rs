//! What a throttle is made from: the drive's figures, the target, and the parameters that users may set.

use super::Throttle;
use floatgate_nand::Endurance;
use floatgate_nand::endurance::{READY_TABLE2, mean_idle_s};

/// Nanoseconds of a second.
pub(crate) const SECOND_NS: u64 = 1_000_000_000;

/// Parameters of the throttles (`[lifetime.throttle]`). Times in nanoseconds; the defaults are READY's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Time in which a regulator admits one share of an epoch's capacity (section 3.4: one second).
    pub period_ns: u64,
    /// Width of the windows by which demand is remembered, and length of the first epoch (section 3.5: 10 minutes).
    pub unit_window_ns: u64,
    /// Windows that are remembered: two weeks of them.
    pub history_windows: u32,
    /// Epochs of just this length, without selection.
    pub fixed_epoch_ns: Option<u64>,
    /// A prediction that is off by no less is wrong (0.25).
    pub error_max: f64,
    /// Wrong predictions one after the other before the length of epochs is chosen anew (3).
    pub errors_in_a_row: u32,
    /// Pairs of consecutive epochs that a candidate length must have (1).
    pub pairs_min: u32,
    /// Share of the capacity of the epochs to come that the optimistic regulator may borrow (0.1).
    pub spare_share: f64,
}

impl Default for Params {
    fn default() -> Self {
        let unit_window_ns = 600 * SECOND_NS;
        Self {
            period_ns: SECOND_NS,
            unit_window_ns,
            history_windows: (14 * 86_400 * SECOND_NS / unit_window_ns) as u32,
            fixed_epoch_ns: None,
            error_max: 0.25,
            errors_in_a_row: 3,
            pairs_min: 1,
            spare_share: 0.1,
        }
    }
}

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
}
