//! Algorithm 1 by hand, block sets that stay unpaired, and Table V.

use super::read_balance::table_bytes;
use super::{HotColdSwap, Level, ReadBalance};
use crate::Setup;
use crate::ftl::Ftl;
use crate::units::NOT_INDEXED;
use floatgate_base::extents::{Extents, Kind};
use floatgate_base::testing::Bound;
use floatgate_base::{DomainId, Lpn, Rng, UnitId};
use floatgate_flash::{Flash, Functional, Layout, Scope, Shadow};
use floatgate_nand::Geometry;
use floatgate_snapshot::{Kind as FileKind, Reader, Writer};

const PARAMS: ReadBalance = ReadBalance {
    threshold: 10.0,
    less_read_share: 0.25,
    frequent_read_share: 0.75,
    sets_max: 4,
    round_robin: false,
};
const LOGICAL: u32 = 20;

/// Two chips of a plane each on one channel, with eight blocks of four pages each: blocks 0 to 7 and 8 to 15.
///
/// Pages 0 to 15 are written once, in turn to both planes. Block 0 holds 0, 2, 4, 6; block 1 holds 8, 10, 12, 14; block
/// 8 holds 1, 3, 5, 7; block 9 holds 9, 11, 13, 15. Pages 16 to 19 are written in turn from then on, and the other
/// twelve blocks are erased one after the other.
struct Drive {
    ftl: Ftl,
    flash: Shadow<Functional>,
    turns: u32,
}

impl Drive {
    fn new(level: Level) -> Self {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 2,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 8,
            pages_per_block: 4,
            page_bytes: 4096,
        };
        let layout = Layout::new(geometry, Scope::Plane);
        let setup = Setup { level, ..Setup::plain(LOGICAL) };
        let flash = Shadow::new(Functional::new(layout.clone()), LOGICAL);
        Self { ftl: Ftl::new(layout, setup), flash, turns: 0 }
    }

    fn filled(level: Level, read: &[u32]) -> Self {
        let mut drive = Self::new(level);
        (0..16).for_each(|lpn| drive.serve(Kind::Write, lpn));
        read.iter().for_each(|&lpn| drive.serve(Kind::Read, lpn));
        drive
    }

    fn serve(&mut self, kind: Kind, lpn: u32) {
        let mut extents = Extents::default();
        extents.push(Lpn(lpn), 1, kind);
        self.ftl.serve(&mut self.flash, &extents).unwrap();
        self.audit();
    }

    fn audit(&self) {
        self.ftl.audit(&self.flash).unwrap_or_else(|fault| panic!("{fault}"));
    }

    fn erases(&self) -> u64 {
        self.flash.counters().erases_total()
    }

    /// Writes hot pages until wear-leveling acts; returns how many erases preceded that.
    fn next_step(&mut self) -> u64 {
        let (before, rounds) = (self.ftl.leveled().triggered, self.ftl.leveled().rounds);
        let mut bound = Bound::new(100_000);
        loop {
            bound.step();
            self.serve(Kind::Write, 16 + self.turns % 4);
            self.turns += 1;
            let leveled = self.ftl.leveled();
            if leveled.rounds > rounds {
                return self.erases();
            }
            if leveled.triggered > before {
                assert_eq!(leveled.triggered, before + 1, "one block at a time");
                return self.erases() - 1;
            }
            assert!(self.turns < 10_000, "{leveled:?}");
        }
    }

    fn unit_of(&self, lpn: u32) -> UnitId {
        self.ftl.layout.unit_of(self.ftl.mapping.get(Lpn(lpn)).ppn().unwrap())
    }

    fn units_of(&self, lpns: [u32; 4]) -> [UnitId; 4] {
        lpns.map(|lpn| self.unit_of(lpn))
    }

    fn is_closed(&self, unit: UnitId) -> bool {
        self.ftl.units.meta[unit].pos != NOT_INDEXED
    }

    fn reloaded(&self, level: Level) -> Self {
        let mut bytes = Vec::new();
        let mut out = Writer::new(&mut bytes, FileKind::Drive, 1).unwrap();
        self.ftl.save(&mut out).unwrap();
        out.state("counts", &self.flash.inner().saved()).unwrap();
        out.finish().unwrap();
        let mut drive = Self::new(level);
        let mut reader = Reader::new("t", &bytes[..], FileKind::Drive, 1).unwrap();
        drive.ftl.restore(&mut reader).unwrap();
        assert!(drive.flash.inner_mut().restore(reader.state("counts").unwrap()));
        drive.ftl.learn_wear(drive.flash.erase_counts());
        drive.ftl.show_content(&mut drive.flash);
        drive.turns = self.turns;
        drive.audit();
        drive
    }

    fn read_all(&mut self) {
        (0..LOGICAL).for_each(|lpn| self.serve(Kind::Read, lpn));
        assert_eq!(self.flash.violation(), None);
    }
}

