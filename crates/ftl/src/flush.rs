//! Drives without power-loss protection: a power cut loses the pages that the controller gathers until a flash page is
//! full.
//!
//! FLUSH and FUA program that flash page before it is full and pad the rest. Collection does the same before it erases:
//! the pages it moved would have no other copy, and pages that the host rewrote would have neither a new nor an old
//! one. A flash page that holds only moved pages need not reach the flash for a FLUSH, for their sources still exist.
//!
//! FLUSH and FUA reach the FTL as extents of kind `Flush`. `volatile.rs` records which gathering pages were moved.

use crate::ftl::Ftl;
use crate::jobs::Job;
use crate::units::Frontier;
use floatgate_base::{DomainId, Lpn, Ppn};
use floatgate_flash::{Cause, Flash};
use std::ops::Range;

impl Ftl {
    /// Programs what the host wrote of these pages before the request is done; all pages if `pages` is 0.
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
            if gathering.is_empty() {
                continue;
            }
            let is_forced = pages == 0 || forced.iter().any(|(ppn, _)| gathering.contains(ppn));
            if is_forced && self.has_host_page(slot, gathering.end - gathering.start) {
                self.pad_flash_page(flash, slot, Cause::Padding);
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

    /// Returns the pages of an open unit that lie in a flash page that is not full.
    fn gathering(&self, frontier: Frontier) -> Range<Ppn> {
        Ppn(frontier.next.0 & !(self.layout.subpages() - 1))..frontier.next
    }

    /// Checks whether any of the last `gathering` pages of a slot came from the host.
    fn has_host_page(&self, slot: usize, gathering: u32) -> bool {
        let next = self.frontiers[slot].next;
        self.volatile.pages_within(&self.layout, slot, next) < gathering
    }

    /// Pads and programs the partial flash page of an open unit.
    fn pad_flash_page<F: Flash>(&mut self, flash: &mut F, slot: usize, cause: Cause) {
        let frontier = &mut self.frontiers[slot];
        let padding = self.layout.left_of_flash_page(frontier.next);
        flash.pad(frontier.next, padding, cause);
        frontier.next += padding;
        self.units.meta[frontier.unit].valid -= padding;
        self.free_pages.take(u64::from(padding));
        self.open_pages.filled(u64::from(padding), self.now);
    }

    /// Programs all data that a job moved out of its source, and host rewrites of it, before the source is erased.
    #[cold]
    pub(crate) fn persist_moves<F: Flash>(&mut self, flash: &mut F, job: &mut Job) {
        let (source, cause) = (job.source(), job.request.cause);
        for slot in 0..self.frontiers.len() {
            let next = self.frontiers[slot].next;
            let gathers = self.layout.left_of_flash_page(next) > 0;
            if gathers && self.volatile.depends_on(&self.layout, slot, next, source) {
                self.pad_flash_page(flash, slot, cause);
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

    /// Counts victims of a domain that gained nothing in a row, this one included. Padding, or chunks that meet the end
    /// of a unit, may cost more than a victim frees.
    #[cold]
    pub(crate) fn count_victim(&mut self, domain: DomainId) -> u32 {
        let open: u64 = self.open_rooms(domain).map(u64::from).sum();
        let free = u64::from(self.free[domain].len()) * u64::from(self.layout.pages_per_unit()) + open;
        self.volatile.count_victim(domain, self.now, free)
    }
}
