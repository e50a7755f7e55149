//! Selects the die whose current phase ends first: a winner tree, in which a change costs the logarithm of the number
//! of dies.
//!
//! A node is one word: a time, in ns after a base, above the number of a die. The smaller of two words is the earlier
//! time, and among equal times the lower die. Times that do not fit above the base move it. Eight nodes have one
//! parent, since finding the least of eight words takes fewer instructions than three steps up a binary tree.

use serde::{Deserialize, Serialize};

/// Nodes with the same parent, as a power of two.
const FANOUT_BITS: usize = 3;
const FANOUT: usize = 1 << FANOUT_BITS;

/// Times of the dies' next events; `u64::MAX` for none.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "Vec<u64>", from = "Vec<u64>")]
pub(super) struct Tournament {
    /// Nodes with the same parent, the root's children first; the parent of group `i` is node `(i - 1) % 8` of group
    /// `(i - 1) / 8`. Words beyond the dies have the maximum.
    groups: Vec<[u64; FANOUT]>,
    /// The group of the first dies.
    leaves: usize,
    /// The root: the least of all words.
    first: u64,
    dies: usize,
    /// Bits of a die number.
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

/// Returns the least word of a group.
#[inline(always)]
fn least(group: &[u64; FANOUT]) -> u64 {
    let [a, b, c, d, e, f, g, h] = *group;
    a.min(b).min(c.min(d)).min(e.min(f).min(g.min(h)))
}

impl Tournament {
    /// Creates a tree of dies without events.
    pub fn new(dies: usize) -> Self {
        let die_bits = dies.next_power_of_two().trailing_zeros();
        let never_ns = u64::MAX >> die_bits;
        let (mut leaves, mut width) = (0, 1);
        while width * FANOUT < dies {
            leaves += width;
            width *= FANOUT;
        }
        let groups = vec![[u64::MAX; FANOUT]; leaves + dies.div_ceil(FANOUT)];
        let mut tournament = Self { groups, leaves, first: u64::MAX, dies, die_bits, base_ns: 0, never_ns };
        (0..dies).for_each(|die| tournament.set(die, u64::MAX));
        tournament
    }

    #[inline(always)]
    fn time_of(&self, node: u64) -> u64 {
        let after_ns = node >> self.die_bits;
        if after_ns == self.never_ns { u64::MAX } else { self.base_ns + after_ns }
    }

    fn times(&self) -> impl Iterator<Item = u64> + '_ {
        let words = self.groups[self.leaves..].iter().flatten();
        words.take(self.dies).map(|&node| self.time_of(node))
    }

    /// Returns the earliest time and its die; among equal times the lowest die.
    #[inline(always)]
    pub fn first(&self) -> (u64, usize) {
        (self.time_of(self.first), (self.first & ((1 << self.die_bits) - 1)) as usize)
    }

    /// Sets the time of a die's next event.
    ///
    /// # Panics
    /// If the times of two dies are further apart than words can express, which is half a year on a drive of 1,024
    /// dies.
    #[inline(always)]
    pub fn set(&mut self, die: usize, time: u64) {
        let after_ns = match time.checked_sub(self.base_ns) {
            Some(after_ns) if after_ns < self.never_ns => after_ns,
            _ => self.far(die, time),
        };
        let mut word = after_ns << self.die_bits | die as u64;
        let (mut group, mut node) = (self.leaves + (die >> FANOUT_BITS), die % FANOUT);
        loop {
            let nodes = &mut self.groups[group];
            // Above an unchanged node nothing changes.
            if nodes[node] == word {
                return;
            }
            nodes[node] = word;
            word = least(nodes);
            if group == 0 {
                break;
            }
            (group, node) = ((group - 1) >> FANOUT_BITS, (group - 1) % FANOUT);
        }
        self.first = word;
    }

    /// Returns the ns after the base for a time that is never, or for which the base must move to the earliest of all.
    fn far(&mut self, die: usize, time: u64) -> u64 {
        if time == u64::MAX {
            return self.never_ns;
        }
        let times: Vec<u64> = self.times().collect();
        let others = times.iter().enumerate().filter(|&(other, &time)| other != die && time != u64::MAX);
        let base_ns = others.map(|(_, &time)| time).fold(time, u64::min);
        *self = Self { base_ns, ..Self::new(self.dies) };
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
                    let saved = Vec::from(tournament.clone());
                    assert_eq!(Tournament::from(saved.clone()).first(), tournament.first());
                    assert_eq!(saved, times);
                }
                for (die, time) in times.iter_mut().enumerate() {
                    *time = u64::MAX;
                    tournament.set(die, *time);
                }
            }
        }
    }

    #[test]
    fn the_earliest_wins_and_the_lowest_of_equals() {
        let mut rng = Rng::new(4, "tournament");
        for dies in [1, 2, 3, 5, 8, 9, 33, 64, 65, 600] {
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
