//! The tables under `[ftl]`.

use super::{dispatch, drive, level, metadata, precondition, reclaim, slot, timed, timing};
use crate::layers::Layers;
use crate::settings;
use crate::tables::choice;
use floatgate_base::policy::Facts;
use floatgate_base::{ChosenPolicy, Result, Setting};
use floatgate_flash::{Layout, Scope, layout};
use floatgate_ftl::collect::ByContext;
use floatgate_ftl::pool::FREE_CHOICES;
use floatgate_ftl::setup::{ALLOCATIONS, UNWRITTEN_READS};
use floatgate_ftl::{Allocation, FreeChoice, Pace, Separate, Setup, Victim, collect};
use floatgate_host::Dispatch;
use floatgate_nand::Geometry;
use floatgate_sim::Background;
use floatgate_sim::plan::{AUTO_FILLS, Auto, DriveSettings, FtlSettings, Precondition};

/// The default stop level is one block of so many, at most [`STOP_MAX`]. With a single free block there would
/// be no choice of free blocks, and no wear-leveling by it.
const STOP_ONE_OF: u32 = 100;
/// See [`STOP_ONE_OF`].
const STOP_MAX: u32 = 8;

/// The default separator of incremental collection.
const APART: &str = "host-gc";

/// Resolves the tables under `[ftl]`, for a drive whose pages are those of the map.
pub(crate) fn resolve(
    layers: &Layers,
    mut table: settings::Ftl,
    drive: &DriveSettings,
    (timed, traced): (bool, bool),
    seed: u64,
) -> Result<(FtlSettings, settings::Ftl)> {
    let geometry = drive.geometry;
    let spare_factor = table.spare_factor();
    let logical_pages = (geometry.pages() as f64 * (1.0 - spare_factor)) as u32;
    let facts = facts(&table, drive, timed);
    let dispatch = dispatch::resolve(layers, table.dispatch.take(), &facts)?;
    let mut collection =
        collection(layers, (table.collect.take(), table.separate.take(), dispatch.0), &facts, geometry)?;
    let scope = collection.scope;
    let start = start(layers, &mut table, (collection.victim, traced), (geometry.pages(), logical_pages))?;
    let precondition = start.precondition;
    let (allocation, order) = allocation(layers, table.allocation.take(), timed, scope, precondition)?;
    let idle = idle(layers, table.background.take(), timed, (&mut collection, logical_pages))?;
    let sizes = (logical_pages, geometry);
    let metadata = metadata::resolve(layers, (table.metadata.take(), &facts), sizes, collection.separate)?;
    reserve_fits(layers, &collection, logical_pages, metadata.0.map_or(0, |metadata| metadata.pages()))?;
    let level = level::resolve(layers, table.level.take(), &facts, (&collection.layout, allocation))?;
    let free_choice = free_choice(layers, table.free_block(), (dispatch.0, allocation))?;
    let reads = unwritten_reads(layers, table.unwritten_reads(), &collection)?;
    let (reclaim, raw_reclaim) = reclaim::resolve(layers, table.reclaim.take(), drive, &collection.layout)?;
    let setup = Setup {
        logical_pages,
        allocation,
        disturb: drive.disturb.zip(reclaim),
        idle_jobs: idle.0.is_some(),
        background_free_units: idle.0.map_or(0, |background| background.trigger_free_units),
        level: level.0,
        free_choice: free_choice.0,
        plp: drive.plp,
        programs_unwritten: reads.0,
        metadata: metadata.0,
        ..collection.setup(seed)
    };
    let auto = precondition::auto(layers, &table, precondition, (&setup, &collection.layout), traced)?;
    let raw = settings::Ftl {
        spare_factor: Some(spare_factor),
        mapping_bytes: Some(geometry.page_bytes),
        free_block: Some(free_choice.1),
        unwritten_reads: Some(reads.1),
        allocation: Some(order.1),
        background: idle.1,
        map: Some(slot::resolve(layers, table.map.take(), &facts)?.1),
        metadata: metadata.1,
        collect: Some(collection.raw_collect),
        separate: Some(collection.raw_separate),
        level: Some(level.1),
        reclaim: Some(raw_reclaim),
        dispatch: Some(dispatch.1),
        ..raw_of(&start, auto)
    };
    let settings = FtlSettings {
        spare_factor,
        scope,
        allocation_order: order.0,
        background: idle.0,
        dispatch: dispatch.0,
        setup,
        precondition,
        fill_pages: start.fill.0,
        snapshot: start.snapshot,
        auto,
    };
    Ok((settings, raw))
}

