//! `make fuzz`: damages the sample of each format for a minute and looks for panics and impossible rows.
//!
//! `FLOATGATE_FUZZ_SECONDS` is the time for each format, `FLOATGATE_FUZZ_SEED` the first seed. A failure prints the
//! round's seed and the input in hexadecimal. Without the variable (`make test`) each format gets some rounds of a
//! fixed seed, which keeps the fuzzer itself working.
// A fuzzer runs for a limited time; the core itself has no clock.
#![allow(clippy::disallowed_types)]

use floatgate_base::testing::Bound;
use floatgate_base::{RequestBatch, Rng};
use floatgate_trace::formats::samples::bytes;
use floatgate_trace::{FORMATS, OpenOptions, open_stream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::{Duration, Instant};

const ROUNDS: u64 = 300;
const WORDS: &[&str] = &[
    "0",
    "-1",
    "1e308",
    "nan",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775808",
    "-9223372036854775808",
    "0x",
    "0xffffffffffffffff",
    "4294967296",
    "1099511627777",
    ",",
    ",,",
    " ",
    "\t",
    "\n",
    "\r\n",
    "\0",
    "\"",
    "*",
    "+ 8",
    "R",
    "W",
    "D",
    "F",
    "N",
    "trim",
    "é",
    "\u{feff}",
    "ustar",
    "fio version 3 iolog\n",
    "EndHeader\n",
    "....................",
];

/// Repeats and damages the sample.
fn damaged(sample: &[u8], other: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut out = sample.repeat(1 + rng.below(4) as usize);
    for _ in 0..=rng.below(6) {
        let at = rng.below(out.len() as u64 + 1) as usize;
        let to = (at + rng.below(24) as usize).min(out.len());
        match rng.below(7) {
            0 if at < out.len() => out[at] = rng.next_u64() as u8,
            1 if at < out.len() => out[at] ^= 1 << rng.below(8),
            2 => drop(out.drain(at..to)),
            3 => drop(out.splice(at..to, WORDS[rng.below(WORDS.len() as u64) as usize].bytes())),
            4 => drop(out.splice(at..at, out[at..to].to_vec())),
            5 => {
                let from = rng.below(other.len() as u64 + 1) as usize;
                let piece = other[from..].iter().take(40).copied().collect::<Vec<u8>>();
                drop(out.splice(at..at, piece));
            }
            _ => out.truncate(at.max(1)),
        }
    }
    out
}

/// Reads it under all options that change the path; returns what is impossible about the rows.
fn read(content: &[u8], format: Option<&str>, rng: &mut Rng) -> Result<(), String> {
    let skip = if rng.below(2) == 0 { "stop" } else { "skip" };
    let options = OpenOptions::parse(format, None, None, None, Some(skip)).map_err(|e| e.to_string())?;
    let stream = Box::new(std::io::Cursor::new(content.to_vec()));
    let Ok(mut source) = open_stream(stream, "t", &options) else { return Ok(()) };
    let mut batch = RequestBatch::default();
    let step = 1 + rng.below(9) as usize;
    let mut bound = Bound::new(100_000_000);
    loop {
        bound.step();
        let before = batch.len();
        let result = source.fill(&mut batch, step);
        let columns = source.columns();
        for i in before..batch.len() {
            let fits = batch.bytes[i] > 0 && batch.offset[i].checked_add(batch.bytes[i]).is_some();
            if !fits || usize::from(batch.device[i]) >= source.devices().len() {
                return Err(format!("row {i}: {} {}", batch.offset[i], batch.bytes[i]));
            }
        }
        let n = batch.len();
        let optional = |there: bool, len: usize| len == if there { n } else { 0 };
        if !optional(columns.stream, batch.stream.len())
            || !optional(columns.flags, batch.flags.len())
            || !optional(columns.content, batch.content.end.len())
        {
            return Err("optional columns of another length".into());
        }
        if result.is_err() || batch.len() == before {
            let _ = (source.summary(), source.assumed());
            return Ok(());
        }
        if batch.len() > 100_000 {
            return Err("rows without end".into());
        }
    }
}

/// Fuzzes one format until the time is over; returns the number of rounds.
fn fuzz(format: &'static str, seed: u64, time: Option<Duration>) -> u64 {
    let (sample, others) = (bytes(format), FORMATS.iter().map(|f| bytes(f.name)).collect::<Vec<_>>());
    let begun = Instant::now();
    let mut round = 0;
    let mut bound = Bound::new(100_000_000);
    while time.map_or(round < ROUNDS, |time| begun.elapsed() < time) {
        bound.step();
        let seed = seed.wrapping_add(round);
        let mut rng = Rng::new(seed, format);
        let other = &others[rng.below(others.len() as u64) as usize];
        let content = damaged(&sample, other, &mut rng);
        let by_name = (rng.below(4) > 0).then_some(format);
        let outcome = catch_unwind(AssertUnwindSafe(|| read(&content, by_name, &mut rng)));
        let problem = match outcome {
            Ok(Ok(())) => None,
            Ok(Err(what)) => Some(what),
            Err(_) => Some("panicked".to_owned()),
        };
        if let Some(what) = problem {
            let hex: String = content.iter().map(|b| format!("{b:02x}")).collect();
            panic!("{format}, seed {seed}: {what}\n{hex}");
        }
        round += 1;
    }
    round
}

#[test]
fn damaged_samples_of_every_format_are_survived() {
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    let (time, seed) = (number("FLOATGATE_FUZZ_SECONDS"), number("FLOATGATE_FUZZ_SEED").unwrap_or(1));
    // Formats that are read outside of the core have their own fuzzer (scripts/fuzz.py).
    let own = FORMATS.iter().map(|f| f.name).filter(|n| !["parquet", "strace", "perf-script"].contains(n));
    let left = Mutex::new(own.collect::<Vec<_>>());
    std::thread::scope(|scope| {
        let worker = || {
            let mut bound = Bound::new(100_000_000);
            loop {
                bound.step();
                let Some(format) = left.lock().unwrap().pop() else { return };
                let rounds = fuzz(format, seed, time.map(Duration::from_secs));
                println!("{format}: {rounds} rounds from seed {seed}");
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        for handle in handles {
            if let Err(panic) = handle.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
}
