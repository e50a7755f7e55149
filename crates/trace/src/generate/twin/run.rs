//! Generates the requests of a twin.
//!
//! The address space is divided into extents. Written pages take their extents in the order of their birth, read-only
//! pages take others; a seeded permutation scatters all of them. Neighbours in birth are therefore neighbours on the
//! drive only within an extent. A request that continues a run stays inside its extent.

use super::arrivals::Arrivals;
use super::laws::Side;
use super::loops::Courses;
use super::mix;
use super::region::{Region, Start};
use super::sets::Recurring;
use super::statistics::{Division, Twin};
use crate::generate::sizes::Sizes;
use floatgate_base::permute::Permutation;
use floatgate_base::{Op, RequestBatch, Result, Rng, TRACE_PAGE_BYTES};
use std::sync::Arc;

const PAGE: u64 = TRACE_PAGE_BYTES;
/// Requests between two updates of the number of distinct pages due.
const STRIDE: u64 = 1024;

/// Where a continuing request would begin.
#[derive(Clone, Copy)]
struct Last {
    op: Op,
    /// Kind of pages: 0 written, 1 read of the written, 2 only read.
    region: usize,
    /// Its end in bytes by birth.
    end: u64,
    /// Whether sizes depend on the place.
    recurs: bool,
}

/// Where a request begins, in bytes by birth.
struct Place {
    region: usize,
    start: u64,
    bytes: u64,
    recurs: bool,
}

impl Place {
    fn again(region: usize, start: Start) -> Self {
        Self { region, start: start.start, bytes: u64::from(start.bytes), recurs: true }
    }
}

/// Draws for one operation.
struct Draws {
    sizes: Sizes,
    sequential: f64,
    aligned: f64,
    recurring: f64,
}

impl Draws {
    fn new(side: &Side, key: &str, there: bool) -> Result<Self> {
        let list = if there { side.sizes.table(key)? } else { vec![(PAGE, 1.0)] };
        Ok(Self {
            sizes: Sizes::new(&list),
            sequential: side.sequential_share,
            aligned: side.aligned_share,
            recurring: side.recurring_share,
        })
    }
}

/// Returns the salt of a region: read-only pages differ from written ones.
fn salt(region: usize) -> u64 {
    if region == 2 { 1 << 63 } else { 0 }
}

/// Generates the requests of a twin, repeatedly.
pub struct Run {
    twin: Arc<Twin>,
    seed: u64,
    /// Reads, writes.
    draws: [Draws; 2],
    division: Division,
    /// Position of each extent.
    extents: Permutation,
    /// Pages of the twin's space, and of the space to which they are stretched or shrunk.
    scale: Option<(u64, u64)>,
    arrivals: Arrivals,
    regions: [Region; 3],
    loops: Option<Courses>,
    sets: Option<Recurring>,
    due_shares: [f64; 3],
    last: Option<Last>,
    /// Share of reads among runs, chosen for the right share of reads among requests.
    runs_of_reads: f64,
    /// Whether only the position within a page counts.
    counting: bool,
    made: u64,
    rng: Rng,
    size_rng: Rng,
}

impl Run {
    /// Prepares a twin; `target_bytes` is the space to which its footprint is stretched or shrunk.
    ///
    /// # Errors
    /// As for [`Twin::validate`].
    pub fn new(twin: Arc<Twin>, target_bytes: Option<u64>, seed: u64) -> Result<Self> {
        let division = Division::of(&twin)?;
        let space = (twin.footprint_bytes / (division.extent_pages * PAGE)).max(1);
        let scale = target_bytes.map(|bytes| (space * division.extent_pages, (bytes / PAGE).max(1)));
        let there = [twin.read_share > 0.0, twin.read_share < 1.0];
        let draws =
            [Draws::new(&twin.reads, "reads", there[0])?, Draws::new(&twin.writes, "writes", there[1])?];
        // Runs of reads and of writes differ in length, but requests of the two must have their shares.
        let reads = twin.read_share * twin.loops.begun(draws[0].sequential);
        let writes = (1.0 - twin.read_share) * twin.sets.begun(draws[1].sequential);
        Ok(Self {
            extents: Permutation::new(space, &mut Rng::new(seed, "twin extents")),
            scale,
            arrivals: Arrivals::new(&twin, seed),
            regions: regions(&twin, &division, seed)?,
            loops: loops(&twin, &division, seed)?,
            sets: sets(&twin, seed),
            due_shares: [1.0; 3],
            last: None,
            runs_of_reads: reads / (reads + writes),
            counting: false,
            made: 0,
            rng: Rng::new(seed, "twin requests"),
            size_rng: Rng::new(seed, "twin sizes"),
            draws,
            division,
            seed,
            twin,
        })
    }

