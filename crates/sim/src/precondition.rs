//! Brings the drive into its initial state. Nothing here is counted, including wear.

use crate::array::{BackEnd, with_flash};
use crate::drive::Drive;
use crate::drive_file;
use crate::failure;
use crate::plan::{Auto, AutoFill, Plan, Precondition};
use crate::written_pages::{Halves, WrittenPages};
use floatgate_base::permute::{InOrder, Permutation};
use floatgate_base::{DomainId, Error, ExtentKind, Extents, Lpn, Result, Rng};
use floatgate_flash::Layout;
use floatgate_ftl::{Allocation, Setup};
use floatgate_theory::{FifoLog, Policy, ValidityLaw};
use serde::{Deserialize, Serialize};

/// Pages written between two progress reports.
const CHUNK: u64 = 1 << 14;

/// Order in which a [`Filler`] writes pages.
#[derive(Clone, Debug)]
enum Order {
    Ascending,
    Random(Box<InOrder>),
    /// From this page on downwards.
    Descending(u64),
}

/// Writes logical pages once each, chunk by chunk, and then optionally random ones.
#[derive(Clone, Debug)]
pub struct Filler {
    order: Order,
    next: u64,
    pages: u64,
    /// Writes to random pages afterwards, the seed of their draws, and their target pages, which come last in the first
    /// round; None allows any order.
    more: u64,
    seed: u64,
    again: Option<Halves>,
    extents: Extents,
}

impl Filler {
    /// Writes all pages, ascending or in random order.
    #[must_use]
    pub fn new(plan: &Plan, random: bool) -> Self {
        let pages = u64::from(plan.ftl.setup.logical_pages);
        let order = if random {
            Order::Random(Box::new(InOrder::new(Permutation::new(
                pages,
                &mut Rng::new(plan.seed, "precondition"),
            ))))
        } else {
            Order::Ascending
        };
        Self { order, next: 0, pages, more: 0, seed: plan.seed, again: None, extents: Extents::default() }
    }

    /// Writes all pages, those at rest in order and then the others at random, followed by as many writes to random
    /// ones of the others. This approximates a drive whose steady state follows no known law.
    #[must_use]
    pub fn random_twice(plan: &Plan, written: Option<WrittenPages>) -> Self {
        let once = Self::new(plan, true);
        let again = written.map(|written| halves_of(plan, &written)).filter(Halves::any_written);
        Self { more: once.pages, again, ..once }
    }

    /// Writes the last `plan.ftl.fill_pages` pages, downwards.
    #[must_use]
    pub fn from_the_end(plan: &Plan) -> Self {
        let order = Order::Descending(u64::from(plan.ftl.setup.logical_pages) - 1);
        let pages = u64::from(plan.ftl.fill_pages);
        Self { order, next: 0, pages, more: 0, seed: plan.seed, again: None, extents: Extents::default() }
    }

    /// Writes the next chunk; returns whether all pages are written.
    ///
    /// # Errors
    /// The drive cannot hold its logical pages.
    pub fn step<F: BackEnd>(&mut self, drive: &mut Drive<F>) -> Result<bool> {
        let all = self.pages + self.more;
        let end = (self.next + CHUNK).min(if self.next < self.pages { self.pages } else { all });
        // Each chunk has a separate random stream; the next page is then the whole state of a filler.
        let mut rng = Rng::new(self.seed.wrapping_add(self.next), "precondition again");
        self.extents.clear();
        for i in self.next..end {
            let lpn = match (&mut self.again, &mut self.order) {
                (Some(halves), _) if i >= self.pages => halves.draw(&mut rng),
                (Some(halves), _) => halves.next(halves.left(false) == 0),
                (None, _) if i >= self.pages => Lpn(rng.below(self.pages) as u32),
                (None, Order::Ascending) => Lpn(i as u32),
                (None, Order::Random(order)) => Lpn(order.apply(i) as u32),
                (None, Order::Descending(first)) => Lpn((*first - i) as u32),
            };
            self.extents.push(lpn, 1, ExtentKind::Write);
        }
        self.next = end;
        drive
            .serve(&self.extents, 0..self.extents.len())
            .map_err(|stopped| failure::while_preconditioned(stopped.failure))?;
        Ok(end == all)
    }

