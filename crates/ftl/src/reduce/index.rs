//! The content index: where each content lies, for as many contents as it has entries.
//!
//! An entry names the owner of a content: the logical page that alone has it, or the shared content. It therefore needs
//! no update when pages move. Owners know their entry, which is given up as soon as no page has the content any more.
//! Full, the index evicts contents by second chance: a cyclic hand takes the next one without a hit since its last
//! pass.
//!
//! Cost: about two cache misses per search. Memory: 24 bytes and a bit per entry, 4 bytes per logical page.

use floatgate_base::memory::{grow, table};
use floatgate_base::prefetch::prefetch;
use floatgate_base::{IdVec, Lpn, Owner, SideKind};
use serde::{Deserialize, Serialize};

/// An entry: 16 bytes, which never straddles two cache lines. Entries count from 1; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    fingerprint: u64,
    owner: Owner,
    /// The next entry of its bucket, or of the free ones.
    next: u32,
}

/// With more buckets than entries, most searches for unknown content meet at most one entry.
const BUCKETS_PER_ENTRY: usize = 2;
/// How far ahead of the hand entries are prefetched.
const HAND_AHEAD: usize = 8;

/// Counters of entries since counting began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexCounters {
    /// Searches.
    pub searches: u64,
    /// Searches that found their content.
    pub hits: u64,
    /// Contents that were entered.
    pub entered: u64,
    /// Entries given up because no page had their content any more.
    pub stale: u64,
    /// Entries evicted for others.
    pub evicted: u64,
}

/// The index.
#[derive(Clone, Debug)]
pub(crate) struct ContentIndex {
    /// Entry 0 stands for none.
    entries: Vec<Entry>,
    /// Capacity in entries.
    size: u32,
    /// First entry of each bucket.
    heads: Vec<u32>,
    /// One bit per entry: hit since the hand last passed.
    referenced: Vec<u64>,
    /// Entry of each logical page that alone has an indexed content.
    of_page: IdVec<Lpn, u32>,
    /// Entry of each shared content.
    of_shared: Vec<u32>,
    /// First of the free entries, which are linked; those beyond `touched` have never been used.
    free: u32,
    touched: u32,
    hand: u32,
    used: u32,
    pub counters: IndexCounters,
}

/// What a snapshot stores.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedIndex {
    /// All entries that were ever used.
    entries: Vec<Entry>,
    referenced: Vec<u64>,
    free: u32,
    hand: u32,
    counters: IndexCounters,
}

/// Owner of a free entry, distinct from all owners.
const FREE: Owner = Owner::of_bits(u32::MAX);

impl ContentIndex {
    /// Creates an empty index.
    pub fn new(entries: u32, logical_pages: u32) -> Self {
        Self {
            entries: table(entries as usize + 1, Entry::default()),
            heads: table(BUCKETS_PER_ENTRY * entries as usize, 0),
            size: entries,
            referenced: vec![0; entries as usize / 64 + 1],
            of_page: table(logical_pages as usize, 0).into(),
            of_shared: Vec::new(),
            free: 0,
            touched: 0,
            hand: 0,
            used: 0,
            counters: IndexCounters::default(),
        }
    }

    /// Returns the capacity, and the entries in use.
    pub fn sizes(&self) -> (u64, u64) {
        (u64::from(self.size), u64::from(self.used))
    }

    /// Returns the bytes of all tables.
    pub fn memory_bytes(&self) -> u64 {
        let words = self.heads.len() + self.of_page.len() + self.of_shared.len();
        (self.entries.len() * size_of::<Entry>()
            + self.referenced.len() * size_of::<u64>()
            + words * size_of::<u32>()) as u64
    }

    #[inline(always)]
    fn bucket(&self, fingerprint: u64) -> usize {
        // An odd multiplier spreads consecutive fingerprints; the upper half of the product is taken.
        let mixed = fingerprint.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (((mixed >> 32) * self.heads.len() as u64) >> 32) as usize
    }

    /// Prefetches the bucket of a content that will be searched for soon.
    #[inline(always)]
    pub fn prefetch_bucket(&self, fingerprint: u64) {
        prefetch(&self.heads, self.bucket(fingerprint));
    }

