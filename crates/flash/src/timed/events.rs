//! Issues operations, and handles the events of the dies in the order of time.
//!
//! Stands above `service.rs`, `register.rs` and `suspend.rs`, none of which calls anything here.

use super::die::{Register, Stage};
use super::joins::JOIN;
use super::queue::{BARRIER, Due, Kind, NO_REQUEST, Op};
use super::schedule::Schedule;
use crate::Class;

impl Schedule {
    /// Issues an operation at `now`, up to which everything is settled; returns its ticket.
    #[inline(always)]
    pub fn push(&mut self, die: usize, class: Class, mut op: Op, now: u64) -> u64 {
        self.reached = (now, u32::MAX);
        op.issued_ns = now;
        op.order = self.issued as u32;
        self.issued += 1 + u64::from(op.more());
        if op.request < BARRIER {
            self.pending[op.request as usize] += 1;
        } else if op.request != NO_REQUEST {
            self.join_barrier(op.request - BARRIER, op.kind);
        }
        // The die checks a join when it looks for work.
        if op.far != Due::default() && op.far_class != JOIN {
            self.is_awaited(op.far_die as usize);
        }
        let d = &mut self.dies[die];
        op.jobs_ns = d.jobs_until(now);
        let ticket = d.queues[class as usize].push(op);
        if d.ahead > 0 && class != Class::Background && d.queues[class as usize].len() == 1 {
            self.shorten(die);
        }
        let d = &mut self.dies[die];
        if d.active.stage == Stage::Idle {
            if d.array_at > now {
                d.array_at = now;
                self.arm(die);
            }
        } else if self.optional {
            self.pushed_while_busy(die, class, now);
        }
        ticket
    }

    #[cold]
    fn join_barrier(&mut self, number: u32, kind: Kind) {
        if kind == Kind::Erase { self.barriers.erase(number) } else { self.barriers.program(number) }
    }

    /// Handles an operation issued at a busy die, which may stop for a read or load the next program's data.
    fn pushed_while_busy(&mut self, die: usize, class: Class, now: u64) {
        if class == Class::Read {
            self.suspend_if_allowed(die, now);
        } else {
            self.load_if_allowed(die, now);
        }
    }

    /// Handles all events up to and including `until`.
    pub fn advance(&mut self, until: u64) {
        loop {
            let (time, die) = self.go_along_rows(until);
            if time > until || time == u64::MAX {
                self.reached = (until, u32::MAX);
                return;
            }
            self.event(die, time);
        }
    }

    /// Handles events until a request is done or the next event is later than `until`.
    pub fn advance_to_done(&mut self, until: u64) {
        while self.done.is_empty() {
            let (time, die) = self.go_along_rows(until);
            if time == u64::MAX {
                return;
            }
            if time > until {
                self.reached = (until, u32::MAX);
                return;
            }
            self.event(die, time);
        }
    }

    /// Continues moves of rows while nothing else is next and the time is not later than `until`; returns the next
    /// event then.
    #[inline(always)]
    fn go_along_rows(&mut self, until: u64) -> (u64, usize) {
        // On most drives rows are closed; that is tested first.
        if !self.closed() && self.plain && self.rows {
            self.go_along_steps(until)
        } else {
            self.order.first()
        }
    }

    fn event(&mut self, die: usize, now: u64) {
        self.reach(now, die);
        if self.plain && !self.records(die) {
            return self.plain_event(die, now);
        }
        let d = &self.dies[die];
        if d.register_at <= now {
            return self.register_event(die, now);
        }
        match d.active.stage {
            Stage::Idle => self.start(die, now),
            Stage::Reading => self.array_has_read(die, now),
            Stage::Sending => self.page_left(die, now),
            Stage::CopyReading => {
                self.copy_has_read(die, now);
                if self.optional {
                    // A read that came while the move read its page could not stop anything then.
                    self.suspend_if_allowed(die, now);
                }
            }
            Stage::Working => self.worked(die, now),
            Stage::Suspending => self.suspended(die, now),
            Stage::Holding => unreachable!("a read that holds its data waits for the register"),
        }
    }

    /// Completes programs, moves or erases.
    fn worked(&mut self, die: usize, now: u64) {
        // Rows of recorded dies are over.
        debug_assert_eq!(self.dies[die].ahead, 0);
        let active = self.dies[die].active;
        self.end_piece(die, now);
        for _ in 0..active.n {
            self.complete(die, active.class, now);
        }
        if matches!(self.dies[die].register, Register::In { .. }) {
            self.program_loaded(die, now);
        } else {
            self.start(die, now);
        }
    }
}