/// All of block 0 is read, nothing of block 1, half of block 8, a quarter of block 9: types 1, 0, 2, 0.
const READ: [u32; 7] = [0, 2, 4, 6, 1, 5, 9];

/// Twelve blocks take the hot pages and are erased in turn; `fcnt` is 12 until `ecnt` is 120. Each step costs one erase
/// and sets one flag more. The next ones thus follow at 130, 140 and 150 erases, and at 160 all 16 flags are set.
#[test]
fn algorithm_1_step_by_step() {
    let mut drive = Drive::filled(Level::ReadBalance(PARAMS), &READ);
    // Lines 10 to 13: flag 0 is the first that is not set. Block 0 is of type 1, no set waits: lines 26 to 32.
    assert_eq!(drive.next_step(), 120);
    let [a, b, a2, b2] = drive.units_of([0, 2, 4, 6]);
    assert_eq!((a, b), (a2, b2), "half each");
    let planes = [a, b].map(|unit| drive.ftl.layout.domain_of(unit));
    assert!(planes.contains(&DomainId(0)) && planes.contains(&DomainId(1)), "two chips: {planes:?}");
    assert!(!drive.is_closed(a) && !drive.is_closed(b), "the set waits");
    for unit in [a, b] {
        let of = |free: UnitId| drive.flash.erase_count(free);
        let pool = &drive.ftl.free[drive.ftl.layout.domain_of(unit)];
        assert!(pool.iter().filter(|free| free.0 > 1).all(|free| of(free) <= of(unit)), "the most worn ones");
    }
    // Block 8, the first one of the other plane, is of type 2: line 36. Its pages stay on its chip.
    assert_eq!(drive.next_step(), 130);
    assert!(drive.units_of([1, 3, 5, 7]).iter().all(|&unit| drive.ftl.layout.domain_of(unit) == DomainId(1)));
    // Block 1 is of type 0: lines 16 to 25 find the set of block 0.
    assert_eq!(drive.next_step(), 140);
    assert_eq!(drive.units_of([8, 10, 12, 14]), [b, a, b, a], "it begins with the other destination");
    assert_eq!(drive.units_of([0, 2, 4, 6]), [a, b, a, b], "half frequently read, half less read");
    assert!(drive.is_closed(a) && drive.is_closed(b), "the set has left the list");
    assert_eq!(drive.ftl.leveled().pairs, 1);
    // Block 9 is of type 0, and no set waits.
    assert_eq!(drive.next_step(), 150);
    let units = drive.units_of([9, 11, 13, 15]);
    assert!(units[0] != units[1] && !drive.is_closed(units[0]) && !drive.is_closed(units[1]));
    // Lines 5 to 9: a round begins, and all flags are cleared.
    assert_eq!(drive.next_step(), 160);
    let leveled = drive.ftl.leveled();
    assert_eq!((leveled.rounds, leveled.triggered, leveled.pairs, leveled.unpaired), (1, 4, 1, 0));
    assert_eq!(leveled.moved_pages, 16);
    drive.read_all();
    // The cleared table: as many erases again before the next block.
    drive.next_step();
    assert!(drive.erases() > 160 + 100, "{}", drive.erases());
}

