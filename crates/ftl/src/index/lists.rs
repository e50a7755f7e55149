//! One list of units per domain: intrusive, 8 bytes per unit, every operation O(1).

use floatgate_base::{DomainId, IdVec, UnitId};
use serde::{Deserialize, Serialize};

const NIL: UnitId = UnitId::MAX;

/// The lists of all domains.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Lists {
    /// The preceding and the following unit.
    links: IdVec<UnitId, [UnitId; 2]>,
    /// The first unit and the last.
    ends: IdVec<DomainId, (UnitId, UnitId)>,
}

impl Lists {
    /// Creates empty lists.
    #[must_use]
    pub fn new(domains: u32, units: u32) -> Self {
        Self { links: IdVec::filled([NIL, NIL], units), ends: IdVec::filled((NIL, NIL), domains) }
    }

    /// Returns the numbers of units and domains that the lists have room for.
    #[must_use]
    pub fn room(&self) -> (usize, usize) {
        (self.links.len(), self.ends.len())
    }

    /// Returns the preceding and the following unit of each, `UnitId::MAX` for none.
    #[must_use]
    pub fn links(&self) -> &[[UnitId; 2]] {
        self.links.as_slice()
    }

    /// Returns the first unit.
    #[must_use]
    pub fn first(&self, domain: DomainId) -> Option<UnitId> {
        let head = self.ends[domain].0;
        (head != NIL).then_some(head)
    }

    /// Inserts a unit at the front.
    pub fn push_front(&mut self, domain: DomainId, unit: UnitId) {
        let (head, tail) = self.ends[domain];
        self.links[unit] = [NIL, head];
        if head == NIL {
            self.ends[domain] = (unit, unit);
        } else {
            self.links[head][0] = unit;
            self.ends[domain] = (unit, tail);
        }
    }

    /// Inserts a unit at the end.
    pub fn push_back(&mut self, domain: DomainId, unit: UnitId) {
        let (head, tail) = self.ends[domain];
        self.links[unit] = [tail, NIL];
        if tail == NIL {
            self.ends[domain] = (unit, unit);
        } else {
            self.links[tail][1] = unit;
            self.ends[domain] = (head, unit);
        }
    }

    /// Removes a unit.
    pub fn remove(&mut self, domain: DomainId, unit: UnitId) {
        let [prev, next] = self.links[unit];
        let ends = &mut self.ends[domain];
        match prev {
            NIL => ends.0 = next,
            p => self.links[p][1] = next,
        }
        match next {
            NIL => ends.1 = prev,
            n => self.links[n][0] = prev,
        }
    }

    /// Yields the units of a domain in order; ends early at an inconsistent backward link.
    pub fn iter(&self, domain: DomainId) -> impl Iterator<Item = UnitId> + '_ {
        let (mut unit, mut before) = (self.ends[domain].0, NIL);
        std::iter::from_fn(move || {
            let &[prev, next] = self.links.get(unit)?;
            let checked = (prev == before).then_some(unit);
            (before, unit) = (unit, next);
            checked
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
            let mut queues: IdVec<DomainId, _> = IdVec::filled(VecDeque::new(), 2);
            for step in 0..2000 {
                let unit = UnitId(rng.below(20) as u32);
                let d = DomainId(unit.0 / 10);
                match queues[d].iter().position(|&u| u == unit) {
                    Some(at) => {
                        lists.remove(d, unit);
                        queues[d].remove(at);
                    }
                    None if rng.below(2) == 0 => {
                        lists.push_front(d, unit);
                        queues[d].push_front(unit);
                    }
                    None => {
                        lists.push_back(d, unit);
                        queues[d].push_back(unit);
                    }
                }
                assert!(lists.iter(d).eq(queues[d].iter().copied()), "seed {seed} step {step}");
                assert_eq!(lists.first(d), queues[d].front().copied());
            }
        }
    }
}
