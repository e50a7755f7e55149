//! Read disturb in the shadow model: the sum of each block, independent of the sums of managers.

use crate::Layout;
use floatgate_base::{Ppn, UnitId};
use floatgate_nand::Disturb;

/// The disturbance of every block.
#[derive(Clone, Debug)]
pub(crate) struct Disturbance {
    disturb: Disturb,
    /// Whether a read beyond the maximum is a violation.
    enforced: bool,
    /// By block, numbered over the drive; thousandths of a read.
    sums: Vec<u32>,
}

impl Disturbance {
    /// Creates the sums of blocks without reads.
    pub fn new(disturb: Disturb, layout: &Layout, enforced: bool) -> Self {
        Self { disturb, enforced, sums: vec![0; layout.geometry().blocks() as usize] }
    }

    /// Adds a read of a page, in a block of this mode; returns the violation, if any.
    pub fn read(&mut self, layout: &Layout, ppn: Ppn, mode: u8) -> Option<String> {
        let page = layout.page_in_block(ppn);
        let weight = self.disturb.weight(mode, page % self.disturb.types);
        let block = layout.block_of(ppn);
        let sum = &mut self.sums[block as usize];
        *sum = sum.saturating_add(weight);
        (self.enforced && *sum > self.disturb.max).then(|| {
            format!(
                "a read of physical page {ppn} brings the disturbance of block {block} to {sum} thousandths of a read; at most \
                 {} are allowed",
                self.disturb.max
            )
        })
    }

    /// Clears the sums of an erased unit.
    pub fn erase(&mut self, layout: &Layout, unit: UnitId) {
        let blocks = layout.blocks_per_unit();
        self.sums[(unit.0 * blocks) as usize..][..blocks as usize].fill(0);
    }

    /// Restores the sum of a block from a snapshot.
    pub fn install(&mut self, block: u32, sum: u32) {
        self.sums[block as usize] = sum;
    }

    /// Returns the sum of a block.
    pub fn sum(&self, block: u32) -> u32 {
        self.sums[block as usize]
    }
}
