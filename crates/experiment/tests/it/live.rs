//! A live drive counts what a run over its journal counts, whenever it is stopped, killed or looked at.

use crate::common::{Folder, seeds_or_one, without_run};
use floatgate_base::batch::flags;
use floatgate_base::{Op, Rng};
use floatgate_experiment::live::{open, output};
use floatgate_experiment::meter::Meter;
use floatgate_experiment::{load, run};
use floatgate_live::journal::{Limits, PART_RECORDS};
use floatgate_live::{Completions, Onlookers, Pins, Request};
use std::path::Path;

const CASES: u64 = 40;

/// Draws an experiment with a small drive over the journal of the folder.
fn experiment(rng: &mut Rng, folder: &Folder) -> String {
    let pick = |rng: &mut Rng, values: &[&'static str]| values[rng.below(values.len() as u64) as usize];
    let timed = rng.below(2) == 1;
    let mode = if timed { "timed" } else { "functional" };
    let arrival = if timed { "arrival = \"open\"\n" } else { "" };
    let separator =
        pick(rng, &["none", "host-gc", "dac", "sepbit", "multilog", "host-given\"\nhandles = 3\n#\""]);
    let buffer = pick(rng, &["", "[drive.buffer]\ncapacity = \"64 KiB\"\n"]);
    let plp = pick(rng, &["true", "false"]);
    let queues = match timed {
        true => pick(rng, &["", "", "[host]\noutstanding_max = 2\n"]),
        false => "",
    };
    let disturb = pick(rng, &["", "[drive.disturb]\nmodel = \"uniform\"\nmax_reads = 300\n"]);
    let precondition = pick(rng, &["none", "random", "sequential"]);
    format!(
        "mode = \"{mode}\"\n[drive]\nplp = {plp}\n[drive.geometry]\nchannels = 2\nblocks_per_plane = 40\npages_per_block = 16\n\
         page_bytes = 4096\n{buffer}{disturb}[ftl]\nspare_factor = 0.25\nprecondition = \"{precondition}\"\n\
         [ftl.separate]\npolicy = \"{separator}\"\n[workload]\nfile = \"{}/journal\"\nformat = \"live\"\n{arrival}{queues}",
        folder.path()
    )
}

fn drawn(rng: &mut Rng, bytes: u64) -> Request {
    let op = [Op::Read, Op::Write, Op::Write, Op::Write, Op::Trim][rng.below(5) as usize];
    let length = [512, 4096, 4096, 16384, 5000][rng.below(5) as usize];
    let offset = rng.below((bytes - length) / 512) * 512;
    let flags = if op == Op::Write && rng.below(20) == 0 { flags::FUA } else { 0 };
    Request { op, offset, bytes: length as u32, flags, stream: rng.below(3) as u16 }
}

/// Draws who looks on.
fn onlookers(rng: &mut Rng, toml: &str) -> Onlookers {
    let timed = toml.contains("timed");
    let mut looks = || timed && rng.below(2) == 0;
    Onlookers {
        log: looks().then(|| Box::new(Completions::default()) as _),
        pins: looks().then(|| Box::new(Pins::new(2)) as _),
    }
}

/// Feeds a drive that is saved, stopped, killed and looked at at random; returns the result at its end.
fn lived(rng: &mut Rng, toml: &str, folder: &Folder, limits: Limits) -> Option<String> {
    let resolved = load(Some(toml), "test.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{toml}"));
    let mut drive = open(&resolved, Path::new(&folder.path()), limits, onlookers(rng, toml))
        .unwrap_or_else(|e| panic!("{e}\n{toml}"));
    let mut now_ns = 1_000;
    for _ in 0..1 + rng.below(4000) {
        now_ns += rng.below(2_000_000);
        match rng.below(400) {
            0 => drive.save().unwrap(),
            1 => {
                // Killed: what was handed to the operating system stays.
                drive.hand_over().unwrap();
                drop(drive);
                drive = open(&resolved, Path::new(&folder.path()), limits, onlookers(rng, toml)).unwrap();
            }
            2 => {
                drive.stop().unwrap();
                drive = open(&resolved, Path::new(&folder.path()), limits, onlookers(rng, toml)).unwrap();
            }
            3..20 => drive.flush(now_ns).unwrap(),
            20..60 => drive.pass_time(now_ns),
            _ => {
                let request = drawn(rng, drive.logical_bytes());
                assert!(drive.take(request, now_ns).unwrap().is_some());
            }
        }
    }
    let outcome = drive.stop().unwrap()?;
    Some(without_run(output(&resolved, &outcome, &Meter::start()).result))
}