#[test]
fn a_set_that_nobody_comes_for_takes_in_a_block_of_its_own_type() {
    // Nothing is read: all blocks are of type 0.
    let mut drive = Drive::filled(Level::ReadBalance(ReadBalance { sets_max: 1, ..PARAMS }), &[]);
    drive.next_step();
    let first = [drive.unit_of(0), drive.unit_of(2)];
    assert!(first.iter().all(|&unit| !drive.is_closed(unit)));
    drive.next_step();
    let leveled = drive.ftl.leveled();
    assert_eq!((leveled.alike, leveled.pairs, leveled.unpaired), (1, 0, 0));
    assert!(first.iter().all(|&unit| drive.is_closed(unit)));
    let [a, b] = first;
    assert_eq!([1, 3].map(|lpn| drive.unit_of(lpn)), [b, a]);
    drive.read_all();
}

/// Nothing is read, four chips share a channel, and four fifths of the pages are never rewritten. Without a bound,
/// planes drift apart until one has no spare space left. With a bound, but no way around sets whose planes have reached
/// it, blocks soon stop being split.
#[test]
fn planes_stay_alike_and_blocks_are_still_split() {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 4,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 64,
        pages_per_block: 16,
        page_bytes: 4096,
    };
    let logical = 3600;
    for seed in 0..3 {
        let layout = Layout::new(geometry, Scope::Plane);
        let level = Level::ReadBalance(ReadBalance { threshold: 2.0, ..PARAMS });
        let mut flash = Functional::new(layout.clone());
        let mut ftl = Ftl::new(layout, Setup { level, ..Setup::plain(logical) });
        let mut rng = Rng::new(seed, "read balance test");
        let write = |ftl: &mut Ftl, flash: &mut Functional, lpn: u32| {
            let mut extents = Extents::default();
            extents.push(Lpn(lpn), 1, Kind::Write);
            ftl.serve(flash, &extents).unwrap();
        };
        (0..logical).for_each(|lpn| write(&mut ftl, &mut flash, lpn));
        for _ in 0..200_000 {
            write(&mut ftl, &mut flash, rng.below(u64::from(logical) / 5) as u32 * 5);
        }
        let leveled = ftl.leveled();
        assert!(leveled.triggered > 1000, "seed {seed}: {leveled:?}");
        assert!((leveled.pairs + leveled.alike) * 10 >= leveled.triggered * 8, "seed {seed}: {leveled:?}");
        let mut valid = [0; 4];
        for lpn in 0..logical {
            let page = ftl.mapping.get(Lpn(lpn)).ppn().unwrap();
            valid[ftl.layout.domain_of(ftl.layout.unit_of(page)).index()] += 1;
        }
        let most = logical as i64 / 4 + 2 * i64::from(geometry.pages_per_block);
        assert!(valid.iter().all(|&pages| pages <= most), "seed {seed}: {valid:?}");
    }
}

