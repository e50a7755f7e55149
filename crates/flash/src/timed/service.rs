//! Starts operations and moves them through their phases.

use super::die::{Active, Register, Stage, Suspended};
use super::queue::{BARRIER, Kind, NO_REQUEST, Op};
use super::schedule::Schedule;
use super::settings::{MultiPlane, spread};
use super::tap::Work;
use crate::Class;

impl Schedule {
    /// Starts the next operation, if one may start.
    #[inline(always)]
    pub fn start(&mut self, die: usize, now: u64) {
        let d = &self.dies[die];
        if d.suspended.is_some() {
            return self.start_while_suspended(die, now);
        }
        let leaving = matches!(d.register, Register::Out { .. });
        let next = if self.settings.jobs_hold_channel {
            self.choose_and_hold(die, now)
        } else {
            self.choose(die, leaving)
        };
        match next {
            Some(class) => self.begin(die, class, now),
            None => self.dies[die].array_at = u64::MAX,
        }
        self.arm(die);
    }

    /// Serves the next read, or resumes the suspended operation.
    fn start_while_suspended(&mut self, die: usize, now: u64) {
        let Some(Suspended { active, remaining_ns, since_ns }) = self.dies[die].suspended else { return };
        let suspend = self.settings.commands.suspend;
        if self.dies[die].reads_passed < suspend.reads_max && self.may_start(die, Class::Read, 0, false) {
            self.begin(die, Class::Read, now);
            self.arm(die);
            return;
        }
        let from = now + suspend.resume_ns;
        self.times[active.class as usize].suspended_ns += u64::from(active.n) * (from - since_ns);
        let cache_program = self.settings.commands.cache_program && active.kind == Kind::Program;
        let d = &mut self.dies[die];
        d.suspended = None;
        d.active = active;
        d.started_ns = now;
        d.array_from = from;
        d.array_at = from + remaining_ns;
        d.register_at = if cache_program { from } else { u64::MAX };
        self.arm(die);
    }

    /// Returns how many waiting operations of a class form one command: the first and its direct successors, each on a
    /// plane of its own, at addresses that the rule allows.
    #[inline(always)]
    pub fn together(&mut self, die: usize, class: Class) -> u32 {
        if self.planes_max == 1 { 1 } else { self.planes_together(die, class) }
    }

    fn planes_together(&mut self, die: usize, class: Class) -> u32 {
        let Some(&first) = self.dies[die].queues[class as usize].waiting(0) else { return 1 };
        if first.kind == Kind::Copy {
            return 1;
        }
        let mut planes = 1u64 << first.plane;
        let mut n = 1;
        while n < self.planes_max {
            let Some(&op) = self.dies[die].queues[class as usize].waiting(n as usize) else { break };
            let plane = 1u64 << op.plane;
            let fits = op.kind == first.kind && planes & plane == 0 && self.rule_allows(&first, &op);
            if !fits || !self.may_start(die, class, n as usize, false) {
                break;
            }
            planes |= plane;
            n += 1;
        }
        if n > 1 {
            self.counts.multi_plane += 1;
            self.counts.multi_plane_pages += u64::from(n);
        }
        n
    }

    fn rule_allows(&self, a: &Op, b: &Op) -> bool {
        // An erase addresses no page; one command erases in one mode.
        if a.kind == Kind::Erase && a.row != b.row {
            return false;
        }
        let page =
            a.kind == Kind::Erase || self.layout.page_in_block(a.ppn) == self.layout.page_in_block(b.ppn);
        match self.settings.commands.multi_plane {
            MultiPlane::None => false,
            MultiPlane::SamePage => page,
            MultiPlane::SameBlockAndPage => {
                page && self.layout.block_in_plane(a.ppn) == self.layout.block_in_plane(b.ppn)
            }
            MultiPlane::Any => true,
        }
    }

    /// Accounts for the wait of operations that start, and marks them as under way; returns the array time of the
    /// slowest, for a move that of its read.
    #[inline(always)]
    pub fn take(&mut self, die: usize, class: Class, n: u32, now: u64) -> u64 {
        let jobs = self.dies[die].jobs_until(now);
        let p = &self.settings.phases;
        let times = &mut self.times[class as usize];
        let queue = &mut self.dies[die].queues[class as usize];
        let mut array_ns = 0;
        for i in 0..n as usize {
            let Some(op) = queue.waiting(i) else { break };
            let waits = [jobs[0] - op.jobs_ns[0], jobs[1] - op.jobs_ns[1]];
            times.operations += 1;
            times.foreground_wait_ns += waits[0];
            times.background_wait_ns += waits[1];
            times.die_wait_ns += now - op.issued_ns - waits[0] - waits[1];
            let each = match op.kind {
                Kind::Read | Kind::Copy => p.row(op.read_row).read_ns,
                Kind::Program => spread(&mut self.rng, p.row(op.row).program_ns, p.program_spread),
                Kind::Erase => spread(&mut self.rng, p.erase_ns_in(op.row), p.erase_spread),
            };
            array_ns = array_ns.max(each);
        }
        queue.start(n as usize, now);
        array_ns
    }

    /// Books phases that `n` operations pass through together; for `each_on_channel`, each has its own and waits for
    /// those of the others.
    #[inline(always)]
    pub fn book(&mut self, class: Class, n: u32, each_on_channel: u64, array_ns: u64) {
        let n = u64::from(n);
        let times = &mut self.times[class as usize];
        times.service_ns += n * (each_on_channel + array_ns);
        times.channel_wait_ns += n * (n - 1) * each_on_channel;
    }

