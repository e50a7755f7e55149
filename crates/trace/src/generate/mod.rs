//! Synthetic workloads: requests of one size with one address pattern, jobs, the JESD219 workload, and twins of
//! workloads that are known by their statistics.

mod addresses;
mod clock;
mod hot_cold;
pub mod jesd219;
mod jobs;
pub mod micro;
mod permutation;
mod refuse;
mod sequential;
pub mod sizes;
pub mod twin;
mod uniform;
mod zipf;

use crate::source::{Source, Summary};
use addresses::{Extents, Slots};
pub use clock::Burst;
use clock::Clock;
use floatgate_base::batch::flags;
use floatgate_base::error::quote;
use floatgate_base::names::remedy;
use floatgate_base::{Op, OptionalColumns, RequestBatch, Result, Rng};
use hot_cold::HotCold;
pub use jobs::Jobs;
pub use micro::Micro;
use permutation::Permuted;
use refuse::{setting, share};
use sequential::Sequential;
use std::sync::Arc;
pub use twin::Twin;
use uniform::Uniform;
use zipf::Zipf;

/// The address pattern of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Ascending, and again from 0 at the end.
    Sequential,
    /// Every address equally likely.
    Uniform,
    /// Every address once in random order, then again in another one.
    Permutation,
    /// The k-th most popular address with probability proportional to `k^-theta`, popular ones scattered.
    Zipf,
    /// A hot and a cold part, each uniform inside; the hot one lies first.
    HotCold,
    /// A share of the requests goes to random places, the others continue; see [`Jobs`].
    Jobs,
    /// The enterprise endurance workload of JESD219; see [`jesd219`].
    Jesd219,
    /// The workload of [`GeneratorConfig::twin`]; users cannot name this pattern.
    Twin,
}

impl Pattern {
    /// All patterns by their configuration names.
    pub const NAMES: &[(&str, Pattern)] = &[
        ("sequential", Pattern::Sequential),
        ("uniform", Pattern::Uniform),
        ("permutation", Pattern::Permutation),
        ("zipf", Pattern::Zipf),
        ("hot-cold", Pattern::HotCold),
        ("jobs", Pattern::Jobs),
        ("jesd219", Pattern::Jesd219),
    ];

    /// Parses a pattern's name.
    ///
    /// # Errors
    /// Quotes an unknown name and lists the valid ones.
    pub fn parse(text: &str) -> Result<Self> {
        match Self::NAMES.iter().find(|(name, _)| *name == text) {
            Some((_, pattern)) => Ok(*pattern),
            None => {
                let names: Vec<&str> = Self::NAMES.iter().map(|(name, _)| *name).collect();
                let what = format!("{} is not a pattern", quote(text.as_bytes()));
                Err(setting("pattern", what, remedy(text, &names, "floatgate schema")))
            }
        }
    }
}

/// A synthetic workload.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneratorConfig {
    /// The address pattern.
    pub pattern: Pattern,
    /// Size of the address space; a remainder at its end that holds no whole request is unused.
    pub logical_bytes: u64,
    /// Size and alignment of every request; jobs, jesd219 and twins have sizes of their own.
    pub request_bytes: u64,
    /// Share of the requests that read; a twin has its own.
    pub read_share: f64,
    /// Share of the requests that trim; the others write.
    pub trim_share: f64,
    /// Share of the writes that complete only when they are on flash.
    pub fua_share: f64,
    /// Number of requests per flush; 0 for no flushes.
    pub flush_every: u64,
    /// Number of requests.
    pub requests: u64,
    /// Requests per second, evenly spaced; without a rate all stamps are 0. A twin has its own times.
    pub rate_per_s: Option<f64>,
    /// Exponent of the Zipf law; 0 is uniform.
    pub zipf_theta: f64,
    /// Share of the address space that is hot.
    pub hot_share_of_pages: f64,
    /// Share of the requests to the hot part.
    pub hot_share_of_writes: f64,
    /// jobs: further settings.
    pub jobs: Jobs,
    /// twin: the workload. Requests beyond its own number repeat it.
    pub twin: Option<Arc<Twin>>,
    /// twin: whether its footprint is stretched or shrunk to the address space; otherwise it must fit.
    pub scale: bool,
    /// twin: whether only the positions of requests within their pages must be right. Sufficient to count pages;
    /// knowing which pages are popular takes most of the time.
    pub counts_only: bool,
    /// Seed; every purpose draws from its own stream of it.
    pub seed: u64,
}

