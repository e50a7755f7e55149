//! Separators that know the future: their knowledge is right, and it pays off.

use crate::common::cases::draw;
use crate::common::host_model::HostModel;
use crate::common::policies::separator;
use crate::common::{Folder, number, run_ok, try_run};
use floatgate_base::testing::Bound;
use floatgate_base::{Error, ExtentKind, Extents, Hints, Lpn, Place, RequestBatch, Rng};
use floatgate_experiment::{LifetimeOptions, lifetime, load};
use floatgate_flash::{Functional, Layout, Scope};
use floatgate_ftl::separate::foresight::NEVER;
use floatgate_ftl::separate::{Foreseer, POLICIES};
use floatgate_ftl::{Ftl, Setup};
use floatgate_nand::Geometry;
use floatgate_sim::{Phase, Simulation, plan::Workload};
use floatgate_trace::{Generator, Source};

/// All requests of a workload.
fn requests(workload: &Workload) -> RequestBatch {
    let mut source: Box<dyn Source> = match workload {
        Workload::Synthetic(config) => Box::new(Generator::new(config.clone()).unwrap()),
        Workload::Trace { path, options, .. } => floatgate_trace::open(path, options).unwrap(),
    };
    let mut batch = RequestBatch::default();
    let mut bound = Bound::new(100_000_000);
    while {
        bound.step();
        let before = batch.len();
        source.fill(&mut batch, 1000).unwrap();
        batch.len() > before
    } {}
    batch
}

/// When the data of each write die, and those from before, by looking ahead from each of them.
fn deaths(changes: &[(u32, bool)], pages: usize) -> (Vec<u32>, Vec<u32>) {
    let mut at: Vec<Vec<usize>> = vec![Vec::new(); pages];
    // Writes before each change.
    let mut written = 0;
    let numbers: Vec<u32> = changes
        .iter()
        .enumerate()
        .map(|(i, &(page, trim))| {
            at[page as usize].push(i);
            written += u32::from(!trim);
            written - u32::from(!trim)
        })
        .collect();
    let mut next = Vec::new();
    for (i, &(page, trim)) in changes.iter().enumerate() {
        if !trim {
            let of_page = &at[page as usize];
            let later = of_page.get(of_page.partition_point(|&j| j <= i));
            next.push(later.map_or(NEVER, |&j| numbers[j]));
        }
    }
    let first = at.iter().map(|of_page| of_page.first().map_or(NEVER, |&i| numbers[i])).collect();
    (next, first)
}

/// Trims, parts of pages, wrapped and scaled addresses, several devices, warm-up, passes: the same as a second model of
/// the host says, page by page.
#[test]
fn the_future_is_what_comes() {
    let folder = Folder::new("future");
    let mut trims = 0;
    for seed in crate::common::seeds(120) {
        for trace in [false, true] {
            let mut rng = Rng::new(seed, "future");
            let mut case = draw(&mut rng, trace);
            if let Some((text, extension)) = &case.trace {
                let path = folder.file(&format!("{seed}.{extension}"), text);
                case.toml += &format!("file = \"{path}\"\n");
            }
            // Separators that know the future refuse it.
            case.toml = case.toml.replace("unwritten_reads = \"program\"\n", "");
            case.rules.programs_unwritten = false;
            let classes = ("ftl.separate.classes".to_string(), case.streams.to_string());
            let overrides = [
                ("ftl.dispatch.policy".into(), "fcfs".into()),
                ("ftl.separate.policy".into(), "fk".into()),
                ("ftl.metadata.policy".into(), "none".into()),
                classes,
            ];
            let resolved =
                load(Some(&case.toml), "t.toml", &overrides).unwrap_or_else(|e| panic!("{seed}: {e}"));
            let mut simulation = Simulation::new(resolved.plan.clone()).unwrap();
            let mut bound = Bound::new(100_000);
            while simulation.phase() == Phase::Scan {
                bound.step();
                simulation.step(1 + rng.below(5000)).unwrap();
            }
            let batch = requests(&resolved.plan.workload.source);
            let mut model = HostModel::new(case.rules, &batch, case.full);
            (0..case.warmup_passes + case.repeat).for_each(|_| model.serve(&batch, 0..batch.len()));
            let (next, first) = deaths(&model.changes, case.rules.logical_pages as usize);
            trims += model.changes.len() - next.len();
            let seen = simulation.foresight().unwrap();
            assert_eq!(seen.next(), next, "seed {seed}\n{}", case.toml);
            assert_eq!(seen.dies().as_slice(), first, "seed {seed}\n{}", case.toml);
            // Foreseen or not, each run serves the same requests.
            let result = simulation.run().unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            assert_eq!(result.streams.unwrap().counters.iter().map(|s| s.host_pages).sum::<u64>(), {
                let counted = &result.series.rows()[result.series.rows().len() - 1];
                counted.page_writes
            });
        }
    }
    assert!(trims > 1000, "{trims}");
}

