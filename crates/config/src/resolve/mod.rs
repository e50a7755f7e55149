//! Defaults and checks: from layers of settings to a plan, and to the experiment with every key filled in.

mod arrival;
mod buffer;
mod content;
mod dispatch;
mod dpes;
mod drive;
mod ftl;
mod host;
mod level;
mod lifetime;
mod mapping;
mod metadata;
mod policy_code;
mod precondition;
mod rated;
mod reclaim;
mod reduce;
mod slot;
mod stop;
mod timed;
mod timing;
mod visible;
pub(crate) mod workload;

use crate::checks;
use crate::layers::Layers;
use crate::policy_sets;
use crate::presets::{PRESETS, Preset};
use crate::settings;
use crate::settings::Experiment;
use crate::tables::unknown;
use floatgate_base::Result;
use floatgate_ftl::Setup;
use floatgate_lifetime::life::{Forecast, METHODS};
use floatgate_sim::plan::{DriveSettings, Precondition, Workload};
use floatgate_sim::{Arrival, Mode, Plan};
use lifetime::Lifetime;
pub use rated::Rated;

/// A run, and the experiment with every default written out.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// What the simulation takes.
    pub plan: Plan,
    /// The experiment that gives exactly this run. Reading it again resolves to the same.
    pub experiment: Experiment,
    /// Name of the drive: its preset, or "custom".
    pub drive_name: String,
    /// The rating by the maker, if known; no part of the plan, since nothing follows from it.
    pub rated: Option<Rated>,
    /// How `floatgate lifetime` forecasts.
    pub forecast: Forecast,
    /// The table that gives exactly this forecast; no part of [`Resolved::experiment`], since runs ignore
    /// it.
    pub raw_forecast: settings::Forecast,
}

/// Name of a drive without a preset.
pub const CUSTOM: &str = "custom";

/// Resolves an experiment: fills in defaults and checks every value.
///
/// # Errors
/// Input errors at the place of the key that is at fault.
pub fn resolve(mut layers: Layers) -> Result<Resolved> {
    let preset = add_preset(&mut layers)?;
    let written = layers.experiment();
    check(&layers, &written)?;
    let (seed, mode_name) = (written.seed(), written.mode());
    let timed = mode_name == TIMED;
    let mut drive_table = written.drive.unwrap_or_default();
    let buffer_table = drive_table.buffer.take();
    let (rated, raw_rated) = rated::resolve(&layers, drive_table.rated.take(), preset.as_deref())?;
    let (mut ftl_table, shape) = visible::sized(&layers, written.ftl, &drive_table)?;
    let mapping_bytes = ftl_table.mapping_bytes;
    let incremental = ftl::is_incremental(&ftl_table, timed, &shape);
    let (mut drive, mut raw_drive) =
        drive::resolve(&layers, drive_table, mapping_bytes, (timed, incremental), seed)?;
    mapping::resolve(&layers, &mut drive, mapping_bytes)?;
    let geometry = drive.geometry;
    let workload_table = written.workload.unwrap_or_default();
    let modes = (timed, workload::is_trace(&workload_table));
    let (dpes, raw_dpes) = dpes::resolve(&layers, ftl_table.dpes.take(), &mut drive, timed)?;
    let (mut ftl, raw_ftl) = ftl::resolve(&layers, ftl_table, &drive, modes, seed)?;
    ftl.setup.dpes = dpes;
    let pages = ftl.setup.logical_pages;
    let (buffer, raw_buffer) = buffer::resolve(&layers, buffer_table, &drive, pages, timed)?;
    let Lifetime { throttle, reduce, forecast, raw: raw_lifetime, raw_forecast } =
        lifetime::resolve(&layers, written.lifetime.unwrap_or_default(), drive.endurance)?;
    ftl.setup.reduce = reduce::resolve(&layers, (&reduce, &throttle), &drive, &ftl.setup)?;
    let workload = workload::resolve(
        &layers,
        workload_table,
        (timed, throttle.policy.parts().is_some() || reduce.params.integrated.is_some()),
        u64::from(pages) * u64::from(geometry.page_bytes),
        seed,
        flushes_act(&drive, &ftl.setup, buffer.is_some()),
    )?;
    let host = host::resolve(&layers, written.host.unwrap_or_default(), workload.arrival, &workload.raw)?;
    let mode = workload.arrival.map_or(Mode::Functional, Mode::Timed);
    ftl.setup.idle_jobs |= has_idle_jobs(mode, &ftl.setup);
    let plan = Plan {
        seed,
        mode,
        drive,
        buffer,
        ftl,
        throttle,
        reduce,
        queues: host.setup,
        workload: workload.settings,
        wears_out: true,
        timeline: None,
        shadow: false,
        prefetching: true,
    };
    check_together(&layers, &plan)?;
    raw_drive.preset.clone_from(&preset);
    (raw_drive.buffer, raw_drive.rated) = (Some(raw_buffer), raw_rated);
    let experiment = Experiment {
        seed: Some(seed),
        mode: Some(mode_name),
        policies: None,
        policy_code: policy_code::of_plan(&layers, written.policy_code.as_deref(), &plan)?,
        drive: Some(raw_drive),
        ftl: Some(settings::Ftl { dpes: raw_dpes, ..raw_ftl }),
        host: host.raw,
        lifetime: Some(raw_lifetime),
        workload: Some(workload.raw),
    };
    let drive_name = preset.unwrap_or_else(|| CUSTOM.into());
    Ok(Resolved { plan, experiment, drive_name, rated, forecast, raw_forecast })
}

