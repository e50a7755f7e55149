//! Drives in files: a drive is restored unchanged, runs of both modes may start from it, other drives are refused.

use crate::common::cases::draw;
use crate::common::policies::{any_level, any_timing, any_victim, separator};
use crate::common::recorder::Recorder;
use crate::common::{Folder, try_run, without_clock, without_run};
use floatgate_base::{ExtentKind, Extents, Lpn, Rng};
use floatgate_experiment::{Options, Output, load, run_with};
use floatgate_flash::{Flash, Layout, Scope};
use floatgate_ftl::separate::Hints;
use floatgate_ftl::{FreeChoice, Ftl, Separate, Setup};
use floatgate_nand::Geometry;
use floatgate_snapshot::{Kind, Reader, Writer};
use serde_json::Value;

fn random_extents(rng: &mut Rng, logical: u32, n: u64) -> Extents {
    let mut extents = Extents::default();
    for _ in 0..n {
        let kinds = [
            ExtentKind::Write,
            ExtentKind::Write,
            ExtentKind::WritePartial,
            ExtentKind::Read,
            ExtentKind::Trim,
        ];
        let kind = kinds[rng.below(5) as usize];
        let first = rng.below(u64::from(logical)) as u32;
        let pages = if kind == ExtentKind::WritePartial {
            1
        } else {
            1 + rng.below(3).min(u64::from(logical - first - 1))
        };
        extents.push(Lpn(first), pages as u32, kind);
        let handle = if rng.below(5) == 0 { rng.below(3) as u32 } else { first % 3 };
        extents.columns.hints.push(Hints { handle, context: 1 + first / 7 % 5, ..Hints::default() });
    }
    extents
}

/// Three streams that the host names, the second and third or just the third of update blocks, under each isolation.
fn with_update_blocks(rng: &mut Rng) -> Separate {
    let values = [
        ("handles", 3.0),
        ("isolation", rng.below(3) as f64),
        ("update_from", 1.0 + rng.below(2) as f64),
        ("update_blocks_last", 1.0 + rng.below(2) as f64),
    ];
    separator("host-given", &values)
}

/// Groups that change every drive write or two: a drive is saved amid queues, merged groups and open comparisons.
fn with_groups(rng: &mut Rng) -> Separate {
    let values = [
        ("groups", 2.0 + rng.below(2) as f64),
        ("merged_groups", 1.0 + rng.below(3) as f64),
        ("hot_group", rng.below(2) as f64),
        ("sample_every", 1.0 + rng.below(2) as f64),
        ("epoch_drive_writes", 0.5 + rng.unit()),
    ];
    separator("midas", &values)
}

fn written(ftl: &Ftl, flash: &Recorder) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut out = Writer::new(&mut bytes, Kind::Drive, 1).unwrap();
    ftl.save(&mut out).unwrap();
    out.state("flash", &flash.saved()).unwrap();
    out.finish().unwrap();
    bytes
}