/// Spare blocks per plane from which collection in timed mode is incremental by default. With fewer, the blocks
/// that it keeps free and open would take too large a share (docs/decisions/0019-incremental-collection.md).
const INCREMENTAL_FROM: f64 = 16.0;

/// Returns what defaults follow from.
fn facts(table: &settings::Ftl, drive: &DriveSettings, timed: bool) -> Facts {
    Facts {
        pe_cycles: drive.endurance.rated_erases().round() as u32,
        incremental: is_incremental(table, timed, &drive.geometry),
        ..Facts::default()
    }
}

/// Checks whether collection is incremental.
pub(crate) fn is_incremental(table: &settings::Ftl, timed: bool, geometry: &Geometry) -> bool {
    match table.collect.as_ref().and_then(|table| table.get("mode")) {
        Some(Setting::Name(mode)) => collect::is_incremental(mode),
        _ => {
            let spare = table.spare_factor() * f64::from(geometry.blocks_per_plane);
            timed && spare >= INCREMENTAL_FROM
        }
    }
}

/// Victims, streams and the pace of collection.
struct Collection {
    victim: Victim,
    separate: Separate,
    scope: Scope,
    layout: Layout,
    trigger_free_units: u32,
    stop_free_units: u32,
    /// Whether the user set the stop level.
    stop_is_set: bool,
    incremental: bool,
    pace: Option<Pace>,
    garbage_share: Option<f64>,
    /// What its table says about timing, and the timing once it is resolved.
    timing_settings: timing::Settings,
    timing: Option<ByContext>,
    raw_collect: settings::Collect,
    raw_separate: settings::Separate,
}

impl Collection {
    /// Trigger, stop level, and all erase units of a domain.
    fn levels(&self) -> (u32, u32, u32) {
        (self.trigger_free_units, self.stop_free_units, self.layout.units_per_domain())
    }

    /// Returns the part of the setup that collection decides; the rest has placeholders.
    fn setup(&self, seed: u64) -> Setup {
        Setup {
            victim: self.victim,
            separate: self.separate,
            trigger_free_units: self.trigger_free_units,
            stop_free_units: self.stop_free_units,
            incremental: self.incremental,
            pace: self.pace,
            garbage_share: self.garbage_share,
            timing: self.timing,
            seed,
            ..Setup::plain(0)
        }
    }

    /// Returns the free units that the spare space must have room for. With a stop level beyond reach the
    /// drive collects until nothing is gained.
    fn free_units_needed(&self) -> u32 {
        if self.stop_is_set { self.trigger_free_units } else { self.stop_free_units }
    }
}

/// Resolves the use of idle time, and the timing of collection, which may prepare for bursts in it.
fn idle(
    layers: &Layers,
    table: Option<settings::Background>,
    timed: bool,
    (collection, logical_pages): (&mut Collection, u32),
) -> Result<(Option<Background>, Option<settings::Background>)> {
    let (mut idle, raw) = timed::background(layers, table, timed, collection.levels())?;
    let (settings, drive) = (&collection.timing_settings, (&collection.layout, logical_pages));
    let (timing, burst_gap_ns) = timing::resolve(layers, settings, idle.is_some(), drive)?;
    if let Some(background) = &mut idle {
        background.burst_gap_ns = burst_gap_ns;
    }
    timing::show(&mut collection.raw_collect, timing, idle.is_some());
    collection.timing = timing;
    Ok((idle, raw))
}

/// Resolves which free block is opened next, where dispatcher and allocation leave that open.
fn free_choice(
    layers: &Layers,
    name: String,
    (dispatch, allocation): (Dispatch, Allocation),
) -> Result<(FreeChoice, String)> {
    let row = choice(layers, "ftl.free_block", "free_block", &name, FREE_CHOICES)?;
    let chosen = [FreeChoice::LeastErased, FreeChoice::Fifo][row];
    dispatch::check(layers, dispatch, allocation, chosen)?;
    Ok((chosen, name))
}

