//! Results against the table of metrics: each figure has its row, and is what the row says.

use floatgate_stats::metrics::{Figure, Kind, Metric, figures};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

fn table() -> &'static BTreeMap<String, Figure> {
    static TABLE: OnceLock<BTreeMap<String, Figure>> = OnceLock::new();
    TABLE.get_or_init(|| figures().into_iter().map(|figure| (figure.key.clone(), figure)).collect())
}

/// The row of a key, and the row's own key; `*` stands for a last name.
fn row(key: &str) -> Option<&'static Figure> {
    let any = || key.rsplit_once('.').and_then(|(group, _)| table().get(&format!("{group}.*")));
    table().get(key).or_else(any)
}

/// Whether there are figures below a key: a table that is null has none.
fn is_table(key: &str) -> bool {
    let (below, rows) = (format!("{key}."), format!("{key}[]."));
    table().keys().any(|key| key.starts_with(&below) || key.starts_with(&rows))
}

fn all(value: &Value, holds: &dyn Fn(&Value) -> bool) -> bool {
    value.as_array().is_some_and(|values| values.iter().all(holds))
}

fn agrees(row: &Metric, value: &Value) -> bool {
    match row.kind {
        _ if value.is_null() => row.nullable,
        Kind::Count => value.is_u64(),
        Kind::Number => value.is_number(),
        Kind::Flag => value.is_boolean(),
        Kind::Text => value.is_string(),
        Kind::Interval => {
            value.as_array().is_some_and(|ends| ends.len() == 2 && ends.iter().all(Value::is_number))
        }
        Kind::Numbers => all(value, &Value::is_number),
        Kind::Pairs => all(value, &|pair| all(pair, &Value::is_number)),
        Kind::Texts => all(value, &Value::is_string),
        Kind::Histogram => value.get("from").is_some() && value.get("width").is_some(),
    }
}

fn walk(key: &str, value: &Value, found: &mut BTreeSet<String>, wrong: &mut Vec<String>) {
    if let Some(figure) = row(key) {
        if !agrees(figure.of.1, value) {
            wrong.push(format!("{key} is no {}: {value}", figure.of.1.kind.name()));
        }
        if !value.is_null() {
            found.insert(figure.key.clone());
        }
        return;
    }
    let below = |name: &str| if key.is_empty() { name.to_string() } else { format!("{key}.{name}") };
    match value {
        Value::Object(table) => {
            table.iter().for_each(|(name, value)| walk(&below(name), value, found, wrong))
        }
        Value::Array(rows) => rows.iter().for_each(|value| walk(&format!("{key}[]"), value, found, wrong)),
        Value::Null if is_table(key) => {}
        _ => wrong.push(format!("{key} has no row in crates/stats/src/metrics")),
    }
}

/// The rows of the figures that a result knows.
///
/// # Panics
///
/// Where a figure has no row, or is something else than its row says.
pub fn known(result: &Value) -> BTreeSet<String> {
    let (mut found, mut wrong) = (BTreeSet::new(), vec![]);
    for (name, value) in result.as_object().expect("a result is an object") {
        if name != "config" {
            walk(name, value, &mut found, &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    found
}
