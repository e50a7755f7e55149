//! Requests of a twin.
//!
//! The address space is cut into extents. Written pages take their extents in the order of their birth, pages that are
//! only read take others; a seeded permutation scatters all of them, so that neighbours in birth are neighbours on the
//! drive inside an extent only. A request that runs on stays inside its extent.

use super::arrivals::Arrivals;
use super::laws::Side;
use super::loops::Courses;
use super::region::Region;
use super::statistics::{Division, Twin};
use crate::generate::sizes::Sizes;
use floatgate_base::permute::Permutation;
use floatgate_base::{Op, RequestBatch, Result, Rng, TRACE_PAGE_BYTES};
use std::sync::Arc;

const PAGE: u64 = TRACE_PAGE_BYTES;
/// Requests between two looks at how many distinct pages are due.
const STRIDE: u64 = 1024;

/// Where a request goes on, if the next one does.
#[derive(Clone, Copy)]
struct Last {
    op: Op,
    /// Which pages: 0 written, 1 read of the written, 2 only read.
    region: usize,
    /// Its end in bytes by birth.
    end: u64,
}

/// Draws for one operation.
struct Draws {
    sizes: Sizes,
    sequential: f64,
    aligned: f64,
}

impl Draws {
    fn new(side: &Side, key: &str, there: bool) -> Result<Self> {
        let list = if there { side.sizes.table(key)? } else { vec![(PAGE, 1.0)] };
        Ok(Self { sizes: Sizes::new(&list), sequential: side.sequential_share, aligned: side.aligned_share })
    }
}

/// Makes the requests of a twin, again and again.
pub struct Run {
    twin: Arc<Twin>,
    seed: u64,
    /// Reads, writes.
    draws: [Draws; 2],
    division: Division,
    /// Where each extent lies.
    extents: Permutation,
    /// Pages of the twin's space, and of the space that they are stretched or shrunk to.
    scale: Option<(u64, u64)>,
    arrivals: Arrivals,
    regions: [Region; 3],
    loops: Option<Courses>,
    due_shares: [f64; 3],
    last: Option<Last>,
    /// Share of the runs that reads, so that the share of the requests comes out.
    runs_of_reads: f64,
    made: u64,
    rng: Rng,
    size_rng: Rng,
}

impl Run {
    /// Prepares a twin; `target_bytes` is the space that its footprint is stretched or shrunk to.
    ///
    /// # Errors
    /// As [`Twin::validate`].
    pub fn new(twin: Arc<Twin>, target_bytes: Option<u64>, seed: u64) -> Result<Self> {
        let division = Division::of(&twin)?;
        let space = (twin.footprint_bytes / (division.extent_pages * PAGE)).max(1);
        let scale = target_bytes.map(|bytes| (space * division.extent_pages, (bytes / PAGE).max(1)));
        let there = [twin.read_share > 0.0, twin.read_share < 1.0];
        let draws =
            [Draws::new(&twin.reads, "reads", there[0])?, Draws::new(&twin.writes, "writes", there[1])?];
        // Runs of reads and of writes differ in length; requests of the two must still have their shares.
        let reads = twin.read_share * twin.loops.begun(draws[0].sequential);
        let writes = (1.0 - twin.read_share) * (1.0 - draws[1].sequential);
        Ok(Self {
            extents: Permutation::new(space, &mut Rng::new(seed, "twin extents")),
            scale,
            arrivals: Arrivals::new(&twin, seed),
            regions: regions(&twin, &division, seed),
            loops: loops(&twin, &division, seed)?,
            due_shares: [1.0; 3],
            last: None,
            runs_of_reads: reads / (reads + writes),
            made: 0,
            rng: Rng::new(seed, "twin requests"),
            size_rng: Rng::new(seed, "twin sizes"),
            draws,
            division,
            seed,
            twin,
        })
    }

    /// Appends the next `n` requests. Behind the last one the twin begins again: the same requests, later.
    pub fn fill(&mut self, batch: &mut RequestBatch, n: usize) {
        batch.device.resize(batch.device.len() + n, 0);
        let mut left = n;
        while left > 0 {
            if self.made == self.twin.requests {
                self.begin_again();
            }
            if self.made.is_multiple_of(STRIDE) {
                let progress =
                    (self.made + STRIDE).min(self.twin.requests) as f64 / self.twin.requests as f64;
                self.due_shares = std::array::from_fn(|i| self.regions[i].due_share(progress));
            }
            let to_look = STRIDE - self.made % STRIDE;
            let chunk = to_look.min(self.twin.requests - self.made).min(left as u64) as usize;
            self.arrivals.fill(&mut batch.time_ns, chunk);
            for _ in 0..chunk {
                let (op, offset, bytes) = self.request();
                batch.op.push(op);
                batch.offset.push(offset);
                batch.bytes.push(bytes);
            }
            self.made += chunk as u64;
            left -= chunk;
        }
    }

