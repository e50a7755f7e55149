//! Incremental collection: the host never opens the last free unit of a domain, no write waits for whole units, and
//! write amplification is that of whole-block collection.

use crate::common::policies::{any_level, any_timing, any_victim};
use crate::common::{number, run_ok};
use floatgate_base::{DomainId, ExtentKind as Kind, Extents, Hints, Lpn, Rng};
use floatgate_flash::{Functional, Layout, Scope, Shadow};
use floatgate_ftl::{Ftl, Separate, Setup};
use floatgate_nand::Geometry;

/// A drive of any shape that has room for incremental collection, filled, and then written at random for a while.
fn never_forced(seed: u64) {
    let mut rng = Rng::new(seed, "incremental");
    let separate = [Separate::None, Separate::HostGc][rng.below(2) as usize];
    let (channels, planes) = (1 + rng.below(3) as u32, 1 + rng.below(2) as u32);
    let subpages = 1 << rng.below(3);
    let pages = subpages * (16 + rng.below(24) as u32);
    let stop = separate.reserve() + rng.below(4) as u32;
    let blocks = stop + 8 + rng.below(24) as u32;
    let geometry = Geometry {
        channels,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: planes,
        blocks_per_plane: blocks,
        pages_per_block: pages,
        page_bytes: 4096,
    };
    let scope = [Scope::Plane, Scope::Superblock][rng.below(2) as usize];
    let layout = Layout::new(geometry, scope).with_subpages(subpages);
    // Beside free and open units, at least a twentieth of the pages is spare; a victim then gains something.
    let room = f64::from(blocks - stop - 2) * 0.95 * f64::from(pages * channels * planes);
    let logical = (room * (0.5 + 0.5 * rng.unit())) as u32;
    let setup = Setup {
        victim: any_victim(&mut rng),
        separate,
        level: any_level(&mut rng),
        trigger_free_units: separate.reserve(),
        stop_free_units: stop,
        incremental: true,
        plp: rng.below(4) > 0,
        timing: any_timing(seed),
        seed,
        ..Setup::plain(logical)
    };
    let case = format!("seed {seed}: {setup:?}, {geometry:?}, {scope:?}, {subpages} pages share one");
    let mut ftl = Ftl::new(layout.clone(), setup);
    let mut flash = Shadow::new(Functional::new(layout.clone()), logical);
    let hot = 1 + rng.below(u64::from(logical));
    let mut extents = Extents::default();
    (0..logical).for_each(|page| extents.push(Lpn(page), 1, Kind::Write));
    for _ in 0..4 * logical {
        let kind = [Kind::Write, Kind::Write, Kind::Write, Kind::Trim][rng.below(4) as usize];
        let space = if rng.below(3) > 0 { hot } else { logical.into() };
        extents.push(Lpn(rng.below(space) as u32), 1, kind);
    }
    // Half of the pages of a program are written together with those of another.
    let context = |lpn: Lpn| 1 + (lpn.0 / 16) % 5;
    extents.columns.hints =
        extents.lpn.iter().map(|&lpn| Hints { context: context(lpn), ..Hints::default() }).collect();
    ftl.reset_counts(&mut flash);
    for at in 0..extents.len() {
        ftl.serve_range(&mut flash, &extents, at..at + 1).unwrap_or_else(|e| panic!("{case}: {e:?}"));
        let least = DomainId::all(layout.domains()).map(|domain| ftl.free_units_of(domain)).min();
        assert!(least > Some(0), "{case}: no unit is free after extent {at}");
    }
    ftl.audit(&flash).unwrap_or_else(|e| panic!("{case}: {e}"));
    assert!(ftl.gc().victims > 0 && ftl.gc().forced == 0, "{case}: {:?}", ftl.gc());
}

/// SWL opens a separate unit just before jobs that gain little, while the host's unit is nearly full, and while it is
/// full.
#[test]
fn a_unit_of_wear_leveling_makes_no_write_wait() {
    [11_729, 15_414].into_iter().for_each(never_forced);
}

#[test]
fn the_last_free_unit_stays() {
    crate::common::seeds(500).for_each(never_forced);
}

/// Write amplification of a workload under both modes.
fn both(case: &str, toml: &str) -> [f64; 2] {
    ["whole-block", "incremental"].map(|mode| {
        let result = run_ok(toml, &[("ftl.collect.mode", mode.into())]).result;
        let forced = number(&result, "/gc/forced");
        assert_eq!(forced == 0.0, mode == "incremental", "{case}, {mode}: {forced} writes waited");
        number(&result, "/waf")
    })
}

/// A drive whose moved pages have open blocks of their own, under a skewed load.
fn skewed(load: &str, policy: &str) -> String {
    format!(
        "[drive.geometry]\nchannels = 2\nblocks_per_plane = 1024\npages_per_block = 64\n\
         [ftl]\nspare_factor = 0.12\nprecondition = \"random\"\n[ftl.collect]\n{policy}\n\
         [ftl.separate]\npolicy = \"host-gc\"\n\
         [workload]\npattern = \"{load}\"\nrequests = 600000\nwarmup_requests = 600000\n"
    )
}

fn within(share: f64, case: &str, toml: &str) {
    let [whole, steps] = both(case, toml);
    assert!((steps / whole - 1.0).abs() < share, "{case}: {whole} by whole blocks, {steps} in steps");
}

/// The drive of the closed forms, and skewed loads.
#[test]
fn write_amplification_is_that_of_whole_blocks() {
    for (spare, policy) in [(0.1, "greedy"), (0.2, "greedy"), (0.1, "fifo"), (0.15, "random")] {
        let toml = crate::common::uniform(2048, 64, spare, &format!("policy = \"{policy}\""), 600_000);
        within(0.01, &format!("uniform, {policy}, {spare}"), &toml);
    }
    for load in ["zipf", "hot-cold"] {
        for policy in ["cost-benefit", "d-choices"] {
            within(0.01, &format!("{load}, {policy}"), &skewed(load, &format!("policy = \"{policy}\"")));
        }
    }
}

/// Greedy gains by collecting several blocks in a row if the load is skewed; in whole-block collection this is the
/// distance of stop level and trigger. Without that distance both modes agree here, too.
#[test]
fn greedy_without_hysteresis_agrees_under_skew() {
    for load in ["zipf", "hot-cold"] {
        within(0.03, load, &skewed(load, "policy = \"greedy\"\nstop_free_blocks = 2"));
    }
    let [whole, steps] = both("zipf", &skewed("zipf", "policy = \"greedy\""));
    assert!(steps / whole > 1.1, "{whole} by whole blocks, {steps} in steps");
}
