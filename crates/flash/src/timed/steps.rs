//! Moves of rows that have events of their own (`rows.rs`): each begins and is programmed without a choice, and no request ends
//! with it. So the dies that are at such moves go on among themselves, until it is another one's turn.
//!
//! Where commands take no time on the channel, nobody has a say in when the next move begins, and it has no event: the die
//! comes back when that move's page has been read. Whoever asks meanwhile finds out whether it has begun ([`Schedule::catch_up`]).

use super::die::Stage;
use super::schedule::Schedule;
use super::settings::spread;
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
        if self.dies[die].active.stage == Stage::Working {
            let end_ns = self.dies[die].array_at;
            self.begin_next_move(die, end_ns);
            debug_assert!(end_ns == now || self.dies[die].array_at == now);
            if self.direct {
                self.program_move(die, self.dies[die].array_at);
            } else if end_ns < now {
                self.program_move(die, now);
            }
        } else {
            self.program_move(die, now);
        }
        let d = &self.dies[die];
        self.order.set(die, d.array_at + self.unseen_ns(die).unwrap_or(0));
    }

    /// Of a die at whose row the next move begins without an event: how long that move reads.
    #[inline(always)]
    pub fn unseen_ns(&self, die: usize) -> Option<u64> {
        let (d, p) = (&self.dies[die], &self.settings.phases);
        if d.ahead == 0 || d.active.stage != Stage::Working || self.direct || p.command_ns > 0 {
            return None;
        }
        let queue = &d.queues[ROWS];
        let read_row = if p.page_types == 1 { queue.under_way(0).read_row } else { queue.reads[0] };
        // Two events of one moment may have those of other dies between them.
        Some(p.row(read_row).read_ns).filter(|&read_ns| read_ns > 0)
    }

    /// The next move of a row may have begun without an event.
    pub fn catch_up_step(&mut self, die: usize) {
        let end_ns = self.dies[die].array_at;
        if self.unseen_ns(die).is_some() && self.has_reached(die, end_ns) {
            self.begin_next_move(die, end_ns);
        }
    }

    /// See [`Schedule::begin_plain`].
    #[inline(always)]
    fn begin_next_move(&mut self, die: usize, now: u64) {
        #[cfg(test)]
        {
            self.log_end(die, now);
            self.unchosen += 1;
        }
        let Self { dies, settings, times, channel_free_ns, last_ns, .. } = self;
        let (d, p, times) = (&mut dies[die], &settings.phases, &mut times[ROWS]);
        *last_ns = (*last_ns).max(now);
        d.jobs_ns = d.jobs_until(now);
        d.started_ns = now;
        d.ahead -= 1;
        d.active.stage = Stage::CopyReading;
        let queue = &mut d.queues[ROWS];
        queue.advance(1, p.page_types);
        #[cfg(test)]
        queue.start_anew(1, now);
        let op = queue.under_way(0);
        let read_ns = p.row(op.read_row).read_ns;
        let waits = [d.jobs_ns[0] - op.jobs_ns[0], d.jobs_ns[1] - op.jobs_ns[1]];
        times.operations += 1;
        times.foreground_wait_ns += waits[0];
        times.background_wait_ns += waits[1];
        times.die_wait_ns += now - op.issued_ns - waits[0] - waits[1];
        times.service_ns += p.command_ns + read_ns;
        d.array_from = now;
        if p.command_ns > 0 {
            let from = now.max(channel_free_ns[d.channel as usize]);
            d.array_from = from + p.command_ns;
            channel_free_ns[d.channel as usize] = d.array_from;
            times.channel_wait_ns += from - now;
            #[cfg(test)]
            self.log.1.push((d.channel as usize, from, d.array_from));
        }
        d.array_at = d.array_from + read_ns;
    }

    /// See [`Schedule::program_copy`].
    #[inline(always)]
    fn program_move(&mut self, die: usize, now: u64) {
        let Self { dies, settings, times, channel_free_ns, rng, counts, .. } = self;
        let (d, p, times) = (&mut dies[die], &settings.phases, &mut times[ROWS]);
        let op = d.queues[ROWS].under_way(0);
        let stays = op.pages == 1 && settings.commands.copyback;
        let on_channel_ns = p.command_ns + if stays { 0 } else { 2 * p.transfer_ns };
        let program_ns = spread(rng, p.row(op.row).program_ns, p.program_spread);
        counts.copybacks[usize::from(op.cause)] += u64::from(stays);
        times.service_ns += on_channel_ns + program_ns;
        d.active.stage = Stage::Working;
        d.array_from = now;
        if on_channel_ns > 0 {
            let from = now.max(channel_free_ns[d.channel as usize]);
            d.array_from = from + on_channel_ns;
            channel_free_ns[d.channel as usize] = d.array_from;
            times.channel_wait_ns += from - now;
            #[cfg(test)]
            self.log.1.push((d.channel as usize, from, d.array_from));
        }
        d.array_at = d.array_from + program_ns;
    }
}