#[test]
fn a_loaded_drive_goes_on_command_by_command_like_the_one_that_was_saved() {
    for seed in crate::common::seeds(120) {
        let mut rng = Rng::new(seed, "saved drives");
        let geometry = Geometry {
            channels: 1 + rng.below(2) as u32,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1 + rng.below(2) as u32,
            blocks_per_plane: 12 + rng.below(30) as u32,
            pages_per_block: 1 + rng.below(40) as u32,
            page_bytes: 4096,
        };
        let scope = [Scope::Plane, Scope::Superblock][rng.below(2) as usize];
        let layout = Layout::new(geometry, scope);
        let setup = Setup {
            victim: any_victim(&mut rng),
            separate: match rng.below(4) {
                0 => Separate::None,
                1 => Separate::HostGc,
                2 => with_update_blocks(&mut rng),
                _ => with_groups(&mut rng),
            },
            level: any_level(&mut rng),
            free_choice: [FreeChoice::LeastErased, FreeChoice::Fifo][rng.below(2) as usize],
            stop_free_units: 2 + rng.below(2) as u32,
            timing: any_timing(seed),
            seed,
            ..Setup::plain((geometry.pages() * 6 / 10).max(1) as u32)
        };
        let mut ftl = Ftl::new(layout.clone(), setup);
        let mut flash = Recorder::new(layout.clone());
        let before = rng.below(6 * geometry.pages());
        ftl.serve(&mut flash, &random_extents(&mut rng, setup.logical_pages, before)).unwrap();
        let bytes = written(&ftl, &flash);
        let mut reader = Reader::new("t", &bytes[..], Kind::Drive, 1).unwrap();
        let mut other = Ftl::new(layout.clone(), setup);
        other.restore(&mut reader).unwrap();
        let mut other_flash = Recorder::with_counts(layout.clone(), reader.state("flash").unwrap());
        reader.finish().unwrap();
        other.learn_wear(other_flash.erase_counts());
        other.audit(&other_flash).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert!(written(&other, &other_flash) == bytes, "seed {seed}: saved again it is another file");
        flash.commands.clear();
        let more = random_extents(&mut rng, setup.logical_pages, 2 * geometry.pages());
        ftl.serve(&mut flash, &more).unwrap();
        other.serve(&mut other_flash, &more).unwrap();
        assert!(flash.commands == other_flash.commands, "seed {seed}: it goes on otherwise");
        assert!(written(&ftl, &flash) == written(&other, &other_flash), "seed {seed}");
        assert_eq!(flash.erase_counts(), other_flash.erase_counts(), "seed {seed}");
    }
}

fn saving(toml: &str, overrides: &[(&str, &str)], path: &str) -> Result<Output, String> {
    let overrides: Vec<_> = overrides.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    let options = Options { save_drive: Some(path.into()), ..Options::default() };
    let resolved = load(Some(toml), "test.toml", &overrides).map_err(|e| e.to_string())?;
    run_with(resolved, &options, &mut |_| Ok(())).map_err(|e| e.to_string())
}

fn figures(result: &Value) -> String {
    ["host", "flash", "waf", "gc", "level", "wear", "valid_pages"]
        .map(|key| without_clock(result, key).to_string())
        .join("\n")
}

/// Under the shadow model, which receives the content of the file: each read must find it.
#[test]
fn runs_of_both_modes_start_from_a_random_drive_and_agree() {
    let folder = Folder::new("drives");
    for seed in crate::common::seeds(40) {
        let case = draw(&mut Rng::new(seed, "drives"), false);
        let (one, two) = (format!("{}/{seed}", folder.path()), format!("{}/again-{seed}", folder.path()));
        saving(&case.toml, &[], &one).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        saving(&case.toml, &[("mode", "timed"), ("workload.arrival", "closed")], &two).unwrap();
        assert!(
            std::fs::read(&one).unwrap() == std::fs::read(&two).unwrap(),
            "seed {seed}: modes leave other drives"
        );
        let toml = case.toml.replace("precondition = \"", "# \"");
        let start = |mode: &str| {
            let mut overrides = vec![("ftl.snapshot".to_string(), one.clone()), ("mode".into(), mode.into())];
            if mode == "timed" {
                overrides.push(("workload.arrival".into(), "closed".into()));
            }
            let mut resolved = load(Some(&toml), "test.toml", &overrides).unwrap();
            resolved.plan.shadow = true;
            run_with(resolved, &Options::default(), &mut |_| Ok(()))
                .unwrap_or_else(|e| panic!("seed {seed} {mode}: {e}\n{toml}"))
        };
        let (functional, timed) = (start("functional"), start("timed"));
        assert_eq!(figures(&functional.result), figures(&timed.result), "seed {seed}\n{toml}");
    }
}

const DRIVE: &str = "[drive.geometry]\nchannels = 2\nblocks_per_plane = 40\npages_per_block = 16\n\
                     [ftl]\nspare_factor = 0.25\n";
const WORK: &str = "[workload]\nrequests = 3000\n";

