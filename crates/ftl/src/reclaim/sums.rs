//! Disturbance of each block by reads since its last erase.
//!
//! Each block has two sums: one as the manager counts, one of the model. A read adds to both and compares the first
//! with the next point that the manager watches (`docs/decisions/0021-read-disturb.md`).

use floatgate_base::{Ppn, UnitId, prefetch::prefetch};
use floatgate_flash::{Layout, Scope};
use floatgate_nand::Disturb;
use serde::{Deserialize, Serialize};

/// What a read counts as; never less than its disturbance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Counting {
    /// As one of the slowest page type in the normal mode.
    Reads,
    /// As one of the slowest page type in the mode of its block.
    ByMode,
    /// As its disturbance, by mode and page type.
    Effective,
}

/// State of a block: all that a read touches, side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Block {
    /// The sum as the manager counts, thousandths of a read.
    counted: u32,
    /// The sum of the model.
    actual: u32,
    /// The next watched point of the sum as counted.
    watch: u32,
    /// First row of the weights of its mode.
    rows: u32,
}

impl Block {
    /// A block that was never read.
    const FRESH: Self = Self { counted: 0, actual: 0, watch: u32::MAX, rows: 0 };
}

/// The sums of all blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Sums {
    blocks: Vec<Block>,
    /// Host reads by row: mode and number of the page in its block.
    reads: Vec<u64>,
    /// The largest sum of the model that a block had at its erase.
    largest: u32,
    /// What a read counts as and its disturbance, by row. From the plan.
    #[serde(skip)]
    weights: Vec<[u32; 2]>,
    #[serde(skip)]
    pages_per_block: u32,
    #[serde(skip)]
    blocks_per_unit: u32,
    /// Whether a unit is a block and its pages are flash pages.
    #[serde(skip)]
    plain: bool,
}

impl Sums {
    /// Creates the sums of a drive that was never read.
    pub fn new(disturb: &Disturb, counting: Counting, layout: &Layout) -> Self {
        let pages_per_block = layout.geometry().pages_per_block / layout.subpages();
        let row = |mode: u8, page: u32| {
            let actual = disturb.weight(mode, page % disturb.types);
            let counted = match counting {
                Counting::Reads => disturb.heaviest(0),
                Counting::ByMode => disturb.heaviest(mode),
                Counting::Effective => actual,
            };
            [counted, actual]
        };
        let modes = 0..disturb.modes as u8;
        let weights: Vec<_> =
            modes.flat_map(|mode| (0..pages_per_block).map(move |page| row(mode, page))).collect();
        Self {
            blocks: vec![Block::FRESH; layout.geometry().blocks() as usize],
            reads: vec![0; weights.len()],
            largest: 0,
            weights,
            pages_per_block,
            blocks_per_unit: layout.blocks_per_unit(),
            plain: layout.scope() == Scope::Plane && !layout.is_packed(),
        }
    }

    /// Adds a read of a page and returns whether the sum of its block has reached a watched point.
    #[inline(always)]
    pub fn read(&mut self, layout: &Layout, unit: UnitId, ppn: Ppn) -> bool {
        let (block, page) = if self.plain {
            (unit.0, ppn - layout.first_page(unit))
        } else {
            (layout.block_of(ppn), layout.page_in_block(ppn))
        };
        let block = &mut self.blocks[block as usize];
        let row = (block.rows + page) as usize;
        let [counted, actual] = self.weights[row];
        self.reads[row] += 1;
        block.counted = block.counted.saturating_add(counted);
        block.actual = block.actual.saturating_add(actual);
        block.counted >= block.watch
    }

    /// Prefetches what [`Sums::read`] of a unit will change.
    #[inline(always)]
    pub fn prefetch(&self, unit: UnitId) {
        prefetch(&self.blocks, (unit.0 * self.blocks_per_unit) as usize);
    }

