//! FLUSH and FUA on drives where a power cut loses gathering data: requests that wait for programs of others.

use super::Timed;
use super::queue::{Far, NO_REQUEST};
use crate::Class;
use floatgate_base::{Lpn, Ppn};

impl Timed {
    /// Delays the open request until all programs of host data under way are done.
    pub(super) fn flush_packed(&mut self) {
        let Some(volatile) = self.volatile.as_ref().filter(|_| self.request != NO_REQUEST) else { return };
        volatile.programs().for_each(|program| self.schedule.finish_after(self.request, program));
    }

    /// Delays the open request until the programs of these pages under way are done.
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
