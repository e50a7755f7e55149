//! Data at rest, for which neither direction of the map is stored, behave like any other data.

use crate::common::interrupted::{resumed, saved};
use crate::common::{Folder, number, seeds};
use floatgate_base::Rng;
use floatgate_base::testing::Bound;
use floatgate_experiment::{Options, load, run_with};
use floatgate_sim::laps::{Criterion, REQUESTS_MAX, measure};
use floatgate_sim::reading::pass::read_pass;
use floatgate_sim::{Phase, Simulation};
use std::fmt::Write as _;

/// A drive of several planes, of which the trace writes only a part; it reads and trims pages anywhere.
fn experiment(seed: u64, folder: &Folder) -> String {
    let mut rng = Rng::new(seed, "data that rest");
    let (channels, planes, subpages) = (1 + rng.below(3), 1 + rng.below(2), 1 << rng.below(3));
    let pages_per_block = 8 * (1 + rng.below(3));
    let pages = channels * planes * 40 * pages_per_block * subpages;
    let (logical, page_bytes) = (pages * 8 / 10, 4096 * subpages);
    let part = 0.1 + 0.4 * rng.unit();
    let mut text = String::from("fio version 3 iolog\n0 /dev/d add\n0 /dev/d open\n");
    for i in 0..6 * pages {
        let hot = (rng.unit() * part * logical as f64) as u64;
        let anywhere = rng.below(logical);
        let (what, page) = match rng.below(200) {
            0 => ("trim", anywhere),
            1..20 => ("read", anywhere),
            _ => ("write", hot),
        };
        writeln!(text, "{} /dev/d {what} {} 4096", 1000 * i, page * 4096).unwrap();
    }
    let scope = if rng.below(3) == 0 { "superblock" } else { "plane" };
    let file = folder.file(&format!("{seed}.iolog"), text);
    format!(
        "seed = {seed}\n[drive.geometry]\nchannels = {channels}\nplanes_per_die = {planes}\nblocks_per_plane = 40\n\
         pages_per_block = {pages_per_block}\npage_bytes = {page_bytes}\n[drive.endurance]\npe_cycles = 100000\n\
         [ftl]\nspare_factor = 0.2\nmapping_bytes = 4096\n[ftl.collect]\nscope = \"{scope}\"\n[ftl.level]\npolicy = \"gap\"\ngap_erases = 3\n\
         [workload]\nfile = \"{file}\"\n"
    )
}

/// The shadow model tracks the place of all data, and checks each read, move and audit. Levelers move data at rest.
#[test]
fn data_at_rest_are_read_moved_and_given_up_under_the_shadow_model() {
    let folder = Folder::new("at-rest");
    let (mut moved, all) = (0, seeds(12));
    for seed in all.clone() {
        let toml = experiment(seed, &folder);
        let mut resolved =
            load(Some(&toml), "t.toml", &[]).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{toml}"));
        resolved.plan.shadow = true;
        let result = run_with(resolved, &Options::default(), &mut |_| Ok(()))
            .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{toml}"))
            .result;
        assert_eq!(result["precondition"]["became"], "steady", "seed {seed}");
        moved += u64::from(number(&result, "/flash/programs/level") > 0.0);
    }
    assert!(moved * 2 > all.count() as u64, "levelers moved data in {moved} runs");
}

/// A forecast sets blocks to the wear near the end of life: under any leveler the drive keeps its data and passes its
/// audit.
#[test]
fn a_leap_of_wear_leaves_a_drive_whole() {
    let folder = Folder::new("leap-of-wear");
    let criterion =
        Criterion { error_max: 0.01, laps_max: 5, programs_min: 1 << 14, requests_max: REQUESTS_MAX };
    for (seed, policy) in (0..).zip(["\"hot-cold-swap\"", "\"gap\"", "\"lazy\"\nslope = 0.0", "\"adaptive\""])
    {
        let toml = experiment(seed, &folder)
            .replace("policy = \"gap\"\ngap_erases = 3", &format!("policy = {policy}"))
            .replace("pe_cycles = 100000", "pe_cycles = 2000");
        let mut resolved = load(Some(&toml), "t.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{toml}"));
        resolved.plan.shadow = true;
        let pass = read_pass(&resolved.plan, None, &mut |_| Ok(())).unwrap();
        let laps = measure(&resolved.plan, &pass, &criterion, None, &mut |_| Ok(()))
            .unwrap_or_else(|e| panic!("{policy}: {e}\n{toml}"));
        let ahead = laps.ahead.unwrap_or_else(|| panic!("{policy} was not looked at ahead"));
        assert!(ahead.mean_from > 1000.0 && ahead.moved > 0.0, "{policy}: {ahead:?}");
    }
}

/// A limit of one request ends a lap before it has programmed enough.
#[test]
fn laps_that_end_at_their_limit_of_requests_say_so() {
    let folder = Folder::new("cut-short");
    let plan = load(Some(&experiment(0, &folder)), "t.toml", &[]).unwrap().plan;
    let pass = read_pass(&plan, None, &mut |_| Ok(())).unwrap();
    for (requests_max, cut_short) in [(1, true), (REQUESTS_MAX, false)] {
        let criterion = Criterion { error_max: 0.5, laps_max: 5, programs_min: 1 << 18, requests_max };
        let laps = measure(&plan, &pass, &criterion, None, &mut |_| Ok(())).unwrap();
        assert_eq!(laps.cut_short, cut_short, "{requests_max}: {} passes", laps.passes);
    }
}

/// A snapshot stores the whole map, and the drive continues unchanged; also one that is only half filled.
#[test]
fn snapshots_write_data_at_rest_down() {
    let folder = Folder::new("at-rest-snapshots");
    let mut half_filled = 0;
    for seed in seeds(6) {
        let resolved = load(Some(&experiment(seed, &folder)), "t.toml", &[]).unwrap();
        let [mut whole, mut stopped] = [(), ()].map(|()| Simulation::new(resolved.plan.clone()).unwrap());
        let mut bound = Bound::new(100_000);
        while whole.step(1000).unwrap() != Phase::Done {
            bound.step();
            stopped.step(1000).unwrap();
            if stopped.phase() != Phase::Scan {
                half_filled += u32::from(stopped.phase() == Phase::Precondition);
                stopped = resumed(&resolved, &saved(&stopped));
                stopped.audit().unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            }
        }
        stopped.step(1000).unwrap();
        let (whole, stopped) = (whole.finish(), stopped.finish());
        assert_eq!(format!("{:?}", whole.flash), format!("{:?}", stopped.flash), "seed {seed}");
        assert_eq!(format!("{:?}", whole.host), format!("{:?}", stopped.host), "seed {seed}");
    }
    assert!(half_filled > 0);
}
