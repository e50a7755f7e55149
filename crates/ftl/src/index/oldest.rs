//! Closed units by valid count, with the oldest unit of each bucket at hand: one intrusive pairing heap per bucket. The
//! age of a unit begins when it is closed, or anew with each page that it loses.
//!
//! Cost: insertion O(1), removal O(log n) amortised, oldest O(1). Memory: 24 bytes per unit and 4 per bucket. Nothing
//! is allocated after start-up.

use crate::units::{NOT_INDEXED, UnitMeta, Units};
use floatgate_base::{DomainId, IdSlice, IdVec, UnitId};
use serde::{Deserialize, Serialize};

const NIL: UnitId = UnitId::MAX;

/// Policies from outside read `key` (`floatgate_plugin::contract::Node`).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(C)]
struct Node {
    key: u64,
    child: UnitId,
    next: UnitId,
    /// Left sibling, or the parent for a first child; `NIL` for a root.
    prev: UnitId,
}

/// Heaps of all buckets of all domains; the key is the time at which a unit's age begins.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OldestByValid {
    nodes: IdVec<UnitId, Node>,
    /// By domain and bucket.
    roots: Vec<UnitId>,
    buckets: u32,
    held: IdVec<DomainId, u32>,
}

impl OldestByValid {
    /// Creates empty heaps for `domains` domains with `units_per_domain` units of `pages_per_unit` pages.
    #[must_use]
    pub fn new(domains: u32, units_per_domain: u32, pages_per_unit: u32) -> Self {
        let buckets = pages_per_unit + 1;
        Self {
            nodes: IdVec::filled(
                Node { key: 0, child: NIL, next: NIL, prev: NIL },
                domains * units_per_domain,
            ),
            roots: vec![NIL; (domains * buckets) as usize],
            buckets,
            held: IdVec::filled(0, domains),
        }
    }

    /// Returns the number of units of a domain.
    #[must_use]
    pub fn len(&self, domain: DomainId) -> u32 {
        self.held[domain]
    }

    /// Returns when the age of a held unit begins, in host page writes.
    #[inline]
    #[must_use]
    pub fn aged_from(&self, unit: UnitId) -> u64 {
        self.nodes[unit].key
    }

    /// Returns the oldest unit of a domain by the number of valid pages, `UnitId::MAX` for none.
    #[must_use]
    pub fn roots_of(&self, domain: DomainId) -> &[UnitId] {
        let first = self.bucket(domain, 0);
        &self.roots[first..first + self.buckets as usize]
    }

    /// Returns the nodes of all units, of 24 bytes each, of which the first eight are the time.
    #[must_use]
    pub fn nodes(&self) -> *const u8 {
        self.nodes.as_slice().as_ptr().cast()
    }

    /// Returns the oldest unit with `valid` valid pages.
    #[inline]
    #[must_use]
    pub fn oldest(&self, domain: DomainId, valid: u32) -> Option<UnitId> {
        let root = self.roots[self.bucket(domain, valid)];
        (root != NIL).then_some(root)
    }

    /// Inserts a unit whose age begins at `aged_from`.
    pub fn insert(
        &mut self,
        domain: DomainId,
        unit: UnitId,
        aged_from: u64,
        meta: &mut IdSlice<UnitId, UnitMeta>,
    ) {
        self.nodes[unit] = Node { key: aged_from, child: NIL, next: NIL, prev: NIL };
        let valid = meta[unit].valid;
        meta[unit].pos = 0;
        self.held[domain] += 1;
        self.push(domain, valid, unit);
    }

    /// Moves a unit from bucket `from` to `from - 1`.
    pub fn demote(&mut self, domain: DomainId, unit: UnitId, from: u32) {
        self.cut(domain, from, unit);
        self.push(domain, from - 1, unit);
    }

    /// Moves a unit from bucket `from` to `from - 1` and restarts its age.
    pub fn demote_renewed(&mut self, domain: DomainId, unit: UnitId, from: u32, aged_from: u64) {
        self.cut(domain, from, unit);
        self.nodes[unit].key = aged_from;
        self.push(domain, from - 1, unit);
    }

    /// Removes a unit with `meta[unit].valid` valid pages.
    pub fn remove(&mut self, domain: DomainId, unit: UnitId, meta: &mut IdSlice<UnitId, UnitMeta>) {
        self.cut(domain, meta[unit].valid, unit);
        self.held[domain] -= 1;
        meta[unit].pos = NOT_INDEXED;
    }

