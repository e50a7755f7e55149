//! Wear-leveling: hot-cold swap by hand; every leveler on drives with static data, on drives that wear evenly, and in
//! idle time.

use crate::common::policies::separator;
use crate::common::recorder::{Command, Recorder};
use crate::common::{number, run_ok};
use floatgate_base::testing::Bound;
use floatgate_base::{ExtentKind, Extents, Hints, Lpn, Ppn, UnitId};
use floatgate_flash::{Cause, Flash, Layout, Scope};
use floatgate_ftl::level::HotColdSwap;
use floatgate_ftl::separate::WaitingPlace;
use floatgate_ftl::{Ftl, Level, Separate, Setup};
use floatgate_nand::Geometry;
use serde_json::Value;

/// Most erases of a block over the mean.
fn spread(result: &Value) -> f64 {
    number(result, "/wear/erases_max") / number(result, "/wear/erases_mean")
}

/// A drive of blocks of two pages that holds six, with hot-cold swap.
fn swapping(blocks_per_plane: u32, separate: Separate, free_units: u32) -> (Ftl, Recorder) {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane,
        pages_per_block: 2,
        page_bytes: 4096,
    };
    let policy = HotColdSwap { pe_cycles: 20, retirement_age: 0.85, age_variance: 1.0, lead_share_min: 0.0 };
    let setup = Setup {
        separate,
        level: Level::HotColdSwap(policy),
        trigger_free_units: free_units,
        stop_free_units: free_units,
        ..Setup::plain(6)
    };
    let layout = Layout::new(geometry, Scope::Plane);
    (Ftl::new(layout.clone(), setup), Recorder::new(layout))
}

/// Six blocks of two pages. Pages 0 to 3 are written once and lie in blocks 0 and 1; pages 4 and 5 are written in turn,
/// and the other four blocks are erased one after the other, dead.
///
/// A block endures 20 erases. When all four have been erased n times, the mean is 4n/6. The next victim retires if 20 -
/// n < 0.85 (20 - 2n/3), that is, if n > 6.92: the first swapped block has been erased 7 times. When the three others
/// were erased n times and the next victim, n - 1 times, the mean is (4n - 1)/6. That victim does not retire before n -
/// 1 = 8, which is later. So with n = 7 the victim is erased an eighth time, pages 0 and 1 move in, and block 0 is
/// erased for the first time.
#[test]
fn cold_data_move_into_the_first_worn_block() {
    let (mut ftl, mut flash) = swapping(6, Separate::None, 1);
    let mut write = |lpn: u32, flash: &mut Recorder| {
        let mut extents = Extents::default();
        extents.push(Lpn(lpn), 1, ExtentKind::Write);
        flash.commands.clear();
        ftl.serve(flash, &extents).unwrap();
        ftl.audit(flash).unwrap();
        ftl.leveled()
    };
    (0..4).for_each(|lpn| _ = write(lpn, &mut flash));
    let mut turns = 0;
    let mut bound = Bound::new(100_000_000);
    while write(4 + turns % 2, &mut flash).swaps == 0 {
        bound.step();
        turns += 1;
        assert!(turns < 1000, "{:?}", flash.erase_counts());
    }
    let worn =
        UnitId::all(6).find(|&unit| flash.erase_count(unit) == 8).expect("a block was erased eight times");
    let first = Ppn(worn.0 * 2);
    let expected = [
        Command::Erase(worn),
        Command::Copy(Ppn(0), first, Lpn(0)),
        Command::Copy(Ppn(1), first + 1, Lpn(1)),
        Command::Erase(UnitId(0)),
    ];
    assert_eq!(flash.commands[..4], expected);
    let mut erases = flash.erase_counts().as_slice().to_vec();
    erases.sort_unstable();
    assert_eq!(erases, [0, 1, 7, 7, 7, 8]);
    let counters = flash.counters();
    let counts = [counters.programs, counters.reads, counters.erases].map(|by| by[Cause::Level as usize]);
    assert_eq!(counts, [2, 2, 1]);
    // The open block was opened before; the next one is block 0, which takes hot pages now.
    let open = &flash.commands[4];
    assert!(matches!(open, Command::Program(ppn, _) if ppn.0 % 2 == 0), "{open:?}");
    write(4, &mut flash);
    write(5, &mut flash);
    assert_eq!(flash.commands.last(), Some(&Command::Program(Ppn(0), Lpn(5))), "{:?}", flash.commands);
}

