//! Measures whole captures, generated here, and compares the results with what was generated.

use crate::common::fuzz_seeds;
use floatgate_base::testing::Bound;
use floatgate_base::{Result, Rng};
use floatgate_capture::{Geometry, HostBytes, Measured, Measurement, ReadOptions, Recorder};
use std::fmt::Write as _;
use std::path::Path;

const US: u64 = 1_000_000;

fn measure(plan: &Measurement) -> Result<Measured> {
    floatgate_capture::measure(plan, &mut |_, _| Ok(()))
}

fn geometry() -> Geometry {
    Geometry {
        channels: 2,
        chips: 1,
        dies: 1,
        planes: 1,
        page_bytes: 4096,
        pages_per_block: Some(128),
        blocks_per_plane: None,
    }
}

fn plan(path: &Path) -> Measurement {
    Measurement {
        paths: vec![path.to_str().unwrap().to_owned()],
        read: ReadOptions::default(),
        signals: Vec::new(),
        program_ps: None,
        recorder: None,
        min_high_ps: None,
        dies_per_signal: None,
        geometry: geometry(),
        multi_page: Some(1.0),
        host: Some(HostBytes { bytes: 1 << 20, step_bytes: 0 }),
    }
}

/// Low phases of a pin: begin and end of each in units of `unit_ps`, and the count of each class.
struct Drawn {
    edges: Vec<(u64, u64)>,
    counts: [u64; 3],
}

fn draw(rng: &mut Rng, unit_ps: u64) -> Drawn {
    let (mut now, mut edges, mut counts) = (1 + rng.below(50), Vec::new(), [0; 3]);
    for _ in 0..40 + rng.below(200) {
        let (class, from, to) = match rng.below(20) {
            0..=7 => (0, 30 * US, 70 * US),
            8..=18 => (1, 300 * US, 900 * US),
            _ if counts[1] >= 20 * (counts[2] + 1) => (2, 2500 * US, 3500 * US),
            _ => (1, 300 * US, 900 * US),
        };
        let length = (from + rng.below(to - from)) / unit_ps;
        now += 1 + rng.below(400 * US) / unit_ps;
        edges.push((now, now + length));
        counts[class] += 1;
        now += length;
    }
    Drawn { edges, counts }
}

fn vcd(rng: &mut Rng, unit: &str, pins: &[Drawn]) -> String {
    let mut out = format!(
        "$date today $end\n$comment made by a test $end $timescale {unit} $end\n$scope module nand $end\n"
    );
    for pin in 0..pins.len() {
        // Identifiers of one to four characters.
        writeln!(out, "$var wire 1 {} rb{pin} $end", id(pin)).unwrap();
    }
    out += "$var real 64 !!r temperature $end $upscope $end $enddefinitions $end\n$dumpvars\n";
    (0..pins.len()).for_each(|pin| writeln!(out, "1{}", id(pin)).unwrap());
    out += "$end\n";
    let mut changes: Vec<(u64, usize, char)> = Vec::new();
    for (pin, drawn) in pins.iter().enumerate() {
        changes.extend(drawn.edges.iter().flat_map(|&(from, to)| [(from, pin, '0'), (to, pin, '1')]));
    }
    changes.sort();
    let mut now = None;
    for (time, pin, level) in changes {
        if now != Some(time) {
            write!(out, "#{time}").unwrap();
            out.push(if rng.below(2) == 0 { '\n' } else { ' ' });
            now = Some(time);
        }
        writeln!(out, "{level}{}", id(pin)).unwrap();
        if rng.below(50) == 0 {
            out += "r36.6 !!r\n$comment still warm $end\n";
        }
    }
    out
}

fn id(pin: usize) -> String {
    ["!", "a~", "xyz", "wxyz"][pin % 4].to_owned() + &"q".repeat(pin / 4)
}

fn check(measured: &Measured, pins: &[Drawn], seed: u64) {
    for (signal, drawn) in measured.signals.iter().zip(pins) {
        assert_eq!(
            [signal.reads, signal.programs, signal.erases],
            drawn.counts,
            "seed {seed} {}",
            signal.name
        );
    }
    assert_eq!(measured.signals.len(), pins.len(), "seed {seed}");
    assert_eq!(measured.programs, pins.iter().map(|drawn| drawn.counts[1]).sum::<u64>());
}

