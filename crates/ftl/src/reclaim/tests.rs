//! Worked examples of the dissertation, and the life of replicas, under the shadow model.

use super::{Reclaim, SLOT};
use crate::Setup;
use crate::ftl::Ftl;
use crate::level::{self, Level};
use floatgate_base::extents::{Extents, Kind};
use floatgate_base::testing::Bound;
use floatgate_base::{DomainId, Lpn, Ppn, Rng, SideKind, UnitId};
use floatgate_flash::{Cause, Flash, Functional, Layout, Scope, Shadow};
use floatgate_nand::{Disturb, Geometry};
use floatgate_snapshot::{Kind as FileKind, Reader, Writer};

/// A drive of one plane.
struct Drive {
    ftl: Ftl,
    flash: Shadow<Functional>,
    logical: u32,
    pages: u32,
}

/// Weights of page types, LSB first, and reads that a block endures.
type Model<'a> = (&'a [f64], u32);

impl Drive {
    fn new(shape: (u32, u32, u32), model: Model<'_>, name: &str, values: &[(&str, f64)]) -> Self {
        Self::of(shape, model, Reclaim::of(&SLOT.with(name, values)), Level::None, false)
    }

    fn of(
        (blocks, pages, logical): (u32, u32, u32),
        (weights, max_reads): Model<'_>,
        reclaim: Reclaim,
        level: Level,
        idle_jobs: bool,
    ) -> Self {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: blocks,
            pages_per_block: pages,
            page_bytes: 4096,
        };
        let disturb = Disturb::new(max_reads, weights, &[1.0, 2.0, 5.0], &[1.0, 1.08, 1.19]);
        let setup = Setup { disturb: Some((disturb, reclaim)), idle_jobs, level, ..Setup::plain(logical) };
        let layout = Layout::new(geometry, Scope::Plane);
        let flash = Shadow::new(Functional::new(layout.clone()), logical).with_disturb(disturb, true);
        Self { ftl: Ftl::new(layout, setup), flash, logical, pages }
    }

    fn serve(&mut self, kind: Kind, lpn: u32, times: u32) {
        let mut extents = Extents::default();
        (0..times).for_each(|_| extents.push(Lpn(lpn), 1, kind));
        self.ftl.serve(&mut self.flash, &extents).unwrap();
    }

    fn write_all(&mut self) {
        (0..self.logical).for_each(|lpn| self.serve(Kind::Write, lpn, 1));
    }

    /// Writes pages at random, except the first one.
    fn write_some(&mut self, pages: u32) {
        let mut rng = Rng::new(1, "read disturb by hand");
        for _ in 0..pages {
            self.serve(Kind::Write, 1 + rng.below(u64::from(self.logical) - 1) as u32, 1);
        }
    }

    fn page_of(&self, lpn: u32) -> Ppn {
        let word = self.ftl.mapping.get(Lpn(lpn));
        let mut page = word.ppn();
        self.ftl.mapping.pages_of(Lpn(lpn), word, &mut |ppn| page = Some(ppn));
        page.unwrap_or_else(|| panic!("page {lpn} is not mapped"))
    }

    fn unit_of(&self, lpn: u32) -> UnitId {
        self.ftl.layout.unit_of(self.page_of(lpn))
    }

    fn has_replica(&self, lpn: u32) -> bool {
        let entry = self.ftl.mapping.get(Lpn(lpn)).entry();
        entry.is_some_and(|(kind, _)| kind == SideKind::Replicated)
    }

    fn erases(&self) -> u64 {
        self.flash.counters().erases[Cause::Reclaim as usize]
    }

    fn audit(&self) {
        self.ftl.audit(&self.flash).unwrap_or_else(|fault| panic!("{fault}"));
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut out = Writer::new(&mut bytes, FileKind::Drive, 1).unwrap();
        self.ftl.save(&mut out).unwrap();
        out.state("array", &self.flash.inner().saved()).unwrap();
        out.finish().unwrap();
        bytes
    }

    fn restore(&mut self, bytes: &[u8]) {
        let mut reader = Reader::new("t", bytes, FileKind::Drive, 1).unwrap();
        self.ftl.restore(&mut reader).unwrap();
        assert!(self.flash.inner_mut().restore(reader.state("array").unwrap()));
        self.ftl.learn_wear(self.flash.inner().erase_counts());
        self.ftl.show_content(&mut self.flash);
    }
}

