//! Tests of jobs: two sources and two targets, orders, urgencies, and reads that start jobs. All run under the shadow
//! model of a timed array.

use super::{Job, Order, Planned, Request, Step, Target, Urgency};
use crate::ftl::Ftl;
use crate::level::relocating_tests::Params as Relocating;
use crate::pool::Want;
use crate::units::NOT_INDEXED;
use crate::{Level, Separate, Setup};
use floatgate_base::extents::{Extents, Kind};
use floatgate_base::testing::Bound;
use floatgate_base::{DomainId, Lpn, Ppn, Rng, UnitId};
use floatgate_flash::timed::{Phases, Settings};
use floatgate_flash::{Cause, Flash, Layout, Scope, Shadow, Timed};
use floatgate_nand::Geometry;
use floatgate_snapshot::{Kind as FileKind, Reader, Writer};

const LOGICAL: u32 = 96;
const PAGES: u32 = 8;
const DOMAINS: u32 = 4;

/// A timed drive of four dies, one plane each.
struct Drive {
    ftl: Ftl,
    flash: Shadow<Timed>,
    now_ns: u64,
}

impl Drive {
    fn new(level: Level, background_free_units: u32) -> Self {
        Self::with(level, background_free_units, Separate::None)
    }

    fn with(level: Level, background_free_units: u32, separate: Separate) -> Self {
        let geometry = Geometry {
            channels: 2,
            chips_per_channel: 2,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 8,
            pages_per_block: PAGES,
            page_bytes: 4096,
        };
        let setup = Setup {
            idle_jobs: background_free_units > 0,
            background_free_units,
            separate,
            level,
            ..Setup::plain(LOGICAL)
        };
        let layout = Layout::new(geometry, Scope::Plane);
        // A program takes 19 % longer in mode 1.
        let mut phases = Phases { modes: 2, ..Phases::plain(10, 50, 500, 3000) };
        phases.rows[0][1].program_ns = 595;
        let timed = Timed::new(layout.clone(), Settings::plain(phases));
        let mut flash = Shadow::new(timed, LOGICAL);
        flash.inner_mut().start();
        Self { ftl: Ftl::new(layout, setup), flash, now_ns: 0 }
    }

    fn serve(&mut self, kind: Kind, lpn: Lpn) {
        let mut extents = Extents::default();
        extents.push(lpn, 1, kind);
        self.now_ns += 700;
        self.flash.inner_mut().arrive(0, self.now_ns);
        self.ftl.serve(&mut self.flash, &extents).unwrap();
        self.flash.inner_mut().issued();
        self.flash.inner_mut().finish();
        self.flash.inner_mut().take_done(&mut Vec::new());
        self.now_ns = self.now_ns.max(self.flash.inner().last_ns());
    }

    /// Rewrites one page in three, at random, to leave live and dead pages in closed units.
    fn fill(&mut self, rng: &mut Rng) {
        Lpn::all(LOGICAL).for_each(|lpn| self.serve(Kind::Write, lpn));
        (0..LOGICAL / 3).for_each(|_| self.serve(Kind::Write, Lpn(rng.below(u64::from(LOGICAL)) as u32)));
    }

    fn audit(&self, what: &str) {
        self.ftl.audit(&self.flash).unwrap_or_else(|fault| panic!("{what}: {fault}"));
    }

    fn closed_in(&self, domain: u32) -> UnitId {
        let mut units = UnitId::each(UnitId(domain * 8)..UnitId((domain + 1) * 8));
        let closed = |unit: &UnitId| self.ftl.units.meta[*unit].pos != NOT_INDEXED;
        units.find(closed).expect("a unit is closed")
    }

    fn live_of(&self, unit: UnitId) -> Vec<Ppn> {
        let first = self.ftl.layout.first_page(unit);
        Ppn::each(first..first + PAGES).filter(|&ppn| self.ftl.mapping.is_live(ppn)).collect()
    }

    fn lpn_at(&self, ppn: Ppn) -> Lpn {
        self.ftl.mapping.owner_of(ppn).lpn().unwrap()
    }

    fn unit_of(&self, lpn: Lpn) -> Option<UnitId> {
        self.ftl.mapping.get(lpn).ppn().map(|ppn| self.ftl.layout.unit_of(ppn))
    }

    /// Reads all pages; the shadow model detects a wrong one.
    fn read_all(&mut self) {
        Lpn::all(LOGICAL).for_each(|lpn| self.serve(Kind::Read, lpn));
        assert_eq!(self.flash.violation(), None);
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut out = Writer::new(&mut bytes, FileKind::Drive, 1).unwrap();
        self.ftl.save(&mut out).unwrap();
        out.state("counts", &self.flash.inner().counts().saved()).unwrap();
        out.state("under way", &self.flash.inner().saved()).unwrap();
        out.finish().unwrap();
        bytes
    }

