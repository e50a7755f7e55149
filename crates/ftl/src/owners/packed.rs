//! Chunks: pages that were compressed together into fewer physical pages, which are consecutive in one unit.
//!
//! A chunk has slots, each with its owner and its compressed size. A slot that its owner gave up is a hole. Only as
//! many pages of a chunk count as live as its live slots would need if repacked. Units with holes thus have few valid
//! pages, and victim policies find them. The first page of a chunk lives as long as any slot does; without repacking,
//! all pages do.
//!
//! Memory: 4 bytes per slot, 2 more for its size, and 8 per chunk: 32 bytes for a chunk of four.

use super::SideTable;
use floatgate_base::memory::grow;
use floatgate_base::prefetch::prefetch;
use floatgate_base::{Lpn, Owner, Ppn, SideKind};
use serde::{Deserialize, Serialize};

/// The most slots that a chunk may have.
pub const SLOTS_MAX: u32 = 64;
/// Owner of a hole: beyond every logical page.
const HOLE: u32 = u32::MAX >> 1;
/// First page of a chunk that still gathers in the controller.
const NOWHERE: u32 = u32::MAX;
/// Words of an entry before those of its slots: the first page, then the numbers of pages, live pages and slots.
const HEAD: usize = 2;

/// A slot in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// Its index in the chunk.
    pub index: u8,
    /// A logical page, or a shared content.
    pub owner: Owner,
    /// Bytes after compression.
    pub bytes: u32,
}

/// The chunks of a drive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Packed {
    /// Entries of `stride` words each: head, owners of the slots, sizes less 1 (two per word).
    words: Vec<u32>,
    free: Vec<u32>,
    /// Slots that a chunk may have.
    slots_max: u32,
    page_bytes: u32,
    /// Whether live slots of moving chunks are repacked.
    pub repacks: bool,
    /// Holes in chunks on flash now.
    holes: u64,
}

impl Packed {
    /// Creates an empty table for logical pages of `page_bytes`.
    pub fn new(slots_max: u32, page_bytes: u32, repacks: bool) -> Self {
        Self { slots_max, page_bytes, repacks, ..Self::default() }
    }

    /// Returns the most slots that a chunk may have.
    pub fn slots_max(&self) -> u32 {
        self.slots_max
    }

