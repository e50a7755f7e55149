//! Closed units by valid count, each bucket able to name its oldest unit: one intrusive pairing heap a bucket.
//!
//! Cost: insertion O(1), removal O(log n) amortised, oldest O(1). Memory: 24 bytes a unit and 4 a bucket. Nothing is allocated
//! after start-up.

use crate::units::{NOT_INDEXED, UnitMeta, Units};
use floatgate_base::UnitId;
use serde::{Deserialize, Serialize};

const NIL: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Node {
    key: u64,
    child: u32,
    next: u32,
    /// Left sibling, or the parent for a first child; `NIL` for a root.
    prev: u32,
}

/// Heaps of all buckets of all domains; the key is the time of closing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OldestByValid {
    nodes: Vec<Node>,
    roots: Vec<u32>,
    buckets: u32,
    held: Vec<u32>,
}

impl OldestByValid {
    /// Empty heaps for `domains` domains with `units_per_domain` units of `pages_per_unit` pages.
    #[must_use]
    pub fn new(domains: u32, units_per_domain: u32, pages_per_unit: u32) -> Self {
        let buckets = pages_per_unit + 1;
        Self {
            nodes: vec![
                Node { key: 0, child: NIL, next: NIL, prev: NIL };
                (domains * units_per_domain) as usize
            ],
            roots: vec![NIL; (domains * buckets) as usize],
            buckets,
            held: vec![0; domains as usize],
        }
    }

    /// Units held for a domain.
    #[must_use]
    pub fn len(&self, domain: u32) -> u32 {
        self.held[domain as usize]
    }

    /// The unit with `valid` valid pages that was closed first.
    #[inline]
    #[must_use]
    pub fn oldest(&self, domain: u32, valid: u32) -> Option<UnitId> {
        let root = self.roots[(domain * self.buckets + valid) as usize];
        (root != NIL).then_some(root)
    }

    /// Takes in a unit that was closed at `closed_at`.
    pub fn insert(&mut self, domain: u32, unit: UnitId, closed_at: u64, meta: &mut [UnitMeta]) {
        self.nodes[unit as usize] = Node { key: closed_at, child: NIL, next: NIL, prev: NIL };
        let valid = meta[unit as usize].valid;
        meta[unit as usize].pos = 0;
        self.held[domain as usize] += 1;
        self.push(domain, valid, unit);
    }

    /// Moves a unit from bucket `from` to `from - 1`.
    pub fn demote(&mut self, domain: u32, unit: UnitId, from: u32) {
        self.cut(domain, from, unit);
        self.push(domain, from - 1, unit);
    }

    /// Takes out a unit with `meta[unit].valid` valid pages.
    pub fn remove(&mut self, domain: u32, unit: UnitId, meta: &mut [UnitMeta]) {
        self.cut(domain, meta[unit as usize].valid, unit);
        self.held[domain as usize] -= 1;
        meta[unit as usize].pos = NOT_INDEXED;
    }

    /// Checks that no unit is older than the one above it, and that keys and counts are right; `hold` is told every
    /// unit.
    ///
    /// # Errors
    /// Says which unit is out of place.
    pub fn audit(
        &self,
        domain: u32,
        units: &Units,
        hold: &mut impl FnMut(UnitId) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut found = 0;
        for valid in 0..self.buckets {
            let root = self.roots[(domain * self.buckets + valid) as usize];
            let mut left = if root == NIL { vec![] } else { vec![(root, 0)] };
            while let Some((unit, above)) = left.pop() {
                hold(unit)?;
                found += 1;
                let node = &self.nodes[unit as usize];
                let right =
                    node.key == units.closed_at[unit as usize] && units.meta[unit as usize].valid == valid;
                if node.key < above || !right {
                    return Err(format!(
                        "unit {unit} stands out of place among those with {valid} valid pages"
                    ));
                }
                left.extend([(node.child, node.key), (node.next, above)].iter().filter(|&&(n, _)| n != NIL));
            }
        }
        if found != self.held[domain as usize] {
            return Err(format!(
                "{found} units stand in the heaps of domain {domain}, {} are counted",
                self.held[domain as usize]
            ));
        }
        Ok(())
    }

