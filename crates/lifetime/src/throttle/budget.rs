//! The capacity that is left to be written (READY, sections 3.1 and 3.3).

use super::setup::Setup;

/// The cycles that a throttle counts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// The nominal cycles, regardless of recovery.
    Nominal,
    /// The cycles that blocks endure at their rest so far.
    Recovered,
}

impl Budget {
    /// Returns the total flash bytes that may be written from the beginning on, as estimated at `now_ns` when blocks
    /// have completed `mean_cycles` cycles.
    #[must_use]
    pub fn total_bytes(self, setup: &Setup, now_ns: u64, mean_cycles: f64) -> f64 {
        let cycles = match self {
            Self::Nominal => setup.endurance.rated_erases() - setup.cycles_used,
            Self::Recovered => setup.cycles(now_ns, mean_cycles),
        };
        setup.physical_bytes as f64 * cycles
    }

    /// Limits `wanted_bytes` to the most that may be written by `end_ns`: these writes must leave the rest that the
    /// blocks need to endure them.
    #[must_use]
    pub fn bounded(self, setup: &Setup, end_ns: u64, wanted_bytes: f64) -> f64 {
        let physical = setup.physical_bytes as f64;
        let total = self.total_bytes(setup, end_ns, wanted_bytes / physical);
        if wanted_bytes <= total || self == Self::Nominal {
            return wanted_bytes.min(total);
        }
        let (mut low, mut high) = (0.0, wanted_bytes);
        // The allowance falls as more is written: both are equal at one point.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SECOND_NS;
    use crate::throttle::Throttle;

    const PHYSICAL_BYTES: u64 = 1 << 30;
    const YEAR_NS: u64 = 8760 * 3600 * SECOND_NS;

    fn setup() -> Setup {
        Setup::ready(Throttle::ReadyOptimistic, PHYSICAL_BYTES, YEAR_NS)
    }

    #[test]
    fn nominal_cycles_bound_what_is_written() {
        let setup = Setup { cycles_used: 1000.0, ..setup() };
        let total = PHYSICAL_BYTES as f64 * 2000.0;
        assert_eq!(Budget::Nominal.total_bytes(&setup, 0, 5.0), total);
        assert_eq!(Budget::Nominal.bounded(&setup, YEAR_NS, total - 1.0), total - 1.0);
        assert_eq!(Budget::Nominal.bounded(&setup, YEAR_NS, 2.0 * total), total);
    }

    /// The allowance uses up exactly the cycles that blocks endure at the remaining rest.
    #[test]
    fn what_is_admitted_leaves_the_rest_that_it_needs() {
        let setup = setup();
        for end_ns in [YEAR_NS / 12, YEAR_NS, 5 * YEAR_NS] {
            let endured =
                |bytes: f64| Budget::Recovered.total_bytes(&setup, end_ns, bytes / PHYSICAL_BYTES as f64);
            let wanted = 10.0 * endured(PHYSICAL_BYTES as f64);
            let admitted = Budget::Recovered.bounded(&setup, end_ns, wanted);
            assert!(admitted < wanted && admitted > 0.5 * endured(wanted), "{admitted}");
            // 52 halvings of an interval of `wanted`.
            assert!(
                (endured(admitted) - admitted).abs() <= 1e-12 * wanted,
                "{admitted} {}",
                endured(admitted)
            );
            let little = 0.5 * admitted;
            assert_eq!(Budget::Recovered.bounded(&setup, end_ns, little), little);
        }
    }
}
