//! `floatgate._core`: a thin layer between Python and the core. It converts values, releases the interpreter while the
//! core works, and turns the core's errors into exceptions. It makes no decisions.

mod batches;
mod capture;
mod columns;
mod content;
mod errors;
mod experiment;
mod json;
mod live;
mod patterns;
mod plugins;
mod request_log;
mod requests;
mod trace;

use pyo3::prelude::*;

/// Returns the write amplification by a closed form; `choices` for d-choices only.
#[pyfunction]
#[pyo3(signature = (policy, spare_factor, pages_per_block, choices=None))]
fn theory_wa(policy: &str, spare_factor: f64, pages_per_block: u32, choices: Option<u32>) -> PyResult<f64> {
    use floatgate_theory::Policy;
    let policy = match (policy, choices) {
        ("greedy", None) => Policy::Greedy,
        ("fifo", None) => Policy::Fifo,
        ("random", None) => Policy::Random,
        ("d-choices", d) => Policy::DChoices(d.unwrap_or(10)),
        ("greedy" | "fifo" | "random", Some(choices)) => {
            return Err(errors::input(
                "--choices",
                &format!("{choices} has no effect with --policy {policy}"),
                "expected --policy d-choices, or no --choices",
            ));
        }
        (other, _) => {
            let what = format!("unknown policy {}", floatgate_base::error::quote(other.as_bytes()));
            return Err(errors::input(
                "--policy",
                &what,
                &floatgate_base::names::remedy(other, &["greedy", "fifo", "random", "d-choices"], ""),
            ));
        }
    };
    floatgate_theory::wa(policy, spare_factor, pages_per_block)
        .map_err(|e| errors::input("theory", &e.to_string(), ""))
}

/// Returns the write amplification of FIFO collection where a share of the pages takes a share of the writes (`hot`).
/// All pages share one log, or hot and other pages have separate logs with the best split of the spare space. Separate
/// logs also return the spare factors of the hot and of the other log.
#[pyfunction]
fn theory_wa_hot(
    spare_factor: f64,
    pages_per_block: u32,
    hot: (f64, f64),
    separated: bool,
) -> PyResult<(f64, Option<(f64, f64)>)> {
    use floatgate_theory::{Policy, wa, wa_fifo_separated, wa_fifo_skewed};
    let groups = [hot, (1.0 - hot.0, 1.0 - hot.1)];
    // Checks the parameters that do not depend on the groups.
    let result = wa(Policy::Fifo, spare_factor, pages_per_block).and_then(|_| {
        if separated {
            let best = wa_fifo_separated(&groups, spare_factor)?;
            return Ok((best.wa, Some((best.spare_factors[0], best.spare_factors[1]))));
        }
        Ok((wa_fifo_skewed(&groups, spare_factor)?, None))
    });
    result.map_err(|e| errors::input("theory", &e.to_string(), ""))
}

/// States what to write in place of an unknown name: close names, at most five, or else some of the valid ones.
/// `listing` is the command that lists them all; empty for none.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "as Python hands it over")]
fn name_remedy(name: &str, valid: Vec<String>, listing: &str) -> String {
    let valid: Vec<&str> = valid.iter().map(String::as_str).collect();
    floatgate_base::names::remedy(name, &valid, listing)
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    errors::register(module)?;
    columns::register();
    module.add_function(wrap_pyfunction!(name_remedy, module)?)?;
    module.add_function(wrap_pyfunction!(theory_wa, module)?)?;
    module.add_function(wrap_pyfunction!(theory_wa_hot, module)?)?;
    capture::register(module)?;
    content::register(module)?;
    experiment::register(module)?;
    live::register(module)?;
    patterns::register(module)?;
    plugins::register(module)?;
    requests::register(module)?;
    trace::register(module)
}
