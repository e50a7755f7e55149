//! Choice of the active schemes of an epoch (Algorithm 1 of the paper), as a function of its expected demand and
//! effects.
//!
//! The listing is faulty where it multiplies demand by the ratio of the scheme just enabled (lines 19 and 23). This
//! implementation follows the prose of section III-B.3, which is correct.

use serde::{Deserialize, Serialize};

/// Effect of a scheme on a workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// Flash pages written with it / without it (D).
    pub written_ratio: f64,
    /// Energy with it / without it (E).
    pub energy_ratio: f64,
}

impl Effect {
    /// Returns the effect of a scheme of which only the cost per page is known.
    #[must_use]
    pub fn unknown(cost: f64) -> Self {
        Self { written_ratio: 1.0, energy_ratio: 1.0 + cost }
    }

    /// Returns the effect of a scheme that leaves the share `written_ratio` to be programmed, at `cost` in energy per
    /// page, relative to that of a program.
    #[must_use]
    pub fn of(written_ratio: f64, cost: f64) -> Self {
        Self { written_ratio, energy_ratio: written_ratio + cost }
    }

    /// Returns whether it programs less and uses less energy (lines 6 and 10).
    fn pays(&self) -> bool {
        self.written_ratio < 1.0 && self.energy_ratio < 1.0
    }

    /// Returns whether it saves more programs than it costs energy (lines 18 and 22).
    fn saves_more_than_it_costs(&self) -> bool {
        1.0 - self.written_ratio > self.energy_ratio - 1.0
    }
}

/// The decision for an epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Deduplication.
    pub dedup: bool,
    /// Compression.
    pub compress: bool,
    /// Throttling.
    pub throttle: bool,
    /// Demand left by the active schemes (W' or W''), flash bytes.
    pub demand_bytes: f64,
}

impl Decision {
    /// Returns the number of the active schemes: 0 for none, 1 for deduplication, 2 for compression, 3 for both.
    #[must_use]
    pub fn choice(&self) -> usize {
        usize::from(self.dedup) + 2 * usize::from(self.compress)
    }
}

/// Applies Algorithm 1 to an epoch with an expected demand of `demand_bytes` (W) and a capacity of `capacity_bytes`
/// (C), both in flash bytes.
#[must_use]
pub fn decide(demand_bytes: f64, capacity_bytes: f64, dedup: &Effect, compress: &Effect) -> Decision {
    let mut on = Decision { demand_bytes, ..Decision::default() };
    if dedup.pays() {
        on.dedup = true;
        on.demand_bytes *= dedup.written_ratio;
    }
    if compress.pays() {
        on.compress = true;
        on.demand_bytes *= compress.written_ratio;
    }
    if on.demand_bytes < capacity_bytes {
        return on;
    }
    if !on.compress && compress.saves_more_than_it_costs() {
        on.compress = true;
        on.demand_bytes *= compress.written_ratio;
    }
    if !on.dedup && dedup.saves_more_than_it_costs() {
        on.dedup = true;
        on.demand_bytes *= dedup.written_ratio;
    }
    on.throttle = on.demand_bytes > capacity_bytes;
    on
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Costs of the paper: 0.4214 and 3.84 of 29.1 uJ.
    const HASH: f64 = 0.4214 / 29.1;
    const COMPRESS: f64 = 3.84 / 29.1;

    fn choice(w: f64, c: f64, dedup: f64, compress: f64) -> (bool, bool, bool, f64) {
        let on = decide(w, c, &Effect::of(dedup, HASH), &Effect::of(compress, COMPRESS));
        (on.dedup, on.compress, on.throttle, (on.demand_bytes * 1e9).round() / 1e9)
    }

    #[test]
    fn the_four_ways_through() {
        // Both pay off, and that is enough.
        assert_eq!(choice(100.0, 50.0, 0.8, 0.5), (true, true, false, 40.0));
        // Both pay off, and that is not enough: throttling.
        assert_eq!(choice(100.0, 30.0, 0.8, 0.5), (true, true, true, 40.0));
        // Compression costs energy, but saves more: on where the lifetime needs it, off where it does not.
        assert_eq!(choice(100.0, 95.0, 1.0, 0.9), (false, true, false, 90.0));
        assert_eq!(choice(90.0, 95.0, 1.0, 0.9), (false, false, false, 90.0));
        // Neither pays off: throttling alone.
        assert_eq!(choice(100.0, 50.0, 0.997, 0.99), (false, false, true, 100.0));
    }

    #[test]
    fn ties() {
        let at = |d, e| Effect { written_ratio: d, energy_ratio: e };
        // W' = C is not smaller than C: the second step is taken, and W'' = C needs no throttling.
        let on = decide(100.0, 100.0, &at(1.0, 1.1), &at(1.0, 1.1));
        assert_eq!((on.dedup, on.compress, on.throttle), (false, false, false));
        let on = decide(100.0, 100.0, &at(1.0, 1.1), &at(0.9, 1.0));
        assert!(
            on.compress && !on.dedup && !on.throttle,
            "E = 1 does not pay by itself, and saves more than it costs"
        );
        // 1 - D = E - 1 is not larger.
        assert!(!decide(100.0, 1.0, &at(0.75, 1.25), &at(0.75, 1.25)).dedup);
        // D = 1 never pays off.
        assert!(!decide(1.0, 100.0, &at(1.0, 0.5), &at(1.0, 0.5)).compress);
        // Forced on, one after the other: W'' is that of both.
        let on = decide(100.0, 10.0, &at(0.5, 1.25), &at(0.5, 1.25));
        assert_eq!((on.dedup, on.compress, on.throttle, on.demand_bytes), (true, true, true, 25.0));
    }

    /// The thresholds under the paper's constants: step 1 enables compression below 0.868 and deduplication below
    /// 0.9855, step 2 below 0.934 and 0.9928.
    #[test]
    fn fixed_points() {
        let free = |dedup, compress| choice(1.0, 2.0, dedup, compress);
        assert!(free(1.0, 0.867).1 && !free(1.0, 0.869).1);
        assert!(free(0.9854, 1.0).0 && !free(0.9856, 1.0).0);
        let forced = |dedup, compress| choice(2.0, 1.0, dedup, compress);
        assert!(forced(1.0, 0.9339).1 && !forced(1.0, 0.9341).1);
        assert!(forced(0.9927, 1.0).0 && !forced(0.9929, 1.0).0);
    }
}
