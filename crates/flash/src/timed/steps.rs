//! Moves of rows that have events of their own (`rows.rs`): each begins and is programmed without a choice, and no
//! request ends with it. Dies at such moves advance among themselves until another event is next.
//!
//! If commands take no time on the channel, the start of the next move depends on no other die and has no event. The
//! next event of the die is the end of that move's read. [`Schedule::catch_up`] determines whether it has begun.

use super::die::{Die, Stage};
use super::schedule::Schedule;
use super::settings::{Phases, spread};
use super::times::ClassTimes;
use crate::Class;

/// The queue that contains rows.
const ROWS: usize = Class::Background as usize;

impl Schedule {
    /// Continues moves of rows while nothing else is next and the time is not later than `until`; returns the next
    /// event then.
    #[inline(never)]
    pub fn go_along_steps(&mut self, until: u64) -> (u64, usize) {
        loop {
            let (time, die) = self.order.first();
            if time > until || self.dies[die].ahead == 0 {
                return (time, die);
            }
            self.reach(time, die);
            self.step(die, time);
        }
    }

    /// Completes a move of a row and begins the next one, or programs its page after the read.
    #[inline(always)]
    pub fn step(&mut self, die: usize, now: u64) {
        debug_assert!(!self.dies[die].awaited && !self.records(die));
        let Die { active, array_at: end_ns, .. } = self.dies[die];
        let begins = active.stage == Stage::Working;
        #[cfg(test)]
        self.log_move(die, begins.then_some(end_ns));
        let Self { dies, settings, times, channel_free_ns, rng, counts, last_ns, order, direct, .. } = self;
        let (d, p, times) = (&mut dies[die], &settings.phases, &mut times[ROWS]);
        let channel_free_ns = &mut channel_free_ns[d.channel as usize];
        let mut busy = [None; 2];
        if begins {
            *last_ns = (*last_ns).max(end_ns);
            busy[0] = begin_next_move(d, p, times, channel_free_ns, end_ns);
            debug_assert!(end_ns == now || d.array_at == now);
        }
        let op = d.queues[ROWS].under_way(0);
        let (row, read_row) = (op.row, op.read_row);
        // If the move began without an event, its page has been read by now.
        if !begins || *direct || end_ns < now {
            let stays = op.pages == 1 && settings.commands.copyback;
            counts.copybacks[usize::from(op.cause)] += u64::from(stays);
            let program_ns = spread(rng, p.row(row).program_ns, p.program_spread);
            let on_channel_ns = p.command_ns + if stays { 0 } else { 2 * p.transfer_ns };
            let from_ns = if begins && *direct { d.array_at } else { now };
            busy[1] = program_move(d, times, channel_free_ns, from_ns, (on_channel_ns, program_ns));
        }
        let unseen_ns = unseen_ns(d, p, *direct, read_row).unwrap_or(0);
        order.set(die, d.array_at + unseen_ns);
        #[cfg(test)]
        self.log_channel(die, busy);
        let _ = busy;
    }

    /// Returns how long the next move reads at a die whose row begins it without an event.
    #[inline(always)]
    pub fn unseen_ns(&self, die: usize) -> Option<u64> {
        let d = &self.dies[die];
        if d.ahead == 0 {
            return None;
        }
        unseen_ns(d, &self.settings.phases, self.direct, d.queues[ROWS].under_way(0).read_row)
    }

    /// Accounts for a next move that may have begun without an event.
    pub fn catch_up_step(&mut self, die: usize) {
        let end_ns = self.dies[die].array_at;
        if self.unseen_ns(die).is_none() || !self.has_reached(die, end_ns) {
            return;
        }
        #[cfg(test)]
        self.log_move(die, Some(end_ns));
        let Self { dies, settings, times, channel_free_ns, last_ns, .. } = self;
        let (d, p, times) = (&mut dies[die], &settings.phases, &mut times[ROWS]);
        *last_ns = (*last_ns).max(end_ns);
        // Commands take no time on the channel, or the move would have an event.
        begin_next_move(d, p, times, &mut channel_free_ns[d.channel as usize], end_ns);
    }

