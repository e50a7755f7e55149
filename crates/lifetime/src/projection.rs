//! Years of life from a measured rate of flash writes.
//!
//! `C_ssd = capacity x P/E cycles` counts bytes programmed into flash (READY, section 2); life ends when the workload
//! has programmed so many.

use crate::{SECONDS_PER_DAY, SECONDS_PER_YEAR};

/// What a run has measured.
#[derive(Clone, Copy, Debug)]
pub struct Wear {
    /// Bytes of flash.
    pub physical_bytes: u64,
    /// Bytes that the host sees.
    pub logical_bytes: u64,
    /// Nominal program/erase cycles of a block.
    pub pe_cycles: u32,
    /// Bytes programmed into flash.
    pub programmed_bytes: u64,
    /// Bytes that the host wrote, as it counts them: a write of part of a page is no whole page.
    pub host_bytes: u64,
    /// Erases of the most erased block.
    pub erases_max: u32,
    /// Time in which this happened, seconds; none or 0 where the workload has no time.
    pub span_s: Option<f64>,
    /// Years that the drive should last.
    pub target_years: f64,
}

/// Years, terabytes written and drive writes a day. None where the run cannot know.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Projection {
    /// Years until the workload, going on as measured, has used up all blocks' cycles on average.
    pub years: Option<f64>,
    /// Years until the most erased block has used up its own cycles.
    pub years_first_block: Option<f64>,
    /// Bytes that may be programmed into flash in the whole life.
    pub c_ssd_bytes: u64,
    /// Host bytes that may be written in the whole life (TBW).
    pub tbw_bytes: Option<f64>,
    /// Full drive writes a day that the workload makes.
    pub dwpd: Option<f64>,
    /// Full drive writes a day that the drive stands for `target_years`.
    pub dwpd_for_target: Option<f64>,
}

impl Projection {
    /// Projects the measured wear.
    #[must_use]
    pub fn of(wear: &Wear) -> Self {
        let c_ssd_bytes = wear.physical_bytes.saturating_mul(u64::from(wear.pe_cycles));
        let span = wear.span_s.filter(|&s| s > 0.0);
        let wrote = wear.programmed_bytes > 0 && wear.host_bytes > 0;
        let years = |passes: f64| span.map(|s| passes * s / SECONDS_PER_YEAR);
        let tbw_bytes =
            wrote.then(|| c_ssd_bytes as f64 * wear.host_bytes as f64 / wear.programmed_bytes as f64);
        let logical = wear.logical_bytes as f64;
        Self {
            years: wrote.then(|| years(c_ssd_bytes as f64 / wear.programmed_bytes as f64)).flatten(),
            years_first_block: (wear.erases_max > 0)
                .then(|| years(f64::from(wear.pe_cycles) / f64::from(wear.erases_max)))
                .flatten(),
            c_ssd_bytes,
            tbw_bytes,
            dwpd: span.map(|s| wear.host_bytes as f64 / logical / (s / SECONDS_PER_DAY)),
            dwpd_for_target: tbw_bytes
                .map(|tbw| tbw / logical / (wear.target_years * SECONDS_PER_YEAR / SECONDS_PER_DAY)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEAR: Wear = Wear {
        physical_bytes: 128 << 30,
        logical_bytes: 100 << 30,
        pe_cycles: 3000,
        programmed_bytes: 2 << 40,
        host_bytes: 1 << 40,
        erases_max: 20,
        span_s: Some(SECONDS_PER_DAY * 365.0),
        target_years: 5.0,
    };

    #[test]
    fn figures_follow_by_hand() {
        let p = Projection::of(&WEAR);
        // 375 TiB of budget (READY: 128 GB x 3000), 2 TiB a year.
        assert_eq!(p.c_ssd_bytes, 375 << 40);
        assert_eq!(p.years, Some(187.5));
        assert_eq!(p.years_first_block, Some(150.0));
        assert_eq!(p.tbw_bytes, Some(187.5 * (1u64 << 40) as f64));
        assert!((p.dwpd.unwrap() - 10.24 / 365.0).abs() < 1e-12);
        assert!((p.dwpd_for_target.unwrap() - 187.5 * 10.24 / (5.0 * 365.0)).abs() < 1e-12);
    }

    #[test]
    fn without_time_or_writes_nothing_is_claimed() {
        let p = Projection::of(&Wear { span_s: None, ..WEAR });
        assert_eq!((p.years, p.years_first_block, p.dwpd), (None, None, None));
        assert!(p.tbw_bytes.is_some());
        let p = Projection::of(&Wear { programmed_bytes: 0, host_bytes: 0, erases_max: 0, ..WEAR });
        assert_eq!((p.years, p.years_first_block, p.tbw_bytes), (None, None, None));
    }
}
