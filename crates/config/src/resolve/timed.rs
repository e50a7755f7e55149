//! Tables that act in timed mode only: optional commands, scheduling, idle time. In functional mode the
//! resolved experiment leaves them out.

use super::slot;
use crate::layers::Layers;
use crate::settings;
use crate::tables::{choice, unknown};
use floatgate_base::Result;
use floatgate_base::policy::{Facts, Setting};
use floatgate_flash::layout::{ALLOCATION_ORDER, LEVELS, Level};
use floatgate_flash::timed::scheduling::{jobs_hold_channel, reads_old_copies};
use floatgate_flash::timed::settings::MULTI_PLANE;
use floatgate_flash::timed::{Commands, MultiPlane, Order, Suspend};
use floatgate_sim::{Background, ByContext};

/// Resolves optional commands. `planes`: planes per die, and how many of them work as one.
pub(crate) fn commands(
    layers: &Layers,
    table: Option<settings::Commands>,
    timed: bool,
    (planes_per_die, together): (u32, u32),
) -> Result<(Commands, Option<settings::Commands>)> {
    let table = table.unwrap_or_default();
    let rule_key = "drive.commands.multi_plane";
    let rule_name = table.multi_plane();
    let rules = [MultiPlane::None, MultiPlane::SamePage, MultiPlane::SameBlockAndPage, MultiPlane::Any];
    let multi_plane = rules[choice(layers, rule_key, "multi-plane rule", &rule_name, MULTI_PLANE)?];
    if multi_plane != MultiPlane::None && planes_per_die == 1 {
        if together > 1 {
            let what = "a unit of the map (ftl.mapping_bytes) fills a page of every plane of a die already";
            return Err(layers.error(rule_key, what, "expected multi_plane = \"none\""));
        }
        let what = "a multi-plane command needs several planes, and planes_per_die is 1";
        let expected = "expected multi_plane = \"none\", or drive.geometry.planes_per_die from 2";
        return Err(layers.error(rule_key, what, expected));
    }
    let suspends = table.program_suspend == Some(true) || table.erase_suspend == Some(true);
    let details = [
        ("suspend_us", table.suspend_us.is_some()),
        ("resume_us", table.resume_us.is_some()),
        ("suspend_reads_max", table.suspend_reads_max.is_some()),
    ];
    if let Some((key, _)) = details.iter().find(|(_, set)| *set && !suspends) {
        let what = format!("{key} has no effect while nothing is suspended");
        let expected = "expected it with program_suspend or erase_suspend = true only";
        return Err(layers.error(&format!("drive.commands.{key}"), what, expected));
    }
    let (suspend_us, resume_us, reads_max) =
        (table.suspend_us(), table.resume_us(), table.suspend_reads_max());
    let commands = Commands {
        multi_plane,
        cache_read: table.cache_read(),
        cache_program: table.cache_program(),
        copyback: table.copyback(),
        suspend: Suspend {
            program: table.program_suspend(),
            erase: table.erase_suspend(),
            suspend_ns: ns(suspend_us),
            resume_ns: ns(resume_us),
            reads_max,
        },
    };
    let raw = timed.then(|| settings::Commands {
        multi_plane: Some(rule_name),
        cache_read: Some(commands.cache_read),
        cache_program: Some(commands.cache_program),
        copyback: Some(commands.copyback),
        program_suspend: Some(commands.suspend.program),
        erase_suspend: Some(commands.suspend.erase),
        suspend_us: suspends.then_some(suspend_us),
        resume_us: suspends.then_some(resume_us),
        suspend_reads_max: suspends.then_some(reads_max),
    });
    Ok((commands, raw))
}

/// Which operation a die serves next, as in `floatgate_flash::timed::Settings`.
pub(crate) struct Service {
    pub order: Order,
    pub urgent_as_writes: bool,
    pub jobs_hold_channel: bool,
    pub reads_old_copies: bool,
}

