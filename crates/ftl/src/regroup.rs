//! Applies a remapping of streams by a separator with queues (MiDAS's groups).
//!
//! Closed units change streams or leave their queues for the index of the victim policy; open units are closed as they
//! are. Happens once per epoch, or when the separator finds its model wrong, and visits all units.

use crate::collect::Apart;
use crate::ftl::Ftl;
use crate::separate::{Occupancy, Regroup, WaitingPlace};
use crate::units::{Frontier, NOT_INDEXED};
use floatgate_base::{DomainId, IdVec, StreamId, UnitId};
use floatgate_flash::{Cause, Flash};

impl Ftl {
    /// Requests the new meaning of streams from the separator and applies it.
    #[cold]
    pub(crate) fn regroup<F: Flash>(&mut self, flash: &mut F) {
        let held = self.held();
        let Some(regroup) = self.separation.as_mut().and_then(|separation| separation.regroup(&held)) else {
            return;
        };
        let released = self.relabel(&regroup);
        for (domain, units) in released.enumerate() {
            self.candidates.release(&self.layout, domain, units, &mut self.units);
        }
        for &stream in &regroup.closes {
            for domain in DomainId::all(self.layout.domains()) {
                self.close_as_it_is(flash, stream, domain);
            }
        }
    }

    fn held(&self) -> Occupancy {
        let queued = |unit| match &self.candidates.apart {
            Some(Apart::Queues(queues)) => queues.holds(unit),
            _ => false,
        };
        let mut held = Occupancy { closed: 0, full: 0, mapped_pages: self.mapped_pages };
        for (unit, meta) in self.units.meta.enumerate().filter(|(_, meta)| meta.pos != NOT_INDEXED) {
            held.closed += 1;
            held.full += u32::from(meta.valid == self.layout.pages_per_unit() && !queued(unit));
        }
        held
    }

    /// Assigns closed units to their new streams and returns those that leave queues, by domain.
    fn relabel(&mut self, regroup: &Regroup) -> IdVec<DomainId, Vec<UnitId>> {
        let (domains, streams) = (self.layout.domains(), self.setup.separate.streams());
        let mut released = IdVec::filled(Vec::new(), domains);
        let Some(separation) = &mut self.separation else { return released };
        for (unit, _) in self.units.meta.enumerate().filter(|(_, meta)| meta.pos != NOT_INDEXED) {
            let stream = separation.stream_of(unit);
            separation.give_to(unit, regroup.becomes[stream.index()]);
        }
        let Some(Apart::Queues(queues)) = &self.candidates.apart else { return released };
        for domain in DomainId::all(domains) {
            for stream in StreamId::all(streams) {
                let leaves =
                    queues.lengths(domain)[stream.index()].saturating_sub(regroup.keeps[stream.index()]);
                for unit in queues.iter(domain, stream).take(leaves as usize) {
                    // A unit keeps its new stream if it changed streams, or if its stream is no longer a queue.
                    if separation.stream_of(unit) == stream && separation.place(unit) != WaitingPlace::Index {
                        separation.give_to(unit, regroup.released);
                    }
                    released[domain].push(unit);
                }
            }
        }
        released
    }

    /// Closes the open unit of a stream. Its remaining pages are lost until it is erased; a unit without a written page
    /// becomes free again.
    fn close_as_it_is<F: Flash>(&mut self, flash: &mut F, stream: StreamId, domain: DomainId) {
        let slot = Frontier::slot(&self.layout, stream, domain);
        let mut open = std::mem::replace(&mut self.frontiers[slot], Frontier::CLOSED);
        if open == Frontier::CLOSED {
            return;
        }
        self.free_pages.advance(self.now);
        self.open_pages.closed(open.room(), self.now);
        self.close_target(flash, &mut open, Cause::Gc);
    }
}
