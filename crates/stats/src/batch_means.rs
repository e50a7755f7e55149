//! Confidence interval of a measured write amplification: batch means of a ratio.
//!
//! The run is cut into batches of equal numbers of requests. Batch i has P_i programs and W_i host page writes; R = sum
//! P / sum W, and W is the mean of the W_i. The residuals x_i = (P_i - R W_i) / W give the variance of the ratio
//! estimator (Law, Simulation Modeling and Analysis, section 9.5). Neighbouring batches of a drive are correlated,
//! because a block filled in one is collected in the next ones. The variance is therefore raised by (1 + r) / (1 - r),
//! with r the lag-1 autocorrelation of the residuals where it is positive (that of a first-order autoregression).
//!
//! Drives collect in bursts: a batch that ends after a burst has freed space that the next one uses. Whether a burst
//! falls into a batch or after it is chance, and at 12,500 requests per batch this dominates the differences between
//! batches. The pages A_i that a batch frees beyond those it programs measure how far it has collected ahead. Each of
//! them cost K = C / H programs, with C those of collection and H all others of the whole run. The residuals are
//! therefore x_i = (P_i - R W_i - K A_i) / W (A_i is a control variate with a known coefficient). What remains
//! is the error from the two ends of the run, each of which may lie before or after a burst: the variance of K A_i / W,
//! divided by n^2.
//!
//! A workload that repeats is stationary only if its passes agree, too (`passes.rs`).

use crate::passes::{Passes, cost_of_room};
use crate::series::Row;
use floatgate_flash::Cause;

/// Intended number of batches; series that are long enough are cut into as many.
const BATCHES: usize = 32;
/// Minimum of batches for an estimate.
const BATCHES_MIN: usize = 8;
/// Minimum of victims for an interval; fewer show too little collection.
const VICTIMS_MIN: u64 = 50;
/// Drift requires that the first quarter and the last half of the run differ by this many standard errors ...
const DRIFT_Z: f64 = 3.0;
/// ... and by this share of the write amplification; a smaller drift does not matter.
const DRIFT_SHARE: f64 = 0.003;
/// Largest half width of an interval, as a share of its metric; a wider one is useless.
const HALF_WIDTH_MAX: f64 = 0.5;
/// Largest autocorrelation accepted; beyond it batches add almost no information.
const CORRELATION_MAX: f64 = 0.9;
/// Net use of free pages, as a share of the programs, above which a drive is still filling up.
const FILLING_SHARE: f64 = 0.05;

/// An estimated write amplification and its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WafEstimate {
    /// Flash programs over host page writes of the whole run; None without host writes.
    pub waf: Option<f64>,
    /// 95 % interval; None where the run is too short for it.
    pub interval: Option<(f64, f64)>,
    /// Whether the run was in a steady state: no drift between its first quarter and its last half, and as many pages
    /// erased as programmed, and no pass over the workload far from the others. None where the run is too short to
    /// decide.
    pub stationary: Option<bool>,
    /// Requests at the beginning without which a run that is not stationary would be; none where leaving out half of
    /// it is not enough.
    pub transient_requests: Option<u64>,
}

/// Estimates write amplification from cumulative rows; `pages_per_erase` are the pages that one counted erase frees,
/// `victims` the collected blocks (superblocks), `pass_requests` the requests of a pass where the run ended with one.
#[must_use]
pub fn estimate_waf(
    rows: &[Row],
    pages_per_erase: u32,
    victims: u64,
    pass_requests: Option<u64>,
) -> WafEstimate {
    let Some(last) = rows.last().filter(|row| row.page_writes > 0) else {
        return WafEstimate { waf: None, interval: None, stationary: None, transient_requests: None };
    };
    let waf = last.programs_total() as f64 / last.page_writes as f64;
    let batches = cut(rows, pages_per_erase);
    if batches.len() < BATCHES_MIN {
        return WafEstimate { waf: Some(waf), interval: None, stationary: None, transient_requests: None };
    }
    let n = batches.len() as f64;
    let residuals = residuals(&batches, waf);
    let half = student_t_975(n - 1.0) * (noise(&residuals) / n + variance(&ahead(&batches)) / (n * n)).sqrt();
    let interval = (victims >= VICTIMS_MIN && half <= HALF_WIDTH_MAX * waf)
        .then(|| ((waf - half).max(least_possible(last)), waf + half));
    let passes = Passes::of(rows, pages_per_erase, victims, pass_requests);
    let stationary =
        !fills(&batches) && !drifts(&batches, &residuals, waf) && !passes.differ(0..passes.waf.len());
    let transient_requests = if stationary { None } else { transient_requests(&batches, &passes) };
    WafEstimate { waf: Some(waf), interval, stationary: Some(stationary), transient_requests }
}

