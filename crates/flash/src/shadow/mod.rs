//! The shadow model: beside any back end it keeps the correct content of the drive, and checks every command.
//!
//! Each host write of a page creates new content, identified by a *token*. A program stores the token in the flash
//! page, a copy carries it along, and an erase forgets it. A wrong read, or a copy of a page that is not needed, is
//! thus detected at once. Several logical pages may have the same content: the drive reports that at the host write
//! ([`Flash::share`]), and every later read of any of them must return its token. If a power cut loses data that gather
//! in the controller, no page may be erased while data moved from it gather, and a FLUSH or FUA may leave no host data
//! there. Memory: 8 bytes per logical page, 12 bytes per physical page, and some for each shared content.

mod contents;

use crate::disturbance::Disturbance;
use crate::{Cause, Counters, Flash, Layout, Part, Scaling};
use contents::Contents;
use floatgate_base::{IdSlice, IdVec, Lpn, Owner, Ppn, UnitId};
use floatgate_nand::Disturb;
use std::collections::BTreeSet;
use std::ops::Range;

/// Source unit of a page that the host wrote.
const WRITTEN: UnitId = UnitId::MAX;
/// Source unit of a page if it is unknown.
const SOMEWHERE: UnitId = UnitId(u32::MAX - 1);

/// A back end observed by the shadow model.
#[derive(Clone, Debug)]
pub struct Shadow<F> {
    inner: F,
    contents: Contents,
    next_page: IdVec<UnitId, u32>,
    /// If a power cut loses gathering data: by physical page, the unit that it was moved from. Covers units with an
    /// incomplete flash page.
    came_from: IdVec<Ppn, UnitId>,
    filling: BTreeSet<UnitId>,
    /// Present if reads disturb.
    disturbance: Option<Box<Disturbance>>,
    violation: Option<String>,
}

impl<F: Flash> Shadow<F> {
    /// Returns the observed back end for modification.
    pub fn inner_mut(&mut self) -> &mut F {
        &mut self.inner
    }

    /// Returns the observed back end.
    #[must_use]
    pub fn inner(&self) -> &F {
        &self.inner
    }

    /// Observes `inner`, a fresh array, for a drive with this many logical pages.
    #[must_use]
    pub fn new(inner: F, logical_pages: u32) -> Self {
        let pages = inner.layout().pages();
        let units = inner.layout().units();
        Self {
            inner,
            contents: Contents::new(logical_pages, pages),
            next_page: IdVec::filled(0, units),
            came_from: IdVec::default(),
            filling: BTreeSet::new(),
            disturbance: None,
            violation: None,
        }
    }

    /// Checks also that power cuts lose no data on which the host may rely.
    #[must_use]
    pub fn with_power_cuts(mut self) -> Self {
        self.came_from = IdVec::filled(SOMEWHERE, self.inner.layout().pages());
        self
    }

    /// Checks also the disturbance of blocks by reads; if `enforced`, a read beyond the maximum is a violation.
    #[must_use]
    pub fn with_disturb(mut self, disturb: Disturb, enforced: bool) -> Self {
        self.disturbance = Some(Box::new(Disturbance::new(disturb, self.inner.layout(), enforced)));
        self
    }

    /// Returns the disturbance of a block, numbered over the drive, in thousandths of a read.
    #[must_use]
    pub fn disturbance(&self, block: u32) -> Option<u32> {
        self.disturbance.as_ref().map(|disturbance| disturbance.sum(block))
    }

    /// Disturbs the block of a page that stays on flash.
    fn disturb(&mut self, ppn: Ppn) {
        let Some(disturbance) = &mut self.disturbance else { return };
        if self.inner.is_gathering(ppn) {
            return;
        }
        let layout = self.inner.layout();
        let mode = self.inner.mode(layout.unit_of(ppn));
        if let Some(what) = disturbance.read(layout, ppn, mode) {
            self.fail(what);
        }
    }

    /// Disturbs the blocks of consecutive pages, once per flash page.
    fn disturb_flash_pages(&mut self, first: Ppn, pages: u32) {
        let pieces = self.inner.layout().by_flash_page(first, pages);
        pieces.for_each(|(ppn, _)| self.disturb(ppn));
    }

    /// Returns the pages in the incomplete flash page of a unit.
    fn gathering(&self, unit: UnitId) -> Range<Ppn> {
        let layout = self.inner.layout();
        let next = layout.first_page(unit) + self.next_page[unit];
        Ppn(next.0 & !(layout.subpages() - 1))..next
    }

