//! A large drive to a file and back.

use crate::measure::{PAGES_PER_BLOCK, ROUNDS, SPARE, median};
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

/// A drive that is ready to count.
fn ready(first_state: &str) -> Simulation {
    let resolved = load(Some(&experiment(first_state)), "bench.toml", &[]).expect("valid");
    let mut simulation = Simulation::new(resolved.plan).expect("the drive is made");
    while simulation.phase() != Phase::Run {
        simulation.step(1).expect("preconditioning succeeds");
    }
    simulation
}

/// Seconds by the clock, files in the temporary folder.
pub fn all() {
    let path = std::env::temp_dir().join(format!("floatgate-bench-{}.drive", std::process::id()));
    let name = path.to_string_lossy().into_owned();
    let mut simulation = ready("precondition = \"steady\"");
    while simulation.step(1 << 20).expect("the bench runs") != Phase::Done {}
    let time = |work: &dyn Fn()| {
        median(
            (0..ROUNDS)
                .map(|_| {
                    let meter = Meter::start();
                    work();
                    meter.wall_s()
                })
                .collect(),
        )
    };
    let write_s = time(&|| drop(simulation.save_drive(&path).expect("the drive is saved")));
    let bytes = std::fs::metadata(&path).expect("the file is there").len();
    let pages = f64::from(GIB) * f64::from(1 << 30) / 4096.0;
    drop(simulation);
    let before = peak_rss_bytes();
    let fresh_s = time(&|| drop(ready("precondition = \"none\"")));
    let read_s = time(&|| drop(ready(&format!("snapshot = \"{name}\"")))) - fresh_s;
    let grown = peak_rss_bytes().zip(before).map_or(0, |(after, before)| after - before);
    std::fs::remove_file(&path).expect("the bench's file can be removed");
    println!("{GIB} GiB drive at random state to a file and back, seconds by the clock");
    most("write, s", write_s, 5.0);
    most("read, s (beyond making an empty drive)", read_s, 5.0);
    most("bytes a physical page", bytes as f64 / pages, 4.0);
    println!("    peak memory of reading beyond that of writing {:>5} MiB", grown >> 20);
}

fn most(name: &str, found: f64, asked: f64) {
    let word = if found <= asked { "met" } else { "NOT met" };
    println!("    {name:<44} {found:>6.2}   asked {asked:.2} at most: {word}");
}