    /// Returns the pages written so far, and all pages.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        (self.next, self.pages + self.more)
    }
}

/// Returns the pages that are written, or share a block with such, and the pages at rest.
///
/// Data at rest were written in order once, by all domains side by side. A block without written pages is left alone.
/// Any other collection has moved data at rest into blocks of written pages.
fn halves_of(plan: &Plan, written: &WrittenPages) -> Halves {
    let layout = plan.layout();
    let stretch = u64::from(layout.pages_per_unit()) * u64::from(layout.domains());
    Halves::new(written, stretch, plan.seed)
}

/// Spare pages of the closed blocks per live page from which on the laws apply.
const OVER_MIN: f64 = 1e-6;

/// Returns why a drive's steady state is unknown; None if it is known.
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

/// Returns the middle of collection's cycle between trigger and stop level; neither end is the steady state.
/// Incremental collection leaves one unit out.
fn keep_free(setup: &Setup) -> u32 {
    let middle =
        u32::midpoint(setup.trigger_free_units, setup.stop_free_units) + setup.separate.streams() - 1;
    if setup.incremental { middle.max(2) } else { middle }
}

/// Fills the drive as uniform writes would have left it. The number of valid pages of every closed block follows the
/// victim policy's mean-field law at the spare space of these blocks; a run is at steady state from its first request.
/// Fills one domain per step.
///
/// If only some pages are written, greedy leaves the others in separate blocks, which have no dead pages and are never
/// collected. The law then holds for the written pages and their blocks.
#[derive(Clone, Debug)]
pub struct SteadyState {
    policy: Policy,
    rng: Rng,
    pages: InOrder,
    /// The written pages and the others, if those are separate.
    halves: Option<Halves>,
    installed: u64,
    domain: u64,
}

impl SteadyState {
    /// Prepares for a workload that writes these pages, where known.
    ///
    /// # Errors
    /// The policy's law is unknown.
    pub fn new(plan: &Plan, written: Option<WrittenPages>) -> Result<Self> {
        let policy = plan.ftl.setup.victim.law().ok_or_else(|| {
            Error::run("no steady-state law is known for this victim policy", "expected precondition random")
        })?;
        let mut rng = Rng::new(plan.seed, "precondition");
        let pages = InOrder::new(Permutation::new(u64::from(plan.ftl.setup.logical_pages), &mut rng));
        let written = written.filter(|written| policy == Policy::Greedy && written.count() > 0);
        let mut halves = written.map(|written| halves_of(plan, &written));
        halves.iter_mut().for_each(Halves::set_rows_apart);
        Ok(Self { policy, rng, pages, halves, installed: 0, domain: 0 })
    }

    /// Returns the next page to install, of those at rest or of those written.
    #[inline(always)]
    fn next_page(&mut self, is_written: bool) -> Lpn {
        self.installed += 1;
        match &mut self.halves {
            Some(halves) => halves.next(is_written),
            None => Lpn(self.pages.apply(self.installed - 1) as u32),
        }
    }

