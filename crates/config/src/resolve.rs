//! Defaults and checks: from layers of settings to a plan, and to the experiment with every key filled in.

use crate::layers::Layers;
use crate::presets::{PRESETS, Preset};
use crate::raw::Experiment;
use crate::tables::{choice, unknown};
use crate::{raw, resolve_lifetime::Lifetime};
use crate::{resolve_buffer, resolve_drive, resolve_ftl, resolve_host, resolve_lifetime, resolve_workload};
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
    let drive = resolve_drive::resolve(&layers, given_drive, timed)?;
    let pe_cycles = drive.endurance.pe_cycles();
    let ftl = resolve_ftl::resolve(&layers, given.ftl.unwrap_or_default(), drive.geometry, pe_cycles, timed)?;
    let page_bytes = u64::from(drive.geometry.page_bytes);
    let logical_bytes = u64::from(ftl.logical_pages) * page_bytes;
    let buffer = resolve_buffer::resolve(&layers, given_buffer, &drive.geometry, ftl.logical_pages, timed)?;
    let Lifetime { throttle, params, target_years, forecast, raw: raw_lifetime, raw_forecast } =
        resolve_lifetime::resolve(&layers, given.lifetime.unwrap_or_default(), drive.endurance)?;
    let throttled = throttle.parts().is_some();
    let workload = resolve_workload::resolve(
        &layers,
        given.workload.unwrap_or_default(),
        (timed, throttled),
        logical_bytes,
        seed,
        buffer.config.is_some(),
    )?;
    let host =
        resolve_host::resolve(&layers, given.host.unwrap_or_default(), workload.arrival, &workload.raw)?;
    if ftl.background.is_some() && matches!(workload.arrival, Some(Arrival::Closed { .. })) {
        let what = "in closed loop the drive is never idle";
        let expected = "expected \"none\", or workload.arrival = \"open\" or \"think\"";
        return Err(layers.error("ftl.background.policy", what, expected));
    }
    if ftl.separate.foresees() && (buffer.config.is_some() || !host.setup.is_plain()) {
        let by = if buffer.config.is_some() { "the DRAM buffer changes" } else { "the host's queues change" };
        let what = format!(
            "separator {} knows when data die by the order in which requests arrive, and {by} the order of writes",
            ftl.separate.info().name
        );
        let expected = "expected another separator, or neither drive.buffer nor the table [host]";
        return Err(layers.error("ftl.separate.policy", what, expected));
    }
    if throttled && !host.setup.is_plain() && matches!(workload.arrival, Some(Arrival::Closed { .. })) {
        let what =
            "in closed loop with queues of the host nobody can say which request waits for the throttle";
        let expected = "expected another workload.arrival, or no table [host]";
        return Err(layers.error("lifetime.throttle.policy", what, expected));
    }
    let plan = Plan {
        mode: workload.arrival.map_or(Mode::Functional, Mode::Timed),
        queues: host.setup,
        seed,
        geometry: drive.geometry,
        timing: drive.timing,
        commands: drive.commands,
        order: drive.order,
        urgent_as_writes: drive.urgent_as_writes,
        endurance: drive.endurance,
        energy: drive.energy,
        buffer: buffer.config,
        buffer_access_ns: buffer.access_ns,
        scope: ftl.scope,
        spare_factor: ftl.spare_factor,
        logical_pages: ftl.logical_pages,
        allocation: ftl.allocation,
        allocation_order: ftl.allocation_order,
        background: ftl.background,
        victim: ftl.victim,
        separate: ftl.separate,
        level: ftl.level,
        throttle,
        throttle_params: params,
        free_choice: ftl.free_choice,
        trigger_free_units: ftl.trigger_free_units,
        stop_free_units: ftl.stop_free_units,
        pace: ftl.pace,
        precondition: ftl.precondition,
        fill_pages: ftl.fill_pages,
        snapshot: ftl.snapshot,
        target_years,
        workload: workload.workload,
        warmup_requests: workload.warmup_requests,
        beyond: workload.beyond,
        devices: workload.devices,
        timeline: None,
        shifted: workload.shifted,
        wears_out: true,
        shadow: false,
        prefetching: true,
    };
    let mut raw_drive = drive.raw;
    raw_drive.preset.clone_from(&preset);
    raw_drive.buffer = Some(buffer.raw);
    let experiment = Experiment {
        seed: Some(seed),
        mode: Some(mode),
        drive: Some(raw_drive),
        ftl: Some(ftl.raw),
        host: host.raw,
        lifetime: Some(raw_lifetime),
        workload: Some(workload.raw),
    };
    let drive_name = preset.unwrap_or_else(|| CUSTOM.into());
    Ok(Resolved { plan, experiment, drive_name, forecast, raw_forecast })
}
