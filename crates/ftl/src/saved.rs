//! Saves the drive's state to a snapshot and restores it.
//!
//! The forward map and the side tables are stored as they are. The reverse map and the live bits are the inverse of the
//! map and are rebuilt from it. All other state is small and goes through serde. Both directions destructure the drive
//! without `..`: a field added later does not compile before it is handled here.

use crate::collect::{Candidates, Garbage, Timing};
use crate::dpes::ScalerState;
use crate::free_pages::{FreePages, OpenPages};
use crate::ftl::Ftl;
use crate::jobs::waiting::Waiting;
use crate::level::Leveling;
use crate::owners::{Packed, Replica, Replicas, Sides};
use crate::pool::FreePool;
use crate::reclaim::Reclaiming;
use crate::reduce::SavedReduction;
use crate::separate::{Separation, Shape};
use crate::setup::{GcCounters, Pace};
use crate::units::{Frontier, NO_UNIT, Units};
use crate::volatile::Volatile;
use floatgate_base::{DomainId, IdVec, Result, UnitId};
use floatgate_flash::Flash;
use floatgate_snapshot::{Reader, Writer, damaged, unfit};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io;

const MAP: &str = "map";
const STATE: &str = "ftl";

/// The state that a snapshot stores beside the map.
#[derive(Serialize, Deserialize)]
struct SavedFtl<'a> {
    units: Cow<'a, Units>,
    candidates: Cow<'a, Candidates>,
    sides: Cow<'a, Sides>,
    free: Cow<'a, [FreePool]>,
    frontiers: Cow<'a, [Frontier]>,
    next_domain: DomainId,
    jobs: Cow<'a, [Waiting]>,
    futile_at: Cow<'a, [Option<u64>]>,
    next_step_in: Cow<'a, [u32]>,
    now: u64,
    gc: GcCounters,
    victims_by_valid: Cow<'a, [u64]>,
    leveling: Cow<'a, Option<Leveling>>,
    reclaiming: Cow<'a, Option<Box<Reclaiming>>>,
    mapped_pages: u64,
    separation: Cow<'a, Option<Box<Separation>>>,
    timing: Cow<'a, Option<Box<Timing>>>,
    reduction: Option<SavedReduction>,
    scaler: Cow<'a, Option<ScalerState>>,
    free_and_open: (FreePages, OpenPages),
    pass_over: Cow<'a, [u32]>,
    filling: Cow<'a, [u32]>,
    volatile: Cow<'a, Volatile>,
    counting: bool,
    paced: (u64, DomainId),
}

impl Ftl {
    /// Writes the state, except what follows from setup and layout.
    ///
    /// # Errors
    /// I/O errors of the file.
    pub fn save(&self, out: &mut Writer<'_>) -> io::Result<()> {
        let Self {
            mapping,
            units,
            candidates,
            free,
            frontiers,
            next_domain,
            now,
            gc,
            victims_by_valid,
            leveling,
            reclaiming,
            reduction,
            scaler,
            mapped_pages,
            separation,
            timing,
            free_pages,
            open_pages,
            paced_at,
            paced_domain,
            pass_over,
            filling,
            volatile,
            jobs,
            futile_at,
            next_step_in,
            counting,
            // From the plan.
            layout: _,
            setup: _,
            prefetching: _,
            needs_all: _,
            // Empty between two chunks, steps of a job, or requests.
            laying: _,
            repacking: _,
            moving: _,
            reading: _,
        } = self;
        out.words(MAP, mapping.words())?;
        let saved = SavedFtl {
            units: Cow::Borrowed(units),
            candidates: Cow::Borrowed(candidates),
            sides: Cow::Borrowed(&mapping.sides),
            free: Cow::from(free.as_slice()),
            frontiers: Cow::from(frontiers),
            next_domain: *next_domain,
            jobs: Cow::from(jobs.as_slice()),
            futile_at: Cow::from(futile_at.as_slice()),
            next_step_in: Cow::from(next_step_in.as_slice()),
            now: *now,
            gc: *gc,
            victims_by_valid: Cow::from(victims_by_valid),
            leveling: Cow::Borrowed(leveling),
            reclaiming: Cow::Borrowed(reclaiming),
            mapped_pages: *mapped_pages,
            separation: Cow::Borrowed(separation),
            timing: Cow::Borrowed(timing),
            reduction: reduction.as_ref().map(|reduction| reduction.saved()),
            scaler: Cow::Borrowed(scaler),
            free_and_open: (free_pages.clone(), open_pages.clone()),
            pass_over: Cow::from(pass_over.as_slice()),
            filling: Cow::from(filling.as_slice()),
            volatile: Cow::Borrowed(volatile),
            counting: *counting,
            paced: (*paced_at, *paced_domain),
        };
        out.state(STATE, &saved)
    }

