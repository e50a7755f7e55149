//! `ftl.dpes`: how deeply blocks are erased, and what follows for the drive.

use super::slot::{self, refuse};
use crate::layers::Layers;
use crate::settings;
use crate::slot_types;
use floatgate_base::Result;
use floatgate_base::policy::Facts;
use floatgate_ftl::Dpes;
use floatgate_ftl::dpes::Work;
use floatgate_sim::plan::DriveSettings;

/// Resolves the modes of erases and their policy, none for ordinary erases. The table is written out only where there
/// are modes. Array times and endurance of the drive are then those of the modes.
pub(crate) fn resolve(
    layers: &Layers,
    table: Option<settings::Dpes>,
    drive: &mut DriveSettings,
    timed: bool,
) -> Result<(Option<Dpes>, Option<settings::Dpes>)> {
    let (policy, raw) = slot::resolve(layers, table, &Facts::default())?;
    let dpes = Dpes::of(&policy, drive.endurance.pe_cycles(), work(drive))
        .map_err(|misfit| refuse::<slot_types::Dpes>(layers, misfit))?;
    let Some(dpes) = dpes else { return Ok((None, None)) };
    if dpes.needs_time() && !timed {
        let what = format!("{} measures idle time, and functional mode has none", dpes.info().name);
        let expected = "expected mode = \"timed\", or ftl.dpes.policy = \"fixed\"";
        return Err(layers.error("ftl.dpes.policy", what, expected));
    }
    drive.array.phases = drive.array.phases.scaled(&dpes.modes);
    drive.endurance = drive.endurance.wearing(dpes.planned_wear());
    Ok((Some(dpes), Some(raw)))
}

/// Returns nominal times of the drive's operations.
fn work(drive: &DriveSettings) -> Work {
    let timing = &drive.timing;
    let transfer_us = timing.transfer_us(drive.flash_page_bytes());
    Work {
        read_ns: (timing.mean_read_us() + timing.command_us + transfer_us) * 1e3,
        program_ns: timing.mean_program_us() * 1e3,
        send_ns: (timing.command_us + transfer_us) * 1e3,
        erase_ns: timing.erase_us * 1e3,
        dies: drive.geometry.dies(),
        pages_per_block: drive.flash_pages_per_block(),
    }
}
