//! The host's queues: worked timelines, a naive model, laws of queues with priorities, and laws of the log.

use crate::common::cases::draw;
use crate::common::request_log::{Row, logged, try_logged};
use crate::common::{Folder, number, run_ok, try_run, without_clock};
use floatgate_base::testing::Bound;
use floatgate_base::{Op, Rng};
use serde_json::Value;
use std::fmt::Write as _;

/// One die: a page takes 50 us and 10 us to read, 10 us and 600 us to write.
const ONE_DIE: &str = "mode = \"timed\"\n[drive.geometry]\nblocks_per_plane = 64\npages_per_block = 64\n\
                       [drive.timing]\nread_us = 50\nprogram_us = 600\nchannel_mb_per_s = 409.6\n";
const READ_NS: u64 = 60_000;
const WRITE_NS: u64 = 610_000;

/// A request of a trace: arrival in microseconds, device, operation, first page, pages.
type Line = (u64, u16, Op, u64, u64);

/// Writes an MSR trace; TRIM goes into a fio log instead, which MSR has no word for.
fn msr(folder: &Folder, name: &str, lines: &[Line]) -> String {
    let mut text = String::new();
    for &(us, device, op, page, pages) in lines {
        let op = if op == Op::Read { "Read" } else { "Write" };
        let stamp = 10_000_000 + us * 10;
        writeln!(text, "{stamp},h,{device},{op},{},{},0", page * 4096, pages * 4096).unwrap();
    }
    folder.file(name, text)
}

fn host(queues: u32, priorities: &str, outstanding_max: u32) -> String {
    format!(
        "[host]\nqueues = {queues}\nqueue_of = \"device\"\npriorities = {priorities}\n\
         outstanding_max = {outstanding_max}\n"
    )
}

/// Numbers of the requests in order of completion, with when they were fetched and done, microseconds.
fn timeline(rows: &[Row]) -> Vec<(u64, f64, f64)> {
    let us = |ns: u64| ns as f64 / 1e3;
    rows.iter().map(|r| (r.number, us(r.fetched_ns), us(r.completed_ns))).collect()
}

#[test]
fn the_better_queue_goes_first_and_nothing_is_interrupted() {
    let folder = Folder::new("priorities");
    let w = |us, device, page| (us, device, Op::Write, page, 1);
    // Queue 1 is the better one. Request 6 arrives while 2 is written, so it goes before 5.
    let lines = [w(0, 0, 0), w(1, 0, 1), w(2, 1, 2), w(3, 1, 3), w(4, 0, 4), w(1900, 1, 5)];
    let path = msr(&folder, "t.csv", &lines);
    let toml = format!(
        "{ONE_DIE}{}[ftl]\nprecondition = \"none\"\n[workload]\nfile = \"{path}\"\n",
        host(2, "[1, 0]", 1)
    );
    let (output, rows) = logged(&toml, &[]);
    let expected = [
        (1, 0.0, 610.0),
        (3, 610.0, 1220.0),
        (4, 1220.0, 1830.0),
        (2, 1830.0, 2440.0),
        (6, 2440.0, 3050.0),
        (5, 3050.0, 3660.0),
    ];
    assert_eq!(timeline(&rows), expected);
    let queue = |i: usize, key: &str| number(&output.result, &format!("/latency_us/queues/{i}/{key}"));
    assert_eq!(queue(0, "queue_wait"), (0.0 + 1829.0 + 3046.0) / 3.0);
    assert_eq!(queue(1, "queue_wait"), (608.0 + 1217.0 + 540.0) / 3.0);
    assert_eq!(queue(1, "mean"), (1218.0 + 1827.0 + 1150.0) / 3.0);
    assert_eq!((queue(0, "max"), queue(0, "requests"), queue(0, "priority")), (3656.0, 3.0, 1.0));
    let waits = (1829.0 + 3046.0 + 608.0 + 1217.0 + 540.0) / 6.0;
    assert_eq!(number(&output.result, "/latency_us/queue_wait/write"), waits);
}

