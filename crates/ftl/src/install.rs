//! Putting a drive into a given state without writing it page by page: for preconditioning only.

use crate::ftl::Ftl;
use floatgate_base::{DomainId, Lpn, MapWord, Owner, Ppn, UnitId};
use floatgate_flash::Flash;

/// Pages that are fetched together: as many as the memory system has under way at once, so that filling a drive with
/// pages in random order is bound by its throughput and not by its latency.
const GROUP: usize = 32;

impl Ftl {
    /// Fills a unit that [`Ftl::take_for_install`] took: `content` yields, for every page, the logical page that
    /// lives there or none for a dead page. The unit becomes the youngest closed one of its domain. Counts nothing.
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
        let mut valid = 0;
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
        self.mapped_pages += valid;
        self.units.meta[unit].valid = valid as u32;
        self.enter_closed(unit);
        self.free_pages.take(u64::from(self.layout.pages_per_unit()));
    }

    /// Gives back a unit that [`Ftl::take_for_install`] took: it stays free.
    pub fn give_back_to_install(&mut self, unit: UnitId) {
        self.free[self.layout.domain_of(unit)].put(unit, 0);
    }

    /// Takes the free units of a domain away, except `keep` of them, for [`Ftl::install`] to fill.
    pub fn take_for_install(&mut self, domain: DomainId, keep: u32) -> Vec<UnitId> {
        let pool = &mut self.free[domain];
        let mut units = pool.take_all();
        for unit in units.split_off(units.len().saturating_sub(keep as usize)) {
            pool.put(unit, 0);
        }
        units
    }
}
