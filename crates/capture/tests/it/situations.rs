//! Captures of one true write amplification, 1, in situations that spoil a count: the truth lies inside the interval,
//! or there is no estimate and a warning names the cause.

use floatgate_base::Rng;
use floatgate_base::testing::Bound;
use floatgate_capture::{
    Format, Geometry, HostBytes, Measured, Measurement, ReadOptions, Recorder, WaveWriter, measure,
};
use std::path::Path;

const US: u64 = 1000;
const MS: u64 = 1000 * US;
const PAGE: u64 = 4096;
const PAGES_PER_BLOCK: u32 = 128;
/// Programs of a die in a capture.
const PROGRAMS: u64 = 6000;
const SEEDS: u64 = 60;

/// Times of a drive, in nanoseconds.
#[derive(Debug)]
struct Chip {
    read: u64,
    programs: Vec<u64>,
    erase: u64,
    /// Share of reads, in percent of the programs.
    reads: u64,
    /// Longest time between two commands.
    gap: u64,
    /// Relative spread of lengths, in percent.
    spread: u64,
}

impl Chip {
    fn draw(rng: &mut Rng) -> Self {
        let base = 300 * US + rng.below(400 * US);
        let programs = match rng.below(4) {
            0 => vec![base],
            // Evenly from one length to twice that.
            3 => (0..=20).map(|part| base + base * part / 20).collect(),
            1 => vec![base, base * 5 / 2],
            _ => vec![base, base * 14 / 10, base * 2],
        };
        Self {
            read: 30 * US + rng.below(40 * US),
            programs,
            erase: 2500 * US + rng.below(2000 * US),
            reads: 10 + rng.below(90),
            gap: 30 * US,
            spread: 3 + rng.below(10),
        }
    }

    /// Draws a length from a bell around its middle.
    fn length(&self, rng: &mut Rng, middle: u64) -> u64 {
        let spread = middle * self.spread / 100;
        let sum: u64 = (0..4).map(|_| rng.below(spread + 1)).sum();
        middle - spread + sum / 2
    }

    fn program(&self, rng: &mut Rng) -> u64 {
        let middle = self.programs[rng.below(self.programs.len() as u64) as usize];
        self.length(rng, middle)
    }

    fn gap(&self, rng: &mut Rng) -> u64 {
        2 * US + rng.below(self.gap - 2 * US)
    }
}

/// Begin and end of low phases, in order.
type Lows = Vec<(u64, u64)>;

/// Draws programs, each with `extra` low phases of it, reads and erases.
fn die(rng: &mut Rng, chip: &Chip, mut program: impl FnMut(&mut Rng, &mut Vec<u64>)) -> Lows {
    let mut lows = Vec::new();
    let mut now = MS;
    let mut add = |rng: &mut Rng, lengths: &[u64]| {
        for &length in lengths {
            now += chip.gap(rng);
            lows.push((now, now + length));
            now += length;
        }
    };
    for number in 0..PROGRAMS {
        let mut pieces = Vec::new();
        program(rng, &mut pieces);
        add(rng, &pieces);
        if rng.below(100) < chip.reads {
            let length = chip.length(rng, chip.read);
            add(rng, &[length]);
        }
        if number % u64::from(PAGES_PER_BLOCK) == 0 {
            let length = chip.length(rng, chip.erase);
            add(rng, &[length]);
        }
    }
    lows
}

fn plain(rng: &mut Rng, chip: &Chip) -> Lows {
    die(rng, chip, |rng, pieces| pieces.push(chip.program(rng)))
}

/// Joins what overlaps or touches.
fn union(mut lows: Lows) -> Lows {
    lows.sort_unstable();
    let mut joined: Lows = Vec::new();
    for (begin, end) in lows {
        match joined.last_mut() {
            Some(last) if begin <= last.1 => last.1 = last.1.max(end),
            _ => joined.push((begin, end)),
        }
    }
    joined
}

/// The low phases of samples every `step`.
fn sampled(lows: Lows, step: u64) -> Lows {
    let at = |time: u64| time.div_ceil(step) * step;
    union(lows.into_iter().map(|(begin, end)| (at(begin), at(end))).filter(|low| low.0 < low.1).collect())
}