impl Default for GeneratorConfig {
    fn default() -> Self {
        Self {
            pattern: Pattern::Uniform,
            logical_bytes: 1 << 30,
            request_bytes: 4096,
            read_share: 0.0,
            trim_share: 0.0,
            fua_share: 0.0,
            flush_every: 0,
            requests: 10_000_000,
            rate_per_s: None,
            zipf_theta: 0.99,
            hot_share_of_pages: 0.2,
            hot_share_of_writes: 0.8,
            jobs: Jobs::default(),
            twin: None,
            scale: false,
            counts_only: false,
            seed: 1,
        }
    }
}

impl GeneratorConfig {
    /// Checks the settings.
    ///
    /// # Errors
    /// Names the setting and the valid values.
    pub fn validate(&self) -> Result<()> {
        if self.requests == 0 {
            return Err(setting("requests", "0 requests", "expected at least 1"));
        }
        share("read_share", self.read_share)?;
        share("trim_share", self.trim_share)?;
        share("fua_share", self.fua_share)?;
        if self.read_share + self.trim_share > 1.0 {
            let what = format!("read_share + trim_share = {}", self.read_share + self.trim_share);
            return Err(setting("read_share", what, "expected a sum of at most 1"));
        }
        self.validate_rate()?;
        match self.pattern {
            Pattern::Jobs => self.jobs.validate(self.logical_bytes, self.rate_per_s),
            Pattern::Jesd219 => jesd219::validate(self.logical_bytes),
            Pattern::Twin => match &self.twin {
                Some(twin) => twin.validate(),
                None => Err(setting("twin", "the twin is missing", "expected one")),
            },
            _ => self.validate_slots(),
        }
    }

    fn validate_slots(&self) -> Result<()> {
        if self.request_bytes == 0 {
            return Err(setting("request_bytes", "0 bytes", "expected at least 1"));
        }
        if self.logical_bytes < self.request_bytes {
            let what = format!("{} bytes exceed the space of {}", self.request_bytes, self.logical_bytes);
            return Err(setting("request_bytes", what, "expected a request that fits the drive"));
        }
        match self.pattern {
            Pattern::Zipf if !(0.0..=20.0).contains(&self.zipf_theta) => {
                let what = format!("{} is not an exponent", self.zipf_theta);
                Err(setting("zipf_theta", what, "expected a number from 0 to 20"))
            }
            Pattern::HotCold => {
                share("hot_share_of_pages", self.hot_share_of_pages)?;
                share("hot_share_of_writes", self.hot_share_of_writes)
            }
            _ => Ok(()),
        }
    }

    fn validate_rate(&self) -> Result<()> {
        match self.rate_per_s {
            Some(rate) if !(rate.is_finite() && rate > 0.0) => {
                Err(setting("rate_per_s", format!("{rate} is not a rate"), "expected a number above 0"))
            }
            Some(rate) if self.requests as f64 / rate > 9.0e9 => {
                let what =
                    format!("{} requests at {rate} per second last more than 285 years", self.requests);
                Err(setting("rate_per_s", what, "expected a higher rate"))
            }
            _ => Ok(()),
        }
    }

    /// Returns whether any request has flags.
    fn has_flags(&self) -> bool {
        self.fua_share > 0.0 || self.flush_every > 0
    }

    /// Returns the number of places for a request.
    #[must_use]
    pub fn slots(&self) -> u64 {
        self.logical_bytes / self.request_bytes
    }
}

/// Generator of the columns of a workload.
enum Maker {
    /// Requests of one size.
    Slots(Box<dyn Slots>, Common),
    /// Requests of several sizes.
    Extents(Box<dyn Extents>, Common),
    /// The columns depend on each other.
    Twin(Box<twin::Run>),
}

/// Columns that do not depend on the pattern.
struct Common {
    ops: Rng,
    fua: Rng,
    clock: Clock,
}

/// A source of synthetic requests.
pub struct Generator {
    config: GeneratorConfig,
    maker: Maker,
    /// Requests generated so far.
    made: u64,
}

impl Generator {
    /// Prepares a workload.
    ///
    /// # Errors
    /// As for [`GeneratorConfig::validate`].
    pub fn new(config: GeneratorConfig) -> Result<Self> {
        config.validate()?;
        let maker = start(&config)?;
        Ok(Self { config, maker, made: 0 })
    }

    /// Returns the workload.
    #[must_use]
    pub fn config(&self) -> &GeneratorConfig {
        &self.config
    }
}

impl Common {
    /// Appends stamps, operations and the device of the next `n` requests.
    fn fill(&mut self, batch: &mut RequestBatch, n: usize, config: &GeneratorConfig) {
        self.clock.fill(&mut batch.time_ns, n);
        batch.device.resize(batch.device.len() + n, 0);
        let (read, trim) = (config.read_share, config.trim_share);
        if read == 0.0 && trim == 0.0 {
            batch.op.resize(batch.op.len() + n, Op::Write);
            return;
        }
        let rng = &mut self.ops;
        batch.op.extend((0..n).map(|_| match rng.unit() {
            u if u < read => Op::Read,
            u if u < read + trim => Op::Trim,
            _ => Op::Write,
        }));
    }
}

