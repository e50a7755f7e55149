//! The shadow model: beside any back end it keeps what an honest drive would hold, and checks every command.
//!
//! Each host write of a page makes new content, known by a *token*. Programming writes the token into the flash page,
//! copying carries it along, erasing forgets it; so a read, or a copy of a page that nobody needs, shows at once. Several
//! logical pages may have the same content: the drive says so when the host writes ([`Flash::share`]), and from then on
//! each of them must find its token wherever the drive sends the read.
//! Where a power cut loses what gathers in the controller, no page may be erased while what was moved from it gathers, and a
//! FLUSH or FUA may leave nothing there that the host wrote.
//! Memory: 8 bytes a logical page, 12 bytes a physical page, and some for each content that is shared.

use crate::disturbance::Disturbance;
use crate::{Cause, Counters, Flash, Layout};
use floatgate_base::{IdSlice, IdVec, Lpn, Owner, Ppn, UnitId};
use floatgate_nand::Disturb;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

const ERASED: Lpn = Lpn::MAX;
/// Token of a page that was never written, or was trimmed.
const GONE: u64 = 0;

/// As the unit that a page came from: the host wrote it.
const WRITTEN: UnitId = UnitId::MAX;
/// As such: not known.
const SOMEWHERE: UnitId = UnitId(u32::MAX - 1);

/// A back end under the eyes of the shadow model.
#[derive(Clone, Debug)]
pub struct Shadow<F> {
    inner: F,
    /// Tokens given out.
    writes: u64,
    /// By logical page, what the host wrote last.
    newest: IdVec<Lpn, u64>,
    /// By physical page, the token that it holds, and the logical page for which that was made.
    content: IdVec<Ppn, u64>,
    writer: IdVec<Ppn, Lpn>,
    /// Tokens that were shared and are still needed, with how many logical pages have them.
    sharers: BTreeMap<u64, u32>,
    next_page: IdVec<UnitId, u32>,
    /// Where a power cut loses what gathers: by physical page, the unit that it was moved from, and units within a flash page.
    came_from: IdVec<Ppn, UnitId>,
    filling: BTreeSet<UnitId>,
    /// Where reads disturb.
    disturbance: Option<Box<Disturbance>>,
    violation: Option<String>,
}

impl<F: Flash> Shadow<F> {
    /// What is watched.
    pub fn inner_mut(&mut self) -> &mut F {
        &mut self.inner
    }

    /// What is watched.
    #[must_use]
    pub fn inner(&self) -> &F {
        &self.inner
    }

    /// Watches `inner`, a fresh array, on behalf of a drive with this many logical pages.
    #[must_use]
    pub fn new(inner: F, logical_pages: u32) -> Self {
        let pages = inner.layout().pages();
        let units = inner.layout().units();
        Self {
            inner,
            writes: GONE,
            newest: IdVec::filled(GONE, logical_pages),
            content: IdVec::filled(GONE, pages),
            writer: IdVec::filled(ERASED, pages),
            sharers: BTreeMap::new(),
            next_page: IdVec::filled(0, units),
            came_from: IdVec::default(),
            filling: BTreeSet::new(),
            disturbance: None,
            violation: None,
        }
    }

    /// Watches, too, that power cuts lose nothing that the host may count on.
    #[must_use]
    pub fn with_power_cuts(mut self) -> Self {
        self.came_from = IdVec::filled(SOMEWHERE, self.inner.layout().pages());
        self
    }

    /// Watches, too, by how much reads disturb blocks; where it is `enforced`, no read may go beyond the maximum.
    #[must_use]
    pub fn with_disturb(mut self, disturb: Disturb, enforced: bool) -> Self {
        self.disturbance = Some(Box::new(Disturbance::new(disturb, self.inner.layout(), enforced)));
        self
    }

    /// The disturbance of a block, numbered over the drive, in thousandths of a read.
    #[must_use]
    pub fn disturbance(&self, block: u32) -> Option<u32> {
        self.disturbance.as_ref().map(|disturbance| disturbance.sum(block))
    }

    /// The flash reads a page whose data stay there.
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

    /// The pages in a flash page that is not full, of a unit.
    fn gathering(&self, unit: UnitId) -> Range<Ppn> {
        let layout = self.inner.layout();
        let next = layout.first_page(unit) + self.next_page[unit];
        Ppn(next.0 & !(layout.subpages() - 1))..next
    }

    /// Whether some logical page has what a page holds.
    fn is_needed(&self, ppn: Ppn) -> bool {
        let (writer, token) = (self.writer[ppn], self.content[ppn]);
        token != GONE && (self.newest[writer] == token || self.sharers.contains_key(&token))
    }

    /// A needed page that gathers and came from a unit.
    fn gathered_from(&self, from: UnitId) -> Option<Ppn> {
        let gathering = self.filling.iter().flat_map(|&unit| Ppn::each(self.gathering(unit)));
        let mut found = gathering.filter(|&ppn| self.came_from[ppn] == from);
        found.find(|&ppn| self.is_needed(ppn))
    }

