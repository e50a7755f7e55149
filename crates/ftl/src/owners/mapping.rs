//! The map in both directions: 4 bytes per logical page, and 4 bytes and one bit per physical page. Tables take memory
//! only for what is written to them.
//!
//! The bits of words and owners are stored inverted. Zero stands for an entry that was never written; its page is
//! unmapped, or lies where data at rest do (`at_rest.rs`).

use super::{AtRest, Live, Packed, Replica, Replicas, Shared, Sides, Slot};
use crate::metadata::MapLog;
use floatgate_base::{IdVec, Lpn, MapWord, Owner, Ppn, SideKind, UnitId, memory::zeros, prefetch::prefetch};
use floatgate_flash::{Layout, Part};
use std::ops::Range;

/// Where logical pages lie, who owns physical pages, and which of those are live.
#[derive(Clone, Debug)]
pub(crate) struct Mapping {
    /// Map word by logical page.
    forward: IdVec<Lpn, Inverted>,
    /// Owner by physical page; stale if the page is not live.
    reverse: IdVec<Ppn, Inverted>,
    live: Live,
    at_rest: Option<Box<AtRest>>,
    pub sides: Sides,
}

/// Inverted bits.
type Inverted = u32;

/// An entry that was never written.
const UNKNOWN: Inverted = 0;

/// Returns the stored form of a word. An unmapped page has a stored form of its own.
#[inline(always)]
fn stored(word: MapWord) -> Inverted {
    (!word.bits()).max(UNKNOWN + 1)
}

impl Mapping {
    /// Creates a map without any mapped page.
    pub fn new(logical_pages: u32, pages: u32) -> Self {
        Self {
            forward: zeros(logical_pages as usize).into(),
            reverse: zeros(pages as usize).into(),
            live: Live::new(pages),
            at_rest: None,
            sides: Sides::default(),
        }
    }

    /// Tells the log that the host replaced the word of a logical page.
    #[inline(always)]
    pub fn note(&mut self, lpn: Lpn) {
        if let Some(log) = &mut self.sides.log {
            log.changed(lpn);
        }
    }

    /// Returns the map word of a logical page.
    #[inline(always)]
    pub fn get(&self, lpn: Lpn) -> MapWord {
        self.word_of(lpn, self.forward[lpn])
    }

    /// Returns the word of a page from its stored form.
    #[inline(always)]
    fn word_of(&self, lpn: Lpn, stored: Inverted) -> MapWord {
        match &self.at_rest {
            Some(at_rest) if stored == UNKNOWN => at_rest_word(at_rest, lpn),
            _ => MapWord::of_bits(!stored),
        }
    }

    #[inline(always)]
    fn set(&mut self, lpn: Lpn, word: MapWord) {
        if let Some(log) = &mut self.sides.log {
            log.moved(lpn);
        }
        self.forward[lpn] = stored(word);
    }

    /// Maps a logical page to another place and returns the old word.
    #[inline(always)]
    pub fn replace(&mut self, lpn: Lpn, word: MapWord) -> MapWord {
        let before = std::mem::replace(&mut self.forward[lpn], stored(word));
        self.word_of(lpn, before)
    }

    /// Returns the owner of a live page.
    #[inline(always)]
    pub fn owner_of(&self, ppn: Ppn) -> Owner {
        match (self.reverse[ppn], &self.at_rest) {
            (UNKNOWN, Some(at_rest)) => at_rest_owner(at_rest, ppn),
            (stored, _) => Owner::of_bits(!stored),
        }
    }

    #[inline(always)]
    fn set_owner(&mut self, ppn: Ppn, owner: Owner) {
        self.reverse[ppn] = !owner.bits();
    }