    fn push(&mut self, domain: u32, valid: u32, unit: UnitId) {
        let slot = (domain * self.buckets + valid) as usize;
        self.roots[slot] = self.meld(self.roots[slot], unit);
    }

    /// Joins two roots; the older one stays on top, the lower number first among equals.
    fn meld(&mut self, a: u32, b: u32) -> u32 {
        if a == NIL {
            return b;
        }
        if b == NIL {
            return a;
        }
        let order = |n: u32| (self.nodes[n as usize].key, n);
        let (top, under) = if order(a) <= order(b) { (a, b) } else { (b, a) };
        let child = self.nodes[top as usize].child;
        self.nodes[under as usize].next = child;
        self.nodes[under as usize].prev = top;
        if child != NIL {
            self.nodes[child as usize].prev = under;
        }
        self.nodes[top as usize].child = under;
        top
    }

    fn cut(&mut self, domain: u32, valid: u32, unit: UnitId) {
        let slot = (domain * self.buckets + valid) as usize;
        let Node { child, next, prev, .. } = self.nodes[unit as usize];
        let rest = self.merge_children(child);
        if self.roots[slot] == unit {
            self.roots[slot] = rest;
        } else {
            if self.nodes[prev as usize].child == unit {
                self.nodes[prev as usize].child = next;
            } else {
                self.nodes[prev as usize].next = next;
            }
            if next != NIL {
                self.nodes[next as usize].prev = prev;
            }
            self.roots[slot] = self.meld(self.roots[slot], rest);
        }
        let node = &mut self.nodes[unit as usize];
        (node.child, node.next, node.prev) = (NIL, NIL, NIL);
    }

    /// The two passes of a pairing heap: pair from the left, then fold from the right.
    fn merge_children(&mut self, mut child: u32) -> u32 {
        let mut pairs = NIL;
        while child != NIL {
            let a = child;
            let b = self.detach(a);
            child = if b == NIL { NIL } else { self.detach(b) };
            let pair = self.meld(a, b);
            self.nodes[pair as usize].next = pairs;
            pairs = pair;
        }
        let mut root = NIL;
        while pairs != NIL {
            let pair = pairs;
            pairs = self.detach(pair);
            root = self.meld(root, pair);
        }
        root
    }

    /// Frees a node from its siblings and returns the next one.
    fn detach(&mut self, n: u32) -> u32 {
        let node = &mut self.nodes[n as usize];
        node.prev = NIL;
        std::mem::replace(&mut node.next, NIL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::Rng;
    use std::collections::BTreeSet;

    #[test]
    fn agrees_with_ordered_sets_under_random_use() {
        const UNITS: u32 = 41;
        const PAGES: u32 = 5;
        for seed in 0..40 {
            let mut rng = Rng::new(seed, "oldest test");
            let mut heaps = OldestByValid::new(1, UNITS, PAGES);
            let mut meta = vec![UnitMeta { valid: 0, pos: NOT_INDEXED }; UNITS as usize];
            let mut sets = vec![BTreeSet::new(); PAGES as usize + 1];
            let mut closed_at = vec![0u64; UNITS as usize];
            for step in 0..4000u64 {
                let unit = rng.below(u64::from(UNITS)) as u32;
                let u = unit as usize;
                let valid = meta[u].valid;
                if meta[u].pos == NOT_INDEXED {
                    meta[u].valid = rng.below(u64::from(PAGES) + 1) as u32;
                    closed_at[u] = step / 3;
                    heaps.insert(0, unit, closed_at[u], &mut meta);
                    sets[meta[u].valid as usize].insert((closed_at[u], unit));
                } else if valid > 0 && rng.below(4) > 0 {
                    meta[u].valid -= 1;
                    heaps.demote(0, unit, valid);
                    sets[valid as usize].remove(&(closed_at[u], unit));
                    sets[valid as usize - 1].insert((closed_at[u], unit));
                } else {
                    heaps.remove(0, unit, &mut meta);
                    sets[valid as usize].remove(&(closed_at[u], unit));
                }
                for (v, set) in sets.iter().enumerate() {
                    assert_eq!(
                        heaps.oldest(0, v as u32),
                        set.first().map(|&(_, u)| u),
                        "seed {seed} step {step}"
                    );
                }
            }
        }
    }
}
