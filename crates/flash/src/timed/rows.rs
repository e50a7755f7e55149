//! Rows: moves of one block to consecutive pages of another block on the same die, as one operation.
//!
//! A row occupies as many tickets of the queue as it has moves, and may be interrupted after any of them. When one of
//! its moves begins, [`Schedule::uninterrupted`] determines how many moves certainly follow one another. They end with
//! the first for which the head of another class waits; none is certain if a head may start or waits for another die.
//! Certain moves need no choice; too low a count changes nothing. A head that arrives later shortens the row.
//!
//! On a die with its own channel and with fixed times, nothing can come between these moves. There is then one event at
//! the end of the last one ([`Schedule::closed`]), and the progress by [`Schedule::reached`] is computed on demand.
//! Code that reads or changes the state touched by a move calls [`Schedule::catch_up`] first. Otherwise each move has
//! its events, at which the die only steps on.
//!
//! At recorded dies moves go one by one.

use super::queue::{Due, Job, Op, row_after};
use super::schedule::Schedule;
use super::settings::Order;
use crate::Class;
use std::borrow::Cow;

/// The queue that contains rows.
const ROWS: usize = Class::Background as usize;

/// Moves of a row completed by some time, beginning with the one that was under way.
#[derive(Clone, Copy, Debug, Default)]
struct Passed {
    moves: u32,
    /// Their duration.
    spent_ns: u64,
    /// Times from the beginning of the first move to the beginning of each of the others and of the one after them,
    /// summed.
    starts_ns: u64,
}

impl Schedule {
    /// Returns whether a row has no events except its end.
    #[inline(always)]
    pub fn closed(&self) -> bool {
        self.rows && self.direct && self.settings.phases.program_spread == 0.0
    }

    /// Returns the duration of a move on a channel of the die's own: rows of the pages read and programmed, and whether
    /// it stays in its plane.
    #[inline(always)]
    fn move_ns(&self, read_row: u8, row: u8, in_plane: bool) -> u64 {
        let p = &self.settings.phases;
        p.command_ns + p.row(read_row).read_ns + self.carried_ns(in_plane) + p.row(row).program_ns
    }

    /// Returns the channel time of the program of a move.
    #[inline(always)]
    fn carried_ns(&self, in_plane: bool) -> u64 {
        let p = &self.settings.phases;
        let stays = in_plane && self.settings.commands.copyback;
        p.command_ns + if stays { 0 } else { 2 * p.transfer_ns }
    }

    /// Returns the duration of the first move of an operation.
    #[inline(always)]
    fn time_of(&self, op: &Op) -> u64 {
        self.move_ns(op.read_row, op.row, op.pages == 1)
    }

    /// Returns the durations of the moves after the first of the current row that begin until `until_ns`, at most
    /// `most`, with the sum of their starts.
    fn moves_ns(&self, die: usize, until_ns: u64, most: u32) -> Passed {
        let d = &self.dies[die];
        let queue = &d.queues[ROWS];
        let &Op { read_row, row, pages, .. } = queue.under_way(0);
        let page_types = self.settings.phases.page_types;
        let in_plane = pages == 1;
        let mut passed = Passed::default();
        if page_types == 1 {
            let each = self.move_ns(read_row, row, in_plane);
            let span_ns = until_ns - d.started_ns;
            // Mostly the whole stretch has passed, which takes no division to see.
            let all_pass = each.checked_mul(u64::from(most)).is_some_and(|all_ns| all_ns <= span_ns);
            let moves = if all_pass { most } else { (span_ns / each) as u32 };
            let n = u64::from(moves);
            return Passed { moves, spent_ns: n * each, starts_ns: each * (n * (n + 1) / 2) };
        }
        let (mut read_row, mut row) = (read_row, row);
        for &next_read in queue.reads.iter().take(most as usize) {
            let end = passed.spent_ns + self.move_ns(read_row, row, in_plane);
            if end > until_ns - d.started_ns {
                break;
            }
            passed.moves += 1;
            passed.spent_ns = end;
            passed.starts_ns += end;
            (read_row, row) = (next_read, row_after(row, 1, page_types));
        }
        passed
    }

