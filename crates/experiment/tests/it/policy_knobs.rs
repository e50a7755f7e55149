//! No silent knob in any slot: every policy of every table gives other metrics than the default, and so does every
//! parameter of each.
//!
//! Rows, defaults and values to try come from the tables. A slot has a scenario in which its policies matter;
//! additional settings for a parameter are in [`SPECIAL`].

use crate::common::knob_toml::{aware, planes, timed};
use crate::common::policies::separator;
use crate::common::{Folder, hinted, try_run};
use floatgate_base::policy::{Facts, ParamKind};
use floatgate_base::{ParamInfo, PolicyInfo, Setting, Slot};
use floatgate_config::slot_types::SLOTS;
use floatgate_experiment::{LifetimeOptions, lifetime};
use serde_json::Value;
use std::collections::BTreeMap;

const DRIVE: &str = "[drive.geometry]\nblocks_per_plane = 40\npages_per_block = 16\n";
const FTL: &str = "[ftl]\nspare_factor = 0.25\nprecondition = \"random\"\n";
const HOT_COLD: &str = "pattern = \"hot-cold\"\nhot_share_of_pages = 0.2\n";

/// In time, whole blocks make the longest waits to see a difference by.
const WHOLE_BLOCKS: &str = "[ftl.collect]\nmode = \"whole-block\"\n";

/// Nominal cycles of the drive of the scenarios, small enough for wear to matter.
const PE_CYCLES: u32 = 300;

/// An experiment, whether it is a life, and the figures in which a policy of a slot may show.
struct Scenario {
    toml: String,
    life: bool,
    figures: &'static [&'static str],
}

/// Writes so slow that chunks fill before they are due or do not, and some reads.
fn reduction(info: &PolicyInfo) -> Scenario {
    let energy = "[drive.endurance]\npe_cycles = 100000000\n[drive.energy]\nprogram_uj = 29.1\n";
    let workload = "[workload]\nrequests = 6000\nread_share = 0.3\nduplicate_share = 0.3\ncompressed_share = 0.6\n\
                    incompressible_share = 0.2\narrival = \"open\"\nrate_per_s = 5\n";
    let figures =
        &["/flash/programs/total", "/energy/total_j", "/latency_us/write/mean", "/latency_us/read/mean"];
    // Lets the manager decide often, with enough data.
    let managed = match info.name {
        "integrated" => "[lifetime.reduce]\nepoch_s = 30\nsample_share = 0.4\n",
        _ => "",
    };
    Scenario {
        toml: format!("mode = \"timed\"\n{DRIVE}{energy}{FTL}{workload}{managed}"),
        life: false,
        figures,
    }
}

/// Few cycles, and a fifth of the data is written.
fn leveling(info: &PolicyInfo) -> Scenario {
    let endurance = format!("[drive.endurance]\npe_cycles = {PE_CYCLES}\n");
    let figures = &[
        "/level/swaps",
        "/level/passed_over",
        "/level/rounds",
        "/level/triggered",
        "/level/moved_pages",
        "/level/pairs",
        "/level/alike",
        "/level/unpaired",
    ];
    // Two chips, and cold data of which some are read, where a leveler looks for both.
    let (drive, writes) = match info.name {
        "read-balance" => {
            (DRIVE.replace("blocks", "chips_per_channel = 2\nblocks"), "0.98\nread_share = 0.4")
        }
        _ => (DRIVE.to_string(), "1"),
    };
    let workload = format!("[workload]\nrequests = 40000\n{HOT_COLD}hot_share_of_writes = {writes}\n");
    Scenario { toml: format!("{drive}{endurance}{FTL}{workload}"), life: false, figures }
}