    /// Token of what the host wrote last to a page; 0 if there is nothing.
    #[must_use]
    pub fn newest(&self, lpn: Lpn) -> u64 {
        self.newest[lpn]
    }

    fn fail(&mut self, what: String) {
        self.violation.get_or_insert(what);
    }

    /// Flash programs the pages of a block in order, each once between two erases.
    fn check_order(&mut self, ppn: Ppn) {
        let layout = self.inner.layout();
        let unit = layout.unit_of(ppn);
        let offset = ppn - layout.first_page(unit);
        let next = self.next_page[unit];
        if offset != next {
            self.fail(format!("page {offset} of unit {unit} programmed where page {next} was due"));
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

    /// What a page holds is what the host wrote last to a logical page.
    fn check_newest(&mut self, ppn: Ppn, lpn: Lpn, action: &str) {
        if !self.is_newest(lpn, Some(ppn)) {
            let (writer, token) = (self.writer[ppn], self.content[ppn]);
            let newest = self.newest[lpn];
            self.fail(format!(
                "{action} of logical page {lpn} at physical page {ppn} found what logical page {writer} was given by \
                 write {token}; it was given write {newest} last"
            ));
        }
    }

    /// A page that is moved for the sake of a side table is needed by some logical page.
    fn check_needed(&mut self, ppn: Ppn) {
        if !self.is_needed(ppn) {
            let token = self.content[ppn];
            self.fail(format!("copy of physical page {ppn} with write {token}, which no logical page needs"));
        }
    }

    /// A logical page has other content from now on.
    fn set_newest(&mut self, lpn: Lpn, token: u64) {
        let before = std::mem::replace(&mut self.newest[lpn], token);
        if let Some(sharers) = self.sharers.get_mut(&before) {
            *sharers -= 1;
            if *sharers == 0 {
                self.sharers.remove(&before);
            }
        }
    }

    /// A page takes on new content for a logical page.
    fn write(&mut self, ppn: Ppn, lpn: Lpn) {
        self.writes += 1;
        self.set_newest(lpn, self.writes);
        (self.writer[ppn], self.content[ppn]) = (lpn, self.writes);
    }
}

impl<F: Flash> Flash for Shadow<F> {
    fn program(&mut self, ppn: Ppn, lpn: Lpn, cause: Cause) {
        self.check_order(ppn);
        self.write(ppn, lpn);
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
        self.writer[destination] = self.writer[source];
        self.content[destination] = self.content[source];
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
            let lpn = self.writer[ppn];
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

    fn share(&mut self, ppn: Ppn, lpn: Lpn) {
        let (writer, token) = (self.writer[ppn], self.content[ppn]);
        if token == GONE {
            self.fail(format!("logical page {lpn} was to share physical page {ppn}, which holds nothing"));
            return;
        }
        // The first to have it is still there, or nobody is.
        let first = u32::from(self.newest[writer] == token);
        *self.sharers.entry(token).or_insert(first) += 1;
        self.set_newest(lpn, token);
        self.inner.share(ppn, lpn);
    }

    fn read(&mut self, ppn: Ppn, lpn: Lpn, cause: Cause) {
        self.check_newest(ppn, lpn, "read");
        self.disturb(ppn);
        self.inner.read(ppn, lpn, cause);
    }

    fn read_unmapped(&mut self, lpn: Lpn) {
        if self.newest[lpn] != GONE {
            self.fail(format!("read of logical page {lpn} found nothing; it was written and not trimmed"));
        }
        self.inner.read_unmapped(lpn);
    }

    fn erase(&mut self, unit: UnitId, cause: Cause) {
        let first = self.inner.layout().first_page(unit);
        // The newest content may go only after its copy exists, which then carries the token elsewhere; the audit of the map
        // finds the page if no copy was made.
        for ppn in Ppn::each(first..first + self.inner.layout().pages_per_unit()) {
            (self.writer[ppn], self.content[ppn]) = (ERASED, GONE);
        }
        self.next_page[unit] = 0;
        if let Some(disturbance) = &mut self.disturbance {
            disturbance.erase(self.inner.layout(), unit);
        }
        if !self.came_from.is_empty() {
            self.filling.remove(&unit);
            if let Some(ppn) = self.gathered_from(unit) {
                let lpn = self.writer[ppn];
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

    fn is_gathering(&self, ppn: Ppn) -> bool {
        self.inner.is_gathering(ppn)
    }

    fn install_replica(&mut self, ppn: Ppn, original: Ppn) {
        self.writer[ppn] = self.writer[original];
        self.content[ppn] = self.content[original];
        self.inner.install_replica(ppn, original);
    }

    fn install_disturbance(&mut self, block: u32, sum: u32) {
        if let Some(disturbance) = &mut self.disturbance {
            disturbance.install(block, sum);
        }
        self.inner.install_disturbance(block, sum);
    }

    fn stands_more(&mut self) -> bool {
        self.inner.stands_more()
    }

    fn in_background(&mut self, on: bool) {
        self.inner.in_background(on);
    }

    fn trim(&mut self, lpn: Lpn) {
        self.set_newest(lpn, GONE);
        self.inner.trim(lpn);
    }

    fn install(&mut self, ppn: Ppn, lpn: Option<Lpn>) {
        self.check_order(ppn);
        if let Some(lpn) = lpn {
            self.write(ppn, lpn);
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
        let newest = self.newest[lpn];
        match ppn {
            Some(ppn) => newest != GONE && self.content[ppn] == newest,
            None => newest == GONE,
        }
    }

    fn violation(&self) -> Option<&str> {
        self.violation.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Functional, Scope};
    use floatgate_base::SideKind;
    use floatgate_nand::Geometry;

    fn shadow() -> Shadow<Functional> {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 4,
            pages_per_block: 4,
            page_bytes: 4096,
        };
        Shadow::new(Functional::new(Layout::new(geometry, Scope::Plane)), 8)
    }

    #[test]
    fn an_honest_sequence_passes() {
        let mut s = shadow();
        s.read_unmapped(Lpn(3));
        s.program(Ppn(0), Lpn(3), Cause::Host);
        s.program(Ppn(1), Lpn(3), Cause::Host);
        s.copy(Ppn(1), Ppn(4), Owner::page(Lpn(3)), Cause::Gc);
        s.erase(UnitId(0), Cause::Gc);
        s.read(Ppn(4), Lpn(3), Cause::Host);
        s.program(Ppn(0), Lpn(1), Cause::Host);
        s.trim(Lpn(1));
        s.read_unmapped(Lpn(1));
        assert_eq!(s.violation(), None);
    }

    #[test]
    fn modes_are_set_before_the_first_program() {
        let mut s = shadow();
        s.set_mode(UnitId(0), 2);
        assert_eq!((s.inner().mode(UnitId(0)), s.inner().mode(UnitId(1))), (2, 0));
        s.program(Ppn(0), Lpn(3), Cause::Host);
        s.copy(Ppn(0), Ppn(4), Owner::page(Lpn(3)), Cause::Gc);
        s.erase(UnitId(0), Cause::Gc);
        assert_eq!(s.inner().mode(UnitId(0)), 0);
        s.set_mode(UnitId(0), 1);
        assert_eq!((s.violation(), s.inner().mode(UnitId(0))), (None, 1));
    }

    #[test]
    fn each_kind_of_lie_is_found() {
        let lies: [fn(&mut Shadow<Functional>); 7] = [
            |s| s.program(Ppn(1), Lpn(0), Cause::Host),
            |s| s.read_unmapped(Lpn(7)),
            |s| s.read(Ppn(0), Lpn(7), Cause::Host),
            |s| s.read(Ppn(2), Lpn(2), Cause::Host),
            |s| s.copy(Ppn(0), Ppn(4), Owner::page(Lpn(7)), Cause::Gc),
            |s| s.program(Ppn(2), Lpn(5), Cause::Host),
            |s| s.set_mode(UnitId(0), 0),
        ];
        for (i, lie) in lies.iter().enumerate() {
            let mut s = shadow();
            if i > 0 {
                s.program(Ppn(0), Lpn(7), Cause::Host);
                s.program(Ppn(1), Lpn(7), Cause::Host);
            }
            if i == 5 {
                s.program(Ppn(2), Lpn(5), Cause::Host);
            }
            assert_eq!(s.violation(), None);
            lie(&mut s);
            assert!(s.violation().is_some(), "lie {i} went unseen");
        }
    }

    #[test]
    fn shared_content_lives_as_long_as_one_page_has_it() {
        let owner = Owner::side(SideKind::Shared, 0);
        let mut s = shadow();
        s.program(Ppn(0), Lpn(3), Cause::Host);
        s.share(Ppn(0), Lpn(5));
        s.copy(Ppn(0), Ppn(4), owner, Cause::Gc);
        s.read(Ppn(4), Lpn(3), Cause::Host);
        s.read(Ppn(4), Lpn(5), Cause::Host);
        s.program(Ppn(1), Lpn(3), Cause::Host);
        s.read(Ppn(4), Lpn(5), Cause::Host);
        s.copy(Ppn(4), Ppn(5), owner, Cause::Gc);
        assert_eq!(s.violation(), None);
        assert!(
            s.is_newest(Lpn(5), Some(Ppn(5)))
                && s.is_newest(Lpn(3), Some(Ppn(1)))
                && !s.is_newest(Lpn(3), Some(Ppn(5)))
        );
        let shared = s.clone();
        s.trim(Lpn(5));
        assert!(s.is_newest(Lpn(5), None));
        s.copy(Ppn(5), Ppn(6), owner, Cause::Gc);
        assert!(s.violation().is_some_and(|fault| fault.contains("no logical page needs")));
        // One that has it no more does not read it, either.
        let mut s = shared;
        s.read(Ppn(5), Lpn(3), Cause::Host);
        assert!(s.violation().is_some());
    }

    #[test]
    fn nothing_is_no_content_to_share() {
        let mut s = shadow();
        s.share(Ppn(2), Lpn(1));
        assert!(s.violation().is_some_and(|fault| fault.contains("holds nothing")));
    }
}
