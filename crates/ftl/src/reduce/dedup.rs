//! Pages whose content is on the drive already: only the map changes.

use super::Reduction;
use crate::features::Features;
use crate::ftl::Ftl;
use crate::setup::{Allocation, Failure};
use crate::units::Frontier;
use floatgate_base::{Content, DomainId, Hints, Lpn, MapWord, Owner, SideKind};
use floatgate_flash::{Cause, Flash, Part};

impl Ftl {
    /// Writes a page of known or unknown content: shares it, adds it to a chunk, or programs it.
    #[inline(always)]
    pub(crate) fn write_reduced<S: Features, F: Flash>(
        &mut self,
        flash: &mut F,
        lpn: Lpn,
        content: Content,
        (hints, cause): (Hints, Cause),
    ) -> Result<(), Failure> {
        self.note_writer::<S>(lpn, hints);
        let Some(reduction) = &mut self.reduction else { return Ok(()) };
        flash.host_content(lpn, content.fingerprint);
        reduction.counters.host_pages += 1;
        let unknown = reduction.index.is_some() && content.fingerprint == 0
            || reduction.setup.chunks.is_some() && content.compressed_bytes == 0;
        reduction.counters.unknown_pages += u64::from(unknown);
        let schemes = reduction.schemes;
        let mut is_known = false;
        let looks = schemes.dedup || reduction.index.is_some() && reduction.is_sampled(content.fingerprint);
        if looks {
            reduction.counters.hashed_pages += 1;
            let known_entry = match (&mut reduction.index, content.fingerprint) {
                (None, _) | (_, 0) => None,
                (Some(index), fingerprint) => index.find(fingerprint),
            };
            // The page's own entry disappears with its old content.
            let index = reduction.index.as_ref();
            is_known =
                known_entry.zip(index).is_some_and(|(entry, index)| index.owner(entry) != Owner::page(lpn));
            if !schemes.dedup {
                reduction.counters.sampled_hashed += 1;
                reduction.counters.sampled_duplicates += u64::from(known_entry.is_some());
            } else if let Some(entry) = known_entry
                && self.share::<S, F>(flash, lpn, entry)
            {
                return Ok(());
            }
        }
        if schemes.compress {
            self.gather_page::<S, F>(flash, lpn, content.compressed_bytes, hints)?;
        } else {
            let slot = self.write::<S, F>(flash, lpn, hints, cause)?;
            self.sample_compression(slot, content.compressed_bytes);
            if S::PACED {
                self.advance_collection(flash, slot)?;
            }
        }
        // Known content that was not shared has its entry already.
        self.know(lpn, if looks && !is_known { content.fingerprint } else { 0 });
        Ok(())
    }

    #[inline(always)]
    fn sample_compression(&mut self, slot: usize, bytes: u32) {
        let place = match self.setup.allocation {
            Allocation::Dynamic => {
                Frontier::slot(&self.layout, Frontier::stream(&self.layout, slot), DomainId(0))
            }
            Allocation::Static => slot,
        };
        if let Some(reduction) = &mut self.reduction
            && reduction.setup.samples_below > 0
            && let Some(chunks) = reduction.setup.chunks
        {
            reduction.sample_page(&chunks, place, bytes);
        }
    }

    /// Enters in the index the content that only this page has.
    #[inline(always)]
    fn know(&mut self, lpn: Lpn, fingerprint: u64) {
        let Some(Reduction { index: Some(index), .. }) = self.reduction.as_deref_mut() else { return };
        index.drop_owner(Owner::page(lpn));
        if fingerprint != 0 {
            index.enter(fingerprint, Owner::page(lpn));
        }
    }

    /// Lets a page share the content of an index entry; returns false if that is not possible.
    #[inline(always)]
    fn share<S: Features, F: Flash>(&mut self, flash: &mut F, lpn: Lpn, entry: u32) -> bool {
        let Some(Reduction { index: Some(index), counters, .. }) = self.reduction.as_deref_mut() else {
            return false;
        };
        let owner = index.owner(entry);
        let word = match (owner.lpn(), owner.entry()) {
            (Some(page), _) => self.mapping.get(page),
            (None, Some((_, shared))) => MapWord::side(SideKind::Shared, shared),
            (None, None) => return false,
        };
        let place = self.mapping.resolved(word);
        let Some(part) = self.mapping.part(place, owner) else { return false };
        // Data that a power cut may take away is no substitute for a page on flash. Drives that compress have
        // protection; without it, chunks exist only if the drive was restored from a file.
        if !self.setup.plp && !matches!(part, Part::Page(ppn) if !flash.is_gathering(ppn)) {
            return false;
        }
        counters.duplicate_pages += 1;
        let before = self.mapping.get(lpn);
        flash.share(part, lpn);
        // The host wrote the same data again. Two pages of one chunk have one word, too.
        let is_same = owner.lpn().map_or(before == word, |page| page == lpn);
        if is_same {
            return true;
        }
        let shared = match owner.lpn() {
            None => word,
            Some(page) => {
                let shared = self.mapping.begin_sharing(page, place);
                index.becomes_shared(entry, shared);
                self.mapping.get(page)
            }
        };
        self.mapping.refer(shared);
        self.mapping.replace(lpn, shared);
        self.mapping.note(lpn);
        index.drop_owner(Owner::page(lpn));
        self.forget::<S>(lpn, before);
        true
    }
}
