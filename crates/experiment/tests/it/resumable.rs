//! A job may be stopped after any page and resumed: the end is the same as without interruption.

use crate::common::recorder::{Command, Recorder};
use floatgate_base::testing::Bound;
use floatgate_base::{DomainId, ExtentKind, Extents, Lpn, Rng, UnitId};
use floatgate_flash::{Cause, Flash, Layout, Scope};
use floatgate_ftl::jobs::{Job, Request, Step, Urgency};
use floatgate_ftl::{Ftl, Separate, Setup};
use floatgate_nand::Geometry;

const PAGES: u32 = 24;
const BLOCKS: u32 = 8;

/// A drive whose host block, number 0, has just been filled: some of its pages are dead, and it is in no index yet.
fn drive(seed: u64) -> (Ftl, Recorder) {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: BLOCKS,
        pages_per_block: PAGES,
        page_bytes: 4096,
    };
    let layout = Layout::new(geometry, Scope::Plane);
    let setup = Setup { separate: Separate::HostGc, ..Setup::plain(60) };
    let mut ftl = Ftl::new(layout.clone(), setup);
    let mut flash = Recorder::new(layout);
    let mut rng = Rng::new(seed, "resumable");
    let mut extents = Extents::default();
    (0..PAGES).for_each(|_| extents.push(Lpn(rng.below(30) as u32), 1, ExtentKind::Write));
    ftl.serve(&mut flash, &extents).unwrap();
    (ftl, flash)
}

fn one(kind: ExtentKind, lpn: u32) -> Extents {
    let mut extents = Extents::default();
    extents.push(Lpn(lpn), 1, kind);
    extents
}

/// Empties block 0 by steps; `between` may act as the host between two steps.
fn migrate(
    ftl: &mut Ftl,
    flash: &mut Recorder,
    pages_max: u32,
    mut between: impl FnMut(&mut Ftl, &mut Recorder, u32),
) -> u32 {
    let request = Request::emptying(UnitId(0), DomainId(0), Cause::Gc, Urgency::Collection);
    let mut job = Job::begun(request, flash.layout());
    let mut steps = 1;
    let mut bound = Bound::new(100_000);
    while ftl.step(flash, &mut job, pages_max).unwrap() != Step::Done {
        bound.step();
        between(ftl, flash, steps);
        steps += 1;
    }
    steps
}

/// The visible state of a drive: place of each page, operations, free units.
fn state(mut ftl: Ftl, mut flash: Recorder) -> (Vec<Command>, Vec<u32>, u64) {
    (0..60).for_each(|lpn| ftl.serve(&mut flash, &one(ExtentKind::Read, lpn)).unwrap());
    (flash.commands.clone(), flash.erase_counts().as_slice().to_vec(), ftl.free_units())
}

#[test]
fn any_step_gives_the_same_end() {
    for seed in crate::common::seeds(50) {
        let (mut ftl, mut flash) = drive(seed);
        assert_eq!(migrate(&mut ftl, &mut flash, u32::MAX, |_, _, _| {}), 1);
        let copies = flash.counters().programs[Cause::Gc as usize] as u32;
        let whole = state(ftl, flash);
        for pages_max in 1..=PAGES {
            let (mut ftl, mut flash) = drive(seed);
            let steps = migrate(&mut ftl, &mut flash, pages_max, |_, _, _| {});
            // The erase is a step of its own.
            assert_eq!(steps, copies.div_ceil(pages_max) + 1, "seed {seed}: steps of {pages_max} pages");
            assert!(state(ftl, flash) == whole, "seed {seed}: steps of {pages_max} pages end elsewhere");
        }
    }
}

/// The host may read and give up pages between two steps: reads find the newest copy, and a page given up before its
/// turn is not moved.
#[test]
fn the_host_goes_on_between_steps() {
    for seed in crate::common::seeds(50) {
        let (mut ftl, mut flash) = drive(seed);
        let mut rng = Rng::new(seed, "between");
        let mut gone = Vec::new();
        migrate(&mut ftl, &mut flash, 2, |ftl, flash, _| {
            let lpn = rng.below(30) as u32;
            ftl.serve(flash, &one(ExtentKind::Trim, lpn)).unwrap();
            gone.push((lpn, flash.commands.len()));
            ftl.serve(flash, &one(ExtentKind::Read, rng.below(30) as u32)).unwrap();
        });
        for (lpn, at) in gone {
            let later = &flash.commands[at..];
            let moved = later.iter().any(|c| matches!(c, Command::Copy(_, _, l) if l.0 == lpn));
            let read_later = later.iter().any(|c| matches!(c, Command::Read(_, l) if l.0 == lpn));
            assert!(
                !moved && !read_later,
                "seed {seed}: logical page {lpn} was moved or read after it was given up"
            );
        }
        let copied = flash.commands.iter().filter(|c| matches!(c, Command::Copy(..))).count() as u64;
        assert_eq!(flash.counters().programs[Cause::Gc as usize], copied);
        assert_eq!(flash.erased().collect::<Vec<_>>(), [UnitId(0)], "seed {seed}");
    }
}
