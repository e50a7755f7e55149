//! Jobs that hold their channel: collection and wear-leveling keep host operations off all dies of a channel.
//!
//! Source: the paper on pattern-based write scheduling, section III-C: wear-leveling is completed by collection, and
//! "in the meanwhile the SSD channel is not available". A die that starts an operation of a job holds its channel. It
//! serves the operations of its jobs before all others until none of them may start; then it releases the channel.
//! While any die holds a channel, its other dies start operations of jobs, but none of the host. Operations that are
//! under way when a channel is taken go on to their end.
//!
//! A channel is held only while an operation of a job is in service, which ends by itself; no two dies can wait for each
//! other. Cost: a look at all dies of the channel per start, on drives with this setting only (`plain.rs` and `rows.rs`
//! are not used there).

use super::die::Stage;
use super::schedule::Schedule;
use crate::Class;

impl Schedule {
    /// Selects the next class of an idle die, and takes or releases its channel.
    pub fn choose_and_hold(&mut self, die: usize, now: u64) -> Option<Class> {
        let job = self.may_start(die, Class::Background, 0, false);
        if self.dies[die].holds && !job {
            self.release_channel(die, now);
        }
        let next = if self.dies[die].holds || self.channel_is_held(die) {
            job.then_some(Class::Background)
        } else {
            self.choose(die, false)
        };
        self.dies[die].holds |= next == Some(Class::Background);
        next
    }

    /// Returns the dies on the channel of a die.
    fn dies_of_channel(&self, die: usize) -> impl Iterator<Item = usize> + use<> {
        let channels = self.channel_free_ns.len();
        (die % channels..self.dies.len()).step_by(channels)
    }

    fn channel_is_held(&self, die: usize) -> bool {
        self.dies_of_channel(die).any(|other| self.dies[other].holds)
    }

    /// Ends the hold of a die, and wakes the idle dies of its channel.
    fn release_channel(&mut self, die: usize, now: u64) {
        self.dies[die].holds = false;
        if self.channel_is_held(die) {
            return;
        }
        for other in self.dies_of_channel(die) {
            let d = &mut self.dies[other];
            if other != die && d.active.stage == Stage::Idle && d.array_at > now {
                d.array_at = now;
                self.arm(other);
            }
        }
    }
}