/// The state in which a drive starts.
struct Start {
    precondition: Precondition,
    /// The file of a saved drive.
    snapshot: Option<String>,
    /// Pages written before the run, and the key for them.
    fill: (u32, Option<f64>),
}

/// Resolves the state in which a drive starts, whose flash and whose host see so many pages.
fn start(
    layers: &Layers,
    table: &mut settings::Ftl,
    (victim, traced): (Victim, bool),
    (physical, logical): (u64, u32),
) -> Result<Start> {
    let precondition = precondition::state(layers, table.precondition.as_deref(), victim, traced)?;
    let snapshot = snapshot(layers, table.snapshot.take(), precondition)?;
    let fill = fill(layers, table.fill_share(), precondition, physical, logical)?;
    Ok(Start { precondition, snapshot, fill })
}

/// Returns the keys about the state in which the drive starts, those that "auto" chooses included.
fn raw_of(start: &Start, auto: Option<Auto>) -> settings::Ftl {
    settings::Ftl {
        precondition: Some(precondition::name(start.precondition).into()),
        snapshot: start.snapshot.clone(),
        fill_share: start.fill.1,
        auto_fill: auto.map(|auto| AUTO_FILLS[auto.fill as usize].0.into()),
        wear_in_max: auto.and_then(|auto| auto.wear_in_max),
        ..settings::Ftl::default()
    }
}

/// Resolves whether reads of pages that were never written program them.
fn unwritten_reads(layers: &Layers, name: String, collection: &Collection) -> Result<(bool, String)> {
    const KEY: &str = "ftl.unwritten_reads";
    let programs = choice(layers, KEY, "unwritten_reads", &name, UNWRITTEN_READS)? == 1;
    if programs && collection.separate.foresees() {
        let what = "an oracle separator cannot foresee programs caused by reads";
        return Err(layers.error(KEY, what, "expected \"nothing\", or another separator"));
    }
    Ok((programs, name))
}

/// Resolves victims and streams with their levels and pace, from `ftl.collect` and `ftl.separate`.
fn collection(
    layers: &Layers,
    (given_collect, separate_table, dispatch): (
        Option<settings::Collect>,
        Option<settings::Separate>,
        Dispatch,
    ),
    facts: &Facts,
    geometry: Geometry,
) -> Result<Collection> {
    let set = timing::keys(given_collect.as_ref());
    let (collect, mut raw_collect) = slot::resolve(layers, given_collect, facts)?;
    let incremental = collect::is_incremental(collect.text("mode"));
    let mut separate_table = separate_table.unwrap_or_default();
    if incremental {
        // Pages that move page by page would be mixed with the host's (docs/decisions/0019-incremental-collection.md).
        separate_table.policy.get_or_insert_with(|| APART.into());
    }
    let (separate, raw_separate) = slot::resolve(layers, Some(separate_table), facts)?;
    Separate::check(&separate)
        .map_err(|refused| layers.error("ftl.separate.policy", refused.what, refused.expected))?;
    let separate = dispatch::separate(layers, dispatch, Separate::of(&separate))?;
    let scope = if collect.text("scope") == "plane" { Scope::Plane } else { Scope::Superblock };
    let layout = Layout::new(geometry, scope);
    // Read before the levels become numbers.
    let stop_is_set =
        ["stop_free_blocks", "stop_free_share"].iter().any(|key| raw_collect.get(key).is_some());
    let (trigger_free_units, stop_free_units) =
        levels(layers, &collect, &mut raw_collect, separate, &layout)?;
    let pace = pace(layers, &collect, &mut raw_collect, &layout)?;
    Ok(Collection {
        victim: Victim::of(&collect),
        separate,
        scope,
        layout,
        trigger_free_units,
        stop_free_units,
        stop_is_set,
        incremental,
        pace,
        garbage_share: collect.find_real("garbage_share"),
        timing_settings: timing::Settings { policy: collect, set },
        timing: None,
        raw_collect,
        raw_separate,
    })
}

