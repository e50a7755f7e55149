//! Checks that the drive's data structures agree with one another.

use crate::collect::Apart;
use crate::ftl::Ftl;
use crate::separate::WaitingPlace;
use crate::units::{NO_UNIT, NOT_INDEXED};
use floatgate_base::{IdVec, UnitId};
use floatgate_flash::Flash;

impl Ftl {
    /// Checks the map against reverse map, live pages, valid counts, index, free pools and erase sums. Walks the whole
    /// drive.
    ///
    /// # Errors
    /// Names the violated invariant and its location.
    pub fn audit<F: Flash>(&self, flash: &F) -> Result<(), String> {
        if let Some(violation) = flash.violation() {
            return Err(violation.to_string());
        }
        self.mapping.audit(flash)?;
        self.audit_units()?;
        self.audit_reduction()?;
        self.free.iter().try_for_each(|pool| pool.audit(flash.erase_counts()))?;
        let erased: u64 = flash.erase_counts().iter().map(|&n| u64::from(n)).sum();
        let counted = flash.counters().erases_total();
        if erased * u64::from(self.layout.blocks_per_unit()) != counted {
            return Err(format!("blocks were erased {erased} times, {counted} erases were counted"));
        }
        flash.scaling().map_or(Ok(()), |scaling| scaling.audit())?;
        self.candidates.audit(&self.layout, &self.units)?;
        self.audit_queues()?;
        self.audit_open()?;
        if let Some(timing) = &self.timing {
            timing.audit(|unit| self.units.meta[unit].pos != NOT_INDEXED)?;
        }
        match &self.leveling {
            Some(leveling) => leveling.audit(&self.layout, &self.units, flash.erase_counts()),
            None => Ok(()),
        }
    }

    /// Verifies that closed units are in exactly the queues that the separator assigns them to.
    fn audit_queues(&self) -> Result<(), String> {
        let (Some(separation), Some(Apart::Queues(queues))) = (&self.separation, &self.candidates.apart)
        else {
            return Ok(());
        };
        for (unit, _) in self.units.meta.enumerate().filter(|(_, meta)| meta.pos != NOT_INDEXED) {
            let due = separation.place(unit);
            let place = queues.stream_of(unit).map_or(WaitingPlace::Index, WaitingPlace::Queue);
            if place != due {
                return Err(format!("unit {unit} waits in {place:?}, and its separator has {due:?}"));
            }
        }
        Ok(())
    }

    /// Checks the counters of open units against the units themselves.
    fn audit_open(&self) -> Result<(), String> {
        let held = self.frontiers.iter().filter(|frontier| frontier.unit != NO_UNIT);
        let held = held.fold((0, 0), |(units, pages), f| (units + 1, pages + u64::from(f.room())));
        let counted = self.open_pages.held(self.now);
        if held != counted {
            return Err(format!("open units and their free pages: {held:?}, counted {counted:?}"));
        }
        Ok(())
    }

    fn audit_units(&self) -> Result<(), String> {
        let mut unwritten = IdVec::filled(0, self.layout.units());
        let mut states = IdVec::filled(0u32, self.layout.units());
        for frontier in self.frontiers.iter().filter(|f| f.unit != NO_UNIT) {
            unwritten[frontier.unit] = frontier.room();
            states[frontier.unit] += 1;
        }
        for frontier in self.reclaiming.iter().flat_map(|reclaiming| reclaiming.kept()) {
            unwritten[frontier.unit] = frontier.room();
            states[frontier.unit] += 1;
        }
        for frontier in self.set_units() {
            unwritten[frontier.unit] = frontier.room();
            states[frontier.unit] += 1;
        }
        for unit in self.free.iter().flat_map(|pool| pool.iter()) {
            states[unit] += 1;
        }
        for job in self.jobs.iter().flat_map(|waiting| waiting.iter()) {
            if job.begun {
                job.held().for_each(|unit| states[unit] += 1);
            }
            for target in job.targets() {
                unwritten[target.unit] = target.room();
                states[target.unit] += 1;
            }
        }
        for unit in UnitId::all(self.layout.units()) {
            let meta = self.units.meta[unit];
            let first = self.layout.first_page(unit);
            let live = self.mapping.count_live(first..first + self.layout.pages_per_unit());
            if meta.valid != live + unwritten[unit] {
                return Err(format!(
                    "unit {unit} counts {} valid pages, {live} are live and {} unwritten",
                    meta.valid, unwritten[unit]
                ));
            }
            if states[unit] + u32::from(meta.pos != NOT_INDEXED) != 1 {
                return Err(format!("unit {unit} is not just one of free, open, closed and being emptied"));
            }
        }
        Ok(())
    }
}
