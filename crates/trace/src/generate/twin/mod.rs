//! Twins: workloads that no one can ship, made again from their statistics.
//!
//! A twin holds what can be counted in a trace: operations, sizes, rate over time, how many page accesses come back to
//! pages seen before, how skewed they are, how long requests run on. [`Run`] makes requests from it, [`fit()`] finds it
//! in a trace.
//!
//! What decides write amplification and wear is met by control, not by chance: the number of requests and the span are
//! exact, sizes come from a law whose mean is exact, and a page that was never written before is written whenever the
//! distinct pages lag behind their share. What is left to chance has a standard error of a few thousandths at most.

mod arrivals;
pub mod fit;
mod region;
mod run;

use super::sizes::{Weighted, lognormal, mean, with_mean};
pub use fit::{Fit, fit};
use floatgate_base::{Error, Place, Result, TRACE_PAGE_BYTES};
pub use run::Run;

/// A workload by its statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct Twin {
    /// Name.
    pub name: String,
    /// What it is, in a line.
    pub summary: String,
    /// Time from the first to the last request, seconds.
    pub duration_s: f64,
    /// Number of requests.
    pub requests: u64,
    /// Share of them that reads; the rest writes.
    pub read_share: f64,
    /// How reads look.
    pub reads: Side,
    /// How writes look.
    pub writes: Side,
    /// Page writes: which come back to written pages.
    pub rewrites: Visits,
    /// Share of the reads that goes to pages written before, where there are any.
    pub reads_of_written_share: f64,
    /// Reads of written pages: which come back.
    pub rereads_of_written: Visits,
    /// Reads of pages that are never written: which come back.
    pub rereads: Visits,
    /// When requests come.
    pub rate: Rate,
    /// Size of the address space that the pages are scattered over.
    pub footprint_bytes: u64,
    /// What is written; kept as parameters until requests have content.
    pub content: Content,
}

/// How the requests of one operation look.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// Sizes.
    pub sizes: SizeLaw,
    /// Share that begins where the request before, of the same operation, ended.
    pub sequential_share: f64,
    /// Share of the others that begins at a multiple of 4 KiB; the rest begins at another multiple of 512 B.
    pub aligned_share: f64,
}

/// Request sizes.
#[derive(Clone, Debug, PartialEq)]
pub enum SizeLaw {
    /// A list with weights; where a mean is given, the weights are tilted until they have it.
    List {
        /// Bytes and weights.
        sizes: Weighted,
        /// The mean in bytes.
        mean_bytes: Option<f64>,
    },
    /// Lognormal, clipped, at multiples of a step.
    Lognormal {
        /// The mean in bytes, exact after clipping.
        mean_bytes: f64,
        /// Standard deviation of the logarithm before clipping.
        sigma: f64,
        /// Smallest size.
        min_bytes: u64,
        /// Largest size.
        max_bytes: u64,
        /// All sizes are multiples of it.
        step_bytes: u64,
    },
}

/// How often accesses come back, and to what.
#[derive(Clone, Debug, PartialEq)]
pub struct Visits {
    /// 1 - distinct pages / all page accesses.
    pub again_share: f64,
    /// The distinct pages grow with this power of the requests: 1 is evenly, less is more of them early.
    pub growth: f64,
    /// Popularity of pages among those seen before.
    pub skew: Skew,
    /// Pages that are equally popular lie in runs of this length.
    pub cluster_bytes: u64,
}

/// Popularity law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Skew {
    /// The k-th most popular cluster with weight `k^-theta`.
    Zipf(f64),
    /// A share of the clusters gets a share of the accesses.
    HotCold {
        /// Share of the clusters that is hot.
        pages: f64,
        /// Share of the accesses that goes there.
        accesses: f64,
    },
}

/// When requests come.
#[derive(Clone, Debug, PartialEq)]
pub struct Rate {
    /// The rate swings daily by this share of its mean.
    pub daily_swing: f64,
    /// Hour after the first request at which the rate is largest.
    pub peak_hour: f64,
    /// Relative rates in equal parts of the span, in place of a daily swing; empty: none.
    pub profile: Vec<f64>,
    /// Standard deviation of the logarithm of the rate from window to window, on top of the above.
    pub noise: f64,
    /// Length of a window, seconds.
    pub noise_window_s: f64,
    /// Mean number of requests that come at once.
    pub burst_requests: f64,
}

/// What is written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Content {
    /// Share of the page writes whose content is stored already.
    pub duplicate_share: f64,
    /// Mean compressed size of a page / its size; 1 is incompressible.
    pub compressed_share: f64,
}