/// Returns the requests of the shortest beginning (1/16, 1/8, 1/4 or 1/2 of the run, or at most half of its passes)
/// whose remainder is stationary; two passes remain at least.
fn transient_requests(batches: &[Batch], passes: &Passes) -> Option<u64> {
    let n = batches.len();
    let rest_is_steady = |skipped: usize| {
        let rest = &batches[skipped..];
        let programs: f64 = rest.iter().map(|batch| batch.programs).sum();
        let waf = programs / rest.iter().map(|batch| batch.writes).sum::<f64>();
        rest.len() >= BATCHES_MIN && !fills(rest) && !drifts(rest, &residuals(rest, waf), waf)
    };
    let parts = passes.ends.len();
    if parts > 1 {
        let skipped = (1..=(parts / 2).min(parts - 2)).find(|&skipped| {
            let until = passes.ends[skipped - 1];
            let batch = (1 + batches.partition_point(|batch| batch.requests_until < until)).min(n);
            !passes.differ(skipped..parts) && rest_is_steady(batch)
        })?;
        return Some(passes.ends[skipped - 1]);
    }
    let skipped = [n / 16, n / 8, n / 4, n / 2]
        .into_iter()
        .filter(|&skipped| skipped > 0)
        .find(|&skipped| rest_is_steady(skipped))?;
    Some(batches[skipped - 1].requests_until)
}

/// Checks whether the drive is still filling up: more pages programmed than erased, or the reverse.
fn fills(batches: &[Batch]) -> bool {
    let sum = |of: fn(&Batch) -> f64| batches.iter().map(of).sum::<f64>();
    let (programs, freed) = (sum(|batch| batch.programs), sum(|batch| batch.freed));
    (programs - freed).abs() > FILLING_SHARE * programs
}

/// Returns the least possible amplification: 1 where every host page write is programmed. Deduplication and compression
/// save programs.
fn least_possible(last: &Row) -> f64 {
    let programmed: u64 =
        [Cause::Host, Cause::Partial].iter().map(|&cause| last.programs[cause as usize]).sum();
    if programmed < last.page_writes { 0.0 } else { 1.0 }
}

/// Counts of a batch.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    programs: f64,
    writes: f64,
    /// Pages that erases freed.
    freed: f64,
    /// Requests from the beginning of the run to the end of the batch.
    requests_until: u64,
    /// Programs of collection for space that a later batch uses; negative where an earlier batch collected ahead.
    ahead: f64,
}

/// Cuts rows into batches of equal numbers of rows. Remaining rows join the first batch, which is the least settled.
/// Batches without writes are left out.
fn cut(rows: &[Row], pages_per_erase: u32) -> Vec<Batch> {
    let n = rows.len();
    let count = BATCHES.min(n);
    let size = n / count.max(1);
    let cost = rows.last().map_or(0.0, cost_of_room);
    let mut before = (0, 0, 0);
    let ends = (1..=count).rev().map(|i| n - (i - 1) * size - 1);
    let batches = ends.map(|end| {
        let row = &rows[end];
        let freed = row.erases.iter().sum::<u64>() * u64::from(pages_per_erase);
        let at = (row.programs_total(), row.page_writes, freed);
        let [programs, writes, freed] =
            [at.0 - before.0, at.1 - before.1, at.2 - before.2].map(|count| count as f64);
        before = at;
        Batch { programs, writes, freed, requests_until: row.requests, ahead: cost * (freed - programs) }
    });
    batches.filter(|batch| batch.writes > 0.0).collect()
}

/// Returns the write amplification of some batches, each charged for the space it used.
fn ratio(batches: &[Batch]) -> f64 {
    let sum = |of: fn(&Batch) -> f64| batches.iter().map(of).sum::<f64>();
    sum(|batch| batch.programs - batch.ahead) / sum(|batch| batch.writes)
}

fn mean_writes(batches: &[Batch]) -> f64 {
    batches.iter().map(|batch| batch.writes).sum::<f64>() / batches.len() as f64
}

/// Returns the programs of each batch for its own space beyond the mean amplification, per host page write.
fn residuals(batches: &[Batch], waf: f64) -> Vec<f64> {
    let mean_writes = mean_writes(batches);
    batches.iter().map(|batch| (batch.programs - batch.ahead - waf * batch.writes) / mean_writes).collect()
}

