//! Event handling for plain commands without a recording: the logic of `events.rs` and `service.rs` without multi-plane
//! commands, cache commands and suspension.

use super::die::{Active, Stage};
use super::queue::{BARRIER, Due, Job, Kind, NO_REQUEST, Op};
use super::schedule::Schedule;
use super::settings::{Order, spread};
use crate::Class;

/// The heads of a die's queues.
struct Heads {
    /// By class: whether the head exists and must wait for nothing.
    ready: [bool; 3],
    /// By class: its number in the order of issue.
    order: [u32; 3],
    /// By class: whether the head exists.
    there: [bool; 3],
    /// Whether the background works on a job on which a host write depends.
    urgent: bool,
}

impl Heads {
    fn earlier(&self, a: Class, b: Class) -> bool {
        self.order[a as usize].wrapping_sub(self.order[b as usize]).cast_signed() < 0
    }

    /// See [`Schedule::choose`].
    #[inline(always)]
    fn next(&self, order: Order, urgent_as_writes: bool) -> Option<Class> {
        let ready = |class: Class| self.ready[class as usize];
        match order {
            Order::Priority(classes) => {
                let urgent = urgent_as_writes && self.urgent && ready(Class::Background);
                if urgent && self.urgent_is_first(classes) {
                    return Some(Class::Background);
                }
                classes.into_iter().find(|&class| ready(class))
            }
            Order::Fcfs => {
                let mut first = None;
                for class in Class::ALL {
                    if ready(class) && first.is_none_or(|best| self.earlier(class, best)) {
                        first = Some(class);
                    }
                }
                first
            }
        }
    }

    fn urgent_is_first(&self, classes: [Class; 3]) -> bool {
        for class in classes {
            match class {
                Class::Background => return true,
                Class::Read if self.ready[Class::Read as usize] => return false,
                Class::Read => {}
                Class::Write => {
                    let write = Class::Write as usize;
                    return !self.ready[write]
                        || !self.there[write]
                        || self.earlier(Class::Background, Class::Write);
                }
            }
        }
        false
    }
}

impl Schedule {
    /// Handles an event of a die.
    #[inline(always)]
    pub fn plain_event(&mut self, die: usize, now: u64) {
        match self.dies[die].active.stage {
            Stage::Reading => return self.array_has_read(die, now),
            Stage::CopyReading => return self.copy_has_read(die, now),
            Stage::Sending | Stage::Working => {
                // Moves of rows with their own events are handled elsewhere (`steps.rs`).
                debug_assert!(self.dies[die].ahead == 0 || self.closed());
                if self.dies[die].ahead > 0 {
                    self.catch_up_to_end(die);
                }
                self.end_operation(die, now);
            }
            Stage::Idle | Stage::Holding | Stage::Suspending => {}
        }
        let class = if self.is_sole_read(die) { Some(Class::Read) } else { self.choose_plain(die) };
        let array_at = match class {
            Some(class) => self.begin_plain(die, class, now),
            None => u64::MAX,
        };
        self.dies[die].array_at = array_at;
        self.order.set(die, array_at);
    }

    /// Completes the current operation.
    #[inline(always)]
    pub fn end_operation(&mut self, die: usize, now: u64) {
        #[cfg(test)]
        self.log_end(die, now);
        self.last_ns = self.last_ns.max(now);
        let page_types = self.settings.phases.page_types;
        let d = &mut self.dies[die];
        d.jobs_ns = d.jobs_until(now);
        // A page that was read has left.
        d.active.n -= u32::from(d.active.stage == Stage::Sending);
        d.active.stage = Stage::Idle;
        let request = d.queues[d.active.class as usize].finish(page_types);
        let mut awaited = d.awaited;
        if request < BARRIER {
            self.finish_one(request, now);
        } else if request != NO_REQUEST
            && d.active.kind == Kind::Program
            && self.barriers.programmed(request - BARRIER)
        {
            awaited = true;
        }
        if awaited {
            self.wake(die, now);
        }
    }