    /// Adds a read that makes a replica: it disturbs as any other, but is no host read.
    pub fn read_by_job(&mut self, layout: &Layout, ppn: Ppn) -> bool {
        let crossed = self.read(layout, layout.unit_of(ppn), ppn);
        let block = self.blocks[layout.block_of(ppn) as usize];
        self.reads[(block.rows + layout.page_in_block(ppn)) as usize] -= 1;
        crossed
    }

    /// Returns the sum of a block as counted.
    pub fn counted(&self, block: u32) -> u32 {
        self.blocks[block as usize].counted
    }

    /// Returns the watched point of a block.
    pub fn watch(&self, block: u32) -> u32 {
        self.blocks[block as usize].watch
    }

    /// Sets the watched point of a block.
    pub fn set_watch(&mut self, block: u32, watch: u32) {
        self.blocks[block as usize].watch = watch;
    }

    /// Returns the blocks of a unit.
    pub fn blocks_of(&self, unit: UnitId) -> std::ops::Range<u32> {
        unit.0 * self.blocks_per_unit..(unit.0 + 1) * self.blocks_per_unit
    }

    /// Returns the unit of a block.
    pub fn unit_of(&self, block: u32) -> UnitId {
        UnitId(block / self.blocks_per_unit)
    }

    /// Returns the largest sum of a unit's blocks, as counted.
    pub fn of_unit(&self, unit: UnitId) -> u32 {
        self.blocks_of(unit).map(|block| self.counted(block)).max().unwrap_or(0)
    }

    /// Resets the sums and the mode of an erased unit.
    pub fn erase(&mut self, unit: UnitId) {
        for block in self.blocks_of(unit) {
            let block = &mut self.blocks[block as usize];
            self.largest = self.largest.max(block.actual);
            *block = Block::FRESH;
        }
    }

    /// Sets the mode of an empty unit before it is programmed.
    pub fn set_mode(&mut self, unit: UnitId, mode: u8) {
        for block in self.blocks_of(unit) {
            self.blocks[block as usize].rows = u32::from(mode) * self.pages_per_block;
        }
    }

    /// Returns the mode of a unit in the array.
    pub fn mode_of(&self, unit: UnitId) -> u8 {
        (self.blocks[self.blocks_of(unit).start as usize].rows / self.pages_per_block) as u8
    }

    /// Returns the largest mode of any block. The sums do not know their geometry yet; it is that of `like`.
    pub fn last_mode(&self, like: &Self) -> Option<u32> {
        self.blocks.iter().map(|block| block.rows / like.pages_per_block).max()
    }

    /// Yields the sums of the model, by block.
    pub fn actual(&self) -> impl Iterator<Item = u32> + '_ {
        self.blocks.iter().map(|block| block.actual)
    }

    /// Returns the largest sum of the model that any block had since counting began.
    pub fn largest(&self) -> u32 {
        self.actual().max().unwrap_or(0).max(self.largest)
    }

    /// Returns the host reads by mode and number of the page in its block: `mode * pages_per_block + page`.
    pub fn reads(&self) -> &[u64] {
        &self.reads
    }

    /// Resets the counters when counting begins; disturbance stays.
    pub fn restart(&mut self) {
        self.reads.fill(0);
        self.largest = 0;
    }

    /// Restores the sums from a snapshot; returns false if it is of another drive. If the saved manager counted
    /// differently, this one continues from the sums of the model.
    pub fn adopt(&mut self, saved: Self, alike: bool) -> bool {
        if saved.blocks.len() != self.blocks.len() {
            return false;
        }
        let rows = self.weights.len() as u32 - self.pages_per_block;
        if saved.blocks.iter().any(|block| block.rows > rows || block.rows % self.pages_per_block != 0) {
            return false;
        }
        self.blocks = saved.blocks;
        if !alike {
            self.blocks.iter_mut().for_each(|block| block.counted = block.actual);
        }
        if saved.reads.len() == self.reads.len() {
            (self.reads, self.largest) = (saved.reads, saved.largest);
        }
        true
    }
}
