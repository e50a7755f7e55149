//! Everything that can be named in an experiment, as data.

use crate::layers::Layers;
use crate::presets::PRESETS;
use crate::resolve::resolve;
use crate::resolve_rated::Rated;
use crate::slots::SLOTS;
use crate::twins::{self, TWINS, TwinPreset};
use floatgate_base::ParamInfo;
use floatgate_trace::generate::micro::MICROS;
use serde_json::{Value, json};

fn params<'a>(list: impl IntoIterator<Item = &'a ParamInfo>) -> Value {
    list.into_iter()
        .map(|p| {
            json!({
                "name": p.name,
                "summary": p.described(),
                "default": p.default_words(),
                "values": p.range_words(),
            })
        })
        .collect()
}

/// Slots, formats, drives, twins and micro-benchmarks.
///
/// # Panics
/// When a drive or a twin that ships is not valid; tests hold them all.
#[must_use]
pub fn catalogue() -> Value {
    let mut policies = serde_json::Map::new();
    let mut common = serde_json::Map::new();
    for slot in SLOTS {
        let rows = slot.policies.iter().map(|info| {
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
        policies.insert(slot.key.into(), rows.collect());
        common.insert(slot.key.into(), params(slot.common));
    }
    let formats: Vec<_> = floatgate_trace::FORMATS.iter().map(format).collect();
    let drives: Vec<_> = PRESETS.iter().map(drive).collect();
    let twins: Vec<_> = TWINS.iter().map(twin).collect();
    let micros: Vec<_> = MICROS
        .iter()
        .map(|m| {
            json!({
                "name": m.name,
                "request_bytes": m.request_bytes,
                "random": m.random,
                "write_percent": m.write_percent,
                "aligned": m.aligned,
                "requests": m.requests(),
            })
        })
        .collect();
    json!({
        "policies": policies,
        "common_params": common,
        "formats": formats,
        "drives": drives,
        "twins": twins,
        "micro_benchmarks": micros,
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
    json!({
        "name": preset.name,
        "group": preset.group.name(),
        "summary": preset.summary(),
        "physical_bytes": g.bytes(),
        "logical_bytes": u64::from(resolved.plan.ftl.setup.logical_pages) * u64::from(g.page_bytes),
        "spare_factor": resolved.plan.ftl.spare_factor,
        "planes": g.planes(),
        "pages_per_block": resolved.plan.drive.flash_pages_per_block(),
        "page_bytes": resolved.plan.drive.flash_page_bytes(),
        "mapping_bytes": g.page_bytes,
        "pe_cycles": resolved.plan.drive.endurance.pe_cycles(),
        "rated": resolved.rated.as_ref().map(Rated::to_json),
        "toml": preset.toml,
    })
}
