//! Read rates of pages: reads divided by the time between the first and the last of them (redFTL, section 3.4.2). Time
//! is logical: it advances by one with each page that the host reads.

use floatgate_base::{IdVec, Ppn, UnitId, prefetch::prefetch};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// Reads of a page since its block was erased: 12 bytes. Times wrap around.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct PageReads {
    reads: u32,
    first: u32,
    last: u32,
}

/// Reads of all pages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Rates {
    now: u32,
    pages: IdVec<Ppn, PageReads>,
}

impl Rates {
    pub fn new(layout: &Layout) -> Self {
        Self { now: 0, pages: IdVec::filled(PageReads::default(), layout.pages()) }
    }

    #[inline(always)]
    pub fn read(&mut self, ppn: Ppn) {
        self.now = self.now.wrapping_add(1);
        let page = &mut self.pages[ppn];
        if page.reads == 0 {
            page.first = self.now;
        }
        page.reads = page.reads.saturating_add(1);
        page.last = self.now;
    }

    #[inline(always)]
    pub fn prefetch(&self, ppn: Ppn) {
        prefetch(self.pages.as_slice(), ppn.index());
    }

    pub fn erased(&mut self, layout: &Layout, unit: UnitId) {
        let first = layout.first_page(unit).index();
        self.pages.as_mut_slice()[first..][..layout.pages_per_unit() as usize].fill(PageReads::default());
    }

    /// Returns the reads of a page.
    pub fn reads_of(&self, ppn: Ppn) -> u32 {
        self.pages[ppn].reads
    }

    /// Returns the rate of a page; 0 with fewer than 2 reads, which span no time.
    pub fn of_page(&self, ppn: Ppn) -> f64 {
        let page = self.pages[ppn];
        rate(page.reads, page.last.wrapping_sub(page.first))
    }

    /// Returns the rate of a unit: all reads of its pages, from the first to the last.
    pub fn of_unit(&self, layout: &Layout, unit: UnitId) -> f64 {
        let first = layout.first_page(unit).index();
        let pages = &self.pages.as_slice()[first..][..layout.pages_per_unit() as usize];
        let read = || pages.iter().filter(|page| page.reads > 0);
        let reads = read().map(|page| page.reads).fold(0, u32::saturating_add);
        let oldest = read().map(|page| self.now.wrapping_sub(page.first)).max().unwrap_or(0);
        let newest = read().map(|page| self.now.wrapping_sub(page.last)).min().unwrap_or(0);
        // Times of pages that were first read 2^32 reads ago have wrapped around.
        rate(reads, oldest.saturating_sub(newest))
    }

    pub fn memory_bytes(&self) -> u64 {
        (self.pages.len() * size_of::<PageReads>()) as u64
    }

    pub fn fits(&self, layout: &Layout) -> bool {
        self.pages.len() == layout.pages() as usize
    }
}

fn rate(reads: u32, time: u32) -> f64 {
    if reads < 2 { 0.0 } else { f64::from(reads) / f64::from(time.max(1)) }
}