/// Reads of a few pages, which makes some of them hot, and some writes.
fn disturbed(slot: &Slot) -> Scenario {
    let drive = DRIVE.replace("pages_per_block = 16", "pages_per_block = 32");
    let disturb = match slot.key {
        "ftl.reclaim" => "[drive.disturb]\nmodel = \"tlc-base\"\nmax_reads = 200\n",
        _ => "",
    };
    let workload = "[workload]\nrequests = 100000\nread_share = 0.95\npattern = \"zipf\"\nzipf_theta = 1.2\n";
    let figures = &[
        "/reclaim/on_demand",
        "/reclaim/background",
        "/reclaim/moved_pages",
        "/reclaim/replicas/made",
        "/reclaim/reads_by_mode",
        "/reclaim/reads_by_page_type",
        "/reclaim/time_s/reclaim",
        "/reclaim/max_reads",
    ];
    Scenario { toml: format!("{drive}{disturb}{FTL}{workload}"), life: false, figures }
}

/// Bursts of programs after which the drive is idle for long, and of others.
fn predicted(folder: &Folder) -> Scenario {
    let file = format!("{}/bursts.parquet", folder.path());
    let workload = format!("[workload]\nfile = \"{file}\"\narrival = \"open\"\n");
    let figures =
        &["/flash/programs/total", "/latency_us/write/mean", "/jobs/idle/prediction/predicted_periods"];
    Scenario { toml: format!("mode = \"timed\"\n{DRIVE}{FTL}{WHOLE_BLOCKS}{workload}"), life: false, figures }
}

/// Bursts, and idle time in which jobs collect; blocks of so many pages that a second erase pays.
fn dpes(info: &PolicyInfo) -> Scenario {
    let figures = &["/dpes/effective_cycles", "/dpes/deepened", "/dpes/time_added_s/total"];
    let drive = DRIVE.replace("pages_per_block = 16", "pages_per_block = 64");
    let bursts = "[workload]\nrequests = 20000\npattern = \"jobs\"\nrate_per_s = 200\nburst_on_s = 0.1\nburst_off_s = 1\n";
    let toml = match info.name {
        "idle" => format!(
            "mode = \"timed\"\n{drive}{FTL}[ftl.background]\npolicy = \"idle\"\n{bursts}arrival = \"open\"\n"
        ),
        _ => format!("{drive}{FTL}{bursts}"),
    };
    Scenario { toml, life: false, figures }
}