    /// Returns the same drive restored from a file.
    fn reloaded(&self, level: Level, background_free_units: u32) -> Self {
        let bytes = self.bytes();
        let mut drive = Self::with(level, background_free_units, self.ftl.setup.separate);
        let mut reader = Reader::new("t", &bytes[..], FileKind::Drive, 1).unwrap();
        drive.ftl.restore(&mut reader).unwrap();
        assert!(drive.flash.inner_mut().counts_mut().restore(reader.state("counts").unwrap()));
        assert!(drive.flash.inner_mut().restore(reader.state("under way").unwrap()));
        drive.ftl.learn_wear(drive.flash.erase_counts());
        drive.ftl.show_content(&mut drive.flash);
        drive.now_ns = self.now_ns;
        drive
    }
}

/// Requests that live pages of closed units of dies 0 and 1 are dealt to two targets on dies 2 and 3, alternating
/// between the sources.
fn mixed(drive: &Drive, urgency: Urgency, mode: u8) -> Request {
    let sources = [drive.closed_in(0), drive.closed_in(1)];
    let [a, b] = sources.map(|unit| drive.live_of(unit));
    let mut planned = Vec::new();
    for i in 0..a.len().max(b.len()) {
        let pages = [a.get(a.len().wrapping_sub(i + 1)), b.get(i)];
        planned.extend(pages.into_iter().flatten().copied());
    }
    let planned = (0..).zip(planned).map(|(i, page)| Planned { page, target: (i % 2) as u8 }).collect();
    Request {
        sources,
        order: Order::Listed(planned),
        targets: [DomainId(2), DomainId(3)].map(|domain| Target::Own {
            domain,
            want: Want::LeastWorn,
            mode,
            kept: false,
        }),
        erase: true,
        cause: Cause::Gc,
        urgency,
        then: None,
    }
}

/// Returns where each page lies, the erases of each unit, and the free units.
fn state(drive: &Drive) -> (Vec<Option<Ppn>>, Vec<u32>, u64) {
    let pages = Lpn::all(LOGICAL).map(|lpn| drive.ftl.mapping.get(lpn).ppn()).collect();
    (pages, drive.flash.erase_counts().as_slice().to_vec(), drive.ftl.free_units())
}

#[test]
fn two_sources_move_to_two_dies_in_the_order_given() {
    let mut drive = Drive::new(Level::None, 0);
    drive.fill(&mut Rng::new(3, "two sources"));
    let request = mixed(&drive, Urgency::Urgent, 0);
    let Order::Listed(planned) = request.order.clone() else { unreachable!() };
    let lpns: Vec<Lpn> = planned.iter().map(|planned| drive.lpn_at(planned.page)).collect();
    let erases = request.sources.map(|unit| drive.flash.erase_count(unit));
    let copied = drive.ftl.gc().copied_pages;
    drive.ftl.request(&mut drive.flash, request.clone()).unwrap();
    drive.audit("after the job");
    for (to, domain) in [(0, 2), (1, 3)] {
        let own: Vec<Lpn> = lpns.iter().copied().skip(to).step_by(2).collect();
        let first = drive.ftl.mapping.get(own[0]).ppn().unwrap();
        assert_eq!(drive.ftl.layout.domain_of(drive.ftl.layout.unit_of(first)), DomainId(domain));
        assert_eq!(first.0 % PAGES, 0, "a unit of the job's own is filled from its first page on");
        for (page, &lpn) in (first.0..).map(Ppn).zip(&own) {
            assert_eq!(drive.ftl.mapping.get(lpn).ppn(), Some(page), "pages keep the order that was given");
        }
    }
    assert_eq!(request.sources.map(|unit| drive.flash.erase_count(unit)), erases.map(|n| n + 1));
    assert_eq!(drive.ftl.gc().copied_pages - copied, lpns.len() as u64);
    drive.read_all();
}

#[test]
fn a_job_stopped_after_every_page_ends_as_one_that_was_not() {
    for seed in 0..20 {
        for ascending in [false, true] {
            let start = || {
                let mut drive = Drive::new(Level::None, 0);
                drive.fill(&mut Rng::new(seed, "stopped jobs"));
                let mut request = mixed(&drive, Urgency::Urgent, 0);
                if ascending {
                    request.order = Order::Ascending;
                }
                let job = Job::waiting(request, &drive.ftl.units);
                (drive, job)
            };
            let (mut whole, mut job) = start();
            whole.ftl.run_to_end(&mut whole.flash, &mut job).unwrap();
            for pages_max in 1..=2 * PAGES {
                let (mut drive, mut job) = start();
                let mut steps = 0;
                let mut bound = Bound::new(100_000);
                while drive.ftl.step(&mut drive.flash, &mut job, pages_max).unwrap() != Step::Done {
                    bound.step();
                    drive.flash.inner_mut().finish();
                    steps += 1;
                }
                assert!(steps >= 2, "moves and the first erase are steps of their own");
                assert!(
                    state(&drive) == state(&whole),
                    "seed {seed}: steps of {pages_max} pages end elsewhere"
                );
                drive.audit(&format!("seed {seed}: steps of {pages_max} pages"));
                drive.read_all();
            }
        }
    }
}

