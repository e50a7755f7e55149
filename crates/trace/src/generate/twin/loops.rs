//! Repeated reads over the same pages, as from scans of the same tables and files.
//!
//! A loop is a sequence of read requests that is repeated in the same order whenever it has ended. Its random numbers
//! restart, which needs no memory. Between two reads of a page lie all other pages of its loop and interleaved other
//! reads. A smaller read buffer therefore never hits the loop, however often it is read.
//!
//! Its pages lie in clusters whose length varies evenly from one request to nearly `cluster_bytes`. Each cluster has
//! `cluster_bytes` of the read-only pages for itself and begins anywhere in there; a seeded permutation scatters them.
//! The rest of a cluster's space stays with the other reads. Pages of a loop and others thus lie side by side in any
//! piece of the address space larger than a cluster.

use super::laws::{REQUEST_BYTES_MAX, Side, refuse};
use crate::generate::sizes::Sizes;
use floatgate_base::permute::Permutation;
use floatgate_base::{Result, Rng, TRACE_PAGE_BYTES};

const PAGE: u64 = TRACE_PAGE_BYTES;
/// Most loops; each read tests them one by one.
const LOOPS_MAX: usize = 16;

/// The loops of a twin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loops {
    /// For each loop its size in bytes and its share of the reads. Empty for no loops.
    pub sets: Vec<(u64, f64)>,
    /// Space reserved for a cluster of a loop; a power of two.
    pub cluster_bytes: u64,
}

/// Sizes in pages from which clusters are made.
#[derive(Clone, Copy)]
struct Shape {
    /// Space of a cluster.
    slot: u64,
    /// Everything begins and ends at its multiples: the largest power of two that divides all sizes.
    grain: u64,
    /// The largest request.
    largest: u64,
}

impl Shape {
    /// Returns the number of possible lengths of a cluster: 1 to this many grains, evenly, before its last request.
    fn lengths(self) -> u64 {
        (self.slot - self.largest) / self.grain
    }

    /// Returns a sufficient number of clusters for a loop of so many pages: each is at least as long as drawn.
    fn slots(self, pages: u64) -> u64 {
        let mean = (self.grain * (self.lengths() + 1)) as f64 / 2.0;
        let clusters = pages as f64 / mean;
        (clusters + 4.0 * clusters.sqrt()).ceil() as u64 + 2
    }
}

impl Loops {
    /// Returns the share of the reads that belong to loops.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.sets.iter().map(|(_, share)| share).sum()
    }

    fn shape(&self, reads: &Side) -> Result<Shape> {
        let list = reads.sizes.table("reads")?;
        let largest = list.iter().map(|(bytes, _)| bytes.div_ceil(PAGE)).max().unwrap_or(1);
        let grain = list.iter().map(|(bytes, _)| bytes.trailing_zeros()).min().unwrap_or(0);
        let grain = (1u64 << grain.min(24)).div_ceil(PAGE);
        Ok(Shape { slot: self.cluster_bytes / PAGE, grain, largest: largest.next_multiple_of(grain) })
    }

    pub(super) fn validate(&self, reads: &Side, read_share: f64) -> Result<()> {
        if self.sets.is_empty() {
            return Ok(());
        }
        if read_share == 0.0 {
            return Err(refuse("reads.loops", "loops without reads", "expected a read_share above 0"));
        }
        let cluster = self.cluster_bytes;
        if !cluster.is_power_of_two() || !(PAGE..=REQUEST_BYTES_MAX).contains(&cluster) {
            let expected = "expected a power of two from 4096 to 16777216";
            return Err(refuse(
                "reads.loop_cluster_bytes",
                format!("{cluster} bytes are not a valid cluster size"),
                expected,
            ));
        }
        let largest = self.shape(reads)?.largest * PAGE;
        if cluster < 2 * largest {
            let what = format!("clusters of {cluster} bytes cannot hold two reads of {largest}");
            let expected =
                format!("expected at least {}, or smaller reads", (2 * largest).next_power_of_two());
            return Err(refuse("reads.loop_cluster_bytes", what, expected));
        }
        for &(bytes, share) in &self.sets {
            if bytes < cluster || bytes > 1 << 50 || !(share > 0.0 && share <= 1.0) {
                let what = format!("[{bytes}, {share}] is not a loop with its share of the reads");
                let expected = "expected at least loop_cluster_bytes, and a share above 0 and at most 1";
                return Err(refuse("reads.loops", what, expected));
            }
        }
        if self.sets.len() > LOOPS_MAX || self.share() > 1.0 + 1e-9 {
            let what = format!("{} loops with {} of the reads", self.sets.len(), self.share());
            return Err(refuse("reads.loops", what, "expected at most 16 loops with a share of at most 1"));
        }
        Ok(())
    }

    /// Returns the pages that clusters take, each with its space, and the pages of one space; 0 without loops.
    pub(super) fn space(&self, reads: &Side) -> Result<(u64, u64)> {
        if self.sets.is_empty() {
            return Ok((0, 0));
        }
        let shape = self.shape(reads)?;
        let slots: u64 = self.sets.iter().map(|(bytes, _)| shape.slots(bytes.div_ceil(PAGE))).sum();
        Ok((slots * shape.slot, shape.slot))
    }

    /// Divides the size of every loop by `k`.
    pub(super) fn thinned(&self, k: u64) -> Self {
        let thinned = |&(bytes, share): &(u64, f64)| ((bytes / k.max(1)).max(self.cluster_bytes), share);
        Self { sets: self.sets.iter().map(thinned).collect(), ..*self }
    }

    /// Returns the share of reads that begin elsewhere than the previous one ended: runs of other reads begin once.
    pub(super) fn begun(&self, sequential_share: f64) -> f64 {
        let loops = self.share();
        (1.0 - loops) * (1.0 - sequential_share) + loops
    }
}