    /// Returns a needed page that gathers and came from a unit.
    fn gathered_from(&self, from: UnitId) -> Option<Ppn> {
        let gathering = self.filling.iter().flat_map(|&unit| Ppn::each(self.gathering(unit)));
        let mut candidates = gathering.filter(|&ppn| self.came_from[ppn] == from);
        candidates.find(|&ppn| self.contents.is_needed(ppn))
    }

    /// Returns the token of the host's newest write to a page; 0 without content.
    #[must_use]
    pub fn newest(&self, lpn: Lpn) -> u64 {
        self.contents.newest(lpn)
    }

    fn fail(&mut self, what: String) {
        self.violation.get_or_insert(what);
    }

    /// Checks that pages of a block are programmed in order, each once between two erases.
    fn check_order(&mut self, ppn: Ppn) {
        let layout = self.inner.layout();
        let unit = layout.unit_of(ppn);
        let offset = ppn - layout.first_page(unit);
        let next = self.next_page[unit];
        if offset != next {
            self.fail(format!("page {offset} of unit {unit} programmed instead of page {next}"));
        }
        self.next_page[unit] = offset + 1;
        if !self.came_from.is_empty() {
            let left = self.inner.layout().left_of_flash_page(ppn + 1);
            if left > 0 {
                self.filling.insert(unit)
            } else {
                self.filling.remove(&unit)
            };
        }
    }

    /// Checks that a page holds the host's newest content of a logical page.
    fn check_newest(&mut self, ppn: Ppn, lpn: Lpn, action: &str) {
        if !self.is_newest(lpn, Some(ppn)) {
            let (writer, token) = self.contents.at(ppn);
            let newest = self.contents.newest(lpn);
            self.fail(format!(
                "{action} of logical page {lpn} at physical page {ppn} returned write {token} of logical page \
                 {writer}, not its newest write {newest}"
            ));
        }
    }

    /// Checks that a page moved for a side table is needed by some logical page.
    fn check_needed(&mut self, ppn: Ppn) {
        if !self.contents.is_needed(ppn) {
            let (_, token) = self.contents.at(ppn);
            self.fail(format!("copy of physical page {ppn} with write {token}, which no logical page needs"));
        }
    }

    /// Checks that all pages of a chunk are read, as a read of one of its slots requires.
    fn check_whole(&mut self, first: Ppn, pages: u32) {
        if !self.contents.is_whole(first, pages) {
            self.fail(format!("{pages} pages from {first} on were read as a chunk, but are none"));
        }
    }
}

impl<F: Flash> Flash for Shadow<F> {
    fn program(&mut self, ppn: Ppn, lpn: Lpn, cause: Cause) {
        self.check_order(ppn);
        self.contents.write(ppn, lpn);
        if let Some(from) = self.came_from.get_mut(ppn) {
            *from = WRITTEN;
        }
        self.inner.program(ppn, lpn, cause);
    }

    fn copy(&mut self, source: Ppn, destination: Ppn, owner: Owner, cause: Cause) {
        match owner.lpn() {
            Some(lpn) => self.check_newest(source, lpn, "copy"),
            None => self.check_needed(source),
        }
        // Pages of other jobs leave a block that is about to be erased.
        if cause == Cause::Replica {
            self.disturb(source);
        }
        self.check_order(destination);
        self.contents.copy(source, destination);
        if let Some(from) = self.came_from.get_mut(destination) {
            *from = self.inner.layout().unit_of(source);
        }
        self.inner.copy(source, destination, owner, cause);
    }

    fn fetch(&mut self, sources: &[(Ppn, Owner)], cause: Cause) {
        self.inner.fetch(sources, cause);
    }

    fn read_run(&mut self, pages: &[(Ppn, Lpn)], cause: Cause) {
        let layout = self.inner.layout();
        let flash_page = pages.first().map(|&(ppn, _)| layout.flash_page_of(ppn));
        if pages.iter().any(|&(ppn, _)| Some(layout.flash_page_of(ppn)) != flash_page) {
            self.fail(format!("pages read as one lie in several flash pages: {pages:?}"));
        }
        pages.iter().for_each(|&(ppn, lpn)| self.check_newest(ppn, lpn, "read"));
        if let Some(&(first, _)) = pages.first() {
            self.disturb(first);
        }
        self.inner.read_run(pages, cause);
    }