fn write(path: &Path, lows: &Lows) {
    let file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    let mut writer = WaveWriter::new(file, Format::Vcd, vec!["rb".into()]);
    writer.begin(0, &[false]).unwrap();
    for &(begin, end) in lows {
        writer.change(begin, 0, true).unwrap();
        writer.change(end, 0, false).unwrap();
    }
    let last = lows.last().unwrap().1;
    writer.end(last + 50 * US).unwrap();
}

fn measured(path: &Path, host_programs: u64, change: impl FnOnce(&mut Measurement)) -> Measured {
    let mut measurement = Measurement {
        paths: vec![path.to_str().unwrap().to_owned()],
        read: ReadOptions::default(),
        signals: Vec::new(),
        program_ps: None,
        recorder: None,
        min_high_ps: None,
        dies_per_signal: None,
        geometry: Geometry {
            channels: 1,
            chips: 1,
            dies: 1,
            planes: 1,
            page_bytes: PAGE,
            pages_per_block: Some(PAGES_PER_BLOCK),
            blocks_per_plane: None,
        },
        multi_page: Some(1.0),
        host: Some(HostBytes { bytes: host_programs * PAGE, step_bytes: 0 }),
    };
    change(&mut measurement);
    measure(&measurement, &mut |_, _| Ok(())).unwrap()
}

/// What became of the seeds of a situation.
#[derive(Debug, Default)]
struct Coverage {
    inside: u64,
    withheld_inside: u64,
    withheld: u64,
    widest: f64,
    failed: Vec<String>,
}

impl Coverage {
    fn add(&mut self, seed: u64, measured: &Measured, codes: &[&str]) {
        let volume = &measured.volume;
        let (low, high) = (volume.wa_low.unwrap(), volume.wa_high.unwrap_or(f64::INFINITY));
        let is_inside = low <= 1.0 && 1.0 <= high;
        let names_it = measured.withheld.iter().any(|code| codes.contains(code));
        match (is_inside, volume.wa.is_some()) {
            (true, true) => {
                self.inside += 1;
                self.widest = self.widest.max(high - low);
            }
            (_, false) if names_it && is_inside => self.withheld_inside += 1,
            (_, false) if names_it => self.withheld += 1,
            _ => self.failed.push(format!(
                "seed {seed}: {low:.4} {:?} {high:.4} {:?} {:?}",
                volume.wa, measured.withheld, measured.doubts
            )),
        }
    }
}

/// Measures a situation with many seeds.
fn cover(name: &str, codes: &[&str], mut one: impl FnMut(&mut Rng, &Chip, &Path) -> Measured) -> Coverage {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("capture.vcd");
    let mut coverage = Coverage::default();
    for seed in 0..SEEDS {
        let mut rng = Rng::new(seed, name);
        let chip = Chip::draw(&mut rng);
        coverage.add(seed, &one(&mut rng, &chip, &path), codes);
    }
    println!(
        "{name}: {} with an estimate (intervals up to {:.3} wide), {} without, of which the interval holds the truth \
         in {}; {} failed",
        coverage.inside,
        coverage.widest,
        coverage.withheld + coverage.withheld_inside,
        coverage.withheld_inside,
        coverage.failed.len()
    );
    coverage
}

fn check(coverage: &Coverage) {
    let shown: Vec<&str> = coverage.failed.iter().take(8).map(String::as_str).collect();
    assert!(shown.is_empty(), "{} failed:\n{}", coverage.failed.len(), shown.join("\n"));
}

#[test]
fn clean_captures_leave_no_doubt() {
    check(&cover("clean, programs of all lengths", &[], |rng, chip, path| {
        write(path, &plain(rng, &wide(chip)));
        let measured = measured(path, PROGRAMS, |_| ());
        assert_eq!(measured.doubts, []);
        measured
    }));
    let coverage = cover("clean", &[], |rng, chip, path| {
        write(path, &plain(rng, chip));
        let measured = measured(path, PROGRAMS, |_| ());
        assert_eq!((measured.programs, &measured.doubts[..]), (PROGRAMS, &[][..]));
        measured
    });
    check(&coverage);
    assert_eq!(coverage.inside, SEEDS);
}

