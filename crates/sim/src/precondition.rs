//! Bringing the drive into the state in which the run starts. Nothing here counts, wear included.

use crate::array::{BackEnd, with_flash};
use crate::drive::Drive;
use crate::drive_file;
use crate::plan::{Auto, AutoFill, Plan, Precondition};
use floatgate_base::permute::Permutation;
use floatgate_base::{DomainId, Error, ExtentKind, Extents, Lpn, Result, Rng};
use floatgate_flash::Layout;
use floatgate_ftl::{Allocation, Setup};
use floatgate_theory::{FifoLog, Policy, ValidityLaw};
use serde::{Deserialize, Serialize};

/// Pages written between two looks at the progress.
const CHUNK: u64 = 1 << 14;

/// In which order a [`Filler`] writes pages.
#[derive(Clone, Debug)]
enum Order {
    Ascending,
    Random(Permutation),
    /// From this page on downwards.
    Descending(u64),
}

/// Writes logical pages once each, a chunk at a time, and then perhaps random ones.
#[derive(Clone, Debug)]
pub struct Filler {
    order: Order,
    next: u64,
    pages: u64,
    /// Writes to random pages after that, and the seed of their draws.
    more: u64,
    seed: u64,
    extents: Extents,
}

impl Filler {
    /// All pages, ascending or in random order.
    #[must_use]
    pub fn new(plan: &Plan, random: bool) -> Self {
        let pages = u64::from(plan.ftl.setup.logical_pages);
        let order = if random {
            Order::Random(Permutation::new(pages, &mut Rng::new(plan.seed, "precondition")))
        } else {
            Order::Ascending
        };
        Self { order, next: 0, pages, more: 0, seed: plan.seed, extents: Extents::default() }
    }

    /// All pages in random order, and then as many writes to random pages: what a drive is like whose steady state no
    /// law tells.
    #[must_use]
    pub fn random_twice(plan: &Plan) -> Self {
        let once = Self::new(plan, true);
        Self { more: once.pages, ..once }
    }

    /// The last `plan.ftl.fill_pages` pages, downwards.
    #[must_use]
    pub fn from_the_end(plan: &Plan) -> Self {
        let order = Order::Descending(u64::from(plan.ftl.setup.logical_pages) - 1);
        let pages = u64::from(plan.ftl.fill_pages);
        Self { order, next: 0, pages, more: 0, seed: plan.seed, extents: Extents::default() }
    }

    /// Writes the next chunk; true when all pages are written.
    ///
    /// # Errors
    /// When the drive cannot hold its logical pages.
    pub fn step<F: BackEnd>(&mut self, drive: &mut Drive<F>) -> Result<bool> {
        let all = self.pages + self.more;
        let end = (self.next + CHUNK).min(if self.next < self.pages { self.pages } else { all });
        // Each chunk has a stream of its own, so that the next page says all of where a filler is.
        let mut rng = Rng::new(self.seed.wrapping_add(self.next), "precondition again");
        self.extents.clear();
        for i in self.next..end {
            let lpn = match &self.order {
                _ if i >= self.pages => rng.below(self.pages),
                Order::Ascending => i,
                Order::Random(order) => order.apply(i),
                Order::Descending(first) => first - i,
            };
            self.extents.push(Lpn(lpn as u32), 1, ExtentKind::Write);
        }
        self.next = end;
        drive.serve(&self.extents, 0..self.extents.len()).map_err(|_| {
            Error::run(
                "the drive ran out of free blocks while it was preconditioned",
                "expected a larger ftl.spare_factor",
            )
        })?;
        Ok(end == all)
    }

    /// Pages written so far, and pages in all.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        (self.next, self.pages + self.more)
    }
}

/// Spare pages of the closed blocks to live ones from which on the laws are of use.
const OVER_MIN: f64 = 1e-6;

/// Why a drive's steady state is not known, if it is not.
#[must_use]
pub fn why_not_steady(setup: &Setup, layout: &Layout) -> Option<&'static str> {
    if setup.victim.law().is_none() {
        return Some("no steady-state law is known for this victim policy");
    }
    if setup.allocation == Allocation::Static {
        return Some("the steady state is drawn for pages that may lie anywhere");
    }
    let units = layout.units_per_domain().saturating_sub(keep_free(setup));
    let closed = u64::from(units) * u64::from(layout.pages_per_unit());
    let live = u64::from(setup.logical_pages).div_ceil(u64::from(layout.domains()));
    let fits = closed as f64 >= live as f64 * (1.0 + OVER_MIN)
        && layout.pages_per_unit() <= floatgate_theory::PAGES_PER_BLOCK_MAX;
    (!fits).then_some("its law does not reach to so little spare space, or blocks so large")
}

