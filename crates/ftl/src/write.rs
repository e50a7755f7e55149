//! Programs a host page, and lets paced and incremental collection proceed along with it.

use crate::features::Features;
use crate::ftl::Ftl;
use crate::separate::labelled;
use crate::setup::Failure;
use floatgate_base::{DomainId, Hints, Lpn, MapWord, Owner, StreamId};
use floatgate_flash::{Cause, Flash};

impl Ftl {
    /// Writes a page and returns the slot of the open unit that took it.
    #[inline(always)]
    pub(crate) fn write<S: Features, F: Flash>(
        &mut self,
        flash: &mut F,
        lpn: Lpn,
        hints: Hints,
        cause: Cause,
    ) -> Result<usize, Failure> {
        let stream =
            if S::INSPECTS { self.separated(lpn, hints) } else { self.setup.separate.fixed_streams().0 };
        let slot = if S::GROUPS
            && let Some(domain) = labelled::domain_of(hints.label, self.layout.domains())
        {
            self.frontier_in(flash, stream, domain)?
        } else {
            self.host_frontier::<S, F>(flash, stream, lpn)?
        };
        // Opening a unit may have moved this very page: read the map after it.
        let frontier = &mut self.frontiers[slot];
        let ppn = frontier.next;
        frontier.next += 1;
        if self.prefetching {
            self.mapping.prefetch_next_line(ppn);
        }
        self.mapping.place(ppn, Owner::page(lpn));
        let old = self.mapping.replace(lpn, MapWord::plain(ppn));
        if S::SIDES {
            self.mapping.note(lpn);
        }
        self.now += 1;
        if S::INSPECTS
            && self.setup.separate.needs_units()
            && let Some(separation) = &mut self.separation
        {
            separation.placed(lpn, self.layout.unit_of(ppn));
        }
        if S::PACKED
            && self.volatile.is_on()
            && let Some(before) = self.mapping.page_of(old)
        {
            self.volatile.replaced(&self.layout, slot, ppn, before);
            flash.replace(ppn, before);
        }
        flash.program(ppn, lpn, cause);
        if S::SCALES && self.setup.dpes.is_some() {
            flash.count_scaled(ppn, cause);
        }
        self.forget::<S>(lpn, old);
        Ok(slot)
    }

    /// Selects the stream of a page that the host writes now.
    #[inline(always)]
    pub(crate) fn separated(&mut self, lpn: Lpn, hints: Hints) -> StreamId {
        let Some(separation) = &mut self.separation else { return self.setup.separate.fixed_streams().0 };
        let word = self.mapping.get(lpn);
        if self.setup.separate.needs_replaced()
            && let Some(ppn) = self.mapping.page_of(word).or_else(|| {
                let (packed, chunk) = (self.mapping.packed()?, self.mapping.chunk_of(word)?);
                packed.pages(chunk).map(|(first, _)| first)
            })
        {
            let unit = self.layout.unit_of(ppn);
            separation.replaces(lpn, unit, self.units.age(unit, self.now));
        }
        separation.write(lpn, word.is_mapped(), hints, self.now)
    }

    /// Advances paced and incremental collection after a host write into the open unit of a slot.
    #[inline(always)]
    pub(crate) fn advance_collection<F: Flash>(&mut self, flash: &mut F, slot: usize) -> Result<(), Failure> {
        let domain = match self.setup.incremental {
            true => self.layout.domain_of(self.frontiers[slot].unit),
            false => DomainId(0),
        };
        self.advance_collection_in(flash, domain)
    }

    /// Advances them after a host write into a domain.
    #[inline(always)]
    pub(crate) fn advance_collection_in<F: Flash>(
        &mut self,
        flash: &mut F,
        domain: DomainId,
    ) -> Result<(), Failure> {
        if self.setup.incremental {
            self.step_jobs_if_due(flash, domain)?;
        }
        self.keep_pace(flash)
    }
}