/// Reads of the pages A to D in a period: 1,400 together, the most that a block endures.
const FIGURE_9: [u32; 4] = [600, 500, 200, 100];

fn period(drive: &mut Drive) {
    for (lpn, reads) in (0..).zip(FIGURE_9) {
        drive.serve(Kind::Read, lpn, reads);
    }
}

/// Figure 9: moved together, the four pages lead to a reclaim in each period.
#[test]
fn figure_9_the_baseline_reclaims_again_after_a_period() {
    let mut drive = Drive::new((12, 4, 24), (&[1.0], 1400), "baseline", &[]);
    drive.write_all();
    for reclaims in 1..=3 {
        period(&mut drive);
        assert_eq!(drive.erases(), reclaims);
        let unit = drive.unit_of(0);
        assert!((0..4).all(|lpn| drive.unit_of(lpn) == unit));
    }
    drive.audit();
}

/// Figure 9: dealt to two blocks, A and C to one, B and D to the other, they do not.
#[test]
fn figure_9_one_to_many_does_not() {
    let never = [("create_at", 1.0), ("migrate_at", 1.0), ("replica_pages", 1.0)];
    // Tails with no pages.
    let mut drive = Drive::new((12, 4, 28), (&[1.0], 1400), "redftl", &never);
    (4..28).chain(0..4).for_each(|lpn| drive.serve(Kind::Write, lpn, 1));
    assert!((1..4).all(|lpn| drive.unit_of(lpn) == drive.unit_of(0)));
    period(&mut drive);
    assert_eq!(drive.erases(), 1);
    assert_eq!(drive.unit_of(0), drive.unit_of(2));
    assert_eq!(drive.unit_of(1), drive.unit_of(3));
    assert_ne!(drive.unit_of(0), drive.unit_of(1));
    period(&mut drive);
    assert_eq!(drive.erases(), 1);
    drive.audit();
}

/// Figure 19: a disturbed block is mixed with the coldest one. Its hot pages a, b, d, e take the LSB pages of two
/// blocks; i to l take the MSB pages.
#[test]
fn figure_19_hot_pages_take_fast_pages_of_two_blocks() {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
    let mut drive = Drive::new((12, 6, 36), (&[0.25, 0.5, 1.0], 60), "redftl-plus-plus", &[]);
    drive.write_all();
    let read = |drive: &mut Drive, pages: &[u32], times| {
        pages.iter().for_each(|&lpn| drive.serve(Kind::Read, lpn, times));
    };
    // The other blocks are read more than the second one.
    (12..36).for_each(|lpn| drive.serve(Kind::Read, lpn, 8));
    read(&mut drive, &[g, h], 2);
    read(&mut drive, &[c, f], 3);
    assert_eq!((drive.unit_of(a), drive.unit_of(g)), (UnitId(0), UnitId(1)));
    // a and d lie on LSB pages, b and e on CSB pages.
    let mut bound = Bound::new(100_000_000);
    while drive.erases() == 0 {
        bound.step();
        read(&mut drive, &[a, b, d, e], 1);
    }
    assert_eq!(drive.erases(), 2);
    let place = |lpn| {
        (drive.unit_of(lpn), (drive.page_of(lpn) - drive.ftl.layout.first_page(drive.unit_of(lpn))) % 3)
    };
    for lpn in [a, b, d, e] {
        assert_eq!(place(lpn).1, 0, "{lpn}");
    }
    for lpn in [c, f, g, h] {
        assert_eq!(place(lpn).1, 1, "{lpn}");
    }
    for lpn in [i, j, k, l] {
        assert_eq!(place(lpn).1, 2, "{lpn}");
    }
    let in_first =
        [a, b, c, d, e, f, g, h, i, j, k, l].iter().filter(|&&lpn| place(lpn).0 == place(a).0).count();
    assert_eq!((in_first, drive.flash.mode(drive.unit_of(a)), drive.flash.mode(drive.unit_of(b))), (6, 1, 1));
    drive.audit();
}