#[test]
fn the_content_of_the_snapshot_names_the_result_and_its_path_does_not() {
    let folder = Folder::new("hash");
    let path = |name: &str| format!("{}/{name}", folder.path());
    let toml = format!("{DRIVE}{WORK}");
    saving(&toml, &[], &path("a")).unwrap();
    saving(&toml, &[], &path("b")).unwrap();
    saving(&toml, &[("workload.requests", "3001")], &path("c")).unwrap();
    let from = |name: &str| try_run(&toml, &[("ftl.snapshot", path(name))]).unwrap();
    let (a, b, c) = (from("a"), from("b"), from("c"));
    assert_eq!(without_run(a.result.clone()), without_run(b.result));
    assert_ne!(a.result["config_hash"], c.result["config_hash"]);
    let ftl = a.result["config"]["ftl"].as_object().unwrap();
    assert_eq!(ftl["snapshot_hash"].as_str().unwrap().len(), 64);
    assert_eq!((ftl["precondition"].as_str(), ftl.get("snapshot")), (Some("snapshot"), None));
    assert!(a.experiment_toml.contains(&path("a")));
    // What came before counts nowhere.
    assert_eq!(a.result["host"]["page_writes"], 3000);
    // A file names its snapshot relative to itself.
    folder.file("e.toml", "");
    let beside = format!("{DRIVE}snapshot = \"a\"\n{WORK}");
    let resolved = load(Some(&beside), &path("e.toml"), &[]).unwrap();
    assert_eq!(resolved.plan.ftl.snapshot.as_deref(), Some(&*path("a")));
}

#[test]
fn a_snapshot_of_another_drive_is_refused_with_the_key_that_differs() {
    let folder = Folder::new("refused");
    let path = format!("{}/a", folder.path());
    let toml = format!("{DRIVE}{WORK}");
    saving(&toml, &[], &path).unwrap();
    for (key, value, message) in [
        (
            "drive.geometry.channels",
            "1",
            "drive.geometry.channels is 2 there and 1 here; expected drive.geometry.channels = 2",
        ),
        ("drive.geometry.blocks_per_plane", "41", "drive.geometry.blocks_per_plane is 40 there and 41 here"),
        ("drive.geometry.page_bytes", "8192", "expected drive.geometry.page_bytes = 4096"),
        (
            "ftl.spare_factor",
            "0.26",
            "ftl.spare_factor is 0.25 there and 0.26 here; expected ftl.spare_factor = 0.25",
        ),
        ("ftl.collect.scope", "superblock", "expected ftl.collect.scope = \"plane\""),
        ("ftl.allocation.mode", "static", "expected ftl.allocation.mode = \"dynamic\""),
        ("ftl.separate.policy", "host-gc", "expected ftl.separate.policy = \"none\""),
        ("ftl.dispatch.policy", "pgis", "expected ftl.dispatch.policy = \"fcfs\""),
        ("ftl.collect.policy", "random", "is \"greedy\" there and \"random\" or \"d-choices\" here"),
        ("ftl.free_block", "fifo", "expected ftl.free_block = \"least-erased\""),
    ] {
        let error = try_run(&toml, &[("ftl.snapshot", path.clone()), (key, value.into())]).unwrap_err();
        assert!(
            error.starts_with(&format!("{path}: holds another drive: ")) && error.contains(message),
            "{error}"
        );
    }
    // Settings on which the state does not depend may differ.
    let free = [
        ("ftl.collect.stop_free_blocks", "5"),
        ("drive.timing.read_us", "9"),
        ("drive.endurance.pe_cycles", "7000"),
    ];
    for (key, value) in free {
        try_run(&toml, &[("ftl.snapshot", path.clone()), (key, value.into())]).unwrap();
    }
}