#[test]
fn equal_queues_take_turns() {
    let folder = Folder::new("turns");
    let w = |us, device, page| (us, device, Op::Write, page, 1);
    let path = msr(&folder, "t.csv", &[w(0, 0, 0), w(1, 0, 1), w(2, 0, 2), w(3, 1, 3), w(4, 1, 4)]);
    let toml = format!(
        "{ONE_DIE}{}[ftl]\nprecondition = \"none\"\n[workload]\nfile = \"{path}\"\n",
        host(2, "[7, 7]", 1)
    );
    let order = |toml: &str| logged(toml, &[]).1.iter().map(|r| r.number).collect::<Vec<_>>();
    assert_eq!(order(&toml), [1, 4, 2, 5, 3]);
    // Two at once: 1 and 2 are fetched when they arrive, and the turn is the other queue's.
    let two = toml.replace("outstanding_max = 1", "outstanding_max = 2");
    assert_eq!(order(&two), [1, 2, 4, 3, 5]);
    let fetched: Vec<f64> = timeline(&logged(&two, &[]).1).iter().map(|r| r.1).collect();
    assert_eq!(fetched, [0.0, 1.0, 610.0, 1220.0, 1830.0]);
}

#[test]
fn a_read_does_not_pass_the_write_that_it_must_see() {
    let folder = Folder::new("overlap");
    let lines = [
        (0, 0, Op::Write, 9, 1),
        (1, 0, Op::Write, 1, 2),
        // The better queue wants page 2, and page 9 behind it.
        (2, 1, Op::Read, 2, 1),
        (3, 1, Op::Read, 9, 1),
    ];
    let path = msr(&folder, "t.csv", &lines);
    let host = host(2, "[1, 0]", 1);
    let toml = format!(
        "{ONE_DIE}{host}[ftl]\nprecondition = \"none\"\n[workload]\nfile = \"{path}\"\ndevices = \"fold\"\n"
    );
    let expected = [(1, 0.0, 610.0), (2, 610.0, 1830.0), (3, 1830.0, 1890.0), (4, 1890.0, 1950.0)];
    // The devices of a folded trace are one device of the drive, and still two of the host.
    assert_eq!(timeline(&logged(&toml, &[]).1), expected);
    // Two at once: the read is fetched when request 1 is done, behind the fetched write, whose page it waits for.
    let two = logged(&toml, &[("host.outstanding_max", "2".into())]).1;
    let expected = [(1, 0.0, 610.0), (2, 1.0, 1830.0), (3, 610.0, 1890.0), (4, 1830.0, 1950.0)];
    assert_eq!(timeline(&two), expected);
}

/// One die that works on one request at a time, in a model that looks at all requests for every decision.
fn naive(lines: &[Line], priorities: &[u32]) -> Vec<(u64, u64, u64)> {
    let conflict =
        |a: &Line, b: &Line| (a.2 != Op::Read || b.2 != Op::Read) && a.3 < b.3 + b.4 && b.3 < a.3 + a.4;
    let queues = priorities.len();
    let mut served = vec![false; lines.len()];
    let mut written = std::collections::BTreeSet::new();
    let mut last: Vec<usize> = vec![usize::MAX; queues];
    let (mut free_ns, mut order) = (0, Vec::new());
    let mut bound = Bound::new(100_000_000);
    while order.len() < lines.len() {
        bound.step();
        let first = (0..lines.len()).find(|&i| !served[i]).unwrap();
        let now = free_ns.max(lines[first].0 * 1000);
        // A request that arrives at the moment of a completion comes too late for it, except at the end of an idle
        // time.
        let there = |i: usize| i <= first || lines[i].0 * 1000 < now;
        let may_go = |i: usize| {
            let before = |j: usize| !served[j];
            let in_line = (0..i)
                .any(|j| before(j) && usize::from(lines[j].1) % queues == usize::from(lines[i].1) % queues);
            !in_line && !(0..i).any(|j| before(j) && conflict(&lines[j], &lines[i]))
        };
        let pick = (0..lines.len())
            .filter(|&i| !served[i] && there(i) && may_go(i))
            .min_by_key(|&i| {
                let queue = usize::from(lines[i].1) % queues;
                // Distance behind the queue of this priority that was served last.
                let level: Vec<usize> = (0..queues).filter(|&q| priorities[q] == priorities[queue]).collect();
                let place = level.iter().position(|&q| q == queue).unwrap();
                let newest = level.iter().filter(|&&q| last[q] != usize::MAX).max_by_key(|&&q| last[q]);
                let behind = newest.map_or(0, |n| level.iter().position(|q| q == n).unwrap() + 1);
                (priorities[queue], (place + level.len() - behind % level.len()) % level.len())
            })
            .unwrap();
        let (_, device, op, page, pages) = lines[pick];
        let pages_ns: u64 = (page..page + pages)
            .map(|p| match op {
                Op::Write => {
                    written.insert(p);
                    WRITE_NS
                }
                Op::Read if written.contains(&p) => READ_NS,
                _ => 0,
            })
            .sum();
        served[pick] = true;
        last[usize::from(device) % queues] = order.len();
        order.push((pick as u64 + 1, now, now + pages_ns));
        free_ns = now + pages_ns;
    }
    order
}