impl Common {
    /// Appends flags of the last `n` requests; `made` requests were made before them.
    fn fill_flags(&mut self, batch: &mut RequestBatch, n: usize, config: &GeneratorConfig, made: u64) {
        if !config.has_flags() {
            return;
        }
        let from = batch.op.len() - n;
        for (i, &op) in (made + 1..).zip(&batch.op[from..]) {
            let fua = op == Op::Write && self.fua.unit() < config.fua_share;
            let flush = config.flush_every > 0 && i.is_multiple_of(config.flush_every);
            let (fua, flush) = (u8::from(fua) * flags::FUA, u8::from(flush) * flags::FLUSH);
            batch.flags.push(fua | flush);
        }
    }
}

/// Creates the state before the first request.
fn start(config: &GeneratorConfig) -> Result<Maker> {
    let n = if config.request_bytes == 0 { 0 } else { config.slots() };
    let stream = |name: &str| Rng::new(config.seed, name);
    let rng = stream("workload address");
    let sizes = || stream("workload size");
    let space = config.logical_bytes;
    let common = || Common {
        ops: stream("workload operation"),
        fua: stream("workload fua"),
        clock: Clock::new(config.rate_per_s, config.jobs.burst, config.seed),
    };
    let slots: Box<dyn Slots> = match config.pattern {
        Pattern::Sequential => Box::new(Sequential::new(n)),
        Pattern::Uniform => Box::new(Uniform::new(n, rng)),
        Pattern::Permutation => Box::new(Permuted::new(n, rng)),
        Pattern::Zipf => Box::new(Zipf::new(n, config.zipf_theta, rng, &mut stream("workload zipf places"))),
        Pattern::HotCold => {
            Box::new(HotCold::new(n, config.hot_share_of_pages, config.hot_share_of_writes, rng))
        }
        Pattern::Jobs => {
            let jobs = jobs::JobExtents::new(&config.jobs, space, rng, sizes());
            return Ok(Maker::Extents(Box::new(jobs), common()));
        }
        Pattern::Jesd219 => {
            let mixed = jesd219::Jesd219::new(space, rng, sizes());
            return Ok(Maker::Extents(Box::new(mixed), common()));
        }
        Pattern::Twin => {
            let twin = config.twin.as_ref().expect("validate wants a twin");
            let target = config.scale.then_some(space);
            let run = twin::Run::new(twin.clone(), target, config.seed)?;
            return Ok(Maker::Twin(Box::new(if config.counts_only { run.counting() } else { run })));
        }
    };
    Ok(Maker::Slots(slots, common()))
}

impl Source for Generator {
    fn fill(&mut self, batch: &mut RequestBatch, max: usize) -> Result<()> {
        let left = self.config.requests - self.made;
        let n = usize::try_from(left).unwrap_or(usize::MAX).min(max);
        match &mut self.maker {
            Maker::Slots(slots, common) => {
                let bytes = self.config.request_bytes;
                common.fill(batch, n, &self.config);
                common.fill_flags(batch, n, &self.config, self.made);
                slots.fill(&mut batch.offset, n, bytes);
                batch.bytes.resize(batch.bytes.len() + n, bytes);
            }
            Maker::Extents(extents, common) => {
                common.fill(batch, n, &self.config);
                common.fill_flags(batch, n, &self.config, self.made);
                extents.fill(&mut batch.offset, &mut batch.bytes, n);
            }
            Maker::Twin(run) => run.fill(batch, n),
        }
        self.made += n as u64;
        Ok(())
    }

    fn columns(&self) -> OptionalColumns {
        OptionalColumns { flags: self.config.has_flags(), ..OptionalColumns::default() }
    }

    fn rewind(&mut self) -> Result<()> {
        self.maker = start(&self.config)?;
        self.made = 0;
        Ok(())
    }

    fn format(&self) -> &'static str {
        "synthetic"
    }

    fn devices(&self) -> &[String] {
        static NAMES: std::sync::OnceLock<Vec<String>> = std::sync::OnceLock::new();
        NAMES.get_or_init(|| vec!["synthetic".to_owned()])
    }

    fn summary(&self) -> Summary {
        Summary::default()
    }

    fn place_of(&self, index: u64) -> String {
        format!("synthetic request {}", index + 1)
    }

    fn has_times(&self) -> bool {
        self.config.rate_per_s.is_some() || self.config.pattern == Pattern::Twin
    }
}
