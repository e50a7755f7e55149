//! Modes of erases (DPES): the mode in which each unit was last erased, its effective wear, and counts by mode.
//!
//! Independent of the modes of programs (`Flash::set_mode`), which read disturb uses: a unit has one of each. An erase
//! ends the mode of programs and begins a mode of erases, which holds until the next erase. The wear of an erase follows
//! from the mode of erases alone; the time of a program is multiplied by the factors of both.

use crate::Cause;
use floatgate_base::{IdVec, UnitId};
use floatgate_nand::EraseModes;
use floatgate_nand::disturb;
use floatgate_nand::erase_modes::{MODES_MAX, WEAR_UNIT};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

const CAUSES: usize = Cause::ALL.len();

/// Operations by mode of erases.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScalingCounts {
    /// Blocks erased, by mode and cause.
    pub erases: [[u64; CAUSES]; MODES_MAX],
    /// Blocks erased once more, to a deeper mode, before their first program; by the mode reached and cause. They do
    /// not count as erases.
    pub deepened: [[u64; CAUSES]; MODES_MAX],
    /// Flash pages programmed, by mode of erases, mode of programs and cause.
    pub programs: [[[u64; CAUSES]; disturb::MODES_MAX]; MODES_MAX],
    /// Effective wear of all blocks, thousandths of a cycle.
    pub worn: u64,
}

impl ScalingCounts {
    /// Counts the blocks erased in a mode.
    #[must_use]
    pub fn erases_in(&self, mode: u8) -> u64 {
        self.erases[usize::from(mode)].iter().sum()
    }

    /// Counts the blocks erased once more, to any mode.
    #[must_use]
    pub fn deepened_total(&self) -> u64 {
        self.deepened.iter().flatten().sum()
    }

    /// Counts the flash pages programmed in a mode.
    #[must_use]
    pub fn programs_in(&self, mode: u8) -> u64 {
        self.programs[usize::from(mode)].iter().flatten().sum()
    }
}

/// Modes and effective wear of the units.
#[derive(Clone, Debug)]
pub struct Scaling {
    modes: EraseModes,
    /// The mode of units that were not erased yet.
    start: u8,
    of_unit: IdVec<UnitId, u8>,
    /// Effective wear, thousandths of a cycle.
    worn: IdVec<UnitId, u32>,
    counts: ScalingCounts,
    blocks_per_unit: u64,
}

impl Scaling {
    pub(crate) fn new(modes: EraseModes, start: u8, units: u32, blocks_per_unit: u64) -> Self {
        Self {
            modes,
            start,
            of_unit: IdVec::filled(start, units),
            worn: IdVec::filled(0, units),
            counts: ScalingCounts::default(),
            blocks_per_unit,
        }
    }

    /// Returns the mode in which a unit was last erased, or will be erased next if it was set since.
    #[must_use]
    #[inline]
    pub fn mode(&self, unit: UnitId) -> u8 {
        self.of_unit[unit]
    }

    /// Returns the effective wear of a unit since counting began, thousandths of a cycle.
    #[must_use]
    pub fn worn(&self, unit: UnitId) -> u32 {
        self.worn[unit]
    }

    /// Returns the effective wear of all units, thousandths of a cycle.
    #[must_use]
    pub fn worn_of_units(&self) -> &[u32] {
        self.worn.as_slice()
    }

    /// Returns the counts.
    #[must_use]
    pub fn counts(&self) -> &ScalingCounts {
        &self.counts
    }

    /// Returns the mean wear of the erases so far as a share of a cycle; that of the first mode before any.
    #[must_use]
    pub fn mean_wear(&self) -> f64 {
        let erases: u64 = self.counts.erases.iter().flatten().sum();
        match erases {
            0 => f64::from(self.modes.wear[usize::from(self.start)]) / f64::from(WEAR_UNIT),
            _ => self.counts.worn as f64 / f64::from(WEAR_UNIT) / erases as f64,
        }
    }

    pub(crate) fn set_mode(&mut self, unit: UnitId, mode: u8) {
        debug_assert!(mode < self.modes.count, "mode {mode} is in no row");
        self.of_unit[unit] = mode;
    }

