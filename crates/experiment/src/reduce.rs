//! The table of deduplication and compression.

use floatgate_lifetime::reduce::{Engine, Record, Reduced};
use floatgate_sim::laps::{self, Laps};
use floatgate_sim::outcome::{IndexFigures, ReduceCounters};
use floatgate_sim::{Outcome, Plan};
use serde_json::{Map, Value, json};

/// Names of the choices of schemes, in the order of [`floatgate_lifetime::reduce::Decision::choice`].
const CHOICES: [&str; 4] = ["none", "dedup", "compress", "both"];

/// Energy of hash, compressor and decompressor per page of the map, microjoules.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct EngineUj {
    pub hash: f64,
    pub compress: f64,
    pub decompress: f64,
}

impl EngineUj {
    pub fn of(plan: &Plan) -> Self {
        let params = &plan.reduce.params;
        let of_page = |engine: Engine| engine.of_page(plan.drive.geometry.page_bytes).uj;
        Self {
            hash: params.dedup.map_or(0.0, |dedup| of_page(dedup.hash)),
            compress: params.chunks.map_or(0.0, |chunks| of_page(chunks.compress)),
            decompress: params.chunks.map_or(0.0, |chunks| of_page(chunks.decompress)),
        }
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Builds the table `reduce`; null if nothing is reduced, and nothing on the drive ever was.
pub(crate) fn reduce(plan: &Plan, outcome: &Outcome) -> Value {
    let Some(figures) = &outcome.reduced else { return Value::Null };
    let counters = &figures.counters;
    let programmed = outcome.flash.programs_for_host();
    let mut table = json!({
        "policy": plan.reduce.policy.info().name,
        "host_pages": counters.host_pages,
        "unknown_share": ratio(counters.unknown_pages, counters.host_pages),
        "hashed_pages": counters.hashed_pages,
        "duplicate_pages": counters.duplicate_pages,
        "duplicate_share": ratio(counters.duplicate_pages, counters.hashed_pages),
        "shared_now": figures.shared_now,
        "referrers_now": figures.referrers_now,
        "references_max": figures.references_max,
        "compressed_pages": counters.compressed_pages,
        "rewritten_pages": counters.rewritten_pages,
        "chunks": counters.chunks,
        "plain_chunks": counters.plain_chunks,
        "part_chunks": counters.part_chunks,
        "chunk_ratio": ratio(counters.chunk_pages, counters.chunked_pages),
        "chunks_now": figures.chunks_now,
        "holes": figures.holes,
        "repacked_pages": counters.repacked_pages,
        "repacked_into": counters.repacked_into,
        "decompressed_pages": counters.decompressed_pages,
        "programmed_pages": programmed,
        "written_ratio": ratio(programmed, counters.host_pages),
        "energy_ratio": energy_ratio(plan, counters, programmed),
        "index": figures.index.as_ref().map(index),
        "memory_bytes": figures.memory_bytes,
    });
    add_decisions(plan, outcome.managed.as_ref(), &mut table);
    table
}

/// Builds the table `reduce` of a life under the integrated manager, from the ratios of laps with each choice of
/// schemes.
pub(crate) fn foreseen(plan: &Plan, reduced: &Reduced, laps: &[Laps]) -> Value {
    let [hashed, compressed] = reduced.engine_pages;
    let Reduced { host_pages, host_programs, .. } = *reduced;
    let by_choice = laps.iter().zip(CHOICES).map(|(laps, schemes)| {
        json!({
            "schemes": schemes,
            "written_ratio": laps.reduced.as_ref().map_or(1.0, laps::Reduced::left),
            "waf": laps.waf,
            "laps": laps.waf_by_lap.len(),
            "waf_error": laps.error,
            "stationary": laps.stationary,
        })
    });
    // The content of pages does not depend on the schemes; those of the last choice inspect all of it.
    let last = laps.last().and_then(|laps| laps.reduced.as_ref());
    let unknown_share = last.and_then(|last| ratio(last.counters.unknown_pages, last.counters.host_pages));
    json!({
        "policy": plan.reduce.policy.info().name,
        "host_pages": host_pages.round(),
        "unknown_share": unknown_share,
        "hashed_pages": hashed.round(),
        "compressed_pages": compressed.round(),
        "programmed_pages": host_programs.round(),
        "written_ratio": (host_pages > 0.0).then(|| host_programs / host_pages),
        "energy_ratio": energy_of(plan, host_pages, host_programs, [hashed, compressed]),
        "by_choice": by_choice.collect::<Vec<_>>(),
    })
}

/// Builds the table of a drive with constant schemes, from the pass after its laps.
pub(crate) fn of_laps(plan: &Plan, laps: &Laps) -> Value {
    let Some(reduced) = &laps.reduced else { return Value::Null };
    let counters = &reduced.counters;
    json!({
        "policy": plan.reduce.policy.info().name,
        "host_pages": counters.host_pages,
        "unknown_share": ratio(counters.unknown_pages, counters.host_pages),
        "hashed_pages": counters.hashed_pages,
        "duplicate_pages": counters.duplicate_pages,
        "duplicate_share": ratio(counters.duplicate_pages, counters.hashed_pages),
        "compressed_pages": counters.compressed_pages,
        "rewritten_pages": counters.rewritten_pages,
        "chunk_ratio": ratio(counters.chunk_pages, counters.chunked_pages),
        "programmed_pages": reduced.host_programs,
        "written_ratio": reduced.left(),
        "energy_ratio": energy_ratio(plan, counters, reduced.host_programs),
    })
}

/// Adds the decisions of an integrated manager; null without one.
pub(crate) fn add_decisions(plan: &Plan, decisions: Option<&Record>, table: &mut Value) {
    let managed = plan.reduce.params.integrated.zip(decisions);
    table["epochs_by_choice"] = json!(managed.map(|(_, record)| {
        let epochs = CHOICES.iter().zip(record.by_choice);
        epochs.map(|(&name, epochs)| (name.to_owned(), epochs.into())).collect::<Map<_, _>>()
    }));
    table["manager"] = json!(managed.map(|(params, record)| manager(params.epoch_ns, record)));
}

/// Returns the energy of the host's writes, including hash and compressor, over that of programming each of them (E of
/// paper 2).
fn energy_ratio(plan: &Plan, counters: &ReduceCounters, programmed: u64) -> Option<f64> {
    let engine_pages = [counters.hashed_pages, counters.compressed_pages].map(|pages| pages as f64);
    energy_of(plan, counters.host_pages as f64, programmed as f64, engine_pages)
}

fn energy_of(plan: &Plan, host_pages: f64, programmed: f64, [hashed, compressed]: [f64; 2]) -> Option<f64> {
    let program_uj = plan.program_uj();
    let engine = EngineUj::of(plan);
    let spent = programmed * program_uj + hashed * engine.hash + compressed * engine.compress;
    (host_pages > 0.0).then(|| spent / (host_pages * program_uj))
}

fn index(index: &IndexFigures) -> Value {
    json!({
        "entries": index.entries,
        "used": index.used,
        "bytes": index.bytes,
        "searches": index.counters.searches,
        "hits": index.counters.hits,
        "entered": index.counters.entered,
        "stale": index.counters.stale,
        "evicted": index.counters.evicted,
    })
}

/// Builds the decisions of the integrated manager.
fn manager(epoch_ns: u64, record: &Record) -> Value {
    let rows = record.rows.iter().map(|row| {
        let epochs = row.epochs as f64;
        let [dedup, compress, throttle] = row.on.map(|on| on as f64 / epochs);
        json!({
            "from_s": row.from_ns as f64 / 1e9,
            "to_s": row.to_ns as f64 / 1e9,
            "epochs": row.epochs,
            "dedup_share": dedup,
            "compress_share": compress,
            "throttle_share": throttle,
            "demand_bytes": row.demand_bytes / epochs,
            "capacity_bytes": row.capacity_bytes / epochs,
            "dedup_ratio": row.ratios[0] / epochs,
            "compress_ratio": row.ratios[1] / epochs,
        })
    });
    json!({
        "epoch_s": epoch_ns as f64 / 1e9,
        "epochs": record.by_choice.iter().sum::<u64>(),
        "throttled_epochs": record.throttled,
        "over_time": rows.collect::<Vec<_>>(),
    })
}