#[test]
fn one_request_at_a_time_is_what_a_naive_model_says() {
    let folder = Folder::new("naive");
    for seed in crate::common::seeds(80) {
        let mut rng = Rng::new(seed, "host queues");
        let queues = 2 + rng.below(3) as usize;
        let priorities: Vec<u32> = (0..queues).map(|_| rng.below(3) as u32).collect();
        let (devices, pages) = (1 + rng.below(5), 3 + rng.below(60));
        let gap_us = 1 + rng.below(1200);
        let mut us = 0;
        let lines: Vec<Line> = (0..200)
            .map(|_| {
                us += rng.below(gap_us);
                let op = if rng.below(2) == 0 { Op::Read } else { Op::Write };
                let page = rng.below(pages);
                (us, rng.below(devices) as u16, op, page, 1 + rng.below(3))
            })
            .collect();
        let lines: Vec<Line> = {
            // The first request begins the clock, and devices are numbered in order of appearance.
            let from = lines[0].0;
            let mut seen = Vec::new();
            let number = |device: u16, seen: &mut Vec<u16>| {
                seen.iter().position(|&d| d == device).unwrap_or_else(|| {
                    seen.push(device);
                    seen.len() - 1
                }) as u16
            };
            lines.iter().map(|l| (l.0 - from, number(l.1, &mut seen), l.2, l.3, l.4)).collect()
        };
        let path = msr(&folder, &format!("{seed}.csv"), &lines);
        let toml = format!(
            "{ONE_DIE}{}[ftl]\nprecondition = \"none\"\n[workload]\nfile = \"{path}\"\ndevices = \"fold\"\n",
            host(queues as u32, &format!("{priorities:?}"), 1)
        );
        let (_, rows) = logged(&toml, &[]);
        let times: Vec<_> = rows.iter().map(|r| (r.number, r.fetched_ns, r.completed_ns)).collect();
        assert_eq!(times, naive(&lines, &priorities), "seed {seed}\n{toml}");
    }
}

/// Random settings of queues, as overrides; a case that is not a trace has no devices.
fn queue_settings(rng: &mut Rng, trace: bool) -> Vec<(&'static str, String)> {
    let queues = 1 + rng.below(6);
    let mut out = vec![("mode", "timed".into()), ("host.queues", queues.to_string())];
    let limited = queues == 1 || rng.below(3) > 0;
    if limited {
        let most = [1, 2, 5, 40][rng.below(4) as usize];
        out.push(("host.outstanding_max", most.to_string()));
        let priorities: Vec<u64> = (0..queues).map(|_| rng.below(3)).collect();
        out.push(("host.priorities", format!("{priorities:?}")));
    }
    if queues > 1 && trace && rng.below(2) == 0 {
        out.push(("host.queue_of", "device".into()));
    }
    if !limited || rng.below(2) == 0 {
        out.push(("workload.arrival", "closed".into()));
        out.push(("workload.queue_depth", (1 + rng.below(20)).to_string()));
    } else {
        out.push(("workload.arrival", "open".into()));
    }
    out
}

