//! Every separator keeps the drive exact: the shadow model detects no violation under any decision, and the counts of
//! streams add up to those of the drive.

use crate::common::policies::{any_level, any_timing, any_victim, drawn, separator};
use crate::common::{Folder, hinted};
use floatgate_base::testing::Bound;
use floatgate_base::{DomainId, ExtentKind as Kind, Extents, Hints, Lpn, Op, Rng};
use floatgate_experiment::{load, run};
use floatgate_flash::{Cause, Flash, Functional, Layout, Scope, Shadow};
use floatgate_ftl::separate::{POLICIES, SLOT, Separate, StreamCounters};
use floatgate_ftl::{Ftl, Pace, Setup};
use floatgate_nand::Geometry;
use serde_json::Value;

/// A separator of the table with parameters of their ranges, or its defaults.
fn any_separator(rng: &mut Rng, name: &str) -> Separate {
    Separate::of(&drawn(rng, &SLOT, SLOT.find(name).unwrap()))
}

/// Programs with pages of their own that they write again and again, and one that writes anywhere; some requests name
/// contexts and streams that nobody has seen.
fn work(rng: &mut Rng, logical: u32, requests: u32) -> Extents {
    let mut extents = Extents::default();
    for i in 0..requests {
        let context = rng.below(6) as u32;
        let own = logical / 6;
        let at = if context == 0 {
            rng.below(u64::from(logical)) as u32
        } else {
            context * own + rng.below(u64::from(own) / 2 + 1) as u32
        };
        let at = at.min(logical - 1);
        let pages = (1 + rng.below(3) as u32).min(logical - at);
        let kinds =
            [Kind::Write, Kind::Write, Kind::Write, Kind::Write, Kind::WritePartial, Kind::Read, Kind::Trim];
        let kind = kinds[rng.below(7) as usize];
        extents.push(Lpn(at), if kind == Kind::WritePartial { 1 } else { pages }, kind);
        let strange = rng.below(50) == 0;
        let (context, handle) = if strange { (i, u32::MAX - i) } else { (context, context % 4) };
        extents.columns.hints.push(Hints { context, handle, request_pages: pages, ..Hints::default() });
    }
    extents
}

/// Idle time, page by page.
fn rest(ftl: &mut Ftl, flash: &mut Shadow<Functional>, domains: u32, rng: &mut Rng) {
    ftl.burst_ends();
    for domain in DomainId::all(domains) {
        for _ in 0..rng.below(20) {
            if !ftl.wants_background_in(domain) || !ftl.background_step(flash, domain).unwrap() {
                break;
            }
        }
    }
}

/// The pages of the streams are those that the host wrote and that collection and wear-leveling moved.
fn add_up(ftl: &Ftl, flash: &Shadow<Functional>, host_pages: u64, case: &str) {
    let programs = flash.counters().programs;
    assert_eq!(programs[Cause::Host as usize] + programs[Cause::Partial as usize], host_pages, "{case}");
    let Some(separation) = ftl.separation() else { return };
    let sum = |of: fn(&StreamCounters) -> u64| separation.counters().iter().map(of).sum::<u64>();
    let gc = ftl.gc();
    assert_eq!(sum(|s| s.host_pages), host_pages, "{case}");
    // Some levelers empty blocks into streams, others into blocks of their own.
    let moved = sum(|s| s.moved_pages);
    let most = gc.copied_pages + ftl.leveled().moved_pages;
    assert!((gc.copied_pages..=most).contains(&moved), "{case}: {moved} beside {}", gc.copied_pages);
    assert_eq!(sum(|s| s.copied_pages), moved, "{case}");
    assert_eq!((sum(|s| s.victims), sum(|s| s.dead_victims)), (gc.victims, gc.dead_victims), "{case}");
    assert!(gc.victims > 0, "{case}");
}

