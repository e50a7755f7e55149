//! Policies drawn from the tables of their slots: a new row is drawn without being named here.

use floatgate_base::policy::{Facts, ParamKind, Range};
use floatgate_base::{ChosenPolicy, ParamInfo, PolicyInfo, Rng, Setting, Slot};
use floatgate_ftl::collect::ByContext;
use floatgate_ftl::{Level, Separate, Victim, collect, level, separate};
use floatgate_lifetime::throttle;

/// Largest whole number drawn, unless the default is larger: the size of tables follows these numbers.
const SMALL: f64 = 8.0;

/// A value of a parameter's range: a small one, its default or something near it.
fn value(rng: &mut Rng, param: &ParamInfo) -> f64 {
    let default = match param.fallback(&Facts { pe_cycles: 100, ..Facts::default() }) {
        Some(Setting::Whole(value)) => value as f64,
        Some(Setting::Number(value)) => value,
        _ => 1.0,
    };
    match (param.kind, rng.below(3)) {
        (ParamKind::Whole { least, most }, 0) => {
            (least as f64 + rng.below(SMALL as u64) as f64).min(most as f64)
        }
        (ParamKind::Whole { least, most }, 1) => {
            (default * 2.0 * rng.unit()).round().clamp(least as f64, most as f64)
        }
        (ParamKind::Number(range), 0) => {
            let ends = [range.least, range.most].map(|end| if range.contains(end) { end } else { default });
            ends[rng.below(2) as usize]
        }
        (ParamKind::Number(range), 1) => near(default * 2.0 * rng.unit(), range, default),
        (ParamKind::Name(names), _) => rng.below(names.len() as u64) as f64,
        (ParamKind::Flag, _) => rng.below(2) as f64,
        // A list of one.
        (ParamKind::Numbers { .. } | ParamKind::Rows { .. }, _) => 1.0,
        _ => default,
    }
}

fn near(value: f64, range: Range, default: f64) -> f64 {
    if range.contains(value) { value } else { default }
}

/// A policy with values for its own parameters; what every policy of the slot takes is at its default.
pub fn drawn(rng: &mut Rng, slot: &Slot, info: &'static PolicyInfo) -> ChosenPolicy {
    let values: Vec<_> = info.params.iter().map(|param| (param.name, value(rng, param))).collect();
    slot.with(info.name, &values)
}

/// A row of a slot's table.
pub fn row(rng: &mut Rng, slot: &Slot) -> &'static PolicyInfo {
    &slot.policies[rng.below(slot.policies.len() as u64) as usize]
}

/// Formats the table of an experiment with these settings, without the common parameters of the slot.
pub fn toml(slot: &Slot, settings: &ChosenPolicy) -> String {
    let own = settings.values().iter().filter(|(key, _)| slot.common.iter().all(|param| param.name != *key));
    let own = own.map(|(key, value)| match value {
        Setting::Whole(value) => format!("{key} = {value}\n"),
        Setting::Number(value) => format!("{key} = {value:?}\n"),
        Setting::Name(value) => format!("{key} = \"{value}\"\n"),
        lists => format!("{key} = {}\n", lists.to_toml()),
    });
    format!("[{}]\n{} = \"{}\"\n{}", slot.key, slot.selector, settings.name(), own.collect::<String>())
}

/// Every throttle that holds writes back.
pub fn throttles() -> impl Iterator<Item = &'static str> {
    throttle::POLICIES.iter().map(|info| info.name).filter(|name| *name != "none")
}

/// Whether a throttle has a parameter, by its whole key.
pub fn has(throttle: &str, key: &str) -> bool {
    let param = key.rsplit('.').next().unwrap();
    throttle::SLOT.find(throttle).unwrap().params.iter().any(|info| info.name == param)
}

/// Any victim policy.
pub fn any_victim(rng: &mut Rng) -> Victim {
    let info = row(rng, &collect::SLOT);
    Victim::of(&drawn(rng, &collect::SLOT, info))
}

/// Any wear-leveler, one that acts in half of all cases: blocks last few erases.
pub fn any_level(rng: &mut Rng) -> Level {
    let info = row(rng, &level::SLOT);
    Level::of(&drawn(rng, &level::SLOT, info))
}

/// Timing of collection by contexts, in half of all cases. Uses a separate generator to leave all other draws unchanged.
pub fn any_timing(seed: u64) -> Option<ByContext> {
    let mut rng = Rng::new(seed, "timing");
    let [horizons, contexts] = [12, 8].map(|bits| 1 << rng.below(bits));
    (rng.below(2) == 0).then(|| ByContext {
        horizon: 1 + rng.below(horizons) as u32,
        dying_share: rng.unit(),
        contexts: 1 + rng.below(contexts) as u32,
        confident_from: 1 + rng.below(7) as u8,
        prepared_units_max: 1 + rng.below(4) as u32,
    })
}

/// A separator with these values of parameters, the others at their defaults.
pub fn separator(name: &str, values: &[(&str, f64)]) -> Separate {
    Separate::of(&separate::SLOT.with(name, values))
}

/// A victim policy with these values of parameters, the others at their defaults.
pub fn victim(name: &str, values: &[(&str, f64)]) -> Victim {
    Victim::of(&collect::SLOT.with(name, values))
}