    /// Returns the moves of the current row of a die that are done by the time reached.
    fn passed(&self, die: usize) -> Passed {
        let (now, below) = self.reached;
        let until_ns = if (die as u32) < below { now } else { now.saturating_sub(1) };
        let d = &self.dies[die];
        if until_ns < d.started_ns { Passed::default() } else { self.moves_ns(die, until_ns, d.ahead) }
    }

    /// Accounts for the moves of a row that are done by the time reached.
    #[inline(always)]
    pub fn catch_up(&mut self, die: usize) {
        if self.dies[die].ahead == 0 {
            return;
        }
        if self.closed() {
            let passed = self.passed(die);
            self.note_moves(die, passed);
        } else {
            self.catch_up_step(die);
        }
    }

    /// Prepares for the end of the last move in the current stretch of a row.
    #[inline(always)]
    pub fn catch_up_to_end(&mut self, die: usize) {
        let passed = self.moves_ns(die, self.dies[die].array_at, self.dies[die].ahead);
        self.note_moves(die, passed);
    }

    /// Adds completed moves to the log.
    #[cfg(test)]
    fn log_moves(&mut self, die: usize, moves: u32) {
        let d = &self.dies[die];
        let queue = &d.queues[ROWS];
        let mut op = *queue.under_way(0);
        let mut from = d.started_ns;
        let p = self.settings.phases;
        self.unchosen += u64::from(moves);
        for i in 0..moves as usize {
            let to = from + self.move_ns(op.read_row, op.row, op.pages == 1);
            let rows = [op.read_row, op.row];
            let (class, kind, ppn, issued) = (Class::Background, op.kind, op.ppn, op.issued_ns);
            self.log.0.push(super::schedule::Happened { class, kind, ppn, rows, issued, from, to });
            self.log.2.push((die, from, to));
            let program_from = to - p.row(op.row).program_ns;
            self.log.1.push((die, from, from + p.command_ns));
            self.log.1.push((die, from + p.command_ns + p.row(op.read_row).read_ns, program_from));
            from = to;
            op.ppn += 1;
            if p.page_types > 1 {
                op.row = row_after(op.row, 1, p.page_types);
                op.read_row = self.dies[die].queues[ROWS].reads[i];
            }
        }
    }

    /// Accounts for completed moves and the start of the next one.
    fn note_moves(&mut self, die: usize, passed: Passed) {
        let Passed { moves, spent_ns, starts_ns } = passed;
        if moves == 0 {
            return;
        }
        #[cfg(test)]
        self.log_moves(die, moves);
        let n = u64::from(moves);
        let d = &mut self.dies[die];
        let op = *d.queues[ROWS].under_way(0);
        let job = op.job as usize - 1;
        let waits = [0, 1].map(|of: usize| d.jobs_ns[of] - op.jobs_ns[of]);
        let times = &mut self.times[ROWS];
        times.operations += n;
        times.foreground_wait_ns += n * waits[0];
        times.background_wait_ns += n * waits[1];
        match op.job {
            Job::Foreground => times.foreground_wait_ns += starts_ns,
            _ => times.background_wait_ns += starts_ns,
        }
        times.die_wait_ns += n * (d.started_ns - op.issued_ns - waits[0] - waits[1]);
        times.service_ns += spent_ns;
        if op.pages == 1 && self.settings.commands.copyback {
            self.counts.copybacks[usize::from(op.cause)] += n;
        }
        d.jobs_ns[job] += spent_ns;
        d.started_ns += spent_ns;
        self.last_ns = self.last_ns.max(d.started_ns);
        d.ahead -= moves;
        d.queues[ROWS].advance(moves, self.settings.phases.page_types);
        #[cfg(test)]
        d.queues[ROWS].start_anew(1, d.started_ns);
        let &now = self.dies[die].queues[ROWS].under_way(0);
        let now_ns = self.time_of(&now);
        // The time of a move is booked when it begins: that of the first one was, that of the current one was not.
        self.times[ROWS].service_ns += now_ns;
        self.times[ROWS].service_ns -= self.time_of(&op);
        self.dies[die].array_from =
            self.dies[die].started_ns + now_ns - self.settings.phases.row(now.row).program_ns;
        if self.carried_ns(now.pages == 1) > 0 {
            self.channel_is_free(die, self.dies[die].array_from);
        }
    }