fn exact(name: &str, seed: u64) {
    let mut rng = Rng::new(seed, name);
    let separate = any_separator(&mut rng, name);
    let streams = separate.streams();
    let channels = 1 + rng.below(3) as u32;
    let scope = [Scope::Plane, Scope::Superblock][rng.below(2) as usize];
    let (trigger, pages_per_block) = (separate.reserve() + rng.below(3) as u32, 1 + rng.below(12) as u32);
    let stop = trigger + rng.below(3) as u32;
    let blocks = streams + stop + 6 + rng.below(20) as u32;
    let geometry = Geometry {
        channels,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: blocks,
        pages_per_block,
        page_bytes: 4096,
    };
    let room = (blocks - stop - streams) * pages_per_block * channels;
    let logical =
        ((f64::from(room - channels) * (0.4 + 0.6 * rng.unit())) as u32 / channels * channels).max(1);
    let (victim, level) = (any_victim(&mut rng), any_level(&mut rng));
    let pace =
        (rng.below(3) == 0).then(|| Pace { from_writes: rng.below(2000), every_writes: 1 + rng.below(60) });
    let garbage_share = (pace.is_none() && rng.below(4) == 0).then(|| 0.02 + 0.5 * rng.unit());
    let setup = Setup {
        idle_jobs: true,
        background_free_units: if rng.below(2) == 0 { stop + 1 } else { 0 },
        victim,
        separate,
        level,
        trigger_free_units: trigger,
        stop_free_units: stop,
        incremental: pace.is_none() && garbage_share.is_none() && rng.below(3) == 0,
        pace,
        garbage_share,
        timing: any_timing(seed),
        seed,
        ..Setup::plain(logical)
    };
    let layout = Layout::new(geometry, scope);
    let case = format!("seed {seed}: {setup:?}, {geometry:?}, {scope:?}");
    let mut ftl = Ftl::new(layout.clone(), setup);
    let mut flash = Shadow::new(Functional::new(layout.clone()), logical);
    let work = work(&mut rng, logical, 3000);
    ftl.reset_counts(&mut flash);
    let mut from = 0;
    let mut bound = Bound::new(100_000);
    while from < work.len() {
        bound.step();
        let to = (from + 1 + rng.below(100) as usize).min(work.len());
        ftl.serve_range(&mut flash, &work, from..to).unwrap_or_else(|e| panic!("{case}: {e:?}"));
        rest(&mut ftl, &mut flash, layout.domains(), &mut rng);
        ftl.audit(&flash).unwrap_or_else(|e| panic!("{case}: {e}"));
        from = to;
    }
    let writes = |i: &usize| matches!(work.kind[*i], Kind::Write | Kind::WritePartial);
    let host_pages: u64 = (0..work.len()).filter(writes).map(|i| u64::from(work.pages[i])).sum();
    add_up(&ftl, &flash, host_pages, &case);
}

#[test]
fn every_separator_is_exact() {
    for info in POLICIES {
        (0..40).for_each(|seed| exact(info.name, seed));
    }
}

/// The mean of free pages in open blocks is that of looking at each host page write.
#[test]
fn open_blocks_are_counted_as_if_at_every_write() {
    for seed in crate::common::seeds(60) {
        let mut rng = Rng::new(seed, "open blocks");
        let policy = ["none", "host-gc", "hash", "host-given"][(seed % 4) as usize];
        let channels = 1 + rng.below(3) as u32;
        let toml = format!(
            "seed = {seed}\n[drive.geometry]\nchannels = {channels}\nblocks_per_plane = 60\npages_per_block = {}\n\
             [ftl]\nspare_factor = 0.4\n[ftl.separate]\npolicy = \"{policy}\"\n",
            1 + rng.below(20)
        );
        let plan = load(Some(&toml), "e.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{toml}")).plan;
        let mut ftl = Ftl::new(plan.layout(), plan.ftl.setup);
        let mut flash = Functional::new(plan.layout());
        let (mut sum, mut writes, mut most) = (0, 0, 0);
        let warm_up = rng.below(3000);
        for i in 0..6000u64 {
            if i == warm_up {
                ftl.reset_counts(&mut flash);
                (sum, writes, most) = (0, 0, 0);
            }
            let lpn = rng.below(u64::from(plan.ftl.setup.logical_pages)) as u32;
            let kind = [Kind::Write, Kind::WritePartial, Kind::Trim][rng.below(3) as usize];
            let mut one = Extents::default();
            one.push(Lpn(lpn), 1, kind);
            one.columns.hints.push(Hints { handle: lpn % 5, ..Hints::default() });
            ftl.serve(&mut flash, &one).unwrap();
            if kind != Kind::Trim {
                // The page itself was still free when it came.
                sum += ftl.open_units().1 + 1;
                writes += 1;
            }
            most = most.max(ftl.open_units().0);
        }
        assert!((ftl.mean_open_pages() - sum as f64 / f64::from(writes)).abs() < 1e-6, "seed {seed}: {toml}");
        assert!(
            (most..=u64::from(plan.ftl.setup.separate.streams() * channels)).contains(&ftl.most_open_units()),
            "{toml}"
        );
        ftl.audit(&flash).unwrap();
    }
}