    /// Prefetches its first entry, once the bucket has arrived.
    #[inline(always)]
    pub fn prefetch_entry(&self, fingerprint: u64) {
        prefetch(&self.entries, self.heads[self.bucket(fingerprint)] as usize);
    }

    /// Prefetches the entry number of a page that will be written soon.
    #[inline(always)]
    pub fn prefetch_page(&self, lpn: Lpn) {
        prefetch(self.of_page.as_slice(), lpn.index());
    }

    /// Prefetches the entry of a page, once its number has arrived.
    #[inline(always)]
    pub fn prefetch_entry_of(&self, lpn: Lpn) {
        prefetch(&self.entries, self.of_page[lpn] as usize);
    }

    /// Prefetches the entry number of a shared content that may be given up soon.
    #[inline(always)]
    pub fn prefetch_shared(&self, shared: u32) {
        prefetch(&self.of_shared, shared as usize);
    }

    /// Prefetches the entry of a shared content, once its number has arrived.
    #[inline(always)]
    pub fn prefetch_entry_of_shared(&self, shared: u32) {
        prefetch(&self.entries, self.of_shared.get(shared as usize).copied().unwrap_or(0) as usize);
    }

    /// Prefetches the bucket of the content that a page gives up, once its entry has arrived.
    #[inline(always)]
    pub fn prefetch_bucket_of(&self, lpn: Lpn) {
        let entry = self.of_page[lpn];
        if entry != 0 {
            self.prefetch_bucket(self.entries[entry as usize].fingerprint);
        }
    }

    /// Prefetches the first entry of that bucket, once the bucket has arrived.
    #[inline(always)]
    pub fn prefetch_chain_of(&self, lpn: Lpn) {
        let entry = self.of_page[lpn];
        if entry != 0 {
            self.prefetch_entry(self.entries[entry as usize].fingerprint);
        }
    }

    /// Returns the owner of a content, if it is the first of its bucket; counts nothing.
    #[inline(always)]
    pub fn likely_owner(&self, fingerprint: u64) -> Option<Owner> {
        let entry = &self.entries[self.heads[self.bucket(fingerprint)] as usize];
        (entry.fingerprint == fingerprint && fingerprint != 0).then_some(entry.owner)
    }

    /// Returns the entry of a content.
    #[inline(always)]
    pub fn find(&mut self, fingerprint: u64) -> Option<u32> {
        self.counters.searches += 1;
        let mut entry = self.heads[self.bucket(fingerprint)];
        while entry != 0 {
            let Entry { fingerprint: held, next, .. } = self.entries[entry as usize];
            if held == fingerprint {
                self.counters.hits += 1;
                self.referenced[entry as usize / 64] |= 1 << (entry % 64);
                return Some(entry);
            }
            entry = next;
        }
        None
    }

    /// Returns the owner in an entry.
    #[inline(always)]
    pub fn owner(&self, entry: u32) -> Owner {
        self.entries[entry as usize].owner
    }

    /// Enters an unknown content, and evicts another one if the index is full.
    #[inline(always)]
    pub fn enter(&mut self, fingerprint: u64, owner: Owner) {
        let entry = match self.free {
            0 if self.touched == self.size => self.evict(),
            0 => {
                self.touched += 1;
                self.touched
            }
            free => {
                self.free = self.entries[free as usize].next;
                free
            }
        };
        let bucket = self.bucket(fingerprint);
        self.entries[entry as usize] = Entry { fingerprint, owner, next: self.heads[bucket] };
        self.heads[bucket] = entry;
        self.referenced[entry as usize / 64] &= !(1 << (entry % 64));
        self.counters.entered += 1;
        self.used += 1;
        self.set_entry_of(owner, entry);
    }

    /// Makes a content with one logical page a shared one.
    pub fn becomes_shared(&mut self, entry: u32, shared: Owner) {
        let owner = std::mem::replace(&mut self.entries[entry as usize].owner, shared);
        self.set_entry_of(owner, 0);
        self.set_entry_of(shared, entry);
    }

