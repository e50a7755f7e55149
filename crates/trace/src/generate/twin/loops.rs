//! Reads that go over the same pages again and again, as scans of the same tables and files do.
//!
//! A loop is a sequence of read requests that is made anew, the same requests in the same order, whenever it has come
//! to its end: its random numbers begin again, so that it takes no memory. Between two reads of a page lie all other
//! pages of its loop and what other reads come in between, so a read buffer smaller than that never meets it, however
//! often it is read.
//!
//! Its pages lie in clusters of varied length, from one request to nearly `cluster_bytes`, evenly. Each cluster has
//! `cluster_bytes` of the pages that are only read for itself and begins anywhere in there; a seeded permutation
//! scatters them. What a cluster leaves free stays with the other reads. So pages of a loop and others lie side by side
//! in any piece of the address space larger than a cluster.

use super::laws::{REQUEST_BYTES_MAX, Side, refuse};
use crate::generate::sizes::Sizes;
use floatgate_base::permute::Permutation;
use floatgate_base::{Result, Rng, TRACE_PAGE_BYTES};

const PAGE: u64 = TRACE_PAGE_BYTES;
/// Most loops; each is asked whether a read is its own.
const LOOPS_MAX: usize = 16;

/// The loops of a twin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loops {
    /// Of each loop the bytes that it goes over, and the share of the reads that do so. Empty: there are none.
    pub sets: Vec<(u64, f64)>,
    /// Space that a cluster of pages of a loop has for itself; a power of two.
    pub cluster_bytes: u64,
}

/// Counts of pages that clusters are made by.
#[derive(Clone, Copy)]
struct Shape {
    /// Space of a cluster.
    slot: u64,
    /// Everything begins and ends at multiples of it: the largest power of two that divides all sizes.
    grain: u64,
    /// The largest request.
    largest: u64,
}

impl Shape {
    /// Lengths that a cluster may have, in grains: from 1 to this, evenly, before its last request.
    fn lengths(self) -> u64 {
        (self.slot - self.largest) / self.grain
    }

    /// Clusters that are surely enough for a loop of so many pages: each is at least as long as drawn.
    fn slots(self, pages: u64) -> u64 {
        let mean = (self.grain * (self.lengths() + 1)) as f64 / 2.0;
        let clusters = pages as f64 / mean;
        (clusters + 4.0 * clusters.sqrt()).ceil() as u64 + 2
    }
}

impl Loops {
    /// Share of the reads that go to loops.
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
            return Err(refuse("reads.loops", "loops where nothing reads", "expected a read_share above 0"));
        }
        let cluster = self.cluster_bytes;
        if !cluster.is_power_of_two() || !(PAGE..=REQUEST_BYTES_MAX).contains(&cluster) {
            let expected = "expected a power of two from 4096 to 16777216";
            return Err(refuse(
                "reads.loop_cluster_bytes",
                format!("{cluster} bytes are no cluster"),
                expected,
            ));
        }
        let largest = self.shape(reads)?.largest * PAGE;
        if cluster < 2 * largest {
            let what = format!("clusters of {cluster} bytes hold no two reads of {largest}");
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

    /// Pages that clusters take, each with its space, and pages of the space of one; 0 without loops.
    pub(super) fn space(&self, reads: &Side) -> Result<(u64, u64)> {
        if self.sets.is_empty() {
            return Ok((0, 0));
        }
        let shape = self.shape(reads)?;
        let slots: u64 = self.sets.iter().map(|(bytes, _)| shape.slots(bytes.div_ceil(PAGE))).sum();
        Ok((slots * shape.slot, shape.slot))
    }

    /// The same with every set a `k`-th as large.
    pub(super) fn thinned(&self, k: u64) -> Self {
        let thinned = |&(bytes, share): &(u64, f64)| ((bytes / k.max(1)).max(self.cluster_bytes), share);
        Self { sets: self.sets.iter().map(thinned).collect(), ..*self }
    }

    /// Reads that begin elsewhere than the one before ended, by all reads: runs of other reads are begun once.
    pub(super) fn begun(&self, sequential_share: f64) -> f64 {
        let loops = self.share();
        (1.0 - loops) * (1.0 - sequential_share) + loops
    }
}

/// One loop, and where in it the reads are.
struct Course {
    /// The loop is taken where a draw lies below; those before it come first.
    until: f64,
    first_slot: u64,
    slots: u64,
    pages: u64,
    /// The random numbers at the beginning.
    begin: Rng,
    rng: Rng,
    /// Next cluster.
    slot: u64,
    /// Next page, where the cluster ends, and what is left of the loop.
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
    /// `pages` are those that are only read.
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

    /// First page and bytes of the next read, where it is a loop's.
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
        // The last request may end behind it, but inside the space of the cluster.
        self.end = self.at + (shape.grain * length).min(self.left);
        self.slot += 1;
    }
}