    /// Checks whether another table is for chunks of the same kind.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.slots_max, self.page_bytes, self.repacks) == (other.slots_max, other.page_bytes, other.repacks)
    }

    /// Returns the pages that `bytes` fill.
    #[inline(always)]
    pub fn pages_for(&self, bytes: u32) -> u32 {
        bytes.div_ceil(self.page_bytes)
    }

    /// Checks whether `bytes` fit into `pages`. A product is cheaper than the quotient of [`Packed::pages_for`].
    #[inline(always)]
    pub fn fits_into(&self, bytes: u32, pages: u32) -> bool {
        u64::from(bytes) <= u64::from(pages) * u64::from(self.page_bytes)
    }

    /// Returns the words of an entry: head, owners, and half a word per size.
    #[inline(always)]
    fn stride(&self) -> usize {
        HEAD + (3 * self.slots_max as usize).div_ceil(2)
    }

    #[inline(always)]
    fn at(&self, entry: u32) -> usize {
        entry as usize * self.stride()
    }

    /// Adds a gathering chunk without any slot.
    pub fn add(&mut self) -> u32 {
        let stride = self.stride();
        let entry = self.free.pop().unwrap_or_else(|| {
            grow(&mut self.words, stride, 0);
            (self.words.len() / stride) as u32 - 1
        });
        let at = self.at(entry);
        (self.words[at], self.words[at + 1]) = (NOWHERE, 0);
        entry
    }

    /// Removes a chunk that has no live slot left.
    pub fn remove(&mut self, entry: u32) {
        let at = self.at(entry);
        (self.words[at], self.words[at + 1]) = (NOWHERE, 0);
        self.free.push(entry);
    }

    /// Returns the first page and the number of consecutive pages; none while the chunk gathers.
    #[inline(always)]
    pub fn pages(&self, entry: u32) -> Option<(Ppn, u32)> {
        let at = self.at(entry);
        let first = self.words[at];
        (first != NOWHERE).then(|| (Ppn(first), self.words[at + 1] & 0xff))
    }

    /// Returns the number of pages that count as live, the first ones.
    #[inline(always)]
    pub fn live_pages(&self, entry: u32) -> u32 {
        self.words[self.at(entry) + 1] >> 8 & 0xff
    }

    /// Returns the number of slots, holes included.
    #[inline(always)]
    pub fn slots(&self, entry: u32) -> u32 {
        self.words[self.at(entry) + 1] >> 16
    }

    /// Sets the pages on flash of a chunk without holes.
    pub fn set_pages(&mut self, entry: u32, first: Ppn, pages: u32) {
        debug_assert_eq!(self.live_slots(entry).count() as u32, self.slots(entry), "holes stay behind");
        let (at, slots) = (self.at(entry), self.slots(entry));
        (self.words[at], self.words[at + 1]) = (first.0, slots << 16 | pages << 8 | pages);
    }

    /// Appends a slot and returns its index.
    #[inline(always)]
    pub fn push(&mut self, entry: u32, owner: Owner, bytes: u32) -> u8 {
        let index = self.slots(entry);
        let at = self.at(entry);
        self.words[at + 1] = self.words[at + 1] & 0xffff | (index + 1) << 16;
        self.set_slot(entry, index, owner, bytes);
        index as u8
    }

    /// Sets owner and size of a slot.
    #[inline(always)]
    pub fn set_slot(&mut self, entry: u32, index: u32, owner: Owner, bytes: u32) {
        let at = self.at(entry) + HEAD;
        self.words[at + index as usize] = owner.bits();
        let size = &mut self.words[at + self.slots_max as usize + index as usize / 2];
        let shift = 16 * (index % 2);
        *size = *size & !(0xffff << shift) | (bytes - 1) << shift;
    }

    /// Returns the owners of the slots, holes included, and the words of their sizes.
    #[inline(always)]
    fn columns(&self, entry: u32) -> (&[u32], &[u32]) {
        let (at, slots) = (self.at(entry) + HEAD, self.slots(entry) as usize);
        let words = &self.words[at..];
        (&words[..slots], &words[self.slots_max as usize..][..slots.div_ceil(2)])
    }

    /// Yields the slots in use.
    #[inline(always)]
    pub fn live_slots(&self, entry: u32) -> impl Iterator<Item = Slot> + '_ {
        let (owners, sizes) = self.columns(entry);
        let used = (0..).zip(owners).filter(|(_, owner)| **owner != HOLE);
        used.map(move |(index, &owner)| Slot {
            index: index as u8,
            owner: Owner::of_bits(owner),
            bytes: size_of_slot(sizes, index),
        })
    }

    /// Checks whether any slot is in use.
    #[inline(always)]
    pub fn is_needed(&self, entry: u32) -> bool {
        self.columns(entry).0.iter().any(|&owner| owner != HOLE)
    }

    /// Returns the slot of an owner.
    #[inline(always)]
    pub fn slot_of(&self, entry: u32, owner: Owner) -> Option<Slot> {
        self.live_slots(entry).find(|slot| slot.owner == owner)
    }

    /// Replaces the owner of a slot.
    pub fn change_owner(&mut self, entry: u32, from: Owner, to: Owner) {
        let at = self.at(entry) + HEAD;
        let slots = self.slots(entry) as usize;
        if let Some(word) = self.words[at..at + slots].iter_mut().find(|word| **word == from.bits()) {
            *word = to.bits();
        }
    }

    /// Turns the slot of an owner into a hole and returns which pages are no longer live.
    #[inline(always)]
    pub fn lose(&mut self, entry: u32, owner: Owner) -> Lost {
        let at = self.at(entry);
        let [first, head, words @ ..] = &mut self.words[at..] else { unreachable!("entry {entry} is there") };
        let (pages, before, slots) = (*head & 0xff, *head >> 8 & 0xff, (*head >> 16) as usize);
        let (owners, sizes) = words.split_at_mut(self.slots_max as usize);
        let (mut bytes, mut left) = (0, 0);
        for (index, word) in owners[..slots].iter_mut().enumerate() {
            if *word == owner.bits() {
                *word = HOLE;
            } else if *word != HOLE {
                (bytes, left) = (bytes + size_of_slot(sizes, index), left + 1);
            }
        }
        if *first == NOWHERE {
            return Lost { dead: Ppn(0)..Ppn(0), is_empty: left == 0 };
        }
        let mut live = if left == 0 { 0 } else { pages };
        if self.repacks && left > 0 {
            // Almost always at most one page less: cheaper than a quotient.
            live = before;
            let page_bytes = u64::from(self.page_bytes);
            while live > 1 && u64::from(bytes) <= u64::from(live - 1) * page_bytes {
                live -= 1;
            }
        }
        *head = *head & !0xff00 | live << 8;
        self.holes += 1;
        if left == 0 {
            self.holes -= slots as u64;
        }
        let first = Ppn(*first);
        Lost { dead: first + live..first + before, is_empty: left == 0 }
    }

    /// Clears a slot of a gathering chunk whose data was written elsewhere.
    pub fn vacate(&mut self, entry: u32, index: u8) {
        let at = self.at(entry) + HEAD;
        self.words[at + usize::from(index)] = HOLE;
    }

    /// Returns the number of chunks, gathering ones included, and of holes in those on flash.
    pub fn counts(&self) -> (u64, u64) {
        (u64::from(self.entries()) - self.free.len() as u64, self.holes)
    }

    /// Subtracts the holes of a chunk on flash that will be repacked.
    pub fn forget_holes(&mut self, entry: u32) {
        self.holes -= u64::from(self.slots(entry)) - self.live_slots(entry).count() as u64;
    }

    /// Returns the bytes of the table.
    pub fn memory_bytes(&self) -> u64 {
        ((self.words.len() + self.free.len()) * size_of::<u32>()) as u64
    }

    /// Yields the chunks in use.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let mut free = vec![false; self.entries() as usize];
        self.free.iter().for_each(|&entry| free[entry as usize] = true);
        (0..self.entries()).filter(move |&entry| !free[entry as usize])
    }

    /// Prefetches the words of an entry.
    #[inline(always)]
    pub fn prefetch(&self, entry: u32) {
        let at = self.at(entry);
        prefetch(&self.words, at);
        // It may lie on two cache lines.
        prefetch(&self.words, at + self.stride() - 1);
    }

    /// Checks whether the table fits a drive of this size.
    pub fn fits(&self, pages: u32, logical_pages: u32) -> bool {
        let sound = |entry: u32| {
            let on_flash = self.pages(entry).is_none_or(|(first, count)| {
                u64::from(first.0) + u64::from(count) <= u64::from(pages) && self.live_pages(entry) <= count
            });
            let owners = self.live_slots(entry).all(|slot| match (slot.owner.lpn(), slot.owner.entry()) {
                (Some(lpn), _) => lpn.0 < logical_pages,
                (None, Some((kind, _))) => kind == SideKind::Shared,
                _ => false,
            });
            on_flash && owners
        };
        let whole = (1..=SLOTS_MAX).contains(&self.slots_max)
            && self.page_bytes > 0
            && self.words.len().is_multiple_of(self.stride());
        whole
            && self.free.iter().all(|&entry| entry < self.entries())
            && (0..self.entries()).all(|entry| self.slots(entry) <= self.slots_max)
            && self.iter().all(sound)
    }
}