/// In idle time, page by page, with host writes between the steps; a twin is saved and restored after each step.
#[test]
fn the_host_goes_on_while_a_job_waits_and_files_keep_it() {
    let hash = Separate::of(&crate::separate::SLOT.with("hash", &[]));
    for seed in 0..30 {
        let mut rng = Rng::new(seed, "jobs and hosts");
        let separate = if seed % 3 == 0 { hash } else { Separate::None };
        let mut drive = Drive::with(Level::None, 1, separate);
        drive.fill(&mut rng);
        let request = mixed(&drive, Urgency::Proactive, 0);
        let sources = request.sources;
        drive.ftl.request(&mut drive.flash, request).unwrap();
        assert!(
            drive.ftl.wants_background_in(DomainId(0)),
            "the job waits in the domain of its first source"
        );
        let mut twin = drive.reloaded(Level::None, 1);
        let mut steps = 0;
        let mut bound = Bound::new(100_000);
        while drive.ftl.wants_background_in(DomainId(0)) && steps < 1000 {
            bound.step();
            for drive in [&mut drive, &mut twin] {
                drive.ftl.background_step(&mut drive.flash, DomainId(0)).unwrap();
                drive.flash.inner_mut().finish();
            }
            let (what, lpn) = (rng.below(4), Lpn(rng.below(u64::from(LOGICAL)) as u32));
            let kind = [Kind::Write, Kind::WritePartial, Kind::Trim, Kind::Read][what as usize];
            [&mut drive, &mut twin].into_iter().for_each(|drive| drive.serve(kind, lpn));
            drive.audit(&format!("seed {seed} step {steps}"));
            twin = twin.reloaded(Level::None, 1);
            steps += 1;
        }
        assert!(steps < 1000, "seed {seed}: the job never ends");
        assert!(sources.iter().all(|&unit| drive.flash.erase_count(unit) > 0), "seed {seed}");
        assert!(drive.bytes() == twin.bytes(), "seed {seed}: another drive comes out of the file");
        drive.read_all();
    }
}

#[test]
fn waiting_jobs_are_carried_out_by_urgency_and_then_in_order() {
    let mut drive = Drive::new(Level::None, 1);
    drive.fill(&mut Rng::new(5, "urgencies"));
    let closed = |unit: &UnitId| drive.ftl.units.meta[*unit].pos != NOT_INDEXED;
    let units: Vec<UnitId> = UnitId::all(8).filter(closed).take(3).collect();
    let urgencies = [Urgency::Leveling, Urgency::Proactive, Urgency::Proactive];
    for (&unit, urgency) in units.iter().zip(urgencies) {
        let request = Request::emptying(unit, DomainId(0), Cause::Level, urgency);
        drive.ftl.request(&mut drive.flash, request).unwrap();
    }
    let mut order = Vec::new();
    let mut bound = Bound::new(100_000);
    while drive.ftl.wants_background_in(DomainId(0)) {
        bound.step();
        drive.ftl.background_step(&mut drive.flash, DomainId(0)).unwrap();
        drive.flash.inner_mut().finish();
        for &unit in &units {
            if drive.flash.erase_count(unit) > 0 && !order.contains(&unit) {
                order.push(unit);
            }
        }
    }
    assert_eq!(order, [units[1], units[2], units[0]]);
    drive.audit("after all jobs");
    drive.read_all();
}

#[test]
fn a_job_whose_unit_was_collected_meanwhile_is_dropped() {
    let mut drive = Drive::new(Level::None, 1);
    let mut rng = Rng::new(6, "stale");
    drive.fill(&mut rng);
    let unit = drive.closed_in(0);
    let request = Request::emptying(unit, DomainId(0), Cause::Level, Urgency::Leveling);
    drive.ftl.request(&mut drive.flash, request).unwrap();
    let mut writes = 0;
    let mut bound = Bound::new(100_000);
    while drive.flash.erase_count(unit) == 0 {
        bound.step();
        drive.serve(Kind::Write, Lpn(rng.below(u64::from(LOGICAL)) as u32));
        writes += 1;
        assert!(writes < 10_000, "the unit was never collected");
    }
    let moved = drive.flash.counters().programs[Cause::Level as usize];
    let mut bound = Bound::new(100_000);
    while drive.ftl.wants_background_in(DomainId(0)) {
        bound.step();
        drive.ftl.background_step(&mut drive.flash, DomainId(0)).unwrap();
    }
    assert_eq!(drive.flash.counters().programs[Cause::Level as usize], moved, "nothing moves for it");
    drive.audit("the job is gone");
}