    /// Fills the next domain; returns whether all are filled.
    ///
    /// # Errors
    /// The spare factor is outside the law's range.
    pub fn step<F: BackEnd>(&mut self, plan: &Plan, drive: &mut Drive<F>) -> Result<bool> {
        let Drive { ftl, array } = drive;
        let layout = plan.layout();
        let (domain, domains) = (self.domain, u64::from(layout.domains()));
        let logical = u64::from(plan.ftl.setup.logical_pages);
        let live = logical * (domain + 1) / domains - logical * domain / domains;
        self.domain += 1;
        // With more planes than logical pages nothing lives here, and an empty plane is equivalent.
        if live > 0 {
            let units = ftl.take_for_install(DomainId(domain as u32), keep_free(&plan.ftl.setup));
            let pages = layout.pages_per_unit();
            let full = self.units_at_rest(plan, domain, live, pages);
            let (apart, shared) = units.split_at(full);
            let rows = self.halves.as_ref().map_or(&[][..], Halves::rows);
            let (in_rows, rest) = apart.split_at(apart.len().min(rows.len()));
            for (&unit, row) in in_rows.iter().zip(0..) {
                with_flash!(array, flash => ftl.install_at_rest(flash, unit, row, rows));
            }
            self.installed += in_rows.len() as u64 * u64::from(pages);
            for &unit in rest {
                let content = (0..pages).map(|_| Some(self.next_page(false)));
                with_flash!(array, flash => ftl.install(flash, unit, content));
            }
            let live = live - full as u64 * u64::from(pages);
            let (shared, erased) = shared.split_at(shared.len().min(units_of_use(live, pages)));
            erased.iter().for_each(|&unit| ftl.give_back_to_install(unit));
            let counts = valid_counts(self.policy, shared.len(), live, plan, &mut self.rng)?;
            for (&unit, &valid) in shared.iter().zip(&counts) {
                let mut rng = self.rng.clone();
                let content = scatter(valid, pages, &mut rng, || {
                    // Pages at rest that do not fill a unit are mixed with the others in the last domain only: in any
                    // place they are moved again and again.
                    let left = |written| self.halves.as_ref().map_or(0, |halves| halves.left(written));
                    let rests = left(false) > 0 && (self.domain == domains || left(true) == 0);
                    self.next_page(!rests)
                });
                with_flash!(array, flash => ftl.install(flash, unit, content));
                self.rng = rng;
            }
        }
        Ok(self.domain == domains)
    }

    /// Counts the units of a domain that pages at rest fill, of the `live` ones there.
    fn units_at_rest(&self, plan: &Plan, domain: u64, live: u64, pages: u32) -> usize {
        let Some(halves) = &self.halves else { return 0 };
        let domains = u64::from(plan.layout().domains());
        let units = halves.at_rest() / u64::from(pages);
        // A row has a unit of each domain: no domain has fewer units than rows.
        let here = units * (domain + 1) / domains - units * domain / domains;
        here.min(live / u64::from(pages)) as usize
    }

    /// Returns the pages installed so far, and all pages.
    #[must_use]
    pub fn progress(&self, plan: &Plan) -> (u64, u64) {
        (self.installed, u64::from(plan.ftl.setup.logical_pages))
    }
}

/// The work that brings the drive into its initial state.
#[derive(Clone, Debug)]
pub enum Preparation {
    /// The drive stays empty.
    Nothing,
    /// See [`Filler`].
    Fill(Filler),
    /// See [`SteadyState`].
    Steady(SteadyState),
    /// Reads the file; see [`crate::drive_file`].
    Load(String),
}

/// The drive is in its initial state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// Content hash of the file of the drive, if it came from one.
    pub snapshot_hash: Option<String>,
}

impl Preparation {
    /// Returns the preparation of a plan, for a workload that writes these pages, where known.
    ///
    /// # Errors
    /// As [`SteadyState::new`].
    pub fn new(plan: &Plan, written: Option<WrittenPages>) -> Result<Self> {
        Ok(match plan.ftl.precondition {
            Precondition::None => Self::Nothing,
            Precondition::Sequential => Self::Fill(Filler::new(plan, false)),
            Precondition::Random => Self::Fill(Filler::new(plan, true)),
            Precondition::Fill => Self::Fill(Filler::from_the_end(plan)),
            Precondition::Steady => Self::Steady(SteadyState::new(plan, None)?),
            Precondition::Snapshot => plan.ftl.snapshot.clone().map_or(Self::Nothing, Self::Load),
            Precondition::Auto => match plan.ftl.auto {
                Some(Auto { fill: AutoFill::Steady, .. }) => Self::Steady(SteadyState::new(plan, written)?),
                _ => Self::Fill(Filler::random_twice(plan, written)),
            },
        })
    }

