//! Checks that the tables of the map agree with one another, and with the shadow model.

use super::Mapping;
use floatgate_base::{Lpn, MapWord, Owner, Ppn, SideKind};
use floatgate_flash::Flash;

impl Mapping {
    /// Checks both directions against each other, side tables included, and every logical page against the shadow
    /// model.
    ///
    /// # Errors
    /// Names the wrong page.
    pub fn audit<F: Flash>(&self, flash: &F) -> Result<(), String> {
        let mut owned = 0;
        for lpn in Lpn::each(Lpn(0)..Lpn(self.pages().0)) {
            let word = self.get(lpn);
            let Some(ppn) = word.ppn() else {
                self.audit_side(flash, lpn, word)?;
                continue;
            };
            owned += 1;
            if !self.is_live(ppn) || self.owner_of(ppn) != Owner::page(lpn) {
                let back = self.owner_of(ppn);
                return Err(format!(
                    "logical page {lpn} maps to physical page {ppn}, which belongs to {back:?}"
                ));
            }
            if !flash.is_newest(lpn, Some(ppn)) {
                return Err(format!(
                    "logical page {lpn} maps to physical page {ppn}, which holds something else"
                ));
            }
        }
        for (kind, table) in self.sides.tables() {
            let mut fault = None;
            table.each_page(&mut |entry, ppn| {
                owned += 1;
                if !self.is_live(ppn) || self.owner_of(ppn) != Owner::side(kind, entry) {
                    fault = Some(format!(
                        "{kind:?} entry {entry} lies on physical page {ppn}, which is not its own"
                    ));
                }
            });
            let mut named = vec![0; table.entries() as usize];
            let words = self.words().filter_map(|bits| MapWord::of_bits(bits).entry());
            words.filter(|word| word.0 == kind).for_each(|(_, entry)| named[entry as usize] += 1);
            (0..).zip(&named).try_for_each(|(entry, &pages)| table.audit(entry, pages))?;
            fault.map_or(Ok(()), Err)?;
        }
        self.audit_shared_places()?;
        let live = self.count_live(Ppn(0)..Ppn(self.pages().1));
        if live != owned {
            return Err(format!("{owned} physical pages belong to somebody, {live} are live"));
        }
        Ok(())
    }

    /// Verifies that shared contents in chunks have their slots there, and no other owner has those.
    fn audit_shared_places(&self) -> Result<(), String> {
        let Some(packed) = self.packed() else { return Ok(()) };
        let mut in_chunks = 0;
        for (entry, place) in self.shared().iter().flat_map(|shared| shared.iter()) {
            if let Some((_, chunk)) = place.entry() {
                in_chunks += 1;
                if packed.slot_of(chunk, Owner::side(SideKind::Shared, entry)).is_none() {
                    return Err(format!(
                        "shared content {entry} lies in chunk {chunk}, which has no slot of it"
                    ));
                }
            }
        }
        let slots = packed.iter().flat_map(|chunk| packed.live_slots(chunk));
        let counted = slots.filter(|slot| slot.owner.lpn().is_none()).count();
        if counted == in_chunks {
            return Ok(());
        }
        Err(format!("{in_chunks} shared contents lie in chunks, which have slots of {counted}"))
    }

    /// Checks a logical page that is unmapped, or whose word names a side table.
    fn audit_side<F: Flash>(&self, flash: &F, lpn: Lpn, word: MapWord) -> Result<(), String> {
        if !word.is_mapped() {
            let known = flash.is_newest(lpn, None);
            return if known {
                Ok(())
            } else {
                Err(format!("logical page {lpn} was written and is not mapped"))
            };
        }
        if !self.has_entry(word) {
            return Err(format!("logical page {lpn} belongs to an entry that no side table has"));
        }
        let resolved = self.resolved(word);
        if let (Some((SideKind::Packed, chunk)), Some(packed)) = (resolved.entry(), self.packed())
            && packed.pages(chunk).is_none()
        {
            let gathers = flash.is_gathered(chunk, lpn);
            return if gathers {
                Ok(())
            } else {
                Err(format!("logical page {lpn} gathers in chunk {chunk}, which holds something else"))
            };
        }
        let mut wrong = None;
        let kind = word.entry().map(|(kind, _)| kind);
        let reads_live =
            kind.and_then(|kind| self.sides.get(kind)).is_some_and(|table| table.reads_live_pages());
        // Some pages of a chunk with holes count as dead; its first one never does.
        let mut is_first = true;
        let is_chunk = matches!(resolved.entry(), Some((SideKind::Packed, _)));
        self.pages_of(lpn, word, &mut |ppn| {
            let is_dead = self.is_live(ppn) != reads_live && (is_first || !is_chunk);
            is_first = false;
            if is_dead || !flash.is_newest(lpn, Some(ppn)) {
                wrong = Some(ppn);
            }
        });
        wrong.map_or(Ok(()), |ppn| {
            Err(format!(
                "logical page {lpn} is read from physical page {ppn}, which is dead or holds something else"
            ))
        })
    }
}
