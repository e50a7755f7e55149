//! The shadow model: beside any back end it keeps what an honest drive would hold, and checks every command.
//!
//! Each host write of a page makes a new version of it. Programming writes the version into the flash page, copying
//! carries it along, erasing forgets it; so a read, or a copy of a page that is not the newest, shows at once.
//! Memory: 8 bytes a logical page and 12 bytes a physical page.

use crate::{Cause, Counters, Flash, Layout};
use floatgate_base::{Lpn, Ppn, UnitId};

const ERASED: Lpn = Lpn::MAX;
/// Version of a page that was never written, or was trimmed.
const GONE: u64 = 0;

/// A back end under the eyes of the shadow model.
#[derive(Clone, Debug)]
pub struct Shadow<F> {
    inner: F,
    writes: u64,
    newest: Vec<u64>,
    content_lpn: Vec<Lpn>,
    content_version: Vec<u64>,
    next_page: Vec<u32>,
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
        let pages = inner.layout().pages() as usize;
        let units = inner.layout().units() as usize;
        Self {
            inner,
            writes: GONE,
            newest: vec![GONE; logical_pages as usize],
            content_lpn: vec![ERASED; pages],
            content_version: vec![GONE; pages],
            next_page: vec![0; units],
            violation: None,
        }
    }

    /// Version of the page that the host wrote last; 0 if there is none.
    #[must_use]
    pub fn newest(&self, lpn: Lpn) -> u64 {
        self.newest[lpn as usize]
    }

    fn fail(&mut self, what: String) {
        self.violation.get_or_insert(what);
    }

    /// Flash programs the pages of a block in order, each once between two erases.
    fn check_order(&mut self, ppn: Ppn) {
        let layout = self.inner.layout();
        let unit = layout.unit_of(ppn);
        let offset = ppn - layout.first_page(unit);
        let next = self.next_page[unit as usize];
        if offset != next {
            self.fail(format!("page {offset} of unit {unit} programmed where page {next} was due"));
        }
        self.next_page[unit as usize] = offset + 1;
    }

    fn check_newest(&mut self, ppn: Ppn, lpn: Lpn, action: &str) {
        let (held, version) = (self.content_lpn[ppn as usize], self.content_version[ppn as usize]);
        let newest = self.newest[lpn as usize];
        if held != lpn || version != newest || newest == GONE {
            self.fail(format!(
                "{action} of logical page {lpn} at physical page {ppn} found logical page {held} version {version}; \
                 the newest is version {newest}"
            ));
        }
    }
}

impl<F: Flash> Flash for Shadow<F> {
    fn program(&mut self, ppn: Ppn, lpn: Lpn, cause: Cause) {
        self.check_order(ppn);
        self.writes += 1;
        self.newest[lpn as usize] = self.writes;
        self.content_lpn[ppn as usize] = lpn;
        self.content_version[ppn as usize] = self.writes;
        self.inner.program(ppn, lpn, cause);
    }

    fn copy(&mut self, source: Ppn, destination: Ppn, lpn: Lpn, cause: Cause) {
        self.check_newest(source, lpn, "copy");
        self.check_order(destination);
        self.content_lpn[destination as usize] = self.content_lpn[source as usize];
        self.content_version[destination as usize] = self.content_version[source as usize];
        self.inner.copy(source, destination, lpn, cause);
    }

    fn read(&mut self, ppn: Ppn, lpn: Lpn, cause: Cause) {
        self.check_newest(ppn, lpn, "read");
        self.inner.read(ppn, lpn, cause);
    }

    fn read_unmapped(&mut self, lpn: Lpn) {
        if self.newest[lpn as usize] != GONE {
            self.fail(format!("read of logical page {lpn} found nothing; it was written and not trimmed"));
        }
        self.inner.read_unmapped(lpn);
    }

    fn erase(&mut self, unit: UnitId, cause: Cause) {
        let first = self.inner.layout().first_page(unit);
        for ppn in first..first + self.inner.layout().pages_per_unit() {
            let lpn = std::mem::replace(&mut self.content_lpn[ppn as usize], ERASED);
            let version = std::mem::replace(&mut self.content_version[ppn as usize], GONE);
            // A newest version may go only after its copy exists, which then carries the same version elsewhere;
            // the audit of the map finds the page if no copy was made.
            debug_assert!(lpn == ERASED || version != GONE);
        }
        self.next_page[unit as usize] = 0;
        self.inner.erase(unit, cause);
    }

    fn set_mode(&mut self, unit: UnitId, mode: u8) {
        let programmed = self.next_page[unit as usize];
        if programmed > 0 {
            self.fail(format!(
                "mode {mode} of unit {unit} comes after {programmed} of its pages were programmed"
            ));
        }
        self.inner.set_mode(unit, mode);
    }

    fn stands_more(&mut self) -> bool {
        self.inner.stands_more()
    }

    fn in_background(&mut self, on: bool) {
        self.inner.in_background(on);
    }

    fn trim(&mut self, lpn: Lpn) {
        self.newest[lpn as usize] = GONE;
        self.inner.trim(lpn);
    }

    fn install(&mut self, ppn: Ppn, lpn: Option<Lpn>) {
        self.check_order(ppn);
        if let Some(lpn) = lpn {
            self.writes += 1;
            self.newest[lpn as usize] = self.writes;
            self.content_lpn[ppn as usize] = lpn;
            self.content_version[ppn as usize] = self.writes;
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

    fn erase_counts(&self) -> &[u32] {
        self.inner.erase_counts()
    }

    fn layout(&self) -> &Layout {
        self.inner.layout()
    }

    fn violation(&self) -> Option<&str> {
        self.violation.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Functional, Scope};
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
        s.read_unmapped(3);
        s.program(0, 3, Cause::Host);
        s.program(1, 3, Cause::Host);
        s.copy(1, 4, 3, Cause::Gc);
        s.erase(0, Cause::Gc);
        s.read(4, 3, Cause::Host);
        s.program(0, 1, Cause::Host);
        s.trim(1);
        s.read_unmapped(1);
        assert_eq!(s.violation(), None);
    }

    #[test]
    fn modes_are_set_before_the_first_program() {
        let mut s = shadow();
        s.set_mode(0, 2);
        assert_eq!((s.inner().mode(0), s.inner().mode(1)), (2, 0));
        s.program(0, 3, Cause::Host);
        s.copy(0, 4, 3, Cause::Gc);
        s.erase(0, Cause::Gc);
        assert_eq!(s.inner().mode(0), 0);
        s.set_mode(0, 1);
        assert_eq!((s.violation(), s.inner().mode(0)), (None, 1));
    }

    #[test]
    fn each_kind_of_lie_is_found() {
        let lies: [fn(&mut Shadow<Functional>); 7] = [
            |s| s.program(1, 0, Cause::Host),
            |s| s.read_unmapped(7),
            |s| s.read(0, 7, Cause::Host),
            |s| s.read(2, 2, Cause::Host),
            |s| s.copy(0, 4, 7, Cause::Gc),
            |s| s.program(2, 5, Cause::Host),
            |s| s.set_mode(0, 0),
        ];
        for (i, lie) in lies.iter().enumerate() {
            let mut s = shadow();
            if i > 0 {
                s.program(0, 7, Cause::Host);
                s.program(1, 7, Cause::Host);
            }
            if i == 5 {
                s.program(2, 5, Cause::Host);
            }
            assert_eq!(s.violation(), None);
            lie(&mut s);
            assert!(s.violation().is_some(), "lie {i} went unseen");
        }
    }
}
