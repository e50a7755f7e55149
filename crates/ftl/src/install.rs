//! Fills a drive without simulating its writes; for preconditioning only.

use crate::ftl::Ftl;
use floatgate_base::{DomainId, Lpn, MapWord, Owner, Ppn, UnitId};
use floatgate_flash::Flash;

/// Pages that are fetched together: about as many as the memory system can have in flight. Filling a drive in random
/// order is then bound by memory throughput, not by latency.
const GROUP: usize = 32;

impl Ftl {
    /// Fills a unit that [`Ftl::take_for_install`] took. `content` yields, for every page, its logical page or none for
    /// a dead page. The unit becomes the youngest closed one of its domain. Counts nothing.
    ///
    /// # Panics
    /// When a logical page is installed twice.
    pub fn install<F: Flash>(
        &mut self,
        flash: &mut F,
        unit: UnitId,
        content: impl Iterator<Item = Option<Lpn>>,
    ) {
        let first = self.layout.first_page(unit);
        let mut pages = Ppn::each(first..first + self.layout.pages_per_unit()).zip(content);
        let mut group = Vec::with_capacity(GROUP);
        let mut valid: u32 = 0;
        loop {
            group.clear();
            group.extend(pages.by_ref().take(GROUP));
            if group.is_empty() {
                break;
            }
            group.iter().filter_map(|&(_, lpn)| lpn).for_each(|lpn| self.mapping.prefetch(lpn));
            for &(ppn, lpn) in &group {
                if let Some(lpn) = lpn {
                    let before = self.mapping.replace(lpn, MapWord::plain(ppn));
                    assert!(!before.is_mapped(), "logical page {lpn} installed twice");
                    self.mapping.place(ppn, Owner::page(lpn));
                    valid += 1;
                }
                flash.install(ppn, lpn);
            }
        }
        self.installed(unit, valid);
    }

    /// Fills a unit with its part of a row of data at rest.
    ///
    /// A row is a list of stretches of logical pages, named by their numbers. A stretch has as many pages as one unit
    /// of each domain; it was written to the domains in turn, one flash page at a time. Rows must be the same for each
    /// unit of a drive. The map stores nothing per page for such data.
    pub fn install_at_rest<F: Flash>(&mut self, flash: &mut F, unit: UnitId, row: u32, stretches: &[u32]) {
        let (first, pages) = (self.layout.first_page(unit), self.layout.pages_per_unit());
        let lpn_of = self.mapping.lay_at_rest(&self.layout, (row, stretches), unit);
        flash.install_run(first, pages, lpn_of);
        self.installed(unit, pages);
    }

    fn installed(&mut self, unit: UnitId, valid: u32) {
        self.mapped_pages += u64::from(valid);
        self.units.meta[unit].valid = valid;
        self.enter_closed(unit);
        self.free_pages.take(u64::from(self.layout.pages_per_unit()));
    }

    /// Returns a unit that [`Ftl::take_for_install`] took: it stays free.
    pub fn give_back_to_install(&mut self, unit: UnitId) {
        self.free[self.layout.domain_of(unit)].put(unit, 0);
    }

    /// Takes all free units of a domain except `keep`, for [`Ftl::install`] to fill.
    pub fn take_for_install(&mut self, domain: DomainId, keep: u32) -> Vec<UnitId> {
        let pool = &mut self.free[domain];
        let mut units = pool.take_all();
        for unit in units.split_off(units.len().saturating_sub(keep as usize)) {
            pool.put(unit, 0);
        }
        units
    }
}
