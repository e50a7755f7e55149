//! Latencies of a forecast: those of a part of the workload in timed mode, on the worn-in drive.

use crate::common::request_log::{Row, logged};
use crate::common::{Folder, run_ok, seeds, try_lifetime};
use floatgate_base::Op;
use floatgate_base::Rng;
use floatgate_experiment::load;
use floatgate_sim::close_up::{CloseUpPlan, plan_of};
use floatgate_sim::laps::{Criterion, REQUESTS_MAX, close_up_without_laps, measure};
use floatgate_sim::reading::pass::read_pass;
use floatgate_stats::replication_factor;
use serde_json::Value;

/// A drive of 12 MiB.
const DRIVE: &str = "[drive]\nplp = true\n[drive.geometry]\nchannels = 2\nchips_per_channel = 2\nblocks_per_plane = 48\n\
    pages_per_block = 16\npage_bytes = 4096\n[ftl]\nspare_factor = 0.2\n[lifetime.forecast]\nlaps_max = 3\n";
const REQUESTS: u64 = 12_000;
/// Requests of a part.
const PART: u64 = 2000;

/// One-page reads and writes in bursts with quiet times between; some bursts come near the limit of the drive.
fn bursts(rng: &mut Rng) -> String {
    let (mut at_us, mut text) = (0.0, String::new());
    let (reads, pages) = (0.2 + 0.5 * rng.unit(), 2000);
    let rates = [0, 1, 2].map(|_| 200.0 * libm::pow(20.0, rng.unit()));
    for i in 0..REQUESTS {
        // Five hundred requests at each of three rates in turn.
        let rate = rates[(i / 500 % 3) as usize];
        at_us += -libm::log(rng.unit().max(1e-9)) * 1e6 / rate;
        let op = if rng.unit() < reads { "Read" } else { "Write" };
        let page = (rng.unit().powi(2) * f64::from(pages)) as u64;
        let stamp = 128_166_372_003_061_629 + (at_us * 10.0) as u64;
        text += &format!("{stamp},usr,0,{op},{},4096,0\n", page * 4096);
    }
    text
}

fn forecast(toml: &str, overrides: &[(&str, &str)]) -> Value {
    let overrides = overrides.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    try_lifetime(toml, &[overrides]).unwrap_or_else(|e| panic!("{e}\n{toml}")).remove(0)
}

fn number(value: &Value, pointer: &str) -> f64 {
    value.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {pointer}"))
}

/// Passes of the timed run that a close-up is compared with.
const PASSES: u64 = 12;
/// Differences below this share come from the resolution of histograms.
const RESOLUTION: f64 = 0.005;

/// Returns the latencies of a part's requests of a kind in each pass of a timed run, ascending, nanoseconds.
fn latencies_ns(rows: &[Row], part: &Value, op: Op) -> Vec<Vec<u64>> {
    let before = rows.partition_point(|row| (row.arrival_ns as f64) < number(part, "/from_s") * 1e9);
    let of_pass = |pass: u64| {
        let first = (pass * REQUESTS) as usize + before;
        let of_part = rows[first..].iter().take(number(part, "/requests") as usize);
        let of_kind = of_part.filter(|row| row.op == op);
        let mut latencies: Vec<u64> = of_kind.map(|row| row.completed_ns - row.arrival_ns).collect();
        latencies.sort_unstable();
        latencies
    };
    (0..PASSES).map(of_pass).collect()
}

/// Returns the latency not exceeded by a share of the requests, microseconds.
fn quantile_us(latencies: &[u64], share: f64) -> f64 {
    latencies[((latencies.len() as f64 * share).ceil() as usize).max(1) - 1] as f64 / 1e3
}

/// Compares a latency of the close-up with that of a timed run of the whole trace. Returns logarithms: their difference,
/// and how large it may be by the stated interval and that of the run.
fn differs(life: &Value, (part, op): (&str, Op), (quantile, share): (&str, f64), rows: &[Row]) -> (f64, f64) {
    let kind = if op == Op::Read { "read" } else { "write" };
    let table = if part == "busiest" { "" } else { "/close_up/typical" };
    let seen = number(life, &format!("{table}/latency_us/{kind}/{quantile}"));
    let interval = &life["close_up"][part]["latency_95_us"][kind][quantile];
    let (low, high) = (number(interval, "/0"), number(interval, "/1"));
    assert!(low <= seen && seen <= high, "{part} {kind} {quantile}: {seen} outside {low} to {high}");
    let passes = latencies_ns(rows, &life["close_up"][part], op);
    let by_pass: Vec<f64> = passes.iter().map(|pass| quantile_us(pass, share)).collect();
    let mut all = passes.concat();
    all.sort_unstable();
    let run = quantile_us(&all, share);
    let error = libm::log(high / seen).hypot(libm::log(replication_factor(&by_pass)));
    println!("{part} {kind} {quantile}: {seen:.0} us ({low:.0} to {high:.0}), timed run {run:.0} us");
    (libm::log(seen / run).abs(), error + RESOLUTION)
}

