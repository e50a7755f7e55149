//! The pages that waiting requests share.
//!
//! Hardly any waiting request shares a page with another, and an ordered index of all pages would cost more than the
//! rest of a request. Pages therefore fall into cells by their number, which count the waiting requests' pages. A
//! request whose cells are empty shares no page, and stays out of the index. As soon as another one meets it in a cell,
//! both enter the index, which says whether they truly share a page.

use super::slot::{NO_REQUEST, Slot};
use crate::overlaps::{Entry, Overlaps};
use floatgate_base::Lpn;

/// A power of two; 32 KiB of cells stay in a cache.
const CELLS: usize = 4096;
/// Pages of an extent above which its request enters no cells. While it waits, all requests are in the index.
const NARROW_PAGES_MAX: u32 = 64;
/// Stands for the slot of a cell in which requests have met.
const SEVERAL: u32 = u32::MAX;

/// The waiting requests' pages of one cell, and the slot of the only request that they belong to.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    pages: u32,
    slot: u32,
}

/// What holds a waiting request's pages.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    by_cells: bool,
    by_index: bool,
}

/// Says which waiting requests share pages, and which of them must not be overtaken.
#[derive(Clone, Debug, Default)]
pub(super) struct Sharing {
    /// None before the first request.
    cells: Vec<Cell>,
    overlaps: Overlaps,
    /// By slot.
    held: Vec<Held>,
    /// Waiting requests that no cells hold.
    wide: u32,
    /// Scratch: slots of the requests that a new one meets.
    met: Vec<u32>,
}

/// Returns the cell of a page. Neighbours differ, and so do pages 4,096 pages apart.
#[inline(always)]
fn cell_of(page: Lpn) -> usize {
    ((page.0 ^ (page.0 >> 12)) as usize) & (CELLS - 1)
}

impl Sharing {
    /// Returns what the waiting requests in `slots` share; all of them are in the index.
    pub fn of(slots: &mut [Slot]) -> Self {
        let mut waiting: Vec<u32> = (0..slots.len() as u32).collect();
        waiting.retain(|&slot| slots[slot as usize].request.number != NO_REQUEST);
        waiting.sort_unstable_by_key(|&slot| slots[slot as usize].request.number);
        let mut sharing = Self::default();
        for slot in waiting {
            sharing.hold(slots, slot);
            sharing.met.clear();
            sharing.index(slots, slot);
        }
        sharing
    }

    /// Notes the pages of a request that joins, the last to arrive.
    #[inline(always)]
    pub fn join(&mut self, slots: &mut [Slot], slot: u32) {
        let was_wide = self.wide > 0;
        let meets = self.hold(slots, slot);
        // While another wide request waits, all requests are in the index already.
        if self.wide > 0 && !was_wide {
            let Self { held, met, .. } = self;
            let waits = |other: usize| slots[other].request.number != NO_REQUEST && !held[other].by_index;
            let others = (0..slots.len()).filter(|&other| other != slot as usize && waits(other));
            met.extend(others.map(|other| other as u32));
        }
        if meets || self.wide > 0 {
            self.index(slots, slot);
        }
    }

    /// Adds a request's pages to their cells; returns whether it meets others there, which are then in `met` unless
    /// the index has them.
    #[inline(always)]
    fn hold(&mut self, slots: &[Slot], slot: u32) -> bool {
        if self.held.len() <= slot as usize {
            self.cells.resize(CELLS, Cell::default());
            self.held.resize(slot as usize + 1, Held::default());
        }
        let joining = &slots[slot as usize];
        let wide = joining.touched().any(|(_, pages, _)| pages > NARROW_PAGES_MAX);
        self.held[slot as usize] = Held { by_cells: !wide, by_index: false };
        if wide {
            self.wide += 1;
            return false;
        }
        let mut meets = false;
        for (first, pages, _) in joining.touched() {
            for page in Lpn::each(first..first + pages) {
                let cell = &mut self.cells[cell_of(page)];
                if cell.pages == 0 {
                    cell.slot = slot;
                } else if cell.slot != slot {
                    meets = true;
                    if cell.slot != SEVERAL {
                        self.met.push(cell.slot);
                    }
                    cell.slot = SEVERAL;
                }
                cell.pages += 1;
            }
        }
        meets
    }

    /// Enters a request into the index, and before it those that it met.
    #[inline(never)]
    fn index(&mut self, slots: &mut [Slot], slot: u32) {
        let Self { held, overlaps, met, .. } = self;
        // The index takes requests for the same pages in order of arrival.
        met.sort_unstable_by_key(|&other| slots[other as usize].request.number);
        for other in met.drain(..).chain([slot]) {
            if std::mem::replace(&mut held[other as usize].by_index, true) {
                continue;
            }
            let one = &mut slots[other as usize];
            let entry = one.entry(other);
            let insert = |(first, pages, changes)| overlaps.insert(first, pages, changes, entry);
            let shares = one.touched().map(insert).fold(false, |any, shares| any | shares);
            one.shares |= shares && other == slot;
        }
    }

    /// Forgets the pages of a request that leaves.
    #[inline(always)]
    pub fn leave(&mut self, leaving: &Slot, slot: u32) {
        let Held { by_cells, by_index } = self.held[slot as usize];
        if by_cells {
            for (first, pages, _) in leaving.touched() {
                for page in Lpn::each(first..first + pages) {
                    self.cells[cell_of(page)].pages -= 1;
                }
            }
        } else {
            self.wide -= 1;
        }
        if by_index {
            for (first, pages, changes) in leaving.touched() {
                self.overlaps.remove(first, pages, changes, leaving.entry(slot));
            }
        }
    }

    /// Returns an earlier request that a waiting one must not overtake.
    pub fn earlier(&self, waiting: &Slot) -> Option<Entry> {
        let number = waiting.request.number;
        waiting
            .touched()
            .find_map(|(first, pages, changes)| self.overlaps.earlier(first, pages, changes, number))
    }

    /// Returns whether nothing is held.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.overlaps.is_empty() && self.wide == 0 && self.cells.iter().all(|cell| cell.pages == 0)
    }
}
