//! Moves of rows that have events of their own (`rows.rs`): each begins and is programmed without a choice, and no request ends
//! with it. So the dies that are at such moves go on among themselves, until it is another one's turn.

use super::die::Stage;
use super::schedule::Schedule;
use super::service::spread;
use crate::Class;

/// The queue in which rows are.
const ROWS: usize = Class::Background as usize;

impl Schedule {
    /// Lets moves of rows go on as long as nothing else is next and it is not later than `until`; the event that is next then.
    #[inline(always)]
    pub fn go_along_rows(&mut self, until: u64) -> (u64, usize) {
        if self.plain && self.rows && !self.recording && !self.closed() {
            self.go_along_steps(until)
        } else {
            self.order.first()
        }
    }

    #[inline(never)]
    fn go_along_steps(&mut self, until: u64) -> (u64, usize) {
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
            #[cfg(test)]
            {
                self.log_end(die, now);
                self.unchosen += 1;
            }
            self.begin_next_move(die, now);
            if self.direct {
                self.program_move(die, self.dies[die].array_at);
            }
        } else {
            self.program_move(die, now);
        }
        self.order.set(die, self.dies[die].array_at);
    }

    /// See [`Schedule::begin_plain`].
    #[inline(always)]
    fn begin_next_move(&mut self, die: usize, now: u64) {
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