/// Resolves whether host pages may go to any plane, and in which order.
fn allocation(
    layers: &Layers,
    table: Option<settings::Allocation>,
    timed: bool,
    scope: Scope,
    precondition: Precondition,
) -> Result<(Allocation, ([layout::Level; 4], settings::Allocation))> {
    let table = table.unwrap_or_default();
    let key = "ftl.allocation.mode";
    let name = table.mode();
    let row = choice(layers, key, "mode", &name, ALLOCATIONS)?;
    let mode = [Allocation::Dynamic, Allocation::Static][row];
    if mode == Allocation::Static && scope == Scope::Superblock {
        let what = "superblocks stripe over planes; static allocation has no effect";
        return Err(layers.error(key, what, "expected \"dynamic\", or ftl.collect.scope = \"plane\""));
    }
    if mode == Allocation::Static && precondition == Precondition::Steady {
        let what = "the steady state is drawn for pages that may lie anywhere";
        let expected = "expected \"dynamic\", or ftl.precondition = \"auto\", which fills at random instead";
        return Err(layers.error(key, what, expected));
    }
    let (order, raw_order) = timed::allocation_order(layers, table.order, timed)?;
    Ok((mode, (order, settings::Allocation { mode: Some(name), order: raw_order })))
}

/// Returns trigger and stop level in erase units per domain; shares become numbers.
fn levels(
    layers: &Layers,
    policy: &ChosenPolicy,
    raw: &mut settings::Collect,
    separate: Separate,
    layout: &Layout,
) -> Result<(u32, u32)> {
    let units = layout.units_per_domain();
    // Streams that collection fills may need units while the victim is not yet erased.
    let least = separate.reserve();
    let in_units = |name: &str| -> Result<Option<u32>> {
        let share = policy.find_real(&format!("{name}_free_share"));
        match (policy.find_whole(&format!("{name}_free_blocks")), share) {
            (Some(_), Some(_)) => {
                let key = format!("ftl.collect.{name}_free_share");
                let what = format!("{name}_free_share and {name}_free_blocks are both set");
                Err(layers.error(&key, what, "expected one of them"))
            }
            (None, Some(share)) => Ok(Some(((share * f64::from(units)).ceil() as u32).max(least))),
            (blocks, None) => Ok(blocks.map(|blocks| blocks as u32)),
        }
    };
    let trigger_key = "ftl.collect.trigger_free_blocks";
    let trigger = in_units("trigger")?.unwrap_or(least);
    if trigger < least {
        let what = format!("trigger_free_blocks is {trigger}");
        let expected =
            format!("expected at least {least}: one for each stream that collection may have to fill");
        return Err(layers.error(trigger_key, what, expected));
    }
    let stop = in_units("stop")?;
    let stop = stop.unwrap_or_else(|| trigger.max((units / STOP_ONE_OF).min(STOP_MAX)));
    if stop < trigger {
        let share = policy.find_real("stop_free_share").is_some();
        let key = if share { "ftl.collect.stop_free_share" } else { "ftl.collect.stop_free_blocks" };
        let what = format!("the stop level, {stop} blocks, lies below the trigger, {trigger}");
        return Err(layers.error(key, what, "expected a stop level that is not below the trigger"));
    }
    ["trigger_free_share", "stop_free_share"].iter().for_each(|key| raw.remove(key));
    raw.set("trigger_free_blocks", trigger);
    raw.set("stop_free_blocks", stop);
    Ok((trigger, stop))
}

/// Resolves the pace of collection, if it has one.
fn pace(
    layers: &Layers,
    policy: &ChosenPolicy,
    raw: &mut settings::Collect,
    layout: &Layout,
) -> Result<Option<Pace>> {
    let (from, every, garbage) = ("paced_from_writes", "pace_writes", "garbage_share");
    if policy.find_real(garbage).is_some() && collect::is_incremental(policy.text("mode")) {
        let what = "blocks that are collected by their share of garbage are collected whole";
        let expected = "expected mode = \"whole-block\" beside garbage_share";
        return Err(layers.error("ftl.collect.mode", what, expected));
    }
    let Some(from_writes) = policy.find_whole(from) else {
        if policy.find_whole(every).is_some() {
            let what = "pace_writes has no effect while nothing is collected at a pace";
            let expected = "expected it with paced_from_writes only";
            return Err(layers.error("ftl.collect.pace_writes", what, expected));
        }
        return Ok(None);
    };
    if collect::is_incremental(policy.text("mode")) {
        let what = "blocks that are collected at a pace are collected whole";
        let expected = "expected mode = \"whole-block\" beside paced_from_writes";
        return Err(layers.error("ftl.collect.mode", what, expected));
    }
    let every_writes = policy.find_whole(every).unwrap_or(layout.pages_per_unit().into());
    raw.set(every, Setting::Whole(every_writes));
    Ok(Some(Pace { from_writes, every_writes }))
}