/// Similar to Figures 24 and 25: of eight hot pages, four are updated about one time and four much later. HASH mixes
/// them, which leaves two blocks half dead in between; a separator that knows the future has one dead block.
#[test]
fn one_dead_block_instead_of_two_half_dead_ones() {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 40,
        pages_per_block: 4,
        page_bytes: 4096,
    };
    let mut work = Extents::default();
    let mut write = |page: u32| {
        work.push(Lpn(page), 1, ExtentKind::Write);
        work.columns.hints.push(Hints::default());
    };
    (0..8).for_each(&mut write);
    // Others come between; the even pages are updated from number 50 on, the odd ones from number 87 on.
    (8..50).for_each(&mut write);
    [0, 2, 4, 6].into_iter().for_each(&mut write);
    (50..83).for_each(&mut write);
    [1, 3, 5, 7].into_iter().for_each(&mut write);
    // What replaces the even pages is as short-lived, and closes their block.
    (83..89).for_each(&mut write);
    [0, 2, 4, 6].into_iter().for_each(&mut write);
    let blocks_at = |name: &str, param: &str, value: f64, writes: usize| {
        let setup = Setup { separate: separator(name, &[(param, value)]), ..Setup::plain(100) };
        let layout = Layout::new(geometry, Scope::Plane);
        let (mut ftl, mut flash) = (Ftl::new(layout.clone(), setup), Functional::new(layout));
        let mut seer = Foreseer::new(setup.logical_pages);
        assert!(work.lpn.iter().all(|&lpn| seer.write(lpn)));
        ftl.foresee(seer.finish());
        ftl.workload_begins();
        ftl.serve_range(&mut flash, &work, 0..writes).unwrap();
        let histogram = ftl.valid_histogram();
        (histogram[0], histogram[1..4].iter().sum::<u64>())
    };
    // Every page is hot at once. Between both updates: dead blocks, and those that are dead in part.
    assert_eq!(blocks_at("hash", "hot_from", 1.0, 60), (0, 2));
    assert_eq!(blocks_at("ora", "streams", 3.0, 60), (1, 0));
}

fn experiment(separate: &str, collect: &str) -> String {
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/pgbench-ext4.nbdkit-log.zst");
    format!(
        "[drive]\ncapacity = \"1120 MiB\"\n[drive.geometry]\npages_per_block = 128\n[ftl]\nspare_factor = 0.08\n\
         precondition = \"random\"\n[ftl.collect]\npolicy = \"{collect}\"\n[ftl.separate]\npolicy = \"{separate}\"\n\
         [workload]\nkind = \"trace\"\nfile = \"{trace}\"\n"
    )
}

/// No separator that must guess copies less than ORA, which knows, or spends less time on collection: on a recorded
/// block trace and with each victim policy that sees valid pages. Those that need data missing from the trace are left
/// out.
#[test]
#[ignore = "takes long: `make long` runs it"]
fn none_beats_ora_on_a_recorded_trace() {
    for collect in ["greedy", "cost-benefit"] {
        let cost = |name: &str| {
            let output = match try_run(&experiment(name, collect), &[]) {
                Ok(output) => output,
                Err(e) if e.contains("context") || e.contains("stream") || e.contains("handle") => {
                    return None;
                }
                Err(e) => panic!("{name}: {e}"),
            };
            let of = |at: &str| number(&output.result, at);
            let cost = (of("/gc/copied_pages"), of("/gc/time_s"));
            println!(
                "{collect} {name}: {} pages copied, {:.1} s, {} erases",
                cost.0,
                cost.1,
                of("/gc/victims")
            );
            Some(cost)
        };
        let ora = cost("ora").unwrap();
        for info in POLICIES.iter().filter(|info| info.name != "ora") {
            let Some(other) = cost(info.name) else { continue };
            assert!(ora.0 <= other.0 && ora.1 <= other.1, "{collect} {}: {other:?}, ora {ora:?}", info.name);
        }
    }
}

fn refused(toml: &str, overrides: &[(&str, String)]) -> String {
    try_run(toml, overrides).expect_err("it must be refused")
}

#[test]
fn what_changes_the_order_of_writes_is_refused() {
    for policy in ["ora", "fk"] {
        let toml = format!(
            "[drive.geometry]\nblocks_per_plane = 64\npages_per_block = 8\n[ftl]\nspare_factor = 0.5\n[ftl.separate]\npolicy = \"{policy}\"\n[workload]\nrequests = 100\n"
        );
        run_ok(&toml, &[]);
        let e = refused(&toml, &[("drive.buffer.capacity", "64 KiB".into())]);
        assert!(e.contains("7:1") && e.contains("the DRAM buffer changes the order"), "{e}");
        let queues = [("mode", "timed".to_string()), ("host.queues", "2".into())];
        let e = refused(&toml, &queues);
        assert!(e.contains("7:1") && e.contains("the host's queues change the order"), "{e}");
        let outcome = lifetime(
            Some(&toml),
            "t.toml",
            &[vec![("workload.rate_per_s".into(), "10".into())]],
            &LifetimeOptions { details_s: vec![None], ..LifetimeOptions::default() },
            &mut |_| Ok(()),
        );
        let e = outcome.expect_err("it must be refused").to_string();
        assert!(e.contains(&format!("separator {policy} knows a workload to its end")), "{e}");
    }
}

#[test]
#[cfg(unix)]
fn a_pipe_is_refused_before_it_is_read() {
    let toml = experiment("ora", "greedy").replace(
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/pgbench-ext4.nbdkit-log.zst"),
        "/dev/stdin",
    ) + "format = \"msr\"\n";
    let e: Box<Error> = match load(Some(&toml), "t.toml", &[]) {
        Ok(resolved) => Simulation::new(resolved.plan).map(|_| ()).expect_err("it must be refused"),
        Err(e) => e,
    };
    assert!(e.to_string().contains("separator ora reads the workload twice"), "{e}");
    assert!(!matches!(e.place, Place::None), "{e}");
}
