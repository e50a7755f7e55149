//! Content that several logical pages share: one physical page, or one slot of a chunk, for all of them.
//!
//! An entry stays until its last logical page leaves. With one page left it could become a plain page again, but
//! finding that page would take a search. Memory: 8 bytes per content, for the most that were ever shared at once.

use super::SideTable;
use floatgate_base::memory::grow;
use floatgate_base::{Lpn, MapWord, Ppn};
use serde::{Deserialize, Serialize};

/// An entry; free if no page refers to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    /// Where the content lies: a plain word, or that of a chunk.
    place: MapWord,
    /// Logical pages that share it.
    referrers: u32,
}

/// The shared contents of a drive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shared {
    entries: Vec<Entry>,
    free: Vec<u32>,
    /// The most logical pages that ever shared one content.
    most: u32,
    /// Logical pages that share content now.
    referrers: u64,
}

impl Shared {
    /// Adds the content at a place, with one logical page so far.
    pub fn add(&mut self, place: MapWord) -> u32 {
        let entry = self.free.pop().unwrap_or_else(|| {
            grow(&mut self.entries, 1, Entry { place, referrers: 0 });
            self.entries.len() as u32 - 1
        });
        self.entries[entry as usize] = Entry { place, referrers: 1 };
        self.referrers += 1;
        entry
    }

    /// Adds a logical page to the content.
    #[inline(always)]
    pub fn refer(&mut self, entry: u32) {
        let referrers = &mut self.entries[entry as usize].referrers;
        *referrers += 1;
        self.most = self.most.max(*referrers);
        self.referrers += 1;
    }

    /// Locates the content.
    #[inline(always)]
    pub fn place(&self, entry: u32) -> MapWord {
        self.entries[entry as usize].place
    }

    /// Sets the place of the content.
    #[inline(always)]
    pub fn set_place(&mut self, entry: u32, place: MapWord) {
        self.entries[entry as usize].place = place;
    }

    /// Removes a logical page from the content. Returns the content's place if it was the last one.
    #[inline(always)]
    pub fn release(&mut self, entry: u32) -> Option<MapWord> {
        self.referrers -= 1;
        let Entry { place, referrers } = &mut self.entries[entry as usize];
        *referrers -= 1;
        if *referrers > 0 {
            return None;
        }
        self.free.push(entry);
        Some(*place)
    }

    /// Prefetches an entry.
    #[inline(always)]
    pub fn prefetch(&self, entry: u32) {
        floatgate_base::prefetch::prefetch(&self.entries, entry as usize);
    }

    /// Returns the shared contents, the logical pages that share them, and the most that ever shared one.
    pub fn counts(&self) -> (u64, u64, u32) {
        ((self.entries.len() - self.free.len()) as u64, self.referrers, self.most)
    }

    /// Returns the bytes of the table.
    pub fn memory_bytes(&self) -> u64 {
        (self.entries.len() * size_of::<Entry>() + self.free.len() * size_of::<u32>()) as u64
    }

    /// Yields all entries in use, with their places.
    pub fn iter(&self) -> impl Iterator<Item = (u32, MapWord)> + '_ {
        let used = (0..).zip(&self.entries).filter(|(_, entry)| entry.referrers > 0);
        used.map(|(number, entry)| (number, entry.place))
    }
}

impl SideTable for Shared {
    fn pages_of(&self, entry: u32, _: Lpn, each: &mut dyn FnMut(Ppn)) {
        self.place(entry).ppn().into_iter().for_each(each);
    }

    fn relink(&mut self, entry: u32, from: Ppn, to: Ppn) {
        debug_assert_eq!(self.place(entry), MapWord::plain(from));
        self.set_place(entry, MapWord::plain(to));
    }

    fn each_page(&self, each: &mut dyn FnMut(u32, Ppn)) {
        self.iter()
            .filter_map(|(entry, place)| Some((entry, place.ppn()?)))
            .for_each(|(entry, ppn)| each(entry, ppn));
    }

    fn audit(&self, entry: u32, logical_pages: u32) -> Result<(), String> {
        let counted = self.entries[entry as usize].referrers;
        if counted == logical_pages {
            return Ok(());
        }
        Err(format!("{logical_pages} logical pages have shared content {entry}, it counts {counted}"))
    }

    fn entries(&self) -> u32 {
        self.entries.len() as u32
    }
}
