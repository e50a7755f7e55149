//! Wear-out of single blocks in a forecast: the first one, and the first one beyond the reserve of spare blocks.
//!
//! - A life with every request through the FTL has the times themselves.
//! - Laps of a small drive may reach them, too; the page writes of the host until then give the time.
//! - Otherwise the lead of the block over the mean one grows as the spread of wear did
//!   (`floatgate_lifetime::worn_blocks`), up to the leveler's limit near the end of life, if that was simulated.

use crate::life_interval::deviations;
use crate::lifetime_results::LifeResults;
use floatgate_lifetime::{BlockLife, Growth, SECONDS_PER_YEAR, WornBlock};
use floatgate_nand::endurance::mean_idle_s;
use floatgate_sim::lap_wear::{BlockWear, LapWear};
use std::f64::consts::PI;

/// The normal distribution's 97.5 % point.
const Z_975: f64 = 1.96;

/// Life of a block with its range, years without growth of the demand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BlockYears {
    pub years: f64,
    pub range: [f64; 2],
}

/// A block of interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    First,
    BeyondReserve,
}

/// Returns the years until a block is worn out; None if it was erased too seldom for an estimate.
pub(crate) fn block_years(results: &LifeResults<'_>, which: Block) -> Option<BlockYears> {
    let (wear, growth) = wear(results)?;
    let block = match which {
        Block::First => wear.first,
        Block::BeyondReserve => wear.beyond_reserve,
    };
    let error = error(results, which, &block);
    let wider = |[low, high]: [f64; 2]| [low * (1.0 - error).max(0.0), high * (1.0 + error)];
    if let Some(worn_s) = results.worn_s[which as usize] {
        let years = worn_s / SECONDS_PER_YEAR;
        return Some(BlockYears { years, range: wider([years; 2]) });
    }
    let forecast = &results.resolved.forecast;
    if forecast.cycles_used > 0.0 {
        return with_past(results, &block).map(|years| BlockYears { years, range: wider([years; 2]) });
    }
    let span_s = span_s(results, &block, wear.programs_per_erase)?;
    let years = |runs: f64| runs * span_s / SECONDS_PER_YEAR;
    let BlockLife { runs, range } = worn_block(results, which, &block, span_s).life(growth)?;
    Some(BlockYears { years: years(runs), range: wider(range.map(years)) })
}

/// Returns the erases in the simulated time, and the growth of the spread of wear.
fn wear(results: &LifeResults<'_>) -> Option<(LapWear, Option<Growth>)> {
    let (wear, growth) = match results.drive {
        Some(drive) => {
            let (_, mean, most, sd) = drive.erases;
            let programs = drive.flash.programs_total() as f64;
            let page_writes = drive.host.page_writes as f64;
            let of = |erases: u32| BlockWear { mean, erases: f64::from(erases), sd, programs, page_writes };
            let wear = LapWear {
                first: of(most),
                beyond_reserve: of(drive.erases_beyond_reserve),
                programs_per_erase: programs / mean.max(f64::MIN_POSITIVE),
            };
            ((mean > 0.0).then_some(wear), drive.wear_growth)
        }
        None => results.laps().map_or((None, None), |laps| (laps.wear, laps.growth)),
    };
    let growth = growth.map(|growth| Growth { exponent: growth.exponent, error: growth.error });
    wear.map(|wear| (wear, growth))
}

/// Returns the relative error of the life of a block: from the error of write amplification and from chance.
///
/// The maximum over `n` blocks whose erases scatter by `sd` itself scatters by sd * pi / sqrt(12 ln n) (Gumbel), the
/// block at a share `p` of them by sd * sqrt(p (1 - p) / n) / phi(z_p). Leads limited by a leveler do not scatter in
/// this way: half of the lead is used where that is more, and near the end of life at least a quarter of the leveler's
/// limit.
fn error(results: &LifeResults<'_>, which: Block, block: &BlockWear) -> f64 {
    let plan = &results.resolved.plan;
    let blocks = f64::from(plan.layout().units()).max(2.0);
    let ahead = results.laps().and_then(|laps| laps.ahead);
    let waf = results.laps().map_or(0.0, |laps| match ahead {
        Some(_) => laps.error,
        None => laps.waf_error_over(block.programs),
    });
    let cycles = plan.drive.endurance.rated_erases();
    let lead = ahead
        .zip(plan.ftl.lead_limit())
        .map(|(ahead, limit)| ahead.lead(which == Block::First).max(limit.at(cycles) / 2.0) / cycles);
    let reserve = plan.drive.bad_block_reserve;
    let sd = block.sd / block.erases;
    let scatter = match which {
        Block::BeyondReserve if reserve * blocks >= 1.0 => {
            let z = deviations(reserve);
            let density = libm::exp(-z * z / 2.0) / (2.0 * PI).sqrt();
            Z_975 * sd * (reserve * (1.0 - reserve) / blocks).sqrt() / density
        }
        _ => Z_975 * sd * PI / (12.0 * libm::log(blocks)).sqrt(),
    };
    let chance = match lead {
        Some(lead) => lead / 2.0,
        None if plan.ftl.levels_wear() => scatter.max((block.erases - block.mean) / block.erases / 2.0),
        None => scatter,
    };
    (chance * chance + waf * waf).sqrt().min(1.0)
}

/// Returns the seconds of the life that caused the simulated wear.
fn span_s(results: &LifeResults<'_>, block: &BlockWear, programs_per_erase: f64) -> Option<f64> {
    let plan = &results.resolved.plan;
    let target_s = plan.throttle.target_years * SECONDS_PER_YEAR;
    if results.drive.is_some() {
        return Some(results.life.end_ns as f64 / 1e9);
    }
    let worn = block.erases >= plan.drive.endurance.rated_erases();
    let pages = results.pass.demand.pages();
    if worn && !plan.throttles() && pages > 0 {
        return Some(block.page_writes / pages as f64 * results.pass.demand.period_ns() as f64 / 1e9);
    }
    // At the mean rate of the whole life.
    let programmed = block.mean * programs_per_erase * f64::from(plan.drive.geometry.page_bytes);
    (results.life.work_bytes > 0.0).then(|| target_s * programmed / results.life.work_bytes)
}

/// Returns the state of a block on a drive without earlier wear.
fn worn_block(results: &LifeResults<'_>, which: Block, block: &BlockWear, span_s: f64) -> WornBlock {
    let plan = &results.resolved.plan;
    WornBlock {
        endurance: plan.drive.endurance,
        span_s: Some(span_s),
        mean: block.mean,
        erases: block.erases.max(block.mean),
        lead_limit: plan.ftl.lead_limit(),
        lead_max: results.laps().and_then(|laps| laps.ahead).map(|ahead| ahead.lead(which == Block::First)),
    }
}

/// Returns the years of a block on a drive with earlier wear: those of a permanent lead.
fn with_past(results: &LifeResults<'_>, block: &BlockWear) -> Option<f64> {
    let (plan, forecast) = (&results.resolved.plan, &results.resolved.forecast);
    let target_years = plan.throttle.target_years;
    let cycles = results.life.work_bytes / plan.drive.geometry.bytes() as f64 * block.erases / block.mean;
    let age_s = (forecast.age_years + target_years) * SECONDS_PER_YEAR;
    let idle_s = mean_idle_s(age_s, forecast.cycles_used + cycles);
    let left = plan.drive.endurance.cycles(idle_s) - forecast.cycles_used;
    (cycles > 0.0).then(|| target_years * left / cycles)
}
