//! Releases the old data of a logical page that is rewritten or trimmed.

use crate::features::Features;
use crate::ftl::Ftl;
use floatgate_base::{Lpn, MapWord, Owner, Ppn, SideKind};

impl Ftl {
    /// Releases the old data of a logical page, unless other pages share it.
    #[inline(always)]
    pub(crate) fn forget<S: Features>(&mut self, lpn: Lpn, old: MapWord) {
        if let Some(ppn) = old.ppn() {
            self.invalidate::<S>(ppn);
        } else if S::SIDES && old.is_mapped() {
            self.release::<S>(lpn, old);
        } else {
            self.mapped_pages += 1;
        }
    }

    /// Releases a word that is mapped and not plain.
    #[inline(never)]
    pub(crate) fn release<S: Features>(&mut self, lpn: Lpn, old: MapWord) {
        match old.entry() {
            Some((SideKind::Replicated, entry)) => {
                let original = self.mapping.replicas_mut().map(|replicas| replicas.release(entry));
                original.into_iter().for_each(|ppn| self.invalidate::<S>(ppn));
            }
            Some((SideKind::Shared, entry)) => self.leave_shared::<S>(entry),
            Some((SideKind::Packed, chunk)) => self.lose_slot::<S>(chunk, Owner::page(lpn)),
            None => {}
        }
    }

    /// Removes a logical page from a shared content, which dies with the last one.
    fn leave_shared<S: Features>(&mut self, entry: u32) {
        let Some(place) = self.mapping.leave_shared(entry) else { return };
        let owner = Owner::side(SideKind::Shared, entry);
        if let Some(reduction) = &mut self.reduction
            && let Some(index) = &mut reduction.index
        {
            index.drop_owner(owner);
        }
        match (place.ppn(), place.entry()) {
            (Some(ppn), _) => self.invalidate::<S>(ppn),
            (None, Some((SideKind::Packed, chunk))) => self.lose_slot::<S>(chunk, owner),
            _ => {}
        }
    }

    /// Turns a slot of a chunk into a hole.
    fn lose_slot<S: Features>(&mut self, chunk: u32, owner: Owner) {
        let Some(packed) = self.mapping.packed_mut() else { return };
        let lost = packed.lose(chunk, owner);
        // A gathering chunk is removed by the code that fills it.
        if lost.is_empty && packed.pages(chunk).is_some() {
            packed.remove(chunk);
        }
        let Ppn(end) = lost.dead.end;
        (lost.dead.start.0..end).for_each(|ppn| self.invalidate::<S>(Ppn(ppn)));
    }
}