/// Returns the programs of each batch for later ones, per host page write.
fn ahead(batches: &[Batch]) -> Vec<f64> {
    let mean_writes = mean_writes(batches);
    batches.iter().map(|batch| batch.ahead / mean_writes).collect()
}

fn variance(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0)
}

/// Returns the variance of the residuals, raised for the correlation of neighbours; divided by n it is that of their
/// mean.
fn noise(residuals: &[f64]) -> f64 {
    let n = residuals.len() as f64;
    let mean = residuals.iter().sum::<f64>() / n;
    let variance = variance(residuals);
    if variance == 0.0 {
        return 0.0;
    }
    let products: f64 = residuals.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum();
    let r = (products / ((n - 1.0) * variance)).clamp(0.0, CORRELATION_MAX);
    variance * (1.0 + r) / (1.0 - r)
}

/// Returns whether the first quarter of the run differs from its last half. The noise is that of the last half alone,
/// because a transient at the beginning would inflate its own noise.
fn drifts(batches: &[Batch], residuals: &[f64], waf: f64) -> bool {
    let n = batches.len();
    let (quarter, half) = (n / 4, n / 2);
    let difference = (ratio(&batches[..quarter]) - ratio(&batches[n - half..])).abs();
    let error = (noise(&residuals[n - half..]) * (1.0 / quarter as f64 + 1.0 / half as f64)).sqrt();
    difference > DRIFT_Z * error && difference > DRIFT_SHARE * waf
}

