//! The experiment of a life: what it refuses, and its settings in functional mode.

use crate::load::load;
use floatgate_base::{Error, Place, Result};
use floatgate_config::{Resolved, acting_in_time};
use floatgate_sim::Plan;

/// Loads the experiment of a variant and checks it for a life.
///
/// # Errors
/// Input errors with their place.
pub(crate) fn variant(text: Option<&str>, path: &str, overrides: &[(String, String)]) -> Result<Resolved> {
    if let Some((_, arrival)) =
        overrides.iter().find(|(key, value)| key == "workload.arrival" && value != "shifted")
    {
        let what = format!(
            "arrival '{arrival}' has no effect on a life: requests arrive at their stamps and all delays"
        );
        let place = Place::Setting("workload.arrival".into());
        return Err(Error::input(place, what, "expected \"shifted\" or no such key"));
    }
    let resolved = functional(text, path, overrides)?;
    if resolved.plan.ftl.setup.separate.foresees() {
        let name = resolved.plan.ftl.setup.separate.info().name;
        let what = format!("separator {name} knows a workload to its end, but a life continues");
        let place = Place::Setting("ftl.separate.policy".into());
        return Err(Error::input(place, what, "expected another separator, or floatgate run"));
    }
    if resolved.plan.ftl.setup.reduce.is_some() && is_given(&resolved) {
        let of_pages = resolved.forecast.waf.is_some();
        let key = if of_pages { "lifetime.forecast.waf" } else { "lifetime.forecast.waf_of_bytes" };
        let what = "a configured write amplification does not determine what deduplication and compression leave of a page write";
        let expected = "expected no such key, to measure both, or lifetime.reduce.policy = \"none\"";
        return Err(Error::input(Place::Setting(key.into()), what, expected));
    }
    Ok(resolved)
}

/// Loads the experiment in functional mode; settings of timed mode are kept for the close-up.
pub(crate) fn functional(text: Option<&str>, path: &str, overrides: &[(String, String)]) -> Result<Resolved> {
    let mut overrides = overrides.to_vec();
    if overrides.iter().any(|(key, value)| key == "mode" && value.trim_matches('"') == "timed") {
        let in_time: Vec<String> = acting_in_time().collect();
        overrides.retain(|(key, _)| key != "mode" && !in_time.contains(key));
    }
    overrides.push(("mode".into(), "functional".into()));
    load(text, path, &overrides)
}

/// Returns whether write amplification is configured.
pub(crate) fn is_given(resolved: &Resolved) -> bool {
    resolved.forecast.waf.is_some() || resolved.forecast.waf_of_bytes.is_some()
}

/// Returns the nominal time of a page write: command, transfer, program (of several page types their mean).
pub(crate) fn service_us(plan: &Plan) -> f64 {
    let t = &plan.drive.timing;
    plan.program_us() + t.command_us + t.transfer_us(plan.drive.flash_page_bytes())
}