/// Laws of the log of any run.
fn judge(rows: &[Row], result: &Value, most: u64, depth: Option<u64>, page: u64) {
    let n = rows.len() as u64;
    let counted: f64 =
        ["read", "write", "trim"].iter().map(|kind| number(result, &format!("/host/{kind}_requests"))).sum();
    assert_eq!(n as f64, counted);
    assert!(rows.windows(2).all(|w| w[0].completed_ns <= w[1].completed_ns), "rows in order of completion");
    let mut by_number = rows.to_vec();
    by_number.sort_by_key(|r| r.number);
    assert!(by_number.iter().zip(1..).all(|(r, number)| r.number == number), "each request once");
    assert!(by_number.windows(2).all(|w| w[0].arrival_ns <= w[1].arrival_ns));
    assert!(rows.iter().all(|r| r.arrival_ns <= r.fetched_ns && r.fetched_ns <= r.completed_ns));
    for (op, kind) in [(Op::Read, "read"), (Op::Write, "write")] {
        let latencies: Vec<u64> =
            rows.iter().filter(|r| r.op == op).map(|r| r.completed_ns - r.arrival_ns).collect();
        if latencies.is_empty() {
            continue;
        }
        let mean = latencies.iter().sum::<u64>() as f64 / latencies.len() as f64 / 1e3;
        assert!((mean - number(result, &format!("/latency_us/{kind}/mean"))).abs() < 1e-9 * mean.max(1.0));
        let longest = *latencies.iter().max().unwrap() as f64 / 1e3;
        assert_eq!(longest, number(result, &format!("/latency_us/{kind}/max")));
        let waits = rows.iter().filter(|r| r.op == op).map(|r| r.fetched_ns - r.arrival_ns).sum::<u64>();
        let mean = waits as f64 / latencies.len() as f64 / 1e3;
        assert!(
            (mean - number(result, &format!("/latency_us/queue_wait/{kind}"))).abs() < 1e-9 * mean.max(1.0)
        );
    }
    // First in, first out within a queue.
    let queues = rows.iter().map(|r| r.queue).max().unwrap_or(0);
    for queue in 0..=queues {
        let line: Vec<&Row> = by_number.iter().filter(|r| r.queue == queue).collect();
        assert!(line.windows(2).all(|w| w[0].fetched_ns <= w[1].fetched_ns), "queue {queue}");
    }
    // No request passes an earlier one on a page that one of both changes.
    let pages = |r: &Row| {
        let (first, end) = (r.offset / page, (r.offset + r.bytes).div_ceil(page));
        (first, end)
    };
    for (j, b) in by_number.iter().enumerate() {
        for a in &by_number[j.saturating_sub(400)..j] {
            let ((x, m), (y, n)) = (pages(a), pages(b));
            let changes = a.op != Op::Read || b.op != Op::Read;
            // A trim spares pages that it covers in part, so only whole pages are sure.
            let whole = a.op != Op::Trim && b.op != Op::Trim;
            if changes && whole && x < n && y < m && a.device == b.device {
                assert!(a.fetched_ns <= b.fetched_ns, "{b:?} passed {a:?}");
            }
        }
    }
    // The drive works on so many at once, and a closed loop keeps so many in a queue.
    let most_at_once = |from: &dyn Fn(&Row) -> u64, rows: &[Row]| {
        // At one moment, ends precede beginnings; operations that take no time are never in flight.
        let lasting = || rows.iter().filter(|r| r.completed_ns > from(r));
        let ends = lasting().map(|r| (r.completed_ns, -1));
        let mut events: Vec<(u64, i64)> = lasting().map(|r| (from(r), 1)).chain(ends).collect();
        events.sort_unstable();
        let running = events.iter().scan(0, |now, &(_, step)| {
            *now += step;
            Some(*now)
        });
        running.max().unwrap_or(0) as u64
    };
    assert!(most_at_once(&|r| r.fetched_ns, rows) <= most);
    if let Some(depth) = depth {
        for queue in 0..=queues {
            let line: Vec<Row> = rows.iter().filter(|r| r.queue == queue).copied().collect();
            assert!(most_at_once(&|r| r.arrival_ns, &line) <= depth, "queue {queue}");
        }
    }
}

