//! Results of the laps: write amplification over a life of any length with its error, wear, and further measurements.

use crate::close_up::CloseUp;
use crate::lap_wear::LapWear;
use crate::wear_ahead::WearAhead;
use floatgate_flash::Cause;
use floatgate_ftl::reduce::ReduceCounters;
use floatgate_lifetime::life::Lumps;
use floatgate_stats::{WearGrowth, student_t_975};

/// Smallest relative error of a life: the mean of the laps omits the time before a drive's first erases, and windows
/// have a width.
pub(crate) const RESOLUTION: f64 = 1e-3;
/// Parts of a life in the laps that are compared with one another.
const LIFE_PARTS: usize = 8;

/// Results of the laps.
#[derive(Clone, Debug)]
pub struct Laps {
    /// Write amplification of the averaged laps, after it has settled: programs per host page write.
    pub waf: f64,
    /// Number of averaged laps, the last ones.
    pub taken: usize,
    /// Programs and host page writes at the end of each lap, and at some points within.
    pub marks: Vec<(u64, u64)>,
    /// Programs of the averaged laps by cause, and their host page writes.
    pub by_cause: ([u64; Cause::ALL.len()], u64),
    /// Write amplification of every lap.
    pub waf_by_lap: Vec<f64>,
    /// Share of the blocks that were not erased by the end of each lap. While it falls slowly, data at rest are moved
    /// bit by bit, and write amplification may change until all were moved.
    pub never_erased_by_lap: Vec<f64>,
    /// Relative error of `waf`.
    pub error: f64,
    /// Whether the error met the criterion.
    pub stationary: bool,
    /// Whether a lap ended at its limit of requests before it had programmed all pages among which data move: most
    /// requests read.
    pub cut_short: bool,
    /// Passes over the workload in all.
    pub passes: u64,
    /// Page programs in all.
    pub programs: u64,
    /// Erases at the end of the laps, or when the blocks that end a life used up their cycles; None if blocks were
    /// erased too seldom for an estimate.
    pub wear: Option<LapWear>,
    /// The drive near the end of its life, if the rule of a leveler limits leads and the laps did not last that long.
    /// Write amplification includes its cost.
    pub ahead: Option<WearAhead>,
    /// Growth of the spread of wear by then.
    pub growth: Option<WearGrowth>,
    /// Distribution of the programs after the laps, without reduction.
    pub lumps: Option<Lumps>,
    /// Results of reduction, if there is any.
    pub reduced: Option<Reduced>,
    /// The close-up on the drive after the laps, if requested and possible.
    pub close_up: Option<CloseUp>,
}

/// Counts of a drive that deduplicates or compresses, in the pass after the laps.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduced {
    /// Page writes of the host, of which a write buffer may have absorbed some.
    pub page_writes: u64,
    /// All counts of the FTL.
    pub counters: ReduceCounters,
    /// Pages programmed for the host.
    pub host_programs: u64,
    /// Pages programmed for the host / page writes that reached the FTL, in each window of the pass.
    pub left_by_window: Vec<f64>,
}

impl Laps {
    /// Returns the state before the first lap.
    pub(crate) fn none() -> Self {
        Self {
            waf: 0.0,
            taken: 0,
            marks: vec![],
            by_cause: Default::default(),
            waf_by_lap: vec![],
            never_erased_by_lap: vec![],
            error: f64::INFINITY,
            stationary: false,
            cut_short: false,
            passes: 0,
            programs: 0,
            wear: None,
            ahead: None,
            growth: None,
            lumps: None,
            reduced: None,
            close_up: None,
        }
    }

    /// Returns the write amplification of a life of so many programs from the beginning of the first lap on.
    #[must_use]
    pub fn waf_over(&self, programs: f64) -> f64 {
        let programs = programs.max(1.0);
        programs / self.page_writes_at(programs)
    }

    /// Returns the relative error of [`Self::waf_over`]. For the part in the laps it follows from the differences
    /// between parts, as between random draws; beyond them from the error of their mean.
    #[must_use]
    pub fn waf_error_over(&self, programs: f64) -> f64 {
        let within = self.marks.last().map_or(0.0, |&(last, _)| (last as f64).min(programs));
        if within <= 0.0 {
            return self.error.max(RESOLUTION);
        }
        let share = within / programs;
        // Laps that keep changing do not show their limit.
        let error = if self.stationary { self.error } else { 2.0 * self.error };
        let at = |i: usize| self.page_writes_at(within * i as f64 / LIFE_PARTS as f64);
        let pages: Vec<f64> = (0..LIFE_PARTS).map(|i| at(i + 1) - at(i)).collect();
        let spread = relative_error(&pages);
        let error = if share < 1.0 { (share * spread).max((1.0 - share) * error) } else { spread };
        (error * error + RESOLUTION * RESOLUTION).sqrt()
    }

