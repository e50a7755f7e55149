//! Random settings of a run, and a run that is interrupted and resumed.

use super::cases::Case;
use super::policies::{has, throttles};
use floatgate_base::Rng;
use floatgate_base::testing::Bound;
use floatgate_config::Resolved;
use floatgate_experiment::load;
use floatgate_experiment::result::{RunFigures, result};
use floatgate_sim::{Phase, Simulation};
use floatgate_snapshot::{Kind, Reader, Writer};
use serde_json::Value;

/// The run in a file's bytes.
pub fn saved(simulation: &Simulation) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut out = Writer::new(&mut bytes, Kind::Run, 1).unwrap();
    simulation.save(&mut out).unwrap();
    out.finish().unwrap();
    bytes
}

/// The run of a file's bytes.
pub fn resumed(resolved: &Resolved, bytes: &[u8]) -> Simulation {
    let mut from = Reader::new("t", bytes, Kind::Run, 1).unwrap();
    let simulation = Simulation::resume(resolved.plan.clone(), &mut from).unwrap();
    from.finish().unwrap();
    simulation
}

/// The result of a run that is done.
pub fn figures(resolved: &Resolved, simulation: Simulation) -> Value {
    let none = RunFigures { wall_s: 0.0, cpu_s: 0.0, counted_cpu_s: 0.0, peak_rss_bytes: None };
    result(resolved, &simulation.finish(), &none)
}

const COMMANDS: [&str; 5] = [
    "drive.commands.cache_read",
    "drive.commands.cache_program",
    "drive.commands.copyback",
    "drive.commands.program_suspend",
    "drive.commands.erase_suspend",
];

