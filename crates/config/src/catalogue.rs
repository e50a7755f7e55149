//! The names that an experiment may use, as data.

use crate::layers::Layers;
use crate::policy_sets::{POLICY_SETS, PolicySet};
use crate::presets::PRESETS;
use crate::property::range_words;
use crate::resolve::resolve;
use crate::settings::TABLES;
use crate::slot_types::SLOTS;
use crate::twins::{self, TWINS, TwinPreset};
use floatgate_base::{Acts, ParamInfo, Slot};
use floatgate_trace::generate::micro::{MICROS, Micro};
use serde_json::{Value, json};

fn params<'a>(list: impl IntoIterator<Item = &'a ParamInfo>) -> Value {
    list.into_iter()
        .map(|p| {
            json!({
                "name": p.name,
                "summary": p.described() + &mode(p.acts).map_or_else(String::new, |mode| format!("; in {mode} mode")),
                "default": p.default_words(),
                "values": range_words(p, ""),
            })
        })
        .collect()
}

/// A part of the catalogue: its name and its function.
type Section = (&'static str, fn() -> Value);

/// The parts of the catalogue. Drives and twins are resolved, which takes longer than all the rest.
const SECTIONS: [Section; 8] = [
    ("policies", || by_slot(policies)),
    ("settings", settings),
    ("common_params", || by_slot(|slot| params(slot.common))),
    ("formats", || floatgate_trace::FORMATS.iter().map(format).collect()),
    ("drives", || PRESETS.iter().map(drive).collect()),
    ("policy_sets", || POLICY_SETS.iter().map(policy_set).collect()),
    ("twins", || TWINS.iter().map(twin).collect()),
    ("micro_benchmarks", || MICROS.iter().map(micro).collect()),
];

/// Returns the sections of these names, or all: slots, formats, drives, twins and micro-benchmarks.
///
/// # Panics
/// When a drive or a twin that ships is not valid; tests hold them all.
#[must_use]
pub fn catalogue(wanted: Option<&[String]>) -> Value {
    let is_wanted = |name: &str| wanted.is_none_or(|wanted| wanted.iter().any(|one| one == name));
    let made = SECTIONS.iter().filter(|(name, _)| is_wanted(name));
    Value::Object(made.map(|(name, make)| ((*name).to_owned(), make())).collect())
}

fn by_slot(row: impl Fn(&Slot) -> Value) -> Value {
    Value::Object(SLOTS.iter().map(|slot| (slot.key.to_owned(), row(slot))).collect())
}

/// Lists every key of an experiment by its table, those of slots included.
fn settings() -> Value {
    let of_tables = TABLES.iter().map(|table| {
        let rows = table.rows.iter().map(|row| key(row, &[], row.acts));
        (table.key, table.summary, rows.collect::<Vec<_>>())
    });
    let of_slots = SLOTS.iter().map(|slot| {
        let selector = json!({
            "name": slot.selector,
            "summary": slot.what,
            "default": slot.policies[0].name,
            "values": one_of(slot.all().into_iter().map(|info| info.name)),
            "unit": Value::Null,
            "mode": mode(slot.acts),
            "needs": Value::Null,
            "policies": [],
        });
        let params = slot.params();
        let params = params.iter().map(|(param, owners)| {
            let mut row = key(param, owners, param.acts);
            row["default"] = default_words(slot, param, owners).into();
            row
        });
        (slot.key, slot.summary, std::iter::once(selector).chain(params).collect())
    });
    let table = |(key, summary, keys)| json!({ "table": key, "summary": summary, "keys": keys });
    of_tables.chain(of_slots).map(table).collect()
}

fn key(row: &ParamInfo, owners: &[&str], acts: Acts) -> Value {
    json!({
        "name": row.name,
        "summary": row.summary,
        "default": row.default_words(),
        "values": range_words(row, ""),
        "unit": unit(row.name),
        "mode": mode(acts),
        "needs": row.need.map(|need| json!({ "key": need.key, "values": need.values })),
        "policies": owners,
    })
}

/// Returns the default of a slot's parameter, and the policies under which it is another: `0; 1 with 'host-given'`.
fn default_words(slot: &Slot, param: &ParamInfo, owners: &[&str]) -> String {
    let own = |owner: &&str| {
        let info = slot.find(owner)?;
        let of_owner = info.params.iter().find(|other| other.name == param.name)?.default_words();
        Some((info.name, of_owner))
    };
    let defaults: Vec<_> = owners.iter().filter_map(own).collect();
    let usual = |words: &String| defaults.iter().filter(|(_, other)| other == words).count();
    let mut common = param.default_words();
    for (_, words) in &defaults {
        if usual(words) > usual(&common) {
            common.clone_from(words);
        }
    }
    let others = defaults.iter().filter(|(_, words)| *words != common);
    let others: Vec<_> = others.map(|(name, words)| format!("; {words} with '{name}'")).collect();
    common + &others.concat()
}

fn one_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    format!("one of {}", names.map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", "))
}