/// Returns the file that the drive starts from.
fn snapshot(layers: &Layers, path: Option<String>, precondition: Precondition) -> Result<Option<String>> {
    if precondition == Precondition::Snapshot && path.as_deref().is_none_or(str::is_empty) {
        let what = "precondition = \"snapshot\" needs a file to start from";
        let expected = "expected ftl.snapshot to name one that floatgate run --save-drive wrote";
        return Err(layers.error("ftl.snapshot", what, expected));
    }
    Ok(path)
}

/// Returns how many logical pages are written before the run: a share of the flash, not of the visible
/// capacity.
fn fill(
    layers: &Layers,
    share: f64,
    precondition: Precondition,
    physical: u64,
    logical: u32,
) -> Result<(u32, Option<f64>)> {
    let key = "ftl.fill_share";
    if precondition != Precondition::Fill {
        return Ok((0, None));
    }
    let pages = (physical as f64 * share) as u64;
    if pages > u64::from(logical) {
        let most = (f64::from(logical) / physical as f64 * 1e4).floor() / 1e4;
        let what = format!("fill_share {share} is {pages} pages of the flash, and the host sees {logical}");
        let expected = format!("expected no more than {most}, or a smaller ftl.spare_factor");
        return Err(layers.error(key, what, expected));
    }
    Ok((pages as u32, Some(share)))
}

/// Refuses a spare space without room for the free blocks, the open ones and one more page: collection would
/// gain nothing.
fn reserve_fits(layers: &Layers, collection: &Collection, logical: u32, metadata: u64) -> Result<()> {
    let Collection { layout, separate, .. } = collection;
    let free = collection.free_units_needed();
    let units = u64::from(layout.units_per_domain());
    let reserve = u64::from(free) + u64::from(separate.streams());
    let pages = u64::from(layout.pages_per_unit());
    let domains = u64::from(layout.domains());
    let room = units.saturating_sub(reserve) * pages * domains;
    if logical == 0 {
        return Err(layers.error(
            "ftl.spare_factor",
            "the host would see no page",
            "expected a smaller share",
        ));
    }
    let mapped = u64::from(logical) + metadata;
    if mapped.div_ceil(domains) * domains < room {
        return Ok(());
    }
    if u64::from(logical).div_ceil(domains) * domains < room {
        return Err(metadata::refused(layers, metadata, room - u64::from(logical)));
    }
    // If fewer streams would fit, the streams are the fault.
    let fit = (units - u64::from(logical) / (pages * domains)).saturating_sub(u64::from(free) + 1);
    if separate.inspects_pages() && (1..u64::from(separate.streams())).contains(&fit) {
        let streams = separate.streams();
        let what = format!(
            "{streams} streams hold as many blocks of each pool open; {fit} fit beside the logical pages and {free} free blocks"
        );
        let expected = format!("expected no more than {fit}, more ftl.spare_factor, or a larger drive");
        return Err(layers.error("ftl.separate.policy", what, expected));
    }
    let total = units * pages * domains;
    let what = format!(
        "the spare space, {} pages, is too small: {reserve} blocks{} must be free or open, and the drive has {}",
        total - u64::from(logical),
        if domains > 1 { " in each plane" } else { "" },
        units,
    );
    let expected = if room > domains {
        let least = 1.0 - (room - domains) as f64 / total as f64;
        format!("expected a spare factor of at least {:.4}, or lower levels of ftl.collect", least + 0.00005)
    } else {
        String::from("expected a drive with more blocks in each plane")
    };
    Err(layers.error("ftl.spare_factor", what, expected + drive::smaller(layers, layout.domains())))
}