#[test]
fn samples_that_merge_low_phases_widen_the_interval() {
    for step in [5, 10, 20] {
        check(&cover(&format!("sampled every {step} us"), &["merged_lows"], |rng, chip, path| {
            write(path, &sampled(plain(rng, chip), step * US));
            measured(path, PROGRAMS, |_| ())
        }));
    }
}

/// Programs whose data come `data` before them, and reads and erases that follow at once.
fn commands(rng: &mut Rng, chip: &Chip, data: u64) -> Lows {
    let (mut lows, mut now) = (Vec::new(), MS);
    let mut add = |gap: u64, length: u64| {
        lows.push((now + gap, now + gap + length));
        now += gap + length;
    };
    for number in 0..PROGRAMS {
        if rng.below(100) < chip.reads {
            add(100, chip.length(rng, chip.read));
        }
        add(data, chip.program(rng));
        if number % u64::from(PAGES_PER_BLOCK) == 0 {
            add(100, chip.length(rng, chip.erase));
        }
    }
    lows
}

fn polled(path: &Path, step_us: u64) -> Measured {
    let recorder = Recorder { period_ps: step_us * 1_000_000, quiet_ps: 0 };
    measured(path, PROGRAMS, |measurement| measurement.recorder = Some(recorder))
}

/// A read that merges with the program beside it leaves one program. The high phases between programs show that these
/// do not merge, however many reads do.
#[test]
fn reads_that_merge_with_programs_leave_an_estimate() {
    for step_us in [1, 5, 10, 20, 50] {
        let coverage = cover(&format!("reads at once, polled every {step_us} us"), &[], |rng, chip, path| {
            write(path, &commands(rng, chip, 102_500));
            polled(path, step_us)
        });
        check(&coverage);
        assert_eq!(coverage.inside, SEEDS, "{step_us}: {coverage:?}");
    }
}

#[test]
fn programs_that_merge_at_coarse_polls_widen_the_interval() {
    for (data_us, step_us) in [(60, 50), (60, 100), (30, 50), (10, 20), (3, 20)] {
        let name = format!("data of {data_us} us, polled every {step_us} us");
        check(&cover(&name, &["merged_lows", "shared_pin", "slow_programs"], |rng, chip, path| {
            write(path, &commands(rng, chip, data_us * US));
            polled(path, step_us)
        }));
    }
}

#[test]
fn programs_in_slc_mode_are_not_taken_for_reads() {
    for share in [100, 50, 10] {
        check(&cover(&format!("SLC mode {share} %"), &["slc_programs"], |rng, chip, path| {
            let slc = 110 * US + rng.below(20 * US);
            let lows = die(rng, chip, |rng, pieces| {
                let is_slc = rng.below(100) < share;
                pieces.push(if is_slc { chip.length(rng, slc) } else { chip.program(rng) });
            });
            write(path, &lows);
            measured(path, PROGRAMS, |_| ())
        }));
    }
}

#[test]
fn dies_that_share_a_pin_leave_no_estimate() {
    for (name, idle, per_signal) in [
        ("two dies, mostly idle", 8000, None),
        ("two dies, often idle", 1500, None),
        ("two dies, at times idle", 300, None),
        ("two dies, busy", 30, None),
        ("two dies of which the user says, often idle", 1500, Some(2)),
        ("two dies of which the user says, busy", 30, Some(2)),
    ] {
        check(&cover(name, &["shared_pin", "slow_programs", "lost_time"], |rng, chip, path| {
            let chip = Chip { gap: idle * US, ..Chip { programs: chip.programs.clone(), ..*chip } };
            let mut lows = plain(rng, &chip);
            lows.extend(plain(rng, &chip));
            write(path, &union(lows));
            measured(path, 2 * PROGRAMS, |plan| {
                plan.geometry.dies = 2;
                plan.dies_per_signal = per_signal;
            })
        }));
    }
}

#[test]
fn glitches_do_not_split_low_phases() {
    check(&cover("glitches", &[], |rng, chip, path| {
        let mut lows = Vec::new();
        for (begin, end) in plain(rng, chip) {
            if rng.below(10) == 0 {
                let at = begin + 100 + rng.below(end - begin - 1000);
                lows.extend([(begin, at), (at + 30, end)]);
            } else {
                lows.push((begin, end));
            }
        }
        write(path, &lows);
        let measured = measured(path, PROGRAMS, |_| ());
        assert_eq!(measured.programs, PROGRAMS);
        assert!(measured.warnings.iter().any(|text| text.contains("count as glitches")));
        measured
    }));
}

