//! Years of life in the result of a run: of the average block, of the first block to wear out, and until the reserve of
//! spare blocks is used up.

use floatgate_lifetime::{BlockLife, Growth, Projection, SECONDS_PER_YEAR, Wear, WornBlock};
use floatgate_nand::Endurance;
use floatgate_sim::{Outcome, Plan};
use serde_json::{Value, json};

pub(crate) fn lifetime(plan: &Plan, outcome: &Outcome) -> Value {
    let (endurance, [mean, most, beyond]) = outcome.wear_of_blocks(plan);
    let page_bytes = u64::from(plan.drive.geometry.page_bytes);
    let projection = Projection::of(&Wear {
        physical_bytes: plan.drive.geometry.bytes(),
        logical_bytes: u64::from(plan.ftl.setup.logical_pages) * page_bytes,
        endurance,
        programmed_bytes: outcome.flash.programs_total() * page_bytes,
        host_bytes: outcome.host.write_bytes,
        span_s: outcome.period_s,
        target_years: plan.throttle.target_years,
    });
    let first = block_life(plan, outcome, endurance, (mean, most));
    let beyond_reserve = block_life(plan, outcome, endurance, (mean, beyond));
    let years = |runs: f64| outcome.period_s.map(|period_s| runs * period_s / SECONDS_PER_YEAR);
    let host_bytes = |runs: f64| runs * outcome.host.write_bytes as f64;
    json!({
        "years": projection.years,
        "years_first_block": first.and_then(|life| years(life.runs)),
        "years_first_block_range": first.and_then(|life| Some([years(life.range[0])?, years(life.range[1])?])),
        "years_spare_blocks": beyond_reserve.and_then(|life| years(life.runs)),
        "years_spare_blocks_range":
            beyond_reserve.and_then(|life| Some([years(life.range[0])?, years(life.range[1])?])),
        "wear_growth": outcome.wear_growth.map(|growth| growth.exponent),
        "target_years": plan.throttle.target_years,
        "pe_cycles": plan.drive.endurance.pe_cycles(),
        "pe_cycles_achievable": projection.pe_cycles_achievable,
        "mean_idle_h": projection.mean_idle_h(),
        "c_ssd_bytes": projection.c_ssd_bytes,
        "c_ssd_recovered_bytes": projection.c_ssd_recovered_bytes,
        "tbw_bytes": projection.tbw_bytes,
        "tbw_first_block_bytes": first.map(|life| host_bytes(life.runs)),
        "tbw_spare_blocks_bytes": beyond_reserve.map(|life| host_bytes(life.runs)),
        "dwpd": projection.dwpd,
        "dwpd_for_target": projection.dwpd_for_target,
    })
}

/// Returns the life of a block with so many erases beside those of the mean block; None if the host wrote nothing.
fn block_life(
    plan: &Plan,
    outcome: &Outcome,
    endurance: Endurance,
    (mean, erases): (f64, f64),
) -> Option<BlockLife> {
    let growth = outcome.wear_growth.map(|growth| Growth { exponent: growth.exponent, error: growth.error });
    let block = WornBlock {
        endurance,
        span_s: outcome.period_s.filter(|&period_s| period_s > 0.0),
        mean,
        erases,
        lead_limit: plan.ftl.lead_limit(),
        lead_max: None,
    };
    block.life(growth).filter(|_| outcome.host.write_bytes > 0)
}
