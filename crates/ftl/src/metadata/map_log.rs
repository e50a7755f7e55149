//! Changes of the map that are not on flash yet, and the pages that are due for them.

use super::{Metadata, MetadataCounters};
use floatgate_base::Lpn;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A page that is due to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DuePage {
    /// A page of the map.
    Map(Lpn),
    /// The next page of the journal.
    Journal(Lpn),
}

/// A page of the map that changed since it was last written.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Changed {
    page: u32,
    /// Page of the journal, counted from the first one, that has the first of its changes.
    first: u64,
}

/// The log.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MapLog {
    setup: Metadata,
    /// Changes that are in no page of the journal yet.
    pending: u64,
    /// Pages of the journal written so far.
    written: u64,
    /// Pages of the map that changed, in the order of their first changes.
    changed: VecDeque<Changed>,
    /// Whether a page of the map is in that queue.
    is_changed: Vec<bool>,
    pub counters: MetadataCounters,
}

impl MapLog {
    pub fn new(setup: Metadata) -> Self {
        Self {
            setup,
            pending: 0,
            written: 0,
            changed: VecDeque::new(),
            is_changed: vec![false; setup.map_pages() as usize],
            counters: MetadataCounters::default(),
        }
    }

    /// Counts a change by the host to the entry of a logical page. Metadata have no entries.
    #[inline(always)]
    pub fn changed(&mut self, lpn: Lpn) {
        if self.touch(lpn) {
            self.pending += 1;
            self.counters.updates += 1;
        }
    }

    /// Counts a move of a logical page. The block that takes it names its pages, so the journal needs no record; the
    /// page of the map changes all the same. Were moves to fill the journal, one with few changes per page would never
    /// end: its own pages lead to moves.
    #[inline(always)]
    pub fn moved(&mut self, lpn: Lpn) {
        if self.touch(lpn) {
            self.counters.moves += 1;
        }
    }

    /// Marks the page of the map with the entry of a logical page as changed. Returns false for a page of metadata.
    #[inline(always)]
    fn touch(&mut self, lpn: Lpn) -> bool {
        let setup = &self.setup;
        if lpn.0 >= setup.logical_pages {
            return false;
        }
        let page = lpn.0 / setup.entries_per_page;
        if !std::mem::replace(&mut self.is_changed[page as usize], true) {
            self.changed.push_back(Changed { page, first: self.written });
        }
        true
    }

    /// Returns the next page to write; `flushes` if all changes must be in the journal, however few they are.
    ///
    /// Before a page of the journal is overwritten, the pages of the map with changes in it are written.
    #[inline(always)]
    pub fn take_due(&mut self, flushes: bool) -> Option<DuePage> {
        let setup = &self.setup;
        let fills = u64::from(setup.updates_per_page);
        if self.pending < fills && !(flushes && self.pending > 0) {
            return None;
        }
        let overwrites = |changed: &Changed| changed.first + u64::from(setup.journal_pages) <= self.written;
        if let Some(&Changed { page, .. }) = self.changed.front().filter(|changed| overwrites(changed)) {
            self.changed.pop_front();
            self.is_changed[page as usize] = false;
            self.counters.map_pages += 1;
            return Some(DuePage::Map(setup.map_page(page)));
        }
        let due = setup.journal_page(self.written);
        self.counters.flushed_pages += u64::from(self.pending < fills);
        self.pending = self.pending.saturating_sub(fills);
        self.written += 1;
        self.counters.journal_pages += 1;
        Some(DuePage::Journal(due))
    }

    /// Checks whether a saved log can take the place of another one.
    pub fn is_of_one_drive(own: Option<&Self>, saved: Option<&Self>) -> bool {
        match (own, saved) {
            (Some(own), Some(saved)) => own.setup == saved.setup && saved.is_sound(),
            (None, None) => true,
            _ => false,
        }
    }

    fn is_sound(&self) -> bool {
        let marked = self.is_changed.iter().filter(|changed| **changed).count();
        let within = |changed: &Changed| {
            self.is_changed.get(changed.page as usize) == Some(&true) && changed.first <= self.written
        };
        self.is_changed.len() == self.setup.map_pages() as usize
            && marked == self.changed.len()
            && self.changed.iter().all(within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8 logical pages, 2 entries a page of the map, 3 changes a page of the journal, 2 pages of the journal.
    fn small() -> MapLog {
        MapLog::new(Metadata { logical_pages: 8, entries_per_page: 2, updates_per_page: 3, journal_pages: 2 })
    }

    fn due(log: &mut MapLog, lpns: &[u32]) -> Vec<DuePage> {
        lpns.iter().for_each(|&lpn| log.changed(Lpn(lpn)));
        std::iter::from_fn(|| log.take_due(false)).collect()
    }

    /// Worked by hand. The map's pages are 8 to 11, the journal's 12 and 13.
    #[test]
    fn pages_are_written_before_their_record_is_overwritten() {
        let mut log = small();
        assert_eq!(due(&mut log, &[0, 1]), []);
        // The third change fills page 0 of the journal.
        assert_eq!(due(&mut log, &[6]), [DuePage::Journal(Lpn(12))]);
        assert_eq!(due(&mut log, &[2, 2, 0]), [DuePage::Journal(Lpn(13))]);
        // Page 2 overwrites page 0, which has the first changes of pages 0 and 3 of the map; page 1 may wait.
        let third = [DuePage::Map(Lpn(8)), DuePage::Map(Lpn(11)), DuePage::Journal(Lpn(12))];
        assert_eq!(due(&mut log, &[2, 2, 2]), third);
        // Page 3 overwrites page 1, the first to know page 1 of the map. Page 0 of it was written and changes anew.
        let fourth = [DuePage::Map(Lpn(9)), DuePage::Journal(Lpn(13))];
        assert_eq!(due(&mut log, &[0, 0, 0]), fourth);
        let counters =
            MetadataCounters { updates: 12, moves: 0, journal_pages: 4, flushed_pages: 0, map_pages: 3 };
        assert_eq!(log.counters, counters);
    }

    /// A move dirties its page of the map and fills no page of the journal.
    #[test]
    fn moves_need_no_record() {
        let mut log = small();
        log.moved(Lpn(5));
        assert_eq!(log.take_due(true), None);
        assert_eq!(
            due(&mut log, &[0, 0, 0, 0, 0, 0]),
            [DuePage::Journal(Lpn(12)), DuePage::Journal(Lpn(13))]
        );
        let third = [DuePage::Map(Lpn(10)), DuePage::Map(Lpn(8)), DuePage::Journal(Lpn(12))];
        assert_eq!(due(&mut log, &[0, 0, 0]), third);
        assert_eq!((log.counters.updates, log.counters.moves), (9, 1));
    }

    #[test]
    fn a_flush_writes_what_is_there() {
        let mut log = small();
        assert_eq!(log.take_due(true), None);
        assert_eq!(due(&mut log, &[5]), []);
        assert_eq!(log.take_due(true), Some(DuePage::Journal(Lpn(12))));
        assert_eq!(log.take_due(true), None);
        assert_eq!((log.counters.flushed_pages, log.counters.journal_pages), (1, 1));
    }

    #[test]
    fn metadata_have_no_entries() {
        let mut log = small();
        assert_eq!(due(&mut log, &[8, 9, 12, 13]), []);
        assert_eq!(log.counters.updates, 0);
    }
}
