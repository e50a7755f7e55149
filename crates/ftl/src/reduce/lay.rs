//! Writes slots to pages: as a chunk, or as plain pages.

use super::buffers::Held;
use crate::ftl::Ftl;
use crate::owners::{Packed, Slot};
use floatgate_base::{MapWord, Ppn};
use floatgate_flash::{Cause, Flash};

impl Ftl {
    /// Writes slots to pages from `first` on, and returns whether they became a chunk. `whole` may name the entry that
    /// has these slots already. Slots become plain pages if a chunk gains nothing.
    pub(super) fn lay<F: Flash>(
        &mut self,
        flash: &mut F,
        first: Ppn,
        (slots, pages): (&[Held], u32),
        whole: Option<u32>,
        cause: Cause,
    ) -> bool {
        let plain = self
            .reduction
            .as_ref()
            .and_then(|reduction| reduction.setup.chunks)
            .is_none_or(|chunks| chunks.plain);
        if slots.len() == 1 && pages == 1 || plain && pages as usize == slots.len() {
            for (&(part, slot), ppn) in slots.iter().zip(Ppn::each(first..first + pages)) {
                self.mapping.place(ppn, slot.owner);
                self.mapping.set_place(slot.owner, MapWord::plain(ppn));
                flash.program_chunk(ppn, 1, &[part], cause);
            }
            return false;
        }
        let mut parts = std::mem::take(&mut self.laying.parts);
        parts.clear();
        parts.extend(slots.iter().map(|&(part, _)| part));
        self.mapping.lay_chunk(first, (slots.iter().map(|&(_, slot)| slot), pages), whole);
        flash.program_chunk(first, pages, &parts, cause);
        self.laying.parts = parts;
        true
    }
}

/// Returns how many slots, from the first on, fit into `room` pages, and the pages that they take.
#[inline(always)]
pub(super) fn fitting(packed: &Packed, slots: impl Iterator<Item = Slot>, room: u32) -> (usize, u32) {
    let (mut count, mut bytes) = (0, 0);
    for slot in slots {
        if !packed.fits_into(bytes + slot.bytes, room) {
            break;
        }
        (count, bytes) = (count + 1, bytes + slot.bytes);
    }
    (count, packed.pages_for(bytes))
}
