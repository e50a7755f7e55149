//! Moves of rows that have events of their own (`rows.rs`): each begins and is programmed without a choice, and no request ends
//! with it. So the dies that are at such moves go on among themselves, until it is another one's turn.
//!
//! Where commands take no time on the channel, nobody has a say in when the next move begins, and it has no event: the die
//! comes back when that move's page has been read. Whoever asks meanwhile finds out whether it has begun ([`Schedule::catch_up`]).

use super::die::{Die, Stage};
use super::schedule::Schedule;
use super::settings::{Phases, spread};
use super::times::ClassTimes;
use crate::Class;

/// The queue in which rows are.
const ROWS: usize = Class::Background as usize;

impl Schedule {
    /// Lets moves of rows go on as long as nothing else is next and it is not later than `until`; the event that is next then.
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

    /// A move of a row is done and the next one begins, or its page has been read and is programmed.
    #[inline(always)]
    pub fn step(&mut self, die: usize, now: u64) {
        debug_assert!(!self.dies[die].awaited && !self.recording);
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
        // Where the move began without an event, its page has been read by now.
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

    /// Of a die at whose row the next move begins without an event: how long that move reads.
    #[inline(always)]
    pub fn unseen_ns(&self, die: usize) -> Option<u64> {
        let d = &self.dies[die];
        if d.ahead == 0 {
            return None;
        }
        unseen_ns(d, &self.settings.phases, self.direct, d.queues[ROWS].under_way(0).read_row)
    }

    /// The next move of a row may have begun without an event.
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

/// See [`Schedule::unseen_ns`]; `read_row` is that of the move under way.
#[inline(always)]
fn unseen_ns(d: &Die, p: &Phases, direct: bool, read_row: u8) -> Option<u64> {
    if d.ahead == 0 || d.active.stage != Stage::Working || direct || p.command_ns > 0 {
        return None;
    }
    let read_row = if p.page_types == 1 { read_row } else { d.queues[ROWS].reads[0] };
    // Two events of one moment may have those of other dies between them.
    Some(p.row(read_row).read_ns).filter(|&read_ns| read_ns > 0)
}

/// The move under way at a die is done, and the next one of its row begins; see [`Schedule::begin_plain`]. From when to when its
/// command is on the channel, if that takes time.
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

/// The page of the move under way has been read, and is programmed after so many ns on the channel; see
/// [`Schedule::program_copy`]. From when to when it is on the channel, if that takes time.
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

/// Reserves a channel from `now` on; from when to when.
#[inline(always)]
fn reserve(channel_free_ns: &mut u64, times: &mut ClassTimes, now: u64, length_ns: u64) -> (u64, u64) {
    let from_ns = now.max(*channel_free_ns);
    *channel_free_ns = from_ns + length_ns;
    times.channel_wait_ns += from_ns - now;
    (from_ns, from_ns + length_ns)
}