/// The first reclaim leads to mode 1, later ones to mode 2, in which a block endures five times as many reads.
#[test]
fn resistant_blocks_stand_twice_and_five_times_as_many_reads() {
    let mut drive = Drive::new((12, 4, 24), (&[1.0], 100), "rrb", &[("proactive_at", 1.0)]);
    drive.write_all();
    let mut reads = Vec::new();
    for reclaims in 1..=4 {
        let mut cycle = 0;
        let mut bound = Bound::new(100_000);
        while drive.erases() < reclaims {
            bound.step();
            drive.serve(Kind::Read, 0, 1);
            cycle += 1;
        }
        reads.push(cycle);
        assert_eq!(drive.flash.mode(drive.unit_of(0)), [1, 2, 2, 2][reclaims as usize - 1]);
    }
    assert_eq!(reads, [100, 200, 500, 500]);
    drive.audit();
}

/// Without a manager, reads beyond the maximum are counted and nothing moves.
#[test]
fn reads_beyond_the_maximum_are_counted() {
    for (weights, reads_max) in [(&[1.0][..], 100), (&[0.7, 1.0], 142)] {
        let mut drive = Drive::new((12, 4, 24), (weights, 100), "none", &[]);
        drive.write_all();
        drive.flash = drive.flash.clone().with_disturb(Disturb::new(100, weights, &[1.0], &[1.0]), false);
        drive.serve(Kind::Read, 0, 160);
        let figures = drive.ftl.reclaimed().unwrap();
        assert_eq!(figures.counters.reads_beyond_max, 160 - reads_max);
        assert_eq!(drive.erases(), 0);
    }
}

/// Collection moves data back to the normal mode.
#[test]
fn collection_leads_back_to_the_ordinary_mode() {
    let mut drive = Drive::new((12, 4, 24), (&[1.0], 100), "rrb", &[("proactive_at", 1.0)]);
    drive.write_all();
    drive.serve(Kind::Read, 0, 100);
    assert_eq!(drive.flash.mode(drive.unit_of(0)), 1);
    // The other pages of its block are rewritten until it is collected.
    drive.write_some(2000);
    assert_eq!(drive.flash.mode(drive.unit_of(0)), 0);
    drive.audit();
}

/// A leveling swap keeps the mode of the data that it moves.
#[test]
fn leveling_keeps_the_mode() {
    let swap = level::SLOT.with("hot-cold-swap", &[("pe_cycles", 6.0)]);
    let reclaim = Reclaim::of(&SLOT.with("rrb", &[("proactive_at", 1.0)]));
    let mut drive = Drive::of((12, 4, 24), (&[1.0], 100), reclaim, Level::of(&swap), false);
    drive.ftl.reset_counts(&mut drive.flash);
    drive.write_all();
    drive.serve(Kind::Read, 0, 100);
    let unit = drive.unit_of(0);
    assert_eq!(drive.flash.mode(unit), 1);
    // All pages except the block of page 0 are rewritten, which makes that block the cold one.
    let mut turn = 0;
    let mut bound = Bound::new(100_000);
    while drive.unit_of(0) == unit {
        bound.step();
        drive.serve(Kind::Write, 4 + turn % 20, 1);
        turn += 1;
        assert!(turn < 20_000, "the cold block was never swapped");
    }
    assert!(drive.ftl.leveled().swaps > 0);
    assert_eq!(drive.flash.mode(drive.unit_of(0)), 1);
    drive.audit();
}

const REPLICAS: &[(&str, f64)] = &[("replica_pages", 4.0)];

/// Builds a drive on which page 0 has a replica.
fn replicated() -> Drive {
    let mut drive = Drive::new((16, 16, 64), (&[1.0], 1000), "redftl", REPLICAS);
    drive.write_all();
    // A page that is read ten times in a row would be hot.
    for _ in 0..10 {
        (1..12).for_each(|lpn| drive.serve(Kind::Read, lpn, 1));
        drive.serve(Kind::Read, 0, 59);
    }
    assert!(drive.has_replica(0) && !drive.has_replica(1));
    drive.audit();
    drive
}

