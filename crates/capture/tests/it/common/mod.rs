//! Code shared by the tests of captures.
// A fuzzer runs for a limited time; the core itself has no clock.
#![allow(missing_docs, clippy::disallowed_types)]

use std::time::{Duration, Instant};

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
