//! Which die's present phase ends first: a winner tree, so that the next one is known and one change costs
//! the logarithm of the number of dies.

use serde::{Deserialize, Serialize};

/// When a die wants attention; `u64::MAX` for never.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    time: u64,
    die: u32,
}

/// Times at which dies want attention.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Tournament {
    /// Leaves from `leaves` on; node `i` has its children at `2 i` and `2 i + 1` and holds the earlier of both.
    nodes: Vec<Entry>,
    leaves: usize,
}

impl Tournament {
    /// For so many dies, none of which wants attention.
    pub fn new(dies: usize) -> Self {
        let leaves = dies.next_power_of_two();
        let mut nodes = vec![Entry { time: u64::MAX, die: 0 }; 2 * leaves];
        for die in 0..leaves {
            nodes[leaves + die].die = die as u32;
        }
        for node in (1..leaves).rev() {
            nodes[node] = nodes[2 * node];
        }
        Self { nodes, leaves }
    }

    /// The earliest time and its die; of equal times the lowest die.
    #[inline(always)]
    pub fn first(&self) -> (u64, usize) {
        let first = self.nodes[1];
        (first.time, first.die as usize)
    }

    /// Says when a die wants attention.
    #[inline(always)]
    pub fn set(&mut self, die: usize, time: u64) {
        let mut node = self.leaves + die;
        let mut first = Entry { time, die: die as u32 };
        self.nodes[node] = first;
        while node > 1 {
            let other = self.nodes[node ^ 1];
            // Of equals the left one wins: it has the lower number.
            let is_right = node & 1 == 1;
            if other.time < first.time || is_right && other.time == first.time {
                first = other;
            }
            node /= 2;
            if self.nodes[node] == first {
                return;
            }
            self.nodes[node] = first;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::Rng;

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