    /// Checks heap order, counts and keys; calls `hold` with every unit. A key is the time of closing, or a later one
    /// if ages are `renewed`.
    ///
    /// # Errors
    /// Names the unit out of place.
    pub fn audit(
        &self,
        domain: DomainId,
        units: &Units,
        renewed: bool,
        hold: &mut impl FnMut(UnitId) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut visited = 0;
        for valid in 0..self.buckets {
            let root = self.roots[self.bucket(domain, valid)];
            let mut left = if root == NIL { vec![] } else { vec![(root, 0)] };
            while let Some((unit, above)) = left.pop() {
                hold(unit)?;
                visited += 1;
                let node = &self.nodes[unit];
                let closed_at = units.closed_at[unit];
                let right = if renewed { node.key >= closed_at } else { node.key == closed_at };
                if node.key < above || !right || units.meta[unit].valid != valid {
                    return Err(format!("unit {unit} is out of place among those with {valid} valid pages"));
                }
                left.extend([(node.child, node.key), (node.next, above)].iter().filter(|&&(n, _)| n != NIL));
            }
        }
        if visited != self.held[domain] {
            return Err(format!(
                "{visited} units are in the heaps of domain {domain}, {} are counted",
                self.held[domain]
            ));
        }
        Ok(())
    }

    fn bucket(&self, domain: DomainId, valid: u32) -> usize {
        (domain.0 * self.buckets + valid) as usize
    }

    fn push(&mut self, domain: DomainId, valid: u32, unit: UnitId) {
        let slot = self.bucket(domain, valid);
        self.roots[slot] = self.meld(self.roots[slot], unit);
    }

    /// Joins two roots; the older one stays on top, the lower number first among equals.
    fn meld(&mut self, a: UnitId, b: UnitId) -> UnitId {
        if a == NIL {
            return b;
        }
        if b == NIL {
            return a;
        }
        let order = |n: UnitId| (self.nodes[n].key, n);
        let (top, under) = if order(a) <= order(b) { (a, b) } else { (b, a) };
        let child = self.nodes[top].child;
        self.nodes[under].next = child;
        self.nodes[under].prev = top;
        if child != NIL {
            self.nodes[child].prev = under;
        }
        self.nodes[top].child = under;
        top
    }

    fn cut(&mut self, domain: DomainId, valid: u32, unit: UnitId) {
        let slot = self.bucket(domain, valid);
        let Node { child, next, prev, .. } = self.nodes[unit];
        let rest = self.merge_children(child);
        if self.roots[slot] == unit {
            self.roots[slot] = rest;
        } else {
            if self.nodes[prev].child == unit {
                self.nodes[prev].child = next;
            } else {
                self.nodes[prev].next = next;
            }
            if next != NIL {
                self.nodes[next].prev = prev;
            }
            self.roots[slot] = self.meld(self.roots[slot], rest);
        }
        let node = &mut self.nodes[unit];
        (node.child, node.next, node.prev) = (NIL, NIL, NIL);
    }

    /// Merges children in the two passes of a pairing heap: pair from the left, then fold from the right.
    fn merge_children(&mut self, mut child: UnitId) -> UnitId {
        let mut pairs = NIL;
        while child != NIL {
            let a = child;
            let b = self.detach(a);
            child = if b == NIL { NIL } else { self.detach(b) };
            let pair = self.meld(a, b);
            self.nodes[pair].next = pairs;
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

    /// Detaches a node from its siblings and returns the next one.
    fn detach(&mut self, n: UnitId) -> UnitId {
        let node = &mut self.nodes[n];
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
        for (seed, renews) in (0..80).map(|seed| (seed, seed % 2 == 1)) {
            let mut rng = Rng::new(seed, "oldest test");
            let mut heaps = OldestByValid::new(1, UNITS, PAGES);
            let mut meta = IdVec::filled(UnitMeta { valid: 0, pos: NOT_INDEXED }, UNITS);
            let mut sets = vec![BTreeSet::new(); PAGES as usize + 1];
            let mut aged_from = IdVec::filled(0u64, UNITS);
            for step in 0..4000u64 {
                let unit = UnitId(rng.below(u64::from(UNITS)) as u32);
                let valid = meta[unit].valid;
                if meta[unit].pos == NOT_INDEXED {
                    meta[unit].valid = rng.below(u64::from(PAGES) + 1) as u32;
                    aged_from[unit] = step / 3;
                    heaps.insert(DomainId(0), unit, aged_from[unit], &mut meta);
                    sets[meta[unit].valid as usize].insert((aged_from[unit], unit));
                } else if valid > 0 && rng.below(4) > 0 {
                    meta[unit].valid -= 1;
                    sets[valid as usize].remove(&(aged_from[unit], unit));
                    if renews {
                        aged_from[unit] = step / 3;
                        heaps.demote_renewed(DomainId(0), unit, valid, aged_from[unit]);
                    } else {
                        heaps.demote(DomainId(0), unit, valid);
                    }
                    assert_eq!(heaps.aged_from(unit), aged_from[unit], "seed {seed} step {step}");
                    sets[valid as usize - 1].insert((aged_from[unit], unit));
                } else {
                    heaps.remove(DomainId(0), unit, &mut meta);
                    sets[valid as usize].remove(&(aged_from[unit], unit));
                }
                for (v, set) in sets.iter().enumerate() {
                    assert_eq!(
                        heaps.oldest(DomainId(0), v as u32),
                        set.first().map(|&(_, u)| u),
                        "seed {seed} step {step}"
                    );
                }
            }
        }
    }
}
