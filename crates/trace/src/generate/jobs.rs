//! Jobs as in fio: a share of the requests goes to a random place, the others continue where the last one ended.
//!
//! Reads and writes share one position (fio's `rw=rw` and `rw=randrw` with `percentage_random`). A continuing request
//! begins at the next multiple of the alignment, or at the beginning if it would leave the working set.

use super::addresses::Extents;
use super::clock::Burst;
use super::refuse::setting;
use super::sizes::{Sizes, Weighted};
use floatgate_base::{Result, Rng};

/// The settings of a job beside its mix of operations, its rate and its length.
#[derive(Clone, Debug, PartialEq)]
pub struct Jobs {
    /// Share of the requests that goes to a random place.
    pub random_share: f64,
    /// Request sizes in bytes with their weights.
    pub sizes: Weighted,
    /// Alignment of requests, counted from the beginning of the working set.
    pub align_bytes: u64,
    /// First byte of the working set.
    pub offset_bytes: u64,
    /// Length of the working set; none for the rest of the space.
    pub working_set_bytes: Option<u64>,
    /// Bursts; none for even arrivals.
    pub burst: Option<Burst>,
}

impl Default for Jobs {
    fn default() -> Self {
        Self {
            random_share: 1.0,
            sizes: vec![(4096, 1.0)],
            align_bytes: 4096,
            offset_bytes: 0,
            working_set_bytes: None,
            burst: None,
        }
    }
}

impl Jobs {
    /// Checks the settings against a space of `logical_bytes`.
    pub(super) fn validate(&self, logical_bytes: u64, rate: Option<f64>) -> Result<()> {
        if !(0.0..=1.0).contains(&self.random_share) {
            let what = format!("{} is not a share", self.random_share);
            return Err(setting("random_share", what, "expected a number from 0 to 1"));
        }
        if self.sizes.is_empty() {
            return Err(setting("sizes", "an empty list of sizes", "expected pairs of bytes and weight"));
        }
        for &(bytes, weight) in &self.sizes {
            if bytes == 0 {
                return Err(setting("sizes", "a size of 0 bytes", "expected at least 1"));
            }
            if !(weight.is_finite() && weight > 0.0) {
                let what = format!("{weight} is not a weight of the size {bytes}");
                return Err(setting("sizes", what, "expected a number above 0"));
            }
        }
        if self.align_bytes == 0 {
            return Err(setting("align_bytes", "0 bytes", "expected at least 1"));
        }
        let largest = self.largest();
        let end = self.end(logical_bytes);
        if end > logical_bytes {
            let what = format!("the working set ends at byte {end} of a space of {logical_bytes}");
            return Err(setting("working_set_bytes", what, "expected one inside the drive"));
        }
        if largest > end.saturating_sub(self.offset_bytes) {
            let room = end.saturating_sub(self.offset_bytes);
            let what = format!("{largest} bytes exceed the working set of {room}");
            return Err(setting("sizes", what, "expected requests that fit the working set"));
        }
        self.validate_burst(rate)
    }

    fn validate_burst(&self, rate: Option<f64>) -> Result<()> {
        let Some(burst) = self.burst else { return Ok(()) };
        for (key, value) in [("burst_on_s", burst.on_s), ("burst_off_s", burst.off_s)] {
            if !(value > 0.0 && value <= 1e9) {
                let what = format!("{value} is not a length of time");
                return Err(setting(key, what, "expected seconds above 0, at most 1000000000"));
            }
        }
        if rate.is_none() {
            let what = "bursts require a rate";
            return Err(setting("burst_on_s", what, "expected rate_per_s, the mean over bursts and silence"));
        }
        Ok(())
    }

    fn largest(&self) -> u64 {
        self.sizes.iter().map(|(bytes, _)| *bytes).max().unwrap_or(0)
    }

    fn end(&self, logical_bytes: u64) -> u64 {
        self.working_set_bytes.map_or(logical_bytes, |bytes| self.offset_bytes.saturating_add(bytes))
    }
}

pub(super) struct JobExtents {
    sizes: Sizes,
    random_share: f64,
    align: u64,
    offset: u64,
    room: u64,
    /// End of the last request, counted from the beginning of the working set.
    next: u64,
    rng: Rng,
    size_rng: Rng,
}

impl JobExtents {
    pub fn new(jobs: &Jobs, logical_bytes: u64, rng: Rng, size_rng: Rng) -> Self {
        Self {
            sizes: Sizes::new(&jobs.sizes),
            random_share: jobs.random_share,
            align: jobs.align_bytes,
            offset: jobs.offset_bytes,
            room: jobs.end(logical_bytes) - jobs.offset_bytes,
            next: 0,
            rng,
            size_rng,
        }
    }
}

impl Extents for JobExtents {
    fn fill(&mut self, offsets: &mut Vec<u64>, bytes: &mut Vec<u64>, n: usize) {
        let first = bytes.len();
        let (mut rng, mut size_rng) = (self.rng.clone(), self.size_rng.clone());
        bytes.extend((0..n).map(|_| self.sizes.draw(&mut size_rng)));
        let (align, room, offset) = (self.align, self.room, self.offset);
        let mut next = self.next;
        let all = self.random_share >= 1.0;
        offsets.extend(bytes[first..].iter().map(|&size| {
            let start = if all || rng.unit() < self.random_share {
                rng.below((room - size) / align + 1) * align
            } else {
                let start = next.next_multiple_of(align);
                if start + size > room { 0 } else { start }
            };
            next = start + size;
            offset + start
        }));
        self.next = next;
        (self.rng, self.size_rng) = (rng, size_rng);
    }
}
