//! Tables that matter to timed mode only: optional commands, scheduling, idle time. In functional mode nothing but
//! their defaults is taken, and the resolved experiment does not name them: no knob is silently dead.

use crate::layers::Layers;
use crate::raw;
use crate::tables::{US_MAX, choice, unknown};
use floatgate_base::Result;
use floatgate_flash::Class;
use floatgate_flash::layout::{ALLOCATION_ORDER, LEVELS, Level};
use floatgate_flash::timed::settings::MULTI_PLANE;
use floatgate_flash::timed::{Commands, MultiPlane, Order, Suspend};
use floatgate_sim::Background;

/// Refuses a key that has no effect in functional mode, unless `fine`.
pub(crate) fn only_timed(layers: &Layers, key: &str, fine: bool) -> Result<()> {
    if fine {
        return Ok(());
    }
    let name = key.rsplit('.').next().unwrap_or(key);
    let what = format!("{name} has no effect in functional mode");
    Err(layers.error(key, what, "expected no such key, or mode = \"timed\""))
}

/// A time in microseconds from 0, as nanoseconds.
fn from_zero(layers: &Layers, key: &str, us: f64) -> Result<u64> {
    if (0.0..=US_MAX).contains(&us) {
        return Ok((us * 1e3).round() as u64);
    }
    let name = key.rsplit('.').next().unwrap_or(key);
    Err(layers.error(key, format!("{name} is {us:e}"), "expected a number from 0 to 1e8 (100 seconds)"))
}