    fn pad(&mut self, first: Ppn, pages: u32, cause: Cause) {
        Ppn::each(first..first + pages).for_each(|ppn| self.check_order(ppn));
        if self.inner.layout().left_of_flash_page(first + pages) > 0 {
            self.fail(format!("padding from page {first} on does not fill its flash page"));
        }
        self.inner.pad(first, pages, cause);
    }

    fn replace(&mut self, ppn: Ppn, before: Ppn) {
        self.inner.replace(ppn, before);
    }

    fn flush(&mut self) {
        if let Some(ppn) = self.gathered_from(WRITTEN) {
            let (lpn, _) = self.contents.at(ppn);
            self.fail(format!("logical page {lpn} still gathers at physical page {ppn} after a FLUSH"));
        }
        self.inner.flush();
    }

    fn force(&mut self, pages: &[(Ppn, Lpn)]) {
        for &(ppn, lpn) in pages {
            let gathers = self.gathering(self.inner.layout().unit_of(ppn)).contains(&ppn);
            if gathers && self.came_from.get(ppn) == Some(&WRITTEN) {
                self.fail(format!(
                    "logical page {lpn} still gathers at physical page {ppn} after a FUA write"
                ));
            }
        }
        self.inner.force(pages);
    }

    fn host_content(&mut self, lpn: Lpn, fingerprint: u64) {
        self.contents.announce(lpn, fingerprint);
        self.inner.host_content(lpn, fingerprint);
    }

    fn share(&mut self, part: Part, lpn: Lpn) {
        if let Some(what) = self.contents.share(part, lpn) {
            self.fail(what);
            return;
        }
        self.inner.share(part, lpn);
    }

    fn gather(&mut self, chunk: u32, slot: u8, lpn: Lpn) {
        self.contents.gather(chunk, slot, lpn);
        self.inner.gather(chunk, slot, lpn);
    }

    fn forget_gathered(&mut self, chunk: u32) {
        if self.contents.needs_gathered(chunk) {
            self.fail(format!("chunk {chunk} was discarded in the controller, but is still needed"));
        }
        self.contents.forget_gathered(chunk);
        self.inner.forget_gathered(chunk);
    }

    fn read_gathered(&mut self, chunk: u32, lpn: Lpn) {
        if !self.contents.gathers(chunk, lpn) {
            let newest = self.contents.newest(lpn);
            self.fail(format!(
                "read of logical page {lpn} did not find write {newest} in chunk {chunk}, which gathers"
            ));
        }
        self.inner.read_gathered(chunk, lpn);
    }

    fn read_chunk(&mut self, first: Ppn, pages: u32, lpn: Lpn, cause: Cause) {
        self.check_newest(first, lpn, "read");
        self.check_whole(first, pages);
        self.disturb_flash_pages(first, pages);
        self.inner.read_chunk(first, pages, lpn, cause);
    }

    fn fetch_chunks(&mut self, sources: &[(Ppn, u32)], cause: Cause) {
        sources.iter().for_each(|&(first, pages)| self.check_whole(first, pages));
        self.inner.fetch_chunks(sources, cause);
    }

    fn program_chunk(&mut self, first: Ppn, pages: u32, parts: &[Part], cause: Cause) {
        Ppn::each(first..first + pages).for_each(|ppn| self.check_order(ppn));
        if let Some(what) = self.contents.pack(first, pages, parts) {
            self.fail(what);
        }
        if !self.came_from.is_empty() {
            let from = parts.iter().find_map(|part| match part {
                Part::Packed { first, .. } => Some(self.inner.layout().unit_of(*first)),
                _ => None,
            });
            let from = from.unwrap_or(WRITTEN);
            Ppn::each(first..first + pages).for_each(|ppn| self.came_from[ppn] = from);
        }
        self.inner.program_chunk(first, pages, parts, cause);
    }

    fn install_chunk(&mut self, first: Ppn, pages: u32, slots: &[Option<Lpn>]) {
        self.contents.install_chunk(first, pages, slots);
        self.inner.install_chunk(first, pages, slots);
    }

    fn install_gathered(&mut self, chunk: u32, slot: u8, lpn: Lpn) {
        self.contents.install_gathered(chunk, slot, lpn);
        self.inner.install_gathered(chunk, slot, lpn);
    }

    fn is_gathered(&self, chunk: u32, lpn: Lpn) -> bool {
        self.contents.gathers(chunk, lpn)
    }

    fn read(&mut self, ppn: Ppn, lpn: Lpn, cause: Cause) {
        self.check_newest(ppn, lpn, "read");
        self.disturb(ppn);
        self.inner.read(ppn, lpn, cause);
    }

