//! Years of life from a measured rate of flash writes.
//!
//! `C_ssd = capacity x P/E cycles` counts bytes programmed into flash (READY, section 2); life ends when the workload
//! has programmed as many. Under a recovery model the cycles are those that blocks endure when they rest between two
//! erases as long as in the run.

use crate::{SECONDS_PER_DAY, SECONDS_PER_HOUR, SECONDS_PER_YEAR};
use floatgate_nand::Endurance;

/// Measurements of a run.
#[derive(Clone, Copy, Debug)]
pub struct Wear {
    /// Bytes of flash.
    pub physical_bytes: u64,
    /// Capacity that the host sees.
    pub logical_bytes: u64,
    /// Endurance of the blocks.
    pub endurance: Endurance,
    /// Bytes programmed into flash.
    pub programmed_bytes: u64,
    /// Bytes that the host wrote; part of a page counts as its bytes.
    pub host_bytes: u64,
    /// Time span of the run, seconds; None or 0 where the workload has no time stamps.
    pub span_s: Option<f64>,
    /// Years that the drive should last.
    pub target_years: f64,
}

/// Years, terabytes written and drive writes per day. None where the run does not determine them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Projection {
    /// Years until the workload, continuing as measured, has used up all blocks' cycles on average.
    pub years: Option<f64>,
    /// Bytes that may be programmed into flash in the whole life, at nominal cycles.
    pub c_ssd_bytes: u64,
    /// Cycles that blocks endure at [`Projection::mean_idle_s`]; unknown without time where blocks recover.
    pub pe_cycles_achievable: Option<f64>,
    /// Mean time between two erases of a block at the measured rate, seconds.
    pub mean_idle_s: Option<f64>,
    /// Bytes that may be programmed into flash in the whole life, at the achievable cycles.
    pub c_ssd_recovered_bytes: Option<u64>,
    /// Host bytes that may be written in the whole life (TBW); at nominal cycles where the run has no time.
    pub tbw_bytes: Option<f64>,
    /// Full drive writes per day of the workload.
    pub dwpd: Option<f64>,
    /// Full drive writes per day that the drive endures for `target_years`, spread evenly.
    pub dwpd_for_target: Option<f64>,
}

impl Projection {
    /// Projects the measured wear.
    #[must_use]
    pub fn of(wear: &Wear) -> Self {
        let physical = wear.physical_bytes as f64;
        let c_ssd_bytes = wear.physical_bytes.saturating_mul(u64::from(wear.endurance.pe_cycles()));
        let span = wear.span_s.filter(|&s| s > 0.0);
        let wrote = wear.programmed_bytes > 0 && wear.host_bytes > 0;
        let programmed = wear.programmed_bytes as f64;
        // Cycles in the same unit as the bytes: the erases of the blocks.
        let mean_idle_s = span.filter(|_| wrote).map(|s| s * physical / programmed);
        let cycles = match mean_idle_s {
            None if wear.endurance.recovers() => None,
            idle_s => Some(wear.endurance.cycles(idle_s)),
        };
        let tbw = |c_ssd: f64| wrote.then(|| c_ssd * wear.host_bytes as f64 / programmed);
        let logical = wear.logical_bytes as f64;
        let target_s = wear.target_years * SECONDS_PER_YEAR;
        Self {
            years: cycles
                .zip(span.filter(|_| wrote))
                .map(|(n, s)| physical * n / programmed * s / SECONDS_PER_YEAR),
            c_ssd_bytes,
            pe_cycles_achievable: cycles,
            mean_idle_s,
            c_ssd_recovered_bytes: cycles.map(|n| (physical * n) as u64),
            tbw_bytes: tbw(cycles.map_or(c_ssd_bytes as f64, |n| physical * n)),
            dwpd: span.map(|s| wear.host_bytes as f64 / logical / (s / SECONDS_PER_DAY)),
            dwpd_for_target: tbw(physical * wear.endurance.steady(target_s).0)
                .map(|tbw| tbw / logical / (target_s / SECONDS_PER_DAY)),
        }
    }

