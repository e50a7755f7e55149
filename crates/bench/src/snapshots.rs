//! Saving a large drive to a file and reading it back.

use crate::measure::{PAGES_PER_BLOCK, SPARE, rounds};
use crate::report::{Metric, Report};
use floatgate_experiment::load;
use floatgate_experiment::meter::{Meter, peak_rss_bytes};
use floatgate_sim::{Phase, Simulation};

const GIB: u32 = 128;

fn experiment(first_state: &str) -> String {
    format!(
        "[drive.geometry]\nblocks_per_plane = {}\npages_per_block = {PAGES_PER_BLOCK}\n[ftl]\nspare_factor = {SPARE}\n\
         {first_state}\n[workload]\nrequests = 1000000\n",
        GIB * 1024
    )
}

/// Returns a drive at the start of counting.
fn ready(first_state: &str) -> Simulation {
    let resolved = load(Some(&experiment(first_state)), "bench.toml", &[]).expect("valid");
    let mut simulation = Simulation::new(resolved.plan).expect("the drive is made");
    while simulation.phase() != Phase::Run {
        simulation.step(1).expect("preconditioning succeeds");
    }
    simulation
}

/// Measures wall-clock seconds of `work`, round by round.
fn times(work: &dyn Fn()) -> Vec<f64> {
    rounds(|| {
        let meter = Meter::start();
        work();
        meter.wall_s()
    })
}

/// Measures wall-clock seconds; files are in the temporary folder.
pub fn all(report: &mut Report) {
    let path = std::env::temp_dir().join(format!("floatgate-bench-{}.drive", std::process::id()));
    let name = path.to_string_lossy().into_owned();
    let mut simulation = ready("precondition = \"steady\"");
    while simulation.step(1 << 20).expect("the bench runs") != Phase::Done {}
    let write_s = times(&|| drop(simulation.save_drive(&path).expect("the drive is saved")));
    let bytes = std::fs::metadata(&path).expect("the file is there").len();
    let pages = f64::from(GIB) * f64::from(1 << 30) / 4096.0;
    drop(simulation);
    let before = peak_rss_bytes();
    let fresh_s = times(&|| drop(ready("precondition = \"none\"")));
    let loaded_s = times(&|| drop(ready(&format!("snapshot = \"{name}\""))));
    let read_s: Vec<f64> = loaded_s.iter().zip(fresh_s).map(|(loaded, fresh)| loaded - fresh).collect();
    let grown = peak_rss_bytes().zip(before).map_or(0, |(after, before)| after - before);
    std::fs::remove_file(&path).expect("the bench's file can be removed");
    report.group(
        "snapshots",
        format!("{GIB} GiB drive at random state to a file and back, seconds by the clock"),
    );
    report.print("write, s", &Metric::cost("write", "s", &write_s).at_most(5.0));
    report.print("read, s (beyond making an empty drive)", &Metric::cost("read", "s", &read_s).at_most(5.0));
    let per_page = bytes as f64 / pages;
    report
        .print("bytes per physical page", &Metric::cost("file", "bytes per page", &[per_page]).at_most(4.0));
    let grown = Metric::cost("read-memory", "MiB", &[(grown >> 20) as f64]).digits(0);
    report.print("peak memory of reading beyond that of writing, MiB", &grown);
}
