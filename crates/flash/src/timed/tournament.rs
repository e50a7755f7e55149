//! Which die's present phase ends first: a winner tree, so that the next one is known and one change costs
//! the logarithm of the number of dies.
//!
//! A node is one word: a time, as ns after a base, above the number of a die. So the lesser of two words is the earlier time, and of
//! equal times the lower die. Times that do not fit above the base move it.

use serde::{Deserialize, Serialize};

/// Times at which dies want attention; `u64::MAX` for never.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "Vec<u64>", from = "Vec<u64>")]
pub(super) struct Tournament {
    /// Leaves from `leaves` on; node `i` has its children at `2 i` and `2 i + 1` and holds the lesser of both.
    nodes: Vec<u64>,
    leaves: usize,
    /// Bits of the number of a die.
    die_bits: u32,
    base_ns: u64,
    /// ns after the base that stand for never.
    never_ns: u64,
}

impl From<Tournament> for Vec<u64> {
    fn from(tournament: Tournament) -> Self {
        tournament.times().collect()
    }
}

impl From<Vec<u64>> for Tournament {
    fn from(times: Vec<u64>) -> Self {
        let mut tournament = Self::new(times.len());
        times.into_iter().enumerate().for_each(|(die, time)| tournament.set(die, time));
        tournament
    }
}

impl Tournament {
    /// For so many dies, none of which wants attention.
    pub fn new(dies: usize) -> Self {
        let leaves = dies.next_power_of_two();
        let die_bits = leaves.trailing_zeros();
        let never_ns = u64::MAX >> die_bits;
        let mut nodes: Vec<u64> = vec![0; leaves];
        nodes.extend((0..leaves as u64).map(|die| never_ns << die_bits | die));
        for node in (1..leaves).rev() {
            nodes[node] = nodes[2 * node];
        }
        Self { nodes, leaves, die_bits, base_ns: 0, never_ns }
    }

    #[inline(always)]
    fn time_of(&self, node: u64) -> u64 {
        let after_ns = node >> self.die_bits;
        if after_ns == self.never_ns { u64::MAX } else { self.base_ns + after_ns }
    }

    fn times(&self) -> impl Iterator<Item = u64> + '_ {
        self.nodes[self.leaves..].iter().map(|&node| self.time_of(node))
    }

    /// The earliest time and its die; of equal times the lowest die.
    #[inline(always)]
    pub fn first(&self) -> (u64, usize) {
        let first = self.nodes[1];
        (self.time_of(first), first as usize & (self.leaves - 1))
    }

    /// Says when a die wants attention.
    ///
    /// # Panics
    /// If the times of two dies are further apart than words can say, which is half a year on a drive of 1,024 dies.
    #[inline(always)]
    pub fn set(&mut self, die: usize, time: u64) {
        let after_ns = match time.checked_sub(self.base_ns) {
            Some(after_ns) if after_ns < self.never_ns => after_ns,
            _ => self.far(die, time),
        };
        let mut node = self.leaves + die;
        let mut first = after_ns << self.die_bits | die as u64;
        let nodes = &mut self.nodes[..];
        nodes[node] = first;
        while node > 1 {
            first = first.min(nodes[node ^ 1]);
            node /= 2;
            // Above a node that is as it was, nothing has changed.
            if nodes[node] == first {
                return;
            }
            nodes[node] = first;
        }
    }

    /// ns after the base of a time that is never, or for which the base must move: to the earliest of all.
    fn far(&mut self, die: usize, time: u64) -> u64 {
        if time == u64::MAX {
            return self.never_ns;
        }
        let times: Vec<u64> = self.times().collect();
        let others = times.iter().enumerate().filter(|&(other, &time)| other != die && time != u64::MAX);
        let base_ns = others.map(|(_, &time)| time).fold(time, u64::min);
        *self = Self { base_ns, ..Self::new(self.leaves) };
        for (other, time) in
            times.into_iter().enumerate().filter(|&(other, time)| other != die && time != u64::MAX)
        {
            assert!(time - base_ns < self.never_ns, "events of two dies are too far apart");
            self.set(other, time);
        }
        assert!(time - base_ns < self.never_ns, "events of two dies are too far apart");
        time - base_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::Rng;

    #[test]
    fn times_move_the_base_and_are_saved() {
        let mut rng = Rng::new(5, "base");
        for dies in [1, 3, 8, 1024] {
            let mut tournament = Tournament::new(dies);
            let mut times = vec![u64::MAX; dies];
            // Steps of months, back and forth, with all times close to one another.
            for step in [0, 1 << 53, 1 << 55, 3 << 55, 1 << 55, 1 << 60, u64::MAX - 1000, 7] {
                for _ in 0..100 {
                    let die = rng.below(dies as u64) as usize;
                    times[die] = if rng.below(5) == 0 { u64::MAX } else { step + rng.below(900) };
                    tournament.set(die, times[die]);
                    let least = times.iter().copied().min().unwrap();
                    let first = times.iter().position(|&t| t == least).unwrap();
                    assert_eq!(tournament.first(), (least, first));
                    let mut saved = Vec::from(tournament.clone());
                    assert_eq!(Tournament::from(saved.clone()).first(), tournament.first());
                    saved.truncate(dies);
                    assert_eq!(saved, times);
                }
                for die in 0..dies {
                    times[die] = u64::MAX;
                    tournament.set(die, u64::MAX);
                }
            }
        }
    }

    #[test]
    fn the_earliest_wins_and_the_lowest_of_equals() {
        let mut rng = Rng::new(4, "tournament");
        for dies in [1, 2, 3, 5, 8, 33] {
            let mut tournament = Tournament::new(dies);
            assert_eq!(tournament.first(), (u64::MAX, 0));
            let mut times = vec![u64::MAX; dies];
            for _ in 0..2000 {
                let die = rng.below(dies as u64) as usize;
                times[die] = if rng.below(5) == 0 { u64::MAX } else { rng.below(50) };
                tournament.set(die, times[die]);
                let least = times.iter().copied().min().unwrap();
                let first = times.iter().position(|&t| t == least).unwrap();
                assert_eq!(tournament.first(), (least, first));
            }
        }
    }
}