/// A setting of a twin that cannot be used.
pub(super) fn refuse(key: &str, what: impl Into<String>, expected: impl Into<String>) -> Box<Error> {
    Error::input(Place::Setting(key.into()), what, expected)
}

fn share(key: &str, value: f64) -> Result<()> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(refuse(key, format!("{value} is no share"), "expected a number from 0 to 1"))
}

fn within(key: &str, value: f64, low: f64, high: f64) -> Result<()> {
    if value >= low && value <= high {
        return Ok(());
    }
    Err(refuse(key, format!("{value} is out of range"), format!("expected a number from {low} to {high}")))
}

/// Longest request that a twin may make.
pub const REQUEST_BYTES_MAX: u64 = 16 << 20;

impl SizeLaw {
    /// The law as a list of sizes with weights.
    ///
    /// # Errors
    /// Names what the law cannot hold; `key` is the table that it stands in.
    pub fn table(&self, key: &str) -> Result<Weighted> {
        let list = match self {
            Self::List { sizes, mean_bytes } => {
                for &(bytes, weight) in sizes {
                    if !(weight.is_finite() && weight > 0.0) || bytes == 0 {
                        let what = format!("[{bytes}, {weight}] is no size with its weight");
                        return Err(refuse(
                            &format!("{key}.sizes"),
                            what,
                            "expected bytes and weight above 0",
                        ));
                    }
                }
                match mean_bytes {
                    None => Some(sizes.clone()),
                    Some(wanted) => with_mean(sizes, *wanted),
                }
            }
            &Self::Lognormal { mean_bytes, sigma, min_bytes, max_bytes, step_bytes } => {
                within(&format!("{key}.sigma"), sigma, 0.01, 10.0)?;
                let steps = (1..=max_bytes).contains(&step_bytes) && max_bytes / step_bytes <= 65_536;
                if !steps || min_bytes == 0 || min_bytes > max_bytes || max_bytes > REQUEST_BYTES_MAX {
                    let what = format!("no sizes from {min_bytes} to {max_bytes} in steps of {step_bytes}");
                    return Err(refuse(
                        &format!("{key}.max_bytes"),
                        what,
                        "expected at most 65536 sizes of at most 16777216 bytes",
                    ));
                }
                lognormal(mean_bytes, sigma, min_bytes, max_bytes, step_bytes)
            }
        };
        let list = list.filter(|list| !list.is_empty()).ok_or_else(|| {
            refuse(
                &format!("{key}.mean_bytes"),
                "no sizes have this mean",
                "expected a mean between the smallest and the largest size",
            )
        })?;
        if list.iter().any(|(bytes, _)| *bytes > REQUEST_BYTES_MAX) {
            let what = "a request of more than 16777216 bytes";
            return Err(refuse(&format!("{key}.sizes"), what, "expected smaller ones"));
        }
        Ok(list)
    }
}

impl Visits {
    fn validate(&self, key: &str) -> Result<()> {
        share(&format!("{key}.again_share"), self.again_share)?;
        within(&format!("{key}.growth"), self.growth, 0.05, 1.0)?;
        if !(TRACE_PAGE_BYTES..=REQUEST_BYTES_MAX).contains(&self.cluster_bytes) {
            let what = format!("{} bytes are no cluster", self.cluster_bytes);
            return Err(refuse(&format!("{key}.cluster_bytes"), what, "expected from 4096 to 16777216"));
        }
        match self.skew {
            Skew::Zipf(theta) => within(&format!("{key}.zipf_theta"), theta, 0.0, 20.0),
            Skew::HotCold { pages, accesses } => {
                share(&format!("{key}.hot_share_of_pages"), pages)?;
                share(&format!("{key}.hot_share_of_accesses"), accesses)
            }
        }
    }
}

impl Side {
    fn validate(&self, key: &str) -> Result<()> {
        within(&format!("{key}.sequential_share"), self.sequential_share, 0.0, 0.999)?;
        share(&format!("{key}.aligned_share"), self.aligned_share)?;
        self.sizes.table(key).map(|_| ())
    }