#[test]
fn a_live_drive_counts_what_its_journal_does() {
    let mut compared = 0;
    for seed in seeds_or_one(CASES) {
        let mut rng = Rng::new(seed, "live");
        let folder = Folder::new("live");
        let toml = experiment(&mut rng, &folder);
        let part_records = if rng.below(2) == 0 { PART_RECORDS } else { 50 + rng.below(500) };
        let Some(live) = lived(&mut rng, &toml, &folder, Limits { part_records, bytes_max: None }) else {
            continue;
        };
        let replay = run(load(Some(&toml), "test.toml", &[]).unwrap(), &mut |_| Ok(())).unwrap();
        assert_eq!(live, without_run(replay.result), "seed {seed}\n{toml}");
        compared += 1;
    }
    assert!(compared > 0);
}

/// A record that was cut short or damaged ends the journal; the drive goes on before it.
#[test]
fn a_damaged_tail_is_cut_off() {
    for seed in seeds_or_one(CASES) {
        let mut rng = Rng::new(seed, "tail");
        let folder = Folder::new("tail");
        let toml = experiment(&mut rng, &folder);
        let resolved = load(Some(&toml), "test.toml", &[]).unwrap();
        let mut drive =
            open(&resolved, Path::new(&folder.path()), Limits::default(), Onlookers::default()).unwrap();
        let requests = 10 + rng.below(200);
        for i in 0..requests {
            let request = drawn(&mut rng, drive.logical_bytes());
            drive.take(request, i * 1000).unwrap();
        }
        drive.hand_over().unwrap();
        drop(drive);
        let path = Path::new(&folder.path()).join("journal");
        let mut bytes = std::fs::read(&path).unwrap();
        let at = 40 + rng.below(bytes.len() as u64 - 40);
        if rng.below(2) == 0 {
            bytes.truncate(at as usize);
        } else {
            bytes[at as usize] ^= 1 << rng.below(8);
        }
        std::fs::write(&path, bytes).unwrap();
        let drive =
            open(&resolved, Path::new(&folder.path()), Limits::default(), Onlookers::default()).unwrap();
        assert_eq!(drive.position().records, (at - 40) / 32, "seed {seed}");
        assert_eq!(drive.glance().requests, (at - 40) / 32, "seed {seed}");
    }
}

/// With a limit the oldest parts go; the drive goes on, and what is left is a trace.
#[test]
fn old_parts_of_a_journal_are_dropped() {
    let mut rng = Rng::new(1, "parts");
    let folder = Folder::new("parts");
    let toml = experiment(&mut rng, &folder);
    let resolved = load(Some(&toml), "test.toml", &[]).unwrap();
    let limits = Limits { part_records: 100, bytes_max: Some(12_000) };
    let requests = 5_000;
    for half in 0..2 {
        let mut drive = open(&resolved, Path::new(&folder.path()), limits, Onlookers::default()).unwrap();
        for i in 0..requests / 2 {
            let request = drawn(&mut rng, drive.logical_bytes());
            drive.take(request, (half * requests + i) * 1000).unwrap();
        }
        drive.hand_over().unwrap();
    }
    let packed = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with("journal.");
    let parts = std::fs::read_dir(folder.path()).unwrap().map(Result::unwrap).filter(packed);
    let bytes: u64 = parts.map(|part| part.metadata().unwrap().len()).sum();
    assert!(bytes > 0 && bytes <= 12_000 + 4_000, "{bytes} bytes of packed parts");
    let drive = open(&resolved, Path::new(&folder.path()), limits, Onlookers::default()).unwrap();
    assert_eq!(drive.glance().requests, requests);
    drop(drive);
    let replay = run(load(Some(&toml), "test.toml", &[]).unwrap(), &mut |_| Ok(())).unwrap();
    let host = &replay.result["host"];
    let of = |kind: &str| host[format!("{kind}_requests")].as_u64().unwrap();
    let replayed = of("read") + of("write") + of("trim");
    assert!(replayed > 100 && replayed < requests, "{replayed} requests are left");
}
