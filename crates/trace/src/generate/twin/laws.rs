//! The laws of a twin: sizes, repeated accesses, and arrivals.

use crate::generate::sizes::{Weighted, lognormal, with_mean};
use floatgate_base::{Error, Place, Result, TRACE_PAGE_BYTES};

/// Properties of the requests of one operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// Sizes.
    pub sizes: SizeLaw,
    /// Share that begins where the previous request of the same operation ended.
    pub sequential_share: f64,
    /// Share of the others that begins at a multiple of 4 KiB; the rest begins at another multiple of 512 B.
    pub aligned_share: f64,
    /// Share of the requests to known pages that exactly repeat the request that made their pages known. The sizes of
    /// requests that continue from them depend on the place.
    pub recurring_share: f64,
}

/// Request sizes.
#[derive(Clone, Debug, PartialEq)]
pub enum SizeLaw {
    /// A list with weights; if a mean is set, the weights are tilted to it.
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

/// Frequency and targets of repeated accesses.
#[derive(Clone, Debug, PartialEq)]
pub struct Visits {
    /// 1 - distinct pages / all page accesses.
    pub again_share: f64,
    /// The distinct pages grow with this power of the requests: 1 is even growth, lower values mean earlier growth.
    pub growth: f64,
    /// Popularity of pages among those seen before.
    pub skew: Skew,
    /// Pages of equal popularity lie in runs of this length.
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
        /// Share of the accesses to the hot clusters.
        accesses: f64,
    },
}

/// Arrivals of requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Rate {
    /// Daily swing of the rate, as a share of its mean.
    pub daily_swing: f64,
    /// Hour after the first request at which the rate is largest.
    pub peak_hour: f64,
    /// Relative rates in equal parts of the span, instead of a daily swing; empty for none.
    pub profile: Vec<f64>,
    /// Standard deviation of the logarithm of the rate from window to window, in addition to the above.
    pub noise: f64,
    /// Length of a window, seconds.
    pub noise_window_s: f64,
    /// Mean number of simultaneous requests.
    pub burst_requests: f64,
}

/// Content of writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Content {
    /// Share of the page writes whose content is already stored.
    pub duplicate_share: f64,
    /// Mean compressed size of a page / its size, incompressible pages included; 1 is incompressible.
    pub compressed_share: f64,
    /// Share of the new content that cannot be compressed at all.
    pub incompressible_share: f64,
}

impl Default for Content {
    /// Returns the content of unknown data: unique and incompressible.
    fn default() -> Self {
        Self { duplicate_share: 0.0, compressed_share: 1.0, incompressible_share: 0.0 }
    }
}

/// Returns the error of an unusable setting of a twin.
pub(super) fn refuse(key: &str, what: impl Into<String>, expected: impl Into<String>) -> Box<Error> {
    Error::input(Place::Setting(key.into()), what, expected)
}

/// Rejects a value that is not a share.
pub(super) fn share(key: &str, value: f64) -> Result<()> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(refuse(key, format!("{value} is not a share"), "expected a number from 0 to 1"))
}

/// Rejects a value out of range.
pub(super) fn within(key: &str, value: f64, low: f64, high: f64) -> Result<()> {
    if value >= low && value <= high {
        return Ok(());
    }
    Err(refuse(key, format!("{value} is out of range"), format!("expected a number from {low} to {high}")))
}

/// Longest request that a twin may make.
pub const REQUEST_BYTES_MAX: u64 = 16 << 20;

impl SizeLaw {
    /// Returns the law as a list of sizes with weights.
    ///
    /// # Errors
    /// Names the invalid setting; `key` is the table of the law.
    pub fn table(&self, key: &str) -> Result<Weighted> {
        let list = match self {
            Self::List { sizes, mean_bytes } => {
                for &(bytes, weight) in sizes {
                    if !(weight.is_finite() && weight > 0.0) || bytes == 0 {
                        let what = format!("[{bytes}, {weight}] is not a size with its weight");
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
    pub(super) fn validate(&self, key: &str) -> Result<()> {
        share(&format!("{key}.again_share"), self.again_share)?;
        within(&format!("{key}.growth"), self.growth, 0.05, 1.0)?;
        if !(TRACE_PAGE_BYTES..=REQUEST_BYTES_MAX).contains(&self.cluster_bytes) {
            let what = format!("{} bytes are not a valid cluster size", self.cluster_bytes);
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
    pub(super) fn validate(&self, key: &str) -> Result<()> {
        within(&format!("{key}.sequential_share"), self.sequential_share, 0.0, 0.999)?;
        share(&format!("{key}.aligned_share"), self.aligned_share)?;
        share(&format!("{key}.recurring_share"), self.recurring_share)?;
        self.sizes.table(key).map(|_| ())
    }

    /// Computes the mean number of 4 KiB pages that a request touches. The position of a request in its page is a
    /// Markov chain: a jump draws it, a continuing request begins where the previous one ended.
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
        // Each round keeps only sequential_share of its input and mixes it: 64 rounds are plenty.
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
    pub(super) fn validate(&self, duration_s: f64) -> Result<()> {
        within("rate.daily_swing", self.daily_swing, 0.0, 1.0)?;
        within("rate.peak_hour", self.peak_hour, 0.0, 24.0)?;
        within("rate.noise", self.noise, 0.0, 3.0)?;
        within("rate.burst_requests", self.burst_requests, 1.0, 1e6)?;
        if !(self.noise_window_s > 0.0 && duration_s / self.noise_window_s <= 1e6) {
            let what = format!("{} is not a window", self.noise_window_s);
            return Err(refuse(
                "rate.noise_window_s",
                what,
                "expected seconds, at most 1000000 windows in all",
            ));
        }
        let bad = |v: &&f64| !(v.is_finite() && **v >= 0.0);
        if let Some(bad) = self.profile.iter().find(bad) {
            return Err(refuse("rate.profile", format!("{bad} is not a rate"), "expected numbers from 0"));
        }
        if !self.profile.is_empty() && self.profile.iter().sum::<f64>() <= 0.0 {
            return Err(refuse("rate.profile", "all rates are 0", "expected one above 0"));
        }
        Ok(())
    }
}