    #[cfg(test)]
    fn log_move(&mut self, die: usize, began_ns: Option<u64>) {
        if let Some(began_ns) = began_ns {
            self.log_end(die, began_ns);
            self.unchosen += 1;
        }
    }

    #[cfg(test)]
    fn log_channel(&mut self, die: usize, busy: [Option<(u64, u64)>; 2]) {
        let channel = self.dies[die].channel as usize;
        self.log.1.extend(busy.into_iter().flatten().map(|(from_ns, to_ns)| (channel, from_ns, to_ns)));
    }
}

/// Implements [`Schedule::unseen_ns`]; `read_row` is that of the current move.
#[inline(always)]
fn unseen_ns(d: &Die, p: &Phases, direct: bool, read_row: u8) -> Option<u64> {
    if d.ahead == 0 || d.active.stage != Stage::Working || direct || p.command_ns > 0 {
        return None;
    }
    let read_row = if p.page_types == 1 { read_row } else { d.queues[ROWS].reads[0] };
    // Events of other dies may lie between two events at one time.
    Some(p.row(read_row).read_ns).filter(|&read_ns| read_ns > 0)
}

/// Completes the current move of a die and begins the next one of its row; see [`Schedule::begin_plain`]. Returns the
/// time of its command on the channel, if it takes any.
#[inline(always)]
fn begin_next_move(
    d: &mut Die,
    p: &Phases,
    times: &mut ClassTimes,
    channel_free_ns: &mut u64,
    now: u64,
) -> Option<(u64, u64)> {
    d.jobs_ns = d.jobs_until(now);
    d.started_ns = now;
    d.ahead -= 1;
    d.active.stage = Stage::CopyReading;
    let queue = &mut d.queues[ROWS];
    let op = queue.advance(1, p.page_types);
    let read_ns = p.row(op.read_row).read_ns;
    let waits = [d.jobs_ns[0] - op.jobs_ns[0], d.jobs_ns[1] - op.jobs_ns[1]];
    times.operations += 1;
    times.foreground_wait_ns += waits[0];
    times.background_wait_ns += waits[1];
    times.die_wait_ns += now - op.issued_ns - waits[0] - waits[1];
    times.service_ns += p.command_ns + read_ns;
    #[cfg(test)]
    queue.start_anew(1, now);
    let busy = (p.command_ns > 0).then(|| reserve(channel_free_ns, times, now, p.command_ns));
    d.array_from = busy.map_or(now, |(_, to_ns)| to_ns);
    d.array_at = d.array_from + read_ns;
    busy
}

/// Programs the page of the current move after so many ns on the channel; see [`Schedule::program_copy`]. Returns its
/// time on the channel, if it takes any.
#[inline(always)]
fn program_move(
    d: &mut Die,
    times: &mut ClassTimes,
    channel_free_ns: &mut u64,
    now: u64,
    (on_channel_ns, program_ns): (u64, u64),
) -> Option<(u64, u64)> {
    times.service_ns += on_channel_ns + program_ns;
    d.active.stage = Stage::Working;
    let busy = (on_channel_ns > 0).then(|| reserve(channel_free_ns, times, now, on_channel_ns));
    d.array_from = busy.map_or(now, |(_, to_ns)| to_ns);
    d.array_at = d.array_from + program_ns;
    busy
}

/// Reserves a channel from `now`; returns start and end.
#[inline(always)]
fn reserve(channel_free_ns: &mut u64, times: &mut ClassTimes, now: u64, length_ns: u64) -> (u64, u64) {
    let from_ns = now.max(*channel_free_ns);
    *channel_free_ns = from_ns + length_ns;
    times.channel_wait_ns += from_ns - now;
    (from_ns, from_ns + length_ns)
}
