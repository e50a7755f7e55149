//! MiDAS as a whole: its groups change during the run under any collection and host, and the drive stays exact; on
//! skewed writes it pays off.

use crate::common::interrupted::{figures, resumed, saved};
use crate::common::policies::{any_level, any_victim, separator};
use floatgate_base::testing::Bound;
use floatgate_base::{ExtentKind as Kind, Extents, Hints, Lpn, Rng};
use floatgate_experiment::{load, run};
use floatgate_flash::{Flash, Functional, Layout, Scope, Shadow};
use floatgate_ftl::{Ftl, Setup};
use floatgate_nand::Geometry;
use floatgate_sim::{Phase, Simulation};

/// Writes of which most go to a few pages, and occasional TRIMs. The few pages change regularly, which invalidates
/// predictions.
fn skewed(rng: &mut Rng, logical: u32, requests: u32) -> Extents {
    let mut extents = Extents::default();
    let hot = (logical / 10).max(1);
    for request in 0..requests {
        let at = match rng.below(10) {
            0..=5 => (request / 4000 * hot + rng.below(u64::from(hot)) as u32) % logical,
            _ => rng.below(u64::from(logical)) as u32,
        };
        let kind = if rng.below(40) == 0 { Kind::Trim } else { Kind::Write };
        extents.push(Lpn(at), 1, kind);
        extents.columns.hints.push(Hints::default());
    }
    extents
}

fn counter(ftl: &Ftl, name: &str) -> u64 {
    let figures = ftl.separation().unwrap().figures();
    figures.iter().find(|(key, _)| *key == name).map_or(0, |(_, value)| *value as u64)
}

/// Random drives under the shadow model, with an audit every few hundred requests: every victim policy, levelers, both
/// scopes, collection of whole blocks, in steps and in idle time, with the hot group and without. In all of them
/// together groups are applied and merged many times.
#[test]
fn groups_change_under_way_and_drives_stay_exact() {
    let (mut applied, mut merged) = (0, 0);
    for seed in crate::common::seeds(120) {
        let mut rng = Rng::new(seed, "midas");
        let groups = 2 + rng.below(4) as u32;
        let values = [
            ("groups", f64::from(groups)),
            ("merged_groups", 1.0 + rng.below(4) as f64),
            ("hot_group", rng.below(2) as f64),
            ("sample_every", 1.0 + rng.below(3) as f64),
            ("epoch_drive_writes", 0.5 + 2.0 * rng.unit()),
            ("mismatch", 0.02 + 0.1 * rng.unit()),
        ];
        let separate = separator("midas", &values);
        let scope = [Scope::Plane, Scope::Superblock][rng.below(2) as usize];
        let stop = separate.reserve() + rng.below(3) as u32;
        let geometry = Geometry {
            channels: 1 + rng.below(2) as u32,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 60 + rng.below(60) as u32,
            pages_per_block: 4 + rng.below(12) as u32,
            page_bytes: 4096,
        };
        let layout = Layout::new(geometry, scope);
        let room = (geometry.blocks_per_plane - stop - separate.streams()) * geometry.pages_per_block;
        let logical = (f64::from(room * geometry.channels) * (0.7 + 0.25 * rng.unit())) as u32;
        let setup = Setup {
            victim: any_victim(&mut rng),
            separate,
            level: any_level(&mut rng),
            idle_jobs: true,
            background_free_units: if rng.below(2) == 0 { stop + 1 } else { 0 },
            trigger_free_units: separate.reserve(),
            stop_free_units: stop,
            incremental: rng.below(3) == 0,
            seed,
            ..Setup::plain(logical)
        };
        let case = format!("seed {seed}: {setup:?}, {geometry:?}, {scope:?}");
        let mut ftl = Ftl::new(layout.clone(), setup);
        let mut flash = Shadow::new(Functional::new(layout.clone()), logical);
        let work = skewed(&mut rng, logical, 20 * logical.min(1000));
        for from in (0..work.len()).step_by(300) {
            let to = (from + 300).min(work.len());
            ftl.serve_range(&mut flash, &work, from..to).unwrap_or_else(|e| panic!("{case}: {e:?}"));
            for domain in floatgate_base::DomainId::all(layout.domains()) {
                let mut bound = Bound::new(100_000);
                while ftl.wants_background_in(domain)
                    && rng.below(8) > 0
                    && ftl.background_step(&mut flash, domain).unwrap()
                {
                    bound.step();
                }
            }
            ftl.audit(&flash).unwrap_or_else(|e| panic!("{case}: {e}"));
        }
        assert!(flash.counters().erases_total() > 0, "{case}");
        applied += counter(&ftl, "applied");
        merged += counter(&ftl, "merged");
    }
    println!("applied {applied} times, merged {merged} times");
    assert!(applied >= 60 && merged >= 30, "applied {applied} times, merged {merged} times");
}