    /// Starts the next operations of a class.
    #[inline(always)]
    pub fn begin(&mut self, die: usize, class: Class, now: u64) {
        let n = self.together(die, class);
        let Some(&Op { kind, job, .. }) = self.dies[die].queues[class as usize].waiting(0) else { return };
        let array_ns = self.take(die, class, n, now);
        let p = &self.settings.phases;
        let each = if kind == Kind::Program { p.command_ns + p.transfer_ns } else { p.command_ns };
        self.book(class, n, each, array_ns);
        let first = self.dies[die].queues[class as usize].started() - n as usize;
        let whole = u64::from(n) * each;
        let from = if each > 0 { self.channel(die, (class, first, n), now, whole).1 } else { now };
        if kind == Kind::Erase {
            self.erases_begin(die, class, n);
        }
        let stage = match kind {
            Kind::Read => Stage::Reading,
            Kind::Copy => Stage::CopyReading,
            Kind::Program | Kind::Erase => Stage::Working,
        };
        let d = &mut self.dies[die];
        d.active = Active { stage, class, kind, job, n };
        d.started_ns = now;
        d.array_from = from;
        d.array_at = from + array_ns;
        if self.direct {
            self.go_through(die);
            if kind == Kind::Copy {
                self.begin_row(die);
            }
            return;
        }
        if kind == Kind::Copy {
            self.begin_row(die);
        }
        let d = &mut self.dies[die];
        if kind == Kind::Read {
            let overlapped = matches!(d.register, Register::Out { .. });
            self.counts.cache_reads += if overlapped { u64::from(n) } else { 0 };
            d.reads_passed += 1;
        } else {
            d.reads_passed = 0;
            if self.settings.commands.cache_program && kind == Kind::Program {
                // The cache register is free once the array has the data.
                d.register_at = from;
                if self.recording {
                    self.record_cache_program(die, from, from);
                }
            }
        }
    }

    /// Releases the barrier of erases that waited for other dies.
    pub fn erases_begin(&mut self, die: usize, class: Class, n: u32) {
        for i in 0..n as usize {
            let queue = &self.dies[die].queues[class as usize];
            let request = queue.under_way(queue.started() - 1 - i).request;
            if request != NO_REQUEST {
                self.barriers.erasing(request - BARRIER);
            }
        }
    }

    /// Passes through an operation at once. A die with its own channel, and without suspension and overlap, needs no
    /// event between the phases: no other die can take the channel.
    #[inline(always)]
    pub fn go_through(&mut self, die: usize) {
        let d = &mut self.dies[die];
        let (class, read_ns) = (d.active.class, d.array_at);
        match d.active.stage {
            Stage::Reading => {
                d.active.stage = Stage::Sending;
                let from_ns = std::mem::replace(&mut d.array_from, read_ns);
                if self.recording {
                    self.record_phase(die, Work::Read, from_ns, read_ns);
                }
                self.dies[die].array_at = self.send(die, class, read_ns, read_ns);
            }
            Stage::CopyReading => self.program_copy(die, read_ns),
            _ => {}
        }
    }

    /// Sends the first page under way of a class over the channel; returns when it has left. `ready_ns` is when the
    /// array had it.
    #[inline(always)]
    pub fn send(&mut self, die: usize, class: Class, ready_ns: u64, now: u64) -> u64 {
        let transfer_ns = self.transfer_ns(die, class);
        let (_, end) = self.channel(die, (class, 0, 1), now, transfer_ns);
        let times = &mut self.times[class as usize];
        times.channel_wait_ns += now - ready_ns;
        times.service_ns += transfer_ns;
        end
    }

    /// Returns the channel time of the page read first: only the requested pages of a flash page leave.
    #[inline(always)]
    fn transfer_ns(&self, die: usize, class: Class) -> u64 {
        let whole_ns = self.settings.phases.transfer_ns;
        if !self.layout.is_packed() {
            return whole_ns;
        }
        let pages = self.dies[die].queues[class as usize].under_way(0).pages;
        whole_ns * u64::from(pages) / u64::from(self.layout.subpages())
    }

    /// Completes the transfer of a page of a read.
    pub fn page_left(&mut self, die: usize, now: u64) {
        let d = &mut self.dies[die];
        let (class, ready_ns) = (d.active.class, d.array_from);
        d.active.n -= 1;
        if d.active.n > 0 {
            self.complete(die, class, now);
            self.dies[die].array_at = self.send(die, class, ready_ns, now);
            self.arm(die);
            return;
        }
        self.end_piece(die, now);
        self.complete(die, class, now);
        self.start(die, now);
    }

    /// Continues a move after its read: the page leaves and returns to be programmed, or stays inside the die.
    pub fn copy_has_read(&mut self, die: usize, now: u64) {
        self.program_copy(die, now);
        self.arm(die);
    }

    #[inline(always)]
    pub fn program_copy(&mut self, die: usize, now: u64) {
        if self.recording {
            self.record_phase(die, Work::Read, self.dies[die].array_from, now);
        }
        let class = self.dies[die].active.class;
        let op = self.dies[die].queues[class as usize].under_way(0);
        let (row, stays, cause) = (op.row, op.pages == 1 && self.settings.commands.copyback, op.cause);
        let p = &self.settings.phases;
        let on_channel = p.command_ns + if stays { 0 } else { 2 * p.transfer_ns };
        let program_ns = spread(&mut self.rng, p.row(row).program_ns, p.program_spread);
        self.counts.copybacks[usize::from(cause)] += u64::from(stays);
        self.book(class, 1, on_channel, program_ns);
        let from = if on_channel > 0 { self.channel(die, (class, 0, 1), now, on_channel).1 } else { now };
        let d = &mut self.dies[die];
        d.active.stage = Stage::Working;
        d.array_from = from;
        d.array_at = from + program_ns;
    }
}