#[test]
fn any_mixture_of_queues_keeps_its_promises() {
    let folder = Folder::new("mixtures");
    let mut ran = 0;
    for seed in crate::common::seeds(100) {
        let trace = seed % 2 == 1;
        let mut rng = Rng::new(seed, "mixtures");
        let mut case = draw(&mut rng, trace);
        if let Some((text, extension)) = &case.trace {
            let path = folder.file(&format!("{seed}.{extension}"), text);
            case.toml += &format!("file = \"{path}\"\n");
        }
        let settings = queue_settings(&mut rng, trace);
        let (output, rows) = match try_logged(&case.toml, &settings) {
            Ok(ran) => ran,
            Err(e) if e.contains("needs times") || e.contains("has no times") => continue,
            Err(e) => panic!("seed {seed}: {e}\n{}{settings:?}", case.toml),
        };
        let setting = |key: &str| settings.iter().find(|(k, _)| *k == key).and_then(|(_, v)| v.parse().ok());
        let most = setting("host.outstanding_max").unwrap_or(u64::MAX);
        let closed = setting("workload.queue_depth");
        judge(&rows, &output.result, most, closed, case.rules.page_bytes);
        // One queue is served in order; the drive therefore ends as without time. Exception: reclaim waits for idle
        // time if requests arrive at their own times.
        let waits = case.disturbs && closed.is_none();
        if setting("host.queues") == Some(1) && !waits {
            let functional = run_ok(&case.toml, &[]).result;
            // Not the interval of the WAF, whose rows end where requests arrive.
            for key in ["host", "flash", "waf", "gc", "wear", "valid_pages"] {
                let (ours, theirs) = (without_clock(&output.result, key), without_clock(&functional, key));
                assert_eq!(ours, theirs, "seed {seed}: {key}");
            }
        }
        ran += 1;
    }
    assert!(ran > 60, "{ran} ran");
}

#[test]
fn one_queue_whose_limit_is_never_reached_is_no_queue() {
    let mut ran = 0;
    for seed in crate::common::seeds(40) {
        let mut rng = Rng::new(seed, "no queue");
        let case = draw(&mut rng, false);
        let arrival = if rng.below(2) == 0 { "open" } else { "closed" };
        let overrides = [("mode", "timed".to_owned()), ("workload.arrival", arrival.into())];
        let Ok(plain) = try_run(&case.toml, &overrides) else { continue };
        let limited = [&overrides[..], &[("host.outstanding_max", "1000000".into())]].concat();
        let limited = run_ok(&case.toml, &limited);
        for key in ["span_s", "latency_us", "flash", "gc"] {
            let (mut one, mut other) = (plain.result[key].clone(), limited.result[key].clone());
            if key == "latency_us" {
                (one["queues"], other["queues"]) = (Value::Null, Value::Null);
            }
            assert_eq!(one, other, "seed {seed}: {key}");
        }
        ran += 1;
    }
    assert!(ran > 15, "{ran} ran");
}

/// Poisson arrivals of reads at one die, in two queues. Waiting times of a queue of its own priority follow Cobham
/// (1954): W0 / ((1 - s) (1 - s')) with W0 = rate E[S^2] / 2, s the load of better queues, s' that and its own. The
/// order of service changes no sum of waits while all take the same time (conservation law of Kleinrock).
#[test]
fn waits_follow_cobham_and_their_sum_does_not_depend_on_priorities() {
    let folder = Folder::new("cobham");
    let (requests, load, better_share) = (600_000, 0.7, 0.4);
    let mut rng = Rng::new(1, "poisson");
    let (mut ns, mut text) = (0.0, String::new());
    for i in 0..requests {
        // The first two requests name the devices in order.
        let device = if i < 2 { i } else { u64::from(rng.unit() >= better_share) };
        let offset = rng.below(3000) * 4096;
        writeln!(text, "{},h,{device},Read,{offset},4096,0", 10_000_000 + (ns / 100.0) as u64).unwrap();
        ns += -libm::log(1.0 - rng.unit()) * READ_NS as f64 / load;
    }
    let path = folder.file("t.csv", text);
    let run = |priorities: &str| {
        let host = host(2, priorities, 1);
        let toml = format!(
            "{ONE_DIE}{host}[ftl]\nprecondition = \"sequential\"\n[workload]\nfile = \"{path}\"\ndevices = \"fold\"\n"
        );
        run_ok(&toml, &[]).result
    };
    let result = run("[0, 1]");
    let wait = |queue: u32| number(&result, &format!("/latency_us/queues/{queue}/queue_wait"));
    let w0 = load * READ_NS as f64 / 1e3 / 2.0;
    let better = better_share * load;
    for (queue, expected) in [(0, w0 / (1.0 - better)), (1, w0 / ((1.0 - better) * (1.0 - load)))] {
        let measured = wait(queue);
        assert!(
            (measured / expected - 1.0).abs() < 0.02,
            "queue {queue}: {measured} us, by Cobham {expected}"
        );
    }
    let sum = |result: &Value| number(result, "/latency_us/queue_wait/read");
    let first_come = run_ok(
        &format!(
            "{ONE_DIE}[ftl]\nprecondition = \"sequential\"\n[host]\noutstanding_max = 1\n\
             [workload]\nfile = \"{path}\"\ndevices = \"fold\"\n"
        ),
        &[],
    );
    assert_eq!(sum(&result), sum(&first_come.result));
    assert_eq!(sum(&run("[0, 0]")), sum(&first_come.result));
}

