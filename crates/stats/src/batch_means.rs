//! How sure a measured write amplification is: batch means of a ratio.
//!
//! The run is cut into batches of equal numbers of requests. With P_i programs and W_i host page writes in batch i
//! and R = sum P / sum W, the residuals P_i - R W_i give the variance of the ratio estimator (Law, Simulation
//! Modeling and Analysis, section 9.5), and Student's t the interval.

use crate::series::Row;

/// Batches asked for; long enough series are cut into so many.
const BATCHES: usize = 32;
/// Fewer batches than this tell nothing.
const BATCHES_MIN: usize = 8;
/// z beyond which the first and the last third of the run differ: 1 % two-sided.
const DRIFT_Z: f64 = 2.576;
/// A drive whose net use of free pages is a larger share of its programs than this is still filling up.
const FILLING_SHARE: f64 = 0.05;

/// A write amplification with what is known of its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WafEstimate {
    /// Flash programs over host page writes of the whole run; none without host writes.
    pub waf: Option<f64>,
    /// 95 % interval; none where the run is too short for it.
    pub interval: Option<(f64, f64)>,
    /// Whether the run was in a steady state: no drift between its first and last third, and as many pages erased
    /// as programmed. None where the run is too short to tell.
    pub stationary: Option<bool>,
}

/// Estimates from cumulative rows; `pages_per_erase` are the pages that one counted erase frees.
#[must_use]
pub fn estimate_waf(rows: &[Row], pages_per_erase: u32) -> WafEstimate {
    let Some(last) = rows.last().filter(|row| row.page_writes > 0) else {
        return WafEstimate { waf: None, interval: None, stationary: None };
    };
    let waf = last.programs_total() as f64 / last.page_writes as f64;
    let batches = cut(rows);
    if batches.len() < BATCHES_MIN {
        return WafEstimate { waf: Some(waf), interval: None, stationary: None };
    }
    let half = student_t_975(batches.len() as f64 - 1.0) * standard_error(&batches);
    let programs = last.programs_total() as f64;
    let erased = last.erases.iter().sum::<u64>() as f64 * f64::from(pages_per_erase);
    let filling = (programs - erased).abs() > FILLING_SHARE * programs;
    let stationary = !filling && drift_z(&batches) <= DRIFT_Z;
    WafEstimate { waf: Some(waf), interval: Some((waf - half, waf + half)), stationary: Some(stationary) }
}

/// (programs, writes) of batches with equal numbers of rows; rows that do not fill a batch join the first one, which
/// is the least settled anyway. Batches without writes say nothing and are left out.
fn cut(rows: &[Row]) -> Vec<(f64, f64)> {
    let n = rows.len();
    let count = BATCHES.min(n);
    let size = n / count.max(1);
    let mut before = (0, 0);
    let ends = (1..=count).rev().map(|i| n - (i - 1) * size - 1);
    let batches = ends.map(|end| {
        let at = (rows[end].programs_total(), rows[end].page_writes);
        let batch = ((at.0 - before.0) as f64, (at.1 - before.1) as f64);
        before = at;
        batch
    });
    batches.filter(|&(_, writes)| writes > 0.0).collect()
}

fn ratio(batches: &[(f64, f64)]) -> f64 {
    let (p, w) = batches.iter().fold((0.0, 0.0), |sum, b| (sum.0 + b.0, sum.1 + b.1));
    p / w
}

fn standard_error(batches: &[(f64, f64)]) -> f64 {
    let n = batches.len() as f64;
    let r = ratio(batches);
    let mean_writes = batches.iter().map(|b| b.1).sum::<f64>() / n;
    let squares: f64 = batches.iter().map(|b| (b.0 - r * b.1) * (b.0 - r * b.1)).sum();
    (squares / (n * (n - 1.0))).sqrt() / mean_writes
}

/// How many standard errors the last third of the run lies from the first.
fn drift_z(batches: &[(f64, f64)]) -> f64 {
    let third = batches.len() / 3;
    let (first, last) = (&batches[..third], &batches[batches.len() - third..]);
    let difference = (ratio(last) - ratio(first)).abs();
    if difference == 0.0 || third < 2 {
        return 0.0;
    }
    let error =
        (standard_error(first) * standard_error(first) + standard_error(last) * standard_error(last)).sqrt();
    difference / error
}

/// The 97.5 % point of Student's t: Cornish-Fisher expansion around the normal one, within 0.1 % from 7 degrees on.
fn student_t_975(degrees: f64) -> f64 {
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
                Row {
                    requests: i * 100,
                    page_writes: i * 100,
                    programs: [total.0, 0, 0],
                    erases: [0, 0, total.1],
                    ..Row::default()
                }
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
        // 200 pages a row, alternating a little; every row erases as much as it programs (2 pages an erase).
        let e = estimate_waf(&rows(640, |i| 190 + i * 7919 % 21, |i| (190 + i * 7919 % 21) / 2), 2);
        let (low, high) = e.interval.unwrap();
        assert!(low < 2.0 && 2.0 < high && high - low < 0.05, "{e:?}");
        assert_eq!(e.stationary, Some(true));
    }

    #[test]
    fn drift_and_filling_are_seen() {
        let drifting = estimate_waf(&rows(640, |i| 150 + i / 8 + i % 3, |i| (150 + i / 8) / 2), 2);
        assert_eq!(drifting.stationary, Some(false));
        let filling = estimate_waf(&rows(640, |i| 100 + i % 2, |_| 0), 2);
        assert_eq!(filling.stationary, Some(false));
    }

    #[test]
    fn short_runs_claim_nothing() {
        assert_eq!(estimate_waf(&[], 2), WafEstimate { waf: None, interval: None, stationary: None });
        let e = estimate_waf(&rows(5, |_| 150, |_| 75), 2);
        assert_eq!((e.waf, e.interval, e.stationary), (Some(1.5), None, None));
    }
}