#[test]
fn what_is_no_whole_snapshot_is_refused_with_a_reason() {
    let folder = Folder::new("damaged");
    let path = format!("{}/a", folder.path());
    let toml = format!("{DRIVE}{WORK}");
    saving(&toml, &[], &path).unwrap();
    let whole = std::fs::read(&path).unwrap();
    let refused = |name: &str, bytes: &[u8], message: &str| {
        let path = folder.file(name, bytes);
        let error = try_run(&toml, &[("ftl.snapshot", path)]).unwrap_err();
        assert!(error.contains(message), "{name}: {error}");
    };
    refused("cut", &whole[..whole.len() / 2], "is cut off; expected a whole snapshot; write it again");
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    refused("flipped", &flipped, "the checksum does not match");
    refused("text", b"seed = 1\n", "is not a snapshot of floatgate; expected a drive (--save-drive)");
    let mut version = whole.clone();
    version[11] = 99;
    refused("version", &version, "is a snapshot of version 1.99; expected version 1.");
    let error = |value: &str| try_run(&toml, &[("ftl.snapshot", value.into())]).unwrap_err();
    assert!(error(&folder.path()).contains("is a directory"));
    assert!(error(&format!("{}/none", folder.path())).contains("no such file"));
    let key = |overrides: &[(&str, String)]| try_run(&toml, overrides).unwrap_err();
    let missing = key(&[("ftl.precondition", "snapshot".into())]);
    assert!(missing.starts_with("ftl.snapshot: precondition = \"snapshot\" needs a file"), "{missing}");
    let both = format!("{DRIVE}precondition = \"random\"\nsnapshot = \"a\"\n{WORK}");
    assert!(try_run(&both, &[]).unwrap_err().contains("has no effect with precondition = \"random\""));
}

#[test]
fn a_place_that_cannot_be_written_is_refused_before_the_run() {
    let folder = Folder::new("targets");
    let toml = format!("{DRIVE}[workload]\nrequests = 1000000000000\n");
    let refused = |path: &str, message: &str| {
        let error = saving(&toml, &[], path).unwrap_err();
        assert!(error.contains(message), "{error}");
    };
    refused(&folder.path(), "is a directory");
    refused(&format!("{}/none/a", folder.path()), "its folder does not exist");
}

/// The cost of a read shows whether the page exists: one that was never written costs no flash read.
#[test]
fn a_buffer_leaves_nothing_behind() {
    let folder = Folder::new("buffers");
    let toml = format!("{DRIVE}[workload]\npattern = \"sequential\"\nrequests = 960\n");
    let mut files = Vec::new();
    for mode in ["functional", "timed"] {
        for capacity in ["4 KiB", "400 KiB", "4 MiB"] {
            let path = format!("{}/{mode} {capacity}", folder.path());
            let buffer =
                [("mode", mode), ("ftl.collect.mode", "whole-block"), ("drive.buffer.capacity", capacity)];
            let output = saving(&toml, &buffer, &path).unwrap();
            assert_eq!(output.result["drive"]["logical_bytes"], 960 * 4096);
            let reads = [("ftl.snapshot", path.clone()), ("workload.read_share", "1".into())];
            let output = try_run(&toml, &reads).unwrap();
            assert_eq!(output.result["flash"]["reads"]["host"], 960, "{path}");
            files.push(std::fs::read(&path).unwrap());
        }
    }
    assert!(files[..3] == files[3..], "modes leave other drives");
}

