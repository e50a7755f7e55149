//! Erases units in the modes that the policy decides on.

use super::scaler::{Done, Moment, Scaler};
use super::{Dpes, ScalerState};
use crate::ftl::Ftl;
use crate::units::{Frontier, NO_UNIT};
use floatgate_base::UnitId;
use floatgate_flash::{Cause, Flash};

/// Returns the drive at this moment.
fn moment<F: Flash>(dpes: &Dpes, flash: &F) -> Moment {
    let ((now_ns, waiting), counters) = (flash.load(), flash.counters());
    let done = Done {
        reads: counters.reads.iter().sum(),
        programs: counters.flash_programs_total(),
        erases: counters.erases_total()
            + flash.scaling().map_or(0, |scaling| scaling.counts().deepened_total()),
    };
    Moment { now_ns, waiting, done, modes: dpes.modes, work: dpes.work() }
}

impl Ftl {
    /// Takes over the state of a restored drive.
    pub(crate) fn adopt_scaler(&mut self, saved: Option<ScalerState>) {
        if let Some(scaler) = &mut self.scaler {
            scaler.adopt(saved);
        }
    }

    /// Erases a unit, in the mode that the policy decides on if erases have modes.
    pub(crate) fn erase<F: Flash>(&mut self, flash: &mut F, unit: UnitId, cause: Cause) {
        if let (Some(dpes), Some(scaler)) = (&self.setup.dpes, &mut self.scaler) {
            let mode = scaler.erase_mode(&moment(dpes, flash));
            let worn = flash.scaling().map_or(0, |scaling| scaling.worn(unit));
            flash.set_erase_mode(unit, dpes.modes.with_margin(mode, worn));
        }
        flash.erase(unit, cause);
    }

    /// Erases the unit that the host just opened once more if the policy wants it deeper and no page is programmed yet.
    pub(crate) fn deepen_opened<F: Flash>(&mut self, flash: &mut F, slot: usize) {
        let (Some(dpes), Some(scaler)) = (&self.setup.dpes, &mut self.scaler) else { return };
        let Frontier { unit, next, .. } = self.frontiers[slot];
        let Some(mode) = flash.scaling().filter(|_| unit != NO_UNIT).map(|scaling| scaling.mode(unit)) else {
            return;
        };
        if mode == 0 || next != self.layout.first_page(unit) {
            return;
        }
        let wanted = scaler.open_mode(&moment(dpes, flash), mode);
        if wanted < mode {
            flash.deepen(unit, wanted, Cause::Gc);
        }
    }
}
