//! Whether the drive's books agree with one another.

use crate::ftl::{Ftl, SIDE_TABLE};
use crate::units::{NO_UNIT, NOT_INDEXED};
use floatgate_flash::Flash;

impl Ftl {
    /// Checks map against reverse map, live pages, valid counts, index, free pools and erase sums. Walks the whole
    /// drive.
    ///
    /// # Errors
    /// Says which invariant does not hold, and where.
    pub fn audit<F: Flash>(&self, flash: &F) -> Result<(), String> {
        if let Some(violation) = flash.violation() {
            return Err(violation.to_string());
        }
        self.audit_map()?;
        self.audit_units()?;
        let erased: u64 = flash.erase_counts().iter().map(|&n| u64::from(n)).sum();
        let counted = flash.counters().erases_total();
        if erased * u64::from(self.layout.blocks_per_unit()) != counted {
            return Err(format!("blocks were erased {erased} times, {counted} erases were counted"));
        }
        self.audit_candidates()?;
        self.audit_open()?;
        match &self.leveling {
            Some(leveling) => leveling.audit(&self.layout, &self.units, flash.erase_counts()),
            None => Ok(()),
        }
    }

    /// What is counted of open units is what they are.
    fn audit_open(&self) -> Result<(), String> {
        let held = self.frontiers.iter().filter(|frontier| frontier.unit != NO_UNIT);
        let held = held.fold((0, 0), |(units, pages), f| (units + 1, pages + u64::from(f.room())));
        let counted = self.open_pages.held(self.now);
        if held != counted {
            return Err(format!("open units and their free pages: {held:?}, counted {counted:?}"));
        }
        Ok(())
    }

    /// The victim indexes hold just the units that say so.
    fn audit_candidates(&self) -> Result<(), String> {
        let mut held = vec![false; self.units.meta.len()];
        self.index.audit(&self.layout, &self.units, &mut held)?;
        if let Some(last) = &self.last {
            last.audit(&self.layout, &self.units, &mut held)?;
        }
        let closed = self.units.meta.iter().map(|meta| meta.pos != NOT_INDEXED);
        match held.iter().zip(closed).position(|(&held, closed)| held != closed) {
            Some(unit) => {
                Err(format!("unit {unit} and the victim index disagree on whether it is a candidate"))
            }
            None => Ok(()),
        }
    }

    fn audit_map(&self) -> Result<(), String> {
        let mut mapped = 0;
        for (lpn, &word) in self.map.iter().enumerate() {
            if word & SIDE_TABLE == 0 {
                mapped += 1;
                if !self.live.get(word) || self.reverse[word as usize] as usize != lpn {
                    let back = self.reverse[word as usize];
                    return Err(format!(
                        "logical page {lpn} maps to physical page {word}, which belongs to {back}"
                    ));
                }
            }
        }
        let live = (0..self.layout.pages()).filter(|&ppn| self.live.get(ppn)).count();
        if live != mapped {
            return Err(format!("{mapped} logical pages are mapped, {live} physical pages are live"));
        }
        Ok(())
    }

    fn audit_units(&self) -> Result<(), String> {
        let mut unwritten = vec![0; self.layout.units() as usize];
        let mut states = vec![0u32; self.layout.units() as usize];
        for frontier in self.frontiers.iter().filter(|f| f.unit != NO_UNIT) {
            unwritten[frontier.unit as usize] = frontier.room();
            states[frontier.unit as usize] += 1;
        }
        for unit in self.free.iter().flat_map(|pool| pool.iter()) {
            states[unit as usize] += 1;
        }
        for job in self.jobs.iter().flatten() {
            states[job.source() as usize] += 1;
            if let Some(unit) = job.cold() {
                states[unit as usize] += 1;
            }
            if let Some(target) = job.target() {
                unwritten[target.unit as usize] = target.room();
                states[target.unit as usize] += 1;
            }
        }
        let mut worthwhile = vec![0; self.layout.domains() as usize];
        for unit in 0..self.layout.units() {
            let u = unit as usize;
            let meta = self.units.meta[u];
            let first = self.layout.first_page(unit);
            let live = (first..first + self.layout.pages_per_unit()).filter(|&ppn| self.live.get(ppn)).count()
                as u32;
            if meta.valid != live + unwritten[u] {
                return Err(format!(
                    "unit {unit} counts {} valid pages, {live} are live and {} unwritten",
                    meta.valid, unwritten[u]
                ));
            }
            let other = self.last.as_ref().is_none_or(|last| !last.holds(unit));
            if other && meta.pos != NOT_INDEXED && meta.valid < self.layout.pages_per_unit() {
                worthwhile[self.layout.domain_of(unit) as usize] += 1;
            }
            if states[u] + u32::from(meta.pos != NOT_INDEXED) != 1 {
                return Err(format!("unit {unit} is not just one of free, open, closed and being emptied"));
            }
        }
        if worthwhile != self.units.worthwhile {
            let counted = &self.units.worthwhile;
            return Err(format!("units worth collecting by domain: {worthwhile:?}, counted {counted:?}"));
        }
        Ok(())
    }
}