    /// Mean 4 KiB pages that a request touches. Where in a page a request begins is a chain: a jump draws it, one that
    /// goes on begins where the one before ended.
    pub(super) fn pages(&self, key: &str) -> Result<f64> {
        const SECTORS: u64 = TRACE_PAGE_BYTES / 512;
        let list = self.sizes.table(key)?;
        let weight: f64 = list.iter().map(|(_, w)| w).sum();
        let mut steps = [0.0; SECTORS as usize];
        list.iter().for_each(|&(bytes, w)| steps[(bytes / 512 % SECTORS) as usize] += w / weight);
        let jump = |at: usize| match at {
            0 => self.aligned_share,
            _ => (1.0 - self.aligned_share) / (SECTORS - 1) as f64,
        };
        let mut begin: [f64; SECTORS as usize] = std::array::from_fn(jump);
        // Each round forgets all but sequential_share of what it began with, and mixes that: 64 are plenty.
        for _ in 0..64 {
            let mut end = [0.0; SECTORS as usize];
            for (at, b) in begin.iter().enumerate() {
                steps.iter().enumerate().for_each(|(step, s)| end[(at + step) % SECTORS as usize] += b * s);
            }
            let s = self.sequential_share;
            begin = std::array::from_fn(|at| (1.0 - s) * jump(at) + s * end[at]);
        }
        let touched = |bytes: u64| -> f64 {
            let pages = |at: usize| ((at as u64 * 512 + bytes - 1) / TRACE_PAGE_BYTES + 1) as f64;
            begin.iter().enumerate().map(|(at, b)| b * pages(at)).sum()
        };
        Ok(list.iter().map(|&(bytes, w)| touched(bytes) * w).sum::<f64>() / weight)
    }
}

impl Rate {
    fn validate(&self, duration_s: f64) -> Result<()> {
        within("rate.daily_swing", self.daily_swing, 0.0, 1.0)?;
        within("rate.peak_hour", self.peak_hour, 0.0, 24.0)?;
        within("rate.noise", self.noise, 0.0, 3.0)?;
        within("rate.burst_requests", self.burst_requests, 1.0, 1e6)?;
        if !(self.noise_window_s > 0.0 && duration_s / self.noise_window_s <= 1e6) {
            let what = format!("{} is no window", self.noise_window_s);
            return Err(refuse(
                "rate.noise_window_s",
                what,
                "expected seconds, at most 1000000 windows in all",
            ));
        }
        let bad = |v: &&f64| !(v.is_finite() && **v >= 0.0);
        if let Some(bad) = self.profile.iter().find(bad) {
            return Err(refuse("rate.profile", format!("{bad} is no rate"), "expected numbers from 0"));
        }
        if !self.profile.is_empty() && self.profile.iter().sum::<f64>() <= 0.0 {
            return Err(refuse("rate.profile", "all rates are 0", "expected one above 0"));
        }
        Ok(())
    }
}

impl Twin {
    /// Refuses what cannot be made.
    ///
    /// # Errors
    /// Names the setting and what it may be.
    pub fn validate(&self) -> Result<()> {
        if !(self.duration_s > 0.0 && self.duration_s <= 9e9) {
            let what = format!("{} is no span", self.duration_s);
            return Err(refuse("duration_s", what, "expected seconds above 0"));
        }
        if self.requests == 0 || self.requests > 1 << 48 {
            let what = format!("{} requests", self.requests);
            return Err(refuse("requests", what, "expected a whole number from 1 to 281474976710656"));
        }
        share("read_share", self.read_share)?;
        if self.read_share > 0.0 {
            self.reads.validate("reads")?;
        }
        if self.read_share < 1.0 {
            self.writes.validate("writes")?;
        }
        share("reads.written_share", self.reads_of_written_share)?;
        self.rewrites.validate("writes")?;
        self.rereads_of_written.validate("reads")?;
        self.rereads.validate("reads")?;
        self.rate.validate(self.duration_s)?;
        share("content.duplicate_share", self.content.duplicate_share)?;
        share("content.compressed_share", self.content.compressed_share)?;
        let least = run::least_bytes(self)?;
        if self.footprint_bytes < least {
            let what = format!("a footprint of {} bytes", self.footprint_bytes);
            let expected = format!("expected at least {least}, which the distinct pages take");
            return Err(refuse("footprint_bytes", what, expected));
        }
        Ok(())
    }

    /// Mean size of a write in bytes; 0 where none is possible.
    #[must_use]
    pub fn mean_write_bytes(&self) -> f64 {
        self.writes.sizes.table("writes").map_or(0.0, |list| mean(&list))
    }

    /// Mean size of a read in bytes; 0 where none is possible.
    #[must_use]
    pub fn mean_read_bytes(&self) -> f64 {
        self.reads.sizes.table("reads").map_or(0.0, |list| mean(&list))
    }

    /// Bytes written in one pass, on average over the draws.
    #[must_use]
    pub fn write_bytes(&self) -> f64 {
        self.requests as f64 * (1.0 - self.read_share) * self.mean_write_bytes()
    }

    /// Every `k`-th request, so to speak: the same laws, shares and span with a `k`-th of the requests. For looking at
    /// a long twin quickly; its totals are a `k`-th, its shares and means the same.
    #[must_use]
    pub fn thinned(&self, k: u64) -> Self {
        Self { requests: (self.requests / k.max(1)).max(1), ..self.clone() }
    }
}