    /// Restores the saved state into this drive, which must have equal layout and setup. Fields that follow from the
    /// plan stay. Tables are filled in place; no second drive is in memory.
    ///
    /// # Errors
    /// A damaged file; the drive is unusable then.
    pub fn restore(&mut self, from: &mut Reader<'_>) -> Result<()> {
        from.words(MAP, self.mapping.words_mut())?;
        let SavedFtl {
            units,
            candidates,
            sides,
            free,
            frontiers,
            next_domain,
            jobs,
            futile_at,
            next_step_in,
            now,
            gc,
            victims_by_valid,
            leveling,
            reclaiming,
            mapped_pages,
            separation,
            timing,
            reduction,
            scaler,
            free_and_open,
            pass_over,
            filling,
            volatile,
            counting,
            paced,
        } = from.state(STATE)?;
        let empty = std::mem::replace(&mut self.candidates, candidates.into_owned());
        self.adopt_units(units.into_owned());
        (self.free, self.frontiers) = (free.into_owned().into(), frontiers.into_owned());
        (self.jobs, self.futile_at) = (jobs.into_owned().into(), futile_at.into_owned().into());
        (self.next_domain, self.now, self.counting) = (next_domain, now, counting);
        (self.gc, self.victims_by_valid) = (gc, victims_by_valid.into_owned());
        (self.separation, self.mapped_pages) = (separation.into_owned(), mapped_pages);
        self.adopt_scaler(scaler.into_owned());
        (self.free_pages, self.open_pages) = free_and_open;
        self.pass_over = pass_over.into_owned().into();
        (self.next_step_in, self.filling) = (next_step_in.into_owned().into(), filling.into_owned().into());
        (self.paced_at, self.paced_domain) = paced;
        self.refuse_foreign_chunks(from, sides.packed.as_deref())?;
        let no_chunks = self.mapping.sides.packed.take();
        let mut fault = self.fault().or_else(|| self.mapping.mirror(sides.into_owned()));
        if fault.is_none() && !(self.sides_are_sound() && self.adopt_reduction(reduction, no_chunks)) {
            fault = Some("its deduplicated or compressed data have no place on flash".into());
        }
        if fault.is_none() && !(self.separation_fits() && self.adopt_timing(timing.into_owned())) {
            fault = Some("its separator differs, or contexts or streams refer to other units".into());
        }
        if fault.is_none() && !self.candidates.fits(&empty) {
            fault = Some("its closed update blocks or queues do not fit this drive".into());
        }
        if fault.is_none() && !self.volatile.adopt(volatile.into_owned(), self.layout.units()) {
            fault = Some("its partial flash pages do not fit this drive".into());
        }
        let foreign_units = self.adopt(leveling.into_owned());
        if fault.is_none() && foreign_units.is_none() {
            fault = Some("its wear-leveler refers to other units".into());
        }
        if let (Some(reclaiming), Some(packed)) = (&mut self.reclaiming, self.mapping.packed()) {
            reclaiming.set_reads_at_once(packed.slots_max(), &self.layout);
        }
        self.refuse_foreign_modes(from, reclaiming.as_deref())?;
        if fault.is_none() && !self.adopt_rest(reclaiming.into_owned(), foreign_units) {
            fault = Some("its read disturb refers to other blocks".into());
        }
        fault.map_or(Ok(()), |what| Err(damaged(from.path(), 0, format!("the snapshot is damaged: {what}"))))
    }

    /// Refuses a snapshot whose chunks differ from those of this run.
    fn refuse_foreign_chunks(&self, from: &Reader<'_>, saved: Option<&Packed>) -> Result<()> {
        let Some((key, was)) = self.foreign_chunks(saved) else { return Ok(()) };
        let what = format!("lifetime.reduce.{key}: the saved drive holds chunks made with {was}");
        Err(unfit(from.path(), what, format!("expected lifetime.reduce.{key} = {was}")))
    }

    /// Refuses a snapshot whose block modes differ from those of this run.
    fn refuse_foreign_modes(&self, from: &Reader<'_>, saved: Option<&Reclaiming>) -> Result<()> {
        let mode = self.reclaiming.as_ref().zip(saved).and_then(|(ours, saved)| ours.foreign_mode(saved));
        let Some(mode) = mode else { return Ok(()) };
        let what = format!("drive.disturb.modes: the saved drive has blocks in mode {mode}");
        let expected = format!("expected at least {} modes, as when it was saved", mode + 1);
        Err(unfit(from.path(), what, expected))
    }