fn scenario(slot: &Slot, info: &PolicyInfo, folder: &Folder) -> Scenario {
    let run = |toml: String, figures| Scenario { toml, life: false, figures };
    match slot.key {
        "ftl.separate" => {
            let workload = if !separator(info.name, &[]).needs().is_empty() {
                format!("file = \"{}/hinted.parquet\"\n", folder.path())
            } else {
                format!("requests = 20000\n{HOT_COLD}hot_share_of_writes = 0.8\n")
            };
            let figures = &["/flash/programs/total", "/separate/streams", "/separate/found"];
            // Room for the open blocks of all streams.
            let (drive, ftl) = (DRIVE.replace("40", "48"), FTL.replace("0.25", "0.375"));
            run(format!("{drive}{ftl}[workload]\n{workload}"), figures)
        }
        // Few pages are rewritten often: some of them coincide by chance.
        "ftl.dispatch" => {
            let workload = "[workload]\nrequests = 20000\npattern = \"hot-cold\"\nhot_share_of_pages = 0.04\n\
                            hot_share_of_writes = 0.9\nread_share = 0.2\n";
            // Which free block is opened shows in wear alone.
            let figures = &[
                "/flash/programs/total",
                "/dispatch/matched_requests",
                "/dispatch/patterns_per_window",
                "/wear/erases_std",
            ];
            run(format!("{DRIVE}{FTL}{workload}"), figures)
        }
        "ftl.reclaim" | "drive.disturb" => disturbed(slot),
        "ftl.level" => leveling(info),
        // A life of eighteen days, of which the drive endures a fraction, with bursts.
        "lifetime.throttle" => {
            let drive = format!("{DRIVE}[drive.endurance]\nmodel = \"ready-table2\"\n{FTL}");
            let workload = "[workload]\nrequests = 40000\nrate_per_s = 5\npattern = \"jobs\"\nburst_on_s = 100\n\
                            burst_off_s = 500\n[lifetime.throttle]\ntarget_years = 0.05\n";
            let figures = &[
                "/throttle/epochs",
                "/throttle/waits",
                "/throttle/selections",
                "/throttle/prediction/within",
                "/lifetime/w_work_bytes",
                "/latency_us/write/mean",
            ];
            Scenario { toml: drive + workload, life: true, figures }
        }
        "lifetime.reduce" => reduction(info),
        "drive.scheduling" => run(
            planes("", "read_share = 0.5\n") + WHOLE_BLOCKS,
            &["/latency_us/read/mean", "/latency_us/write/mean"],
        ),
        "ftl.background" if info.name == "by-context" => predicted(folder),
        "ftl.background" => run(
            timed("rate_per_s = 100\narrival = \"open\"\n") + WHOLE_BLOCKS,
            &["/flash/programs/total", "/latency_us/write/mean"],
        ),
        "ftl.dpes" => dpes(info),
        "drive.buffer" => {
            run(aware(""), &["/buffer/read_hits", "/buffer/kept_pages", "/buffer/preloaded_pages"])
        }
        // Rest of some hours between two erases: under no model as much as heals the most.
        "drive.endurance" => run(
            format!("{DRIVE}{FTL}[workload]\nrequests = 4000\nrate_per_s = 0.01\n"),
            &["/lifetime/pe_cycles_achievable"],
        ),
        _ => run(format!("{DRIVE}{FTL}[workload]\nrequests = 4000\n"), &["/flash/programs/total"]),
    }
}

/// What a parameter needs to matter beside its slot's scenario.
struct Special {
    /// The slot, the parameter, and the policies for which that is so; none for all that have it.
    param: (&'static str, &'static str, &'static [&'static str]),
    /// Keys that are set.
    with: &'static [(&'static str, &'static str)],
    /// Values to try, where those that follow from the table do not do.
    values: &'static [&'static str],
}