    /// All but the times and their random numbers starts anew.
    fn begin_again(&mut self) {
        self.arrivals.next_pass();
        self.regions = regions(&self.twin, &self.division, self.seed);
        self.loops = loops(&self.twin, &self.division, self.seed).expect("the same as before");
        self.last = None;
        self.made = 0;
        self.rng = Rng::new(self.seed, "twin requests");
        self.size_rng = Rng::new(self.seed, "twin sizes");
    }

    fn request(&mut self) -> (Op, u64, u64) {
        let went_on = self.last.filter(|last| self.rng.unit() < self.draws[last.op as usize].sequential);
        let op = match went_on {
            Some(last) => last.op,
            None if self.runs_of_reads > 0.0 && self.rng.unit() < self.runs_of_reads => Op::Read,
            None => Op::Write,
        };
        if let (Op::Read, None, Some(loops)) = (op, &went_on, &mut self.loops)
            && let Some((page, bytes)) = loops.read(&mut self.rng, &self.draws[0].sizes)
        {
            self.last = None;
            return (op, self.on_drive(2, page * PAGE, bytes), bytes);
        }
        let bytes = self.draws[op as usize].sizes.draw(&mut self.size_rng);
        let place = went_on.and_then(|last| self.go_on(last, bytes)).or_else(|| self.jump(op, bytes));
        let Some((region, start)) = place else {
            // A read that wants a written page before there is one.
            self.last = None;
            return (op, self.on_drive(0, 0, bytes), bytes);
        };
        self.regions[region].touch(start / PAGE, (start + bytes - 1) / PAGE);
        self.last = Some(Last { op, region, end: start + bytes });
        (op, self.on_drive(region, start, bytes), bytes)
    }

    /// The place behind the last request, unless its extent or the born pages end there.
    fn go_on(&self, last: Last, bytes: u64) -> Option<(usize, u64)> {
        let extent = self.division.extent_pages * PAGE;
        let end_page = (last.end + bytes - 1) / PAGE;
        let fits = !last.end.is_multiple_of(extent) && last.end / extent == (last.end + bytes - 1) / extent;
        let region = &self.regions[last.region];
        // A run of new pages goes on with new pages, one of old pages stays with old ones.
        let at_edge = last.end.div_ceil(PAGE) >= region.born;
        let inside = match last.region {
            1 => end_page < self.regions[0].born,
            other => end_page < self.limit(other),
        };
        (fits && inside && (at_edge || end_page < region.born)).then_some((last.region, last.end))
    }

    fn limit(&self, region: usize) -> u64 {
        let extents = [self.division.written, self.division.written, self.division.read_only][region];
        extents * self.division.extent_pages
    }

    /// A new place: popular or new. None for a read where there is nothing that it could read.
    fn jump(&mut self, op: Op, bytes: u64) -> Option<(usize, u64)> {
        let aligned = self.draws[op as usize].aligned;
        let within =
            if aligned >= 1.0 || self.rng.unit() < aligned { 0 } else { 512 * (1 + self.rng.below(7)) };
        let pages = (within + bytes).div_ceil(PAGE);
        let region = match op {
            Op::Read => self.region_of_read(pages)?,
            _ => 0,
        };
        let limit = if region == 1 { self.regions[0].born } else { self.limit(region) };
        let mut page = self.regions[region].place(pages, self.due_shares[region], limit);
        // No request crosses the end of an extent; a new one then begins a little earlier, on pages that are born.
        let extent = self.division.extent_pages;
        if page / extent != (page + pages - 1) / extent {
            page = (page / extent + 1) * extent - pages;
        }
        Some((region, page * PAGE + within))
    }

    /// Pages that were written before, where they are asked for and there are enough, or others, where there are any.
    fn region_of_read(&mut self, pages: u64) -> Option<usize> {
        let share = self.twin.reads_of_written_share;
        let wanted = share >= 1.0 || (share > 0.0 && self.rng.unit() < share);
        let written = self.regions[0].born >= pages;
        match (wanted && written, self.division.read_only > 0) {
            (true, _) => Some(1),
            (false, true) => Some(2),
            (false, false) => written.then_some(1),
        }
    }

    /// From bytes by birth to bytes of the drive.
    fn on_drive(&self, region: usize, start: u64, bytes: u64) -> u64 {
        let extent = self.division.extent_pages * PAGE;
        let first = if region == 2 { self.division.written } else { 0 };
        let offset = self.extents.apply(first + start / extent) * extent + start % extent;
        match self.scale {
            None => offset,
            Some((from, to)) => {
                let page = (u128::from(offset / PAGE) * u128::from(to) / u128::from(from)) as u64;
                (page * PAGE + offset % PAGE).min((to * PAGE).saturating_sub(bytes))
            }
        }
    }
}

fn loops(twin: &Twin, division: &Division, seed: u64) -> Result<Option<Courses>> {
    Courses::new(&twin.loops, &twin.reads, division.read_only * division.extent_pages, seed)
}

fn regions(twin: &Twin, division: &Division, seed: u64) -> [Region; 3] {
    [
        Region::new(&twin.rewrites, division.due[0], seed, "written"),
        Region::new(&twin.rereads_of_written, division.due[1], seed, "read of the written"),
        Region::new(&twin.rereads, division.due[2], seed, "only read"),
    ]
}