    /// Removes the entry of an owner whose content is gone.
    #[inline(always)]
    pub fn drop_owner(&mut self, owner: Owner) {
        let entry = match (owner.lpn(), owner.entry()) {
            (Some(lpn), _) => self.of_page[lpn],
            (None, Some((_, shared))) => self.of_shared.get(shared as usize).copied().unwrap_or(0),
            _ => 0,
        };
        if entry != 0 {
            self.counters.stale += 1;
            self.unlink(entry);
            self.entries[entry as usize] = Entry { fingerprint: 0, owner: FREE, next: self.free };
            self.free = entry;
        }
    }

    #[inline(always)]
    fn set_entry_of(&mut self, owner: Owner, entry: u32) {
        match (owner.lpn(), owner.entry()) {
            (Some(lpn), _) => self.of_page[lpn] = entry,
            (None, Some((SideKind::Shared, shared))) => {
                if self.of_shared.len() <= shared as usize {
                    let more = shared as usize + 1 - self.of_shared.len();
                    grow(&mut self.of_shared, more, 0);
                }
                self.of_shared[shared as usize] = entry;
            }
            _ => {}
        }
    }

    /// Takes an entry out of its bucket.
    #[inline(always)]
    fn unlink(&mut self, entry: u32) {
        let Entry { fingerprint, owner, next } = self.entries[entry as usize];
        let bucket = self.bucket(fingerprint);
        let mut at = self.heads[bucket];
        if at == entry {
            self.heads[bucket] = next;
        } else {
            while self.entries[at as usize].next != entry {
                at = self.entries[at as usize].next;
            }
            self.entries[at as usize].next = next;
        }
        self.set_entry_of(owner, 0);
        self.used -= 1;
    }

    /// Evicts the next entry without a hit since the hand last passed it. All entries are in use.
    #[cold]
    fn evict(&mut self) -> u32 {
        loop {
            self.hand = if self.hand == self.size { 1 } else { self.hand + 1 };
            let (word, bit) = (self.hand as usize / 64, 1u64 << (self.hand % 64));
            if self.referenced[word] & bit == 0 {
                break;
            }
            self.referenced[word] &= !bit;
        }
        self.counters.evicted += 1;
        // Entries ahead of the hand leave soon: prefetch what that touches.
        if let Some(next) = self.entries.get(self.hand as usize + 2 * HAND_AHEAD) {
            self.prefetch_bucket(next.fingerprint);
        }
        if let Some(next) = self.entries.get(self.hand as usize + HAND_AHEAD) {
            self.prefetch_entry(next.fingerprint);
            if let Some(lpn) = next.owner.lpn() {
                self.prefetch_page(lpn);
            }
        }
        self.unlink(self.hand);
        self.hand
    }

    /// Starts counting afresh.
    pub fn reset_counts(&mut self) {
        self.counters = IndexCounters::default();
    }

    /// Returns what a snapshot stores.
    pub fn saved(&self) -> SavedIndex {
        let entries = self.entries[1..=self.touched as usize].iter();
        // Buckets are rebuilt, maybe in another order.
        let alone = |entry: &Entry| if entry.owner == FREE { *entry } else { Entry { next: 0, ..*entry } };
        SavedIndex {
            entries: entries.map(alone).collect(),
            referenced: self.referenced.clone(),
            free: self.free,
            hand: self.hand,
            counters: self.counters,
        }
    }

    /// Makes room for the `shared` contents of a restored drive.
    pub fn resize_shared(&mut self, shared: u32) {
        self.of_shared.resize(shared as usize, 0);
    }

    /// Restores the index from a snapshot if the sizes match. Otherwise it stays empty, which only misses duplicates.
    /// Returns false if the state is invalid for this drive.
    pub fn restore(&mut self, saved: SavedIndex, is_owner: impl Fn(Owner) -> bool) -> bool {
        let SavedIndex { entries, referenced, free, hand, counters } = saved;
        let size = self.size as usize;
        if referenced.len() != self.referenced.len() || entries.len() > size {
            return true;
        }
        let sound = |number: u32| number as usize <= entries.len();
        let fits = sound(free)
            && hand as usize <= size
            && entries
                .iter()
                .all(|entry| sound(entry.next) && (entry.owner == FREE || is_owner(entry.owner)));
        if !fits {
            return false;
        }
        (self.touched, self.free, self.hand, self.counters) = (entries.len() as u32, free, hand, counters);
        self.referenced = referenced;
        for (number, entry) in (1..).zip(entries) {
            self.entries[number as usize] = entry;
            if entry.owner != FREE {
                let bucket = self.bucket(entry.fingerprint);
                self.entries[number as usize].next = self.heads[bucket];
                self.heads[bucket] = number;
                self.set_entry_of(entry.owner, number);
                self.used += 1;
            }
        }
        true
    }

