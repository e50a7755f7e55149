//! result.json: schema `floatgate.result/1`. All but its `run` table is byte-equal between two runs.

use crate::amplification::Amplification;
use crate::buffer::{buffer, buffer_wait_us};
use crate::by_cause::by_cause;
use crate::dispatch::dispatch;
use crate::dpes::dpes;
use crate::energy::energy;
use crate::evidence::evidence;
use crate::idle_time::idle_time;
use crate::meter::build;
use crate::precondition::precondition;
use crate::quantiles::quantiles_us;
use crate::reclaim::reclaim;
use crate::reduce::{EngineUj, reduce};
use crate::throughput::throughput;
use crate::timing::timing;
use crate::{host_queues, run_lifetime, separate, throttling};
use floatgate_config::{Experiment, Resolved};
use floatgate_flash::timed::{ClassTimes, CommandCounts};
use floatgate_flash::{Cause, Class};
use floatgate_host::HostCounters;
use floatgate_lifetime::SECONDS_PER_HOUR;
use floatgate_sim::outcome::{HOT_FROM, HotReads, Idle, MetadataCounters};
use floatgate_sim::plan::{Mode, Workload};
use floatgate_sim::{Outcome, Plan};
use floatgate_stats::{Histogram, Latency};
use serde_json::{Value, json};

/// Name and version of the layout.
pub const SCHEMA: &str = "floatgate.result/1";

/// Limits of the model, for every report.
pub const NOT_MODELLED: &[&str] = &[
    "latency and queueing (functional mode counts operations)",
    "energy",
    "bad blocks",
    "data retention",
    READ_DISTURB,
    "SLC cache",
    "DRAM buffer",
    METADATA,
    RECOVERY,
];
const METADATA: &str = "metadata writes of the FTL";
const READ_DISTURB: &str = "read disturb";
const RECOVERY: &str = "recovery of worn blocks while they rest";

/// Clock and memory of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunFigures {
    /// Elapsed seconds.
    pub wall_s: f64,
    /// CPU seconds of the whole run.
    pub cpu_s: f64,
    /// CPU seconds of the counted phase.
    pub counted_cpu_s: f64,
    /// Largest resident size of the process.
    pub peak_rss_bytes: Option<u64>,
}