    /// Returns the first inconsistency. Checksums detect damage; this detects a file that was written wrong.
    fn fault(&self) -> Option<String> {
        let (units, domains) = (self.layout.units(), self.layout.domains());
        let lengths = [
            ("units", self.units.meta.len(), units),
            ("times of closing", self.units.closed_at.len(), units),
            ("victims", self.victims_by_valid.len(), self.layout.pages_per_unit() + 1),
            ("free pools", self.free.len(), domains),
            ("open units", self.frontiers.len(), self.setup.separate.streams() * domains),
            ("domains passed over", self.pass_over.len(), domains),
            (
                "streams",
                self.filling.len(),
                if self.layout.is_packed() { self.setup.separate.streams() } else { 0 },
            ),
            ("jobs", self.jobs.len(), domains),
            ("times without gain", self.futile_at.len(), domains),
            ("steps to come", self.next_step_in.len(), domains),
        ];
        if let Some((name, saved_len, due)) =
            lengths.into_iter().find(|&(_, saved_len, due)| saved_len != due as usize)
        {
            return Some(format!("{saved_len} {name}, expected {due}"));
        }
        let pages = self.layout.pages();
        let open = |f: &crate::units::Frontier| {
            f.next <= f.end && f.end.0 <= pages && (f.unit == NO_UNIT || f.unit.0 < units)
        };
        let free = self.free.iter().flat_map(|pool| pool.iter()).all(|unit| unit.0 < units);
        let jobs = self.jobs.iter().flat_map(Waiting::iter).all(|job| job.is_within(&self.layout));
        let sound = self.next_domain.0 < domains
            && self.paced_domain.0 < domains
            && free
            && jobs
            && self.filling.iter().all(|&slot| (slot as usize) < self.frontiers.len())
            && self.frontiers.iter().all(open);
        (!sound).then(|| "units beyond the drive".into())
    }

    /// Checks whether the separator's state fits this setup.
    fn separation_fits(&self) -> bool {
        match &self.separation {
            Some(separation) => {
                let shape = Shape::of(&self.layout, self.setup.mapped_pages_max(), self.setup.seed);
                separation.is_within(&shape, self.setup.separate)
            }
            None => !self.setup.separate.inspects_pages(),
        }
    }

    /// Restores what contexts were learnt to do, if this drive has the same settings. Returns false if the state is of
    /// another drive.
    fn adopt_timing(&mut self, saved: Option<Box<Timing>>) -> bool {
        let (Some(own), Some(saved)) = (&mut self.timing, saved) else { return true };
        if saved.settings() != own.settings() {
            return true;
        }
        let fits = saved.fits(own);
        *own = saved;
        fits
    }

    /// Restores the state of wear-leveling as far as this drive's leveler needs it. Returns the units that another
    /// leveler left open, or none if the snapshot is of another drive.
    fn adopt(&mut self, saved: Option<Leveling>) -> Option<Vec<Frontier>> {
        if saved.as_ref().is_some_and(|saved| !saved.sets.fits(&self.layout)) {
            return None;
        }
        let left_open = saved.iter().flat_map(|saved| saved.sets.units()).copied().collect();
        let Some(leveling) = &mut self.leveling else { return Some(left_open) };
        *leveling = match Leveling::of(self.setup.level, self.setup.seed, &self.layout) {
            Some(empty) => empty,
            None => return Some(left_open),
        };
        let fits = leveling.adopt(saved, &self.layout, &self.units);
        let left_open = if leveling.sets.is_empty() { left_open } else { Vec::new() };
        fits.then_some(left_open)
    }

    /// Restores the state of read disturb and closes units that another leveler left open. Returns false if the
    /// snapshot is of another drive.
    fn adopt_rest(&mut self, saved: Option<Box<Reclaiming>>, foreign_units: Option<Vec<Frontier>>) -> bool {
        let fits = self.adopt_reclaiming(saved);
        if fits {
            self.close_foreign_sets(foreign_units.unwrap_or_default());
        }
        fits
    }

    /// Restores the state of read disturb as far as this drive models it. Returns false if the snapshot is of another
    /// drive.
    fn adopt_reclaiming(&mut self, saved: Option<Box<Reclaiming>>) -> bool {
        if self.mapping.replicas().is_some_and(|replicas| !replicas.fits(&self.layout)) {
            return false;
        }
        let kept: Vec<Frontier> = saved.iter().flat_map(|saved| saved.kept()).copied().collect();
        let (pages, units) = (self.layout.pages(), self.layout.units());
        if kept.iter().any(|f| f.next > f.end || f.end.0 > pages || f.unit.0 >= units) {
            return false;
        }
        let makes_replicas = self.reclaiming.as_ref().is_some_and(|reclaiming| reclaiming.tails.pages() > 0);
        let made_replicas = saved.as_ref().is_some_and(|saved| saved.tails.pages() > 0);
        if !makes_replicas {
            self.drop_all_replicas();
        } else if self.mapping.replicas().is_none() {
            self.mapping.sides.replicated = Some(Box::new(Replicas::new(&self.layout)));
        }
        if !(makes_replicas && made_replicas) {
            // No job of this manager continues with the units that jobs of another manager left open. They cannot hold
            // flash pages of several pages.
            for frontier in &kept {
                self.units.meta[frontier.unit].valid -= frontier.room();
                self.free_pages.take(u64::from(frontier.room()));
                self.enter_closed(frontier.unit);
            }
        }
        let Self { reclaiming, layout, units, .. } = self;
        let Some(reclaiming) = reclaiming else { return true };
        let saved = saved.map(|mut saved| {
            if !(makes_replicas && made_replicas) {
                saved.kept.fill(Frontier::CLOSED);
            }
            *saved
        });
        reclaiming.adopt(saved, layout, units)
    }