/// Exact captures yield exact counts with any time scale, format and layout of the text.
#[test]
fn exact_captures_give_exact_counts() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..1000 {
        let mut rng = Rng::new(seed, "captures");
        let (unit, unit_ps) =
            [("1 ns", 1000), ("10ps", 10), ("1us", US), ("100 ns", 100_000)][rng.below(4) as usize];
        let pins: Vec<Drawn> = (0..1 + rng.below(5)).map(|_| draw(&mut rng, unit_ps)).collect();
        let path = folder.path().join("capture");
        std::fs::write(&path, vcd(&mut rng, unit, &pins)).unwrap();
        let mut plan = plan(&path);
        plan.program_ps = Some((150 * US, 2000 * US));
        let measured = measure(&plan).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        check(&measured, &pins, seed);
        // The interval is detected, too.
        plan.program_ps = None;
        let alone = measure(&plan).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        if alone.humps.len() == 3 {
            check(&alone, &pins, seed);
        }
        // The same as rows of times and levels.
        std::fs::write(&path, csv(&pins, unit_ps)).unwrap();
        plan.program_ps = Some((150 * US, 2000 * US));
        check(&measure(&plan).unwrap_or_else(|e| panic!("seed {seed}: {e}")), &pins, seed);
        // And as a list of lengths.
        let lengths = pins[0].edges.iter().map(|(from, to)| format!("{}\n", (to - from) * unit_ps));
        std::fs::write(&path, "low_ps\n".to_owned() + &lengths.collect::<String>()).unwrap();
        check(&measure(&plan).unwrap_or_else(|e| panic!("seed {seed}: {e}")), &pins[..1], seed);
    }
}

fn csv(pins: &[Drawn], unit_ps: u64) -> String {
    let mut times: Vec<u64> = pins.iter().flat_map(|p| p.edges.iter().flat_map(|&(a, b)| [a, b])).collect();
    times.push(0);
    times.sort_unstable();
    times.dedup();
    let names: Vec<String> = (0..pins.len()).map(|pin| format!("Busy {pin}")).collect();
    let mut out = format!("Time [s],{}\r\n", names.join(","));
    let mut next = vec![0; pins.len()];
    for time in times {
        let ps = time * unit_ps;
        write!(out, "{}.{:012}", ps / 1_000_000_000_000, ps % 1_000_000_000_000).unwrap();
        for (pin, drawn) in pins.iter().enumerate() {
            let mut bound = Bound::new(100_000_000);
            while drawn.edges.get(next[pin]).is_some_and(|&(_, to)| to <= time) {
                bound.step();
                next[pin] += 1;
            }
            let low = drawn.edges.get(next[pin]).is_some_and(|&(from, _)| from <= time);
            out += if low { ",0" } else { ",1" };
        }
        out += "\r\n";
    }
    out
}

/// A recorder that polls too rarely sees fewer programs, and the error terms cover the loss.
#[test]
fn a_recorder_that_polls_misses_what_arithmetic_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("capture.vcd");
    let mut rng = Rng::new(11, "captures");
    let (mut now, mut edges) = (0, Vec::new());
    for _ in 0..20_000 {
        now += 700 + rng.below(2000);
        edges.push((now, now + 400));
        now += 400;
    }
    let pins = [Drawn { edges, counts: [0, 20_000, 0] }];
    std::fs::write(&path, vcd(&mut rng, "1us", &pins)).unwrap();
    for (period_us, expected) in [(100, 20_000.0), (400, 20_000.0), (500, 16_000.0), (600, 13_333.0)] {
        let mut plan = plan(&path);
        plan.recorder = Some(Recorder { period_ps: period_us * US, quiet_ps: 0 });
        plan.program_ps = Some((90 * US, 2000 * US));
        let measured = measure(&plan).unwrap();
        assert!(
            (measured.programs as f64 - expected).abs() < 0.01 * expected,
            "{period_us}: {}",
            measured.programs
        );
        let theory = measured.recorder.unwrap();
        assert_eq!((theory.programs_exact, theory.unsent), (20_000.0, 0));
        let seen = theory.programs_exact - theory.missed - theory.merged;
        assert!((seen - measured.programs as f64).abs() < 0.02 * expected, "{period_us}: {theory:?}");
    }
}