/// Eight blocks of two pages, two handles; blocks of handle 1 are update blocks. The cold pages are of handle 0. The
/// block of handle 1 that takes in two of them becomes one of handle 0: otherwise collection would move them, later,
/// among the hot ones.
#[test]
fn a_block_that_takes_cold_data_in_is_of_their_stream() {
    let values = [("handles", 2.0), ("update_from", 1.0), ("update_blocks_last", 1.0)];
    let separate = separator("host-given", &values);
    let (mut ftl, mut flash) = swapping(8, separate, 2);
    let mut writes = (0..4).map(|lpn| (lpn, 0)).chain((0..1000).map(|turn| (4 + turn % 2, 1)));
    let mut bound = Bound::new(100_000);
    while ftl.leveled().swaps == 0 {
        bound.step();
        let (lpn, handle) = writes.next().unwrap_or_else(|| panic!("no swap: {:?}", flash.erase_counts()));
        let mut extents = Extents::default();
        extents.push(Lpn(lpn), 1, ExtentKind::Write);
        extents.columns.hints.push(Hints { handle, ..Hints::default() });
        flash.commands.clear();
        ftl.serve(&mut flash, &extents).unwrap();
        ftl.audit(&flash).unwrap();
    }
    let Command::Erase(worn) = flash.commands[0] else { panic!("{:?}", flash.commands) };
    let first = Ppn(worn.0 * 2);
    assert_eq!(
        flash.commands[1..4],
        [
            Command::Copy(Ppn(0), first, Lpn(0)),
            Command::Copy(Ppn(1), first + 1, Lpn(1)),
            Command::Erase(UnitId(0))
        ]
    );
    let separation = ftl.separation().unwrap();
    assert_eq!(separation.place(worn), WaitingPlace::Index);
    let updated = UnitId::all(8).any(|unit| separation.place(unit) == WaitingPlace::Last);
    assert!(updated, "blocks of handle 1 are update blocks");
}

/// Four fifths of the data are never rewritten.
const STATIC: &str = "[drive.geometry]\nblocks_per_plane = 128\npages_per_block = 32\n[drive.endurance]\npe_cycles = 300\n\
    [ftl]\nspare_factor = 0.12\nprecondition = \"sequential\"\n\
    [workload]\npattern = \"hot-cold\"\nhot_share_of_pages = 0.2\nhot_share_of_writes = 1.0\nrequests = 500000\n";

fn set(key: &str, value: &str) -> (&'static str, String) {
    (Box::leak(key.to_owned().into_boxed_str()), value.to_owned())
}

#[test]
fn static_data_no_longer_spare_their_blocks() {
    for scope in ["plane", "superblock"] {
        for planes in ["1", "2"] {
            let mut settings =
                vec![set("ftl.collect.scope", scope), set("drive.geometry.planes_per_die", planes)];
            settings.push(set("workload.requests", if planes == "1" { "500000" } else { "1000000" }));
            let none = run_ok(STATIC, &settings).result;
            settings.push(set("ftl.level.policy", "hot-cold-swap"));
            let leveled = run_ok(STATIC, &settings).result;
            let (before, after) = (spread(&none), spread(&leveled));
            // A block of static data was never erased; the others share its part.
            assert_eq!(number(&none, "/wear/erases_min"), 0.0);
            assert!(after - 1.0 < 0.5 * (before - 1.0), "{scope} {planes}: {before} {after}");
            // The rule's bound: nothing is collected without a swap beyond 0.15 of the average remaining lifetime.
            let (mean, max) = (number(&leveled, "/wear/erases_mean"), number(&leveled, "/wear/erases_max"));
            assert!(max <= mean + 0.15 * (300.0 - mean) + 10.0, "{scope} {planes}: {mean} {max}");
            let (moved, all) =
                (number(&leveled, "/flash/programs/level"), number(&leveled, "/flash/programs/total"));
            assert!(moved > 0.0 && moved < 0.1 * all, "{moved} of {all}");
            assert_eq!(number(&none, "/flash/programs/level"), 0.0);
        }
    }
}

