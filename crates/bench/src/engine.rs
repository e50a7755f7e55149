//! The engine as a user runs it: an experiment in TOML, counters by cause, policies from the configuration.

use crate::measure::rate;
use floatgate_base::Rng;
use floatgate_experiment::{load, run};
use std::fmt::Write as _;

/// Requests of the generated MSR file.
const MSR_REQUESTS: u64 = 4_000_000;

/// Measures programs per CPU second in the counted phase, 10^6, and the write amplification, under a separator.
pub fn uniform(blocks: u32, pages_per_block: u32, spare: f64, requests: u64, separator: &str) -> (f64, f64) {
    let toml = format!(
        "[drive.geometry]\nblocks_per_plane = {blocks}\npages_per_block = {pages_per_block}\n\
         [ftl]\nspare_factor = {spare}\nprecondition = \"steady\"\n[ftl.separate]\npolicy = \"{separator}\"\n\
         [workload]\nrequests = {requests}\n"
    );
    rate_and_waf(&toml)
}

/// Measures like [`uniform`] without a separator, under a wear-leveler, on one channel of two chips.
pub fn leveled(blocks: u32, pages_per_block: u32, spare: f64, requests: u64, level: &str) -> (f64, f64) {
    let toml = format!(
        "[drive.geometry]\nchips_per_channel = 2\nblocks_per_plane = {}\npages_per_block = {pages_per_block}\n\
         [ftl]\nspare_factor = {spare}\nprecondition = \"steady\"\n[ftl.level]\npolicy = \"{level}\"\n\
         [workload]\nrequests = {requests}\n",
        blocks / 2
    );
    rate_and_waf(&toml)
}

/// Measures pages written per CPU second in the counted phase, 10^6, and the write amplification.
fn rate_and_waf(toml: &str) -> (f64, f64) {
    let result = result_of(toml, &[]);
    (
        result["run"]["programs_per_cpu_s"].as_f64().unwrap_or(f64::NAN) / 1e6,
        result["waf"].as_f64().unwrap_or(f64::NAN),
    )
}

/// Measures like [`uniform`] without a separator, where four pages of the map share a flash page.
pub fn packed(blocks: u32, pages_per_block: u32, spare: f64, requests: u64) -> (f64, f64) {
    let toml = format!(
        "[drive.geometry]\nblocks_per_plane = {blocks}\npages_per_block = {}\npage_bytes = 16384\n\
         [ftl]\nspare_factor = {spare}\nprecondition = \"steady\"\nmapping_bytes = 4096\n\
         [workload]\nrequests = {requests}\n",
        pages_per_block / 4
    );
    rate_and_waf(&toml)
}

/// Measures uniform page reads per CPU second in the counted phase, 10^6, of a drive filled in order; `tables`
/// configure read disturb and its manager.
pub fn reads(blocks: u32, pages_per_block: u32, spare: f64, requests: u64, tables: &str) -> f64 {
    let toml = format!(
        "[drive.geometry]\nblocks_per_plane = {blocks}\npages_per_block = {pages_per_block}\n{tables}\
         [ftl]\nspare_factor = {spare}\nprecondition = \"sequential\"\n\
         [workload]\nrequests = {requests}\nread_share = 1\n"
    );
    let resolved = load(Some(&toml), "bench.toml", &[]).expect("the bench's experiment is valid");
    let mut simulation = floatgate_sim::Simulation::new(resolved.plan).expect("the bench's experiment runs");
    while !matches!(simulation.phase(), floatgate_sim::Phase::Run) {
        simulation.step(1).expect("preconditioning succeeds");
    }
    rate(requests, || {
        while simulation.step(1 << 20).expect("the bench's experiment runs") != floatgate_sim::Phase::Done {}
    })
}

fn result_of(toml: &str, overrides: &[(String, String)]) -> serde_json::Value {
    let resolved = load(Some(toml), "bench.toml", overrides).expect("the bench's experiment is valid");
    run(resolved, &mut |_| Ok(())).expect("the bench's experiment runs").result
}

/// Measures requests per CPU second from a warm file, 10^6: of the parser alone, and of parser and simulation.
pub fn msr() -> (f64, f64) {
    let path = std::env::temp_dir().join(format!("floatgate-bench-{}.csv", std::process::id()));
    write_msr(&path);
    let name = path.to_string_lossy().into_owned();
    let read = || crate::readers::read(&path);
    read();
    let parse = rate(MSR_REQUESTS, read);
    let toml =
        "[drive]\ncapacity = \"8 GiB\"\n[ftl]\nprecondition = \"random\"\n[workload]\nkind = \"trace\"\n";
    // The clock starts with counting: preconditioning is not part of reading a trace.
    let simulate = |file: &str| {
        let resolved =
            load(Some(toml), "bench.toml", &[("workload.file".into(), file.into())]).expect("valid");
        let mut simulation = floatgate_sim::Simulation::new(resolved.plan).expect("the trace opens");
        while !matches!(simulation.phase(), floatgate_sim::Phase::Run) {
            simulation.step(1).expect("preconditioning succeeds");
        }
        rate(MSR_REQUESTS, || {
            while simulation.step(1 << 20).expect("the bench's trace runs") != floatgate_sim::Phase::Done {}
        })
    };
    let both = simulate(&name);
    std::fs::remove_file(&path).expect("the bench's trace can be removed");
    (parse, both)
}

/// Writes a file in MSR's format: single-page requests, 80 % writes, over 4 GiB.
fn write_msr(path: &std::path::Path) {
    let mut rng = Rng::new(1, "msr bench");
    let mut text = String::with_capacity(64 * MSR_REQUESTS as usize);
    for i in 0..MSR_REQUESTS {
        let op = if rng.below(5) == 0 { "Read" } else { "Write" };
        let (time, offset) = (128_166_372_003_061_629 + i * 5000, rng.below(1 << 20) * 4096);
        writeln!(text, "{time},prxy,0,{op},{offset},4096,{}", rng.below(20_000)).expect("memory takes it");
    }
    std::fs::write(path, text).expect("the temporary folder can be written");
}