/// Returns the bytes of a slot from the size words of its chunk.
#[inline(always)]
fn size_of_slot(sizes: &[u32], index: usize) -> u32 {
    (sizes[index / 2] >> (16 * (index % 2)) & 0xffff) + 1
}

/// The result of giving up a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    /// Pages that are no longer live.
    pub dead: std::ops::Range<Ppn>,
    /// Whether it was the last live slot of its chunk; the caller must then remove the entry.
    pub is_empty: bool,
}

impl SideTable for Packed {
    fn pages_of(&self, entry: u32, _: Lpn, each: &mut dyn FnMut(Ppn)) {
        if let Some((first, pages)) = self.pages(entry) {
            Ppn::each(first..first + pages).for_each(each);
        }
    }

    /// Never called: jobs move a chunk as a whole, not page by page.
    fn relink(&mut self, entry: u32, from: Ppn, to: Ppn) {
        debug_assert!(false, "chunk {entry} moves as a whole, not from {from:?} to {to:?}");
    }

    fn each_page(&self, each: &mut dyn FnMut(u32, Ppn)) {
        for entry in self.iter() {
            if let Some((first, _)) = self.pages(entry) {
                Ppn::each(first..first + self.live_pages(entry)).for_each(|ppn| each(entry, ppn));
            }
        }
    }

    fn audit(&self, entry: u32, logical_pages: u32) -> Result<(), String> {
        let own = self.live_slots(entry).filter(|slot| slot.owner.lpn().is_some()).count() as u32;
        if own != logical_pages {
            return Err(format!("{logical_pages} logical pages lie in chunk {entry}, it has {own}"));
        }
        let bytes: u32 = self.live_slots(entry).map(|slot| slot.bytes).sum();
        let Some((_, pages)) = self.pages(entry) else { return Ok(()) };
        let live = if self.repacks { self.pages_for(bytes).min(pages) } else { pages };
        let counted = self.live_pages(entry);
        if counted == live || self.free.contains(&entry) {
            return Ok(());
        }
        Err(format!("{counted} pages of chunk {entry} count as live, {live} should"))
    }

    fn entries(&self) -> u32 {
        (self.words.len() / self.stride()) as u32
    }
}