    /// Shows a fresh back end the content of pages, for back ends that check it (the shadow model).
    pub fn show_content<F: Flash>(&self, flash: &mut F) {
        let tails = self.reclaiming.as_ref().map(|reclaiming| &reclaiming.tails);
        let next = |unit| tails.and_then(|tails| tails.next(unit));
        // A tail that has room left is not fully written.
        let closed = |unit| next(unit).unwrap_or(self.layout.pages_per_unit());
        let mut written: IdVec<UnitId, u32> = UnitId::all(self.layout.units()).map(closed).collect();
        self.free.iter().flat_map(|pool| pool.iter()).for_each(|unit| written[unit] = 0);
        let jobs = self.jobs.iter().flat_map(Waiting::iter);
        let targets = jobs.flat_map(|job| job.targets());
        let kept = self.reclaiming.iter().flat_map(|reclaiming| reclaiming.kept());
        for open in self
            .frontiers
            .iter()
            .filter(|f| f.unit != NO_UNIT)
            .chain(targets)
            .chain(kept)
            .chain(self.set_units())
        {
            written[open.unit] = open.next - self.layout.first_page(open.unit);
        }
        for (unit, &pages) in written.enumerate() {
            let first = self.layout.first_page(unit);
            let live = |ppn| self.mapping.is_live(ppn).then(|| self.mapping.lpn_of(ppn)).flatten();
            flash.install_run(first, pages, live);
        }
        self.show_reduced(flash);
        for (_, Replica { original, replica, .. }) in self.mapping.replicas().iter().flat_map(|r| r.iter()) {
            flash.install_replica(replica, original);
        }
        if let Some(reclaiming) = &self.reclaiming {
            (0..)
                .zip(reclaiming.sums.actual())
                .for_each(|(block, sum)| flash.install_disturbance(block, sum));
        }
    }

    /// Restores the state of units, and counts their garbage if collection depends on it.
    fn adopt_units(&mut self, units: Units) {
        self.units = units;
        self.candidates.garbage = self.setup.garbage_share.map(|_| Garbage::of(&self.layout, &self.units));
    }

    /// Continues with another setup, as another run.
    ///
    /// The setups may differ in when collection works. They may also differ in whether moved data lies apart, which a
    /// plain drive can learn. Returns false, and changes nothing, if they differ in more.
    #[must_use]
    pub fn continue_as(&mut self, setup: crate::Setup) -> bool {
        let becomes = setup.separate;
        let is_plain = self.reduction.is_none() && self.reclaiming.is_none() && !self.volatile.is_on();
        if !self.setup.learning(&setup, is_plain).can_continue_as(&setup) {
            return false;
        }
        let slots = (becomes.streams() * self.layout.domains()) as usize;
        self.frontiers.resize(slots, Frontier::CLOSED);
        if self.layout.is_packed() {
            let mut filling = self.filling.as_slice().to_vec();
            filling.resize(becomes.streams() as usize, 0);
            self.filling = filling.into();
        }
        self.needs_all |= setup.needs_all();
        if setup.timing != self.setup.timing {
            self.timing = Self::timing_of(&setup, &self.layout);
        }
        self.setup = setup;
        self.start_over(false);
        true
    }

    /// Puts the drive at the start of another run: resets all counters, and restarts the random numbers from the seed
    /// if `reseed`.
    pub fn start_over(&mut self, reseed: bool) {
        self.counting = false;
        self.paced_at = Pace::NEVER;
        if let Some(reduction) = &mut self.reduction {
            reduction.restart_clock();
        }
        if reseed {
            self.candidates.rng = Candidates::rng(self.setup.seed);
            if let Some(leveling) = &mut self.leveling {
                leveling.rng = Leveling::rng(self.setup.seed);
            }
            if let Some(reclaiming) = &mut self.reclaiming {
                reclaiming.reseed();
            }
        }
    }
}