/// A job in idle time is between two pages when the run ends; a run that starts from the drive continues it.
#[test]
fn a_job_in_idle_time_that_is_half_done_goes_along() {
    let folder = Folder::new("jobs");
    let mut halves = 0;
    for requests in 2000..2040 {
        let toml = format!("{DRIVE}precondition = \"random\"\n[workload]\nrequests = {requests}\n");
        let path = format!("{}/{requests}", folder.path());
        let idle = [
            ("mode", "timed"),
            ("ftl.collect.mode", "whole-block"),
            ("ftl.background.policy", "idle"),
            ("workload.arrival", "open"),
            ("workload.rate_per_s", "500"),
        ];
        let first = saving(&toml, &idle, &path).unwrap().result;
        // A victim is counted when its job begins, an erase when it ends.
        let begun = first["gc"]["victims"].as_u64().unwrap();
        let ended = first["flash"]["erases"]["gc"].as_u64().unwrap();
        halves += u64::from(begun > ended);
        let toml = toml.replace("precondition = \"random\"\n", "");
        let start = |overrides: &[(&str, &str)]| {
            let overrides = overrides.iter().map(|(k, v)| ((*k).into(), (*v).into()));
            let overrides: Vec<_> = overrides.chain([("ftl.snapshot".to_string(), path.clone())]).collect();
            let mut resolved = load(Some(&toml), "t", &overrides).unwrap();
            resolved.plan.shadow = true;
            run_with(resolved, &Options::default(), &mut |_| Ok(()))
                .unwrap_or_else(|e| panic!("{requests}: {e}"))
                .result
        };
        let (functional, timed) =
            (start(&[]), start(&[("mode", "timed"), ("ftl.collect.mode", "whole-block")]));
        assert_eq!(figures(&functional), figures(&timed), "{requests}");
        // The jobs of the file are ended in the run that starts from it, though begun by the run before.
        let begun = functional["gc"]["victims"].as_u64().unwrap();
        let ended = functional["flash"]["erases"]["gc"].as_u64().unwrap();
        assert!(ended >= begun, "{requests}: {begun} {ended}");
        start(&idle);
    }
    assert!(halves > 5, "{halves} drives had a job under way");
}

/// A manager continues with the parameters of the run that takes over a drive. Another manager is notified of the
/// points that blocks have passed. A drive without the modes of the file reports the ones it needs.
#[test]
fn managers_of_read_disturb_take_a_drive_over() {
    let folder = Folder::new("disturbed drives");
    let file = format!("{}/worn.drive", folder.path());
    let toml = "[drive.geometry]\nblocks_per_plane = 64\npages_per_block = 24\n[drive.disturb]\nmodel = \"tlc-base\"\n\
                max_reads = 400\n[ftl]\nspare_factor = 0.25\nprecondition = \"sequential\"\n[workload]\n\
                requests = 60000\nread_share = 0.99\n";
    let on_from = |more: &[(&str, &str)]| {
        let from = [
            ("ftl.precondition", "snapshot"),
            ("ftl.snapshot", file.as_str()),
            ("workload.requests", "30000"),
        ];
        let settings: Vec<_> = from.iter().chain(more).map(|(k, v)| (*k, (*v).to_owned())).collect();
        crate::common::try_run(toml, &settings).map(|output| output.result)
    };
    let moved = |result: &Value| result["reclaim"]["moved_pages"].as_u64().unwrap();
    saving(toml, &[("ftl.reclaim.policy", "redftl-plus")], &file).unwrap();
    let plus = ("ftl.reclaim.policy", "redftl-plus");
    let as_saved = on_from(&[plus]).unwrap();
    for (key, value) in [("mix", "nothing"), ("proactive_at", "0.4"), ("order", "as-they-are")] {
        let other = on_from(&[plus, (&format!("ftl.reclaim.{key}"), value)]).unwrap();
        assert_ne!(other["reclaim"], as_saved["reclaim"], "{key}");
    }
    let error = on_from(&[plus, ("drive.disturb.modes", "[{reads = 1, program = 1}]")]).unwrap_err();
    assert!(error.contains("drive.disturb.modes: the saved drive has blocks in mode"), "{error}");
    assert!(error.contains("expected at least"), "{error}");
    // Blocks that the baseline left between 95 % and its maximum are reclaimed in idle time, not on demand.
    let uniform = ("drive.disturb.model", "uniform");
    saving(toml, &[uniform, ("ftl.reclaim.policy", "baseline")], &file).unwrap();
    let rrb = on_from(&[uniform, ("ftl.reclaim.policy", "rrb"), ("workload.requests", "1")]).unwrap();
    assert!(rrb["reclaim"]["background"].as_u64().unwrap() > 0 && moved(&rrb) > 0, "{}", rrb["reclaim"]);
}
