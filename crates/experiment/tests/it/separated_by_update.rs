//! A small case similar to the dissertation's Figures 24, 25 and 29: eight hot requests of two update times, four pages
//! per block. In order of arrival they leave half-dead blocks; by update time one block dies as a whole.

use crate::common::policies::separator;
use crate::common::recorder::{Command, Recorder};
use floatgate_base::{ExtentKind as Kind, Extents, Hints, Lpn, UnitId};
use floatgate_flash::{Layout, Scope};
use floatgate_ftl::{FreeChoice, Ftl, Separate, Setup};
use floatgate_nand::Geometry;

/// Pages of the eight requests, in order of arrival, with the context that writes them: those of context 1 are updated
/// soon, those of context 2 late.
const HOT: [(u32, u32); 8] = [(0, 1), (10, 2), (1, 1), (11, 2), (2, 1), (12, 2), (3, 1), (13, 2)];

fn write(extents: &mut Extents, lpn: u32, context: u32) {
    extents.push(Lpn(lpn), 1, Kind::Write);
    extents.columns.hints.push(Hints { context, handle: 0, request_pages: 1, ..Hints::default() });
}

/// Pages that die in each block when the four pages of context 1 are updated, of the blocks in which any does. Before
/// that, all eight have been written so often that they are hot and that both contexts have a group.
fn deaths(separate: Separate) -> Vec<u32> {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 200,
        pages_per_block: 4,
        page_bytes: 4096,
    };
    let setup = Setup { separate, free_choice: FreeChoice::Fifo, ..Setup::plain(100) };
    let layout = Layout::new(geometry, Scope::Plane);
    let (mut ftl, mut flash) = (Ftl::new(layout.clone(), setup), Recorder::new(layout.clone()));
    let mut extents = Extents::default();
    // Contexts dominate with the fifth update, which is the first of a round: every round begins with new blocks.
    (0..20).flat_map(|_| HOT).for_each(|(lpn, context)| write(&mut extents, lpn, context));
    ftl.serve(&mut flash, &extents).unwrap();
    assert_eq!(ftl.gc().victims, 0, "nothing is collected yet");
    let block_of = |lpn: u32| {
        let written = flash.commands.iter().rev().find_map(|command| match *command {
            Command::Program(ppn, of) if of.0 == lpn => Some(ppn),
            _ => None,
        });
        layout.unit_of(written.unwrap())
    };
    let blocks: Vec<UnitId> = (0..4).map(block_of).collect();
    let mut distinct = blocks.clone();
    distinct.sort_unstable();
    distinct.dedup();
    distinct.iter().map(|block| blocks.iter().filter(|&other| other == block).count() as u32).collect()
}

/// Separators that go by update time, with their parameters.
const BY_UPDATE: &[(&str, &[(&str, f64)])] = &[("pds", &[("dominates_from", 5.0)])];

/// Under HASH all eight are hot and share their blocks: two blocks are half dead after the first update time. PDS,
/// which knows the contexts, has placed pages that die together in one block.
#[test]
fn half_dead_blocks_under_hash_one_dead_block_by_update_time() {
    assert_eq!(deaths(separator("hash", &[])), [2, 2]);
    for &(name, set) in BY_UPDATE {
        assert_eq!(deaths(separator(name, set)), [4], "{name}");
    }
}
