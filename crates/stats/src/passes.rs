//! Write amplification by pass over a workload that repeats: whether the passes of a run agree.
//!
//! A trace that is served several times is a process with cycles. Its parts differ by what the host does, its steady
//! state is one of whole passes (Law, Simulation Modeling and Analysis, section 9.6: steady-state cycle parameters).
//! Batches are parts of a pass and differ far more than passes do, so their test of drift misses changes from pass to
//! pass. Passes are therefore compared with one another, as the rounds of a measurement window of the SNIA Performance
//! Test Specification are: the window is steady if no round is far from the others.
//!
//! Each pass is charged for the space it used, as batches are. Short passes are joined until chance hardly moves them.

use crate::series::Row;
use floatgate_flash::Cause;
use std::ops::Range;

/// Largest range of the write amplification of passes, as a share of their mean, in a steady state. The SNIA accepts
/// 20 % for measured rounds; passes in a simulator repeat within 2 % (decision 0061).
const RANGE_MAX: f64 = 0.05;
/// Victims of each compared part at least: with fewer, their chance of a few valid pages more moves its amplification.
const VICTIMS_MIN: u64 = 2048;
/// Largest number of compared parts; more have a wider range by chance.
const PARTS_MAX: u64 = 16;

/// Whole passes of a run, joined to parts of equal length; none where they are too few or too short to compare.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Passes {
    /// Requests from the beginning of the run to the end of each part.
    pub ends: Vec<u64>,
    /// Write amplification of each.
    pub waf: Vec<f64>,
}

impl Passes {
    /// Cuts a run of `victims` collected blocks into parts, counted from its end; `requests` are those of a pass.
    pub(crate) fn of(rows: &[Row], pages_per_erase: u32, victims: u64, requests: Option<u64>) -> Self {
        let (Some(last), Some(requests)) = (rows.last(), requests.filter(|&count| count > 0)) else {
            return Self::default();
        };
        let passes = last.requests / requests;
        let parts = (victims / VICTIMS_MIN).min(passes).min(PARTS_MAX);
        if parts < 2 {
            return Self::default();
        }
        let size = passes / parts * requests;
        let ends: Vec<u64> = (0..parts).rev().map(|after| last.requests - after * size).collect();
        let cost = cost_of_room(last);
        let counts = |at: u64| {
            let freed = |row: &Row| row.erases.iter().sum::<u64>() as f64 * f64::from(pages_per_erase);
            let own = |row: &Row| {
                let programs = row.programs_total() as f64;
                programs - cost * (freed(row) - programs)
            };
            between(rows, at, |row| [own(row), row.page_writes as f64])
        };
        let waf = ends.iter().map(|&end| {
            let (before, after) = (counts(end - size), counts(end));
            (after[0] - before[0]) / (after[1] - before[1])
        });
        Self { waf: waf.collect(), ends }
    }

    /// Checks whether the amplifications of some parts lie too far apart.
    pub(crate) fn differ(&self, parts: Range<usize>) -> bool {
        let waf = &self.waf[parts];
        let (low, high) =
            waf.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)));
        let mean = waf.iter().sum::<f64>() / waf.len() as f64;
        waf.len() > 1 && high - low > RANGE_MAX * mean
    }
}

/// Returns the programs of collection per page that it frees: in the whole run as many as the others have programmed.
pub(crate) fn cost_of_room(last: &Row) -> f64 {
    let collection: u64 = [Cause::Gc, Cause::Repack].iter().map(|&cause| last.programs[cause as usize]).sum();
    let others = last.programs_total() - collection;
    if others > 0 { collection as f64 / others as f64 } else { 0.0 }
}

/// Returns cumulative counts at a number of requests, between the rows around it.
fn between(rows: &[Row], at: u64, counts: impl Fn(&Row) -> [f64; 2]) -> [f64; 2] {
    let next = rows.partition_point(|row| row.requests < at).min(rows.len() - 1);
    let (from, before) = match next {
        0 => (0, [0.0; 2]),
        _ => (rows[next - 1].requests, counts(&rows[next - 1])),
    };
    let (until, after) = (rows[next].requests, counts(&rows[next]));
    let share = (at - from) as f64 / (until - from).max(1) as f64;
    [0, 1].map(|i| before[i] + share * (after[i] - before[i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of passes of 100 rows of 100 requests; the second half of each pass copies as many pages as it writes
    /// times the factor of its pass. Every row erases as much as it programs.
    fn run(factors: &[f64]) -> Vec<Row> {
        let mut row = Row::default();
        let mut rows = vec![];
        for &factor in factors {
            for i in 0..100 {
                let copies = if i < 50 { 0 } else { (100.0 * factor) as u64 };
                row.requests += 100;
                row.page_writes += 100;
                row.programs[Cause::Host as usize] += 100;
                row.programs[Cause::Gc as usize] += copies;
                row.erases[Cause::Gc as usize] += 100 + copies;
                rows.push(row);
            }
        }
        rows
    }

    fn waf(factors: &[f64], victims: u64) -> Vec<f64> {
        Passes::of(&run(factors), 1, victims, Some(10_000)).waf
    }

    #[test]
    fn whole_passes_are_compared_where_they_collect_enough() {
        assert_eq!(waf(&[1.0, 2.0], 1 << 20), [1.5, 2.0]);
        assert_eq!(waf(&[1.0, 2.0, 1.0, 2.0], 2 * VICTIMS_MIN), [1.75, 1.75]);
        assert_eq!(waf(&[1.0, 2.0], 2 * VICTIMS_MIN - 1), [0.0; 0]);
        assert_eq!(waf(&[1.0], 1 << 20), [0.0; 0]);
        assert_eq!(Passes::of(&run(&[1.0, 2.0]), 1, 1 << 20, None), Passes::default());
        // Three passes in two parts: the first one is left out.
        assert_eq!(waf(&[9.0, 1.0, 2.0], 2 * VICTIMS_MIN), [1.5, 2.0]);
        assert_eq!(waf(&[1.0; 40], 1 << 20).len(), 16);
    }

    #[test]
    fn passes_that_begin_within_a_row_are_cut_between_rows() {
        let cut = Passes::of(&run(&[1.0, 1.0]), 1, 1 << 20, Some(6_666));
        assert_eq!(cut.ends, [6_668, 13_334, 20_000]);
        assert_eq!(cut.waf.len(), 3);
    }

    #[test]
    fn passes_far_apart_differ() {
        let of = |factors: &[f64]| Passes::of(&run(factors), 1, 1 << 20, Some(10_000));
        assert!(!of(&[1.0, 1.1, 1.0]).differ(0..3));
        let passes = of(&[0.4, 1.0, 1.1]);
        assert!(passes.differ(0..3) && !passes.differ(1..3));
    }
}
