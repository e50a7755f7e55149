//! Checks results and forecasts against the table of metrics: each metric has a row and its declared type.

use floatgate_stats::metrics::{Document, Kind, Metric, NamedMetric, metrics};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// The metrics of a document by their keys.
struct Table(BTreeMap<String, NamedMetric>);

impl Table {
    fn of(document: Document) -> &'static Self {
        static TABLES: [OnceLock<Table>; 2] = [OnceLock::new(), OnceLock::new()];
        let made =
            || Self(metrics(document).into_iter().map(|metric| (metric.key.clone(), metric)).collect());
        TABLES[document as usize].get_or_init(made)
    }

    /// Returns the row of a key; `*` matches any last name.
    fn row(&self, key: &str) -> Option<&NamedMetric> {
        let any = || key.rsplit_once('.').and_then(|(group, _)| self.0.get(&format!("{group}.*")));
        self.0.get(key).or_else(any)
    }

    /// Returns whether the key is a table, which may be null.
    fn is_table(&self, key: &str) -> bool {
        let (below, rows) = (format!("{key}."), format!("{key}[]."));
        self.0.keys().any(|key| key.starts_with(&below) || key.starts_with(&rows))
    }

    fn walk(&self, key: &str, value: &Value, known: &mut BTreeSet<String>, wrong: &mut Vec<String>) {
        if let Some(metric) = self.row(key) {
            if !agrees(metric.of.1, value) {
                wrong.push(format!("{key} is no {}: {value}", metric.of.1.kind.name()));
            }
            if !value.is_null() {
                known.insert(metric.key.clone());
            }
            return;
        }
        match value {
            Value::Object(table) => table
                .iter()
                .for_each(|(name, value)| self.walk(&format!("{key}.{name}"), value, known, wrong)),
            Value::Array(rows) => {
                rows.iter().for_each(|value| self.walk(&format!("{key}[]"), value, known, wrong))
            }
            Value::Null if self.is_table(key) => {}
            _ => wrong.push(format!("{key} has no row in crates/stats/src/metrics")),
        }
    }
}

fn all(value: &Value, holds: &dyn Fn(&Value) -> bool) -> bool {
    value.as_array().is_some_and(|values| values.iter().all(holds))
}

fn agrees(row: &Metric, value: &Value) -> bool {
    match row.kind {
        _ if value.is_null() => row.nullable,
        // A forecast without a drive writes rounded counts as floating-point numbers.
        Kind::Count => value.as_f64().is_some_and(|number| number >= 0.0 && number.fract() == 0.0),
        Kind::Number => value.is_number(),
        Kind::Flag => value.is_boolean(),
        Kind::Text => value.is_string(),
        Kind::Interval => {
            value.as_array().is_some_and(|ends| ends.len() == 2 && ends.iter().all(Value::is_number))
        }
        Kind::Gaps => all(value, &|one| one.is_number() || one.is_null()),
        Kind::Numbers => all(value, &Value::is_number),
        Kind::Pairs => all(value, &|pair| all(pair, &Value::is_number)),
        Kind::Texts => all(value, &Value::is_string),
        Kind::Histogram => value.get("from").is_some() && value.get("width").is_some(),
    }
}

/// Returns the keys of the metrics that are not null in a result.
///
/// # Panics
///
/// A metric has no row, or another type than its row declares.
pub fn known(result: &Value) -> BTreeSet<String> {
    known_of(Document::Result, result)
}

/// Returns the keys of the metrics that are not null in a document; as [`known`].
pub fn known_of(document: Document, object: &Value) -> BTreeSet<String> {
    let (mut known, mut wrong) = (BTreeSet::new(), vec![]);
    for (name, value) in object.as_object().expect("it is an object") {
        if name != "config" {
            Table::of(document).walk(name, value, &mut known, &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    known
}
