//! Ascending addresses, and again from 0 at the end of the space.

use super::addresses::Slots;

pub(super) struct Sequential {
    slots: u64,
    next: u64,
}

impl Sequential {
    pub fn new(slots: u64) -> Self {
        Self { slots, next: 0 }
    }
}

impl Slots for Sequential {
    fn fill(&mut self, offsets: &mut Vec<u64>, n: usize, request_bytes: u64) {
        let mut left = n as u64;
        while left > 0 {
            let run = left.min(self.slots - self.next);
            offsets.extend((self.next..self.next + run).map(|slot| slot * request_bytes));
            self.next = (self.next + run) % self.slots;
            left -= run;
        }
    }
}
