//! Code shared by the tests of captures.
// A fuzzer runs for a limited time; the core itself has no clock.
#![allow(missing_docs, clippy::disallowed_types)]

use floatgate_capture::{Geometry, Measurement, ReadOptions};
use std::path::Path;
use std::time::{Duration, Instant};

/// Returns the measurement of captures of a drive with one die and pages of 4 KiB, without any option.
pub fn measurement(paths: &[&Path]) -> Measurement {
    Measurement {
        paths: paths.iter().map(|path| path.to_str().unwrap().to_owned()).collect(),
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
            page_bytes: 4096,
            pages_per_block: None,
            blocks_per_plane: None,
        },
        multi_page: None,
        host: None,
    }
}

/// Returns the seeds of a fuzzer: `rounds` of them, or under `make fuzz` as many as fit into `FLOATGATE_FUZZ_SECONDS`,
/// beginning at `FLOATGATE_FUZZ_SEED`.
pub fn fuzz_seeds(rounds: u64) -> impl Iterator<Item = u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let time = number("FLOATGATE_FUZZ_SECONDS").map(Duration::from_secs);
    let (begun, first) = (Instant::now(), number("FLOATGATE_FUZZ_SEED").unwrap_or(0));
    (0..)
        .take_while(move |&round| time.map_or(round < rounds, |time| begun.elapsed() < time))
        .map(move |round| first.wrapping_add(round))
}