    /// Maps the pages of a unit that takes its part of a row of data at rest. Each row is a stretch of logical pages.
    /// Yields the logical page of each.
    ///
    /// # Panics
    /// When one of the pages was mapped.
    pub fn lay_at_rest(
        &mut self,
        layout: &Layout,
        (row, stretches): (u32, &[u32]),
        unit: UnitId,
    ) -> impl Fn(Ppn) -> Option<Lpn> {
        let logical_pages = self.forward.len() as u32;
        let new = || Box::new(AtRest::new(layout, logical_pages, stretches));
        let at_rest = self.at_rest.get_or_insert_with(new);
        at_rest.add(row, layout.domain_of(unit).0, unit);
        let first = layout.first_page(unit);
        self.live.set_range(first, first + layout.pages_per_unit());
        let at_rest = &*at_rest;
        |ppn| at_rest.lpn_of(ppn)
    }

    /// Checks whether a page is live.
    #[inline(always)]
    pub fn is_live(&self, ppn: Ppn) -> bool {
        self.live.get(ppn)
    }

    /// Gives an erased page to an owner, whose word the caller must change.
    #[inline(always)]
    pub fn place(&mut self, ppn: Ppn, owner: Owner) {
        self.set_owner(ppn, owner);
        self.live.set(ppn);
    }

    /// Marks a page as dead.
    #[inline(always)]
    pub fn kill(&mut self, ppn: Ppn) {
        self.live.clear(ppn);
    }

    /// Marks a range of pages as dead.
    pub fn kill_range(&mut self, pages: Range<Ppn>) {
        self.live.clear_range(pages.start, pages.end);
    }

    /// Moves the data of `owner` from one page to another. Both directions change; the old page stays live until it is
    /// killed.
    #[inline(always)]
    pub fn relink(&mut self, owner: Owner, from: Ppn, to: Ppn) {
        self.place(to, owner);
        match (owner.lpn(), owner.entry()) {
            (Some(lpn), _) => self.set(lpn, MapWord::plain(to)),
            (None, Some((kind, entry))) => {
                if let Some(table) = self.sides.get_mut(kind) {
                    table.relink(entry, from, to);
                }
            }
            (None, None) => unreachable!("a live page belongs to somebody"),
        }
    }

    /// Performs [`Mapping::relink`] for many pages, to consecutive ones from `first` on.
    #[inline(always)]
    pub fn relink_run(&mut self, moving: &[(Ppn, Owner)], first: Ppn) {
        if self.sides.any() {
            return self.relink_each(moving, first);
        }
        self.live.set_range(first, first + moving.len() as u32);
        let backward = &mut self.reverse.as_mut_slice()[first.index()..][..moving.len()];
        for ((back, &(_, owner)), to) in backward.iter_mut().zip(moving).zip(first.0..) {
            *back = !owner.bits();
            // Without side tables every owner is a logical page.
            self.forward[Lpn(owner.bits())] = stored(MapWord::plain(Ppn(to)));
        }
    }

    #[cold]
    #[inline(never)]
    fn relink_each(&mut self, moving: &[(Ppn, Owner)], first: Ppn) {
        let pages = Ppn::each(first..first + moving.len() as u32);
        moving.iter().zip(pages).for_each(|(&(from, owner), to)| self.relink(owner, from, to));
    }

    /// Calls `each` with the live pages of a range and their owners, ascending.
    #[inline(always)]
    pub fn for_each(&self, pages: Range<Ppn>, mut each: impl FnMut(Ppn, Owner)) {
        self.live.for_each(pages.start, pages.end, |ppn| each(ppn, self.owner_of(ppn)));
    }

    /// Calls `each` with the first `most` live pages of a range and their owners, ascending.
    pub fn for_first(&self, pages: Range<Ppn>, most: u32, mut each: impl FnMut(Ppn, Owner)) {
        self.live.for_first(pages.start, pages.end, most, |ppn| each(ppn, self.owner_of(ppn)));
    }