/// A part has the same latencies in its close-up as in a timed run of the whole trace, within the stated interval and
/// that of the run. Five percent may lie outside by chance; the test allows ten.
#[test]
fn parts_are_those_of_a_whole_timed_run() {
    let folder = Folder::new("close-up");
    let (mut off, mut compared) = (vec![], 0);
    for seed in seeds(4) {
        let mut rng = Rng::new(seed, "close-up");
        let trace = folder.file(&format!("{seed}.csv"), bursts(&mut rng));
        let toml = format!("{DRIVE}[workload]\nfile = \"{trace}\"\n");
        let life = forecast(&toml, &[("lifetime.forecast.close_up_requests", &PART.to_string())]);
        let timed = [("mode", "timed"), ("workload.arrival", "open"), ("workload.warmup_passes", "8")];
        let mut timed = timed.map(|(key, value)| (key, value.to_owned())).to_vec();
        timed.push(("workload.repeat", PASSES.to_string()));
        let (_, mut rows) = logged(&toml, &timed);
        rows.sort_by_key(|row| row.number);
        let parts = ["busiest", "typical"];
        let overloaded = |part: &&str| life["close_up"][part]["overloaded"] == true;
        // A load that the drive cannot follow has latencies as long as the run.
        if parts.iter().all(overloaded) {
            continue;
        }
        for part in parts {
            for op in [Op::Read, Op::Write] {
                for quantile in [("p50", 0.5), ("p99", 0.99)] {
                    let (difference, allowed) = differs(&life, (part, op), quantile, &rows);
                    compared += 1;
                    if difference > allowed {
                        off.push(format!(
                            "seed {seed} {part} {op:?} {}: {difference:.3} of {allowed:.3}",
                            quantile.0
                        ));
                    }
                }
            }
        }
    }
    println!("{} of {compared} outside", off.len());
    assert!(compared >= 8, "all drives are overloaded");
    assert!(off.len() * 10 <= compared, "{} of {compared}: {off:?}", off.len());
}

/// A generator's load on the drive, in a few parts.
fn rated(more: &str) -> String {
    format!(
        "{DRIVE}close_up_requests = 1000\n{more}[workload]\nread_share = 0.5\nrequests = 6000\nrate_per_s = 300\n"
    )
}

/// Another method, or a throttle, does not change the latencies without it.
#[test]
fn latencies_are_those_of_the_drive_without_its_throttle() {
    let of = |overrides: &[(&str, &str)]| {
        let life = forecast(&rated("[lifetime.throttle]\ntarget_years = 0.0005\n"), overrides);
        (life["latency_us"].clone(), life["close_up"].clone(), life["throttle"]["delay_us"].clone())
    };
    let (plain, throttled) = (of(&[]), of(&[("lifetime.throttle.policy", "static")]));
    assert_eq!((&plain.0, &plain.1), (&throttled.0, &throttled.1));
    assert!(plain.2.is_null() && number(&throttled.2, "/count") > 0.0);
    assert!(number(&plain.0, "/write/count") + number(&plain.0, "/read/count") >= 500.0);
    assert_eq!(plain.1["busiest"]["overloaded"], false);
    // With or without a drive in the life.
    let full = of(&[("lifetime.forecast.method", "full")]);
    assert_eq!(full.1["busiest"]["requests"], plain.1["busiest"]["requests"]);
    assert!((number(&full.0, "/write/p50") / number(&plain.0, "/write/p50") - 1.0).abs() < 0.01);
}