#[test]
fn pages_may_leave_a_unit_that_is_not_erased() {
    let mut drive = Drive::new(Level::None, 0);
    drive.fill(&mut Rng::new(7, "no erase"));
    let mut request = mixed(&drive, Urgency::Urgent, 0);
    let Order::Listed(planned) = &request.order else { unreachable!() };
    let some: Box<[Planned]> = planned.iter().copied().take(3).collect();
    let left = request.sources.map(|unit| {
        let gone = some.iter().filter(|planned| drive.ftl.layout.unit_of(planned.page) == unit).count();
        drive.live_of(unit).len() - gone
    });
    (request.order, request.erase) = (Order::Listed(some), false);
    let erases = drive.flash.erase_counts().as_slice().to_vec();
    drive.ftl.request(&mut drive.flash, request.clone()).unwrap();
    drive.audit("pages left");
    assert_eq!(request.sources.map(|unit| drive.live_of(unit).len()), left);
    assert_eq!(drive.flash.erase_counts().as_slice(), erases);
    drive.read_all();
}

/// A unit that was read ten times moves at once to the most worn free unit of the next die, in another mode.
#[test]
fn a_read_starts_a_job() {
    let mut drive = Drive::new(Level::Relocating(Relocating { reads: 10, urgent: true }), 0);
    drive.fill(&mut Rng::new(8, "reads"));
    let unit = drive.closed_in(0);
    let lpns: Vec<Lpn> = drive.live_of(unit).into_iter().map(|ppn| drive.lpn_at(ppn)).collect();
    let erases = drive.flash.erase_count(unit);
    let before_ns = drive.flash.inner().times()[floatgate_flash::Class::Background as usize].service_ns;
    for read in 1..=10 {
        assert_eq!(drive.unit_of(lpns[0]), Some(unit), "read {read}");
        drive.serve(Kind::Read, lpns[0]);
    }
    let to = drive.unit_of(lpns[0]).unwrap();
    assert_eq!(drive.ftl.layout.domain_of(to), DomainId(1));
    assert!(lpns.iter().all(|&lpn| drive.unit_of(lpn) == Some(to)), "the whole unit moved");
    let modes = [unit, to].map(|unit| drive.flash.inner().counts().mode(unit));
    assert_eq!(modes, [0, 1], "the unit that took the pages in is of another mode");
    // Each page is read on one die, sent twice, and programmed on the other.
    let service_ns =
        drive.flash.inner().times()[floatgate_flash::Class::Background as usize].service_ns - before_ns;
    assert_eq!(service_ns, lpns.len() as u64 * (50 + 10 + 10 + 595) + 3000);
    assert_eq!(drive.flash.erase_count(unit), erases + 1);
    assert_eq!(drive.ftl.leveled().moved_pages, lpns.len() as u64);
    drive.audit("moved");
    drive.read_all();
}

/// Random reads and writes with jobs that reads start, at once or in idle time. Now and then the drive is saved and
/// restored.
#[test]
fn reads_and_writes_at_random_lose_nothing() {
    for seed in 0..30 {
        let mut rng = Rng::new(seed, "relocating");
        let (urgent, background) = (seed % 2 == 0, (seed % 3) as u32);
        let level = Level::Relocating(Relocating { reads: 3 + rng.below(20) as u32, urgent });
        let mut drive = Drive::new(level, background);
        drive.fill(&mut rng);
        let mut twin = drive.reloaded(level, background);
        for step in 0..1500 {
            let (what, lpn) = (rng.below(10), Lpn(rng.below(u64::from(LOGICAL)) as u32));
            let kind = match what {
                0..=5 => Kind::Read,
                6..=8 => Kind::Write,
                _ => Kind::WritePartial,
            };
            let domain = DomainId(rng.below(u64::from(DOMAINS)) as u32);
            for drive in [&mut drive, &mut twin] {
                drive.serve(kind, lpn);
                if drive.ftl.wants_background_in(domain) {
                    drive.ftl.background_step(&mut drive.flash, domain).unwrap();
                    drive.flash.inner_mut().finish();
                }
            }
            if step % 100 == 0 {
                drive.audit(&format!("seed {seed} step {step}"));
                twin = twin.reloaded(level, background);
            }
        }
        assert!(drive.ftl.leveled().moved_pages > 0, "seed {seed}: no read started a job");
        assert!(drive.bytes() == twin.bytes(), "seed {seed}: another drive comes out of the file");
        drive.read_all();
    }
}
