//! When single blocks wear out in a forecast: the first one, and the first one beyond the reserve of spare blocks.
//!
//! - A life that went through the FTL in full has the moments themselves.
//! - Laps of a small drive reach them, too: then the page writes of the host until then say when that is.
//! - Else the lead of the block over the mean one grows as the spread of wear did (`floatgate_lifetime::worn_blocks`), up to what the
//!   leveler allows near the end of life, where it was looked at.

use crate::life_interval::deviations;
use crate::lifetime_found::Found;
use floatgate_lifetime::{BlockLife, Growth, SECONDS_PER_YEAR, WornBlock};
use floatgate_nand::endurance::mean_idle_s;
use floatgate_sim::lap_wear::{BlockWear, LapWear};
use std::f64::consts::PI;

/// The normal distribution's 97.5 % point.
const Z_975: f64 = 1.96;

/// A life of a block with its range, years without growth of the demand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BlockYears {
    pub years: f64,
    pub range: [f64; 2],
}

/// Which block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    First,
    BeyondReserve,
}

/// Years until a block is worn out; none where it was erased too seldom to tell.
pub(crate) fn block_years(found: &Found<'_>, which: Block) -> Option<BlockYears> {
    let (wear, growth) = wear(found)?;
    let block = match which {
        Block::First => wear.first,
        Block::BeyondReserve => wear.beyond_reserve,
    };
    let error = error(found, which, &block);
    let wider = |[low, high]: [f64; 2]| [low * (1.0 - error).max(0.0), high * (1.0 + error)];
    if let Some(worn_s) = found.worn_s[which as usize] {
        let years = worn_s / SECONDS_PER_YEAR;
        return Some(BlockYears { years, range: wider([years; 2]) });
    }
    let forecast = &found.resolved.forecast;
    if forecast.cycles_used > 0.0 {
        return with_past(found, &block).map(|years| BlockYears { years, range: wider([years; 2]) });
    }
    let span_s = span_s(found, &block, wear.programs_per_erase)?;
    let years = |runs: f64| runs * span_s / SECONDS_PER_YEAR;
    let BlockLife { runs, range } = worn_block(found, which, &block, span_s).life(growth)?;
    Some(BlockYears { years: years(runs), range: wider(range.map(years)) })
}

/// Erases as far as the drive was run, and how the spread of wear grew.
fn wear(found: &Found<'_>) -> Option<(LapWear, Option<Growth>)> {
    let (wear, growth) = match found.drive {
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
        None => found.laps().map_or((None, None), |laps| (laps.wear, laps.growth)),
    };
    let growth = growth.map(|found| Growth { exponent: found.exponent, error: found.error });
    wear.map(|wear| (wear, growth))
}

/// How far off the life of a block may be, relative: by the error of write amplification and by chance. The most of `n` blocks whose
/// erases scatter by `sd` itself scatters by sd * pi / sqrt(12 ln n) (Gumbel), the one at a share `p` of them by
/// sd * sqrt(p (1 - p) / n) / phi(z_p). Leads that a leveler holds back do not scatter so: half of the lead is taken where that is more;
/// near the end of life at least a quarter of what the leveler allows.
fn error(found: &Found<'_>, which: Block, block: &BlockWear) -> f64 {
    let plan = &found.resolved.plan;
    let blocks = f64::from(plan.layout().units()).max(2.0);
    let ahead = found.laps().and_then(|laps| laps.ahead);
    let waf = found.laps().map_or(0.0, |laps| match ahead {
        Some(_) => laps.error,
        None => laps.waf_error_over(block.programs),
    });
    let cycles = f64::from(plan.drive.endurance.pe_cycles());
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

/// Seconds of the life in which the drive wore as much as it did.
fn span_s(found: &Found<'_>, block: &BlockWear, programs_per_erase: f64) -> Option<f64> {
    let plan = &found.resolved.plan;
    let target_s = plan.throttle.target_years * SECONDS_PER_YEAR;
    if found.drive.is_some() {
        return Some(found.life.end_ns as f64 / 1e9);
    }
    let worn = block.erases >= f64::from(plan.drive.endurance.pe_cycles());
    let pages = found.pass.demand.pages();
    if worn && !plan.throttles() && pages > 0 {
        return Some(block.page_writes / pages as f64 * found.pass.demand.period_ns() as f64 / 1e9);
    }
    // At the mean rate of the whole life.
    let programmed = block.mean * programs_per_erase * f64::from(plan.drive.geometry.page_bytes);
    (found.life.work_bytes > 0.0).then(|| target_s * programmed / found.life.work_bytes)
}

/// What is known of a block without a past.
fn worn_block(found: &Found<'_>, which: Block, block: &BlockWear, span_s: f64) -> WornBlock {
    let plan = &found.resolved.plan;
    WornBlock {
        endurance: plan.drive.endurance,
        span_s: Some(span_s),
        mean: block.mean,
        erases: block.erases.max(block.mean),
        lead_limit: plan.ftl.lead_limit(),
        lead_max: found.laps().and_then(|laps| laps.ahead).map(|ahead| ahead.lead(which == Block::First)),
    }
}

/// Years of a block on a drive that has a past: those of a lead that lasts.
fn with_past(found: &Found<'_>, block: &BlockWear) -> Option<f64> {
    let (plan, forecast) = (&found.resolved.plan, &found.resolved.forecast);
    let target_years = plan.throttle.target_years;
    let cycles = found.life.work_bytes / plan.drive.geometry.bytes() as f64 * block.erases / block.mean;
    let age_s = (forecast.age_years + target_years) * SECONDS_PER_YEAR;
    let idle_s = mean_idle_s(age_s, forecast.cycles_used + cycles);
    let left = plan.drive.endurance.cycles(idle_s) - forecast.cycles_used;
    (cycles > 0.0).then(|| target_years * left / cycles)
}
