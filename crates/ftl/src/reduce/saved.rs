//! State of deduplication and compression that a snapshot stores beside the map.

use super::index::{ContentIndex, SavedIndex};
use super::{Filling, ReduceCounters, Reduction, SampleChunk, Samples, Schemes};
use crate::ftl::Ftl;
use crate::owners::{Packed, SideTable};
use floatgate_base::{Lpn, MapWord, Owner, SideKind};
use floatgate_flash::Flash;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The stored state.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedReduction {
    schemes: Schemes,
    index: Option<SavedIndex>,
    filling: Vec<Option<Filling>>,
    now_ns: u64,
    samples: Samples,
    counters: ReduceCounters,
}

impl Reduction {
    /// Returns the state to store. Destructured without `..`: no new field can be forgotten.
    pub fn saved(&self) -> SavedReduction {
        let Self { schemes, index, filling, now_ns, samples, counters, setup: _ } = self;
        SavedReduction {
            schemes: *schemes,
            index: index.as_ref().map(ContentIndex::saved),
            filling: filling.clone(),
            now_ns: *now_ns,
            samples: samples.clone(),
            counters: *counters,
        }
    }
}

impl Ftl {
    /// Compares this run's treatment of chunks with that of a saved drive that has chunks. Returns the key that
    /// differs, with its saved value.
    pub(crate) fn foreign_chunks(&self, saved: Option<&Packed>) -> Option<(&'static str, String)> {
        let (ours, saved) = (self.mapping.packed()?, saved?);
        if saved.counts().0 == 0 {
            return None;
        }
        if ours.is_like(saved) {
            return None;
        }
        Some(match ours.slots_max() == saved.slots_max() {
            false => ("chunk_pages", saved.slots_max().to_string()),
            true => ("repack", saved.repacks.to_string()),
        })
    }

    /// Restores the state as far as this drive uses it; returns false if it is of another drive. The map must be
    /// restored first.
    pub(crate) fn adopt_reduction(
        &mut self,
        saved: Option<SavedReduction>,
        empty: Option<Box<Packed>>,
    ) -> bool {
        let (pages, logical_pages) = (self.layout.pages(), self.setup.logical_pages);
        let sides = &mut self.mapping.sides;
        if sides.packed.as_ref().is_some_and(|packed| !packed.fits(pages, logical_pages)) {
            return false;
        }
        // An empty table made for other chunks is replaced by that of this run.
        let is_like = |packed: &Packed| empty.as_ref().is_some_and(|ours| ours.is_like(packed));
        if sides.packed.as_ref().is_none_or(|packed| packed.counts().0 == 0 && !is_like(packed)) {
            sides.packed = empty;
        }
        let Some(reduction) = &mut self.reduction else {
            let unused = sides.shared.as_ref().is_some_and(|shared| shared.counts().0 == 0);
            sides.shared = sides.shared.take().filter(|_| !unused);
            return true;
        };
        if let Some(index) = &mut reduction.index {
            index.resize_shared(sides.shared.get_or_insert_default().entries());
        }
        let Some(SavedReduction { schemes, index, filling, now_ns, samples, counters }) = saved else {
            return true;
        };
        // A change of schemes ends the samples of the old ones; therefore the schemes come first.
        reduction.set_schemes(schemes);
        (reduction.now_ns, reduction.samples, reduction.counters) = (now_ns, samples, counters);
        // A drive with other streams forgets its gathering samples.
        reduction.samples.gathering.resize(reduction.filling.len(), SampleChunk::default());
        let gathers = |filling: &Filling| {
            let table = sides.packed.as_deref();
            table.is_some_and(|packed| {
                packed.iter().any(|chunk| chunk == filling.chunk) && packed.pages(filling.chunk).is_none()
            })
        };
        if reduction.setup.chunks.is_some() && filling.len() == reduction.filling.len() {
            if !filling.iter().flatten().all(gathers) {
                return false;
            }
            reduction.filling = filling;
        }
        let shared: Vec<u32> =
            sides.shared.iter().flat_map(|shared| shared.iter()).map(|(entry, _)| entry).collect();
        let forward = |lpn| self.mapping.get(lpn);
        let is_owner = |owner: Owner| match (owner.lpn(), owner.entry()) {
            (Some(lpn), _) => {
                lpn.0 < logical_pages
                    && forward(lpn).is_mapped()
                    && !matches!(forward(lpn).entry(), Some((SideKind::Shared, _)))
            }
            (None, Some((SideKind::Shared, entry))) => shared.binary_search(&entry).is_ok(),
            _ => false,
        };
        match (&mut reduction.index, index) {
            (Some(index), Some(saved)) => index.restore(saved, is_owner),
            _ => true,
        }
    }

