//! The mechanism's side of collection by context (`by_context`): who wrote each page and when, which units were passed
//! over, and what came of it. Memory: 8 bytes per logical page, 4 per unit.

use super::by_context::{ByContext, ContextTable};
use crate::owners::Mapping;
use floatgate_base::memory::table;
use floatgate_base::{DomainId, IdVec, Lpn, UnitId};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// Part of the pages that fill a unit of each domain which the host writes before a domain that can wait is reviewed
/// again.
const REVIEWS_PER_UNIT: u32 = 8;

/// Whether collection can wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// A write or a job waits for the unit: any victim is collected.
    Space,
    /// Units are freed ahead of need: victims may be passed over.
    Ahead,
}

/// What collection by context did since counting began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimingCounters {
    /// Pages that the host wrote, and those of them with a context.
    pub pages: u64,
    /// Pages with a context.
    pub pages_with_context: u64,
    /// Pages that were overwritten or trimmed while their context was confident, and those of them on time.
    pub predicted_deaths: u64,
    /// Deaths on time.
    pub deaths_in_time: u64,
    /// Pages that were copied although they should have been dead.
    pub outlived_pages: u64,
    /// Units passed over, each once until it is collected.
    pub passed_over: u64,
    /// Times when all victims that were reviewed could wait, and none was collected.
    pub put_off: u64,
    /// Units collected after they had been passed over, and those of them without a valid page.
    pub collected_later: u64,
    /// Units without a valid page then.
    pub dead_later: u64,
    /// Their pages that were valid when they were passed over and dead when they were collected.
    pub saved_pages: u64,
    /// Their pages that were still valid.
    pub copied_later: u64,
    /// Units collected instead of others that were passed over, and their valid pages beyond those of the others.
    pub instead: u64,
    /// Valid pages beyond.
    pub instead_pages: u64,
    /// Units that could have waited, collected because space was needed, and their dying pages.
    pub needed: u64,
    /// Dying pages of these.
    pub needed_pages: u64,
    /// Bursts, and those whose pages were predicted.
    pub bursts: u64,
    /// Predicted bursts.
    pub predicted_bursts: u64,
    /// Of the predicted ones, those that wrote from half to twice as many pages.
    pub bursts_as_predicted: u64,
    /// Units freed in idle time before predicted bursts, and those of them that the burst used.
    pub prepared_units: u64,
    /// Prepared units that the burst used.
    pub used_units: u64,
}

/// Who wrote a page, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Writer {
    /// 0 for an unknown one.
    context: u32,
    /// Host page writes, modulo 2^32.
    at: u32,
}

/// The preparation of a burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Preparation {
    /// Whether the last burst is over and the next has not begun.
    resting: bool,
    /// Pages that were predicted for the next burst, or for the present one.
    pages: Option<u64>,
    /// Free units when it was predicted.
    free_before: u64,
    /// Units that were freed before it began.
    units: u64,
}

/// Collection by context at work on a drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Timing {
    table: ContextTable,
    writers: IdVec<Lpn, Writer>,
    /// Host page writes so far, modulo 2^32.
    clock: u32,
    /// One more than the valid pages of a closed unit when it was first passed over; 0 for others.
    passed: IdVec<UnitId, u32>,
    /// Host page writes at which a domain is reviewed again, by domain.
    review_at: IdVec<DomainId, Option<u32>>,
    preparation: Preparation,
    pub counters: TimingCounters,
}

impl Timing {
    /// Creates the state of an empty drive.
    pub fn new(settings: ByContext, layout: &Layout, logical_pages: u32) -> Self {
        Self {
            table: ContextTable::new(settings),
            writers: table(logical_pages as usize, Writer::default()).into(),
            clock: 0,
            passed: IdVec::filled(0, layout.units()),
            review_at: IdVec::filled(None, layout.domains()),
            preparation: Preparation::default(),
            counters: TimingCounters::default(),
        }
    }

    /// Returns the settings.
    pub fn settings(&self) -> &ByContext {
        self.table.settings()
    }

    /// Checks whether a restored state is of a drive like that of `other`.
    pub fn fits(&self, other: &Self) -> bool {
        let Self { table, writers, passed, review_at, clock: _, preparation: _, counters: _ } = self;
        table.is_sound()
            && writers.len() == other.writers.len()
            && passed.len() == other.passed.len()
            && review_at.len() == other.review_at.len()
    }

    /// Restarts the counters.
    pub fn reset_counts(&mut self) {
        self.counters = TimingCounters::default();
        self.passed.as_mut_slice().fill(0);
    }

    /// Returns the entries of the table in use, and how often one replaced another.
    pub fn entries(&self) -> (u64, u64) {
        self.table.entries()
    }

    /// Notes a page that the host writes.
    #[inline]
    pub fn written(&mut self, lpn: Lpn, context: u32) {
        self.clock = self.clock.wrapping_add(1);
        self.died(lpn);
        self.counters.pages += 1;
        self.counters.pages_with_context += u64::from(context != 0);
        self.table.writes(context);
        self.writers[lpn] = Writer { context, at: self.clock };
    }

    /// Notes the death of the data of a page.
    #[inline]
    pub fn died(&mut self, lpn: Lpn) {
        let Writer { context, at } = std::mem::take(&mut self.writers[lpn]);
        if context != 0
            && let Some(in_time) = self.table.dies(context, self.clock.wrapping_sub(at))
        {
            self.counters.predicted_deaths += 1;
            self.counters.deaths_in_time += u64::from(in_time);
        }
    }