/// Through the whole engine, with the buffer and in time.
#[test]
fn every_separator_runs_in_both_modes() {
    let folder = Folder::new("both-modes");
    let trace = hinted::file(&folder, "a.parquet", &hinted::programs(1, 12, 700, 6000));
    let trace = format!("file = \"{trace}\"\n");
    let synthetic =
        "requests = 6000\npattern = \"zipf\"\nrequest_bytes = 6144\ntrim_share = 0.1\nread_share = 0.1\n";
    let needs = |info: &floatgate_base::PolicyInfo| separator(info.name, &[]).needs();
    for info in POLICIES {
        for mode in ["functional", "timed"] {
            for buffer in ["0 B", "64 KiB"] {
                if separator(info.name, &[]).foresees() && buffer != "0 B" {
                    // Refused: a buffer changes the order of writes.
                    continue;
                }
                let toml = format!(
                    "mode = \"{mode}\"\n[drive.geometry]\nchannels = 2\nblocks_per_plane = 200\npages_per_block = 8\n\
                     [drive.buffer]\ncapacity = \"{buffer}\"\n[ftl]\nspare_factor = 0.5\nprecondition = \"random\"\n\
                     [ftl.separate]\npolicy = \"{}\"\n[workload]\n{}",
                    info.name,
                    if !needs(info).is_empty() { &trace } else { synthetic }
                );
                let mut resolved = load(Some(&toml), "e.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{toml}"));
                resolved.plan.shadow = true;
                let result = run(resolved, &mut |_| Ok(())).unwrap_or_else(|e| panic!("{e}\n{toml}")).result;
                let Some(streams) = result["separate"]["streams"].as_array() else { continue };
                let sum = |key: &str| streams.iter().map(|s| s[key].as_u64().unwrap()).sum::<u64>();
                let number = |at: &str| result.pointer(at).and_then(Value::as_u64).unwrap();
                let programs = number("/flash/programs/host") + number("/flash/programs/partial");
                assert_eq!(sum("host_pages"), programs, "{toml}");
                assert_eq!(sum("moved_pages"), number("/gc/copied_pages"), "{toml}");
            }
        }
    }
}

/// Pages that the host writes to each stream of MultiLog.
fn host_pages_of_multilog(folder: &Folder, name: &str, rows: &[hinted::Row]) -> Vec<u64> {
    let trace = hinted::file(folder, name, rows);
    let toml = format!(
        "[drive.geometry]\nchannels = 1\nblocks_per_plane = 120\npages_per_block = 8\n[ftl]\nspare_factor = 0.4\n\
         precondition = \"none\"\n[ftl.separate]\npolicy = \"multilog\"\n[workload]\nfile = \"{trace}\"\n"
    );
    let resolved = load(Some(&toml), "e.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{toml}"));
    let result = run(resolved, &mut |_| Ok(())).unwrap_or_else(|e| panic!("{e}\n{toml}")).result;
    let streams = result["separate"]["streams"].as_array().unwrap();
    streams.iter().map(|stream| stream["host_pages"].as_u64().unwrap()).collect()
}

/// A trimmed page holds no data and is new when it is written again: MultiLog starts new pages in the hottest log,
/// stream 0, whatever log they were in before. Without notification of trims, cooled pages would stay in the colder
/// logs.
#[test]
fn trims_make_pages_new_to_the_separator() {
    const PAGES: u64 = 560;
    let folder = Folder::new("trimmed");
    let mut rng = Rng::new(5, "trims and multilog");
    let mut rows: Vec<hinted::Row> = (0..PAGES).map(|page| hinted::write(page, 0)).collect();
    // One page in eight takes nearly all writes; the others cool down where they are moved.
    rows.extend((0..12_000).map(|_| {
        let pages = if rng.below(20) == 0 { PAGES } else { PAGES / 8 };
        hinted::write(rng.below(pages), 0)
    }));
    let before = host_pages_of_multilog(&folder, "before.parquet", &rows);
    assert!(before[1..].iter().sum::<u64>() > 500, "pages must have been in colder logs: {before:?}");
    let written_again = (0..PAGES).map(|page| hinted::write(page, 0));
    let all = hinted::Row { op: Op::Trim, page: 0, pages: PAGES, context: 0, stream: 0, life: 0 };
    rows.push(all);
    rows.extend(written_again);
    let after = host_pages_of_multilog(&folder, "after.parquet", &rows);
    let added: Vec<u64> = after.iter().zip(&before).map(|(after, before)| after - before).collect();
    assert_eq!((added[0], added[1..].iter().sum::<u64>()), (PAGES, 0), "{added:?}");
}

/// Separators that need hints of the host are refused without them.
#[test]
fn contexts_and_streams_are_asked_for() {
    for (policy, message) in [
        (
            "host-given",
            "ftl.separate.policy: host-given needs streams, and this workload has none; expected a trace with a \
             column of streams (docs/convert.md), or another separator",
        ),
        (
            "pds",
            "ftl.separate.policy: pds needs program contexts, and this workload has none; expected a trace that \
             `floatgate trace record` made (docs/recording.md), or another separator",
        ),
        (
            "ids",
            "ftl.separate.policy: ids needs program contexts, and this workload has none; expected a trace that \
             `floatgate trace record` made (docs/recording.md), or another separator",
        ),
    ] {
        let toml = format!("[ftl.separate]\npolicy = \"{policy}\"\n[workload]\nrequests = 10\n");
        let error = run(load(Some(&toml), "e.toml", &[]).unwrap(), &mut |_| Ok(())).unwrap_err();
        assert_eq!((error.status(), error.to_string()), (2, message.to_string()));
    }
}
