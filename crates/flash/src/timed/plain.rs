//! The way through an event where commands are plain and nobody records: what `events.rs` and `service.rs` do, without
//! what only multi-plane commands, cache commands and suspension need.

use super::die::{Active, Stage};
use super::queue::{BARRIER, Due, Job, Kind, NO_REQUEST, Op};
use super::schedule::Schedule;
use super::settings::{Order, spread};
use crate::Class;

/// What a die finds at the heads of its queues.
struct Heads {
    /// By class: whether there is one that nothing has to come before.
    ready: [bool; 3],
    /// By class: its number in the order of issue.
    order: [u32; 3],
    /// Whether one is there, by class.
    there: [bool; 3],
    /// Whether the background is at a job that a host write could not do without.
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
    /// What happens at a die.
    #[inline(always)]
    pub fn plain_event(&mut self, die: usize, now: u64) {
        match self.dies[die].active.stage {
            Stage::Reading => return self.array_has_read(die, now),
            Stage::CopyReading => return self.copy_has_read(die, now),
            Stage::Sending | Stage::Working => {
                // Moves of rows with events of their own do not come here (`steps.rs`).
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

    /// The operation under way is done.
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

    /// Whether a read waits that nothing has to come before, and nothing but reads, so that there is no choice.
    #[inline(always)]
    fn is_sole_read(&self, die: usize) -> bool {
        let [reads, writes, background] = &self.dies[die].queues;
        let is_ready = |op: &Op| op.far == Due::default();
        writes.is_empty() && background.is_empty() && reads.waiting(0).is_some_and(is_ready)
    }

    /// Which class is next.
    #[inline(always)]
    fn choose_plain(&mut self, die: usize) -> Option<Class> {
        let queues = &self.dies[die].queues;
        let mut heads = Heads { ready: [false; 3], order: [0; 3], there: [false; 3], urgent: false };
        for class in Class::ALL {
            let Some(op) = queues[class as usize].waiting(0) else { continue };
            if op.far != Due::default() || (op.kind == Kind::Erase && op.request != NO_REQUEST) {
                // Another die decides, and must know that it is waited for.
                return self.choose(die, false);
            }
            let [a, b] = class.others();
            let due =
                op.after[0].pending(queues[a as usize].done) || op.after[1].pending(queues[b as usize].done);
            let of = class as usize;
            (heads.there[of], heads.ready[of], heads.order[of]) = (true, !due, op.order);
            heads.urgent = op.job == Job::Foreground;
        }
        // The background comes last, and only its jobs are urgent.
        heads.next(self.settings.order, self.settings.urgent_as_writes)
    }

    /// Starts the next operation of a class; when the array next wants attention.
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
            // Nobody else can ask for the channel, so the data leave at once.
            Kind::Read if *direct => (Stage::Sending, p.row(read_row).read_ns, p.command_ns),
            Kind::Read => (Stage::Reading, p.row(read_row).read_ns, p.command_ns),
            Kind::Copy => (Stage::CopyReading, p.row(read_row).read_ns, p.command_ns),
            Kind::Program => {
                let ns = spread(rng, p.row(row).program_ns, p.program_spread);
                (Stage::Working, ns, p.command_ns + p.transfer_ns)
            }
            Kind::Erase => (Stage::Working, spread(rng, p.erase_ns, p.erase_spread), p.command_ns),
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

    /// A move has begun: what follows from that; when the array next wants attention.
    #[inline(always)]
    fn begin_copy(&mut self, die: usize) -> u64 {
        if self.direct {
            self.program_copy(die, self.dies[die].array_at);
        }
        self.begin_row(die);
        self.dies[die].array_at
    }
}