/// Returns the mode in which a key acts, if it acts in one only.
fn mode(acts: Acts) -> Option<&'static str> {
    match acts {
        Acts::Always => None,
        Acts::Timed => Some("timed"),
        Acts::Functional => Some("functional"),
    }
}

/// Returns the unit of a key, which ends its name.
fn unit(name: &str) -> Option<&'static str> {
    const UNITS: [(&str, &str); 15] = [
        ("mb_per_s", "10^6 bytes per second"),
        ("per_s", "per second"),
        ("_us_by_page_type", "microseconds"),
        ("us", "microseconds"),
        ("s", "seconds"),
        ("uj", "microjoules"),
        ("bytes", "bytes"),
        ("tb", "10^12 bytes"),
        ("years", "years"),
        ("share", "share"),
        ("blocks", "blocks"),
        ("pages", "pages"),
        ("reads", "reads"),
        ("writes", "page writes"),
        ("requests", "requests"),
    ];
    let ends = |suffix: &str| {
        name.strip_suffix(suffix)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('_') || suffix.starts_with('_'))
    };
    UNITS.iter().find(|(suffix, _)| ends(suffix)).map(|(_, unit)| *unit)
}

fn policies(slot: &Slot) -> Value {
    let rows = slot.all().into_iter().map(|info| {
        json!({
            "name": info.name,
            "selector": slot.selector,
            "summary": info.summary,
            "source": info.source,
            "params": params(info.params),
            "cost": info.cost,
            "memory": info.memory,
        })
    });
    rows.collect()
}

fn micro(m: &Micro) -> Value {
    json!({
        "name": m.name,
        "request_bytes": m.request_bytes,
        "random": m.random,
        "write_percent": m.write_percent,
        "aligned": m.aligned,
        "requests": m.requests(),
    })
}

fn format(f: &floatgate_trace::FormatInfo) -> Value {
    let sample = floatgate_trace::formats::samples::sample(f.name);
    json!({
        "name": f.name,
        "summary": f.summary,
        "line": f.line,
        "units": f.units,
        "extensions": f.extensions,
        "sample": sample.map(|s| json!({ "text": s.shown, "binary": s.binary, "origin": s.origin })),
    })
}

fn policy_set(set: &PolicySet) -> Value {
    let keys = |list: &[(&str, &str)]| -> serde_json::Map<String, Value> {
        list.iter().map(|(key, value)| ((*key).to_string(), json!(value))).collect()
    };
    json!({
        "name": set.name,
        "summary": set.summary,
        "source": set.source,
        "over": keys(set.over),
        "under": keys(set.under),
        "parts": set.parts,
    })
}

fn twin(preset: &TwinPreset) -> Value {
    let twin = twins::read(preset.toml, preset.name).expect("twins that ship are valid");
    json!({
        "name": preset.name,
        "summary": preset.summary(),
        "duration_s": twin.duration_s,
        "requests": twin.requests,
        "read_share": twin.read_share,
        "write_bytes": twin.write_bytes().round() as u64,
        "footprint_bytes": twin.footprint_bytes,
        "toml": preset.toml,
    })
}

fn drive(preset: &crate::presets::Preset) -> Value {
    let mut layers = Layers::default();
    layers.add_override("drive.preset", preset.name).expect("the key exists");
    let resolved = resolve(layers).expect("drives that ship are valid");
    let g = resolved.plan.drive.geometry;
    let logical_bytes = u64::from(resolved.plan.ftl.setup.logical_pages) * u64::from(g.page_bytes);
    json!({
        "name": preset.name,
        "group": preset.group.name(),
        "summary": preset.summary(),
        "physical_bytes": g.bytes(),
        "logical_bytes": logical_bytes,
        "spare_factor": resolved.plan.ftl.spare_factor,
        "planes": g.planes(),
        "pages_per_block": resolved.plan.drive.flash_pages_per_block(),
        "page_bytes": resolved.plan.drive.flash_page_bytes(),
        "mapping_bytes": g.page_bytes,
        "pe_cycles": resolved.plan.drive.endurance.pe_cycles(),
        "rated": resolved.rated.as_ref().map(|rated| rated.to_json(logical_bytes, resolved.plan.ftl.spare_factor)),
        "toml": preset.toml,
    })
}