    /// Counts the live pages of a range.
    pub fn count_live(&self, pages: Range<Ppn>) -> u32 {
        let mut count = 0;
        self.live.for_each(pages.start, pages.end, |_| count += 1);
        count
    }

    /// Resolves a word: that of a shared content becomes the word of its place.
    #[inline(always)]
    pub fn resolved(&self, word: MapWord) -> MapWord {
        match (word.entry(), self.shared()) {
            (Some((SideKind::Shared, entry)), Some(shared)) => shared.place(entry),
            _ => word,
        }
    }

    /// Returns the page that a read of the word reads, if it is a single one that only the word uses.
    #[inline(always)]
    pub fn page_of(&self, word: MapWord) -> Option<Ppn> {
        if word.is_plain() {
            return word.ppn();
        }
        self.resolved(word).ppn().or_else(|| self.replica_of(word))
    }

    /// Returns the chunk that a word refers to, if it does.
    #[inline(always)]
    pub fn chunk_of(&self, word: MapWord) -> Option<u32> {
        match self.resolved(word).entry() {
            Some((SideKind::Packed, chunk)) => Some(chunk),
            _ => None,
        }
    }

    /// Sets the place of an owner's data.
    #[inline(always)]
    pub fn set_place(&mut self, owner: Owner, word: MapWord) {
        match (owner.lpn(), owner.entry()) {
            (Some(lpn), _) => self.set(lpn, word),
            (None, Some((SideKind::Shared, entry))) => {
                if let Some(shared) = &mut self.sides.shared {
                    shared.set_place(entry, word);
                }
            }
            _ => unreachable!("{owner:?} owns nothing that moves by itself"),
        }
    }

    /// Locates an owner's content, given its resolved word.
    pub fn part(&self, place: MapWord, owner: Owner) -> Option<Part> {
        if let Some(ppn) = place.ppn() {
            return Some(Part::Page(ppn));
        }
        let (SideKind::Packed, chunk) = place.entry()? else { return None };
        let packed = self.packed()?;
        let slot = packed.slot_of(chunk, owner)?.index;
        Some(match packed.pages(chunk) {
            Some((first, _)) => Part::Packed { first, slot },
            None => Part::Gathered { chunk, slot },
        })
    }

    /// Turns the content at `place`, which only this page has, into a shared one and returns its new owner.
    pub fn begin_sharing(&mut self, lpn: Lpn, place: MapWord) -> Owner {
        let entry = self.sides.shared.get_or_insert_default().add(place);
        let owner = Owner::side(SideKind::Shared, entry);
        self.set(lpn, MapWord::side(SideKind::Shared, entry));
        if let Some(ppn) = place.ppn() {
            self.set_owner(ppn, owner);
        } else if let (Some((SideKind::Packed, chunk)), Some(packed)) =
            (place.entry(), &mut self.sides.packed)
        {
            packed.change_owner(chunk, Owner::page(lpn), owner);
        }
        owner
    }

    /// Adds a logical page to a shared content.
    #[inline(always)]
    pub fn refer(&mut self, word: MapWord) {
        if let (Some((SideKind::Shared, entry)), Some(shared)) = (word.entry(), &mut self.sides.shared) {
            shared.refer(entry);
        }
    }

    /// Removes a logical page from a shared content. Returns the content's place if it was the last one.
    pub fn leave_shared(&mut self, entry: u32) -> Option<MapWord> {
        self.sides.shared.as_mut()?.release(entry)
    }

