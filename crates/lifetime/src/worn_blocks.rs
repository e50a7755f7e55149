//! Time to wear-out of blocks that are erased more often than the mean block.
//!
//! A block that is `excess` erases ahead of the mean after the run is `excess * n^growth` ahead after `n` times as
//! long. `growth` is 1 for a permanently higher load, 0.5 for chance, 0 under wear-leveling.

use floatgate_nand::{Endurance, LeadLimit};

/// Assumed growth of an excess if unknown: the worst case.
pub const GROWTH_UNKNOWN: f64 = 1.0;
/// Growth of an excess by chance alone.
const GROWTH_CHANCE: f64 = 0.5;
/// Bounds of the search for a life, in lengths of the run.
const FACTOR_MIN: f64 = 1e-9;
const FACTOR_MAX: f64 = 1e12;

/// Estimated growth of an excess.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// The exponent.
    pub exponent: f64,
    /// Its error.
    pub error: f64,
}

impl Growth {
    /// Returns the exponent and its range; the worst case if the run is too short for an estimate.
    fn range(this: Option<Self>) -> [f64; 3] {
        this.map_or([GROWTH_UNKNOWN, GROWTH_CHANCE, GROWTH_UNKNOWN], |Self { exponent, error }| {
            [exponent, (exponent - error).max(0.0), (exponent + error).min(1.0)]
        })
    }
}

/// State of a block after a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WornBlock {
    /// Endurance of the blocks.
    pub endurance: Endurance,
    /// Length of the run, seconds; None where the workload has no time stamps.
    pub span_s: Option<f64>,
    /// Erases of the mean block.
    pub mean: f64,
    /// Erases of this one.
    pub erases: f64,
    /// Limit of a wear-leveler, which may only act after the end of the run.
    pub lead_limit: Option<LeadLimit>,
    /// Largest lead of the block near the end of life, if simulated.
    pub lead_max: Option<f64>,
}

/// A life and its range, in lengths of the run: a run of a year and 5.2 runs are 5.2 years.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockLife {
    /// The most likely life.
    pub runs: f64,
    /// The shortest and the longest life.
    pub range: [f64; 2],
}

impl WornBlock {
    /// Returns the time until the block has used up its cycles; None if it was never erased.
    #[must_use]
    pub fn life(&self, growth: Option<Growth>) -> Option<BlockLife> {
        let [runs, first, second] = Growth::range(growth).map(|exponent| self.runs(exponent));
        (self.erases > 0.0).then_some(BlockLife { runs, range: [first.min(second), first.max(second)] })
    }

    /// Returns the lengths of the run after which the erases reach the block's endurance at that pace.
    fn runs(&self, exponent: f64) -> f64 {
        let lead = self.erases - self.mean;
        // A leveler that lags behind its limit continues to.
        let lag = self.lead_limit.map_or(1.0, |limit| (lead / limit.at(self.mean)).max(1.0));
        let most = |mean: f64| match (self.lead_max, self.lead_limit) {
            (Some(most), _) => most,
            (None, Some(limit)) => lag * limit.at(mean),
            (None, None) => f64::INFINITY,
        };
        let worn = |n: f64| {
            let mean = self.mean * n;
            let erases = mean + (lead * libm::pow(n, exponent)).min(most(mean));
            let idle_s = self.span_s.map(|span_s| span_s * n / erases.max(f64::MIN_POSITIVE));
            erases >= self.endurance.cycles(idle_s)
        };
        let (mut low, mut high) = (libm::log(FACTOR_MIN), libm::log(FACTOR_MAX));
        // 64 halvings exhaust 50 powers of e.
        for _ in 0..64 {
            let middle = f64::midpoint(low, high);
            if worn(libm::exp(middle)) { high = middle } else { low = middle }
        }
        libm::exp(high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SECONDS_PER_YEAR;
    use floatgate_nand::endurance::READY_TABLE2;

    const BLOCK: WornBlock = WornBlock {
        endurance: Endurance::Fixed { pe_cycles: 3000 },
        span_s: Some(SECONDS_PER_YEAR),
        mean: 16.0,
        erases: 20.0,
        lead_limit: None,
        lead_max: None,
    };

    fn near(computed: f64, expected: f64) {
        assert!((computed / expected - 1.0).abs() < 1e-9, "{computed} {expected}");
    }

    #[test]
    fn lasting_excess_grows_with_the_mean() {
        let life = BLOCK.life(Some(Growth { exponent: 1.0, error: 0.0 })).unwrap();
        near(life.runs, 150.0);
        assert_eq!(life.range, [life.runs; 2]);
        // Unknown growth: the worst case, up to chance.
        let life = BLOCK.life(None).unwrap();
        near(life.runs, 150.0);
        assert!(life.range[0] == life.runs && life.range[1] > life.runs, "{life:?}");
    }

    #[test]
    fn chance_evens_out_and_leveling_holds_back() {
        // 16 n + 4 sqrt(n) = 3000 at sqrt(n) = (sqrt(192016) - 4) / 32; 16 n + 4 = 3000 at n = 187.25.
        let chance = BLOCK.life(Some(Growth { exponent: 0.5, error: 0.1 })).unwrap();
        near(chance.runs, ((192_016f64.sqrt() - 4.0) / 32.0).powi(2));
        assert!(chance.range[0] < chance.runs && chance.runs < chance.range[1], "{chance:?}");
        near(BLOCK.life(Some(Growth { exponent: 0.0, error: 0.0 })).unwrap().runs, 187.25);
    }

    #[test]
    fn a_leveler_bounds_the_lead() {
        // At most 1 % of 3000 ahead near the end: 16 n + 30 = 3000, long after 4 n would have been 150.
        let limit = LeadLimit { pe_cycles: 3000.0, of_remaining: 0.15, least_erases: 30.0 };
        let levelled = WornBlock { erases: 48.0, lead_limit: Some(limit), ..BLOCK };
        let lasting = Some(Growth { exponent: 1.0, error: 0.0 });
        near(levelled.life(lasting).unwrap().runs, 2970.0 / 16.0);
        near(WornBlock { lead_limit: None, ..levelled }.life(lasting).unwrap().runs, 3000.0 / 48.0);
        // A block twice as far ahead as allowed stays so: 16 n + 60 = 3000.
        let lead = 2.0 * 0.15 * (3000.0 - 16.0);
        near(WornBlock { erases: 16.0 + lead, ..levelled }.life(lasting).unwrap().runs, 2940.0 / 16.0);
        // A simulated lead near the end of life takes precedence over the rule.
        near(WornBlock { lead_max: Some(60.0), ..levelled }.life(lasting).unwrap().runs, 2940.0 / 16.0);
    }

    #[test]
    fn a_block_like_the_mean_lives_as_long() {
        let life =
            WornBlock { erases: 16.0, ..BLOCK }.life(Some(Growth { exponent: 0.7, error: 0.3 })).unwrap();
        near(life.runs, 187.5);
        near(life.range[1], 187.5);
        assert_eq!(WornBlock { erases: 0.0, mean: 0.0, ..BLOCK }.life(None), None);
    }

    #[test]
    fn rest_counts_at_the_pace_of_the_block() {
        let table2 = Endurance::Recovery { pe_cycles: 3000, law: READY_TABLE2 };
        let block = WornBlock { endurance: table2, ..BLOCK };
        let runs = block.life(Some(Growth { exponent: 1.0, error: 0.0 })).unwrap().runs;
        near(runs, table2.cycles(Some(SECONDS_PER_YEAR / 20.0)) / 20.0);
    }
}
