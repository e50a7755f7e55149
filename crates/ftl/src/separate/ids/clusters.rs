//! Single-linkage clustering by growing `ul`, and of each context the cluster that it joined first and that one's root.
//!
//! Clusters are numbered in the order in which they are created, as the paper names them; ties of `ul` go by the places
//! of the two contexts. The links that create clusters are those of the least spanning tree, so they are found in time
//! that grows with the square of the number of contexts, and only they are sorted.

use super::update_log::Localities;

/// Clusters of the contexts of a window.
#[derive(Clone, Debug, Default)]
pub struct Clusters {
    /// By context's place: number of its original cluster and of its root cluster. Empty for fewer than two contexts.
    clusters: Vec<(u32, u32)>,
    links: Vec<Link>,
    /// Best link of each place to the tree so far, and the places that are not in it yet.
    best: Vec<Link>,
    outside: Vec<u32>,
    parent: Vec<u32>,
    /// Of each set: its cluster's root; [`SINGLE`] for a context by itself.
    root: Vec<u32>,
}

const SINGLE: u32 = u32::MAX;

/// Two contexts and their ul. Ratios of whole numbers of a window's size differ by more than a double can round.
#[derive(Clone, Copy, Debug)]
struct Link {
    ul: f64,
    low: u32,
    high: u32,
}

impl Link {
    const NONE: Self = Self { ul: f64::INFINITY, low: u32::MAX, high: u32::MAX };

    fn is_before(&self, other: &Self) -> bool {
        self.ul < other.ul || (self.ul == other.ul && (self.low, self.high) < (other.low, other.high))
    }
}

impl Clusters {
    /// Original and root cluster by place.
    pub fn of(&mut self, localities: &Localities) -> &[(u32, u32)] {
        self.cluster(localities.contexts().len(), |p, q| localities.ul(p, q))
    }

    /// Of `n` contexts with this ul.
    #[inline(always)]
    fn cluster(&mut self, n: usize, ul: impl Fn(usize, usize) -> f64) -> &[(u32, u32)] {
        self.span(n, ul);
        self.join(n);
        &self.clusters
    }

    /// The least spanning tree (Jarník, Prim).
    #[inline(always)]
    fn span(&mut self, n: usize, ul: impl Fn(usize, usize) -> f64) {
        self.links.clear();
        self.outside.clear();
        self.outside.extend(1..n as u32);
        self.best.clear();
        self.best.resize(n, Link::NONE);
        let mut place = 0;
        while !self.outside.is_empty() {
            let (mut nearest, mut nearest_at) = (Link::NONE, 0);
            for (at, &other) in self.outside.iter().enumerate() {
                let ul = ul(place as usize, other as usize);
                let link = Link { ul, low: place.min(other), high: place.max(other) };
                let own = &mut self.best[other as usize];
                if link.is_before(own) {
                    *own = link;
                }
                if own.is_before(&nearest) {
                    (nearest, nearest_at) = (*own, at);
                }
            }
            place = self.outside.swap_remove(nearest_at);
            self.links.push(nearest);
        }
    }

    /// Creates the clusters, link by link (Kruskal).
    fn join(&mut self, n: usize) {
        self.links
            .sort_unstable_by(|a, b| (a.ul.total_cmp(&b.ul)).then((a.low, a.high).cmp(&(b.low, b.high))));
        self.clusters.clear();
        self.clusters.resize(n, (SINGLE, SINGLE));
        self.root.clear();
        self.root.resize(n, SINGLE);
        self.parent.clear();
        self.parent.extend(0..n as u32);
        for (number, link) in (1..).zip(&self.links) {
            let (one, other) = (find(&mut self.parent, link.low), find(&mut self.parent, link.high));
            // The earliest cluster inside; a cluster of two single contexts is its own.
            let root = self.root[one as usize].min(self.root[other as usize]).min(number);
            for (set, place) in [(one, link.low), (other, link.high)] {
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

    /// Bytes for so many contexts.
    pub fn memory_bytes(compared: u64) -> u64 {
        compared * (8 + 2 * 16 + 3 * 4)
    }
}

/// The set that a place is in; paths are halved on the way.
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