/// Programs of 200 to 600 and of 733 to 2200 us, which hide erases of 2 ms: the SSD-V of the paper on RB-Explorer.
fn wide(chip: &Chip) -> Chip {
    let evenly = |from: u64, to: u64| (0..=20).map(move |part| (from + (to - from) * part / 20) * US);
    let programs = evenly(200, 600).chain(evenly(733, 2200)).collect();
    Chip { programs, erase: 2000 * US, ..*chip }
}

/// A limit of programs within the hump of programs and erases leaves erases on both sides: those above it are no count.
#[test]
fn a_limit_within_a_hump_counts_no_erases() {
    let says_so =
        |measured: &Measured| measured.warnings.iter().any(|text| text.contains("is no count of erases"));
    let most = (PROGRAMS / u64::from(PAGES_PER_BLOCK)) as f64;
    let coverage = cover("limit within a hump", &[], |rng, chip, path| {
        write(path, &plain(rng, &wide(chip)));
        let measured = measured(path, PROGRAMS, |plan| plan.program_ps = Some((150_000_000, 2_000_000_000)));
        assert!(
            measured.erases > 0 && measured.terms.hidden_erases > most && says_so(&measured),
            "{measured:?}"
        );
        measured
    });
    check(&coverage);
    // Erases that lie apart are counted, also where the limit cuts off a few of the longest programs.
    check(&cover("limit between humps", &[], |rng, chip, path| {
        let slow = Chip { erase: 4000 * US, ..wide(chip) };
        write(path, &plain(rng, &slow));
        let measured = measured(path, PROGRAMS, |plan| plan.program_ps = Some((150_000_000, 2_400_000_000)));
        assert!(measured.terms.hidden_erases == 0.0 && !says_so(&measured), "{measured:?}");
        measured
    }));
}

/// Programs of a die of which reads suspend `percent`.
fn suspending(rng: &mut Rng, chip: &Chip, percent: u64) -> Lows {
    die(rng, chip, |rng, pieces| {
        let whole = chip.program(rng);
        if rng.below(100) < percent {
            let first = 10 * US + rng.below(whole - 20 * US);
            pieces.extend([first, chip.length(rng, chip.read), whole - first + 5 * US]);
        } else {
            pieces.push(whole);
        }
    })
}

#[test]
fn suspended_programs_widen_the_interval() {
    for percent in [3, 5, 20, 30] {
        let codes = ["suspended_programs"];
        check(&cover(&format!("suspended {percent} %"), &codes, |rng, chip, path| {
            write(path, &suspending(rng, chip, percent));
            measured(path, PROGRAMS, |_| ())
        }));
        check(&cover(
            &format!("suspended {percent} %, programs of all lengths"),
            &codes,
            |rng, chip, path| {
                write(path, &suspending(rng, &wide(chip), percent));
                measured(path, PROGRAMS, |_| ())
            },
        ));
    }
}

/// Programs by cache commands: the pin is low until the array takes the data, for 3 us if it is free, and the next
/// command needs a free array unless it is a program.
fn cached(rng: &mut Rng, chip: &Chip, percent: u64) -> Lows {
    let transfer = 60 * US + rng.below(60 * US);
    let (mut lows, mut now, mut free) = (Vec::new(), MS, MS);
    let mut add = |rng: &mut Rng, now: &mut u64, length: u64| {
        *now += chip.gap(rng);
        lows.push((*now, *now + length));
        *now += length;
    };
    for number in 0..PROGRAMS {
        let wait = free.saturating_sub(now + transfer);
        let length = chip.program(rng);
        now += transfer;
        let is_cached = rng.below(100) < percent;
        add(rng, &mut now, wait + if is_cached { 3 * US } else { length });
        free = if is_cached { now + length } else { now };
        if rng.below(100) < chip.reads {
            now = now.max(free);
            let length = chip.length(rng, chip.read);
            add(rng, &mut now, length);
        }
        if number % u64::from(PAGES_PER_BLOCK) == 0 {
            now = now.max(free);
            let length = chip.length(rng, chip.erase);
            add(rng, &mut now, length);
        }
    }
    lows
}