    /// Makes slots a chunk on pages from `first` on; `whole` is the entry that already has all of them, if one does.
    pub fn lay_chunk(
        &mut self,
        first: Ppn,
        (slots, pages): (impl Iterator<Item = Slot>, u32),
        whole: Option<u32>,
    ) {
        let Some(packed) = &mut self.sides.packed else { return };
        let chunk = match whole {
            Some(chunk) => chunk,
            None => {
                let chunk = packed.add();
                let word = MapWord::side(SideKind::Packed, chunk);
                for slot in slots {
                    packed.push(chunk, slot.owner, slot.bytes);
                    match (slot.owner.lpn(), slot.owner.entry(), &mut self.sides.shared) {
                        (Some(lpn), ..) => self.forward[lpn] = stored(word),
                        (None, Some((_, entry)), Some(shared)) => shared.set_place(entry, word),
                        _ => {}
                    }
                }
                chunk
            }
        };
        packed.set_pages(chunk, first, pages);
        self.live.set_range(first, first + pages);
        let owner = Owner::side(SideKind::Packed, chunk);
        self.reverse.as_mut_slice()[first.index()..][..pages as usize].fill(!owner.bits());
    }

    /// Returns the shared contents, if the drive can have some.
    #[inline(always)]
    pub fn shared(&self) -> Option<&Shared> {
        self.sides.shared.as_deref()
    }

    /// Returns the chunks, if the drive can have some.
    #[inline(always)]
    pub fn packed(&self) -> Option<&Packed> {
        self.sides.packed.as_deref()
    }

    /// Returns the chunks for changes, if the drive can have some.
    #[inline(always)]
    pub fn packed_mut(&mut self) -> Option<&mut Packed> {
        self.sides.packed.as_deref_mut()
    }

    /// Calls `each` with the pages that a read of `lpn` reads, for a word that is mapped and not plain.
    #[cold]
    pub fn pages_of(&self, lpn: Lpn, word: MapWord, each: &mut dyn FnMut(Ppn)) {
        let word = self.resolved(word);
        if let Some(ppn) = word.ppn() {
            return each(ppn);
        }
        if let Some((kind, entry)) = word.entry()
            && let Some(table) = self.sides.get(kind)
        {
            table.pages_of(entry, lpn, each);
        }
    }

    /// Returns the replica mapping table, if pages can have replicas.
    pub fn replicas(&self) -> Option<&Replicas> {
        self.sides.replicated.as_deref()
    }

    /// Returns the replica mapping table for changes, if pages can have replicas.
    pub fn replicas_mut(&mut self) -> Option<&mut Replicas> {
        self.sides.replicated.as_deref_mut()
    }

    /// Returns the page that a read of a word reads, if that is a replica. The word is mapped and not plain.
    #[inline(always)]
    pub fn replica_of(&self, word: MapWord) -> Option<Ppn> {
        let (SideKind::Replicated, entry) = word.entry()? else { return None };
        Some(self.replicas()?.get(entry).replica)
    }

    /// Adds a replica to a page that belongs to one logical page only, and returns its entry.
    ///
    /// # Panics
    /// When pages have no replicas.
    pub fn replicate(&mut self, layout: &Layout, replica: Replica) -> u32 {
        let replicas = self.sides.replicated.as_mut().expect("pages may have replicas");
        let entry = replicas.add(layout, replica);
        self.set(replica.lpn, MapWord::side(SideKind::Replicated, entry));
        self.set_owner(replica.original, Owner::side(SideKind::Replicated, entry));
        entry
    }

    /// Gives up a replica; the original serves its reads again.
    pub fn dissolve(&mut self, entry: u32) {
        let Some(replicas) = &mut self.sides.replicated else { return };
        let Replica { lpn, original, .. } = replicas.remove(entry);
        self.set(lpn, MapWord::plain(original));
        self.set_owner(original, Owner::page(lpn));
    }

    /// Puts a replica in the place of its original, which is live until it is killed.
    pub fn promote(&mut self, entry: u32) {
        let Some(replicas) = &mut self.sides.replicated else { return };
        replicas.counters.promoted += 1;
        let Replica { lpn, replica, .. } = replicas.remove(entry);
        self.set(lpn, MapWord::plain(replica));
        self.place(replica, Owner::page(lpn));
    }