/// The exact count beside a recorder is that of the capture without one, by the same rules: within the user's interval,
/// which cuts bins of lengths, or within the detected one.
#[test]
fn the_exact_count_is_that_without_a_recorder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("capture.vcd");
    let mut rng = Rng::new(12, "captures");
    let (mut now, mut edges, mut counts) = (0, Vec::new(), [0, 0, 0]);
    for number in 0..10_000 {
        let length = if number % 2 == 0 { 48 + rng.below(5) } else { 200 + rng.below(1200) };
        counts[number % 2] += 1;
        now += 120 + rng.below(400);
        edges.push((now, now + length));
        now += length;
    }
    std::fs::write(&path, vcd(&mut rng, "1us", &[Drawn { edges, counts }])).unwrap();
    for program_ps in [None, Some((205 * US, 1395 * US)), Some((90 * US, 2000 * US))] {
        let mut plan = plan(&path);
        plan.program_ps = program_ps;
        let exact = measure(&plan).unwrap().programs;
        for period_us in [1, 20, 50] {
            plan.recorder = Some(Recorder { period_ps: period_us * US, quiet_ps: 0 });
            let recorder = measure(&plan).unwrap().recorder.unwrap();
            assert_eq!(recorder.programs_exact, exact as f64, "{program_ps:?}, {period_us} us");
        }
    }
}

fn refusal(folder: &Path, name: &str, content: &[u8], change: impl FnOnce(&mut Measurement)) -> String {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    let mut plan = plan(&path);
    change(&mut plan);
    let error = measure(&plan).expect_err(name).to_string();
    error.replace(path.to_str().unwrap(), name)
}

/// Forms that tools write although the standard does not have them: any number of units as the time scale, parts of
/// units, blanks before identifiers, variables of no width.
#[test]
fn dumps_as_tools_write_them_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c");
    let lows_us = |scale: &str, first: &str, changes: &[(f64, u8)], blank: &str| {
        let mut text =
            format!("$timescale {scale} $end\n$var wire 0 % none $end\n$var wire 1 ! rb $end\n{first}");
        text += "$enddefinitions $end\n";
        for (time, level) in changes {
            writeln!(text, "#{time}\n{level}{blank}!").unwrap();
        }
        std::fs::write(&path, text).unwrap();
        let mut plan = plan(&path);
        plan.program_ps = Some((150 * US, 2000 * US));
        let measured = measure(&plan).unwrap();
        (measured.programs, measured.duration_s.unwrap())
    };
    let (programs, span_s) =
        lows_us("6666 ps", "", &[(0.0, 1), (45_000.0, 0), (120_000.0, 1), (150_000.0, 1)], "");
    assert_eq!((programs, (span_s * 1e12).round() as i64), (1, 150_000 * 6666));
    let (programs, span_s) = lows_us("1 us", "", &[(0.0, 1), (300.25, 0), (800.5, 1), (900.125, 1)], " ");
    assert_eq!((programs, (span_s * 1e9).round() as i64), (1, 900_125));
}

const HEAD: &str = "$timescale 1us $end\n$var wire 1 ! rb $end\n$enddefinitions $end\n";

#[test]
fn bad_dumps_are_refused_with_place_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |content: &str| refusal(folder.path(), "c", content.as_bytes(), |_| ());
    for (content, expected) in [
        ("", "c: the file is empty; expected a capture"),
        (
            "$var wire 1 ! rb $end\n$enddefinitions $end\n#0\n0!\n",
            "c:2: the file has no $timescale; pass it, as in --time-unit 1us",
        ),
        (
            "$timescale 1us $end\n$var wire 1 ! rb",
            "c:2: the file ends within its declarations, and the file ends within this line, after 16 bytes: it was \
             probably cut when it was copied; expected the whole file: copy it again, or remove this line",
        ),
        (
            &(HEAD.to_owned() + "#500\n0!\n#33"),
            "c:6: time goes back to '#33', and the file ends within this line, after 3 bytes: it was probably cut \
             when it was copied; expected the whole file: copy it again, or remove this line",
        ),
        (
            "$timescale 3 weeks $end\n",
            "c:1: '3weeks' is not a time scale; expected a number and s, ms, us, ns, ps or fs",
        ),
        (
            &(HEAD.to_owned() + "#5\n0!\n#4\n1!\n"),
            "c:6: time goes back to '#4'; expected times in ascending order",
        ),
        (
            &(HEAD.to_owned() + "#5\n0\n"),
            "c:6: the file ends within a change; expected the identifier of its signal",
        ),
        (
            &(HEAD.to_owned() + "#5\n0\n#6\n1!\n"),
            "c:6: '#6' is no identifier; expected that of the signal which changes",
        ),
        (
            &(HEAD.to_owned() + "#5\nhello\n#6"),
            "c: no signal ever changes ('rb'); expected a capture of a pin at work",
        ),
        (
            &(HEAD.to_owned() + "#5\n?!\n"),
            "c:5: '?!' is neither a time nor a change; expected a value change dump",
        ),
        (
            &(HEAD.to_owned() + "#99999999999999999999\n"),
            "c:4: '#99999999999999999999' is not a time; expected # and a number of time units, in all below 106 days",
        ),
        (
            &(HEAD.to_owned() + "#1\n1!\n#2\n0!\n"),
            "c: no low phase with both edges on 'rb'; expected a pin that is low while the chip is busy (if it is inverted, swap 0 and 1; if it is too short, capture longer)",
        ),
    ] {
        assert_eq!(refused(content), expected, "{content}");
    }
    let content = HEAD.to_owned() + "#0\n1!\n#10\n0!\n#500\n1!\n";
    let wrong = refusal(folder.path(), "c", content.as_bytes(), |plan| plan.signals = vec!["rb9".into()]);
    assert_eq!(wrong, "c: no signal 'rb9'; did you mean 'rb'?");
}