    /// Returns whether a read waits that may start, and only reads wait: no choice is necessary.
    #[inline(always)]
    fn is_sole_read(&self, die: usize) -> bool {
        let [reads, writes, background] = &self.dies[die].queues;
        let is_ready = |op: &Op| op.far == Due::default();
        writes.is_empty() && background.is_empty() && reads.waiting(0).is_some_and(is_ready)
    }

    /// Selects the next class.
    #[inline(always)]
    fn choose_plain(&mut self, die: usize) -> Option<Class> {
        let queues = &self.dies[die].queues;
        let mut heads = Heads { ready: [false; 3], order: [0; 3], there: [false; 3], urgent: false };
        for class in Class::ALL {
            let Some(op) = queues[class as usize].waiting(0) else { continue };
            if op.far != Due::default() || (op.kind == Kind::Erase && op.request != NO_REQUEST) {
                // Another die decides, and must know that this one waits for it.
                return self.choose(die, false);
            }
            let [a, b] = class.others();
            let due =
                op.after[0].pending(queues[a as usize].done) || op.after[1].pending(queues[b as usize].done);
            let of = class as usize;
            (heads.there[of], heads.ready[of], heads.order[of]) = (true, !due, op.order);
            heads.urgent = op.job == Job::Foreground;
        }
        // The background comes last, and only its jobs can be urgent.
        heads.next(self.settings.order, self.settings.urgent_as_writes)
    }

    /// Starts the next operation of a class; returns the time of the array's next event.
    #[inline(always)]
    fn begin_plain(&mut self, die: usize, class: Class, now: u64) -> u64 {
        let Self { dies, settings, times, rng, direct, .. } = self;
        let (p, d, times) = (&settings.phases, &mut dies[die], &mut times[class as usize]);
        let queue = &mut d.queues[class as usize];
        let Some(&Op { kind, job, row, read_row, issued_ns, jobs_ns, .. }) = queue.waiting(0) else {
            return u64::MAX;
        };
        queue.start(1, now);
        let (stage, array_ns, command_ns) = match kind {
            // The channel belongs to this die alone: the data leave at once.
            Kind::Read if *direct => (Stage::Sending, p.row(read_row).read_ns, p.command_ns),
            Kind::Read => (Stage::Reading, p.row(read_row).read_ns, p.command_ns),
            Kind::Copy => (Stage::CopyReading, p.row(read_row).read_ns, p.command_ns),
            Kind::Program => {
                let ns = spread(rng, p.row(row).program_ns, p.program_spread);
                (Stage::Working, ns, p.command_ns + p.transfer_ns)
            }
            Kind::Erase => (Stage::Working, spread(rng, p.erase_ns_in(row), p.erase_spread), p.command_ns),
        };
        let waits = [d.jobs_ns[0] - jobs_ns[0], d.jobs_ns[1] - jobs_ns[1]];
        times.operations += 1;
        times.foreground_wait_ns += waits[0];
        times.background_wait_ns += waits[1];
        times.die_wait_ns += now - issued_ns - waits[0] - waits[1];
        times.service_ns += command_ns + array_ns;
        d.active = Active { stage, class, kind, job, n: 1 };
        d.reads_passed = if kind == Kind::Read && !*direct { d.reads_passed + 1 } else { 0 };
        d.started_ns = now;
        let from = if command_ns > 0 { self.channel(die, (class, 0, 1), now, command_ns).1 } else { now };
        let array_at = from + array_ns;
        let d = &mut self.dies[die];
        match kind {
            Kind::Read if self.direct => {
                d.array_from = array_at;
                return self.send(die, class, array_at, array_at);
            }
            Kind::Copy => {
                (d.array_from, d.array_at) = (from, array_at);
                return self.begin_copy(die);
            }
            Kind::Erase => {
                d.array_from = from;
                self.erases_begin(die, class, 1);
            }
            Kind::Read | Kind::Program => d.array_from = from,
        }
        array_at
    }

    /// Begins a move; returns the time of the array's next event.
    #[inline(always)]
    fn begin_copy(&mut self, die: usize) -> u64 {
        if self.direct {
            self.program_copy(die, self.dies[die].array_at);
        }
        self.begin_row(die);
        self.dies[die].array_at
    }
}
