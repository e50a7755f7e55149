//! Defaults and checks: from layers of settings to a plan, and to the experiment with every key filled in.

use crate::layers::Layers;
use crate::presets::{PRESETS, Preset};
use crate::raw::Experiment;
use crate::tables::{choice, unknown};
use crate::{raw, resolve_lifetime::Lifetime, resolve_rated::Rated};
use crate::{resolve_buffer, resolve_drive, resolve_ftl, resolve_host};
use crate::{resolve_lifetime, resolve_mapping, resolve_rated, resolve_workload};
use floatgate_base::Result;
use floatgate_lifetime::life::Forecast;
use floatgate_sim::{Arrival, Mode, Plan};

/// A run, and the experiment that says the same with every default written out.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// What the simulation takes.
    pub plan: Plan,
    /// What a user would write to get just this run. Reading it again resolves to the same.
    pub experiment: Experiment,
    /// Name of the drive: its preset, or "custom".
    pub drive_name: String,
    /// What the maker promises, where it is said; no part of the plan, for nothing follows from it.
    pub rated: Option<Rated>,
    /// How `floatgate lifetime` goes about it.
    pub forecast: Forecast,
    /// What a user would write to get just that; no part of [`Resolved::experiment`], since runs pass over it.
    pub raw_forecast: raw::Forecast,
}

/// Name of a drive without a preset.
pub const CUSTOM: &str = "custom";

/// Modes with what they are.
pub(crate) const MODES: &[(&str, &str)] =
    &[("functional", "operations are counted"), ("timed", "operations take time and wait for one another")];
const TIMED: usize = 1;

/// Fills in defaults and checks every value.
///
/// # Errors
/// Input errors at the place of the key that is at fault.
pub fn resolve(mut layers: Layers) -> Result<Resolved> {
    let preset = layers.text("drive.preset").map(str::to_string);
    if let Some(name) = &preset {
        let preset = Preset::find(name)
            .ok_or_else(|| unknown(&layers, "drive.preset", "drive", name, PRESETS.iter().map(|p| p.name)))?;
        layers.add_preset(preset.toml);
    }
    let given = layers.experiment();
    let seed = given.seed.unwrap_or(1);
    let mode = given.mode.unwrap_or_else(|| MODES[0].0.into());
    let timed = choice(&layers, "mode", "mode", &mode, MODES)? == TIMED;
    let mut given_drive = given.drive.unwrap_or_default();
    let given_buffer = given_drive.buffer.take().unwrap_or_default();
    let (rated, raw_rated) = resolve_rated::resolve(&layers, given_drive.rated.take())?;
    let given_ftl = given.ftl.unwrap_or_default();
    let shape = resolve_drive::geometry(&layers, &given_drive)?;
    let incremental = resolve_ftl::is_incremental(&given_ftl, timed, &shape);
    let (mut drive, mut raw_drive) =
        resolve_drive::resolve(&layers, given_drive, (timed, incremental), seed)?;
    resolve_mapping::resolve(&layers, &mut drive, given_ftl.mapping_bytes)?;
    let geometry = drive.geometry;
    let given_workload = given.workload.unwrap_or_default();
    let modes = (timed, resolve_workload::is_trace(&layers, &given_workload));
    let (ftl, raw_ftl) = resolve_ftl::resolve(&layers, given_ftl, &drive, modes, seed)?;
    let logical_pages = ftl.setup.logical_pages;
    let (buffer, raw_buffer) =
        resolve_buffer::resolve(&layers, given_buffer, &geometry, logical_pages, timed)?;
    let Lifetime { throttle, forecast, raw: raw_lifetime, raw_forecast } =
        resolve_lifetime::resolve(&layers, given.lifetime.unwrap_or_default(), drive.endurance)?;
    let workload = resolve_workload::resolve(
        &layers,
        given_workload,
        (timed, throttle.policy.parts().is_some()),
        u64::from(logical_pages) * u64::from(geometry.page_bytes),
        seed,
        buffer.is_some() || !drive.plp && drive.subpages > 1,
    )?;
    let host =
        resolve_host::resolve(&layers, given.host.unwrap_or_default(), workload.arrival, &workload.raw)?;
    let plan = Plan {
        seed,
        mode: workload.arrival.map_or(Mode::Functional, Mode::Timed),
        drive,
        buffer,
        ftl,
        throttle,
        queues: host.setup,
        workload: workload.settings,
        wears_out: true,
        timeline: None,
        shadow: false,
        prefetching: true,
    };
    check_together(&layers, &plan)?;
    raw_drive.preset.clone_from(&preset);
    raw_drive.buffer = Some(raw_buffer);
    raw_drive.rated = raw_rated;
    let experiment = Experiment {
        seed: Some(seed),
        mode: Some(mode),
        drive: Some(raw_drive),
        ftl: Some(raw_ftl),
        host: host.raw,
        lifetime: Some(raw_lifetime),
        workload: Some(workload.raw),
    };
    let drive_name = preset.unwrap_or_else(|| CUSTOM.into());
    Ok(Resolved { plan, experiment, drive_name, rated, forecast, raw_forecast })
}

/// Refuses settings of several tables that do not go together.
fn check_together(layers: &Layers, plan: &Plan) -> Result<()> {
    let closed = matches!(plan.mode, Mode::Timed(Arrival::Closed { .. }));
    if plan.ftl.background.is_some() && closed {
        let what = "in closed loop the drive is never idle";
        let expected = "expected \"none\", or workload.arrival = \"open\" or \"think\"";
        return Err(layers.error("ftl.background.policy", what, expected));
    }
    let (buffered, queued) = (plan.buffer.is_some(), !plan.queues.is_plain());
    let separate = plan.ftl.setup.separate;
    if separate.foresees() && (buffered || queued) {
        let by = if buffered { "the DRAM buffer changes" } else { "the host's queues change" };
        let what = format!(
            "separator {} knows when data die by the order in which requests arrive, and {by} the order of writes",
            separate.info().name
        );
        let expected = "expected another separator, or neither drive.buffer nor the table [host]";
        return Err(layers.error("ftl.separate.policy", what, expected));
    }
    if plan.throttle.policy.parts().is_some() && queued && closed {
        let what =
            "in closed loop with queues of the host nobody can say which request waits for the throttle";
        let expected = "expected another workload.arrival, or no table [host]";
        return Err(layers.error("lifetime.throttle.policy", what, expected));
    }
    Ok(())
}
