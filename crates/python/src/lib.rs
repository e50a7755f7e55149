//! `floatgate._core`: a thin layer between Python and the core. It converts, releases the interpreter while the core
//! works, and turns the core's errors into exceptions; it decides nothing.

mod batches;
mod columns;
mod errors;
mod experiment;
mod json;
mod request_log;
mod trace;

use pyo3::prelude::*;

/// Write amplification by a closed form; `choices` for d-choices only.
#[pyfunction]
#[pyo3(signature = (policy, spare_factor, pages_per_block, choices=None))]
fn theory_wa(policy: &str, spare_factor: f64, pages_per_block: u32, choices: Option<u32>) -> PyResult<f64> {
    use floatgate_theory::Policy;
    let policy = match (policy, choices) {
        ("greedy", None) => Policy::Greedy,
        ("fifo", None) => Policy::Fifo,
        ("random", None) => Policy::Random,
        ("d-choices", d) => Policy::DChoices(d.unwrap_or(10)),
        ("greedy" | "fifo" | "random", Some(_)) => {
            return Err(errors::input(
                "--choices",
                "choices is no parameter of this policy",
                "expected it with d-choices only",
            ));
        }
        (other, _) => {
            let what = format!("unknown policy {}", floatgate_base::error::quote(other.as_bytes()));
            return Err(errors::input(
                "--policy",
                &what,
                "expected one of 'greedy', 'fifo', 'random', 'd-choices'",
            ));
        }
    };
    floatgate_theory::wa(policy, spare_factor, pages_per_block)
        .map_err(|e| errors::input("theory", &e.to_string(), ""))
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    errors::register(module)?;
    columns::register();
    module.add_function(wrap_pyfunction!(theory_wa, module)?)?;
    experiment::register(module)?;
    trace::register(module)
}