/// A read that makes a replica is the job's: it disturbs the block and is no host read.
#[test]
fn reads_for_replicas_are_not_the_hosts() {
    let drive = replicated();
    let figures = drive.ftl.reclaimed().unwrap();
    let host_reads = 10 * (11 + 59);
    assert_eq!(figures.replicas.made, 1);
    assert_eq!(figures.reads.iter().sum::<u64>(), host_reads);
    assert_eq!(drive.flash.counters().reads[Cause::Host as usize], host_reads);

    let drive = replicated_half();
    let figures = drive.ftl.reclaimed().unwrap();
    assert_eq!(figures.replicas.made, 6);
    assert_eq!(figures.reads.iter().sum::<u64>(), 60 * 12);
    assert_eq!(drive.flash.counters().reads[Cause::Host as usize], 60 * 12);
}

#[test]
fn a_hot_page_is_read_from_its_replica() {
    let mut drive = replicated();
    let original = UnitId(0);
    assert_ne!(drive.unit_of(0), original);
    let before = drive.flash.disturbance(original.0);
    drive.serve(Kind::Read, 0, 50);
    assert_eq!(drive.flash.disturbance(original.0), before);
    assert_eq!(drive.flash.disturbance(drive.unit_of(0).0), Some(50_000));
    // The original stays, and the valid count of its unit is unchanged.
    assert_eq!(drive.ftl.units.meta[original].valid, 12);
    assert_eq!(drive.erases(), 0);
}

#[test]
fn a_replica_dies_with_an_update_and_with_trim() {
    for kind in [Kind::Write, Kind::WritePartial, Kind::Trim] {
        let mut drive = replicated();
        drive.serve(kind, 0, 1);
        assert!(!drive.has_replica(0));
        let replicas = drive.ftl.reclaimed().unwrap().replicas;
        assert_eq!((replicas.made, replicas.died_by_update), (1, 1));
        drive.serve(Kind::Read, 0, 1);
        drive.audit();
    }
}

#[test]
fn a_replica_dies_with_its_block() {
    let mut drive = replicated();
    let holder = drive.unit_of(0);
    let erases = drive.flash.erase_count(holder);
    drive.write_some(2000);
    assert!(drive.flash.erase_count(holder) > erases);
    let replicas = drive.ftl.reclaimed().unwrap().replicas;
    assert_eq!((replicas.died_by_erase, replicas.died_by_update), (1, 0));
    drive.serve(Kind::Read, 0, 1);
    drive.audit();
}

#[test]
fn a_replica_that_is_read_much_takes_its_originals_place() {
    let mut drive = replicated();
    let holder = drive.unit_of(0);
    let (original, valid) = (drive.ftl.units.meta[UnitId(0)].valid, drive.ftl.units.meta[holder].valid);
    drive.serve(Kind::Read, 0, 900);
    assert!(!drive.has_replica(0));
    assert_eq!(drive.unit_of(0), holder);
    assert_eq!(drive.ftl.reclaimed().unwrap().replicas.promoted, 1);
    assert_eq!(drive.ftl.units.meta[UnitId(0)].valid, original - 1);
    assert_eq!(drive.ftl.units.meta[holder].valid, valid + 1);
    drive.audit();
}

/// Builds a drive on which a random half of the 12 pages of a block have replicas, after 60 reads of each.
fn replicated_half() -> Drive {
    let literal = [("replica_pages", 4.0), ("rate", 1.0)];
    let mut drive = Drive::new((16, 16, 64), (&[1.0], 1000), "redftl", &literal);
    drive.write_all();
    for _ in 0..60 {
        (0..12).for_each(|lpn| drive.serve(Kind::Read, lpn, 1));
    }
    drive
}

/// Read literally, hardly any page is read more often than its block: a random half of the live ones is replicated.
#[test]
fn where_no_page_stands_out_half_of_them_are_replicated() {
    let drive = replicated_half();
    assert_eq!((0..12).filter(|&lpn| drive.has_replica(lpn)).count(), 6);
    drive.audit();
}

/// On a drive too full for tails, data takes them, and no replicas are made.
#[test]
fn a_full_drive_keeps_no_tails() {
    let mut drive = Drive::new((16, 16, 170), (&[1.0], 1000), "redftl", REPLICAS);
    drive.write_all();
    let figures = drive.ftl.reclaimed().unwrap();
    assert!(figures.tails_forgone > 0, "{figures:?}");
    drive.audit();
}