/// Returns the 97.5 % point of Student's t: Cornish-Fisher expansion around the normal one, within 0.1 % from 7 degrees
/// on, 1 % at 3.
#[must_use]
pub fn student_t_975(degrees: f64) -> f64 {
    let z: f64 = 1.959_963_985;
    let z3 = z * z * z;
    let z5 = z3 * z * z;
    let z7 = z5 * z * z;
    z + (z3 + z) / (4.0 * degrees)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * degrees * degrees)
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * degrees * degrees * degrees)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(n: u64, programs: impl Fn(u64) -> u64, erases: impl Fn(u64) -> u64) -> Vec<Row> {
        let mut total = (0, 0);
        (1..=n)
            .map(|i| {
                total = (total.0 + programs(i), total.1 + erases(i));
                let mut row = Row { requests: i * 100, page_writes: i * 100, ..Row::default() };
                row.programs[Cause::Host as usize] = total.0;
                row.erases[Cause::Gc as usize] = total.1;
                row
            })
            .collect()
    }

    #[test]
    fn student_points_match_tables() {
        for (degrees, point) in [(7.0, 2.3646), (15.0, 2.1314), (31.0, 2.0395), (1000.0, 1.9623)] {
            let t = student_t_975(degrees);
            assert!((t - point).abs() < 0.002 * point, "{degrees}: {t}");
        }
    }

    #[test]
    fn a_steady_run_is_stationary_and_its_interval_holds_the_mean() {
        // 200 pages per row, alternating a little; every row erases as much as it programs (2 pages per erase).
        let e =
            estimate_waf(&rows(640, |i| 190 + i * 7919 % 21, |i| (190 + i * 7919 % 21) / 2), 2, 1000, None);
        let (low, high) = e.interval.unwrap();
        assert!(low < 2.0 && 2.0 < high && high - low < 0.05, "{e:?}");
        assert_eq!(e.stationary, Some(true));
    }

    #[test]
    fn drift_and_filling_are_seen() {
        let drifting =
            estimate_waf(&rows(640, |i| 150 + i / 8 + i % 3, |i| (150 + i / 8) / 2), 2, 1000, None);
        assert_eq!((drifting.stationary, drifting.transient_requests), (Some(false), None));
        let filling = estimate_waf(&rows(640, |i| 100 + i % 2, |_| 0), 2, 1000, None);
        assert_eq!((filling.stationary, filling.transient_requests), (Some(false), None));
        let filled =
            estimate_waf(&rows(640, |i| 100 + i % 2, |i| if i <= 40 { 0 } else { 50 }), 2, 1000, None);
        assert_eq!((filled.stationary, filled.transient_requests), (Some(false), Some(4000)));
    }

    /// A transient at the beginning, as of a drive that starts below its steady state.
    #[test]
    fn a_transient_does_not_excuse_itself() {
        let programs = |i: u64| if i <= 80 { 130 } else { 198 + i * 7919 % 5 };
        let e = estimate_waf(&rows(640, programs, |i| programs(i) / 2), 2, 1000, None);
        // The 80 rows of 100 requests are an eighth of the run.
        assert_eq!((e.stationary, e.transient_requests), (Some(false), Some(8000)));
    }

    /// Within a pass over a trace batches differ so much that the test of drift sees nothing from pass to pass.
    #[test]
    fn passes_that_differ_are_not_stationary() {
        // The second half of a pass of 320 rows copies twice as much as the host writes, in the first pass once.
        let programs = |i: u64| match (i - 1) % 320 {
            0..160 => 100,
            _ if i <= 320 => 200,
            _ => 300,
        };
        let of = |requests| estimate_waf(&rows(1280, programs, programs), 1, 1 << 20, requests);
        assert_eq!(of(None).stationary, Some(true));
        let e = of(Some(32_000));
        assert_eq!((e.stationary, e.transient_requests), (Some(false), Some(32_000)));
        // Of three passes, none but the first differs; of two, nothing that repeats would remain without it.
        let short = |passes: u64| {
            let rows = rows(320 * passes, programs, programs);
            let e = estimate_waf(&rows, 1, 1 << 20, Some(32_000));
            (e.stationary, e.transient_requests)
        };
        assert_eq!(short(3), (Some(false), Some(32_000)));
        assert_eq!(short(2), (Some(false), None));
    }

    #[test]
    fn correlated_batches_widen_the_interval() {
        // The same values in another order: alternating, or in two long runs.
        let width = |programs: &dyn Fn(u64) -> u64| {
            let (low, high) = estimate_waf(&rows(640, programs, |_| 100), 2, 1000, None).interval.unwrap();
            high - low
        };
        let alternating = width(&|i| if i / 20 % 2 == 0 { 190 } else { 210 });
        let blocks = width(&|i| if i / 80 % 2 == 0 { 190 } else { 210 });
        assert!(blocks > 2.0 * alternating, "{blocks} {alternating}");
    }

    /// Collection in bursts runs ahead of later writes: the same drive has about the same interval whether it collects
    /// often or seldom.
    #[test]
    fn bursts_of_collection_do_not_widen_the_interval() {
        let width = |burst: u64| {
            let mut row = Row::default();
            let rows: Vec<Row> = (1..=640)
                .map(|i| {
                    (row.requests, row.page_writes) = (i * 100, i * 100);
                    // Blocks of 2 pages: 100 erases make room for 100 pages and cost 100 copies, a little more or less.
                    let collections = if i % burst == 0 { burst } else { 0 };
                    row.programs[Cause::Host as usize] += 100;
                    row.programs[Cause::Gc as usize] += collections * (98 + i * 7919 % 5);
                    row.erases[Cause::Gc as usize] += collections * 100;
                    row
                })
                .collect();
            let e = estimate_waf(&rows, 2, 1000, None);
            let (low, high) = e.interval.unwrap();
            assert_eq!(e.stationary, Some(true), "bursts of {burst}: {e:?}");
            (high - low) / 2.0
        };
        let often = width(1);
        for burst in [7, 13, 27] {
            // A run that ends within a burst is off by half of it: 50 pages per burst of 64,000.
            let end = 2.0 * burst as f64 * 100.0 / 64_000.0;
            let seldom = width(burst);
            assert!(seldom < often + end, "bursts of {burst}: {seldom} beside {often}");
        }
    }

    #[test]
    fn intervals_stay_possible_or_away() {
        let wild = |i: u64| if i % 160 < 20 { 900 } else { 100 };
        let e = estimate_waf(&rows(640, wild, |_| 50), 2, 1000, None);
        assert!(e.interval.is_none_or(|(low, _)| low >= 1.0), "{e:?}");
        assert_eq!(estimate_waf(&rows(640, |i| 190 + i % 21, |_| 100), 2, 49, None).interval, None);
    }

    /// Where duplicates and compression save programs, an amplification below 1 is a valid measurement.
    #[test]
    fn a_drive_that_programs_less_than_the_host_writes_has_an_interval_around_its_waf() {
        let e = estimate_waf(&rows(640, |i| 44 + i * 7919 % 21, |i| (44 + i * 7919 % 21) / 2), 2, 1000, None);
        let (waf, (low, high)) = (e.waf.unwrap(), e.interval.unwrap());
        assert!(waf < 0.6 && low < waf && waf < high && high - low < 0.05, "{e:?}");
    }

    #[test]
    fn short_runs_claim_nothing() {
        let nothing = WafEstimate { waf: None, interval: None, stationary: None, transient_requests: None };
        assert_eq!(estimate_waf(&[], 2, 0, None), nothing);
        let e = estimate_waf(&rows(5, |_| 150, |_| 75), 2, 1000, None);
        assert_eq!((e.waf, e.interval, e.stationary), (Some(1.5), None, None));
    }
}
