//! A map from pages to slots, for pages that come and go: a hash table with linear probing.
//!
//! A general hash map marks each removal, and searches pass the marks: with one removal per insertion, they pass many.
//! Here a removal moves later entries up instead.

/// Slot of a cell without an entry.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Cell {
    page: u64,
    slot: u32,
}

/// The table. At least half of its cells stay free.
pub(crate) struct PageSlots {
    cells: Vec<Cell>,
    shift: u32,
    pages: usize,
}

impl PageSlots {
    /// Creates an empty table.
    pub fn new() -> Self {
        Self::with_cells(16)
    }

    fn with_cells(cells: usize) -> Self {
        let free = Cell { page: 0, slot: NONE };
        Self { cells: vec![free; cells], shift: u64::BITS - cells.trailing_zeros(), pages: 0 }
    }

    /// Returns the slot of a page.
    pub fn get(&self, page: u64) -> Option<u32> {
        let cell = &self.cells[self.search(page)];
        (cell.slot != NONE).then_some(cell.slot)
    }

    /// Sets the slot of a page.
    pub fn insert(&mut self, page: u64, slot: u32) {
        let mut at = self.search(page);
        if self.cells[at].slot == NONE {
            if 2 * self.pages >= self.cells.len() {
                self.grow();
                at = self.search(page);
            }
            self.pages += 1;
        }
        self.cells[at] = Cell { page, slot };
    }

    #[cold]
    fn grow(&mut self) {
        let larger = Self::with_cells(2 * self.cells.len());
        let cells = std::mem::replace(self, larger).cells;
        cells.iter().filter(|cell| cell.slot != NONE).for_each(|cell| self.insert(cell.page, cell.slot));
    }

    /// Removes a page and returns its slot.
    pub fn remove(&mut self, page: u64) -> Option<u32> {
        let mut hole = self.search(page);
        let removed = self.cells[hole].slot;
        if removed == NONE {
            return None;
        }
        self.pages -= 1;
        let mask = self.cells.len() - 1;
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let cell = self.cells[at];
            if cell.slot == NONE {
                self.cells[hole].slot = NONE;
                return Some(removed);
            }
            // An entry may move up to its home cell, but not beyond.
            let from_home = at.wrapping_sub(self.home(cell.page)) & mask;
            if from_home >= at.wrapping_sub(hole) & mask {
                self.cells[hole] = cell;
                hole = at;
            }
        }
    }

    /// Returns the cell of a page, or the free one where it belongs.
    fn search(&self, page: u64) -> usize {
        let mask = self.cells.len() - 1;
        let mut at = self.home(page);
        loop {
            let cell = &self.cells[at];
            if cell.slot == NONE || cell.page == page {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    /// Returns the cell where the search for a page begins: the upper bits of its product with 2^64 / golden ratio.
    fn home(&self, page: u64) -> usize {
        (page.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::Rng;
    use std::collections::BTreeMap;

    /// Random insertions, changes and removals agree with a map of the standard library, while the table grows.
    #[test]
    fn agrees_with_a_map_under_random_use() {
        for seed in 0..200 {
            let mut rng = Rng::new(seed, "page slots");
            let (mut table, mut map) = (PageSlots::new(), BTreeMap::new());
            for step in 0..2_000 {
                // Some pages share their home cells, some are at the end of the table, where searches wrap around.
                let page = rng.below(48).wrapping_mul(u64::MAX / 47);
                if rng.below(2) == 0 {
                    assert_eq!(table.remove(page), map.remove(&page), "seed {seed}, step {step}");
                } else {
                    table.insert(page, step);
                    map.insert(page, step);
                }
                for n in 0..48_u64 {
                    let page = n.wrapping_mul(u64::MAX / 47);
                    assert_eq!(
                        table.get(page),
                        map.get(&page).copied(),
                        "seed {seed}, step {step}, page {n}"
                    );
                }
            }
        }
    }
}