/// Overload is reported, with the capability of the drive.
#[test]
fn an_overload_is_told() {
    let life = forecast(&rated(""), &[("workload.rate_per_s", "20000"), ("workload.requests", "60000")]);
    let busiest = &life["close_up"]["busiest"];
    let (offered, possible) =
        (number(busiest, "/offered_bytes_per_s"), number(busiest, "/possible_bytes_per_s"));
    assert!((offered / (20_000.0 * 4096.0) - 1.0).abs() < 0.1, "{offered}");
    assert!(busiest["overloaded"] == true && possible < offered / 2.0, "{busiest}");
    // As much as a run that is always busy.
    let closed = [("mode", "timed"), ("workload.queue_depth", "256"), ("workload.requests", "20000")];
    let closed = closed.map(|(key, value)| (key, value.to_owned()));
    let toml = rated("").replace("rate_per_s = 300\n", "warmup_requests = 10000\n");
    let run = run_ok(&toml, &closed).result;
    let reached = 1e6
        * ["read", "write"]
            .map(|kind| number(&run, &format!("/throughput/{kind}_mb_per_s")))
            .iter()
            .sum::<f64>();
    assert!((possible / reached - 1.0).abs() < 0.1, "{possible} and {reached}");
}

/// A missing close-up has a reason.
#[test]
fn what_was_not_looked_at_says_why() {
    let why = |overrides: &[(&str, &str)]| {
        let life = forecast(&rated(""), overrides);
        assert!(life["latency_us"]["write"].is_null());
        life["close_up"]["unknown"].as_str().unwrap_or_else(|| panic!("{life}")).to_owned()
    };
    let waf = rated("").replace("laps_max = 3\nclose_up_requests = 1000\n", "waf = 2.0\n");
    assert!(forecast(&waf, &[])["close_up"]["unknown"].as_str().unwrap().contains("is given"));
    assert!(why(&[("lifetime.forecast.close_up_requests", "0")]).contains("close_up_requests is 0"));
    assert!(why(&[("workload.read_share", "1")]).contains("writes nothing"));
}

