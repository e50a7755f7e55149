//! Pages that one kind of access goes to, in the order of their first access, with the number of distinct ones under
//! control.
//!
//! Pages are numbered by birth: 0 is the first page accessed. An access that comes back draws a cluster by popularity
//! among all that will ever be born, and again where it is not born yet; a new one takes the next pages. Which of the
//! two comes next is decided by whether the distinct pages lag behind their share of the accesses so far.

use super::super::zipf::Zipf;
use super::laws::{Skew, Visits};
use floatgate_base::permute::Permutation;
use floatgate_base::{Rng, TRACE_PAGE_BYTES};

/// Draws of an unborn cluster before any born page will do.
const TRIES: u32 = 24;

enum Popularity {
    Zipf(Box<Zipf>),
    HotCold { hot: u64, all: u64, accesses: f64, places: Permutation },
}

pub(super) struct Region {
    /// Pages that have been accessed: 0 to here.
    pub born: u64,
    accesses: u64,
    fresh_share: f64,
    growth: f64,
    cluster: u64,
    popularity: Popularity,
    /// How far chance may move the time of a first access, pages.
    jitter: f64,
    rng: Rng,
}

impl Region {
    /// `pages` are expected to be accessed in the end.
    pub fn new(visits: &Visits, pages: u64, seed: u64, name: &str) -> Self {
        let cluster = (visits.cluster_bytes / TRACE_PAGE_BYTES).max(1);
        let all = pages.div_ceil(cluster).max(1);
        let mut places = Rng::new(seed, &format!("twin places {name}"));
        let popularity = match visits.skew {
            Skew::Zipf(theta) => {
                let rng = Rng::new(seed, "twin popularity");
                Popularity::Zipf(Box::new(Zipf::new(all, theta, rng, &mut places)))
            }
            Skew::HotCold { pages, accesses } => Popularity::HotCold {
                hot: ((all as f64 * pages).round() as u64).clamp(1, all),
                all,
                accesses,
                places: Permutation::new(all, &mut places),
            },
        };
        Self {
            born: 0,
            accesses: 0,
            fresh_share: 1.0 - visits.again_share,
            growth: visits.growth,
            cluster,
            popularity,
            jitter: (pages as f64 / 500.0).clamp(1.0, 4096.0),
            rng: Rng::new(seed, &format!("twin pages {name}")),
        }
    }

    /// What the distinct pages must be, as a share of the accesses, when this share of the requests is made.
    pub fn due_share(&self, progress: f64) -> f64 {
        if self.growth >= 1.0 {
            return self.fresh_share;
        }
        (self.fresh_share * libm::pow(progress, self.growth - 1.0)).min(1.0)
    }

    /// First page of an access to `pages` pages that lie inside the first `limit`, which must be as many at least.
    pub fn place(&mut self, pages: u64, due_share: f64, limit: u64) -> u64 {
        let chance = (self.rng.unit() - 0.5) * self.jitter;
        let behind = (self.born as f64) < due_share * (self.accesses + pages) as f64 + chance;
        if (behind || self.born < pages) && self.born < limit {
            return self.born.min(limit - pages);
        }
        let born = self.born.min(limit);
        for _ in 0..TRIES {
            let first = self.cluster_of_choice() * self.cluster;
            let room = self.cluster.saturating_sub(pages) + 1;
            let page = first + if room > 1 { self.rng.below(room) } else { 0 };
            if page + pages <= born {
                return page;
            }
        }
        self.rng.below((born + 1).saturating_sub(pages).max(1)).min(limit - pages)
    }

    fn cluster_of_choice(&mut self) -> u64 {
        match &self.popularity {
            Popularity::Zipf(zipf) => zipf.draw(&mut self.rng),
            Popularity::HotCold { hot, all, accesses, places } => {
                let to_hot = *hot == *all || self.rng.unit() < *accesses;
                let (first, n) = if to_hot { (0, *hot) } else { (*hot, *all - *hot) };
                places.apply(first + self.rng.below(n))
            }
        }
    }

    /// Notes an access; there is no gap between it and the pages before.
    pub fn touch(&mut self, first: u64, last: u64) {
        debug_assert!(first <= self.born);
        self.accesses += last - first + 1;
        self.born = self.born.max(last + 1);
    }
}