/// Four chips share a channel, and nothing is read: every emptied block opens a new pair. Returns the chips of the pairs
/// in the order in which they were opened.
fn chips_of_pairs(round_robin: bool) -> Vec<[u32; 2]> {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 4,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 16,
        pages_per_block: 4,
        page_bytes: 4096,
    };
    let (cold, logical) = (64, 80);
    let layout = Layout::new(geometry, Scope::Plane);
    let level = Level::ReadBalance(ReadBalance { round_robin, sets_max: 8, ..PARAMS });
    let mut flash = Functional::new(layout.clone());
    let mut ftl = Ftl::new(layout, Setup { level, ..Setup::plain(logical) });
    let mut write = |ftl: &mut Ftl, lpn: u32| {
        let mut extents = Extents::default();
        extents.push(Lpn(lpn), 1, Kind::Write);
        ftl.serve(&mut flash, &extents).unwrap();
    };
    let chips = |ftl: &Ftl| -> Vec<u32> {
        let of = |lpn| ftl.layout.unit_of(ftl.mapping.get(Lpn(lpn)).ppn().unwrap());
        (0..cold).map(|lpn| ftl.layout.domain_of(of(lpn)).0).collect()
    };
    (0..logical).for_each(|lpn| write(&mut ftl, lpn));
    let (mut pairs, mut before) = (Vec::new(), chips(&ftl));
    let mut bound = Bound::new(100_000);
    let mut hot = (cold..logical).cycle();
    while pairs.len() < 6 {
        bound.step();
        let triggered = ftl.leveled().triggered;
        write(&mut ftl, hot.next().unwrap());
        if ftl.leveled().triggered == triggered {
            continue;
        }
        let now = chips(&ftl);
        let moved: Vec<usize> = (0..now.len()).filter(|&page| now[page] != before[page]).collect();
        // The chip that a block leaves may be one of its two; then half of its pages stay there.
        let stays = if moved.len() == 2 { before[moved[0]] } else { now[moved[1]] };
        let pair = [now[moved[0]], stays];
        pairs.push([pair[0].min(pair[1]), pair[0].max(pair[1])]);
        before = now;
    }
    pairs
}

/// Section I: units move "to the available blocks in different SSD chips by following a round-robin fashion".
#[test]
fn pairs_take_the_chips_in_turn() {
    let in_turn = [[0, 1], [2, 3], [0, 1], [2, 3], [0, 1], [2, 3]];
    assert_eq!(chips_of_pairs(true), in_turn);
    assert_ne!(chips_of_pairs(false), in_turn);
}

#[test]
fn a_set_outlasts_a_snapshot() {
    let level = Level::ReadBalance(PARAMS);
    let mut drive = Drive::filled(level, &READ);
    drive.next_step();
    let mut again = drive.reloaded(level);
    (0..2).for_each(|_| assert_eq!(drive.next_step(), again.next_step()));
    assert_eq!(again.ftl.leveled().pairs, 1);
    let lpns = [0, 2, 8, 10];
    assert_eq!(drive.units_of(lpns), again.units_of(lpns));
    again.read_all();
}

#[test]
fn another_leveler_closes_what_was_left_open() {
    let mut drive = Drive::filled(Level::ReadBalance(PARAMS), &READ);
    drive.next_step();
    let open = [drive.unit_of(0), drive.unit_of(2)];
    let swap = HotColdSwap { pe_cycles: 100, retirement_age: 0.85, age_variance: 0.2, lead_share_min: 0.0 };
    for level in [Level::None, Level::HotColdSwap(swap)] {
        let mut other = drive.reloaded(level);
        assert!(open.iter().all(|&unit| other.is_closed(unit)));
        (0..400).for_each(|turn| other.serve(Kind::Write, 16 + turn % 4));
        other.read_all();
    }
}

/// Table V in KB: PRT + BET. All its rows follow from blocks of 64 pages, as in Table I. 128 GB of 4 KB pages are 2^25
/// pages and 2^19 blocks; of 8 KB pages (TLC) 2^24 and 2^18; of 16 KB pages (QLC) 2^23 and 2^17.
#[test]
fn memory_is_that_of_table_v() {
    for (page_kb, gb, expected) in [
        (4, 32, (1024, 16)),
        (4, 64, (2048, 32)),
        (4, 128, (4096, 64)),
        (8, 32, (512, 8)),
        (8, 64, (1024, 16)),
        (8, 128, (2048, 32)),
        (16, 32, (256, 4)),
        (16, 64, (512, 8)),
        (16, 128, (1024, 16)),
    ] {
        let pages = (gb << 20) / page_kb;
        let (prt, table) = table_bytes(pages, pages / 64);
        assert_eq!((prt >> 10, table >> 10), expected, "{gb} GB of {page_kb} KB pages");
    }
}