    /// Checks whether the next page that the host writes begins a burst.
    #[inline]
    pub fn begins_burst(&self) -> bool {
        self.preparation.resting
    }

    /// Notes the beginning of a burst, with this many free units on the drive.
    #[cold]
    pub fn burst_begins(&mut self, free_units: u64) {
        let Preparation { resting, pages, free_before, units } = &mut self.preparation;
        *resting = false;
        *units = if pages.is_some() { free_units.saturating_sub(*free_before) } else { 0 };
        self.counters.prepared_units += *units;
    }

    /// Notes the end of a burst, with this many free units on the drive.
    pub fn burst_ends(&mut self, free_units: u64, pages_per_unit: u32) {
        let pages = self.table.burst_ends();
        if pages == 0 {
            return;
        }
        let Preparation { pages: predicted, units, .. } = self.preparation;
        let counters = &mut self.counters;
        counters.bursts += 1;
        counters.predicted_bursts += u64::from(predicted.is_some());
        counters.bursts_as_predicted += u64::from(predicted.is_some_and(|predicted| {
            pages <= predicted.saturating_mul(2) && predicted <= pages.saturating_mul(2)
        }));
        counters.used_units += units.min(pages.div_ceil(pages_per_unit.into()));
        self.preparation =
            Preparation { resting: true, pages: self.table.next_burst(), free_before: free_units, units: 0 };
    }

    /// Returns the units of a domain that the next burst will need, if it is predicted and has not begun.
    pub fn units_to_prepare(&self, layout: &Layout) -> Option<u32> {
        let Preparation { resting, pages, .. } = self.preparation;
        let pages = pages.filter(|_| resting)?;
        let row = u64::from(layout.pages_per_unit()) * u64::from(layout.domains());
        let units = u32::try_from(pages.div_ceil(row)).unwrap_or(u32::MAX);
        Some(units.min(self.settings().prepared_units_max))
    }

    /// Checks whether all victims of a domain could wait a short time ago.
    pub fn waits(&self, domain: DomainId) -> bool {
        self.review_at[domain].is_some_and(|at| at.wrapping_sub(self.clock).cast_signed() > 0)
    }

    /// Puts off collection in a domain.
    pub fn put_off(&mut self, domain: DomainId, layout: &Layout) {
        self.counters.put_off += 1;
        let row = layout.pages_per_unit().saturating_mul(layout.domains());
        self.review_at[domain] = Some(self.clock.wrapping_add((row / REVIEWS_PER_UNIT).max(1)));
    }

    /// Counts the dying pages of a unit.
    fn dying(&self, unit: UnitId, layout: &Layout, mapping: &Mapping) -> u32 {
        let first = layout.first_page(unit);
        let mut dying = 0;
        mapping.for_each(first..first + layout.pages_per_unit(), |_, owner| {
            let Some(lpn) = owner.lpn() else { return };
            let Writer { context, at } = self.writers[lpn];
            dying += u32::from(self.table.is_dying(context, self.clock.wrapping_sub(at)));
        });
        dying
    }

    /// Returns the dying pages of a victim with `valid` valid pages if it can wait, and notes that it was passed over.
    pub fn waiting(&mut self, unit: UnitId, valid: u32, layout: &Layout, mapping: &Mapping) -> Option<u32> {
        if valid == 0 {
            return None;
        }
        let dying = self.dying(unit, layout, mapping);
        if !self.table.passes_over(dying, valid) {
            return None;
        }
        if self.passed[unit] == 0 {
            self.passed[unit] = valid + 1;
            self.counters.passed_over += 1;
        }
        Some(dying)
    }

    /// Notes a victim with `valid` valid pages, selected instead of one with `less`.
    pub fn taken_instead(&mut self, valid: u32, less: u32) {
        self.counters.instead += 1;
        self.counters.instead_pages += u64::from(valid.saturating_sub(less));
    }

    /// Notes a unit that is collected with `valid` valid pages.
    pub fn collected(&mut self, unit: UnitId, valid: u32, need: Need, layout: &Layout, mapping: &Mapping) {
        let before = std::mem::take(&mut self.passed[unit]);
        if before > 0 {
            self.counters.collected_later += 1;
            self.counters.dead_later += u64::from(valid == 0);
            self.counters.saved_pages += u64::from((before - 1).saturating_sub(valid));
            self.counters.copied_later += u64::from(valid);
        }
        if need == Need::Space {
            let dying = self.dying(unit, layout, mapping);
            if self.table.passes_over(dying, valid) {
                self.counters.needed += 1;
                self.counters.needed_pages += u64::from(dying);
            }
        }
        let first = layout.first_page(unit);
        let Self { table, writers, clock, counters, .. } = self;
        mapping.for_each(first..first + layout.pages_per_unit(), |_, owner| {
            let Some(lpn) = owner.lpn() else { return };
            let Writer { context, at } = writers[lpn];
            counters.outlived_pages += u64::from(table.lives_on(context, clock.wrapping_sub(at)));
        });
    }

    /// Notes a unit that a job empties.
    pub fn emptied(&mut self, unit: UnitId) {
        self.passed[unit] = 0;
    }

    /// Verifies that only closed units are passed over.
    ///
    /// # Errors
    /// Names the unit.
    pub fn audit(&self, is_closed: impl Fn(UnitId) -> bool) -> Result<(), String> {
        match self.passed.enumerate().find(|&(unit, passed)| *passed > 0 && !is_closed(unit)) {
            Some((unit, _)) => Err(format!("unit {unit} was passed over, and is no victim")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
#[path = "timing_tests.rs"]
mod tests;
