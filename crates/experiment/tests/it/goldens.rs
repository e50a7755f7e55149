//! Every shipped experiment gives the result in `tests/golden`, byte for byte except for its `run` table.
//!
//! `make golden` renews them (`FLOATGATE_GOLDEN=renew`); a person reads the diff.

use crate::common::without_run;
use floatgate_experiment::{load, run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Differences shown of each result.
const SHOWN_MAX: usize = 40;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Names of the files with an extension, in order.
fn names(folder: &Path, extension: &str) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut names: Vec<String> = files
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// The result of a shipped experiment, as its golden holds it.
fn result(name: &str) -> String {
    let path = root().join(format!("configs/experiments/{name}.toml"));
    let text = std::fs::read_to_string(&path).unwrap();
    let output = load(Some(&text), &path.to_string_lossy(), &[])
        .and_then(|resolved| run(resolved, &mut |_| Ok(())))
        .unwrap_or_else(|e| panic!("{e}"));
    without_run(output.result) + "\n"
}

/// Every leaf by its path.
fn leaves(value: &Value, path: &str, leaf_values: &mut BTreeMap<String, String>) {
    let inner = |key: &str| format!("{path}.{key}").trim_start_matches('.').to_string();
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| leaves(value, &inner(key), leaf_values)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(i, value)| leaves(value, &inner(&i.to_string()), leaf_values));
        }
        _ => {
            leaf_values.insert(path.into(), value.to_string());
        }
    }
}

/// Which keys differ, old and new.
fn difference(old: &str, new: &str) -> String {
    let of = |text: &str| {
        let mut leaf_values = BTreeMap::new();
        leaves(&serde_json::from_str(text).unwrap_or_default(), "", &mut leaf_values);
        leaf_values
    };
    let (old, new) = (of(old), of(new));
    let absent = String::from("(absent)");
    let keys = old.keys().chain(new.keys().filter(|key| !old.contains_key(*key)));
    let lines: Vec<String> = keys
        .map(|key| (key, old.get(key).unwrap_or(&absent), new.get(key).unwrap_or(&absent)))
        .filter(|(_, old, new)| old != new)
        .map(|(key, old, new)| format!("  {key}: {old} -> {new}\n"))
        .collect();
    let more = lines.len().saturating_sub(SHOWN_MAX);
    let rest = if more > 0 { format!("  and {more} more\n") } else { String::new() };
    lines.iter().take(SHOWN_MAX).cloned().collect::<String>() + &rest
}

#[test]
fn shipped_experiments_give_their_golden_results() {
    let (experiments, goldens) = (root().join("configs/experiments"), root().join("tests/golden"));
    let renew = std::env::var("FLOATGATE_GOLDEN").is_ok_and(|word| word == "renew");
    let mut report = String::new();
    for name in names(&experiments, "toml") {
        let path = goldens.join(format!("{name}.json"));
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        let new = result(&name);
        if old == new {
            continue;
        }
        report += &format!("{name}\n{}", difference(&old, &new));
        if renew {
            std::fs::create_dir_all(&goldens).unwrap();
            std::fs::write(&path, new).unwrap();
        }
    }
    for name in names(&goldens, "json") {
        if !experiments.join(format!("{name}.toml")).exists() {
            report += &format!("{name}\n  its experiment is gone\n");
            if renew {
                std::fs::remove_file(goldens.join(format!("{name}.json"))).unwrap();
            }
        }
    }
    if renew {
        print!("{report}");
    } else {
        assert!(report.is_empty(), "results differ from tests/golden (make golden renews them):\n{report}");
    }
}

#[test]
fn a_difference_names_its_keys() {
    let old = r#"{"a": {"b": [1, 2], "c": 0.5}, "d": null}"#;
    let new = r#"{"a": {"b": [1, 3], "c": 0.5}, "e": "x"}"#;
    assert_eq!(difference(old, new), "  a.b.1: 2 -> 3\n  d: null -> (absent)\n  e: (absent) -> \"x\"\n");
}