/// Two closed loops of 4 on one die: the better one leaves the other only the moments without waiting requests, which
/// do not occur.
#[test]
fn strict_priority_starves() {
    let toml = format!(
        "{ONE_DIE}[ftl]\nprecondition = \"sequential\"\n[host]\nqueues = 2\npriorities = [1, 0]\n\
         outstanding_max = 2\n[workload]\nrequests = 2000\nread_share = 1.0\nqueue_depth = 4\n"
    );
    let (output, _) = logged(&toml, &[]);
    let served = |queue: u32| number(&output.result, &format!("/latency_us/queues/{queue}/requests"));
    assert_eq!(served(0) + served(1), 2000.0);
    assert!(served(0) < 10.0, "{}", served(0));
    let equal = logged(&toml, &[("host.priorities", "[3, 3]".into())]).0;
    assert_eq!(number(&equal.result, "/latency_us/queues/0/requests"), 1000.0);
}

/// A second device late in the trace restarts the run; earlier records do not count.
#[test]
fn a_run_that_starts_over_logs_each_request_once() {
    let folder = Folder::new("over");
    let last = 150_000u64;
    let lines: Vec<Line> = (0..=last).map(|i| (i * 70, u16::from(i == last), Op::Read, i % 50, 1)).collect();
    let path = msr(&folder, "t.csv", &lines);
    for host in ["", "[host]\noutstanding_max = 4\n"] {
        let (output, rows) = logged(
            &format!("{ONE_DIE}{host}[ftl]\nprecondition = \"none\"\n[workload]\nfile = \"{path}\"\n"),
            &[],
        );
        assert_eq!(rows.len() as u64, last + 1);
        judge(&rows, &output.result, 4, None, 4096);
    }
}

/// With one queue the order of service is that of arrival, so a drive fails at the same request with the same words.
#[test]
fn a_drive_that_fails_names_the_request_that_was_fetched() {
    let folder = Folder::new("worn");
    let lines: Vec<Line> = (0..9000).map(|i| (i * 10, 0, Op::Write, i * 7 % 500, 1)).collect();
    let path = msr(&folder, "t.csv", &lines);
    let toml = format!(
        "{ONE_DIE}[drive.endurance]\npe_cycles = 1\n[ftl]\nprecondition = \"none\"\n[workload]\nfile = \"{path}\"\n"
    );
    let plain = try_run(&toml, &[]).err().unwrap();
    assert!(plain.starts_with("the drive was worn out at request 4097 ("), "{plain}");
    assert_eq!(try_run(&toml, &[("host.outstanding_max", "3".into())]).err().unwrap(), plain);
}

/// Overrides of an experiment, and how the message begins that refuses it.
type Refusal<'a> = (&'a [(&'a str, &'a str)], &'a str);

