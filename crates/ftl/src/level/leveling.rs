//! The mechanism's side of a wear-leveler, present if one is set: counters, erases by domain, random numbers.

use super::{Books, Level, LevelCounters, Leveler, LevelerState, OpenSets, Verdict, VictimView};
use crate::jobs::Request;
use crate::jobs::request::{DriveView, StartsJobs};
use crate::units::{NOT_INDEXED, Units};
use floatgate_base::{DomainId, IdSlice, IdVec, Ppn, Rng, UnitId};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// A wear-leveler at work on a drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Leveling {
    leveler: LevelerState,
    pub counters: LevelCounters,
    pub rng: Rng,
    /// Domains in which the leveler has a job to request.
    pub asking: Vec<DomainId>,
    /// Units that stay open from one of its jobs to the next.
    pub sets: OpenSets,
    /// Erases of a domain's units; recounted from the array.
    #[serde(skip)]
    erases: IdVec<DomainId, u64>,
}

impl Leveling {
    /// Creates the leveling of an empty drive; none if no leveler is set.
    pub fn of(level: Level, seed: u64, layout: &Layout) -> Option<Self> {
        Some(Self {
            leveler: LevelerState::of(level, layout)?,
            counters: LevelCounters::default(),
            rng: Self::rng(seed),
            asking: Vec::new(),
            sets: OpenSets::default(),
            erases: IdVec::filled(0, layout.domains()),
        })
    }

    /// Returns the random stream of a run.
    pub fn rng(seed: u64) -> Rng {
        Rng::new(seed, "level")
    }

    /// Notifies the leveler that a unit was closed.
    pub fn closed(&mut self, domain: DomainId, unit: UnitId) {
        self.leveler.closed(domain, unit);
    }

    /// Notifies the leveler that a closed unit will be emptied.
    pub fn emptying(&mut self, domain: DomainId, unit: UnitId) {
        self.leveler.emptying(domain, unit);
    }

    /// Notifies the leveler that a unit was erased.
    pub fn erased(&mut self, domain: DomainId, unit: UnitId, erases: u32) {
        self.erases[domain] += 1;
        if self.leveler.erased(domain, unit, erases) {
            self.ask_in(domain);
        }
    }

    /// Returns the fault that a leveler from outside made, if one did.
    pub fn fault(&self) -> Option<&'static str> {
        self.leveler.fault()
    }

    /// Checks whether the leveler must be notified of reads.
    pub fn needs_reads(&self) -> bool {
        self.leveler.needs_reads()
    }

    /// Notifies the leveler of a host read and returns whether it has a job to request.
    pub fn read(&mut self, domain: DomainId, unit: UnitId, page: Ppn) -> bool {
        let wants = self.leveler.read(domain, unit, page);
        if wants {
            self.ask_in(domain);
        }
        wants
    }

    fn ask_in(&mut self, domain: DomainId) {
        if !self.asking.contains(&domain) {
            self.asking.push(domain);
        }
    }

    /// Returns the leveler's decision on a victim.
    pub fn review(&mut self, drive: VictimView<'_>, victim: UnitId, may_pass: bool) -> Verdict {
        let erases = self.erases[drive.domain] as f64;
        let mean = erases / f64::from(drive.layout.units_per_domain());
        let verdict = self.leveler.review(drive, victim, mean, may_pass, &mut self.rng);
        self.counters.passed_over += u64::from(verdict == Verdict::PassOver);
        self.counters.triggered += u64::from(matches!(verdict, Verdict::Swap(_)));
        verdict
    }

    /// Notifies the leveler that a job is done, or was dropped.
    pub fn job_ended(&mut self, domain: DomainId, unit: UnitId, done: bool) {
        self.leveler.job_ended(domain, unit, done);
    }

    /// Resets wear to 0 when counting begins; `pending` requested jobs are not done yet.
    pub fn restart(&mut self, pending: u64) {
        self.counters = LevelCounters { pending_at_start: pending, ..LevelCounters::default() };
        self.erases.fill(0);
        self.leveler.restart();
    }

    /// Learns the erases of each unit from a restored array.
    pub fn learn_wear(&mut self, layout: &Layout, erases: &IdSlice<UnitId, u32>) {
        self.erases = IdVec::filled(0, layout.domains());
        for (unit, &n) in erases.enumerate() {
            self.erases[layout.domain_of(unit)] += u64::from(n);
        }
        self.leveler.learn_wear(erases);
    }

    /// Sets the erases of all units after wear was extrapolated by `erases` in all.
    pub fn leap(&mut self, layout: &Layout, counts: &IdSlice<UnitId, u32>, erases: u64) {
        self.learn_wear(layout, counts);
        self.leveler.leapt(erases);
    }

    /// Restores the state from a snapshot; returns false if it is of another drive. A leveler without saved state of
    /// its own is notified of all closed units, in the order of closing.
    pub fn adopt(&mut self, saved: Option<Self>, layout: &Layout, units: &Units) -> bool {
        match saved {
            Some(saved) if saved.leveler.is_like(&self.leveler) => {
                let fits = saved.leveler.fits(layout) && saved.asking.iter().all(|&d| d.0 < layout.domains());
                let erases = std::mem::take(&mut self.erases);
                *self = Self { erases, ..saved };
                fits
            }
            _ => {
                let is_closed = |unit: &UnitId| units.meta[*unit].pos != NOT_INDEXED;
                let mut closed: Vec<UnitId> = UnitId::all(layout.units()).filter(is_closed).collect();
                closed.sort_by_key(|&unit| units.closed_at[unit]);
                closed.into_iter().for_each(|unit| self.closed(layout.domain_of(unit), unit));
                true
            }
        }
    }

    /// Checks the sums and the leveler's state.
    ///
    /// # Errors
    /// Describes the discrepancy.
    pub fn audit(&self, layout: &Layout, units: &Units, erases: &IdSlice<UnitId, u32>) -> Result<(), String> {
        let mut sums = IdVec::filled(0, layout.domains());
        for (unit, &n) in erases.enumerate() {
            sums[layout.domain_of(unit)] += u64::from(n);
        }
        if sums != self.erases {
            return Err(format!("erases by domain: {sums:?}, the leveler counted {:?}", self.erases));
        }
        let closed: IdVec<UnitId, bool> = units.meta.iter().map(|meta| meta.pos != NOT_INDEXED).collect();
        self.leveler.audit(layout, &closed)
    }
}

impl StartsJobs for Leveling {
    fn next_request(&mut self, drive: &mut DriveView<'_>, domain: DomainId) -> Option<Request> {
        let mut books = Books { counters: &mut self.counters, sets: &mut self.sets };
        let request = self.leveler.next_request(drive, domain, &mut books)?;
        self.counters.triggered += 1;
        Some(request)
    }
}
