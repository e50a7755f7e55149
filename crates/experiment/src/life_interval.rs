//! The interval of a life: it holds in 19 of 20 cases, as far as the sources of error are known.
//!
//! - Write amplification: the error reported by the laps; 0 if every request of the life went through the FTL.
//! - The trace: its days (or hours, if the trace is shorter than four days) are resampled with replacement.
//! - The cycles of blocks, if their scatter is known: at the lower end the drive is worn out when as many blocks are
//!   worn out as the reserve holds.
//!
//! The first two determine how much more or less may be programmed at every moment. The life is simulated again at both
//! ends of this range, which includes throttling and recovery: a throttle that guarantees its target also does so at a
//! higher demand, and serves less of it. The ends leave out that collection comes in lumps, which were measured in the
//! middle. Under a throttle they are compared with a life without lumps.

use crate::one_life::lived;
use floatgate_base::{Result, Rng};
use floatgate_config::Resolved;
use floatgate_lifetime::life::{Demand, Life, Outcome};
use floatgate_stats::student_t_975;

const HOUR_NS: u64 = 3_600_000_000_000;
const DAY_NS: u64 = 24 * HOUR_NS;
/// Minimum of parts of a trace; fewer do not show their differences.
const PARTS_MIN: usize = 4;
/// Number of resampled traces.
const DRAWS: usize = 2000;
/// Number of them below the interval, and above.
const OUTSIDE: usize = DRAWS / 40;
/// The normal distribution's 97.5 % point.
const Z_975: f64 = 1.96;

/// Equal parts of a pass.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parts {
    /// `days` or `hours`, approximately.
    pub name: &'static str,
    /// Length of each.
    pub part_ns: u64,
    /// Page writes in each.
    pub pages: Vec<u64>,
}

impl Parts {
    /// Splits a pass of four days or more into days, and one of four hours or more into hours; None for a shorter one.
    /// The times are those of the trace as it was recorded, whose rate is multiplied by `rate_factor` here.
    pub fn of(demand: &Demand, rate_factor: f64) -> Option<Self> {
        let span_ns = demand.period_ns();
        let (name, count) = match (span_ns as f64 * rate_factor) as u64 {
            ns if ns >= PARTS_MIN as u64 * DAY_NS => ("days", (ns + DAY_NS / 2) / DAY_NS),
            // An hour may lack a minute: time stamps are rounded.
            ns => ("hours", (ns + HOUR_NS / 60) / HOUR_NS),
        };
        let count = count as usize;
        (count >= PARTS_MIN && demand.pages() > 0).then(|| Self {
            name,
            part_ns: span_ns / count as u64,
            pages: demand.by_part(count),
        })
    }
}

impl Parts {
    /// Returns the growth from part to part as a share of their mean, by least squares, and half of its 95 % interval.
    pub fn trend(&self) -> Option<(f64, f64)> {
        let n = self.pages.len() as f64;
        let mean = self.pages.iter().sum::<u64>() as f64 / n;
        let middle = (n - 1.0) / 2.0;
        let all =
            || (0..).zip(&self.pages).map(|(i, &pages)| (f64::from(i) - middle, pages as f64 / mean - 1.0));
        let spread: f64 = all().map(|(x, _)| x * x).sum();
        let slope = all().map(|(x, y)| x * y).sum::<f64>() / spread;
        let left: f64 = all().map(|(x, y)| (y - slope * x) * (y - slope * x)).sum();
        let error = (left / (n - 2.0) / spread).sqrt();
        (self.pages.len() >= PARTS_MIN && mean > 0.0).then(|| (slope, student_t_975(n - 2.0) * error))
    }
}

/// Sources of the interval.
pub(crate) struct Sources<'a> {
    /// Relative error of write amplification; None if unknown.
    pub waf_error: Option<f64>,
    /// Parts of the trace, if it is one and long enough.
    pub parts: Option<&'a Parts>,
}

/// The interval of a life.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Interval {
    /// The shortest life, and the longest; None if there may be hardly any writes.
    pub years: [Option<f64>; 2],
    /// Writes in the target time at the two ends, relative to the middle.
    pub served: [f64; 2],
    /// The sources in the interval: `waf`, `days` or `hours`, `blocks`.
    pub from: Vec<&'static str>,
}

/// A life at one end, relative to the middle.
struct End {
    years: Option<f64>,
    served: f64,
}

const MIDDLE: End = End { years: Some(1.0), served: 1.0 };

impl End {
    /// Compares a life with the one in the middle; None stands for hardly any writes.
    fn of(outcome: Option<&Outcome>, middle: &Outcome) -> Self {
        let Some(outcome) = outcome else { return Self { years: None, served: f64::INFINITY } };
        let years = outcome.years.zip(middle.years).map(|(years, middle)| years / middle);
        Self { years, served: outcome.delay.count() as f64 / middle.delay.count().max(1) as f64 }
    }
}