/// A throttle for a drive that should last some seconds or minutes, of 1000 million cycles.
fn throttle(rng: &mut Rng, out: &mut Vec<(&'static str, String)>) {
    let all: Vec<_> = throttles().collect();
    let policy = all[rng.below(all.len() as u64) as usize];
    out.extend([
        ("lifetime.throttle.policy", policy.into()),
        ("lifetime.throttle.target_years", (1e-7 * 2f64.powi(rng.below(12) as i32)).to_string()),
        // More would be no throttle at all.
        ("drive.endurance.pe_cycles", (1 + rng.below(30)).to_string()),
    ]);
    let times = [
        ("lifetime.throttle.period_s", "0.05"),
        ("lifetime.throttle.unit_window_s", "0.2"),
        ("lifetime.throttle.history_s", "100"),
        ("lifetime.throttle.burst_s", "0.2"),
    ];
    out.extend(times.into_iter().filter(|(key, _)| has(policy, key)).map(|(key, value)| (key, value.into())));
}

/// A buffer of some pages, or none.
fn buffer(rng: &mut Rng, case: &Case, out: &mut Vec<(&'static str, String)>) {
    if rng.below(2) == 0 {
        let pages = (1 + rng.below(40)).min(case.rules.logical_pages);
        out.push(("drive.buffer.capacity", format!("{} B", pages * case.rules.page_bytes)));
        let aware = case.disturbs && rng.below(2) == 0;
        if aware {
            out.push(("drive.buffer.policy", "disturb-aware".into()));
            out.push(("drive.buffer.disturbed_share", (0.3 * rng.unit()).to_string()));
        }
        out.push(("drive.buffer.read_cache", (aware || rng.below(2) == 0).to_string()));
        if rng.below(2) == 0 {
            out.extend([
                ("drive.buffer.high_watermark", "0.7".into()),
                ("drive.buffer.low_watermark", "0.3".into()),
            ]);
        }
        if case.trace.is_none() && rng.below(2) == 0 {
            out.extend([("workload.fua_share", "0.1".into()), ("workload.flush_every", "50".into())]);
        }
    }
}

/// Settings of a random case in either mode, with or without a buffer.
pub fn settings(rng: &mut Rng, case: &Case) -> Vec<(&'static str, String)> {
    let trace = case.trace.is_some();
    let mut out = Vec::new();
    buffer(rng, case, &mut out);
    let (buffer, planes) = (!out.is_empty(), case.planes);
    let timed = rng.below(2) == 0;
    let throttled = rng.below(2) == 0 && (timed || trace || case.toml.contains("rate_per_s"));
    if throttled {
        throttle(rng, &mut out);
    }
    if !timed {
        if throttled && rng.below(2) == 0 {
            out.push(("workload.arrival", "shifted".into()));
        }
        let whole_blocks = !["incremental", "pace"].iter().any(|key| case.toml.contains(key));
        if whole_blocks && rng.below(4) == 0 {
            out.push(("ftl.collect.garbage_share", (0.02 + 0.4 * rng.unit()).to_string()));
        }
        return out;
    }
    out.push(("mode", "timed".to_owned()));
    if buffer && rng.below(2) == 0 {
        out.push(("drive.buffer.access_us", "30".into()));
    }
    if planes > 1 && rng.below(2) == 0 {
        out.push(("drive.commands.multi_plane", "same-page".into()));
    }
    match rng.below(5) {
        0 | 1 if trace => out.push(("workload.arrival", "think".into())),
        2 | 3 if trace => {
            let arrival = if throttled && rng.below(2) == 0 { "shifted" } else { "open" };
            out.push(("workload.arrival", arrival.into()));
        }
        _ => {
            out.push(("workload.arrival", "closed".into()));
            out.push(("workload.queue_depth", (1 + rng.below(40)).to_string()));
        }
    }
    let first_come = rng.below(4) == 0;
    if first_come {
        out.push(("drive.scheduling.policy", "fcfs".into()));
    }
    // Nothing is suspended where no class is preferred.
    out.extend(COMMANDS.map(|key| {
        let on = rng.below(2) == 0 && !(first_come && key.ends_with("suspend"));
        (key, on.to_string())
    }));
    if rng.below(2) == 0 {
        out.push(("drive.timing.program_spread", "0.25".into()));
    }
    // In closed loop there is no idle time.
    if !out.iter().any(|(_, value)| value == "closed") {
        // Modes of erases by idle time, for drives without those that all have; windows end often.
        if !case.toml.contains("[ftl.dpes]") {
            out.push(("ftl.dpes.policy", "idle".into()));
            out.push(("ftl.dpes.burst_pages", "1".into()));
            out.push(("ftl.dpes.idle_share", (0.9 * rng.clone().unit()).to_string()));
            out.push(("ftl.dpes.window_us", "2000".into()));
        }
        out.push(("ftl.background.policy", "idle".into()));
        out.push(("ftl.background.idle_us", rng.below(800).to_string()));
    }
    let no_queues = |value: &str| value == "think" || throttled && value == "closed";
    if rng.below(4) > 0 && !out.iter().any(|(_, value)| no_queues(value)) {
        out.push(("host.queues", (2 + rng.below(3)).to_string()));
        out.push(("host.outstanding_max", (1 + rng.below(20)).to_string()));
    }
    out
}

/// Runs an experiment in steps of so many requests, without interruption, and saved and resumed after every few steps:
/// flash and host counts are equal.
pub fn goes_on(toml: &str, step: u64, every: u64) {
    let resolved = load(Some(toml), "t.toml", &[]).unwrap();
    let mut whole = Simulation::new(resolved.plan.clone()).unwrap();
    let mut bound = Bound::new(100_000);
    while whole.step(step).unwrap() != Phase::Done {
        bound.step();
    }
    let mut stopped = Simulation::new(resolved.plan.clone()).unwrap();
    let mut steps = 0;
    let mut bound = Bound::new(100_000);
    while stopped.step(step).unwrap() != Phase::Done {
        bound.step();
        steps += 1;
        if steps % every == 0 {
            stopped = resumed(&resolved, &saved(&stopped));
        }
    }
    assert!(steps > 8);
    let (whole, stopped) = (whole.finish(), stopped.finish());
    assert_eq!(format!("{:?}", whole.flash), format!("{:?}", stopped.flash));
    assert_eq!(format!("{:?}", whole.host), format!("{:?}", stopped.host));
    assert_eq!(format!("{:?}", whole.idle_time), format!("{:?}", stopped.idle_time));
}

/// Completes a run that is saved and resumed now and then; `stops` counts how often in which phase.
pub fn interrupted(
    mut simulation: Simulation,
    resolved: &Resolved,
    rng: &mut Rng,
    stops: &mut [u64; 6],
    (seed, toml): (u64, &str),
) -> Simulation {
    // Some stop every few requests, some once in a while.
    let (most, one_in) = (1 + rng.below(2000), 1 + rng.below(12));
    let mut steps = 0;
    let mut bound = Bound::new(100_000);
    while simulation.step(1 + rng.below(most)).unwrap() != Phase::Done {
        bound.step();
        steps += 1;
        if rng.below(one_in) == 0 && steps < 400 {
            stops[simulation.phase() as usize] += 1;
            let bytes = saved(&simulation);
            let other = resumed(resolved, &bytes);
            assert!(
                simulation.phase() == Phase::Scan || saved(&other) == bytes,
                "seed {seed}: saved again it is another run\n{toml}"
            );
            other.audit().unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            simulation = other;
        }
    }
    simulation
}
