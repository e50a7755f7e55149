//! The table of dynamic program and erase scaling.

use floatgate_flash::Cause;
use floatgate_nand::erase_modes::WEAR_UNIT;
use floatgate_sim::scaled::AddedTime;
use floatgate_sim::{Outcome, Plan};
use serde_json::{Value, json};

/// Builds the table `dpes`, if erases have modes.
pub(crate) fn dpes(plan: &Plan, outcome: &Outcome) -> Option<Value> {
    let (scaled, modes) = (outcome.scaled.as_ref()?, plan.ftl.setup.dpes?.modes);
    let counts = &scaled.counts;
    let added = Cause::ALL.map(|cause| scaled.added(plan, &modes, cause));
    let sum = |of: fn(&AddedTime) -> f64| added.iter().map(of).sum::<f64>();
    let nominal_s: f64 = Cause::ALL.iter().map(|&cause| outcome.time_s(plan, cause)).sum();
    let (total_s, erases) = (sum(AddedTime::total_s), outcome.flash.erases_total());
    let effective = counts.worn as f64 / f64::from(WEAR_UNIT);
    let by_mode = |of: &dyn Fn(u8) -> u64| (0..modes.count).map(of).collect::<Vec<u64>>();
    Some(json!({
        "erases_by_mode": by_mode(&|mode| counts.erases_in(mode)),
        "programs_by_mode": by_mode(&|mode| counts.programs_in(mode)),
        "deepened": counts.deepened_total(),
        "effective_cycles": effective,
        "cycles_saved": erases as f64 - effective,
        "mean_wear": scaled.mean_wear,
        "time_added_s": {
            "programs": sum(|added| added.programs_s),
            "erases": sum(|added| added.erases_s),
            "deepened": sum(|added| added.deepened_s),
            "total": total_s,
        },
        "time_added_share": (nominal_s > 0.0).then(|| total_s / nominal_s),
    }))
}