    /// Returns the logical page of a live page. If several share it, the one that the side table names.
    pub fn lpn_of(&self, ppn: Ppn) -> Option<Lpn> {
        let owner = self.owner_of(ppn);
        let replicated = |entry| self.replicas().map(|replicas| replicas.get(entry).lpn);
        match owner.entry() {
            Some((SideKind::Replicated, entry)) => replicated(entry),
            _ => owner.lpn(),
        }
    }

    /// Prefetches the map entry of a page.
    #[inline(always)]
    pub fn prefetch(&self, lpn: Lpn) {
        prefetch(self.forward.as_slice(), lpn.index());
    }

    /// Prefetches what moving a page of an owner will change; useless, but harmless, if a side table owns it.
    #[inline(always)]
    pub fn prefetch_owner(&self, owner: Owner) {
        self.prefetch(Lpn(owner.bits()));
    }

    /// Prefetches what moving the first `most` live pages of a range will touch, and the owners of the pages behind them:
    /// the same call for those pages reads their owners without a miss. Between two steps of a job lie host writes.
    pub fn prefetch_moves(&self, pages: Range<Ppn>, most: u32) {
        const LINE: u32 = (64 / size_of::<Inverted>()) as u32;
        self.prefetch_back(pages.start + 2 * LINE);
        self.for_first(pages, most, |_, owner| self.prefetch_owner(owner));
    }

    /// Prefetches the place of an owner whose content moves as part of a chunk.
    #[inline(always)]
    pub fn prefetch_place(&self, owner: Owner) {
        match (owner.lpn(), owner.entry(), self.shared()) {
            (Some(lpn), ..) => self.prefetch(lpn),
            (None, Some((_, entry)), Some(shared)) => shared.prefetch(entry),
            _ => {}
        }
    }

    /// Prefetches the owners of the pages that a stream programs after those of this cache line: streams of many
    /// domains miss it each.
    #[inline(always)]
    pub fn prefetch_next_line(&self, ppn: Ppn) {
        const LINE: u32 = (64 / size_of::<Inverted>()) as u32;
        if ppn.0.is_multiple_of(LINE) {
            self.prefetch_back(ppn + LINE);
        }
    }

    /// Prefetches what changes when a page becomes shared.
    #[inline(always)]
    pub fn prefetch_back(&self, ppn: Ppn) {
        prefetch(self.reverse.as_slice(), ppn.index());
    }

    /// Prefetches what the death of a page will change.
    #[inline(always)]
    pub fn prefetch_live(&self, ppn: Ppn) {
        self.live.prefetch(ppn);
    }

    /// Returns the numbers of logical and physical pages.
    pub(super) fn pages(&self) -> (u32, u32) {
        (self.forward.len() as u32, self.reverse.len() as u32)
    }

    /// Yields the map as stored in a snapshot, word by word. The reverse map and the live pages follow from it and the
    /// side tables.
    pub fn words(&self) -> impl ExactSizeIterator<Item = u32> {
        let bits = |word: MapWord| if word.is_mapped() { word.bits() } else { MapWord::UNMAPPED.bits() };
        (0..self.forward.len()).map(move |i| bits(self.get(Lpn(i as u32))))
    }

    /// Returns the map to be filled from a snapshot by [`Mapping::words`]; old contents are lost. The map is usable
    /// after [`Mapping::mirror`].
    pub fn words_mut(&mut self) -> &mut [u32] {
        self.at_rest = None;
        self.forward.as_mut_slice()
    }