/// Programs so much longer than reads that they do not all look like reads. Otherwise little is left to count, and the
/// figure is below 1, which is impossible.
fn slower(chip: &Chip) -> Chip {
    Chip { programs: chip.programs.iter().map(|&program| program + 150 * US).collect(), ..*chip }
}

#[test]
fn cache_programs_widen_the_interval() {
    // A program that waits for the one before it is as long as low phases of two dies on a pin.
    let codes = ["cache_programs", "shared_pin"];
    for percent in [100, 50, 5] {
        check(&cover(&format!("cache programs {percent} %"), &codes, |rng, chip, path| {
            write(path, &cached(rng, &slower(chip), percent));
            measured(path, PROGRAMS, |_| ())
        }));
    }
    // The rest of a program of 200 us is as long as a read. Where most are, few reads seem to wait: one seed of 20.
    for percent in [50, 5] {
        let name = format!("cache programs {percent} % of all lengths");
        let coverage = cover(&name, &codes, |rng, chip, path| {
            write(path, &cached(rng, &wide(chip), percent));
            measured(path, PROGRAMS, |_| ())
        });
        assert!(20 * coverage.failed.len() as u64 <= SEEDS, "{coverage:?}");
    }
}

#[test]
fn lost_blocks_widen_the_interval() {
    for held in ["level held", "low", "high"] {
        check(&cover(&format!("lost blocks, {held}"), &["lost_time"], |rng, chip, path| {
            let lows = plain(rng, chip);
            let last = lows.last().unwrap().1;
            let blocks: Vec<u64> =
                (0..last / (200 * MS)).map(|n| n * 200 * MS + 5 * MS + rng.below(150 * MS)).collect();
            write(path, &without(&lows, &blocks, held));
            measured(path, PROGRAMS, |_| ())
        }));
    }
}

/// Removes 10 ms from each of `blocks`, during which the level is held or a constant.
fn without(lows: &Lows, blocks: &[u64], held: &str) -> Lows {
    let mut kept: Lows = Vec::new();
    let mut blocks = blocks.iter().copied().peekable();
    let mut skip: Option<(u64, u64)> = None;
    for &(mut begin, mut end) in lows {
        let mut bound = Bound::new(1000);
        while let Some(from) = blocks.next_if(|&from| from < end) {
            bound.step();
            skip = Some((from, from + 10 * MS));
            let is_low = held == "low" || (held == "level held" && begin < from);
            if begin < from {
                kept.push((begin, from));
            }
            if is_low {
                kept.push((from, from + 10 * MS));
            }
            begin = begin.max(from + 10 * MS);
            end = end.max(begin);
        }
        if let Some((_, until)) = skip {
            begin = begin.max(until);
        }
        if begin < end {
            kept.push((begin, end));
        }
    }
    union(kept)
}

#[test]
fn slow_programs_are_not_taken_for_erases() {
    for (name, pages, erases) in [
        ("slow programs", Some(PAGES_PER_BLOCK), true),
        ("slow programs, unknown blocks", None, true),
        ("slow programs, no erases", Some(PAGES_PER_BLOCK), false),
    ] {
        check(&cover(name, &["slow_programs"], |rng, chip, path| {
            let fast = Chip { programs: vec![chip.programs[0].min(600 * US)], ..*chip };
            let slow = 1300 * US;
            let mut lows = die(rng, &fast, |rng, pieces| {
                pieces.push(if rng.below(25) == 0 { fast.length(rng, slow) } else { fast.program(rng) });
            });
            lows.retain(|low| erases || low.1 - low.0 < 2 * MS);
            write(path, &lows);
            measured(path, PROGRAMS, |plan| plan.geometry.pages_per_block = pages)
        }));
    }
}

#[test]
fn host_bytes_beyond_the_capture_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("capture.vcd");
    let mut rng = Rng::new(1, "host");
    let chip = Chip::draw(&mut rng);
    write(&path, &plain(&mut rng, &chip));
    let measured = measured(&path, PROGRAMS, |plan| {
        plan.host = Some(HostBytes { bytes: 20_000_000_000, step_bytes: 0 });
    });
    assert!(measured.volume.wa_high.is_some_and(|wa| wa < 0.01));
    assert!(measured.warnings[0].starts_with("impossible: 20000000000 bytes of the host in a capture of "));
}