/// The middle of collection's cycle between trigger and stop level: neither end is the steady state. Incremental collection
/// leaves one unit alone.
fn keep_free(setup: &Setup) -> u32 {
    let middle =
        u32::midpoint(setup.trigger_free_units, setup.stop_free_units) + setup.separate.streams() - 1;
    if setup.incremental { middle.max(2) } else { middle }
}

/// Fills the drive as uniform writes would have left it: the number of valid pages of every closed block follows the
/// victim policy's mean-field law at the spare space that these blocks have, so that a run is at steady state from
/// its first request. One domain a step.
#[derive(Clone, Debug)]
pub struct SteadyState {
    policy: Policy,
    rng: Rng,
    pages: Permutation,
    installed: u64,
    domain: u64,
}

impl SteadyState {
    /// # Errors
    /// When the policy's law is not known.
    pub fn new(plan: &Plan) -> Result<Self> {
        let policy = plan.ftl.setup.victim.law().ok_or_else(|| {
            Error::run("no steady-state law is known for this victim policy", "expected precondition random")
        })?;
        let mut rng = Rng::new(plan.seed, "precondition");
        let pages = Permutation::new(u64::from(plan.ftl.setup.logical_pages), &mut rng);
        Ok(Self { policy, rng, pages, installed: 0, domain: 0 })
    }

    /// Fills the next domain; true when all are filled.
    ///
    /// # Errors
    /// When the spare factor is outside the law's range.
    pub fn step<F: BackEnd>(&mut self, plan: &Plan, drive: &mut Drive<F>) -> Result<bool> {
        let Drive { ftl, array } = drive;
        let layout = plan.layout();
        let (domain, domains) = (self.domain, u64::from(layout.domains()));
        let logical = u64::from(plan.ftl.setup.logical_pages);
        let live = logical * (domain + 1) / domains - logical * domain / domains;
        self.domain += 1;
        // With more planes than logical pages nothing lives here, and an empty plane is as good as any.
        if live > 0 {
            let units = ftl.take_for_install(DomainId(domain as u32), keep_free(&plan.ftl.setup));
            let counts = valid_counts(self.policy, units.len(), live, plan, &mut self.rng)?;
            for (&unit, &valid) in units.iter().zip(&counts) {
                let content = scatter(valid, layout.pages_per_unit(), &mut self.rng, || {
                    self.installed += 1;
                    Lpn(self.pages.apply(self.installed - 1) as u32)
                });
                with_flash!(array, flash => ftl.install(flash, unit, content));
            }
        }
        Ok(self.domain == domains)
    }

    /// Pages installed so far, and pages in all.
    #[must_use]
    pub fn progress(&self, plan: &Plan) -> (u64, u64) {
        (self.installed, u64::from(plan.ftl.setup.logical_pages))
    }
}

/// The work that brings the drive into its first state.
#[derive(Clone, Debug)]
pub enum Preparation {
    /// The drive stays empty.
    Nothing,
    /// See [`Filler`].
    Fill(Filler),
    /// See [`SteadyState`].
    Steady(SteadyState),
    /// See [`crate::drive_file`]; the file.
    Load(String),
}

/// A drive is in its first state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// Content hash of the file that the drive was read from, if it was.
    pub snapshot_hash: Option<String>,
}

impl Preparation {
    /// What a plan asks for.
    ///
    /// # Errors
    /// As [`SteadyState::new`].
    pub fn new(plan: &Plan) -> Result<Self> {
        Ok(match plan.ftl.precondition {
            Precondition::None => Self::Nothing,
            Precondition::Sequential => Self::Fill(Filler::new(plan, false)),
            Precondition::Random => Self::Fill(Filler::new(plan, true)),
            Precondition::Fill => Self::Fill(Filler::from_the_end(plan)),
            Precondition::Steady => Self::Steady(SteadyState::new(plan)?),
            Precondition::Snapshot => plan.ftl.snapshot.clone().map_or(Self::Nothing, Self::Load),
            Precondition::Auto => match plan.ftl.auto {
                Some(Auto { fill: AutoFill::Steady, .. }) => Self::Steady(SteadyState::new(plan)?),
                _ => Self::Fill(Filler::random_twice(plan)),
            },
        })
    }

    /// Goes on for a bounded amount of work; says when it is done.
    ///
    /// # Errors
    /// As the steps of its kinds.
    pub fn step<F: BackEnd>(&mut self, plan: &Plan, drive: &mut Drive<F>) -> Result<Option<Prepared>> {
        let done = match self {
            Self::Nothing => true,
            Self::Fill(filler) => filler.step(drive)?,
            Self::Steady(state) => state.step(plan, drive)?,
            Self::Load(path) => {
                let hash = drive_file::load(path, plan, drive)?;
                return Ok(Some(Prepared { snapshot_hash: Some(hash) }));
            }
        };
        Ok(done.then_some(Prepared { snapshot_hash: None }))
    }