#[test]
fn bad_rows_and_lengths_are_refused_with_place_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |content: &str| refusal(folder.path(), "c", content.as_bytes(), |_| ());
    for (content, expected) in [
        (
            "Time [s],rb\n0.1,1\n0.2,0.53\n",
            "c:3: '0.53' is not a level; expected 0 or 1 (export digital channels only)",
        ),
        (
            "Time [s],rb\n0.2,1\n0.1,0\n",
            "c:3: time goes back to '0.1,0'; expected rows in ascending order of time",
        ),
        (
            "Time [s],rb\n0.2,1\n0.",
            "c:3: time goes back to '0.', and the file ends within this line, after 2 bytes: it was probably cut \
             when it was copied; expected the whole file: copy it again, or remove this line",
        ),
        (
            "Time [s],rb\n0.2,1\n0.3,0,1\n",
            "c:3: 2 levels where the first rows have 1; expected as many columns in every row",
        ),
        (
            "Time,rb\n1,1\n",
            "c:1: the file does not say the unit of its times; pass it, as in --time-unit 1us",
        ),
        (
            "Time [s],rb\n2026-01-01 noon,1\n",
            "c:2: '2026-01-01 noon' is not a time; expected a number, or a date such as 2026-01-02T03:04:05.000300Z",
        ),
        (
            "812\n900\n",
            "c:1: '812' has no unit; expected a unit after it, a unit in the header, or --time-unit 1us",
        ),
        (
            "low_us\n812\nmany\n",
            "c:3: 'many' is not a length of time; expected a number with a unit, such as 812.5us",
        ),
        (
            "low_us\n25\n30\n",
            "--program-us: low phases last from 25 to 30 us, none as long as a program (150 us to 20 ms); set the length of programs, as in --program-us 180..1500",
        ),
    ] {
        assert_eq!(refused(content), expected, "{content}");
    }
}

/// Damaged captures end in an error or in results, never in a panic.
#[test]
fn damaged_captures_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c");
    for seed in fuzz_seeds(3000) {
        let mut rng = Rng::new(seed, "damaged captures");
        let pins = [draw(&mut rng, 1000)];
        let mut bytes = match rng.below(3) {
            0 => csv(&pins, 1000).into_bytes(),
            1 => vcd(&mut rng, "1 ns", &pins).into_bytes(),
            _ => pins[0].edges.iter().flat_map(|(a, b)| format!("{}ns\n", b - a).into_bytes()).collect(),
        };
        for _ in 0..1 + rng.below(4) {
            let at = rng.below(bytes.len() as u64) as usize;
            match rng.below(4) {
                0 => bytes[at] = rng.below(256) as u8,
                1 => bytes.truncate(at.max(1)),
                2 => bytes.insert(at, b"\n ,#$01xzb-"[rng.below(11) as usize]),
                _ => drop(bytes.drain(at..(at + 1 + rng.below(40) as usize).min(bytes.len()))),
            }
            if bytes.is_empty() {
                bytes.push(b'#');
            }
        }
        std::fs::write(&path, &bytes).unwrap();
        let message =
            measure(&plan(&path)).map_or_else(|e| e.to_string(), |measured| measured.programs.to_string());
        assert!(!message.is_empty() && message.len() < 4000, "seed {seed}: {message}");
    }
}