    /// Omits pages if only counts are needed, unless loops, sets or recurring requests make sizes depend on the place.
    #[must_use]
    pub fn counting(mut self) -> Self {
        let plain = self.loops.is_none() && self.sets.is_none();
        self.counting = plain && self.draws.iter().all(|draws| draws.recurring <= 0.0);
        self
    }

    /// Appends the next `n` requests. After the last one the twin repeats: the same requests, later.
    pub fn fill(&mut self, batch: &mut RequestBatch, n: usize) {
        batch.device.resize(batch.device.len() + n, 0);
        let mut left = n;
        while left > 0 {
            if self.made == self.twin.requests {
                self.begin_again();
            }
            if !self.counting && self.made.is_multiple_of(STRIDE) {
                let progress =
                    (self.made + STRIDE).min(self.twin.requests) as f64 / self.twin.requests as f64;
                self.due_shares = std::array::from_fn(|i| self.regions[i].due_share(progress));
            }
            let to_look = STRIDE - self.made % STRIDE;
            let chunk = to_look.min(self.twin.requests - self.made).min(left as u64) as usize;
            self.arrivals.fill(&mut batch.time_ns, chunk);
            for _ in 0..chunk {
                let (op, offset, bytes) = if self.counting { self.counted() } else { self.request() };
                batch.op.push(op);
                batch.offset.push(offset);
                batch.bytes.push(bytes);
            }
            self.made += chunk as u64;
            left -= chunk;
        }
    }

    /// Resets everything except the times and their random numbers.
    fn begin_again(&mut self) {
        self.arrivals.next_pass();
        self.regions = regions(&self.twin, &self.division, self.seed).expect("the same as before");
        self.loops = loops(&self.twin, &self.division, self.seed).expect("the same as before");
        self.sets = sets(&self.twin, self.seed);
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
        if let (Op::Write, None) = (op, &went_on)
            && let Some(place) = self.member()
        {
            return self.make(op, place, false);
        }
        let bytes = match &went_on {
            Some(last) if last.recurs => self.bytes_at(op, last.region, last.end),
            _ => self.draws[op as usize].sizes.draw(&mut self.size_rng),
        };
        let place = went_on.and_then(|last| self.go_on(last, bytes)).or_else(|| self.jump(op, bytes));
        match place {
            Some(place) => self.make(op, place, true),
            None => {
                // A read that requires a written page before one exists.
                self.last = None;
                (op, self.on_drive(0, 0, bytes), bytes)
            }
        }
    }

    /// Makes a request with the right position within its page; all requests of an operation begin in the same pages.
    #[inline]
    fn counted(&mut self) -> (Op, u64, u64) {
        let went_on = self.last.filter(|last| self.rng.unit() < self.draws[last.op as usize].sequential);
        let op = match went_on {
            Some(last) => last.op,
            None if self.runs_of_reads > 0.0 && self.rng.unit() < self.runs_of_reads => Op::Read,
            None => Op::Write,
        };
        let draws = &self.draws[op as usize];
        let bytes = draws.sizes.draw(&mut self.size_rng);
        let within = match went_on {
            Some(last) => last.end % PAGE,
            None if draws.aligned >= 1.0 || self.rng.unit() < draws.aligned => 0,
            None => 512 * (1 + self.rng.below(7)),
        };
        self.last = Some(Last { op, region: 0, end: within + bytes, recurs: false });
        (op, within, bytes)
    }

    /// Makes a request, which another may continue.
    fn make(&mut self, op: Op, place: Place, runs_on: bool) -> (Op, u64, u64) {
        let Place { region, start, bytes, recurs } = place;
        self.regions[region].touch(start, bytes);
        self.last = runs_on.then_some(Last { op, region, end: start + bytes, recurs });
        (op, self.on_drive(region, start, bytes), bytes)
    }

    /// Returns a member of a set, if one is due.
    fn member(&mut self) -> Option<Place> {
        let sets = self.sets.as_mut()?;
        let (all, known) = self.regions[0].starts();
        let there = u128::from(sets.count) * u128::from(known) / u128::from(all);
        let start = sets.next(there as u64)?.start(sets.count, all);
        self.regions[0].start(start).map(|start| Place::again(0, start))
    }