/// Returns the settled write amplification of a drive of 1024 blocks of 64 pages under Zipf's law (1.0), and the state
/// of the separator.
fn zipf(separate: &str, collect: &str, more: &str) -> (f64, serde_json::Value) {
    let toml = format!(
        "[drive.geometry]\nchannels = 1\nchips_per_channel = 1\ndies_per_chip = 1\nplanes_per_die = 1\n\
         blocks_per_plane = 1024\npages_per_block = 64\n[drive.endurance]\npe_cycles = 1000000\n\
         [ftl]\nspare_factor = 0.15\nprecondition = \"random\"\n[ftl.collect]\npolicy = \"{collect}\"\n\
         [ftl.separate]\npolicy = \"{separate}\"\n{more}[workload]\npattern = \"zipf\"\nzipf_theta = 1.0\n\
         warmup_requests = 900000\nrequests = 300000\n"
    );
    let resolved = load(Some(&toml), "e.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{toml}"));
    let result = run(resolved, &mut |_| Ok(())).unwrap_or_else(|e| panic!("{e}\n{toml}")).result;
    (result["waf"].as_f64().unwrap(), result["separate"]["found"].clone())
}

/// It writes far less than no separation, and about as much as SepBIT, with greedy collection and with cost-benefit.
/// The tolerance relative to SepBIT is one part in twenty: the paper, not this test, claims that MiDAS always wins.
#[test]
fn skewed_writes_cost_less() {
    for collect in ["greedy", "cost-benefit-sqrt"] {
        let [none, sepbit] = ["none", "sepbit"].map(|separate| zipf(separate, collect, "").0);
        let (midas, figures) = zipf("midas", collect, "");
        let (plain, _) = zipf("midas", collect, "hot_group = false\n");
        println!(
            "{collect}: none {none:.3}, sepbit {sepbit:.3}, midas {midas:.3} {figures}, without hot {plain:.3}"
        );
        assert!(midas < 0.9 * none, "{collect}: none {none}, midas {midas}");
        assert!(midas < 1.05 * sepbit, "{collect}: sepbit {sepbit}, midas {midas}");
    }
}

/// An interrupted run continues as if it had not stopped, at any point of an epoch: the results are equal, byte for
/// byte.
#[test]
fn interrupted_runs_go_on_alike() {
    let toml = "[drive.geometry]\nchannels = 1\nblocks_per_plane = 128\npages_per_block = 16\n\
                [ftl]\nspare_factor = 0.25\nprecondition = \"random\"\n\
                [ftl.separate]\npolicy = \"midas\"\nepoch_drive_writes = 1.0\nmismatch = 0.01\n\
                [workload]\npattern = \"zipf\"\nzipf_theta = 1.1\n\
                trim_share = 0.02\nrequests = 60000\n";
    let resolved = load(Some(toml), "e.toml", &[]).unwrap();
    let ended = |mut simulation: Simulation| {
        let mut bound = Bound::new(100_000);
        while simulation.step(1 << 20).unwrap() != Phase::Done {
            bound.step();
        }
        (saved(&simulation), figures(&resolved, simulation))
    };
    let (expected, result) = ended(Simulation::new(resolved.plan.clone()).unwrap());
    let groups = &result["separate"]["found"];
    assert!(groups["applied"].as_f64() >= Some(2.0) && groups["merged"].as_f64() >= Some(1.0), "{groups}");
    for steps in [1, 3, 7, 11] {
        let mut simulation = Simulation::new(resolved.plan.clone()).unwrap();
        for _ in 0..steps {
            simulation.step(4000).unwrap();
        }
        let bytes = saved(&simulation);
        let other = resumed(&resolved, &bytes);
        assert!(saved(&other) == bytes, "after {steps} steps it is another file");
        assert!(
            ended(other) == (expected.clone(), result.clone()),
            "after {steps} steps it goes on otherwise"
        );
    }
}
