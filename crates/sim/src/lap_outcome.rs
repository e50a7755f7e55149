//! What laps give: write amplification over a life of any length with its error, wear, and what was seen besides.

use crate::close_up::CloseUp;
use crate::lap_wear::LapWear;
use crate::wear_ahead::WearAhead;
use floatgate_ftl::reduce::ReduceCounters;
use floatgate_lifetime::life::Lumps;
use floatgate_stats::{WearGrowth, student_t_975};

/// The least error of a life, relative: the mean of the laps leaves out what a drive does before its first erases, and windows have a width.
pub(crate) const RESOLUTION: f64 = 1e-3;
/// Parts of a life in the laps that are compared with one another.
const LIFE_PARTS: usize = 8;

/// What the laps gave.
#[derive(Clone, Debug)]
pub struct Laps {
    /// Write amplification of the laps that were taken, from which it has settled: programs by host page write.
    pub waf: f64,
    /// How many of the last laps were taken.
    pub taken: usize,
    /// Programs and host page writes at the end of each lap, and some of them on the way.
    pub marks: Vec<(u64, u64)>,
    /// The same of every lap.
    pub waf_by_lap: Vec<f64>,
    /// Share of the blocks that were not erased by the end of each lap. Where it still falls slowly, data at rest are moved one by one,
    /// and write amplification may change until they all were.
    pub never_erased_by_lap: Vec<f64>,
    /// How far off that may be, relative.
    pub error: f64,
    /// Whether that met the criterion.
    pub stationary: bool,
    /// Whether a lap ended at its limit of requests, before it had programmed all pages among which data move: most requests read.
    pub cut_short: bool,
    /// Passes over the workload in all.
    pub passes: u64,
    /// Page programs in all.
    pub programs: u64,
    /// Erases at the end of the laps, or when the blocks that end a life had their cycles; none where blocks were erased too seldom to
    /// tell.
    pub wear: Option<LapWear>,
    /// The drive near the end of its life, where a leveler is at work whose rule says how far ahead blocks get, and the laps did not go
    /// so far. Write amplification contains what it costs.
    pub ahead: Option<WearAhead>,
    /// How the spread of wear had grown by then.
    pub growth: Option<WearGrowth>,
    /// How programs come after the laps, where nothing reduces them.
    pub lumps: Option<Lumps>,
    /// What reduction did, where there is any.
    pub reduced: Option<Reduced>,
    /// What requests take on the drive as it is then, where that was asked for and can be told.
    pub close_up: Option<CloseUp>,
}

/// What a drive that deduplicates or compresses did in the pass after the laps.
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

    /// Write amplification of a life of so many programs from the beginning of the first lap on.
    #[must_use]
    pub fn waf_over(&self, programs: f64) -> f64 {
        let programs = programs.max(1.0);
        programs / self.page_writes_at(programs)
    }

    /// How far off that may be, relative: of the part in the laps by how parts of it differ, as other random draws would; beyond them by
    /// the error of their mean.
    #[must_use]
    pub fn waf_error_over(&self, programs: f64) -> f64 {
        let within = self.marks.last().map_or(0.0, |&(last, _)| (last as f64).min(programs));
        if within <= 0.0 {
            return self.error.max(RESOLUTION);
        }
        let share = within / programs;
        // Laps that go on changing have not shown how far.
        let error = if self.stationary { self.error } else { 2.0 * self.error };
        let at = |i: usize| self.page_writes_at(within * i as f64 / LIFE_PARTS as f64);
        let pages: Vec<f64> = (0..LIFE_PARTS).map(|i| at(i + 1) - at(i)).collect();
        let spread = relative_error(&pages);
        let error = if share < 1.0 { (share * spread).max((1.0 - share) * error) } else { spread };
        (error * error + RESOLUTION * RESOLUTION).sqrt()
    }

    /// Page writes of the host after so many programs.
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

/// Half the width of the 95 % interval of the mean of these, relative to it.
fn relative_error(parts: &[f64]) -> f64 {
    let n = parts.len() as f64;
    let mean = parts.iter().sum::<f64>() / n;
    let squares: f64 = parts.iter().map(|part| (part / mean - 1.0) * (part / mean - 1.0)).sum();
    student_t_975(n - 1.0) * (squares / (n - 1.0) / n).sqrt()
}

impl Reduced {
    /// Pages programmed for the host / page writes that reached the FTL; 1 without any.
    #[must_use]
    pub fn left(&self) -> f64 {
        part(self.host_programs, self.counters.host_pages)
    }

    /// Page writes that reached the FTL / page writes of the host; 1 without any.
    #[must_use]
    pub fn through(&self) -> f64 {
        part(self.counters.host_pages, self.page_writes)
    }
}

/// A share; 1 of nothing.
pub(crate) fn part(part: u64, whole: u64) -> f64 {
    if whole > 0 { part as f64 / whole as f64 } else { 1.0 }
}