/// Builds the whole result.
#[must_use]
pub fn result(resolved: &Resolved, outcome: &Outcome, figures: &RunFigures) -> Value {
    let plan = &resolved.plan;
    let waf = &outcome.waf;
    let (erases_min, erases_mean, erases_max, erases_std) = outcome.erases;
    let in_bytes = Amplification {
        flash: &outcome.flash,
        page_bytes: plan.drive.geometry.page_bytes,
        page_writes: outcome.host.page_writes,
        write_bytes: outcome.host.write_bytes,
    };
    let body = json!({
        "mode": if matches!(plan.mode, Mode::Functional) { "functional" } else { "timed" },
        "drive": drive(resolved, outcome),
        "workload": workload(resolved, outcome),
        "span_s": outcome.span_s,
        "period_s": outcome.period_s,
        "host": host(&outcome.host),
        "flash": flash(resolved, outcome),
        "waf": waf.waf,
        "waf_95": waf.interval.map(|(low, high)| [low, high]),
        "waf_bytes": in_bytes.total(),
        "waf_bytes_95": in_bytes.interval(waf),
        "waf_bytes_parts": in_bytes.parts(),
        "stationary": waf.stationary,
        "gc": gc(resolved, outcome),
        "dispatch": dispatch(plan, outcome),
        "separate": separate::separate(outcome),
        "level": level(resolved, outcome),
        "reclaim": reclaim(plan, outcome),
        "metadata": outcome.metadata.as_ref().map(metadata),
        "reduce": reduce(plan, outcome),
        "wear": {
            "erases_min": erases_min,
            "erases_mean": erases_mean,
            "erases_max": erases_max,
            "erases_std": erases_std,
            "first_failure_s": first_failure_s(plan, outcome),
            "max_over_mean": (erases_mean > 0.0).then(|| f64::from(erases_max) / erases_mean),
            "histogram": histogram(&outcome.erase_histogram, "blocks"),
            "idle_h": outcome.idle.as_ref().map(idle_h),
        },
        "jobs": outcome.jobs_s.map(|[foreground, background]| {
            let idle = outcome.idle_time.as_ref().map(idle_time);
            json!({ "foreground_s": foreground, "background_s": background, "idle": idle })
        }),
        "commands": outcome.commands.as_ref().map(commands),
        "valid_pages": histogram(&outcome.valid_histogram, "units"),
        "buffer": plan.buffer.as_ref().zip(outcome.buffer.as_ref()).map(|(settings, counters)| buffer(&settings.config, counters, outcome.kept_pages)),
        "latency_us": outcome.latencies.as_ref().zip(outcome.times.as_ref()).map(|latencies| with_queues(latency_us(latencies, outcome), plan, outcome)),
        "hot_reads": outcome.hot_reads.as_ref().map(hot_reads),
        "throughput": throughput(plan, outcome),
        "throttle": outcome.throttling.as_ref().map(|totals| throttling::throttle(plan, totals)),
        "evidence": evidence(plan, outcome),
        "lifetime": run_lifetime::lifetime(plan, outcome),
        "energy": energy_of(plan, outcome),
        "not_modelled": not_modelled(plan),
        "run": run_table(figures, outcome.flash.programs_total()),
    });
    let mut object = headed(SCHEMA, config(resolved, outcome), plan.seed, body);
    if let Value::Object(object) = &mut object {
        // Before the clock's table, which comes last.
        let run = object.shift_remove("run");
        object.extend(dpes(plan, outcome).map(|table| ("dpes".to_string(), table)));
        object.extend(precondition(plan, outcome).map(|auto| ("precondition".to_string(), auto)));
        object.extend(run.map(|run| ("run".to_string(), run)));
    }
    object
}

/// Builds the clock's table, the part that differs from run to run.
fn run_table(figures: &RunFigures, programs: u64) -> Value {
    json!({
        "wall_s": figures.wall_s,
        "cpu_s": figures.cpu_s,
        "peak_rss_bytes": figures.peak_rss_bytes,
        "programs_per_cpu_s": programs as f64 / figures.counted_cpu_s,
        "build": build(),
    })
}

/// Builds the table of joules, if the drive has energies, or data is fingerprinted or compressed.
fn energy_of(plan: &Plan, outcome: &Outcome) -> Option<Value> {
    let reduced = outcome.reduced.as_ref().filter(|_| plan.ftl.setup.reduce.is_some());
    let known = plan.drive.energy.or_else(|| reduced.map(|_| Default::default()))?;
    let copybacks = outcome.commands.map_or([0; Cause::ALL.len()], |c| c.copybacks);
    let engines = reduced.map(|figures| (EngineUj::of(plan), figures.counters));
    let mut flash = outcome.flash.clone();
    // An erase costs the same in every mode, and a block that is erased once more twice.
    for deepened in outcome.scaled.iter().flat_map(|scaled| &scaled.counts.deepened) {
        flash.erases.iter_mut().zip(deepened).for_each(|(erases, deepened)| *erases += deepened);
    }
    Some(energy(&known, &flash, (copybacks, engines), outcome.host.write_bytes))
}

/// Builds an object of a schema with the common head: version, settings and seed.
pub(crate) fn headed(schema: &str, config: Value, seed: u64, body: Value) -> Value {
    let hash = hash_of(&config);
    let version = env!("CARGO_PKG_VERSION");
    let mut object = json!({
        "schema": schema, "version": version, "config": config, "config_hash": hash, "seed": seed,
    });
    if let (Value::Object(object), Value::Object(body)) = (&mut object, body) {
        object.extend(body);
    }
    object
}

/// Returns quantiles by kind of request, null without requests of the kind; waits of flash operations; and the seconds
/// until the last arrival.
fn latency_us(([reads, writes], times): (&[Latency; 2], &[ClassTimes; 3]), outcome: &Outcome) -> Value {
    let of = quantiles_us;
    json!({ "read": of(reads), "write": of(writes), "waiting": waiting_us(times), "arrivals_s": outcome.arrivals_s })
}

