//! Prefetches what coming page writes will touch: on a large drive each access is a cache miss.
//!
//! Each prefetch depends on an earlier one, hence the stages. A content leads to its bucket, the bucket to an entry,
//! the entry to its owner, the owner to a page. A page leads to what it holds (an index entry, a shared content or a
//! chunk), and these lead to a bucket and to a unit.

use super::index::ContentIndex;
use crate::ftl::Ftl;
use floatgate_base::{Extents, Lpn, MapWord, Owner, Ppn, SideKind};

/// Page writes ahead of the present one at each stage.
const FIRST: usize = 12;
const SECOND: usize = 9;
const THIRD: usize = 6;
const FOURTH: usize = 4;
const FIFTH: usize = 2;

impl Ftl {
    #[inline(always)]
    fn content_index(&self) -> Option<&ContentIndex> {
        self.reduction.as_ref()?.index.as_ref()
    }

    /// Prefetches what the contents after page `page` of extent `i` will touch.
    #[inline(always)]
    pub(crate) fn prefetch_contents(&self, extents: &Extents, i: usize, page: usize) {
        let Some(index) = self.content_index() else { return };
        let content = |ahead: usize| extents.columns.content.ahead_of(i, page + ahead).map(|c| c.fingerprint);
        if let Some(fingerprint) = content(FIRST) {
            index.prefetch_bucket(fingerprint);
        }
        if let Some(fingerprint) = content(SECOND) {
            index.prefetch_entry(fingerprint);
        }
        // A duplicate: its owner, and the place of the content.
        if let Some(owner) = content(THIRD).and_then(|fingerprint| index.likely_owner(fingerprint)) {
            match (owner.lpn(), owner.entry(), self.mapping.shared()) {
                (Some(lpn), ..) => self.mapping.prefetch(lpn),
                (None, Some((_, entry)), Some(shared)) => shared.prefetch(entry),
                _ => {}
            }
        }
        if let Some(owner) = content(FOURTH).and_then(|fingerprint| index.likely_owner(fingerprint)) {
            self.prefetch_place(owner);
        }
    }

    /// Prefetches the place of a content that will be shared.
    #[inline(always)]
    fn prefetch_place(&self, owner: Owner) {
        let word = match (owner.lpn(), owner.entry()) {
            (Some(lpn), _) => self.mapping.get(lpn),
            (None, Some((_, entry))) => MapWord::side(SideKind::Shared, entry),
            (None, None) => return,
        };
        let place = self.mapping.resolved(word);
        match (place.ppn(), place.entry(), self.mapping.packed()) {
            (Some(ppn), ..) => self.mapping.prefetch_back(ppn),
            (None, Some((SideKind::Packed, chunk)), Some(packed)) => packed.prefetch(chunk),
            _ => {}
        }
    }

    /// Prefetches what the pages give up that extents after number `i` write first.
    #[inline(always)]
    pub(crate) fn prefetch_replaced(&self, extents: &Extents, i: usize) {
        let lpn = |ahead: usize| extents.lpn.get(i + ahead).copied();
        if let Some(index) = self.content_index() {
            lpn(FIRST).into_iter().for_each(|lpn| index.prefetch_page(lpn));
            lpn(SECOND).into_iter().for_each(|lpn| index.prefetch_entry_of(lpn));
            lpn(THIRD).into_iter().for_each(|lpn| index.prefetch_bucket_of(lpn));
            lpn(FOURTH).into_iter().for_each(|lpn| index.prefetch_chain_of(lpn));
        }
        lpn(FIRST).into_iter().for_each(|lpn| self.mapping.prefetch(lpn));
        lpn(SECOND).into_iter().for_each(|lpn| self.prefetch_side(lpn));
        lpn(THIRD).into_iter().for_each(|lpn| self.prefetch_chunk_of_shared(lpn));
        if let Some(ppn) = lpn(FOURTH).and_then(|lpn| self.first_page_of(lpn)) {
            self.mapping.prefetch_live(ppn);
            self.candidates.index.prefetch(self.layout.unit_of(ppn), &self.units.meta);
        }
        if let Some(ppn) = lpn(FIFTH).and_then(|lpn| self.first_page_of(lpn)) {
            let unit = self.layout.unit_of(ppn);
            self.candidates.index.prefetch_bucket(&self.layout, unit, &self.units.meta);
        }
    }

    /// Prefetches the side table entry of a page.
    #[inline(always)]
    fn prefetch_side(&self, lpn: Lpn) {
        match (self.mapping.get(lpn).entry(), self.mapping.shared(), self.mapping.packed()) {
            (Some((SideKind::Shared, entry)), Some(shared), _) => {
                shared.prefetch(entry);
                if let Some(index) = self.content_index() {
                    index.prefetch_shared(entry);
                }
            }
            (Some((SideKind::Packed, chunk)), _, Some(packed)) => packed.prefetch(chunk),
            _ => {}
        }
    }

    /// Prefetches the index entry of a page with shared content, and the chunk in which the content lies.
    #[inline(always)]
    fn prefetch_chunk_of_shared(&self, lpn: Lpn) {
        let Some((SideKind::Shared, entry)) = self.mapping.get(lpn).entry() else { return };
        if let Some(index) = self.content_index() {
            index.prefetch_entry_of_shared(entry);
        }
        let place = self.mapping.shared().map(|shared| shared.place(entry));
        if let (Some((SideKind::Packed, chunk)), Some(packed)) =
            (place.and_then(|place| place.entry()), self.mapping.packed())
        {
            packed.prefetch(chunk);
        }
    }

    /// Returns the physical page, the first one of its chunk, in which a page lies.
    #[inline(always)]
    fn first_page_of(&self, lpn: Lpn) -> Option<Ppn> {
        let word = self.mapping.resolved(self.mapping.get(lpn));
        let chunk = || self.mapping.packed()?.pages(self.mapping.chunk_of(word)?).map(|(first, _)| first);
        word.ppn().or_else(chunk)
    }
}
