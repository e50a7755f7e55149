//! Selects the next operation of an idle die, and decides what must wait.

use super::joins::JOIN;
use super::queue::{BARRIER, Due, Far, Job, Kind, NO_REQUEST};
use super::schedule::{Awaiting, Schedule};
use super::settings::Order;
use crate::Class;

impl Schedule {
    /// Delays the completion of a request until an operation is done.
    pub fn finish_after(&mut self, request: u32, operation: Far) {
        let die = operation.die as usize;
        self.catch_up(die);
        if operation.ticket > self.dies[die].queues[usize::from(operation.class)].done {
            self.is_awaited(die);
            self.pending[request as usize] += 1;
            self.awaiting[die].push(Awaiting { request, operation });
        }
    }

    /// Selects the next class of an idle die; `reads_only` if only reads may start.
    #[inline(always)]
    pub fn choose(&mut self, die: usize, reads_only: bool) -> Option<Class> {
        match self.settings.order {
            Order::Priority(classes) => {
                if self.settings.urgent_as_writes && self.urgent_is_first(die, reads_only) {
                    return Some(Class::Background);
                }
                for class in classes {
                    if self.may_start(die, class, 0, reads_only) {
                        return Some(class);
                    }
                }
                None
            }
            Order::Fcfs => self.choose_first(die, reads_only),
        }
    }

    /// Returns whether a job on which a host write depends is next: it ranks with host writes and takes turns with them
    /// in the order of issue.
    fn urgent_is_first(&mut self, die: usize, reads_only: bool) -> bool {
        let Order::Priority(classes) = self.settings.order else { return false };
        let urgent = self.dies[die].queues[Class::Background as usize].waiting(0).copied();
        let Some(urgent) = urgent.filter(|op| op.job == Job::Foreground) else { return false };
        if !self.may_start(die, Class::Background, 0, reads_only) {
            return false;
        }
        for class in classes {
            match class {
                Class::Background => return true,
                Class::Read if self.may_start(die, Class::Read, 0, reads_only) => return false,
                Class::Read => {}
                Class::Write => {
                    let write = self.dies[die].queues[Class::Write as usize].waiting(0).map(|op| op.order);
                    let earlier = write.is_none_or(|w| urgent.order.wrapping_sub(w).cast_signed() < 0);
                    return earlier || !self.may_start(die, Class::Write, 0, reads_only);
                }
            }
        }
        false
    }

    /// Selects the class whose next operation was issued first among those that may start.
    fn choose_first(&mut self, die: usize, reads_only: bool) -> Option<Class> {
        let mut first: Option<(u32, Class)> = None;
        for class in Class::ALL {
            if !self.may_start(die, class, 0, reads_only) {
                continue;
            }
            let order = self.dies[die].queues[class as usize].waiting(0).map_or(0, |op| op.order);
            if first.is_none_or(|(least, _)| order.wrapping_sub(least).cast_signed() < 0) {
                first = Some((order, class));
            }
        }
        first.map(|(_, class)| class)
    }

    /// Returns whether the `n`th waiting operation of a class exists and must wait for nothing; a die that waits for
    /// another one is woken by it.
    #[inline(always)]
    pub fn may_start(&mut self, die: usize, class: Class, n: usize, reads_only: bool) -> bool {
        let queues = &self.dies[die].queues;
        let Some(op) = queues[class as usize].waiting(n) else { return false };
        if reads_only && op.kind != Kind::Read {
            return false;
        }
        let [a, b] = class.others();
        if op.after[0].pending(queues[a as usize].done) || op.after[1].pending(queues[b as usize].done) {
            return false;
        }
        if op.kind == Kind::Erase && op.request != NO_REQUEST && !self.barriers.is_open(op.request - BARRIER)
        {
            return self.wait_for_other(die);
        }
        if op.far == Due::default() {
            return true;
        }
        if op.far_class == JOIN {
            return self.join_is_done(die, class, n);
        }
        let (far_die, far_class, far) = (op.far_die as usize, usize::from(op.far_class), op.far);
        self.catch_up(far_die);
        if far.pending(self.dies[far_die].queues[far_class].done) {
            self.is_awaited(far_die);
            return self.wait_for_other(die);
        }
        true
    }

    /// Returns whether all reads of the join are done for the `n`th waiting operation of a class, which then no longer
    /// needs the join.
    #[cold]
    fn join_is_done(&mut self, die: usize, class: Class, n: usize) -> bool {
        let Some(number) = self.dies[die].queues[class as usize].waiting(n).map(|op| op.far_die) else {
            return false;
        };
        if let Some(pending) = self.joins.pending(number, &self.dies) {
            self.is_awaited(pending);
            return self.wait_for_other(die);
        }
        self.joins.close(number);
        self.dies[die].queues[class as usize].forget_far(n);
        true
    }

    /// Keeps only the pending reads, and of each queue only the last: operations of a queue complete in order. Reads of
    /// the caller's own queue complete before it, too.
    pub fn keep_due(&self, reads: &mut Vec<Far>, own: (u32, u8)) {
        let queue = |far: &Far| (far.die, far.class);
        reads.retain(|far| {
            queue(far) != own && far.ticket > self.dies[far.die as usize].queues[usize::from(far.class)].done
        });
        reads.sort_unstable_by_key(|far| (queue(far), std::cmp::Reverse(far.ticket)));
        reads.dedup_by_key(|far| queue(far));
    }

    /// Registers a die to be woken by another one; returns false, since nothing may start now.
    #[cold]
    fn wait_for_other(&mut self, die: usize) -> bool {
        if !self.waiting.contains(&die) {
            self.waiting.push(die);
        }
        false
    }
}