    /// Rebuilds reverse map and live pages from the words of a snapshot and the side tables. Returns the first
    /// inconsistency.
    pub fn mirror(&mut self, sides: Sides) -> Option<String> {
        self.forward.as_mut_slice().iter_mut().for_each(|word| *word = !*word);
        if !MapLog::is_of_one_drive(self.sides.log.as_deref(), sides.log.as_deref()) {
            return Some("its map on flash does not fit this drive".into());
        }
        self.sides = sides;
        self.live = Live::new(self.reverse.len() as u32);
        for (kind, table) in self.sides.tables() {
            let mut fault = None;
            table.each_page(&mut |entry, ppn| {
                if ppn.index() >= self.reverse.len() || self.live.get(ppn) {
                    fault = Some(format!("entry {entry} of a side table lies on physical page {ppn}"));
                    return;
                }
                self.live.set(ppn);
                self.reverse[ppn] = !Owner::side(kind, entry).bits();
            });
            if fault.is_some() {
                return fault;
            }
        }
        for lpn in Lpn::each(Lpn(0)..Lpn(self.forward.len() as u32)) {
            let word = self.get(lpn);
            let Some(ppn) = word.ppn() else {
                if word.is_mapped() && !self.has_entry(word) {
                    return Some(format!("logical page {lpn} belongs to an entry that no side table has"));
                }
                continue;
            };
            if ppn.index() >= self.reverse.len() || self.live.get(ppn) {
                return Some(format!("logical page {lpn} maps to physical page {ppn}, as no other page may"));
            }
            self.place(ppn, Owner::page(lpn));
        }
        None
    }

    /// Checks whether a side table has the entry of a word.
    pub(super) fn has_entry(&self, word: MapWord) -> bool {
        let table = |(kind, entry): (SideKind, u32)| Some((self.sides.get(kind)?, entry));
        word.entry().and_then(table).is_some_and(|(table, entry)| entry < table.entries())
    }
}

#[cold]
#[inline(never)]
fn at_rest_word(at_rest: &AtRest, lpn: Lpn) -> MapWord {
    at_rest.ppn_of(lpn).map_or(MapWord::UNMAPPED, MapWord::plain)
}

#[cold]
#[inline(never)]
fn at_rest_owner(at_rest: &AtRest, ppn: Ppn) -> Owner {
    at_rest.lpn_of(ppn).map_or(Owner::of_bits(!UNKNOWN), Owner::page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_flash::Scope;
    use floatgate_nand::Geometry;

    #[test]
    fn data_at_rest_are_found_without_entries_until_they_move_or_are_given_up() {
        let geometry = Geometry {
            channels: 2,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 4,
            pages_per_block: 8,
            page_bytes: 4096,
        };
        let layout = Layout::new(geometry, Scope::Plane);
        let mut mapping = Mapping::new(40, layout.pages());
        // The second stretch of 16 pages lies in block 1 of both planes.
        for unit in [UnitId(1), UnitId(5)] {
            let lpn_of = mapping.lay_at_rest(&layout, (0, &[1]), unit);
            assert_eq!(lpn_of(layout.first_page(unit)), Some(Lpn(16 + unit.0 / 4)));
        }
        let is_unwritten = |mapping: &Mapping| {
            mapping.forward.iter().chain(mapping.reverse.iter()).all(|&stored| stored == UNKNOWN)
        };
        assert!(is_unwritten(&mapping));
        assert_eq!([15, 32].map(|lpn| mapping.get(Lpn(lpn)).is_mapped()), [false; 2]);
        assert_eq!(
            (mapping.get(Lpn(17)).ppn(), mapping.owner_of(Ppn(40))),
            (Some(Ppn(40)), Owner::page(Lpn(17)))
        );
        assert!(is_unwritten(&mapping));
        mapping.relink(Owner::page(Lpn(17)), Ppn(40), Ppn(3));
        assert_eq!(
            (mapping.get(Lpn(17)).ppn(), mapping.owner_of(Ppn(3))),
            (Some(Ppn(3)), Owner::page(Lpn(17)))
        );
        // A trimmed page no longer lies at its position of the row.
        assert_eq!(mapping.replace(Lpn(16), MapWord::UNMAPPED).ppn(), Some(Ppn(8)));
        assert!(!mapping.get(Lpn(16)).is_mapped() && !is_unwritten(&mapping));
    }
}
