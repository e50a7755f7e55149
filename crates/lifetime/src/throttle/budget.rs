//! How much may still be written: the capacity that is left (READY, sections 3.1 and 3.3).

use super::setup::Setup;

/// Which cycles a throttle counts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// The nominal ones, whatever the blocks recover.
    Nominal,
    /// Those that the blocks stand at the rest that they have had so far.
    Recovered,
}

impl Budget {
    /// Flash bytes that may be written in all from the beginning on, as it looks `now_ns` after it when blocks have
    /// been through `mean_cycles` cycles since.
    #[must_use]
    pub fn total_bytes(self, setup: &Setup, now_ns: u64, mean_cycles: f64) -> f64 {
        let cycles = match self {
            Self::Nominal => f64::from(setup.endurance.pe_cycles()) - setup.cycles_used,
            Self::Recovered => setup.cycles(now_ns, mean_cycles),
        };
        setup.physical_bytes as f64 * cycles
    }

    /// The most that may have been written by `end_ns`, where `wanted_bytes` would be: writing it must not leave less
    /// rest than it takes to stand it.
    #[must_use]
    pub fn bounded(self, setup: &Setup, end_ns: u64, wanted_bytes: f64) -> f64 {
        let physical = setup.physical_bytes as f64;
        let total = self.total_bytes(setup, end_ns, wanted_bytes / physical);
        if wanted_bytes <= total || self == Self::Nominal {
            return wanted_bytes.min(total);
        }
        let (mut low, mut high) = (0.0, wanted_bytes);
        // What is admitted falls as more is written: one point at which both are equal.
        for _ in 0..52 {
            let middle = 0.5 * (low + high);
            if middle <= self.total_bytes(setup, end_ns, middle / physical) {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }
}