/// The mode in which operations take time.
const TIMED: &str = "timed";

/// Refuses values and keys that the rows of settings do not allow.
pub(crate) fn check(layers: &Layers, written: &Experiment) -> Result<()> {
    checks::ranges(layers)?;
    let timed = written.mode() == TIMED;
    checks::modes(layers, timed)?;
    let workload = written.workload.clone().unwrap_or_default();
    let traced = workload::is_trace(&workload);
    checks::needs(layers, |key| {
        let implied = match key {
            "ftl.precondition" => Some(precondition::default(traced).to_string()),
            "lifetime.forecast.method" => Some(METHODS[0].0.to_string()),
            // Functional mode takes only the default.
            "workload.arrival" if !timed => Some("closed".into()),
            _ => workload::implied(&workload, key),
        };
        layers.text(key).map(String::from).or(implied).unwrap_or_default()
    })
}

/// Lays the named drive of the catalogue below the other layers, and what sets of policies need below that. Returns the
/// name of the drive.
fn add_preset(layers: &mut Layers) -> Result<Option<String>> {
    let preset = add_drive(layers)?;
    if let Some(names) = layers.text(policy_sets::KEY).map(str::to_string) {
        policy_sets::lay_under(layers, &names)?;
    }
    Ok(preset)
}

fn add_drive(layers: &mut Layers) -> Result<Option<String>> {
    let Some(name) = layers.text("drive.preset").map(str::to_string) else { return Ok(None) };
    let names = PRESETS.iter().map(|p| p.name);
    let preset = Preset::find(&name).ok_or_else(|| unknown(layers, "drive.preset", "drive", &name, names))?;
    layers.add_preset(preset.toml);
    Ok(Some(name))
}

/// Checks whether FLUSH and FUA have an effect: something may wait in the controller that a power cut would lose.
fn flushes_act(drive: &DriveSettings, setup: &Setup, buffered: bool) -> bool {
    let chunks = setup.reduce.is_some_and(|reduce| reduce.chunks.is_some());
    buffered || !drive.plp && (drive.subpages > 1 || setup.metadata.is_some()) || chunks
}

/// Checks whether jobs wait for idle time. A drive that is never idle does them at once.
fn has_idle_jobs(mode: Mode, setup: &Setup) -> bool {
    let has_idle_time = matches!(mode, Mode::Timed(arrival) if !matches!(arrival, Arrival::Closed { .. }));
    has_idle_time && setup.disturb.is_some_and(|(_, reclaim)| reclaim.is_proactive())
}

/// Refuses a buffer that keeps the pages of disturbed blocks where the manager reclaims them before: it would be an LRU.
fn check_kept_pages(layers: &Layers, plan: &Plan) -> Result<()> {
    let aware = plan.buffer.filter(|buffer| buffer.config.aware.is_some());
    let Some((buffer, (_, reclaim))) = aware.zip(plan.ftl.setup.disturb) else { return Ok(()) };
    let at = reclaim.reclaims_at(!plan.ftl.setup.idle_jobs);
    if buffer.disturbed_share < at {
        return Ok(());
    }
    let what = format!(
        "no block is ever disturbed by {} of the maximum: {} reclaims it at {at}",
        buffer.disturbed_share,
        reclaim.info().name
    );
    Err(layers.error(
        "drive.buffer.disturbed_share",
        what,
        format!("expected less than {at}, or 0 for all blocks"),
    ))
}

/// Refuses settings of several tables that do not go together.
fn check_together(layers: &Layers, plan: &Plan) -> Result<()> {
    let closed = matches!(plan.mode, Mode::Timed(Arrival::Closed { .. }));
    if plan.ftl.background.is_some() && closed {
        let what = "in closed loop the drive is never idle";
        let expected = "expected \"none\", or workload.arrival = \"open\" or \"think\"";
        return Err(layers.error("ftl.background.policy", what, expected));
    }
    if plan.ftl.setup.dpes.is_some_and(|dpes| dpes.needs_time()) && closed {
        let what = "in closed loop the drive is never idle";
        let expected = "expected \"none\" or \"fixed\", or workload.arrival = \"open\" or \"think\"";
        return Err(layers.error("ftl.dpes.policy", what, expected));
    }
    check_reads(layers, plan)?;
    check_kept_pages(layers, plan)?;
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
    if plan.throttles() && queued && closed {
        let what = "with host queues in a closed loop it is undefined which request is throttled";
        let expected = "expected another workload.arrival, or no table [host]";
        let integrated = plan.reduce.params.integrated.is_some();
        let key = if integrated { "lifetime.reduce.policy" } else { "lifetime.throttle.policy" };
        return Err(layers.error(key, what, expected));
    }
    Ok(())
}

/// Refuses read-only workloads on an empty drive with read disturb: no read would reach the flash.
fn check_reads(layers: &Layers, plan: &Plan) -> Result<()> {
    let Workload::Synthetic(config) = &plan.workload.source else { return Ok(()) };
    let only_reads = config.twin.is_none() && config.read_share >= 1.0;
    if plan.drive.disturb.is_none() || !only_reads || plan.ftl.precondition != Precondition::None {
        return Ok(());
    }
    let what = "the workload only reads, and the drive is empty: no read reaches the flash";
    let expected = "expected \"sequential\" or \"random\", which write every page before, or workload.read_share below 1";
    Err(layers.error("ftl.precondition", what, expected))
}