/// The lives at both ends of an interval, the one with the most programs first; None where hardly anything is written.
pub(crate) type Ends = [Option<Outcome>; 2];

impl Sources<'_> {
    fn waf_error(&self) -> Option<f64> {
        self.waf_error.filter(|error| error.is_finite())
    }

    /// Returns how much more and how much less may be programmed at every moment, relative to the middle. None where no
    /// such source is known, and both ends are the middle.
    pub fn factors(&self, resolved: &Resolved) -> Option<[f64; 2]> {
        let pages = self.parts.map_or(&[][..], |parts| &parts.pages);
        let mut rng = Rng::new(resolved.plan.seed, "interval of a life");
        let [least, most] = factors(self.waf_error().unwrap_or(0.0), pages, &mut rng);
        ([least, most] != [1.0; 2]).then_some([most, least])
    }
}

/// Simulates the life at one end, for a factor of [`Sources::factors`]; None where hardly anything is written.
pub(crate) fn end(
    life: &Life<'_>,
    factor: f64,
    tick: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Option<Outcome>> {
    if factor > 0.0 { lived(&life.scaled(factor), tick).map(Some) } else { Ok(None) }
}

/// Returns the interval of a life with this `outcome`. `ends` are simulated lives, and `middle` is the life that they
/// are compared with; without ends, they are the middle. None if no source is known, or nothing is written.
pub(crate) fn interval(
    resolved: &Resolved,
    (outcome, middle): (&Outcome, &Outcome),
    ends: Option<&Ends>,
    sources: &Sources<'_>,
) -> Option<Interval> {
    let spread = resolved.forecast.cycles_spread;
    let from =
        [sources.waf_error().map(|_| "waf"), sources.parts.map(|parts| parts.name), spread.map(|_| "blocks")];
    let from: Vec<_> = from.into_iter().flatten().collect();
    let years = outcome.years.filter(|_| !from.is_empty())?;
    let [low, high] = match ends {
        None => [MIDDLE; 2],
        Some(ends) => ends.each_ref().map(|end| End::of(end.as_ref(), middle)),
    };
    let weak = spread.map_or(1.0, |spread| worn_early(resolved, outcome.pe_cycles, spread));
    Some(Interval {
        years: [
            low.years.map(|low| years * low.min(1.0) * weak),
            high.years.map(|high| years * high.max(1.0)),
        ],
        served: [low.served.min(1.0), high.served.max(1.0)],
        from,
    })
}

/// Returns the factors of the programs relative to the middle between which 19 of 20 draws lie.
fn factors(waf_error: f64, pages: &[u64], rng: &mut Rng) -> [f64; 2] {
    let blocks = widest(pages);
    let mean = blocks.iter().sum::<f64>() / blocks.len().max(1) as f64;
    // The sample variance of few parts is too small; corrected as by Student's t.
    let count = blocks.len() as f64;
    let widened = (count / (count - 1.0)).sqrt() * student_t_975(count - 1.0) / Z_975;
    let mut draw = || {
        let mut demand = 1.0;
        if mean > 0.0 {
            let drawn: f64 = (0..blocks.len()).map(|_| blocks[rng.below(blocks.len() as u64) as usize]).sum();
            demand = libm::pow(drawn / count / mean, widened);
        }
        // The sum of twelve uniform draws is nearly normal.
        let normal = (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0;
        // Some programs remain at any error.
        demand * libm::exp(waf_error * normal / Z_975)
    };
    let mut drawn: Vec<f64> = (0..DRAWS).map(|_| draw()).collect();
    drawn.sort_by(f64::total_cmp);
    [drawn[OUTSIDE], drawn[DRAWS - 1 - OUTSIDE]]
}

/// Sums neighbouring parts, in blocks of the length that makes the mean least certain: quiet days may come in a row.
fn widest(pages: &[u64]) -> Vec<f64> {
    let joined = (1..=pages.len() / PARTS_MIN).map(|len| {
        let sum = |parts: &[u64]| parts.iter().sum::<u64>() as f64;
        pages.rchunks_exact(len).map(sum).collect::<Vec<f64>>()
    });
    let mut widest = (vec![], -1.0);
    for blocks in joined {
        let uncertain = uncertainty(&blocks);
        if uncertain > widest.1 {
            widest = (blocks, uncertain);
        }
    }
    widest.0
}

/// Returns half the width of the confidence interval of a mean, relative to the mean.
fn uncertainty(blocks: &[f64]) -> f64 {
    let count = blocks.len() as f64;
    let mean = blocks.iter().sum::<f64>() / count;
    if mean <= 0.0 {
        return 0.0;
    }
    let squares: f64 = blocks.iter().map(|one| (one / mean - 1.0).powi(2)).sum();
    student_t_975(count - 1.0) * (squares / ((count - 1.0) * count)).sqrt()
}

/// Returns the share of the mean block's remaining cycles at which as many blocks are worn out as the reserve holds, if
/// cycles are normally distributed.
fn worn_early(resolved: &Resolved, pe_cycles: f64, spread: f64) -> f64 {
    let drive = &resolved.plan.drive;
    let worn = drive.bad_block_reserve.max(1.0 / drive.geometry.blocks() as f64);
    let used = resolved.forecast.cycles_used;
    ((pe_cycles * (1.0 - deviations(worn) * spread) - used) / (pe_cycles - used)).max(0.0)
}

/// Returns the number of standard deviations by which a share of a normal distribution is at least below its mean.
pub(crate) fn deviations(share: f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..64 {
        let middle = f64::midpoint(low, high);
        if 0.5 * libm::erfc(middle / std::f64::consts::SQRT_2) > share { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rng(seed: u64) -> Rng {
        Rng::new(seed, "test")
    }

    #[test]
    fn a_trend_is_told_with_its_error() {
        let of = |pages: &[u64]| Parts { name: "days", part_ns: DAY_NS, pages: pages.to_vec() }.trend();
        // 10 more per day, with 120 in the middle.
        let (trend, error) = of(&[100, 110, 120, 130, 140]).unwrap();
        assert!((trend - 10.0 / 120.0).abs() < 1e-12 && error < 1e-9, "{trend} {error}");
        let (trend, error) = of(&[100, 140, 90, 130, 95, 135]).unwrap();
        assert!(trend.abs() < error, "{trend} {error}");
        assert_eq!((of(&[1, 2, 3]), of(&[0; 5])), (None, None));
    }

    #[test]
    fn sources_that_say_nothing_leave_no_interval() {
        assert_eq!(factors(0.0, &[], &mut rng(1)), [1.0; 2]);
        assert_eq!(factors(0.0, &[7; 9], &mut rng(1)), [1.0; 2]);
    }

    #[test]
    fn write_amplification_is_as_far_off_as_it_is_said_to_be() {
        let [low, high] = factors(0.02, &[], &mut rng(1));
        assert!((low - 0.98).abs() < 0.002 && (high - 1.02).abs() < 0.002, "{low} {high}");
        assert_eq!(factors(0.02, &[], &mut rng(1)), [low, high], "draws are the seed's");
    }

    /// Nothing was written on five of six days: the same may hold for all coming days.
    #[test]
    fn a_single_burst_leaves_the_longest_life_open() {
        let [low, high] = factors(0.0, &[0, 0, 600, 0, 0, 0], &mut rng(1));
        assert!(low == 0.0 && high > 2.0, "{low} {high}");
    }

    /// Half of a month is quiet, half is busy: single days would show a fifth of the variation.
    #[test]
    fn days_that_come_in_a_row_are_drawn_in_a_row() {
        let month: Vec<u64> = (0..28).map(|day| 100 + 100 * (day / 7 % 2)).collect();
        assert_eq!(widest(&month), [1400.0, 700.0, 1400.0, 700.0], "weeks, the last first");
        let days: Vec<u64> = (0..28).map(|day| 100 + 100 * (day % 2)).collect();
        assert_eq!(widest(&days).len(), 28);
    }

    /// Weeks of days that scatter by half: the mean of all coming days lies in the interval of about 19 of 20 weeks
    /// (with few days of skewed scatter, of 93 of 100).
    #[test]
    fn the_mean_of_all_days_lies_in_the_interval_of_a_week() {
        let (mut within, weeks) = (0, 1000);
        for seed in 0..weeks {
            let mut rng = rng(seed);
            let week: Vec<u64> = (0..7)
                .map(|_| {
                    let normal = (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0;
                    (1e6 * libm::exp(0.5 * normal)) as u64
                })
                .collect();
            let all = 1e6 * libm::exp(0.5 * 0.5 / 2.0) / (week.iter().sum::<u64>() as f64 / 7.0);
            let [low, high] = factors(0.0, &week, &mut rng);
            within += u32::from((low..=high).contains(&all));
        }
        println!("{within} of {weeks}");
        assert!(f64::from(within) > 0.92 * weeks as f64, "{within} of {weeks}");
    }

    #[test]
    fn shares_of_a_normal_distribution() {
        assert!((deviations(0.025) - 1.96).abs() < 0.001);
        assert!((deviations(0.02) - 2.0537).abs() < 0.001);
        assert_eq!(deviations(0.5), 0.0);
    }
}