    /// Splits a write amplification by the causes of programs.
    ///
    /// Programs for the host are those of the averaged laps. The drive's own make the rest, in the proportions of these
    /// laps; wear-leveling has its mean over life where it was simulated ahead. All are 0 without host page writes.
    #[must_use]
    pub fn split(&self, waf: f64) -> [f64; Cause::ALL.len()] {
        let (programs, host_pages) = self.by_cause;
        if host_pages == 0 {
            return [0.0; Cause::ALL.len()];
        }
        let is_host = |cause: Cause| matches!(cause, Cause::Host | Cause::Partial);
        let mut parts = programs.map(|programs| programs as f64 / host_pages as f64);
        let level = Cause::Level as usize;
        if let Some(ahead) = self.ahead {
            let others = parts.iter().sum::<f64>() - parts[level];
            parts[level] = ahead.moved_over_life * others;
        }
        let sum = |of_host: bool| -> f64 {
            let chosen = Cause::ALL.iter().filter(|&&cause| is_host(cause) == of_host);
            chosen.map(|&cause| parts[cause as usize]).sum()
        };
        let (host, own) = (sum(true), sum(false));
        let scale = if own > 0.0 { (waf - host).max(0.0) / own } else { 0.0 };
        for cause in Cause::ALL.into_iter().filter(|&cause| !is_host(cause)) {
            parts[cause as usize] *= scale;
        }
        parts
    }

    /// Returns the page writes of the host after so many programs.
    fn page_writes_at(&self, programs: f64) -> f64 {
        let Some(&(last_programs, last_pages)) = self.marks.last() else { return programs / self.waf };
        if programs >= last_programs as f64 {
            return last_pages as f64 + (programs - last_programs as f64) / self.waf;
        }
        let after = self.marks.partition_point(|&(mark, _)| (mark as f64) < programs);
        let (end_programs, end_pages) = self.marks[after];
        let (begin_programs, begin_pages) = if after > 0 { self.marks[after - 1] } else { (0, 0) };
        let waf = (end_programs - begin_programs) as f64 / (end_pages - begin_pages).max(1) as f64;
        begin_pages as f64 + (programs - begin_programs as f64) / waf
    }
}

/// Returns half the width of the 95 % interval of their mean, relative to the mean.
fn relative_error(parts: &[f64]) -> f64 {
    let n = parts.len() as f64;
    let mean = parts.iter().sum::<f64>() / n;
    let squares: f64 = parts.iter().map(|part| (part / mean - 1.0) * (part / mean - 1.0)).sum();
    student_t_975(n - 1.0) * (squares / (n - 1.0) / n).sqrt()
}

impl Reduced {
    /// Returns pages programmed for the host / page writes that reached the FTL; 1 without any.
    #[must_use]
    pub fn left(&self) -> f64 {
        part(self.host_programs, self.counters.host_pages)
    }

    /// Returns page writes that reached the FTL / page writes of the host; 1 without any.
    #[must_use]
    pub fn through(&self) -> f64 {
        part(self.counters.host_pages, self.page_writes)
    }
}

/// Returns a share; 1 if the whole is 0.
pub(crate) fn part(part: u64, whole: u64) -> f64 {
    if whole > 0 { part as f64 / whole as f64 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds laps in which 80 whole pages and 20 parts of pages were written, 40 pages collected and 10 leveled.
    fn laps() -> Laps {
        let mut programs = [0; Cause::ALL.len()];
        for (cause, count) in [(Cause::Host, 80), (Cause::Partial, 20), (Cause::Gc, 40), (Cause::Level, 10)] {
            programs[cause as usize] = count;
        }
        Laps { by_cause: (programs, 100), ..Laps::none() }
    }

    #[test]
    fn parts_keep_the_programs_of_the_host_and_share_the_rest() {
        let shown = |parts: [f64; Cause::ALL.len()]| {
            [Cause::Host, Cause::Partial, Cause::Gc, Cause::Level].map(|cause| parts[cause as usize])
        };
        assert_eq!(shown(laps().split(1.5)), [0.8, 0.2, 0.4, 0.1]);
        assert_eq!(shown(laps().split(2.0)), [0.8, 0.2, 0.8, 0.2]);
        let ahead = WearAhead {
            mean_from: 0.0,
            mean: 1.0,
            moved: 0.5,
            moved_over_life: 0.5,
            lead_first: 0.0,
            lead_beyond_reserve: 0.0,
        };
        // Others are 1.4 per page write, so leveling moves 0.7.
        let leveled = Laps { ahead: Some(ahead), ..laps() };
        let parts = shown(leveled.split(2.1));
        let expected = [0.8, 0.2, 0.4, 0.7];
        assert!(
            parts.iter().zip(expected).all(|(part, expected)| (part - expected).abs() < 1e-12),
            "{parts:?}"
        );
        assert_eq!(Laps::none().split(2.0), [0.0; Cause::ALL.len()]);
    }
}