fn refused(cases: &[Refusal<'_>]) {
    let toml = "mode = \"timed\"\n[drive.geometry]\nblocks_per_plane = 60\n[workload]\nrequests = 10\n";
    for &(overrides, message) in cases {
        let overrides: Vec<_> = overrides.iter().map(|(k, v)| (*k, (*v).to_owned())).collect();
        let error = try_run(toml, &overrides).err().unwrap_or_else(|| panic!("{overrides:?} ran"));
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn queues_and_priorities_that_make_no_sense_are_refused() {
    refused(&[
        (&[("host.queues", "0")], "host.queues: queues is 0; expected a whole number from 1 to 1024"),
        (&[("host.queues", "1025")], "host.queues: queues is 1025; expected a whole number from 1 to 1024"),
        (
            &[("host.outstanding_max", "0")],
            "host.outstanding_max: outstanding_max is 0; expected a whole number from 1",
        ),
        (
            &[("host.queues", "3"), ("host.outstanding_max", "2"), ("host.priorities", "[1, 2]")],
            "host.priorities: 2 priorities for 3 queues; expected 3 whole numbers, one a queue",
        ),
        (
            &[("host.priorities", "[1, 2]")],
            "host.priorities: 2 priorities for 1 queue; expected no such key, or host.queues of 2 or more",
        ),
        (
            &[("host.queues", "2"), ("host.priorities", "[1, 2]")],
            "host.priorities: priorities have no effect while the drive fetches every request at once; expected host.outstanding_max",
        ),
        (
            &[("host.queues", "2"), ("workload.arrival", "open"), ("workload.rate_per_s", "100")],
            "host.queues: 2 queues have no effect while the drive fetches every request at once; expected 1, or host.out",
        ),
        (
            &[("host.queues", "2"), ("workload.arrival", "think"), ("workload.rate_per_s", "100")],
            "host.queues: with arrival \"think\" there is one request at a time, which never waits in a queue; expected",
        ),
    ]);
}

#[test]
fn ways_to_a_queue_that_make_no_sense_are_refused() {
    refused(&[
        (
            &[("host.queue_of", "device")],
            "host.queue_of: with one queue, queue_of \"device\" has no effect; expected no such key, or host.queues of 2",
        ),
        (
            &[("host.queue_of", "device"), ("host.queues", "2")],
            "host.queue_of: a synthetic workload has one device and no streams; expected \"round-robin\", or a trace",
        ),
        (
            &[("host.queue_of", "size"), ("host.queues", "2")],
            "host.queue_of: unknown queue_of 'size'; expected one of 'round-robin', 'device', 'stream'",
        ),
    ]);
}

#[test]
fn what_needs_times_or_a_throttle_is_refused_without() {
    refused(&[
        (
            &[("mode", "functional"), ("host.queues", "2")],
            "host.queues: queues = 2 has no effect in functional mode; expected mode = \"timed\", or no queues",
        ),
        (
            &[("mode", "functional"), ("host.outstanding_max", "2")],
            "host.outstanding_max: outstanding_max = 2 has no effect in functional mode; expected mode = \"timed\", or no outstanding_max",
        ),
        (
            &[("workload.arrival", "shifted"), ("workload.rate_per_s", "100")],
            "workload.arrival: arrival \"shifted\" moves the stamps by what a throttle delays, and \
             lifetime.throttle.policy is \"none\"; expected \"open\"",
        ),
    ]);
}

#[test]
fn streams_and_logs_that_a_trace_cannot_give_are_refused() {
    let folder = Folder::new("streams");
    let path = msr(&folder, "t.csv", &[(0, 0, Op::Read, 0, 1)]);
    let toml = format!(
        "{ONE_DIE}{}[ftl]\nprecondition = \"none\"\n[workload]\nfile = \"{path}\"\n",
        host(2, "[0, 1]", 1)
    );
    let error = try_run(&toml, &[("host.queue_of", "stream".into())]).err().unwrap();
    assert!(error.starts_with("host.queue_of: a trace in format msr has no streams to choose"), "{error}");
    let error = try_logged(&toml.replace("timed", "functional"), &[]).err().unwrap();
    assert!(
        error.contains(
            ": queues = 2 has no effect in functional mode; expected mode = \"timed\", or no queues"
        ),
        "{error}"
    );
    let plain = format!(
        "{}[ftl]\nprecondition = \"none\"\n[workload]\nfile = \"{path}\"\n",
        ONE_DIE.replace("timed", "functional")
    );
    let error = try_logged(&plain, &[]).err().unwrap();
    assert_eq!(
        error,
        "mode: functional mode models no time; there is no request log; expected mode = \"timed\", or no request log"
    );
}