    /// Begins a move, the first of what may be a row: the moves that certainly follow it need no choice.
    #[inline(always)]
    pub fn begin_row(&mut self, die: usize) {
        let more = self.dies[die].queues[ROWS].under_way(0).more();
        if more > 0 && self.rows && !self.records(die) {
            self.begin_row_of(die, more);
        }
    }

    fn begin_row_of(&mut self, die: usize, more: u32) {
        let ahead = more.min(self.uninterrupted(die) - 1);
        self.dies[die].ahead = ahead;
        if ahead > 0 && self.closed() {
            self.set_end(die);
        }
    }

    /// Sets the end of the current stretch of a row. Without any durations there are no stretches.
    fn set_end(&mut self, die: usize) {
        let first_ns = self.time_of(self.dies[die].queues[ROWS].under_way(0));
        if first_ns == 0 {
            self.dies[die].ahead = 0;
            self.dies[die].array_at = self.dies[die].started_ns;
            return;
        }
        let ahead = self.dies[die].ahead;
        let all_ns = if self.settings.phases.page_types == 1 {
            first_ns * (u64::from(ahead) + 1)
        } else {
            self.row_ns(die, ahead)
        };
        self.dies[die].array_at = self.dies[die].started_ns + all_ns;
    }

    /// Returns the duration of the current move and the next `ahead` ones.
    fn row_ns(&self, die: usize, ahead: u32) -> u64 {
        let queue = &self.dies[die].queues[ROWS];
        let &Op { read_row, row, pages, .. } = queue.under_way(0);
        let page_types = self.settings.phases.page_types;
        let (mut all_ns, mut row) = (self.move_ns(read_row, row, pages == 1), row);
        for &read_row in queue.reads.iter().take(ahead as usize) {
            row = row_after(row, 1, page_types);
            all_ns += self.move_ns(read_row, row, pages == 1);
        }
        all_ns
    }

    /// Returns how many moves of the row whose first one is under way follow without interruption.
    fn uninterrupted(&self, die: usize) -> u32 {
        // A die or request that waits checks again after every move.
        if self.dies[die].awaited {
            return 1;
        }
        let row = self.dies[die].queues[ROWS].under_way(0);
        let limit = |class| self.moves_before(die, class, row);
        limit(Class::Read).min(limit(Class::Write))
    }

    /// Returns how many moves of a row come before the head of another class may start.
    #[inline(always)]
    fn moves_before(&self, die: usize, class: Class, row: &Op) -> u32 {
        let queues = &self.dies[die].queues;
        let Some(head) = queues[class as usize].waiting(0) else { return u32::MAX };
        if !self.may_precede(class, head, row) {
            return u32::MAX;
        }
        let mut moves = 1;
        for (due, other) in head.after.iter().zip(class.others()) {
            let done = queues[other as usize].done;
            match due.pending(done) {
                true if other as usize == ROWS => moves = due.ahead(done).cast_unsigned(),
                // Nothing of that class starts meanwhile.
                true => return u32::MAX,
                false => {}
            }
        }
        moves
    }

