//! Pages of one kind of access, in the order of their first access, with a controlled number of distinct ones.
//!
//! Pages are numbered by birth: 0 is the first page accessed. A repeated access draws a cluster by popularity among all
//! that will ever be born, and draws again if it is not born yet. A new access takes the next pages. The choice between
//! the two depends on whether the distinct pages lag behind their share of the accesses so far.

use super::super::zipf::Zipf;
use super::laws::{Skew, Visits};
use floatgate_base::permute::Permutation;
use floatgate_base::{Rng, TRACE_PAGE_BYTES};

/// Draws of an unborn cluster before any born page is accepted.
const TRIES: u32 = 24;

/// Where a request began, in bytes by birth.
#[derive(Clone, Copy)]
pub(super) struct Start {
    pub start: u64,
    pub bytes: u32,
}

impl Start {
    fn end_page(&self) -> u64 {
        (self.start + u64::from(self.bytes)).div_ceil(TRACE_PAGE_BYTES)
    }
}

enum Popularity {
    Zipf(Box<Zipf>),
    HotCold { hot: u64, all: u64, accesses: f64, places: Permutation },
}

impl Popularity {
    /// Prepares draws from `all` items, with the names of the two streams: that of the Zipf law, and that of the
    /// popularity of items.
    fn new(skew: Skew, all: u64, seed: u64, draws: &str, places: &str) -> Self {
        let mut places = Rng::new(seed, places);
        match skew {
            Skew::Zipf(theta) => {
                Self::Zipf(Box::new(Zipf::new(all, theta, Rng::new(seed, draws), &mut places)))
            }
            Skew::HotCold { pages, accesses } => Self::HotCold {
                hot: ((all as f64 * pages).round() as u64).clamp(1, all),
                all,
                accesses,
                places: Permutation::new(all, &mut places),
            },
        }
    }

    fn draw(&mut self, rng: &mut Rng) -> u64 {
        match self {
            Self::Zipf(zipf) => zipf.draw(rng),
            Self::HotCold { hot, all, accesses, places } => {
                let to_hot = *hot == *all || rng.unit() < *accesses;
                let (first, n) = if to_hot { (0, *hot) } else { (*hot, *all - *hot) };
                places.apply(first + rng.below(n))
            }
        }
    }
}

/// Requests that began with new pages, in their order, and their popularity when they recur.
struct Starts {
    known: Vec<Start>,
    /// Their expected number.
    all: u64,
    popularity: Popularity,
}

pub(super) struct Region {
    /// Pages that have been accessed: all below this number.
    pub born: u64,
    accesses: u64,
    fresh_share: f64,
    growth: f64,
    cluster: u64,
    popularity: Popularity,
    /// Random variation of the time of a first access, in pages.
    jitter: f64,
    rng: Rng,
    /// Starts of requests, if requests recur there.
    starts: Option<Starts>,
}

impl Region {
    /// Creates a region; `pages` is the expected number of accessed pages.
    pub fn new(visits: &Visits, pages: u64, seed: u64, name: &str) -> Self {
        let cluster = (visits.cluster_bytes / TRACE_PAGE_BYTES).max(1);
        let all = pages.div_ceil(cluster).max(1);
        Self {
            born: 0,
            accesses: 0,
            fresh_share: 1.0 - visits.again_share,
            growth: visits.growth,
            cluster,
            popularity: Popularity::new(
                visits.skew,
                all,
                seed,
                "twin popularity",
                &format!("twin places {name}"),
            ),
            jitter: (pages as f64 / 500.0).clamp(1.0, 4096.0),
            rng: Rng::new(seed, &format!("twin pages {name}")),
            starts: None,
        }
    }

    /// Keeps the starts of requests with new pages: about `all` per pass.
    pub fn with_starts(self, visits: &Visits, all: u64, seed: u64, name: &str) -> Self {
        let all = all.max(1);
        let names = (format!("twin starts {name}"), format!("twin places of starts {name}"));
        let popularity = Popularity::new(visits.skew, all, seed, &names.0, &names.1);
        Self { starts: Some(Starts { known: Vec::new(), all, popularity }), ..self }
    }

    /// Returns the target for distinct pages, as a share of the accesses, at this share of the requests.
    pub fn due_share(&self, progress: f64) -> f64 {
        if self.growth >= 1.0 {
            return self.fresh_share;
        }
        (self.fresh_share * libm::pow(progress, self.growth - 1.0)).min(1.0)
    }

    /// Returns the first page of an access to `pages` new pages, if new pages are due; they lie inside the first
    /// `limit`, which must be at least as many.
    pub fn new_place(&mut self, pages: u64, due_share: f64, limit: u64) -> Option<u64> {
        let chance = (self.rng.unit() - 0.5) * self.jitter;
        let behind = (self.born as f64) < due_share * (self.accesses + pages) as f64 + chance;
        let is_new = (behind || self.born < pages) && self.born < limit;
        is_new.then(|| self.born.min(limit - pages))
    }

    /// Returns the first page of an access to `pages` known pages.
    pub fn known_place(&mut self, pages: u64, limit: u64) -> u64 {
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

    /// Draws the start of an earlier request by popularity; none if several draws fail.
    pub fn known_start(&mut self, limit: u64) -> Option<Start> {
        let starts = self.starts.as_mut()?;
        let rng = &mut self.rng;
        (0..TRIES).find_map(|_| {
            let start = starts.known.get(starts.popularity.draw(rng) as usize)?;
            (start.end_page() <= limit).then_some(*start)
        })
    }

    /// Returns the expected number of starts per pass, and the current number.
    pub fn starts(&self) -> (u64, u64) {
        self.starts.as_ref().map_or((1, 0), |starts| (starts.all, starts.all.min(starts.known.len() as u64)))
    }

    /// Returns an existing start of a request.
    pub fn start(&self, number: u64) -> Option<Start> {
        self.starts.as_ref()?.known.get(number as usize).copied()
    }

    fn cluster_of_choice(&mut self) -> u64 {
        self.popularity.draw(&mut self.rng)
    }

    /// Records an access to these bytes, whose pages follow the earlier ones without a gap.
    pub fn touch(&mut self, start: u64, bytes: u64) {
        let (first, last) = (start / TRACE_PAGE_BYTES, (start + bytes - 1) / TRACE_PAGE_BYTES);
        debug_assert!(first <= self.born);
        self.accesses += last - first + 1;
        if last >= self.born {
            self.born = last + 1;
            if let Some(starts) = &mut self.starts {
                starts.known.push(Start { start, bytes: bytes as u32 });
            }
        }
    }
}
