//! Content that several logical pages have: one physical page, or one place in a chunk, for all of them.
//!
//! An entry outlives all but its last logical page; who that is nobody knows without a search, so it stays an entry.
//! Memory: 8 bytes per content that was ever shared at once.

use super::SideTable;
use floatgate_base::memory::grow;
use floatgate_base::{Lpn, MapWord, Ppn};
use serde::{Deserialize, Serialize};

/// An entry; free where nobody has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    /// Where the content lies: a plain word, or that of a chunk.
    place: MapWord,
    /// Logical pages that have it.
    referrers: u32,
}

/// The shared contents of a drive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shared {
    entries: Vec<Entry>,
    free: Vec<u32>,
    /// The most logical pages that one content ever had.
    most: u32,
    /// Logical pages that have shared content now.
    referrers: u64,
}

impl Shared {
    /// The content at a place becomes a shared one, of one logical page so far.
    pub fn add(&mut self, place: MapWord) -> u32 {
        let entry = self.free.pop().unwrap_or_else(|| {
            grow(&mut self.entries, 1, Entry { place, referrers: 0 });
            self.entries.len() as u32 - 1
        });
        self.entries[entry as usize] = Entry { place, referrers: 1 };
        self.referrers += 1;
        entry
    }

    /// One more logical page has the content.
    #[inline(always)]
    pub fn refer(&mut self, entry: u32) {
        let referrers = &mut self.entries[entry as usize].referrers;
        *referrers += 1;
        self.most = self.most.max(*referrers);
        self.referrers += 1;
    }

    /// Where the content lies.
    #[inline(always)]
    pub fn place(&self, entry: u32) -> MapWord {
        self.entries[entry as usize].place
    }

    /// The content lies elsewhere from now on.
    #[inline(always)]
    pub fn set_place(&mut self, entry: u32, place: MapWord) {
        self.entries[entry as usize].place = place;
    }

    /// A logical page has it no more; where it lay, if that was the last one.
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

    /// Asks for an entry ahead of time.
    #[inline(always)]
    pub fn prefetch(&self, entry: u32) {
        floatgate_base::prefetch::prefetch(&self.entries, entry as usize);
    }

    /// Contents that are shared now, the logical pages that have them, and the most that one ever had.
    pub fn counts(&self) -> (u64, u64, u32) {
        ((self.entries.len() - self.free.len()) as u64, self.referrers, self.most)
    }

    /// Bytes of the table.
    pub fn memory_bytes(&self) -> u64 {
        (self.entries.len() * size_of::<Entry>() + self.free.len() * size_of::<u32>()) as u64
    }

    /// All entries in use, with their places.
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
