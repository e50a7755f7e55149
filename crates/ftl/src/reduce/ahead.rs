//! Prefetches what coming page writes will touch: on a large drive each access is a cache miss.
//!
//! Each prefetch depends on an earlier one, hence the stages. A content leads to its bucket, the bucket to an entry,
//! the entry to its owner, the owner to a page. A page leads to what it holds (an index entry, a shared content or a
//! chunk), and these lead to a bucket and to a unit.

use super::index::ContentIndex;
use crate::ftl::Ftl;
use floatgate_base::{Extents, Lpn, SideKind};

/// Page writes ahead of the present one at each stage.
const FIRST: usize = 20;
const SECOND: usize = 12;
const THIRD: usize = 8;
const FOURTH: usize = 4;

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
        if let Some(lpn) = content(FOURTH).and_then(|fingerprint| index.likely_owner(fingerprint)?.lpn())
            && let Some(ppn) = self.mapping.get(lpn).ppn()
        {
            self.mapping.prefetch_back(ppn);
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
        }
        lpn(FIRST).into_iter().for_each(|lpn| self.mapping.prefetch(lpn));
        if let Some(lpn) = lpn(SECOND) {
            self.prefetch_side(lpn);
        }
        if let Some(lpn) = lpn(THIRD) {
            self.prefetch_unit(lpn);
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

    /// Prefetches the unit in which a page of a side table lies.
    #[inline(always)]
    fn prefetch_unit(&self, lpn: Lpn) {
        let word = self.mapping.get(lpn);
        if let (Some((SideKind::Shared, entry)), Some(index)) = (word.entry(), self.content_index()) {
            index.prefetch_entry_of_shared(entry);
        }
        let word = self.mapping.resolved(word);
        let chunk = || self.mapping.packed()?.pages(self.mapping.chunk_of(word)?).map(|(first, _)| first);
        if let Some(ppn) = word.ppn().or_else(chunk) {
            self.mapping.prefetch_live(ppn);
            self.candidates.index.prefetch(self.layout.unit_of(ppn), &self.units.meta);
        }
    }
}
