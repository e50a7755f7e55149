//! FLUSH and FUA, where a power cut loses what gathers in the controller: requests that wait for programs of others.

use super::Timed;
use super::queue::{Far, NO_REQUEST};
use crate::Class;
use floatgate_base::{Lpn, Ppn};

impl Timed {
    /// The open request is done no sooner than all programs under way of what the host wrote.
    pub(super) fn flush_packed(&mut self) {
        let Some(volatile) = self.volatile.as_ref().filter(|_| self.request != NO_REQUEST) else { return };
        volatile.programs().for_each(|program| self.schedule.finish_after(self.request, program));
    }

    /// The open request is done no sooner than the programs under way of these pages.
    pub(super) fn force_packed(&mut self, pages: &[(Ppn, Lpn)]) {
        if self.volatile.is_none() || self.request == NO_REQUEST {
            return;
        }
        for &(ppn, _) in pages {
            let ppn = self.flash_page(ppn);
            let place = self.place(ppn);
            for (class, due) in Class::Read.others().into_iter().zip(self.programs_of(place, ppn)) {
                let ticket = due.ticket(self.schedule.done_tickets(place.die, class));
                let program = Far { die: place.die as u32, class: class as u8, ticket };
                self.schedule.finish_after(self.request, program);
            }
        }
    }
}
