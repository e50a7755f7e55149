//! What deduplication and compression did.

use floatgate_flash::Cause;
use floatgate_lifetime::reduce::{Engine, Record};
use floatgate_sim::outcome::IndexFigures;
use floatgate_sim::{Outcome, Plan};
use serde_json::{Value, json};

/// Energy of hash, compressor and decompressor for a page of the map, microjoules.
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

/// The table `reduce`; null where nothing is reduced, and nothing on the drive ever was.
pub(crate) fn reduce(plan: &Plan, outcome: &Outcome) -> Value {
    let Some(figures) = &outcome.reduced else { return Value::Null };
    let counters = &figures.counters;
    let ratio = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    let programmed: u64 =
        [Cause::Host, Cause::Partial].iter().map(|&cause| outcome.flash.programs[cause as usize]).sum();
    json!({
        "policy": plan.reduce.policy.info().name,
        "host_pages": counters.host_pages,
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
        "energy_ratio": energy_ratio(plan, outcome, programmed),
        "index": figures.index.as_ref().map(index),
        "memory_bytes": figures.memory_bytes,
        "manager": plan.reduce.params.integrated.zip(outcome.managed.as_ref()).map(|(params, record)| manager(params.epoch_ns, record)),
    })
}

/// Energy of what the host's writes caused, hash and compressor included, beside programming each of them (E of paper 2).
fn energy_ratio(plan: &Plan, outcome: &Outcome, programmed: u64) -> Option<f64> {
    let counters = outcome.reduced.as_ref()?.counters;
    if counters.host_pages == 0 {
        return None;
    }
    let program_uj = plan.program_uj();
    let engine = EngineUj::of(plan);
    let spent = programmed as f64 * program_uj
        + counters.hashed_pages as f64 * engine.hash
        + counters.compressed_pages as f64 * engine.compress;
    Some(spent / (counters.host_pages as f64 * program_uj))
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

/// What the integrated manager decided.
fn manager(epoch_ns: u64, record: &Record) -> Value {
    let [none, dedup, compress, both] = record.by_choice;
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
        "epochs_by_choice": { "none": none, "dedup": dedup, "compress": compress, "both": both },
        "throttled_epochs": record.throttled,
        "over_time": rows.collect::<Vec<_>>(),
    })
}
