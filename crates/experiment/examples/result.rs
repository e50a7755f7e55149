//! Prints the result of an experiment without its `run` table: what the goldens hold.
//!
//! `cargo run --release -p floatgate-experiment --example result -- EXPERIMENT.toml [KEY=VALUE]...`

use floatgate_base::Result;
use floatgate_experiment::{load, run};
use std::process::ExitCode;

fn result(path: &str, overrides: &[(String, String)]) -> Result<serde_json::Value> {
    let text = std::fs::read_to_string(path).map_err(|e| {
        let place = floatgate_base::Place::Path(path.into());
        floatgate_base::Error::input(place, e.to_string(), "expected an experiment")
    })?;
    let mut result = run(load(Some(&text), path, overrides)?, &mut |_| Ok(()))?.result;
    result.as_object_mut().expect("a result is a table").shift_remove("run");
    Ok(result)
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else {
        eprintln!("error: no experiment; expected EXPERIMENT.toml [KEY=VALUE]...");
        return ExitCode::from(2);
    };
    let split = |text: String| match text.split_once('=') {
        Some((key, value)) => (key.to_string(), value.to_string()),
        None => (text, String::new()),
    };
    let overrides: Vec<_> = arguments.map(split).collect();
    match result(&path, &overrides) {
        Ok(result) => {
            println!("{}", serde_json::to_string_pretty(&result).expect("a result is JSON"));
            ExitCode::SUCCESS
        }
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::from(e.status())
        }
    }
}
