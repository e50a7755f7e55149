//! Units in lists, one a domain: intrusive, 8 bytes a unit, every operation O(1).

use floatgate_base::UnitId;
use serde::{Deserialize, Serialize};

const NIL: u32 = u32::MAX;

/// The lists of all domains.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Lists {
    links: Vec<(u32, u32)>,
    ends: Vec<(u32, u32)>,
}

impl Lists {
    /// Empty lists.
    #[must_use]
    pub fn new(domains: u32, units: u32) -> Self {
        Self { links: vec![(NIL, NIL); units as usize], ends: vec![(NIL, NIL); domains as usize] }
    }

    /// Units and domains that there is room for.
    #[must_use]
    pub fn room(&self) -> (usize, usize) {
        (self.links.len(), self.ends.len())
    }

    /// The first unit.
    #[must_use]
    pub fn first(&self, domain: u32) -> Option<UnitId> {
        let head = self.ends[domain as usize].0;
        (head != NIL).then_some(head)
    }

    /// Takes in a unit as the first.
    pub fn push_front(&mut self, domain: u32, unit: UnitId) {
        let (head, tail) = self.ends[domain as usize];
        self.links[unit as usize] = (NIL, head);
        if head == NIL {
            self.ends[domain as usize] = (unit, unit);
        } else {
            self.links[head as usize].0 = unit;
            self.ends[domain as usize] = (unit, tail);
        }
    }

    /// Takes in a unit as the last.
    pub fn push_back(&mut self, domain: u32, unit: UnitId) {
        let (head, tail) = self.ends[domain as usize];
        self.links[unit as usize] = (tail, NIL);
        if tail == NIL {
            self.ends[domain as usize] = (unit, unit);
        } else {
            self.links[tail as usize].1 = unit;
            self.ends[domain as usize] = (head, unit);
        }
    }

    /// Takes out a unit.
    pub fn remove(&mut self, domain: u32, unit: UnitId) {
        let (prev, next) = self.links[unit as usize];
        let ends = &mut self.ends[domain as usize];
        match prev {
            NIL => ends.0 = next,
            p => self.links[p as usize].1 = next,
        }
        match next {
            NIL => ends.1 = prev,
            n => self.links[n as usize].0 = prev,
        }
    }

    /// The units of a domain from the first to the last; ends early where a link back is wrong.
    pub fn iter(&self, domain: u32) -> impl Iterator<Item = UnitId> + '_ {
        let (mut unit, mut before) = (self.ends[domain as usize].0, NIL);
        std::iter::from_fn(move || {
            let &(prev, next) = self.links.get(unit as usize)?;
            let found = (prev == before).then_some(unit);
            (before, unit) = (unit, next);
            found
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::Rng;
    use std::collections::VecDeque;

    #[test]
    fn agrees_with_queues_under_random_use() {
        for seed in 0..20 {
            let mut rng = Rng::new(seed, "lists test");
            let mut lists = Lists::new(2, 20);
            let mut queues = [VecDeque::new(), VecDeque::new()];
            for step in 0..2000 {
                let unit = rng.below(20) as u32;
                let d = (unit / 10) as usize;
                match queues[d].iter().position(|&u| u == unit) {
                    Some(at) => {
                        lists.remove(d as u32, unit);
                        queues[d].remove(at);
                    }
                    None if rng.below(2) == 0 => {
                        lists.push_front(d as u32, unit);
                        queues[d].push_front(unit);
                    }
                    None => {
                        lists.push_back(d as u32, unit);
                        queues[d].push_back(unit);
                    }
                }
                assert!(lists.iter(d as u32).eq(queues[d].iter().copied()), "seed {seed} step {step}");
                assert_eq!(lists.first(d as u32), queues[d].front().copied());
            }
        }
    }
}