/// A loop with its current position.
struct Course {
    /// The loop is selected by draws below this value and above those of earlier loops.
    until: f64,
    first_slot: u64,
    slots: u64,
    pages: u64,
    /// The random numbers at the beginning.
    begin: Rng,
    rng: Rng,
    /// Next cluster.
    slot: u64,
    /// Next page, the end of the cluster, and the rest of the loop.
    at: u64,
    end: u64,
    left: u64,
}

/// All loops of a run.
pub(super) struct Courses {
    courses: Vec<Course>,
    shape: Shape,
    places: Permutation,
}

impl Courses {
    /// Creates the state of all loops; `pages` is the number of read-only pages.
    pub fn new(loops: &Loops, reads: &Side, pages: u64, seed: u64) -> Result<Option<Self>> {
        if loops.sets.is_empty() {
            return Ok(None);
        }
        let shape = loops.shape(reads)?;
        let begun = loops.begun(reads.sequential_share);
        let (mut until, mut first_slot) = (0.0, 0);
        let mut courses = Vec::with_capacity(loops.sets.len());
        for (i, &(bytes, share)) in loops.sets.iter().enumerate() {
            let pages = bytes.div_ceil(PAGE);
            let slots = shape.slots(pages);
            until += share / begun;
            let begin = Rng::new(seed, &format!("twin loop {i}"));
            let rng = begin.clone();
            courses.push(Course {
                until,
                first_slot,
                slots,
                pages,
                begin,
                rng,
                slot: 0,
                at: 0,
                end: 0,
                left: 0,
            });
            first_slot += slots;
        }
        let places = Permutation::new(pages / shape.slot, &mut Rng::new(seed, "twin loops"));
        Ok(Some(Self { courses, shape, places }))
    }

    /// Returns the first page and the bytes of the next read, if it belongs to a loop.
    #[inline]
    pub fn read(&mut self, rng: &mut Rng, sizes: &Sizes) -> Option<(u64, u64)> {
        let draw = rng.unit();
        let course = self.courses.iter_mut().find(|course| draw < course.until)?;
        if course.at >= course.end {
            course.next_cluster(self.shape, &self.places);
        }
        let (page, bytes) = (course.at, sizes.draw(&mut course.rng));
        let pages = bytes.div_ceil(PAGE).next_multiple_of(self.shape.grain);
        course.at += pages;
        course.left = course.left.saturating_sub(pages);
        Some((page, bytes))
    }
}

impl Course {
    fn next_cluster(&mut self, shape: Shape, places: &Permutation) {
        if self.left == 0 || self.slot == self.slots {
            (self.rng, self.slot, self.left) = (self.begin.clone(), 0, self.pages);
        }
        let first = places.apply(self.first_slot + self.slot) * shape.slot;
        let length = 1 + self.rng.below(shape.lengths());
        let room = shape.lengths() - length;
        self.at = first + shape.grain * self.rng.below(room + 1);
        // The last request may end after the cluster, but inside its space.
        self.end = self.at + (shape.grain * length).min(self.left);
        self.slot += 1;
    }
}