    /// Returns the place after the last request, unless its extent or the born pages end there.
    fn go_on(&self, last: Last, bytes: u64) -> Option<Place> {
        let extent = self.division.extent_pages * PAGE;
        let end_page = (last.end + bytes - 1) / PAGE;
        let fits = !last.end.is_multiple_of(extent) && last.end / extent == (last.end + bytes - 1) / extent;
        let region = &self.regions[last.region];
        // A run of new pages continues with new pages, one of old pages stays with old ones.
        let at_edge = last.end.div_ceil(PAGE) >= region.born;
        let inside = match last.region {
            1 => end_page < self.regions[0].born,
            other => end_page < self.limit(other),
        };
        let Last { region: number, end: start, recurs, .. } = last;
        let place = Place { region: number, start, bytes, recurs };
        (fits && inside && (at_edge || end_page < region.born)).then_some(place)
    }

    fn limit(&self, region: usize) -> u64 {
        let extents = [self.division.written, self.division.written, self.division.read_only][region];
        extents * self.division.extent_pages
    }

    /// Draws a new place: popular or new. None for a read without any readable page.
    fn jump(&mut self, op: Op, bytes: u64) -> Option<Place> {
        let aligned = self.draws[op as usize].aligned;
        let within =
            if aligned >= 1.0 || self.rng.unit() < aligned { 0 } else { 512 * (1 + self.rng.below(7)) };
        let pages = (within + bytes).div_ceil(PAGE);
        let region = match op {
            Op::Read => self.region_of_read(pages)?,
            _ => 0,
        };
        let limit = if region == 1 { self.regions[0].born } else { self.limit(region) };
        let new = self.regions[region].new_place(pages, self.due_shares[region], limit);
        if new.is_none()
            && let Some(place) = self.recur(op, region, limit)
        {
            return Some(place);
        }
        let page = new.unwrap_or_else(|| self.regions[region].known_place(pages, limit));
        let page = self.in_extent(page, pages);
        Some(Place { region, start: page * PAGE + within, bytes, recurs: false })
    }

    /// Returns the start of an earlier request, if a recurring one is due.
    fn recur(&mut self, op: Op, region: usize, limit: u64) -> Option<Place> {
        let share = self.draws[op as usize].recurring;
        if share <= 0.0 || self.rng.unit() >= share {
            return None;
        }
        self.regions[region].known_start(limit).map(|start| Place::again(region, start))
    }

    /// Returns the size of every request that begins at this byte.
    fn bytes_at(&self, op: Op, region: usize, start: u64) -> u64 {
        self.draws[op as usize].sizes.of(mix(mix(start) ^ salt(region) ^ op as u64))
    }

    /// Moves a request that would cross the end of an extent to an earlier place, on born pages.
    fn in_extent(&self, page: u64, pages: u64) -> u64 {
        let extent = self.division.extent_pages;
        if page / extent == (page + pages - 1) / extent { page } else { (page / extent + 1) * extent - pages }
    }

    /// Selects the pages of a read: written ones, if due and there are enough of them, otherwise others, if there are
    /// any.
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

    /// Converts bytes by birth to bytes of the drive.
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

fn sets(twin: &Twin, seed: u64) -> Option<Recurring> {
    Recurring::new(&twin.sets, twin.writes.sequential_share, seed)
}

fn regions(twin: &Twin, division: &Division, seed: u64) -> Result<[Region; 3]> {
    let region = |visits, due, (side, key): (&Side, &str), name, keeps: bool| -> Result<Region> {
        let region = Region::new(visits, due, seed, name);
        if !keeps {
            return Ok(region);
        }
        let starts = due as f64 / side.pages(key)?;
        Ok(region.with_starts(visits, starts as u64, seed, name))
    };
    let (reads, writes) = ((&twin.reads, "reads"), (&twin.writes, "writes"));
    let [again_read, again_written] = [reads, writes].map(|(side, _)| side.recurring_share > 0.0);
    let [written, read_written, only_read] = division.due;
    Ok([
        region(&twin.rewrites, written, writes, "written", again_written || twin.sets.any())?,
        region(&twin.rereads_of_written, read_written, reads, "read of the written", again_read)?,
        region(&twin.rereads, only_read, reads, "only read", again_read)?,
    ])
}