    /// Verifies that entries and owners name one another.
    ///
    /// # Errors
    /// Names the mismatch.
    pub fn audit(&self) -> Result<(), String> {
        let mut used = 0;
        for (number, entry) in (1..).zip(&self.entries[1..=self.touched as usize]) {
            if entry.owner == FREE {
                continue;
            }
            used += 1;
            let named = match (entry.owner.lpn(), entry.owner.entry()) {
                (Some(lpn), _) => self.of_page[lpn],
                (None, Some((_, shared))) => self.of_shared[shared as usize],
                _ => 0,
            };
            if named != number {
                return Err(format!("index entry {number} names {:?}, whose entry is {named}", entry.owner));
            }
        }
        let pages = self.of_page.iter().filter(|&&entry| entry != 0).count();
        let shared = self.of_shared.iter().filter(|&&entry| entry != 0).count();
        if used != self.used || pages + shared != used as usize {
            return Err(format!(
                "{used} index entries are in use, {} counted, {pages} pages and {shared} shared contents have one",
                self.used
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::Rng;
    use std::collections::BTreeMap;

    /// Compares with a map: results are right, and with room for all contents none is forgotten.
    #[test]
    fn finds_what_was_entered() {
        let mut rng = Rng::new(1, "content index");
        for (entries, forgets) in [(200, false), (40, true), (1, true)] {
            let mut index = ContentIndex::new(entries, 200);
            let mut holds: BTreeMap<u32, u64> = BTreeMap::new();
            for _ in 0..20_000 {
                let lpn = rng.below(200) as u32;
                let fingerprint = 1 + rng.below(300);
                let owner = index.find(fingerprint).map(|entry| index.owner(entry).lpn().unwrap().0);
                if let Some(page) = owner {
                    assert_eq!(holds.get(&page), Some(&fingerprint));
                    continue;
                }
                assert!(forgets || !holds.values().any(|&held| held == fingerprint));
                index.drop_owner(Owner::page(Lpn(lpn)));
                holds.insert(lpn, fingerprint);
                index.enter(fingerprint, Owner::page(Lpn(lpn)));
                if rng.below(10) == 0 {
                    let mut again = ContentIndex::new(entries, 200);
                    assert!(again.restore(index.saved(), |_| true));
                    assert_eq!(again.sizes(), index.sizes());
                    index = again;
                }
                index.audit().unwrap();
            }
            assert_eq!(index.counters.evicted > 0, forgets);
            assert!(index.counters.hits > 0 && index.sizes().1 <= u64::from(entries));
        }
    }

    /// Without the second chance the hand would evict A, the first entry that it meets.
    #[test]
    fn a_find_saves_the_entry_under_the_hand() {
        let mut index = ContentIndex::new(2, 10);
        let [a, b, c] = [101, 102, 103];
        index.enter(a, Owner::page(Lpn(0)));
        index.enter(b, Owner::page(Lpn(1)));
        index.find(a).unwrap();
        index.enter(c, Owner::page(Lpn(2)));
        assert!(index.find(a).is_some() && index.find(c).is_some());
        assert_eq!(index.find(b), None);
    }

    #[test]
    fn what_was_found_stays() {
        let mut index = ContentIndex::new(3, 10);
        for n in 0..3 {
            index.enter(100 + u64::from(n), Owner::page(Lpn(n)));
        }
        index.find(101).unwrap();
        index.enter(103, Owner::page(Lpn(3)));
        assert!(index.find(100).is_none(), "the hand took the first one without a hit");
        assert!(index.find(101).is_some() && index.find(102).is_some());
        // Entries whose content is gone are reused first.
        index.drop_owner(Owner::page(Lpn(1)));
        index.enter(104, Owner::page(Lpn(4)));
        assert!([102, 103, 104].iter().all(|&held| index.find(held).is_some()));
        assert_eq!((index.counters.stale, index.counters.evicted), (1, 1));
    }
}