const SPECIAL: &[Special] = &[
    // Ratios so close to those at which schemes pay that the epochs which count make a difference.
    Special {
        param: ("lifetime.reduce", "history_epochs", &[]),
        with: &[("workload.duplicate_share", "0.02"), ("workload.compressed_share", "0.9")],
        values: &[],
    },
    // Free by default.
    Special { param: ("lifetime.reduce", "hash_us", &[]), with: &[], values: &["40"] },
    Special { param: ("lifetime.reduce", "compress_us", &[]), with: &[], values: &["40"] },
    Special { param: ("lifetime.reduce", "decompress_us", &[]), with: &[], values: &["40"] },
    Special { param: ("lifetime.reduce", "decompress_uj", &[]), with: &[], values: &["4"] },
    // Under random, which sees no valid pages: dead update blocks are taken first.
    Special {
        param: ("ftl.separate", "update_blocks_last", &["host-given"]),
        with: &[("ftl.separate.update_from", "0"), ("ftl.collect.policy", "random")],
        values: &[],
    },
    // Few groups: the drive has room for an archive of each.
    Special {
        param: ("ftl.separate", "archive", &["ids"]),
        with: &[("ftl.separate.groups", "3")],
        values: &[],
    },
    // Several chunks, and periods that end within the run.
    Special {
        param: ("ftl.separate", "variant", &["sfr"]),
        with: &[("ftl.separate.chunk_bytes", "65536"), ("ftl.separate.decay_writes", "1000")],
        values: &[],
    },
    // Epochs enough for configurations to be applied, and compared.
    Special {
        param: ("ftl.separate", "sample_every", &["midas"]),
        with: &[("workload.requests", "100000")],
        values: &[],
    },
    Special {
        param: ("ftl.separate", "intervals", &["midas"]),
        with: &[("workload.requests", "100000")],
        values: &[],
    },
    Special {
        param: ("ftl.separate", "mismatch", &["midas"]),
        with: &[("workload.requests", "100000")],
        values: &[],
    },
    // Only predictions with errors are outlived.
    Special {
        param: ("ftl.separate", "overdue", &["predicted"]),
        with: &[("ftl.separate.error_sigma", "1.0")],
        values: &[],
    },
    Special {
        param: ("lifetime.throttle", "history_s", &[]),
        with: &[("lifetime.throttle.errors_in_a_row", "1")],
        values: &["3000"],
    },
    // None by default.
    Special { param: ("lifetime.throttle", "max_delay_s", &[]), with: &[], values: &["0.01"] },
    // Only where the other rule is silent.
    Special {
        param: ("lifetime.throttle", "wrong_share", &[]),
        with: &[("lifetime.throttle.errors_in_a_row", "1000")],
        values: &["1"],
    },
    // What may be borrowed leaves no writer waiting.
    Special {
        param: ("lifetime.throttle", "predict", &["dynamic", "ready-optimistic"]),
        with: &[("lifetime.throttle.spare_share", "0")],
        values: &[],
    },
    // Managers without read-resistant blocks know one mode only.
    Special {
        param: ("drive.disturb", "modes", &[]),
        with: &[("ftl.reclaim.policy", "rrb"), ("drive.disturb.max_reads", "200")],
        values: &[],
    },
    Special {
        param: ("drive.disturb", "weights", &[]),
        with: &[("drive.disturb.max_reads", "200")],
        values: &[],
    },
    // Most replicas are made early here, or no block that holds some is read much.
    Special {
        param: ("ftl.reclaim", "migrate_at", &[]),
        with: &[("ftl.reclaim.create_at", "0.2")],
        values: &["0.3"],
    },
    // Closed blocks do not take all replicas.
    Special {
        param: ("ftl.reclaim", "replicas_in", &[]),
        with: &[("ftl.reclaim.replica_pages", "1"), ("ftl.reclaim.create_at", "0.2")],
        values: &[],
    },
    // The least erased blocks hold data that are never written again, in so short a run.
    Special { param: ("ftl.level", "cold_drive_writes", &["gap"]), with: &[], values: &["30", "100"] },
    // More reads of cold data, which gives blocks with most pages read.
    Special {
        param: ("ftl.level", "frequent_read_share", &[]),
        with: &[("workload.requests", "120000"), ("workload.read_share", "0.8")],
        values: &["0.5", "0.3", "0.9"],
    },
    // Of two free blocks the upper half is the most worn one.
    Special {
        param: ("ftl.dispatch", "rest_blocks", &[]),
        with: &[("ftl.collect.trigger_free_blocks", "5")],
        values: &[],
    },
    // A map of many pages, and a journal that turns over.
    Special {
        param: ("ftl.metadata", "journal_pages", &[]),
        with: &[("ftl.metadata.map_entry_bytes", "64"), ("ftl.metadata.updates_per_page", "16")],
        values: &["3", "9"],
    },
    // Four chips: of two, any pair takes both.
    Special {
        param: ("ftl.level", "chips", &[]),
        with: &[("drive.geometry.chips_per_channel", "4")],
        values: &[],
    },
    Special {
        param: ("drive.buffer", "preload", &[]),
        with: &[("drive.buffer.disturbed_share", "0.3")],
        values: &[],
    },
    // At the maximum the manager would reclaim the block.
    Special { param: ("drive.buffer", "disturbed_share", &[]), with: &[], values: &["0.5", "0.9"] },
    // It has no default from which values to try would follow.
    Special { param: ("ftl.background", "trigger_free_blocks", &[]), with: &[], values: &["3", "6"] },
    Special { param: ("lifetime.throttle", "epoch_s", &[]), with: &[], values: &["1200"] },
];