#[test]
fn a_drive_that_wears_evenly_is_left_alone() {
    let toml = "[drive.geometry]\nblocks_per_plane = 128\npages_per_block = 32\n[drive.endurance]\npe_cycles = 1000\n\
                [ftl]\nspare_factor = 0.15\nprecondition = \"random\"\n[workload]\nrequests = 1000000\n";
    for policy in ["greedy", "fifo", "d-choices", "cost-benefit"] {
        let settings = [set("ftl.collect.policy", policy), set("ftl.level.policy", "hot-cold-swap")];
        let result = run_ok(toml, &settings).result;
        let (moved, all) =
            (number(&result, "/flash/programs/level"), number(&result, "/flash/programs/total"));
        assert!(moved < 0.001 * all, "{policy}: {moved} of {all}");
    }
}

/// The paper's other rule, alone: worn blocks are skipped, and nothing moves for wear-leveling.
#[test]
fn worn_blocks_are_passed_over() {
    let mut settings = vec![set("ftl.level.policy", "hot-cold-swap"), set("ftl.level.retirement_age", "0")];
    settings.push(set("ftl.level.age_variance", "0.05"));
    let passed = run_ok(STATIC, &settings).result;
    assert!(number(&passed, "/level/passed_over") > 100.0);
    assert_eq!(number(&passed, "/level/swaps"), 0.0);
    let none = run_ok(STATIC, &[]).result;
    assert!(number(&passed, "/waf") > number(&none, "/waf"), "what is passed over would have been cheaper");
}

/// Both modes swap the same blocks; in idle time jobs swap, too, page by page, and all books agree.
#[test]
fn modes_agree_and_idle_time_swaps() {
    let small = STATIC.replace("500000", "60000").replace("pe_cycles = 300", "pe_cycles = 40");
    let mut settings = vec![set("ftl.level.policy", "hot-cold-swap")];
    let functional = run_ok(&small, &settings).result;
    assert!(number(&functional, "/level/swaps") > 20.0);
    settings.push(set("mode", "timed"));
    settings.push(set("ftl.collect.mode", "whole-block"));
    let timed = run_ok(&small, &settings).result;
    for key in ["flash", "gc", "level", "wear"] {
        let without_times = |result: &Value| {
            let mut table = result[key].clone();
            if let Some(map) = table.as_object_mut() {
                map.remove("time_s");
                map.remove("first_failure_s");
                map.remove("idle_h");
            }
            table
        };
        assert_eq!(without_times(&functional), without_times(&timed), "{key}");
    }
    let idle =
        [("ftl.background.policy", "idle"), ("workload.arrival", "open"), ("workload.rate_per_s", "200")];
    settings.extend(idle.map(|(key, value)| set(key, value)));
    let mut resolved = {
        let overrides: Vec<_> = settings.iter().map(|(k, v)| ((*k).to_string(), v.clone())).collect();
        floatgate_experiment::load(Some(&small), "t", &overrides).unwrap()
    };
    resolved.plan.shadow = true;
    let idle = floatgate_experiment::run(resolved, &mut |_| Ok(())).unwrap().result;
    assert!(number(&idle, "/level/swaps") > 20.0);
    assert!(number(&idle, "/jobs/background_s") > 10.0 * number(&idle, "/jobs/foreground_s"));
    assert!(spread(&idle) < 1.5);
}