    /// Verifies that shared entries and chunks have a place on flash or gather.
    pub(crate) fn sides_are_sound(&self) -> bool {
        let sides = &self.mapping.sides;
        let place = |word: MapWord| match (word.ppn(), word.entry()) {
            (Some(ppn), _) => ppn.0 < self.layout.pages(),
            (None, Some((SideKind::Packed, chunk))) => {
                sides.packed.as_ref().is_some_and(|packed| packed.iter().any(|entry| entry == chunk))
            }
            _ => false,
        };
        sides.shared.iter().flat_map(|shared| shared.iter()).all(|(_, word)| place(word))
    }

    /// Shows a fresh back end, which knows the content of plain pages, shared content and chunks.
    pub(crate) fn show_reduced<F: Flash>(&self, flash: &mut F) {
        let (Some(shared), packed) = (self.first_referrers(), self.mapping.packed()) else { return };
        let holder = |owner: Owner| match (owner.lpn(), owner.entry()) {
            (Some(lpn), _) => Some(lpn),
            (None, Some((_, entry))) => shared.get(&entry).copied(),
            _ => None,
        };
        for (entry, place) in self.mapping.shared().iter().flat_map(|shared| shared.iter()) {
            if let (Some(ppn), Some(&lpn)) = (place.ppn(), shared.get(&entry)) {
                flash.install_chunk(ppn, 1, &[Some(lpn)]);
            }
        }
        for (packed, chunk) in
            packed.iter().flat_map(|packed| packed.iter().map(move |chunk| (packed, chunk)))
        {
            let mut slots = vec![None; packed.slots(chunk) as usize];
            for slot in packed.live_slots(chunk) {
                slots[usize::from(slot.index)] = holder(slot.owner);
            }
            match packed.pages(chunk) {
                Some((first, pages)) => flash.install_chunk(first, pages, &slots),
                None => (0..).zip(&slots).for_each(|(slot, holder)| {
                    holder.iter().for_each(|&lpn| flash.install_gathered(chunk, slot, lpn));
                }),
            }
        }
        for lpn in Lpn::all(self.setup.logical_pages) {
            let word = self.mapping.get(lpn);
            if let Some((SideKind::Shared, entry)) = word.entry()
                && shared.get(&entry) != Some(&lpn)
                && let Some(part) =
                    self.mapping.part(self.mapping.resolved(word), Owner::side(SideKind::Shared, entry))
            {
                flash.share(part, lpn);
            }
        }
    }

    /// Returns the first logical page of each shared content; none if no content is shared or packed.
    fn first_referrers(&self) -> Option<BTreeMap<u32, Lpn>> {
        let sides = &self.mapping.sides;
        if sides.shared.is_none() && sides.packed.is_none() {
            return None;
        }
        let mut first = BTreeMap::new();
        for lpn in Lpn::all(self.setup.logical_pages) {
            if let Some((SideKind::Shared, entry)) = self.mapping.get(lpn).entry() {
                first.entry(entry).or_insert(lpn);
            }
        }
        Some(first)
    }
}

impl Reduction {
    /// Restarts the time at 0 for another run.
    pub(crate) fn restart_clock(&mut self) {
        self.set_schemes(self.setup.schemes);
        self.now_ns = 0;
        self.filling.iter_mut().flatten().for_each(|filling| filling.since_ns = 0);
    }
}
