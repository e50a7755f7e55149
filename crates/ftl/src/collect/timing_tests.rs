//! A drive of 16 blocks of 4 pages whose idle time collects whatever it may, step by step.

use super::*;
use crate::{Ftl, Setup};
use floatgate_base::Hints;
use floatgate_base::extents::{Extents, Kind};
use floatgate_base::testing::Bound;
use floatgate_flash::{Functional, Scope};
use floatgate_nand::Geometry;

struct Drive {
    ftl: Ftl,
    flash: Functional,
}

impl Drive {
    fn new(horizon: u32) -> Self {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 16,
            pages_per_block: 4,
            page_bytes: 4096,
        };
        let timing =
            ByContext { horizon, dying_share: 0.5, contexts: 8, confident_from: 2, prepared_units_max: 4 };
        let setup =
            Setup { idle_jobs: true, background_free_units: 16, timing: Some(timing), ..Setup::plain(40) };
        let layout = Layout::new(geometry, Scope::Plane);
        Self { flash: Functional::new(layout.clone()), ftl: Ftl::new(layout, setup) }
    }

    /// Writes pages one by one.
    fn write(&mut self, context: u32, pages: std::ops::Range<u32>) {
        for lpn in pages {
            let mut extents = Extents::default();
            extents.push(Lpn(lpn), 1, Kind::Write);
            extents.columns.hints.push(Hints { context, ..Hints::default() });
            self.ftl.serve(&mut self.flash, &extents).unwrap();
        }
    }

    fn trim(&mut self, pages: std::ops::Range<u32>) {
        let mut extents = Extents::default();
        extents.push(Lpn(pages.start), pages.end - pages.start, Kind::Trim);
        extents.columns.hints.push(Hints::default());
        self.ftl.serve(&mut self.flash, &extents).unwrap();
    }

    /// Lets idle time work until nothing is gained, and returns the counters.
    fn rest(&mut self) -> TimingCounters {
        let domain = DomainId(0);
        let mut bound = Bound::new(1000);
        while self.ftl.wants_background_in(domain)
            && self.ftl.background_step(&mut self.flash, domain).unwrap()
        {
            bound.step();
        }
        self.ftl.audit(&self.flash).unwrap();
        self.ftl.timing().unwrap().0
    }

    /// Contexts 1 and 2 write four pages each and rewrite them 8 writes later, the last two of context 2 not yet. Block 0
    /// is then dead, block 1 has two valid pages of context 2, block 2 is full of pages of context 1.
    fn begun(horizon: u32) -> Self {
        let mut drive = Self::new(horizon);
        drive.write(1, 0..4);
        drive.write(2, 4..8);
        drive.write(1, 0..4);
        drive.write(2, 4..6);
        drive
    }
}

#[test]
fn a_block_waits_until_it_is_dead() {
    let mut drive = Drive::begun(2);
    // Block 0 is collected. The pages of block 1 are 7 and 6 writes old, and expected to die at 8: within 2.
    let counters = drive.rest();
    assert_eq!((drive.ftl.gc().victims, drive.ftl.gc().dead_victims), (1, 1));
    assert_eq!((counters.passed_over, counters.put_off, counters.collected_later), (1, 1, 0));
    // They die in time. Of six deaths the first two of each context were not predicted.
    drive.write(2, 6..8);
    let counters = drive.rest();
    assert_eq!((drive.ftl.gc().victims, drive.ftl.gc().copied_pages), (2, 0));
    assert_eq!((counters.collected_later, counters.dead_later, counters.saved_pages), (1, 1, 2));
    assert_eq!((counters.predicted_deaths, counters.deaths_in_time), (2 + 2, 2 + 2));
    assert_eq!((counters.copied_later, counters.outlived_pages, counters.instead), (0, 0, 0));
    assert_eq!((counters.pages, counters.pages_with_context), (16, 16));
}

