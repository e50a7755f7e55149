//! Drives without power-loss protection: what gathers in the controller until a flash page is full is lost in a power cut.
//!
//! FLUSH and FUA program it before its page is full, the rest of which is padding. So does collection before it erases:
//! what it moved would have no other copy, and what the host wrote anew neither a new nor an old one. A flash page that holds nothing but moved pages need not reach the flash for a
//! FLUSH, for their sources are still there.
//!
//! FLUSH and FUA reach the FTL as extents of kind `Flush`. `volatile.rs` remembers which pages that gather were moved.

use crate::ftl::Ftl;
use crate::jobs::Job;
use crate::units::Frontier;
use floatgate_base::{DomainId, Lpn, Ppn};
use floatgate_flash::{Cause, Flash};
use std::ops::Range;

impl Ftl {
    /// What the host wrote of these pages, or of all where there are none, is on flash before the request is done.
    #[cold]
    pub(crate) fn flush<F: Flash>(&mut self, flash: &mut F, first: Lpn, pages: u32) {
        if !self.volatile.is_on() {
            return;
        }
        self.free_pages.advance(self.now);
        let mut forced = std::mem::take(&mut self.reading);
        forced.clear();
        let all = Lpn::each(first..first + pages);
        forced
            .extend(all.filter_map(|lpn| self.mapping.page_of(self.mapping.get(lpn)).map(|ppn| (ppn, lpn))));
        for slot in 0..self.frontiers.len() {
            let gathering = self.gathering(self.frontiers[slot]);
            let is_forced = pages == 0 || forced.iter().any(|(ppn, _)| gathering.contains(ppn));
            if is_forced && self.holds_written(slot, gathering.end - gathering.start) {
                self.fill_up(flash, slot, Cause::Padding);
            }
        }
        if pages == 0 {
            flash.flush()
        } else {
            flash.force(&forced)
        }
        forced.clear();
        self.reading = forced;
    }

    /// The pages of an open unit that are in a flash page that is not full.
    fn gathering(&self, frontier: Frontier) -> Range<Ppn> {
        Ppn(frontier.next.0 & !(self.layout.subpages() - 1))..frontier.next
    }

    /// Whether any of the `gathering` pages that gather at a place came from the host.
    fn holds_written(&self, slot: usize, gathering: u32) -> bool {
        let next = self.frontiers[slot].next;
        self.volatile.pages_within(&self.layout, slot, next) < gathering
    }

    /// Programs the flash page that an open unit is within.
    fn fill_up<F: Flash>(&mut self, flash: &mut F, slot: usize, cause: Cause) {
        let frontier = &mut self.frontiers[slot];
        let padding = self.layout.left_of_flash_page(frontier.next);
        flash.pad(frontier.next, padding, cause);
        frontier.next += padding;
        self.units.meta[frontier.unit].valid -= padding;
        self.free_pages.take(u64::from(padding));
        self.open_pages.filled(u64::from(padding), self.now);
    }

    /// What has moved out of the source at hand, or was written anew, reaches the flash before that may be erased.
    #[cold]
    pub(crate) fn secure<F: Flash>(&mut self, flash: &mut F, job: &mut Job) {
        let (source, cause) = (job.source(), job.request.cause);
        for slot in 0..self.frontiers.len() {
            let next = self.frontiers[slot].next;
            let gathers = self.layout.left_of_flash_page(next) > 0;
            if gathers && self.volatile.owes(&self.layout, slot, next, source) {
                self.fill_up(flash, slot, cause);
            }
        }
        for target in &mut job.targets {
            let padding = self.layout.left_of_flash_page(target.next);
            if padding > 0 {
                flash.pad(target.next, padding, cause);
                target.next += padding;
                self.units.meta[target.unit].valid -= padding;
                self.free_pages.take(u64::from(padding));
            }
        }
    }

    /// Another victim of a domain is due: how many in a row have gained nothing, this one included. What is padded, or a chunk
    /// that meets the end of a unit, may cost more than a victim frees.
    #[cold]
    pub(crate) fn count_victim(&mut self, domain: DomainId) -> u32 {
        let open: u64 = self.open_rooms(domain).map(u64::from).sum();
        let free = u64::from(self.free[domain].len()) * u64::from(self.layout.pages_per_unit()) + open;
        self.volatile.count_victim(domain, self.now, free)
    }
}
