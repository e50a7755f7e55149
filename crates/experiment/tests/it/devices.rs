//! A second device in the middle of a trace: the run restarts, with all of the trace.

use crate::common::Folder;
use floatgate_base::testing::Bound;
use floatgate_experiment::result::{RunFigures, result};
use floatgate_experiment::{load, run};
use floatgate_sim::{Phase, Simulation};
use std::fmt::Write as _;

/// Requests between two audits under the shadow model.
const AUDIT_EVERY: u64 = 1 << 20;

/// Under the shadow model the restarted run is audited as often as any other, and ends like a run that knew the devices
/// from the start.
#[test]
fn a_run_that_begins_anew_is_audited_from_its_beginning() {
    let folder = Folder::new("devices");
    let mut text = String::new();
    for i in 0..AUDIT_EVERY + 1000 {
        writeln!(text, "0,{},4096,R,{}.0", i % 512 * 8, i / 1000).unwrap();
    }
    text += "1,0,4096,W,2000.0\n";
    let path = folder.file("two.spc", text);
    let toml = |more: &str| {
        format!(
            "[drive.geometry]\nblocks_per_plane = 16\npages_per_block = 64\n[ftl]\nspare_factor = 0.25\n\
             precondition = \"none\"\n[workload]\nfile = \"{path}\"\n{more}"
        )
    };
    let resolve = |more: &str| {
        let mut resolved = load(Some(&toml(more)), "t.toml", &[]).unwrap();
        resolved.plan.shadow = true;
        resolved
    };
    let resolved = resolve("");
    let mut simulation = Simulation::new(resolved.plan.clone()).unwrap();
    let mut phases = vec![simulation.phase()];
    let mut bound = Bound::new(100_000);
    while simulation.phase() != Phase::Done {
        bound.step();
        let phase = simulation.step(1 << 16).unwrap();
        if phases.last() != Some(&phase) {
            phases.push(phase);
        }
    }
    // The second device is seen after the first audit.
    let served = [Phase::Precondition, Phase::Run];
    assert_eq!(phases, [&served[..], &[Phase::Scan], &served[..], &[Phase::Done]].concat());
    assert_eq!(simulation.audits(), 1);
    let figures = RunFigures { wall_s: 0.0, cpu_s: 0.0, counted_cpu_s: 0.0, peak_rss_bytes: None };
    let restarted = result(&resolved, &simulation.finish(), &figures);
    assert_eq!(restarted["host"]["read_requests"], AUDIT_EVERY + 1000);
    // With beyond = "scale" the trace is always scanned first, and on a drive that holds it nothing is scaled.
    let scanned = run(resolve("beyond = \"scale\"\n"), &mut |_| Ok(())).unwrap().result;
    for key in ["host", "flash", "wear"] {
        assert!(restarted[key].is_object() && restarted[key] == scanned[key], "{key}");
    }
}
