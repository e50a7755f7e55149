//! Timing of collection by program contexts: keys of `ftl.collect` that belong together.

use super::timed::ns;
use crate::layers::Layers;
use crate::settings;
use floatgate_base::{ChosenPolicy, Result};
use floatgate_flash::Layout;
use floatgate_ftl::collect::{self, BY_CONTEXT_PARAMS, ByContext};

/// Blocks of each plane (superblocks) whose pages make up the default horizon: as many victims as may be passed over.
const HORIZON_UNITS: u64 = 8;
/// The keys that act in idle time alone.
const IN_IDLE_TIME: [&str; 2] = ["burst_gap_us", "prepared_share"];

/// What `ftl.collect` says about timing.
pub(crate) struct Settings {
    /// All parameters.
    pub policy: ChosenPolicy,
    /// The keys about timing by context that are set.
    pub set: Vec<&'static str>,
}

/// Returns the keys about timing by context that are set.
pub(crate) fn keys(table: Option<&settings::Collect>) -> Vec<&'static str> {
    let is_set = |key: &&str| table.is_some_and(|table| table.get(key).is_some());
    BY_CONTEXT_PARAMS.iter().copied().filter(is_set).collect()
}

/// Resolves the timing, and the time after which a burst is over. `idle` says whether idle time collects.
pub(crate) fn resolve(
    layers: &Layers,
    settings: &Settings,
    idle: bool,
    (layout, logical_pages): (&Layout, u32),
) -> Result<(Option<ByContext>, Option<u64>)> {
    let Settings { policy, set } = settings;
    if !collect::is_by_context(policy.text("timing")) {
        let Some(key) = set.first() else { return Ok((None, None)) };
        let what = format!("{key} has no effect with timing = \"free-blocks\"");
        let expected = format!("expected timing = \"by-context\", or no {key}");
        return Err(layers.error(&format!("ftl.collect.{key}"), what, expected));
    }
    if let Some(key) = set.iter().find(|key| !idle && IN_IDLE_TIME.contains(*key)) {
        let what = format!("{key} has no effect while nothing is collected in idle time");
        let expected = format!("expected ftl.background.policy = \"idle\" or \"by-context\", or no {key}");
        return Err(layers.error(&format!("ftl.collect.{key}"), what, expected));
    }
    let row = u64::from(layout.pages_per_unit()) * u64::from(layout.domains());
    let horizon = match policy.find_real("horizon_share") {
        Some(share) => (share * f64::from(logical_pages)).round() as u64,
        None => HORIZON_UNITS * row,
    };
    let spare_units = u64::from(layout.pages() - logical_pages) / row;
    let prepared = policy.real("prepared_share") * spare_units as f64;
    let timing = ByContext {
        horizon: u32::try_from(horizon.max(1)).unwrap_or(u32::MAX),
        dying_share: policy.real("dying_share"),
        contexts: policy.whole("contexts"),
        confident_from: policy.whole("confident_from") as u8,
        prepared_units_max: (prepared as u32).max(1),
    };
    Ok((Some(timing), idle.then(|| ns(policy.real("burst_gap_us")))))
}

/// Leaves keys without an effect out of the table that the result shows.
pub(crate) fn show(raw: &mut settings::Collect, timing: Option<ByContext>, idle: bool) {
    let acts = |key: &&&str| timing.is_some() && (idle || !IN_IDLE_TIME.contains(*key));
    BY_CONTEXT_PARAMS.iter().filter(|key| !acts(key)).for_each(|key| raw.remove(key));
}