#[test]
fn a_block_whose_contexts_mislead_is_collected_when_its_time_is_over() {
    let mut drive = Drive::begun(2);
    drive.rest();
    // Pages 6 and 7 were written at 7 and 8. At 18 their ages are 11 and 10: one of two may still die in time.
    drive.write(0, 8..12);
    let counters = drive.rest();
    assert_eq!((counters.passed_over, counters.collected_later), (1, 0));
    assert_eq!(counters.put_off, 2);
    drive.write(0, 12..13);
    let counters = drive.rest();
    assert_eq!((counters.collected_later, counters.dead_later, counters.saved_pages), (1, 0, 0));
    assert_eq!((counters.copied_later, drive.ftl.gc().copied_pages), (2, 2));
    // Both were copied too late, which leaves no confidence in context 2: its next blocks do not wait.
    assert_eq!(counters.outlived_pages, 2);
    assert_eq!((counters.needed, counters.needed_pages), (0, 0));
}

/// Whatever the horizon, a write that finds fewer free units than the trigger collects the victim that could wait.
#[test]
fn a_block_that_could_wait_is_collected_where_space_is_needed() {
    let mut drive = Drive::begun(100);
    // Data that live on, 32 pages: block 11 is half full. Then every fourth of them, until two units are free.
    drive.write(0, 8..40);
    (0..8).for_each(|i| drive.write(0, 8 + 4 * i..9 + 4 * i));
    assert_eq!((drive.ftl.free_units(), drive.ftl.gc().victims), (2, 0));
    // The next unit takes the last but one: block 0, which is dead, is collected.
    (0..3).for_each(|i| drive.write(0, 9 + 4 * i..10 + 4 * i));
    let counters = drive.ftl.timing().unwrap().0;
    assert_eq!((drive.ftl.gc().victims, drive.ftl.gc().dead_victims, counters.needed), (1, 1, 0));
    // Another one: block 1 has the fewest valid pages, and both are dying.
    (3..7).for_each(|i| drive.write(0, 9 + 4 * i..10 + 4 * i));
    let counters = drive.ftl.timing().unwrap().0;
    assert_eq!((drive.ftl.gc().victims, drive.ftl.gc().copied_pages), (2, 2));
    assert_eq!((counters.needed, counters.needed_pages, counters.passed_over), (1, 2, 0));
    drive.ftl.audit(&drive.flash).unwrap();
}

#[test]
fn trims_are_deaths_and_only_the_first_page_of_a_burst_begins_it() {
    let mut drive = Drive::new(2);
    for _ in 0..4 {
        drive.write(1, 0..8);
        drive.trim(0..8);
        drive.ftl.burst_ends();
        // Nothing was written since.
        drive.ftl.burst_ends();
    }
    let counters = drive.ftl.timing().unwrap().0;
    assert_eq!((counters.bursts, counters.pages), (4, 32));
    // A burst of 8 pages begins with context 1 after one that ends with it: known from the third on.
    assert_eq!((counters.predicted_bursts, counters.bursts_as_predicted), (1, 1));
    // Ages of 7 down to 0: some deaths are beyond the horizon.
    assert!(counters.predicted_deaths > counters.deaths_in_time && counters.deaths_in_time > 0);
}

/// After a burst of 8 pages, two units of 4 beyond the trigger of 2 are prepared, and no more.
#[test]
fn idle_time_prepares_what_the_next_burst_will_need() {
    let mut drive = Drive::new(2);
    assert_eq!(drive.ftl.idle_goal(DomainId(0)), 16);
    for _ in 0..3 {
        drive.write(1, 0..8);
        drive.ftl.burst_ends();
    }
    assert_eq!(drive.ftl.idle_goal(DomainId(0)), 2 + 2);
    // 100 pages would be 25 units; more than 4 are not prepared.
    for _ in 0..3 {
        drive.write(2, 0..40);
        drive.write(2, 0..40);
        drive.write(2, 0..20);
        drive.ftl.burst_ends();
    }
    assert_eq!(drive.ftl.idle_goal(DomainId(0)), 2 + 4);
    // Once the burst has begun, idle time works as without a prediction.
    drive.write(2, 0..1);
    assert_eq!(drive.ftl.idle_goal(DomainId(0)), 16);
}