fn special_of(slot: &Slot, info: &PolicyInfo, param: &ParamInfo) -> Option<&'static Special> {
    SPECIAL.iter().find(|special| {
        let (key, name, policies) = special.param;
        key == slot.key && name == param.name && (policies.is_empty() || policies.contains(&info.name))
    })
}

/// Values that a parameter takes beside its default, as TOML: the ends of its range, unless they make huge tables, and
/// halves and multiples of the default.
fn values(param: &ParamInfo) -> Vec<String> {
    const HUGE: u64 = 1 << 20;
    let default = param.fallback(&Facts { pe_cycles: PE_CYCLES, ..Facts::default() });
    let candidates = match (param.kind, &default) {
        (ParamKind::Whole { least, most }, default) => {
            let value = if let Some(Setting::Whole(value)) = default { *value } else { least };
            let ends = [least, least + 1].into_iter().chain((most < HUGE).then_some(most));
            let of: Vec<u64> = [value / 2, 2 * value, 4 * value].into_iter().chain(ends).collect();
            of.into_iter().map(Setting::Whole).collect()
        }
        (ParamKind::Number(range), Some(Setting::Number(value))) => {
            let of = [2.0 * value, 0.5 * value, 4.0 * value, range.least, range.most];
            of.map(Setting::Number).to_vec()
        }
        (ParamKind::Numbers { .. }, Some(Setting::Numbers(list))) => {
            vec![Setting::Numbers(list.iter().map(|value| 0.5 * value).collect())]
        }
        (ParamKind::Rows { .. }, Some(Setting::Rows(rows))) => vec![Setting::Rows(rows[..1].to_vec())],
        (ParamKind::Flag, _) => vec![Setting::Flag(false), Setting::Flag(true)],
        (ParamKind::Name(names), _) => {
            names.iter().map(|(name, _)| Setting::Name((*name).to_string())).collect()
        }
        (ParamKind::Order(names), _) => {
            vec![Setting::Names(names.iter().rev().map(|name| (*name).to_string()).collect())]
        }
        _ => Vec::new(),
    };
    let toml = |value: Setting| match value {
        Setting::Whole(value) => value.to_string(),
        Setting::Number(value) => format!("{value:?}"),
        Setting::Name(value) => value,
        Setting::Names(names) => format!("{names:?}"),
        lists => lists.to_toml(),
    };
    let other = |value: &Setting| param.takes(value) && Some(value) != default.as_ref();
    candidates.into_iter().filter(other).map(toml).collect()
}

/// The result under settings.
fn outcome(scenario: &Scenario, settings: &[(String, String)]) -> Result<Value, String> {
    if !scenario.life {
        let settings: Vec<_> = settings.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
        return try_run(&scenario.toml, &settings).map(|output| output.result);
    }
    let options = LifetimeOptions::default();
    // Short laps say less about write amplification, and as much about parameters.
    let short = [("lifetime.forecast.lap_programs_min".to_owned(), "1".to_owned())];
    let settings = [settings, &short].concat();
    lifetime(Some(&scenario.toml), "e.toml", &[settings], &options, &mut |_| Ok(()))
        .map(|mut all| all.remove(0))
        .map_err(|e| e.to_string())
}

/// Results under settings that must run, each run once.
#[derive(Default)]
struct Defaults(BTreeMap<(String, Vec<(String, String)>), Value>);

impl Defaults {
    fn of(&mut self, scenario: &Scenario, settings: &[(String, String)]) -> Value {
        let run = || outcome(scenario, settings).unwrap_or_else(|e| panic!("{settings:?}: {e}"));
        self.0.entry((scenario.toml.clone(), settings.to_vec())).or_insert_with(run).clone()
    }
}

/// Whether one of the figures differs.
fn differs(scenario: &Scenario, one: &Value, other: &Value) -> bool {
    scenario.figures.iter().any(|figure| one.pointer(figure) != other.pointer(figure))
}