/// Returns the reads of frequently read pages: their duration, and their distribution over chips.
fn hot_reads(hot: &HotReads) -> Value {
    json!({
        "from_read": HOT_FROM,
        "latency_us": quantiles_us(&hot.latency),
        "by_chip": hot.by_chip,
        "max_over_mean": hot.max_over_mean(),
    })
}

/// Returns the rest of blocks between two erases, hours.
fn idle_h(idle: &Idle) -> Value {
    let [p10, p50, p90] = idle.quantiles_s.map(|s| s / SECONDS_PER_HOUR);
    let edges: Vec<f64> = idle.edges_s.iter().map(|s| s / SECONDS_PER_HOUR).collect();
    json!({
        "mean": idle.mean_s / SECONDS_PER_HOUR,
        "p10": p10,
        "p50": p50,
        "p90": p90,
        "intervals": idle.intervals,
        "histogram": { "edges": edges, "intervals": idle.counts },
    })
}

/// Adds the waits of requests in the host's queues, before the drive fetched them, and at the buffer.
fn with_queues(mut latency: Value, plan: &Plan, outcome: &Outcome) -> Value {
    latency["queue_wait"] = host_queues::wait_us(outcome);
    if let Some(throttling) = &outcome.throttling {
        latency["throttle_wait"] = throttling::wait_us(throttling, outcome);
    }
    latency["queues"] = host_queues::by_queue_us(plan, outcome);
    if let Some(wait) = buffer_wait_us(outcome) {
        latency["buffer_wait"] = wait;
    }
    latency
}

/// Returns the mean waits and durations of the flash operations of each class; null without operations.
fn waiting_us(times: &[ClassTimes; 3]) -> Value {
    let of = |t: &ClassTimes| {
        let mean = |ns: u64| ns as f64 / 1e3 / t.operations as f64;
        (t.operations > 0).then(|| {
            json!({
                "operations": t.operations,
                "die": mean(t.die_wait_ns),
                "foreground_job": mean(t.foreground_wait_ns),
                "background_job": mean(t.background_wait_ns),
                "channel": mean(t.channel_wait_ns),
                "suspended": mean(t.suspended_ns),
                "service": mean(t.service_ns),
            })
        })
    };
    Class::ALL.iter().map(|&class| (class.name().to_owned(), json!(of(&times[class as usize])))).collect()
}

/// Counts the uses of the optional flash commands.
fn commands(counts: &CommandCounts) -> Value {
    json!({
        "multi_plane": counts.multi_plane,
        "multi_plane_pages": counts.multi_plane_pages,
        "cache_reads": counts.cache_reads,
        "cache_programs": counts.cache_programs,
        "copybacks": counts.copybacks.iter().sum::<u64>(),
        "program_suspends": counts.program_suspends,
        "erase_suspends": counts.erase_suspends,
    })
}

/// Counts the pages that keep the map on flash.
fn metadata(counts: &MetadataCounters) -> Value {
    let MetadataCounters { updates, moves, journal_pages, flushed_pages, map_pages } = counts;
    json!({
        "updates": updates,
        "moves": moves,
        "journal_pages": journal_pages,
        "flushed_pages": flushed_pages,
        "map_pages": map_pages,
    })
}

/// Lists the limits of the model that apply to a run.
fn not_modelled(plan: &Plan) -> Vec<&'static str> {
    let timed = !matches!(plan.mode, Mode::Functional);
    let left = NOT_MODELLED.iter().skip(usize::from(timed)).copied();
    let left = left.filter(|&what| what != READ_DISTURB || plan.drive.disturb.is_none());
    let left = left.filter(|&what| what != "energy" || plan.drive.energy.is_none());
    let left = left.filter(|&what| what != "DRAM buffer" || plan.buffer.is_none());
    let left = left.filter(|&what| what != METADATA || plan.ftl.setup.metadata.is_none());
    left.filter(|&what| what != RECOVERY || !plan.drive.endurance.recovers()).collect()
}