    /// Continues for a bounded amount of work; returns whether it is done.
    ///
    /// # Errors
    /// Those of the kind of preparation.
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

    /// Returns the pages at rest in separate blocks, which are never collected.
    #[must_use]
    pub fn pages_at_rest(&self) -> u64 {
        let halves = match self {
            Self::Steady(state) => state.halves.as_ref(),
            Self::Fill(filler) => filler.again.as_ref(),
            Self::Nothing | Self::Load(_) => None,
        };
        halves.map_or(0, Halves::at_rest)
    }

    /// Returns the pages done, and all pages.
    #[must_use]
    pub fn progress(&self, plan: &Plan) -> (u64, u64) {
        match self {
            Self::Fill(filler) => filler.progress(),
            Self::Steady(state) => state.progress(plan),
            Self::Nothing | Self::Load(_) => (0, 1),
        }
    }
}

/// State of a preparation in a snapshot; the rest follows from the plan.
#[derive(Debug, Serialize, Deserialize)]
pub enum SavedPreparation {
    /// Of [`Filler`].
    Fill {
        /// Pages written.
        next: u64,
        /// Pages that the workload writes and the others, if required.
        halves: Option<Halves>,
    },
    /// Of [`SteadyState`].
    Steady {
        /// Its random numbers.
        rng: Rng,
        /// Pages installed.
        installed: u64,
        /// Next domain.
        domain: u64,
        /// Pages that the workload writes and the others, if those are separate.
        halves: Option<Halves>,
    },
    /// Nothing done yet.
    Nothing,
}

impl Preparation {
    /// Returns the state for a snapshot.
    #[must_use]
    pub fn saved(&self) -> SavedPreparation {
        match self {
            Self::Fill(Filler { next, again, order: _, pages: _, more: _, seed: _, extents: _ }) => {
                SavedPreparation::Fill { next: *next, halves: again.clone() }
            }
            Self::Steady(SteadyState { rng, installed, domain, halves, policy: _, pages: _ }) => {
                let (rng, halves) = (rng.clone(), halves.clone());
                SavedPreparation::Steady { rng, installed: *installed, domain: *domain, halves }
            }
            Self::Nothing | Self::Load(_) => SavedPreparation::Nothing,
        }
    }

    /// Restores the state of a preparation for the same plan; returns false for another one.
    #[must_use]
    pub fn restore(&mut self, saved: SavedPreparation) -> bool {
        match (self, saved) {
            (Self::Fill(filler), SavedPreparation::Fill { next, halves }) => {
                (filler.next, filler.again) = (next, halves);
            }
            (Self::Steady(state), SavedPreparation::Steady { rng, installed, domain, halves }) => {
                (state.rng, state.installed, state.domain) = (rng, installed, domain);
                state.halves = halves;
            }
            (Self::Nothing | Self::Load(_), SavedPreparation::Nothing) => {}
            _ => return false,
        }
        true
    }
}

/// Closed pages per live page beyond which almost nothing is copied; units that would hold fewer stay erased.
const ALPHA_MAX: f64 = 8.0;

/// Returns the maximum of units over which so many live pages are spread.
fn units_of_use(live: u64, pages: u32) -> usize {
    (live as f64 * ALPHA_MAX / f64::from(pages)).ceil() as usize
}

/// Draws the valid pages of each unit, oldest unit first, `live` in all.
fn valid_counts(policy: Policy, units: usize, live: u64, plan: &Plan, rng: &mut Rng) -> Result<Vec<u32>> {
    let pages = plan.layout().pages_per_unit();
    let unfit = |e: floatgate_theory::Error| {
        Error::run(
            format!("no steady state for this drive: {e}"),
            "expected another ftl.spare_factor or precondition random",
        )
    };
    if live == 0 {
        return Ok(vec![0; units]);
    }
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

/// Changes counts by single pages, at random units, until their sum is `live`.
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

/// Places `valid` pages from `next` at random among `pages` positions.
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