    /// Returns whether the head of another class could come before moves of a row. A head that waits for another die is
    /// examined in any case.
    #[inline(always)]
    fn may_precede(&self, class: Class, head: &Op, row: &Op) -> bool {
        if head.far != Due::default() {
            return true;
        }
        let earlier = head.order.wrapping_sub(row.order).cast_signed() < 0;
        match self.settings.order {
            Order::Fcfs => earlier,
            Order::Priority(classes) => {
                let place = |of| classes.iter().position(|&class| class == of);
                let as_writes = self.settings.urgent_as_writes && row.job == Job::Foreground;
                place(class) < place(Class::Background) && (earlier || !(as_writes && class == Class::Write))
            }
        }
    }

    /// Cuts a row short that may be interrupted sooner than expected at its beginning.
    #[cold]
    pub fn shorten(&mut self, die: usize) {
        self.catch_up(die);
        let ahead = self.uninterrupted(die) - 1;
        if ahead < self.dies[die].ahead {
            self.dies[die].ahead = ahead;
            if self.closed() {
                self.set_end(die);
            }
            // Otherwise the die has an event when the next move has been read, or no move may begin without an event.
            if self.closed() || ahead == 0 {
                self.arm(die);
            }
        }
    }

    /// Marks a die whose operation another die, or a request, awaits.
    pub fn is_awaited(&mut self, die: usize) {
        self.dies[die].awaited = true;
        if self.dies[die].ahead > 0 {
            self.shorten(die);
        }
    }

    /// Makes moves of recorded dies go one by one from now on.
    pub fn end_rows(&mut self) {
        for die in 0..self.dies.len() {
            if self.records(die) {
                self.end_row(die);
            }
        }
    }

    /// Makes the moves of a row go one by one from now on.
    pub fn end_row(&mut self, die: usize) {
        if self.dies[die].ahead > 0 {
            self.catch_up(die);
            self.dies[die].ahead = 0;
            if self.closed() {
                self.set_end(die);
            }
            self.arm(die);
        }
    }

    /// Accounts for all moves of rows that are done by the time reached.
    pub fn settle(&mut self) {
        (0..self.dies.len()).for_each(|die| self.catch_up(die));
    }

    /// Returns the schedule with all such moves accounted for.
    pub fn settled(&self) -> Cow<'_, Self> {
        let behind =
            |die: usize| self.dies[die].ahead > 0 && (self.closed() || self.unseen_ns(die).is_some());
        if (0..self.dies.len()).any(behind) {
            let mut schedule = self.clone();
            schedule.settle();
            return Cow::Owned(schedule);
        }
        Cow::Borrowed(self)
    }

    /// Lists the ends of moves without an event of their own: the end of the last one, or of the next one.
    fn ends_of_moves(&self, next: bool) -> impl Iterator<Item = u64> + '_ {
        let closed = self.closed();
        let within =
            move |die: &usize| self.dies[*die].ahead > 0 && (closed || self.unseen_ns(*die).is_some());
        (0..self.dies.len()).filter(within).map(move |die| {
            if !closed {
                let end_ns = self.dies[die].array_at;
                return match (next, self.has_reached(die, end_ns)) {
                    (_, next_has_begun) if next != next_has_begun => end_ns,
                    (true, _) => u64::MAX,
                    (false, _) => 0,
                };
            }
            let passed = self.passed(die);
            let began_ns = self.dies[die].started_ns + passed.spent_ns;
            match (next, passed.moves) {
                (true, moves) => {
                    let mut one_more = self.moves_ns(die, u64::MAX, moves + 1);
                    if one_more.moves == moves {
                        one_more.spent_ns = self.dies[die].array_at - self.dies[die].started_ns;
                    }
                    self.dies[die].started_ns + one_more.spent_ns
                }
                (false, 0) => 0,
                (false, _) => began_ns,
            }
        })
    }

    /// Returns the time of the next event; `u64::MAX` for none.
    pub fn next_ns(&self) -> u64 {
        self.ends_of_moves(true).fold(self.order.first().0, u64::min)
    }

    /// Returns the end of the last operation.
    pub fn last_done_ns(&self) -> u64 {
        self.ends_of_moves(false).fold(self.last_ns, u64::max)
    }
}