/// Returns the resolved experiment without paths: trace and snapshot are identified by their content.
fn config(resolved: &Resolved, outcome: &Outcome) -> Value {
    let (trace, snapshot) = (outcome.source.content_hash.as_deref(), outcome.snapshot_hash.as_deref());
    config_of(&resolved.experiment, trace, snapshot)
}

/// Returns the `config_hash` of a run; None if it depends on the content of a trace or a snapshot.
pub fn config_hash(resolved: &Resolved) -> Option<String> {
    let config = config_of(&resolved.experiment, None, None);
    let reads = |table: &str, key: &str| config[table].get(key).is_some();
    let reads_files = reads("workload", "content_hash") || reads("ftl", "snapshot_hash");
    (!reads_files).then(|| hash_of(&config))
}

fn hash_of(config: &Value) -> String {
    blake3::hash(config.to_string().as_bytes()).to_hex().to_string()
}

/// Returns an experiment without paths, whose trace and snapshot have these hashes.
pub(crate) fn config_of(experiment: &Experiment, trace: Option<&str>, snapshot: Option<&str>) -> Value {
    let mut config = serde_json::to_value(experiment).expect("an experiment is JSON");
    if let Some(workload) = config["workload"].as_object_mut()
        && workload.shift_remove("file").is_some()
    {
        workload.insert("content_hash".into(), trace.into());
    }
    if let Some(ftl) = config["ftl"].as_object_mut()
        && ftl.shift_remove("snapshot").is_some()
    {
        ftl.insert("snapshot_hash".into(), snapshot.into());
    }
    config
}

fn drive(resolved: &Resolved, outcome: &Outcome) -> Value {
    drive_of(resolved, outcome.effective_spare_factor)
}

/// Builds the table of the drive; only a run determines its effective spare factor.
pub(crate) fn drive_of(resolved: &Resolved, effective_spare_factor: Option<f64>) -> Value {
    let plan = &resolved.plan;
    let physical = plan.drive.geometry.bytes();
    let logical = u64::from(plan.ftl.setup.logical_pages) * u64::from(plan.drive.geometry.page_bytes);
    json!({
        "name": resolved.drive_name,
        "physical_bytes": physical,
        "logical_bytes": logical,
        "spare_factor": (physical - logical) as f64 / physical as f64,
        "over_provisioning": (physical - logical) as f64 / logical as f64,
        "effective_spare_factor": effective_spare_factor,
        "planes": plan.drive.geometry.planes(),
        "blocks": plan.drive.geometry.blocks(),
        "pages_per_block": plan.drive.flash_pages_per_block(),
        "page_bytes": plan.drive.flash_page_bytes(),
        "mapping_bytes": plan.drive.geometry.page_bytes,
        "rated": resolved.rated.as_ref().map(|rated| rated.to_json(logical, plan.ftl.spare_factor)),
    })
}

fn workload(resolved: &Resolved, outcome: &Outcome) -> Value {
    let (kind, passes) = match &resolved.plan.workload.source {
        Workload::Synthetic(config) if config.twin.is_some() => ("twin", 1),
        Workload::Synthetic(_) => ("synthetic", 1),
        Workload::Trace { repeat, .. } => ("trace", *repeat),
    };
    let devices: Vec<Value> = outcome
        .by_device
        .iter()
        .map(|(name, count)| {
            let mut device = json!({ "name": name });
            if let (Value::Object(device), Value::Object(counts)) = (&mut device, host(count)) {
                device.extend(counts);
            }
            device
        })
        .collect();
    let source = &outcome.source;
    json!({
        "kind": kind,
        "format": outcome.format,
        "requests": outcome.requests,
        "passes": passes,
        "footprint_bytes": outcome.footprint_pages.map(|pages| pages * u64::from(resolved.plan.drive.geometry.page_bytes)),
        "devices": devices,
        "bad_lines_skipped": source.bad_lines_skipped,
        "first_bad_line": source.first_bad_line.as_deref().map(|line| without_path(resolved, line)),
        "other_records": source.other_records,
        "stamps_backwards": source.stamps_backwards,
        "stamps_backwards_first": source.first_backwards,
        "stamps_backwards_s_max": source.furthest_back_s(),
        "stamp_jumps": source.stamp_jumps,
        "suspicions": source.suspicions,
        "content_hash": source.content_hash,
        "assumed": outcome.assumed,
        "beyond": {
            "policy": resolved.experiment.workload.as_ref().and_then(|w| w.beyond.clone()),
            "requests_moved": outcome.requests_moved,
        },
    })
}