/// A leveler, what the drive of [`STATIC`] needs for it, and requests.
type Acting = (&'static str, &'static [(&'static str, &'static str)], &'static str);

/// Levelers that move whole blocks.
const LEVELERS: &[Acting] = &[
    ("swl", &[], "500000"),
    (
        "read-balance",
        &[("drive.geometry.chips_per_channel", "2"), ("drive.geometry.blocks_per_plane", "64")],
        "500000",
    ),
    ("lazy", &[], "500000"),
    ("adaptive", &[("ftl.level.pe_cycles", "300")], "500000"),
    // Of several free blocks it takes the most worn.
    ("gap", &[("ftl.collect.stop_free_blocks", "4")], "500000"),
];

fn leveled_by(name: &str, more: &[(&str, &str)]) -> Vec<(&'static str, String)> {
    let chosen = [("ftl.level.policy", name)];
    chosen.iter().chain(more).map(|(key, value)| set(key, value)).collect()
}

#[test]
fn each_leveler_evens_wear_out_and_says_what_it_did() {
    for &(name, more, requests) in LEVELERS {
        let mut settings = leveled_by(name, more);
        settings.push(set("workload.requests", requests));
        // Cold pages that move join the hot ones, and cost collection more from then on.
        settings.push(set("drive.endurance.pe_cycles", "3000"));
        let leveled = run_ok(STATIC, &settings).result;
        settings.retain(|(key, _)| !key.starts_with("ftl.level"));
        let none = run_ok(STATIC, &settings).result;
        let (before, after) = (spread(&none), spread(&leveled));
        assert!(after - 1.0 < 0.6 * (before - 1.0), "{name}: {before} {after}");
        let level = &leveled["level"];
        let (moved, all) =
            (number(&leveled, "/flash/programs/level"), number(&leveled, "/flash/programs/total"));
        assert!(moved > 0.0 && moved < 0.15 * all, "{name}: {moved} of {all}, {level}");
        assert_eq!(number(&leveled, "/level/moved_pages"), moved, "{name}");
        assert!(number(&leveled, "/level/triggered") >= number(&leveled, "/flash/erases/level"), "{name}");
        assert_eq!(leveled["level"]["time_s"], leveled["flash"]["time_s"]["level"], "{name}");
        let has_rounds = ["swl", "read-balance"].contains(&name);
        assert_eq!(number(&leveled, "/level/rounds") > 0.0, has_rounds, "{name}: {level}");
        // The most that a block may be ahead.
        let [min, mean, max] =
            ["min", "mean", "max"].map(|key| number(&leveled, &format!("/wear/erases_{key}")));
        match name {
            "gap" => assert!(max - min <= 100.0, "{min} {max}"),
            "lazy" => assert!(max - mean <= 60.0, "{mean} {max}"),
            _ => {}
        }
    }
}

#[test]
fn each_leveler_leaves_a_drive_that_wears_evenly_alone() {
    let toml = "[drive.geometry]\nblocks_per_plane = 64\npages_per_block = 32\nchips_per_channel = 2\n\
                [drive.endurance]\npe_cycles = 1000\n\
                [ftl]\nspare_factor = 0.15\nprecondition = \"random\"\n[workload]\nrequests = 600000\n";
    for &(name, ..) in LEVELERS {
        let result = run_ok(toml, &leveled_by(name, &[])).result;
        let (moved, all) =
            (number(&result, "/flash/programs/level"), number(&result, "/flash/programs/total"));
        assert!(moved < 0.001 * all, "{name}: {moved} of {all}");
    }
}

/// Blocks that are read often and blocks that are not: a quarter of the cold data is read all the time.
#[test]
fn blocks_of_both_read_types_share_destinations() {
    let folder = crate::common::Folder::new("read-balance");
    let mut rng = floatgate_base::Rng::new(7, "read balance");
    let mut trace = String::new();
    // Pages 0 to 799 are cold; of them 0 to 399 are read. Pages 800 to 999 are hot.
    let mut time = 0;
    let mut line = |kind: &str, page: u64| {
        time += 100;
        trace += &format!("{time},host,0,{kind},{},4096,0\n", page * 4096);
    };
    (0..1000).for_each(|page| line("Write", page));
    for turn in 0..60_000u64 {
        line("Write", 800 + rng.below(200));
        if turn % 4 == 0 {
            line("Read", rng.below(400));
        }
    }
    let file = folder.file("trace.csv", &trace);
    let toml = format!(
        "[drive.geometry]\nchannels = 2\nchips_per_channel = 2\nblocks_per_plane = 24\npages_per_block = 16\n\
         [ftl]\nspare_factor = 0.3\nprecondition = \"none\"\n[ftl.level]\npolicy = \"read-balance\"\n\
         [workload]\nfile = \"{file}\"\nformat = \"msr\"\n"
    );
    let mut resolved = floatgate_experiment::load(Some(&toml), "t", &[]).unwrap();
    resolved.plan.shadow = true;
    let result = floatgate_experiment::run(resolved, &mut |_| Ok(())).unwrap().result;
    assert!(number(&result, "/level/pairs") > 5.0, "{}", result["level"]);
    assert!(number(&result, "/level/rounds") > 1.0, "{}", result["level"]);
    // The paper's first failure: the run's time times rated cycles over the largest erase count.
    let expected = number(&result, "/period_s") * 3000.0 / number(&result, "/wear/erases_max");
    assert_eq!(number(&result, "/wear/first_failure_s"), expected);
}

/// Leveling works in every mode: at once in functional mode and with whole-block collection, with host pages under
/// incremental collection, in idle time, and without any idle time.
#[test]
fn asked_jobs_are_done_in_every_mode() {
    let small = STATIC.replace("500000", "80000");
    let modes: [(&str, &[(&str, &str)]); 5] = [
        ("functional", &[("mode", "functional")]),
        ("whole blocks", &[("mode", "timed"), ("ftl.collect.mode", "whole-block")]),
        ("incremental", &[("mode", "timed"), ("ftl.collect.mode", "incremental")]),
        (
            "idle",
            &[
                ("mode", "timed"),
                ("ftl.collect.mode", "whole-block"),
                ("ftl.background.policy", "idle"),
                ("workload.arrival", "open"),
                ("workload.rate_per_s", "200"),
            ],
        ),
        (
            "never idle",
            &[
                ("mode", "timed"),
                ("ftl.collect.mode", "whole-block"),
                ("ftl.background.policy", "idle"),
                ("workload.arrival", "open"),
                ("workload.rate_per_s", "1000000"),
            ],
        ),
    ];
    for &(name, drive, _) in
        LEVELERS.iter().filter(|(name, ..)| ["swl", "read-balance", "gap"].contains(name))
    {
        let drives: Vec<_> = drive.iter().map(|(key, value)| set(key, value)).collect();
        let none = run_ok(&small, &drives).result;
        for (mode, more) in &modes {
            let settings = leveled_by(name, &[drive, more].concat());
            let overrides: Vec<_> = settings.iter().map(|(k, v)| ((*k).to_string(), v.clone())).collect();
            let mut resolved = floatgate_experiment::load(Some(&small), "t", &overrides).unwrap();
            resolved.plan.shadow = true;
            let ran = floatgate_experiment::run(resolved, &mut |_| Ok(()));
            let result = ran.unwrap_or_else(|e| panic!("{name}, {mode}: {e}")).result;
            assert!(number(&result, "/flash/erases/level") > 20.0, "{name}, {mode}: {}", result["level"]);
            // If it waits for host pages or idle time it falls behind in so short a run.
            let at_once = ["functional", "whole blocks"].contains(mode);
            assert!(!at_once || spread(&result) < 0.9 * spread(&none), "{name}, {mode}: {}", spread(&result));
        }
    }
}

#[test]
fn read_balance_is_refused_where_pages_cannot_go_to_two_chips() {
    let refused = |settings: &[(&str, &str)]| {
        let overrides: Vec<_> = settings.iter().map(|(k, v)| ((*k).to_string(), (*v).to_string())).collect();
        let error = floatgate_experiment::load(None, "e.toml", &overrides).unwrap_err();
        assert_eq!(error.status(), 2);
        error.to_string()
    };
    let policy = ("ftl.level.policy", "read-balance");
    let chips = ("drive.geometry.chips_per_channel", "2");
    for (settings, expected) in [
        (vec![policy], "a channel has 1; expected drive.geometry.chips_per_channel of at least 2"),
        (
            vec![policy, chips, ("ftl.collect.scope", "superblock")],
            "a superblock lies on all of them; expected",
        ),
        (
            vec![policy, chips, ("ftl.allocation.mode", "static")],
            "static allocation ties each to its plane; expected",
        ),
        (
            vec![policy, chips, ("ftl.level.less_read_share", "0.8")],
            "less_read_share is 0.8 and frequent_read_share 0.75; expected",
        ),
        (vec![("ftl.level.policy", "swl"), ("ftl.level.threshold", "0.5")], "threshold is 0.5; expected"),
    ] {
        let error = refused(&settings);
        assert!(error.starts_with("ftl.level.") && error.contains(expected), "{error}");
    }
}
