//! Helpers of the integration tests.
#![allow(dead_code)] // Not every test file uses every helper.

use floatgate_experiment::{Output, load, run};
use serde_json::Value;

/// Runs an experiment given as TOML with overrides.
pub fn try_run(toml: &str, overrides: &[(&str, String)]) -> Result<Output, String> {
    let overrides: Vec<_> = overrides.iter().map(|(k, v)| (k.to_string(), v.clone())).collect();
    let resolved = load(Some(toml), "test.toml", &overrides).map_err(|e| e.to_string())?;
    run(resolved, &mut |_| Ok(())).map_err(|e| e.to_string())
}

/// Runs an experiment that must succeed.
pub fn run_ok(toml: &str, overrides: &[(&str, String)]) -> Output {
    try_run(toml, overrides).unwrap_or_else(|e| panic!("{e}\n{toml}{overrides:?}"))
}

/// A number of the result, by JSON pointer.
pub fn number(result: &Value, pointer: &str) -> f64 {
    result.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("no number at {pointer}"))
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
