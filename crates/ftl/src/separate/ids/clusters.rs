//! Single-linkage clustering by growing `ul`. Yields for each context its original cluster (the first that it joined)
//! and that cluster's root.
//!
//! Clusters are numbered in the order of creation, as in the paper; ties of `ul` are broken by the positions of the two
//! contexts. The links that create clusters are those of the minimum spanning tree. Finding them takes time quadratic
//! in the number of contexts, and only they are sorted.

use super::update_log::{COMPARED_MAX, Localities};

/// Clusters of the contexts of a window.
#[derive(Clone, Debug, Default)]
pub struct Clusters {
    /// By context's position: numbers of its original cluster and its root cluster. Empty for fewer than two contexts.
    clusters: Vec<(u32, u32)>,
    links: Vec<Link>,
    /// Positions that are not in the tree yet, with the best link of each to it.
    outside: Vec<(u32, Link)>,
    parent: Vec<u32>,
    /// Root of each set's cluster; [`SINGLE`] for a single context.
    root: Vec<u32>,
}

const SINGLE: u32 = u32::MAX;

/// The sort key of a link: the ul of two contexts in units of 2^-[`UL_BITS`], then their positions, the lower one
/// first. Two ratios of whole numbers below a window's size differ by more than two such units; equal ul keys thus mean
/// equal ul. A single number is compared without a branch.
type Link = u64;

/// Windows have up to 2^13 updates: ratios differ by 2^-26 at least.
const UL_BITS: u32 = 27;
/// Bits of a position.
const PLACE_BITS: u32 = COMPARED_MAX.ilog2();

/// Creates the link of two contexts whose ul is `sum / entries`.
#[inline(always)]
fn link(sum: u32, entries: u32, one: u32, other: u32) -> Link {
    let ul = (u64::from(sum) << UL_BITS) / u64::from(entries);
    ul << (2 * PLACE_BITS) | u64::from(one.min(other)) << PLACE_BITS | u64::from(one.max(other))
}

/// Returns the positions of the contexts that it joins.
#[inline(always)]
fn ends(link: Link) -> (u32, u32) {
    let place = |link: Link| (link & ((1 << PLACE_BITS) - 1)) as u32;
    (place(link >> PLACE_BITS), place(link))
}

impl Clusters {
    /// Returns original and root cluster by position.
    pub fn of(&mut self, localities: &Localities) -> &[(u32, u32)] {
        self.cluster(localities.sums(), localities.counts())
    }

    /// Clusters contexts by their numbers of entries and the symmetric sums of distances by pair: ul is a pair's sum
    /// over its entries.
    fn cluster(&mut self, sums: &[u32], counts: &[u32]) -> &[(u32, u32)] {
        self.span(sums, counts);
        self.join(counts.len());
        &self.clusters
    }

    /// Finds the minimum spanning tree (Jarník, Prim).
    fn span(&mut self, sums: &[u32], counts: &[u32]) {
        let n = counts.len();
        self.links.clear();
        self.outside.clear();
        self.outside.extend((1..n as u32).map(|place| (place, Link::MAX)));
        let mut place = 0;
        while !self.outside.is_empty() {
            let row = &sums[place as usize * n..][..n];
            let own = counts[place as usize];
            let (mut nearest, mut nearest_at) = (Link::MAX, 0);
            for (at, (other, best)) in self.outside.iter_mut().enumerate() {
                let (sum, entries) = (row[*other as usize], own + counts[*other as usize]);
                *best = link(sum, entries, place, *other).min(*best);
                nearest_at = if *best < nearest { at } else { nearest_at };
                nearest = nearest.min(*best);
            }
            (place, _) = self.outside.swap_remove(nearest_at);
            self.links.push(nearest);
        }
    }

    /// Creates the clusters, link by link (Kruskal).
    fn join(&mut self, n: usize) {
        self.links.sort_unstable();
        self.clusters.clear();
        self.clusters.resize(n, (SINGLE, SINGLE));
        self.root.clear();
        self.root.resize(n, SINGLE);
        self.parent.clear();
        self.parent.extend(0..n as u32);
        for (number, &link) in (1..).zip(&self.links) {
            let (low, high) = ends(link);
            let (one, other) = (find(&mut self.parent, low), find(&mut self.parent, high));
            // The root is the earliest cluster inside; a cluster of two single contexts is its own root.
            let root = self.root[one as usize].min(self.root[other as usize]).min(number);
            for (set, place) in [(one, low), (other, high)] {
                if self.root[set as usize] == SINGLE {
                    self.clusters[place as usize] = (number, root);
                }
            }
            self.parent[other as usize] = one;
            self.root[one as usize] = root;
        }
        if n < 2 {
            self.clusters.clear();
        }
    }

    /// Returns the bytes for `compared` contexts.
    pub fn memory_bytes(compared: u64) -> u64 {
        compared * (8 + 8 + 16 + 2 * 4)
    }
}

/// Returns the set of a position; halves paths on the way.
fn find(parent: &mut [u32], mut place: u32) -> u32 {
    while parent[place as usize] != place {
        let above = parent[parent[place as usize] as usize];
        parent[place as usize] = above;
        place = above;
    }
    place
}

#[cfg(test)]
#[path = "clusters_tests.rs"]
mod tests;
