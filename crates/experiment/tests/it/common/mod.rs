//! Helpers of the integration tests.

pub mod cases;
pub mod contents;
pub mod hinted;
pub mod host_model;
pub mod interrupted;
pub mod knob_toml;
pub mod metrics;
pub mod naive;
pub mod policies;
pub mod recorder;
pub mod reduced;
pub mod request_log;

use floatgate_base::Result as Told;
use floatgate_base::testing::Bound;
use floatgate_experiment::{LifetimeOptions, Output, lifetime, load, run};
use floatgate_stats::metrics::Document;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// Seeds of so many random cases, `FLOATGATE_TIMES` as many where that is set.
pub fn seeds(cases: u64) -> std::ops::Range<u64> {
    let times = std::env::var("FLOATGATE_TIMES").map_or(1, |text| text.parse().expect("a whole number"));
    0..cases * times
}

/// As [`seeds`], but `FLOATGATE_SEED=n` repeats one, and `FLOATGATE_CASES=n` sets how many there are.
pub fn seeds_or_one(cases: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse().expect("a whole number"));
    match number("FLOATGATE_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("FLOATGATE_CASES").unwrap_or(cases),
    }
}

/// Runs an experiment given as TOML with overrides; every figure of its result must have its row.
pub fn try_run(toml: &str, overrides: &[(&str, String)]) -> Result<Output, String> {
    let overrides: Vec<_> = overrides.iter().map(|(k, v)| (k.to_string(), v.clone())).collect();
    let resolved = load(Some(toml), "test.toml", &overrides).map_err(|e| e.to_string())?;
    let output = run(resolved, &mut |_| Ok(())).map_err(|e| e.to_string())?;
    metrics::known(&output.result);
    Ok(output)
}

/// Forecasts an experiment given as TOML once for each of `variants`; every figure must have its row.
pub fn try_lifetime(toml: &str, variants: &[Vec<(String, String)>]) -> Told<Vec<Value>> {
    let lives = lifetime(Some(toml), "t.toml", variants, &LifetimeOptions::default(), &mut |_| Ok(()))?;
    lives.iter().for_each(|life| _ = metrics::known_of(Document::Forecast, life));
    Ok(lives)
}

/// Runs an experiment that must succeed.
pub fn run_ok(toml: &str, overrides: &[(&str, String)]) -> Output {
    try_run(toml, overrides).unwrap_or_else(|e| panic!("{e}\n{toml}{overrides:?}"))
}

/// A number of the result, by JSON pointer.
pub fn number(result: &Value, pointer: &str) -> f64 {
    result.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("no number at {pointer}"))
}

/// A table of the result as far as no clock may change it: how long blocks rest, and when the first one fails, depends on when
/// requests arrive.
pub fn without_clock(result: &Value, key: &str) -> Value {
    let mut table = result[key].clone();
    if let Some(table) = table.as_object_mut() {
        table.shift_remove("idle_h");
        table.shift_remove("first_failure_s");
    }
    table
}

/// The result without its `run` table.
pub fn without_run(mut result: Value) -> String {
    result.as_object_mut().unwrap().shift_remove("run");
    serde_json::to_string_pretty(&result).unwrap()
}

/// A drive of one plane under uniform random writes.
pub fn uniform(blocks: u32, pages_per_block: u32, spare: f64, policy: &str, requests: u64) -> String {
    format!(
        "[drive.geometry]\nblocks_per_plane = {blocks}\npages_per_block = {pages_per_block}\n\
         [drive.endurance]\npe_cycles = 1000000\n\
         [ftl]\nspare_factor = {spare}\nprecondition = \"steady\"\n[ftl.collect]\n{policy}\n\
         [workload]\nrequests = {requests}\n"
    )
}

/// A folder for one test's files, removed at the end unless the test fails: what it holds repeats the failure.
pub struct Folder(PathBuf);

impl Folder {
    /// Makes a folder that no other test has.
    pub fn new(name: &str) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let (process, number) = (std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(format!("floatgate-experiment-{process}-{number}-{name}"));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Writes a file and returns its path.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path.to_string_lossy().into_owned()
    }

    /// The folder's path.
    pub fn path(&self) -> String {
        self.0.to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            std::fs::remove_dir_all(&self.0).ok();
        }
    }
}

/// A day of bursts in MSR's format, half of whose writes go to a tenth of the pages.
pub fn bursts(rng: &mut floatgate_base::Rng, pages: u64, writes: u64) -> String {
    use std::fmt::Write as _;
    let (mut text, mut written, mut at) = (String::new(), 0, 1);
    let mut bound = Bound::new(100_000_000);
    while written < writes {
        bound.step();
        at += rng.below(2 * 864_000_000_000 / (writes / 50 + 1));
        for _ in 0..1 + rng.below(100) {
            let of = if rng.below(2) == 0 { pages / 10 } else { pages };
            let page = rng.below(of - 4);
            writeln!(text, "{at},h,0,Write,{},{},0", page * 4096, 4096 * (1 + rng.below(4))).unwrap();
            at += rng.below(1_000_000);
            written += 1;
        }
    }
    text
}