/// Resolves which operation a die serves next.
pub(crate) fn scheduling(
    layers: &Layers,
    table: Option<settings::Scheduling>,
    (timed, incremental): (bool, bool),
    commands: &Commands,
) -> Result<(Service, Option<settings::Scheduling>)> {
    let holds = match table.as_ref().and_then(|table| table.get("jobs_hold")) {
        Some(Setting::Name(value)) => jobs_hold_channel(value),
        _ => false,
    };
    let facts = Facts { incremental, jobs_hold_channel: holds, ..Facts::default() };
    let (policy, raw) = slot::resolve(layers, table, &facts)?;
    let (order, urgent_as_writes) = Order::of(&policy);
    let reads_old_copies = reads_old_copies(&policy);
    if order == Order::Fcfs && (commands.suspend.program || commands.suspend.erase) {
        let what = "under fcfs no read is preferred, so nothing would be suspended";
        let expected = "expected \"priority\", or no program_suspend and no erase_suspend";
        return Err(layers.error("drive.scheduling.policy", what, expected));
    }
    let overlaps = commands.cache_read || commands.cache_program;
    if holds && (commands.suspend.program || commands.suspend.erase || overlaps) {
        let what =
            "jobs_hold is \"channel\", and cache commands or suspension let host operations in between";
        let expected =
            "expected \"nothing\", or no cache_read, cache_program, program_suspend and erase_suspend";
        return Err(layers.error("drive.scheduling.jobs_hold", what, expected));
    }
    if holds && reads_old_copies {
        let what = "jobs_hold is \"channel\", and keeps reads waiting until the pages have moved";
        let expected = "expected \"new\", or jobs_hold = \"nothing\"";
        return Err(layers.error("drive.scheduling.moved_reads", what, expected));
    }
    let service = Service { order, urgent_as_writes, jobs_hold_channel: holds, reads_old_copies };
    Ok((service, timed.then_some(raw)))
}

pub(super) fn ns(us: f64) -> u64 {
    (us * 1e3).round() as u64
}

fn not_once<'a>(
    layers: &Layers,
    key: &str,
    order: &[String],
    names: impl Iterator<Item = &'a str>,
) -> Box<floatgate_base::Error> {
    let names: Vec<_> = names.map(|name| format!("\"{name}\"")).collect();
    let what = format!("[{}] does not name each of them once", order.join(", "));
    layers.error(key, what, format!("expected {}, in any order", names.join(", ")))
}

/// Resolves the order in which planes take pages.
pub(crate) fn allocation_order(
    layers: &Layers,
    order_names: Option<Vec<String>>,
    timed: bool,
) -> Result<([Level; 4], Option<Vec<String>>)> {
    let key = "ftl.allocation.order";
    let names = || LEVELS.iter().map(|(name, _)| *name).filter(|name| *name != "way");
    let Some(words) = order_names else {
        return Ok((ALLOCATION_ORDER, timed.then(|| names().map(String::from).collect())));
    };
    let mut order = Vec::new();
    for word in &words {
        let level = LEVELS.iter().find(|(name, _)| name == word).map(|(_, level)| *level);
        order.push(level.ok_or_else(|| unknown(layers, key, "level", word, LEVELS.iter().map(|(n, _)| *n)))?);
    }
    let once = ALLOCATION_ORDER.iter().all(|l| order.iter().filter(|&o| o == l).count() == 1);
    let [a, b, c, d] = order[..] else { return Err(not_once(layers, key, &words, names())) };
    if !once {
        return Err(not_once(layers, key, &words, names()));
    }
    let spelt = order.iter().map(|level| names().nth(*level as usize).unwrap_or_default().to_string());
    Ok(([a, b, c, d], timed.then(|| spelt.collect())))
}

/// Resolves the jobs in idle time.
pub(crate) fn background(
    layers: &Layers,
    table: Option<settings::Background>,
    timed: bool,
    (trigger, stop, units): (u32, u32, u32),
) -> Result<(Option<Background>, Option<settings::Background>)> {
    let (policy, mut raw) = slot::resolve(layers, table, &Facts::default())?;
    let Some(idle_us) = policy.find_real("idle_us") else { return Ok((None, timed.then_some(raw))) };
    let key = "trigger_free_blocks";
    let free = policy.find_whole(key).map_or((2 * stop).min(units / 2).max(trigger + 1), |free| free as u32);
    if free <= trigger || free >= units {
        let what = format!("{key} is {free}");
        let expected = format!(
            "expected more than ftl.collect's trigger, {trigger}, below which nobody waits for idle time, and less \
             than the {units} blocks of each pool"
        );
        return Err(layers.section("ftl.background").error(key, what, expected));
    }
    raw.set(key, free);
    let by_context = policy.find_real("long_us").map(|long_us| ByContext {
        settle_ns: ns(policy.real("settle_us")),
        long_ns: ns(long_us),
        contexts: policy.whole("contexts"),
        confident_from: policy.whole("confident_from") as u8,
        path: policy.whole("path"),
    });
    let background =
        Background { trigger_free_units: free, idle_ns: ns(idle_us), by_context, burst_gap_ns: None };
    Ok((Some(background), Some(raw)))
}
