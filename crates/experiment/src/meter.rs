//! Clocks, memory and build settings, for the `run` table of a result, the only part that may differ between two runs,
//! and for the beginning of a live drive.
#![allow(clippy::disallowed_types)] // Measuring the run is this module's purpose; no result depends on it.

use serde_json::{Value, json};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Returns the build settings: cargo's profile, and link-time optimization as set in the manifest or the environment.
#[must_use]
pub fn build() -> Value {
    json!({ "profile": env!("FLOATGATE_BUILD_PROFILE"), "lto": env!("FLOATGATE_BUILD_LTO") })
}

/// Wall time and CPU time of this thread since the start.
#[derive(Clone, Copy, Debug)]
pub struct Meter {
    wall: Instant,
    cpu_s: f64,
}

impl Meter {
    /// Starts measuring.
    #[must_use]
    pub fn start() -> Self {
        Self { wall: Instant::now(), cpu_s: thread_cpu_s() }
    }

    /// Returns the elapsed seconds.
    #[must_use]
    pub fn wall_s(&self) -> f64 {
        self.wall.elapsed().as_secs_f64()
    }

    /// Returns the elapsed time as a duration.
    #[must_use]
    pub fn wall(&self) -> Duration {
        self.wall.elapsed()
    }

    /// Returns the seconds of this thread's CPU time.
    #[must_use]
    pub fn cpu_s(&self) -> f64 {
        thread_cpu_s() - self.cpu_s
    }

    /// Returns whether `period` has passed since `last`; if so, `last` becomes now.
    #[must_use]
    pub fn every(&self, period: Duration, last: &mut Duration) -> bool {
        let now = self.wall.elapsed();
        let due = now >= *last + period;
        if due {
            *last = now;
        }
        due
    }
}

/// Returns the time since 1970, nanoseconds, for the beginning of a live drive's journal.
#[must_use]
pub fn since_1970_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns the CPU time of the calling thread, seconds.
#[must_use]
pub fn thread_cpu_s() -> f64 {
    cpu_s(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Returns the CPU time of all threads of the process, seconds.
#[must_use]
pub fn process_cpu_s() -> f64 {
    cpu_s(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn cpu_s(clock: libc::clockid_t) -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec that the call fills.
    let status = unsafe { libc::clock_gettime(clock, &raw mut time) };
    if status == 0 { time.tv_sec as f64 + time.tv_nsec as f64 / 1e9 } else { f64::NAN }
}

/// Returns the largest resident size of the process so far, bytes; None if the system does not report it.
#[must_use]
pub fn peak_rss_bytes() -> Option<u64> {
    // Not getrusage: its value survives exec and would be the parent's size.
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}