/// The drive continues from laps in whole blocks with incremental collection, and from counting with time, and loses
/// nothing: the shadow model checks every operation of both.
#[test]
fn a_drive_that_goes_on_in_time_holds_what_was_written() {
    let (mut learned, mut kept) = (0, 0);
    for seed in seeds(8) {
        let mut rng = Rng::new(seed, "going on in time");
        let pick = |rng: &mut Rng, of: &[&'static str]| of[rng.below(of.len() as u64) as usize];
        let victim = pick(&mut rng, &["greedy", "fifo", "random", "cost-benefit"]);
        let level = pick(&mut rng, &["none", "hot-cold-swap"]);
        let pages = pick(&mut rng, &["4096", "16384"]);
        let buffer = pick(&mut rng, &["0 B", "256 KiB"]);
        let (plp, seed_key) = (rng.below(2) == 0, rng.next_u64() >> 1);
        let toml = format!(
            "seed = {seed_key}\n[drive]\nplp = {plp}\nbuffer.capacity = \"{buffer}\"\n[drive.geometry]\nchannels = 2\n\
             chips_per_channel = 1\nblocks_per_plane = 96\npages_per_block = 16\npage_bytes = {pages}\n[ftl]\n\
             spare_factor = 0.25\nmapping_bytes = 4096\ncollect.policy = \"{victim}\"\nlevel.policy = \"{level}\"\n\
             [workload]\npattern = \"zipf\"\nread_share = 0.3\nrequests = 6000\nrate_per_s = 400\n"
        );
        let plan = |mode: &str| {
            let mut plan = load(Some(&toml), "t.toml", &[("mode".into(), mode.into())]).unwrap().plan;
            plan.shadow = true;
            plan
        };
        let (functional, timed) = (plan("functional"), plan_of(&plan("timed")));
        assert!(timed.ftl.setup.incremental, "{toml}");
        let pass = read_pass(&functional, None, &mut |_| Ok(())).unwrap();
        let wanted = CloseUpPlan { stretches: pass.busy.stretches(1000), plan: timed };
        let criterion =
            Criterion { error_max: 1.0, laps_max: 1, programs_min: 1 << 21, requests_max: REQUESTS_MAX };
        let laps = measure(&functional, &pass, &criterion, Some(&wanted), &mut |_| Ok(()));
        let laps = laps.unwrap_or_else(|e| panic!("{e}\n{toml}"));
        let results = laps.close_up.unwrap_or_else(|| panic!("nothing was seen of\n{toml}"));
        let latencies = [&results.busiest, &results.typical.unwrap()].map(|seen| seen.latencies[1].count());
        assert!(latencies.iter().all(|&count| count > 300), "{latencies:?}\n{toml}");
        *(if pages == "16384" && !plp { &mut kept } else { &mut learned }) += 1;
    }
    println!("{learned} drives learned to lay apart what they move, {kept} were worn in anew");
    assert!(learned > 0);
}

/// A drive that tracks its reads cannot start to separate moved pages. Its close-up has a separate drive, beside the
/// laps: equal to the one after them.
#[test]
fn a_close_up_beside_the_laps_is_the_same() {
    let drive = |more: &str| {
        format!(
            "[drive]\nplp = true\n[drive.geometry]\nchannels = 2\nchips_per_channel = 1\nblocks_per_plane = 96\npages_per_block = 16\n\
             page_bytes = 4096\n{more}[ftl]\nspare_factor = 0.25\n[lifetime.forecast]\nlaps_max = 3\nclose_up_requests = 1000\n\
             [workload]\npattern = \"zipf\"\nread_share = 0.3\nrequests = 6000\nrate_per_s = 400\n"
        )
    };
    let toml = drive("[drive.disturb]\nmodel = \"tlc-base\"\nmax_reads = 4000\n");
    let plan = |mode: &str| load(Some(&toml), "t.toml", &[("mode".into(), mode.into())]).unwrap().plan;
    let (functional, timed) = (plan("functional"), plan_of(&plan("timed")));
    let setups = (functional.ftl.setup, timed.ftl.setup);
    assert!(setups.0.can_never_continue_as(&setups.1), "{setups:?}");
    let pass = read_pass(&functional, Some(1_000_000_000), &mut |_| Ok(())).unwrap();
    let wanted = CloseUpPlan { stretches: pass.busy.stretches(1000), plan: timed };
    let criterion =
        Criterion { error_max: 0.005, laps_max: 3, programs_min: 1 << 21, requests_max: REQUESTS_MAX };
    let behind = measure(&functional, &pass, &criterion, Some(&wanted), &mut |_| Ok(())).unwrap();
    let beside = measure(&functional, &pass, &criterion, None, &mut |_| Ok(())).unwrap();
    let seen = close_up_without_laps(&pass, &wanted, &mut |_| Ok(())).unwrap();
    assert!(seen.is_some());
    assert_eq!(format!("{:?}", behind.close_up), format!("{seen:?}"));
    assert_eq!((behind.waf, behind.marks), (beside.waf, beside.marks));
    let windows = forecast(&toml, &[("lifetime.forecast.method", "windows")]);
    let busiest = &behind.close_up.unwrap().busiest;
    assert_eq!(number(&windows, "/latency_us/write/count"), busiest.latencies[1].count() as f64);
    assert_eq!(number(&windows, "/close_up/busiest/requests"), busiest.requests as f64);
    // A plain drive can, so its close-up continues after the laps.
    let toml = drive("");
    let plan = |mode: &str| load(Some(&toml), "t.toml", &[("mode".into(), mode.into())]).unwrap().plan;
    assert!(!plan("functional").ftl.setup.can_never_continue_as(&plan("timed").ftl.setup));
}

/// Settings of timed mode in the experiment apply to the close-up, and are wrong there if they are wrong in a run.
#[test]
fn an_experiment_in_timed_mode_shapes_the_close_up() {
    let timed =
        |policy: &str| format!("mode = \"timed\"\n{}[drive.scheduling]\npolicy = \"{policy}\"\n", rated(""));
    let p99 =
        |toml: &str| number(&forecast(toml, &[("workload.rate_per_s", "1500")]), "/latency_us/read/p99");
    assert_ne!(p99(&timed("fcfs")), p99(&timed("priority")));
    let refused = try_lifetime(&timed("fifo"), &[vec![]]).unwrap_err().to_string();
    assert!(refused.contains("unknown scheduling 'fifo'"), "{refused}");
    // A file of a forecast gives the same forecast.
    let resolved = floatgate_experiment::forecast_toml(Some(&timed("fcfs")), "t.toml", &[]).unwrap();
    let [first, again] = [timed("fcfs"), resolved].map(|toml| forecast(&toml, &[]));
    let keys = ["waf", "lifetime", "latency_us", "close_up", "throttle"];
    keys.iter().for_each(|&key| assert_eq!(first[key], again[key], "{key}"));
}