/// A drive with a half-finished proactive job is saved and restored, and stays equal byte by byte.
#[test]
fn a_job_under_way_goes_through_a_file() {
    for (name, values) in [("redftl-plus", &[][..]), ("rrb", &[]), ("redftl", REPLICAS)] {
        let reclaim = Reclaim::of(&SLOT.with(name, values));
        let new = || Drive::of((16, 24, 96), (&[0.25, 0.5, 1.0], 400), reclaim, Level::None, true);
        let mut drive = new();
        drive.write_all();
        let mut bound = Bound::new(100_000);
        while !drive.ftl.wants_background() {
            bound.step();
            (0..8).for_each(|lpn| drive.serve(Kind::Read, lpn, 1));
        }
        for _ in 0..3 {
            assert!(drive.ftl.background_step(&mut drive.flash, DomainId(0)).unwrap(), "{name}");
        }
        let mut twin = new();
        twin.restore(&drive.bytes());
        assert!(twin.bytes() == drive.bytes(), "{name}");
        for drive in [&mut drive, &mut twin] {
            (0..8).for_each(|lpn| drive.serve(Kind::Read, lpn, 3));
            drive.serve(Kind::Write, 2, 1);
            let mut bound = Bound::new(100_000);
            while drive.ftl.wants_background() {
                bound.step();
                drive.ftl.background_step(&mut drive.flash, DomainId(0)).unwrap();
            }
            drive.audit();
            (0..drive.logical).for_each(|lpn| drive.serve(Kind::Read, lpn, 1));
            assert_eq!(drive.flash.violation(), None);
        }
        assert!(twin.bytes() == drive.bytes(), "{name}: another drive came out of the file");
        assert!(
            drive.ftl.reclaimed().unwrap().counters.bursts.keys().any(|burst| burst.pages == 1),
            "{name}"
        );
    }
}

/// Another manager takes over a drive with replicas: they are dropped, and no data is lost.
#[test]
fn a_drive_changes_its_manager() {
    let drive = replicated();
    for name in ["baseline", "rrb", "redftl-plus", "redftl"] {
        let values = if name == "redftl" { REPLICAS } else { &[] };
        let mut other = Drive::new((16, 16, 64), (&[0.25, 0.5, 1.0], 1000), name, values);
        assert_eq!(other.pages, drive.pages);
        other.restore(&drive.bytes());
        other.audit();
        assert_eq!(other.has_replica(0), name == "redftl");
        (0..64).for_each(|lpn| other.serve(Kind::Read, lpn, 30));
        (0..64).for_each(|lpn| other.serve(Kind::Write, lpn, 1));
        other.audit();
    }
}

/// Two blocks of data, of which the second is still open: no closed block takes replicas of the first.
fn without_holders(replicas_in: f64, replica_pages: f64, blocks: u32) -> Drive {
    let values = [("replica_pages", replica_pages), ("replicas_in", replicas_in), ("hot_factor", 0.5)];
    let data = 16 - replica_pages as u32;
    let mut drive = Drive::new((blocks, 16, 2 * data), (&[1.0], 1000), "redftl", &values);
    drive.write_all();
    assert_eq!((drive.unit_of(0), drive.unit_of(data)), (UnitId(0), UnitId(1)));
    (0..80).for_each(|_| (0..9).for_each(|lpn| drive.serve(Kind::Read, lpn, 1)));
    drive.audit();
    drive
}

#[test]
fn free_blocks_take_replicas_if_they_may() {
    let figures = without_holders(0.0, 4.0, 8).ftl.reclaimed().unwrap();
    assert_eq!((figures.replicas.made, figures.counters.replicas_refused), (0, 9));

    let mut drive = without_holders(1.0, 4.0, 8);
    let figures = drive.ftl.reclaimed().unwrap();
    assert_eq!((figures.replicas.made, figures.counters.replicas_refused), (9, 0));
    // Each takes as many as a tail holds; a replica is no valid page.
    let holders: Vec<UnitId> = (0..9).map(|lpn| drive.unit_of(lpn)).collect();
    assert_eq!(holders.iter().collect::<std::collections::BTreeSet<_>>().len(), 3);
    assert!(holders.iter().all(|&unit| drive.ftl.units.meta[unit].valid == 0));
    assert_eq!(drive.ftl.free[DomainId(0)].len(), 8 - 2 - 3);
    // The replicas of a block that is read much become its valid pages.
    drive.serve(Kind::Read, 0, 900);
    assert!(!drive.has_replica(0));
    assert_eq!((drive.unit_of(0), drive.ftl.units.meta[holders[0]].valid), (holders[0], 4));
    drive.audit();
    drive.write_some(2000);
    drive.audit();
    (0..drive.logical).for_each(|lpn| drive.serve(Kind::Read, lpn, 1));
    assert_eq!(drive.flash.violation(), None);
}

