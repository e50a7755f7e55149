//! What modes of erases did in a run: operations by mode, effective wear, and the time that they added.

use crate::plan::Plan;
use floatgate_flash::{Cause, Scaling, ScalingCounts};
use floatgate_nand::EraseModes;
use floatgate_nand::erase_modes::WEAR_UNIT;

/// Modes of erases in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct ScaledFigures {
    /// Operations by mode.
    pub counts: ScalingCounts,
    /// Mean wear of an erase, as a share of a cycle.
    pub mean_wear: f64,
    /// Effective wear of blocks, cycles: of the mean block, of the most worn one, and of the first that the reserve
    /// cannot replace, if the most worn blocks fail first.
    pub worn: [f64; 3],
}

/// Time that the modes added to the nominal time of the flash, seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AddedTime {
    /// Programs that took longer than in the ordinary mode.
    pub programs_s: f64,
    /// Erases that took longer than in the ordinary mode.
    pub erases_s: f64,
    /// Erases of blocks that were erased already.
    pub deepened_s: f64,
}

impl AddedTime {
    /// Returns the sum.
    #[must_use]
    pub fn total_s(&self) -> f64 {
        self.programs_s + self.erases_s + self.deepened_s
    }
}

impl ScaledFigures {
    /// Collects them; `beyond_reserve` is the wear of the first block that the reserve cannot replace, thousandths of a
    /// cycle.
    pub(crate) fn of(scaling: &Scaling, beyond_reserve: u32) -> Self {
        let worn = scaling.worn_of_units();
        let mean = worn.iter().map(|&worn| f64::from(worn)).sum::<f64>() / worn.len().max(1) as f64;
        let most = worn.iter().copied().max().unwrap_or(0);
        let cycles = [mean, f64::from(most), f64::from(beyond_reserve)];
        Self {
            counts: scaling.counts().clone(),
            mean_wear: scaling.mean_wear(),
            worn: cycles.map(|thousandths| thousandths / f64::from(WEAR_UNIT)),
        }
    }

    /// Returns the time that the modes added for a cause, by nominal times.
    #[must_use]
    pub fn added(&self, plan: &Plan, modes: &EraseModes, cause: Cause) -> AddedTime {
        let (timing, i) = (&plan.drive.timing, cause as usize);
        let slower = |mode: usize| plan.drive.disturb.map_or(1.0, |disturb| disturb.program_factors[mode]);
        let mut added = AddedTime::default();
        for mode in 0..usize::from(modes.count) {
            let by_program_mode = self.counts.programs[mode].iter().enumerate();
            let programs: f64 =
                by_program_mode.map(|(mode, programs)| programs[i] as f64 * slower(mode)).sum();
            let erase_us = timing.erase_us * modes.erase_factors[mode];
            added.programs_s +=
                programs * timing.mean_program_us() * (modes.program_factors[mode] - 1.0) / 1e6;
            added.erases_s += self.counts.erases[mode][i] as f64 * (erase_us - timing.erase_us) / 1e6;
            added.deepened_s += self.counts.deepened[mode][i] as f64 * (erase_us + timing.command_us) / 1e6;
        }
        added
    }
}