/// Removes the name of the trace from a finding, because it must not enter the result: `PATH:7:1: what` becomes
/// `line 7:1: what`.
fn without_path(resolved: &Resolved, finding: &str) -> String {
    let Workload::Trace { path, .. } = &resolved.plan.workload.source else { return finding.into() };
    let rest = finding.strip_prefix(path.as_str()).and_then(|rest| rest.strip_prefix(':'));
    rest.map_or_else(|| finding.into(), |rest| format!("line {rest}"))
}

pub(crate) fn host(count: &HostCounters) -> Value {
    json!({
        "read_requests": count.read_requests,
        "write_requests": count.write_requests,
        "trim_requests": count.trim_requests,
        "read_bytes": count.read_bytes,
        "write_bytes": count.write_bytes,
        "trim_bytes": count.trim_bytes,
        "page_reads": count.page_reads,
        "page_writes": count.page_writes,
    })
}

fn flash(resolved: &Resolved, outcome: &Outcome) -> Value {
    let flash = &outcome.flash;
    let time = |cause| outcome.time_s(&resolved.plan, cause);
    json!({
        "programs": by_cause(&Cause::ALL, |c| flash.flash_programs(c), flash.flash_programs_total()),
        "pages_written": by_cause(&Cause::ALL, |c| flash.programs[c as usize], flash.programs_total()),
        "reads": by_cause(&Cause::ALL, |c| flash.reads[c as usize], flash.reads.iter().sum()),
        "erases": by_cause(&Cause::ERASING, |c| flash.erases[c as usize], flash.erases_total()),
        "time_s": by_cause(&Cause::ALL, time, Cause::ALL.iter().map(|&c| time(c)).sum()),
        "unmapped_reads": flash.unmapped_reads,
        "gathered_reads": flash.gathered_reads,
    })
}

fn gc(resolved: &Resolved, outcome: &Outcome) -> Value {
    let gc = outcome.gc;
    json!({
        "victims": gc.victims,
        "dead_victims": gc.dead_victims,
        "forced": gc.forced,
        "copied_pages": gc.copied_pages,
        "copied_pages_per_victim": (gc.victims > 0).then(|| gc.copied_pages as f64 / gc.victims as f64),
        "victims_by_valid": histogram(&outcome.victim_histogram, "victims"),
        "time_s": outcome.time_s(&resolved.plan, Cause::Gc),
        "timing": timing(outcome),
    })
}

/// Builds the table of wear-leveling apart from the choice of free blocks.
fn level(resolved: &Resolved, outcome: &Outcome) -> Value {
    let level = outcome.level;
    json!({
        "rounds": level.rounds,
        "pending_at_start": level.pending_at_start,
        "triggered": level.triggered,
        "moved_pages": level.moved_pages,
        "pairs": level.pairs,
        "alike": level.alike,
        "unpaired": level.unpaired,
        "swaps": level.swaps,
        "passed_over": level.passed_over,
        "time_s": outcome.time_s(&resolved.plan, Cause::Level),
    })
}

/// Returns the seconds until the first block reaches its rated cycles, if the workload continues as in this run: its
/// period times rated cycles over the largest erase count.
fn first_failure_s(plan: &Plan, outcome: &Outcome) -> Option<f64> {
    let (endurance, [_, most, _]) = outcome.wear_of_blocks(plan);
    let period_s = outcome.period_s.filter(|_| most > 0.0)?;
    Some(period_s * endurance.rated_erases() / most)
}

fn histogram(h: &Histogram, counted: &str) -> Value {
    json!({ "from": h.from, "width": h.width, counted: h.counts })
}