/// Blocks that hold nothing but replicas are the first victims when free blocks run low.
#[test]
fn collection_makes_room_for_replicas() {
    let mut drive = without_holders(1.0, 1.0, 8);
    let figures = drive.ftl.reclaimed().unwrap();
    // Six blocks were free, of which the last stays; each takes one replica.
    assert_eq!((figures.replicas.made, figures.counters.replicas_refused), (5, 4));
    assert_eq!(drive.ftl.gc.victims, 0);
    (0..90).for_each(|_| (15..30).for_each(|lpn| drive.serve(Kind::Read, lpn, 1)));
    let figures = drive.ftl.reclaimed().unwrap();
    assert!(figures.replicas.made > 5 && figures.replicas.died_by_erase > 0, "{figures:?}");
    assert_eq!(drive.ftl.gc.dead_victims, drive.ftl.gc.victims);
    drive.audit();
    (0..drive.logical).for_each(|lpn| drive.serve(Kind::Read, lpn, 1));
    assert_eq!(drive.flash.violation(), None);
}

/// With one replica at a time, each read of the block makes one.
#[test]
fn replicas_are_made_one_by_one_at_the_reads_of_their_block() {
    let values = [("replica_pages", 4.0), ("rate", 1.0), ("replicas_at_once", 1.0)];
    let new = || Drive::new((16, 16, 64), (&[1.0], 1000), "redftl", &values);
    let made = |drive: &Drive| drive.ftl.reclaimed().unwrap().replicas.made;
    let mut drive = new();
    drive.write_all();
    let mut reads = 0;
    let mut bound = Bound::new(100_000);
    while made(&drive) == 0 {
        bound.step();
        drive.serve(Kind::Read, reads % 12, 1);
        reads += 1;
    }
    assert_eq!(reads, 700);
    let mut twin = new();
    twin.restore(&drive.bytes());
    for drive in [&mut drive, &mut twin] {
        let read = |drive: &mut Drive| {
            let original = (0..12).find(|&lpn| drive.unit_of(lpn) == UnitId(0)).unwrap();
            drive.serve(Kind::Read, original, 1);
        };
        for replicas in 2..=6 {
            // Reads of other blocks make none.
            drive.serve(Kind::Read, 20, 3);
            assert_eq!(made(drive), replicas - 1);
            read(drive);
            assert_eq!(made(drive), replicas);
        }
        (0..10).for_each(|_| read(drive));
        assert_eq!(made(drive), 6);
        let bursts = drive.ftl.reclaimed().unwrap().counters.bursts;
        assert_eq!(bursts.iter().map(|(burst, &times)| (burst.pages, times)).collect::<Vec<_>>(), [(1, 6)]);
        drive.audit();
    }
    assert!(twin.bytes() == drive.bytes());
}

/// An empty block is the least disturbed one: half of the pages move to it, as long as spare blocks are free.
#[test]
fn the_least_disturbed_block_may_be_empty() {
    // 6 and 3 blocks are free; collection begins at 2.
    for (logical, erased) in [(36, 1), (54, 2)] {
        let values = [("mix", 2.0)];
        let mut drive = Drive::new((12, 6, logical), (&[0.25, 0.5, 1.0], 60), "redftl-plus-plus", &values);
        drive.write_all();
        let mut bound = Bound::new(100_000);
        while drive.erases() == 0 {
            bound.step();
            (0..6).for_each(|lpn| drive.serve(Kind::Read, lpn, 1));
        }
        let units: Vec<UnitId> = (0..6).map(|lpn| drive.unit_of(lpn)).collect();
        let in_first = units.iter().filter(|&&unit| unit == units[0]).count();
        assert_eq!((drive.erases(), in_first), (erased, 3), "{logical}");
        assert!(units.iter().all(|&unit| drive.flash.mode(unit) == 1));
        drive.audit();
    }
}