    pub(crate) fn erase(&mut self, unit: UnitId, cause: Cause) {
        let mode = usize::from(self.of_unit[unit]);
        self.counts.erases[mode][cause as usize] += self.blocks_per_unit;
        self.wear(unit, self.modes.wear[mode]);
    }

    /// Erases a unit once more, to a deeper mode. Both erases together wear it as one in that mode.
    pub(crate) fn deepen(&mut self, unit: UnitId, mode: u8, cause: Cause) {
        let before = std::mem::replace(&mut self.of_unit[unit], mode);
        self.counts.deepened[usize::from(mode)][cause as usize] += self.blocks_per_unit;
        let [before, now] = [before, mode].map(|mode| self.modes.wear[usize::from(mode)]);
        self.wear(unit, now.saturating_sub(before));
    }

    fn wear(&mut self, unit: UnitId, wear: u32) {
        let worn = &mut self.worn[unit];
        *worn = worn.saturating_add(wear);
        self.counts.worn += u64::from(wear) * self.blocks_per_unit;
    }

    /// Adds erases of a unit without an operation, at a mean wear in thousandths of a cycle, as erases of collection.
    pub(crate) fn leap(&mut self, unit: UnitId, erases: u64, mean: f64) {
        let mode = usize::from(self.of_unit[unit]);
        self.counts.erases[mode][Cause::Gc as usize] += erases * self.blocks_per_unit;
        self.wear(unit, (erases as f64 * mean).round() as u32);
    }

    #[inline]
    pub(crate) fn count_programs(&mut self, unit: UnitId, program_mode: u8, cause: Cause, flash_pages: u64) {
        let mode = usize::from(self.of_unit[unit]);
        self.counts.programs[mode][usize::from(program_mode)][cause as usize] += flash_pages;
    }

    pub(crate) fn reset_counts(&mut self) {
        self.worn.fill(0);
        self.counts = ScalingCounts::default();
    }

    /// Checks the sum of effective wear against that of the units.
    ///
    /// # Errors
    /// Names both.
    pub fn audit(&self) -> Result<(), String> {
        let sum: u64 = self.worn.iter().map(|&worn| u64::from(worn)).sum();
        let (sum, counted) = (sum * self.blocks_per_unit, self.counts.worn);
        if sum == counted {
            return Ok(());
        }
        Err(format!("blocks are worn by {sum} thousandths of a cycle, {counted} were counted"))
    }
}

/// Modes and effective wear in a snapshot.
#[derive(Debug, Serialize, Deserialize)]
pub struct SavedScaling<'a> {
    of_unit: Cow<'a, [u8]>,
    worn: Cow<'a, [u32]>,
    counts: Cow<'a, ScalingCounts>,
}

impl Scaling {
    pub(crate) fn saved(&self) -> SavedScaling<'_> {
        // Modes and start are from the plan.
        let Self { of_unit, worn, counts, modes: _, start: _, blocks_per_unit: _ } = self;
        SavedScaling {
            of_unit: Cow::from(of_unit.as_slice()),
            worn: Cow::from(worn.as_slice()),
            counts: Cow::Borrowed(counts),
        }
    }

    /// Restores a snapshot of as many units; returns false for another number. Where the saved drive knew no modes, all
    /// units are in the first mode; a mode beyond the table becomes its last one.
    #[must_use]
    pub(crate) fn restore(&mut self, saved: Option<SavedScaling<'_>>) -> bool {
        let Some(SavedScaling { of_unit, worn, counts }) = saved else {
            self.of_unit.fill(self.start);
            self.reset_counts();
            return true;
        };
        let fits = of_unit.len() == self.of_unit.len() && worn.len() == self.worn.len();
        if fits {
            let last = self.modes.count - 1;
            self.of_unit = of_unit.iter().map(|&mode| mode.min(last)).collect::<Vec<_>>().into();
            self.worn = worn.into_owned().into();
            self.counts = counts.into_owned();
        }
        fits
    }
}