    /// Pages done, and pages in all.
    #[must_use]
    pub fn progress(&self, plan: &Plan) -> (u64, u64) {
        match self {
            Self::Fill(filler) => filler.progress(),
            Self::Steady(state) => state.progress(plan),
            Self::Nothing | Self::Load(_) => (0, 1),
        }
    }
}

/// How far a preparation is, for a snapshot: what else it holds follows from the plan.
#[derive(Debug, Serialize, Deserialize)]
pub enum SavedPreparation {
    /// Of [`Filler`].
    Fill {
        /// Pages written.
        next: u64,
    },
    /// Of [`SteadyState`].
    Steady {
        /// Its random numbers.
        rng: Rng,
        /// Pages installed.
        installed: u64,
        /// Next domain.
        domain: u64,
    },
    /// Nothing is done yet.
    Nothing,
}

impl Preparation {
    /// What a snapshot keeps.
    #[must_use]
    pub fn saved(&self) -> SavedPreparation {
        match self {
            Self::Fill(Filler { next, order: _, pages: _, more: _, seed: _, extents: _ }) => {
                SavedPreparation::Fill { next: *next }
            }
            Self::Steady(SteadyState { rng, installed, domain, policy: _, pages: _ }) => {
                SavedPreparation::Steady { rng: rng.clone(), installed: *installed, domain: *domain }
            }
            Self::Nothing | Self::Load(_) => SavedPreparation::Nothing,
        }
    }

    /// Takes over what a snapshot kept of a preparation for the same plan; false if it was for another one.
    #[must_use]
    pub fn restore(&mut self, saved: SavedPreparation) -> bool {
        match (self, saved) {
            (Self::Fill(filler), SavedPreparation::Fill { next }) => filler.next = next,
            (Self::Steady(state), SavedPreparation::Steady { rng, installed, domain }) => {
                (state.rng, state.installed, state.domain) = (rng, installed, domain);
            }
            (Self::Nothing | Self::Load(_), SavedPreparation::Nothing) => {}
            _ => return false,
        }
        true
    }
}

/// Valid pages of each unit, oldest unit first, `live` in all.
fn valid_counts(policy: Policy, units: usize, live: u64, plan: &Plan, rng: &mut Rng) -> Result<Vec<u32>> {
    let pages = plan.layout().pages_per_unit();
    let unfit = |e: floatgate_theory::Error| {
        Error::run(
            format!("no steady state for this drive: {e}"),
            "expected another ftl.spare_factor or precondition random",
        )
    };
    let alpha = units as f64 * f64::from(pages) / live as f64;
    let mut counts: Vec<u32> = match policy {
        Policy::Fifo => {
            let log = FifoLog::new(alpha).map_err(unfit)?;
            let share = |i: usize| log.live_share((units - i) as f64 / units as f64);
            (0..units).map(|i| (0..pages).filter(|_| rng.unit() < share(i)).count() as u32).collect()
        }
        _ => {
            let law = ValidityLaw::new(policy, alpha, pages).map_err(unfit)?;
            let order = Permutation::new(units as u64, rng);
            (0..units as u64).map(|i| law.quantile((order.apply(i) as f64 + 0.5) / units as f64)).collect()
        }
    };
    fit_sum(&mut counts, live, pages, rng);
    Ok(counts)
}

/// Changes counts by single pages, at random units, until they add up to `live`.
fn fit_sum(counts: &mut [u32], live: u64, pages: u32, rng: &mut Rng) {
    let least = counts.iter().copied().min().unwrap_or(0);
    let mut sum: u64 = counts.iter().map(|&v| u64::from(v)).sum();
    while sum != live {
        let count = &mut counts[rng.below(counts.len() as u64) as usize];
        if sum < live && *count < pages {
            *count += 1;
            sum += 1;
        } else if sum > live && *count > 0 && (*count > least || rng.below(64) == 0) {
            *count -= 1;
            sum -= 1;
        }
    }
}

/// `valid` of `pages` places at random, each filled from `next`.
fn scatter<'a>(
    valid: u32,
    pages: u32,
    rng: &'a mut Rng,
    mut next: impl FnMut() -> Lpn + 'a,
) -> impl Iterator<Item = Option<Lpn>> + 'a {
    let mut left = u64::from(valid);
    (0..pages).map(move |page| {
        let taken = left > 0 && rng.below(u64::from(pages - page)) < left;
        left -= u64::from(taken);
        taken.then(&mut next)
    })
}