    fn read_unmapped(&mut self, lpn: Lpn) {
        if !self.contents.is_newest(lpn, None) {
            self.fail(format!("read of logical page {lpn} returned no data; it was written and not trimmed"));
        }
        self.inner.read_unmapped(lpn);
    }

    fn erase(&mut self, unit: UnitId, cause: Cause) {
        let first = self.inner.layout().first_page(unit);
        // The newest content may be erased only after its copy exists, which then carries the token elsewhere. If no
        // copy was made, the audit of the map detects the page.
        for ppn in Ppn::each(first..first + self.inner.layout().pages_per_unit()) {
            self.contents.erase(ppn);
        }
        self.next_page[unit] = 0;
        if let Some(disturbance) = &mut self.disturbance {
            disturbance.erase(self.inner.layout(), unit);
        }
        if !self.came_from.is_empty() {
            self.filling.remove(&unit);
            if let Some(ppn) = self.gathered_from(unit) {
                let (lpn, _) = self.contents.at(ppn);
                self.fail(format!(
                    "unit {unit} was erased while logical page {lpn}, moved from it, gathers at {ppn}"
                ));
            }
        }
        self.inner.erase(unit, cause);
    }

    fn set_mode(&mut self, unit: UnitId, mode: u8) {
        let programmed = self.next_page[unit];
        if programmed > 0 {
            self.fail(format!(
                "mode {mode} of unit {unit} comes after {programmed} of its pages were programmed"
            ));
        }
        self.inner.set_mode(unit, mode);
    }

    fn mode(&self, unit: UnitId) -> u8 {
        self.inner.mode(unit)
    }

    fn set_erase_mode(&mut self, unit: UnitId, mode: u8) {
        self.inner.set_erase_mode(unit, mode);
    }

    fn deepen(&mut self, unit: UnitId, mode: u8, cause: Cause) {
        let programmed = self.next_page[unit];
        let now = self.inner.scaling().map_or(0, |scaling| scaling.mode(unit));
        if programmed > 0 || mode >= now {
            self.fail(format!(
                "unit {unit} in mode {now} is erased again, to mode {mode}, after {programmed} of its pages were programmed"
            ));
        }
        self.inner.deepen(unit, mode, cause);
    }

    #[inline]
    fn count_scaled(&mut self, ppn: Ppn, cause: Cause) {
        self.inner.count_scaled(ppn, cause);
    }

    fn scaling(&self) -> Option<&Scaling> {
        self.inner.scaling()
    }

    fn load(&self) -> (u64, u64) {
        self.inner.load()
    }

    fn is_gathering(&self, ppn: Ppn) -> bool {
        self.inner.is_gathering(ppn)
    }

    fn install_replica(&mut self, ppn: Ppn, original: Ppn) {
        self.contents.copy(original, ppn);
        self.inner.install_replica(ppn, original);
    }

    fn install_disturbance(&mut self, block: u32, sum: u32) {
        if let Some(disturbance) = &mut self.disturbance {
            disturbance.install(block, sum);
        }
        self.inner.install_disturbance(block, sum);
    }

    fn endures_more(&mut self) -> bool {
        self.inner.endures_more()
    }

    fn in_background(&mut self, on: bool) {
        self.inner.in_background(on);
    }

    fn trim(&mut self, lpn: Lpn) {
        self.contents.give_up(lpn);
        self.inner.trim(lpn);
    }

    fn install(&mut self, ppn: Ppn, lpn: Option<Lpn>) {
        self.check_order(ppn);
        if let Some(lpn) = lpn {
            self.contents.install(ppn, lpn);
        }
        self.inner.install(ppn, lpn);
    }

    fn erase_count(&self, unit: UnitId) -> u32 {
        self.inner.erase_count(unit)
    }

    fn reset_counts(&mut self) {
        self.inner.reset_counts();
    }

    fn counters(&self) -> &Counters {
        self.inner.counters()
    }

    fn erase_counts(&self) -> &IdSlice<UnitId, u32> {
        self.inner.erase_counts()
    }

    fn layout(&self) -> &Layout {
        self.inner.layout()
    }

    fn is_newest(&self, lpn: Lpn, ppn: Option<Ppn>) -> bool {
        self.contents.is_newest(lpn, ppn)
    }

    fn violation(&self) -> Option<&str> {
        self.violation.as_deref()
    }
}

#[cfg(test)]
mod tests;