fn traces() -> Folder {
    let folder = Folder::new("policy-knobs");
    hinted::file(&folder, "hinted.parquet", &hinted::programs(1, 10, 480, 12_000));
    hinted::file_at(&folder, "bursts.parquet", &hinted::bursts(1, 480, 300));
    folder
}

fn chosen(slot: &Slot, info: &PolicyInfo) -> (String, String) {
    (format!("{}.{}", slot.key, slot.selector), info.name.to_string())
}

/// A value of a parameter under which a figure is another one than with its default; else those that were tried.
fn telling(
    (slot, info, param): (&Slot, &PolicyInfo, &ParamInfo),
    scenario: &Scenario,
    default: &Value,
    settings: &[(String, String)],
) -> Result<String, Vec<String>> {
    let chosen = special_of(slot, info, param).map_or(&[][..], |special| special.values);
    let tried = if chosen.is_empty() { values(param) } else { chosen.iter().map(|v| (*v).into()).collect() };
    let tells = |value: &&String| {
        let mut settings = settings.to_vec();
        settings.push((format!("{}.{}", slot.key, param.name), (*value).clone()));
        // A value may be too much for so small a drive; that is said, and another one tried.
        let Ok(other) = outcome(scenario, &settings) else { return false };
        assert_ne!(default["config_hash"], other["config_hash"], "{settings:?}");
        differs(scenario, default, &other)
    };
    tried.iter().find(tells).cloned().ok_or(tried)
}

#[test]
fn every_policy_matters() {
    let folder = traces();
    let (mut silent, mut defaults) = (Vec::new(), Defaults::default());
    for slot in SLOTS {
        for info in &slot.policies[1..] {
            let scenario = scenario(slot, info, &folder);
            let settings = |info| vec![chosen(slot, info)];
            let default = defaults.of(&scenario, &settings(&slot.policies[0]));
            let other = defaults.of(&scenario, &settings(info));
            // A window may be so large by default that it holds this small drive.
            let by = |param| telling((slot, info, param), &scenario, &default, &settings(info)).is_ok();
            if !differs(&scenario, &default, &other) && !info.params.iter().any(by) {
                silent.push(format!("{}: {}", slot.key, info.name));
            }
        }
    }
    assert!(silent.is_empty(), "they do what the default does:\n{}", silent.join("\n"));
}

#[test]
fn every_parameter_of_every_policy_matters() {
    let folder = traces();
    let (mut silent, mut defaults) = (Vec::new(), Defaults::default());
    for slot in SLOTS {
        for info in slot.policies {
            for param in info.params {
                let scenario = scenario(slot, info, &folder);
                let mut settings = vec![chosen(slot, info)];
                let with = special_of(slot, info, param).map_or(&[][..], |special| special.with);
                settings.extend(with.iter().map(|(key, value)| ((*key).into(), (*value).into())));
                let default = defaults.of(&scenario, &settings);
                if let Err(tried) = telling((slot, info, param), &scenario, &default, &settings) {
                    silent.push(format!("{}.{} of {}: {tried:?}", slot.key, param.name, info.name));
                }
            }
        }
    }
    assert!(silent.is_empty(), "no value that was tried changes a figure:\n{}", silent.join("\n"));
}

/// What stands in [`SPECIAL`] is in a table.
#[test]
fn special_needs_are_those_of_rows() {
    for special in SPECIAL {
        let (key, name, policies) = special.param;
        let slot = SLOTS.iter().find(|slot| slot.key == key).unwrap_or_else(|| panic!("{key} is not a slot"));
        let owners =
            slot.params().into_iter().find(|(param, _)| param.name == name).map(|(_, owners)| owners);
        let owners = owners.unwrap_or_else(|| panic!("{name} is not a parameter of {key}"));
        assert!(policies.iter().all(|policy| owners.contains(policy)), "{key}.{name}: {policies:?}");
    }
}