/// Optional commands, for dies of so many planes, each of them so many planes together.
pub(crate) fn commands(
    layers: &Layers,
    given: Option<raw::Commands>,
    timed: bool,
    (planes_per_die, together): (u32, u32),
) -> Result<(Commands, Option<raw::Commands>)> {
    only_timed(layers, "drive.commands", timed || given.is_none())?;
    let given = given.unwrap_or_default();
    let rule_key = "drive.commands.multi_plane";
    let rule_name = given.multi_plane.unwrap_or_else(|| MULTI_PLANE[0].0.into());
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
    let suspends = given.program_suspend == Some(true) || given.erase_suspend == Some(true);
    let details = [
        ("suspend_us", given.suspend_us.is_some()),
        ("resume_us", given.resume_us.is_some()),
        ("suspend_reads_max", given.suspend_reads_max.is_some()),
    ];
    if let Some((key, _)) = details.iter().find(|(_, set)| *set && !suspends) {
        let what = format!("{key} has no effect while nothing is suspended");
        let expected = "expected it with program_suspend or erase_suspend = true only";
        return Err(layers.error(&format!("drive.commands.{key}"), what, expected));
    }
    let (suspend_us, resume_us) = (given.suspend_us.unwrap_or(20.0), given.resume_us.unwrap_or(20.0));
    let reads_max = given.suspend_reads_max.unwrap_or(16);
    if reads_max == 0 {
        let what = "suspend_reads_max is 0: no read could pass";
        return Err(layers.error("drive.commands.suspend_reads_max", what, "expected a whole number from 1"));
    }
    let yes = |value: Option<bool>| value.unwrap_or(false);
    let commands = Commands {
        multi_plane,
        cache_read: yes(given.cache_read),
        cache_program: yes(given.cache_program),
        copyback: yes(given.copyback),
        suspend: Suspend {
            program: yes(given.program_suspend),
            erase: yes(given.erase_suspend),
            suspend_ns: from_zero(layers, "drive.commands.suspend_us", suspend_us)?,
            resume_ns: from_zero(layers, "drive.commands.resume_us", resume_us)?,
            reads_max,
        },
    };
    let raw = timed.then(|| raw::Commands {
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

/// Ways of choosing what is next, with what they do.
const POLICIES: &[(&str, &str)] = &[
    ("priority", "the most preferred class that has something to do"),
    ("fcfs", "what was issued first of what may start"),
];
const FCFS: usize = 1;
/// Ranks of jobs that a host write cannot do without.
const URGENT: &[(&str, &str)] =
    &[("background", "that of all jobs"), ("write", "that of host writes, in the order of issue")];
const AS_WRITES: usize = 1;

/// What is next at a die. Steps of incremental collection take turns with the host's writes, or a drive under load would
/// put them off until a write finds no free block.
pub(crate) fn scheduling(
    layers: &Layers,
    given: Option<raw::Scheduling>,
    (timed, incremental): (bool, bool),
    commands: &Commands,
) -> Result<((Order, bool), Option<raw::Scheduling>)> {
    only_timed(layers, "drive.scheduling", timed || given.is_none())?;
    let given = given.unwrap_or_default();
    let key = "drive.scheduling.priority";
    let name = given.policy.unwrap_or_else(|| POLICIES[0].0.into());
    let names = || Class::ALL.iter().map(|c| c.name());
    if choice(layers, "drive.scheduling.policy", "scheduling", &name, POLICIES)? == FCFS {
        if given.priority.is_some() {
            let expected = "expected it with policy = \"priority\" only";
            return Err(layers.error(key, "priority is no key of fcfs", expected));
        }
        if commands.suspend.program || commands.suspend.erase {
            let what = "under fcfs no read is preferred, so nothing would be suspended";
            let expected = "expected \"priority\", or no program_suspend and no erase_suspend";
            return Err(layers.error("drive.scheduling.policy", what, expected));
        }
        if given.urgent_jobs.is_some() {
            let expected = "expected it with policy = \"priority\" only";
            return Err(layers.error(
                "drive.scheduling.urgent_jobs",
                "urgent_jobs is no key of fcfs",
                expected,
            ));
        }
        let raw = raw::Scheduling { policy: Some(name), ..raw::Scheduling::default() };
        return Ok(((Order::Fcfs, false), timed.then_some(raw)));
    }
    let priority = given.priority.unwrap_or_else(|| names().map(String::from).collect());
    let mut classes = Vec::new();
    for word in &priority {
        let class = Class::ALL.into_iter().find(|c| c.name() == word);
        let class = class.ok_or_else(|| unknown(layers, key, "class", word, names()))?;
        classes.push(class);
    }
    let all_once = Class::ALL.iter().all(|c| classes.iter().filter(|&d| d == c).count() == 1);
    let [a, b, c] = classes[..] else { return Err(not_once(layers, key, &priority, names())) };
    if !all_once {
        return Err(not_once(layers, key, &priority, names()));
    }
    let urgent = given.urgent_jobs.unwrap_or_else(|| URGENT[usize::from(incremental)].0.into());
    let as_writes = choice(layers, "drive.scheduling.urgent_jobs", "rank", &urgent, URGENT)? == AS_WRITES;
    let raw = raw::Scheduling { policy: Some(name), priority: Some(priority), urgent_jobs: Some(urgent) };
    Ok(((Order::Priority([a, b, c]), as_writes), timed.then_some(raw)))
}

fn not_once<'a>(
    layers: &Layers,
    key: &str,
    found: &[String],
    names: impl Iterator<Item = &'a str>,
) -> Box<floatgate_base::Error> {
    let names: Vec<_> = names.map(|name| format!("\"{name}\"")).collect();
    let what = format!("[{}] does not name each of them once", found.join(", "));
    layers.error(key, what, format!("expected {}, in any order", names.join(", ")))
}

/// Order in which planes take pages.
pub(crate) fn allocation_order(
    layers: &Layers,
    given: Option<Vec<String>>,
    timed: bool,
) -> Result<([Level; 4], Option<Vec<String>>)> {
    let key = "ftl.allocation.order";
    only_timed(layers, key, timed || given.is_none())?;
    let names = || LEVELS.iter().map(|(name, _)| *name).filter(|name| *name != "way");
    let Some(words) = given else {
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

/// What idle time is used for, with what it means.
const BACKGROUND: &[(&str, &str)] = &[
    ("none", "blocks are collected when a host write needs them"),
    ("idle", "blocks are collected in idle time, too"),
];
const IDLE: usize = 1;

/// Jobs in idle time.
pub(crate) fn background(
    layers: &Layers,
    given: Option<raw::Background>,
    timed: bool,
    (trigger, stop, units): (u32, u32, u32),
) -> Result<(Option<Background>, Option<raw::Background>)> {
    only_timed(layers, "ftl.background", timed || given.is_none())?;
    let given = given.unwrap_or_default();
    let name = given.policy.unwrap_or_else(|| BACKGROUND[0].0.into());
    if choice(layers, "ftl.background.policy", "use of idle time", &name, BACKGROUND)? != IDLE {
        let set = [
            ("trigger_free_blocks", given.trigger_free_blocks.is_some()),
            ("idle_us", given.idle_us.is_some()),
        ];
        if let Some((key, _)) = set.iter().find(|(_, set)| *set) {
            let what = format!("{key} is no key of policy \"{name}\"");
            let expected = "expected it with policy = \"idle\" only";
            return Err(layers.error(&format!("ftl.background.{key}"), what, expected));
        }
        let raw = raw::Background { policy: Some(name), ..raw::Background::default() };
        return Ok((None, timed.then_some(raw)));
    }
    let free_key = "ftl.background.trigger_free_blocks";
    let free = given.trigger_free_blocks.unwrap_or((2 * stop).min(units / 2).max(trigger + 1));
    if free <= trigger || free >= units {
        let what = format!("trigger_free_blocks is {free}");
        let expected = format!(
            "expected more than ftl.collect's trigger, {trigger}, below which nobody waits for idle time, and less \
             than the {units} blocks of each pool"
        );
        return Err(layers.error(free_key, what, expected));
    }
    let idle_us = given.idle_us.unwrap_or(0.0);
    let background = Background {
        trigger_free_units: free,
        idle_ns: from_zero(layers, "ftl.background.idle_us", idle_us)?,
    };
    let raw = raw::Background { policy: Some(name), trigger_free_blocks: Some(free), idle_us: Some(idle_us) };
    Ok((Some(background), Some(raw)))
}
