//! Read counters of pages, for managers that sort pages by reads.

use floatgate_base::{IdVec, Ppn, UnitId, prefetch::prefetch};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// Counters of the reads of pages since their block was erased.
pub trait Hotness {
    /// Creates the counters of an empty drive.
    fn new(layout: &Layout) -> Self;
    /// Counts a host read of a page.
    fn read(&mut self, ppn: Ppn);
    /// Prefetches what [`Hotness::read`] will change.
    fn prefetch(&self, ppn: Ppn);
    /// Samples the counters of these pages, whose block has reached a sample point.
    fn sample(&mut self, pages: impl Iterator<Item = Ppn>);
    /// Returns how hot a page is.
    fn of(&self, ppn: Ppn) -> u32;
    /// Resets the counters of an erased unit.
    fn erased(&mut self, layout: &Layout, unit: UnitId);
    /// Returns the bytes of the counters.
    fn memory_bytes(&self) -> u64;
    /// Checks whether the counters fit this layout.
    fn fits(&self, layout: &Layout) -> bool;
}

/// Two 4-bit counters per page (section 4.3.4). The first counts reads and saturates. At each sample, the second counts
/// up if the first is saturated, and the first restarts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TwoLevel(IdVec<Ppn, u8>);

const FIRST: u8 = 0x0f;

impl Hotness for TwoLevel {
    fn new(layout: &Layout) -> Self {
        Self(IdVec::filled(0, layout.pages()))
    }

    #[inline(always)]
    fn read(&mut self, ppn: Ppn) {
        let counters = &mut self.0[ppn];
        *counters += u8::from(*counters & FIRST != FIRST);
    }

    #[inline(always)]
    fn prefetch(&self, ppn: Ppn) {
        prefetch(self.0.as_slice(), ppn.index());
    }

    fn sample(&mut self, pages: impl Iterator<Item = Ppn>) {
        for ppn in pages {
            let counters = &mut self.0[ppn];
            let second = *counters >> 4;
            *counters = (second + u8::from(*counters & FIRST == FIRST)).min(FIRST) << 4;
        }
    }

    fn of(&self, ppn: Ppn) -> u32 {
        u32::from(self.0[ppn] >> 4)
    }

    fn erased(&mut self, layout: &Layout, unit: UnitId) {
        let first = layout.first_page(unit).index();
        self.0.as_mut_slice()[first..][..layout.pages_per_unit() as usize].fill(0);
    }

    fn memory_bytes(&self) -> u64 {
        self.0.len() as u64
    }

    fn fits(&self, layout: &Layout) -> bool {
        self.0.len() == layout.pages() as usize
    }
}

/// An exact count per page.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Exact(IdVec<Ppn, u32>);

impl Hotness for Exact {
    fn new(layout: &Layout) -> Self {
        Self(IdVec::filled(0, layout.pages()))
    }

    #[inline(always)]
    fn read(&mut self, ppn: Ppn) {
        let count = &mut self.0[ppn];
        *count = count.saturating_add(1);
    }

    #[inline(always)]
    fn prefetch(&self, ppn: Ppn) {
        prefetch(self.0.as_slice(), ppn.index());
    }

    fn sample(&mut self, _: impl Iterator<Item = Ppn>) {}

    fn of(&self, ppn: Ppn) -> u32 {
        self.0[ppn]
    }

    fn erased(&mut self, layout: &Layout, unit: UnitId) {
        let first = layout.first_page(unit).index();
        self.0.as_mut_slice()[first..][..layout.pages_per_unit() as usize].fill(0);
    }

    fn memory_bytes(&self) -> u64 {
        (self.0.len() * size_of::<u32>()) as u64
    }

    fn fits(&self, layout: &Layout) -> bool {
        self.0.len() == layout.pages() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_flash::Scope;
    use floatgate_nand::Geometry;

    #[test]
    fn the_second_counter_counts_samples_in_which_the_first_was_full() {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 2,
            pages_per_block: 4,
            page_bytes: 4096,
        };
        let layout = Layout::new(geometry, Scope::Plane);
        let mut counters = TwoLevel::new(&layout);
        let block = || Ppn::each(Ppn(0)..Ppn(4));
        for sample in 0..20 {
            (0..15).for_each(|_| counters.read(Ppn(1)));
            (0..100).for_each(|_| counters.read(Ppn(2)));
            (0..14).for_each(|_| counters.read(Ppn(3)));
            counters.sample(block());
            let most = (sample + 1).min(15);
            assert_eq!([0, 1, 2, 3].map(|page| counters.of(Ppn(page))), [0, most, most, 0]);
        }
        counters.erased(&layout, UnitId(0));
        assert_eq!(counters.of(Ppn(1)), 0);
    }
}