    /// Returns [`Projection::mean_idle_s`] in hours.
    #[must_use]
    pub fn mean_idle_h(&self) -> Option<f64> {
        self.mean_idle_s.map(|s| s / SECONDS_PER_HOUR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_nand::endurance::READY_TABLE2;

    const WEAR: Wear = Wear {
        physical_bytes: 128 << 30,
        logical_bytes: 100 << 30,
        endurance: Endurance::Fixed { pe_cycles: 3000 },
        programmed_bytes: 2 << 40,
        host_bytes: 1 << 40,
        span_s: Some(SECONDS_PER_DAY * 365.0),
        target_years: 5.0,
    };

    #[test]
    fn figures_follow_by_hand() {
        let p = Projection::of(&WEAR);
        // 375 TiB of budget (READY: 128 GB x 3000), 2 TiB per year.
        assert_eq!(p.c_ssd_bytes, 375 << 40);
        assert_eq!((p.pe_cycles_achievable, p.c_ssd_recovered_bytes), (Some(3000.0), Some(375 << 40)));
        // 16 cycles of 128 GiB per year.
        assert_eq!(p.mean_idle_h(), Some(547.5));
        assert_eq!(p.years, Some(187.5));
        assert_eq!(p.tbw_bytes, Some(187.5 * (1u64 << 40) as f64));
        assert!((p.dwpd.unwrap() - 10.24 / 365.0).abs() < 1e-12);
        assert!((p.dwpd_for_target.unwrap() - 187.5 * 10.24 / (5.0 * 365.0)).abs() < 1e-12);
    }

    #[test]
    fn blocks_that_rest_last_longer() {
        let table2 = Endurance::Recovery { pe_cycles: 3000, law: READY_TABLE2 };
        // READY's Table 2, exchange without throttling: 1918.8 TB in 5 years on 128 GB give 949.3 TB of capacity (the
        // fitted constants give that within 0.31 %), so 2.47 years of life.
        let wear = Wear {
            endurance: table2,
            programmed_bytes: (1918.8 * (1u64 << 40) as f64) as u64,
            host_bytes: (1918.8 / 2.24 * (1u64 << 40) as f64) as u64,
            span_s: Some(5.0 * SECONDS_PER_YEAR),
            ..WEAR
        };
        let p = Projection::of(&wear);
        let near =
            |computed: f64, expected: f64| assert!((computed / expected - 1.0).abs() < 4e-3, "{computed}");
        near(p.c_ssd_recovered_bytes.unwrap() as f64 / (1u64 << 40) as f64, 949.3);
        near(p.years.unwrap(), 2.47);
        near(p.mean_idle_h().unwrap(), 43_800.0 / (1918.8 * 8.0));
        near(p.tbw_bytes.unwrap() / (1u64 << 40) as f64, 949.3 / 2.24);
        assert_eq!(p.pe_cycles_achievable, Some(table2.cycles(p.mean_idle_s)));
        assert_eq!(p.c_ssd_bytes, 375 << 40);
        // Over five years even use admits 8615 cycles of 128 GB, of which the host has 1 / 2.24.
        near(p.dwpd_for_target.unwrap(), 8615.0 * 1.28 / 2.24 / (5.0 * 365.0));
        // Without time the rest of the blocks is unknown.
        let p = Projection::of(&Wear { span_s: None, ..wear });
        assert_eq!((p.pe_cycles_achievable, p.c_ssd_recovered_bytes, p.mean_idle_s), (None, None, None));
        assert!((p.tbw_bytes.unwrap() / (375u64 << 40) as f64 * 2.24 - 1.0).abs() < 1e-9);
    }

    /// Erases that wear a block by a share w of a cycle: 1 / w of the life at the same write amplification; with
    /// recovery N(t) / w erases at the same rest t.
    #[test]
    fn effective_wear_lengthens_the_life() {
        let table2 = Endurance::Recovery { pe_cycles: 3000, law: READY_TABLE2 };
        for endurance in [WEAR.endurance, table2] {
            let plain = Projection::of(&Wear { endurance, ..WEAR });
            for wear in [0.4, 0.55, 0.71, 0.86] {
                let scaled = Projection::of(&Wear { endurance: endurance.wearing(wear), ..WEAR });
                let near = |computed: Option<f64>, plain: Option<f64>| {
                    let ratio = computed.unwrap() / plain.unwrap() * wear;
                    assert!((ratio - 1.0).abs() < 1e-12, "{wear}: {ratio}");
                };
                near(scaled.years, plain.years);
                near(scaled.tbw_bytes, plain.tbw_bytes);
                near(scaled.pe_cycles_achievable, plain.pe_cycles_achievable);
                assert_eq!((scaled.mean_idle_s, scaled.c_ssd_bytes), (plain.mean_idle_s, plain.c_ssd_bytes));
                // The target's steady point: t * N(t) = w * life, of which the drive erases N(t) / w times.
                let cycles = endurance.steady(wear * 5.0 * SECONDS_PER_YEAR).0 / wear;
                let dwpd = cycles * 1.28 / 2.0 / (5.0 * 365.0);
                assert!((scaled.dwpd_for_target.unwrap() / dwpd - 1.0).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn without_time_or_writes_nothing_is_claimed() {
        let p = Projection::of(&Wear { span_s: None, ..WEAR });
        assert_eq!((p.years, p.dwpd), (None, None));
        assert!(p.tbw_bytes.is_some());
        let p = Projection::of(&Wear { programmed_bytes: 0, host_bytes: 0, ..WEAR });
        assert_eq!((p.years, p.tbw_bytes), (None, None));
    }
}
