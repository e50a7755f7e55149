//! Results and forecasts against the table of metrics: each figure has its row, and is what the row says.

use floatgate_stats::metrics::{Document, Figure, Kind, Metric, figures};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// The figures of a document by their keys.
struct Table(BTreeMap<String, Figure>);

impl Table {
    fn of(document: Document) -> &'static Self {
        static TABLES: [OnceLock<Table>; 2] = [OnceLock::new(), OnceLock::new()];
        let made =
            || Self(figures(document).into_iter().map(|figure| (figure.key.clone(), figure)).collect());
        TABLES[document as usize].get_or_init(made)
    }

    /// The row of a key, and the row's own key; `*` stands for a last name.
    fn row(&self, key: &str) -> Option<&Figure> {
        let any = || key.rsplit_once('.').and_then(|(group, _)| self.0.get(&format!("{group}.*")));
        self.0.get(key).or_else(any)
    }

    /// Whether there are figures below a key: a table that is null has none.
    fn is_table(&self, key: &str) -> bool {
        let (below, rows) = (format!("{key}."), format!("{key}[]."));
        self.0.keys().any(|key| key.starts_with(&below) || key.starts_with(&rows))
    }

    fn walk(&self, key: &str, value: &Value, found: &mut BTreeSet<String>, wrong: &mut Vec<String>) {
        if let Some(figure) = self.row(key) {
            if !agrees(figure.of.1, value) {
                wrong.push(format!("{key} is no {}: {value}", figure.of.1.kind.name()));
            }
            if !value.is_null() {
                found.insert(figure.key.clone());
            }
            return;
        }
        match value {
            Value::Object(table) => table
                .iter()
                .for_each(|(name, value)| self.walk(&format!("{key}.{name}"), value, found, wrong)),
            Value::Array(rows) => {
                rows.iter().for_each(|value| self.walk(&format!("{key}[]"), value, found, wrong))
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
        // What a forecast works out without a drive is rounded, and still a number with a point.
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

/// The rows of the figures that a result knows.
///
/// # Panics
///
/// Where a figure has no row, or is something else than its row says.
pub fn known(result: &Value) -> BTreeSet<String> {
    known_of(Document::Result, result)
}

/// The rows of the figures that a document knows; as [`known`].
pub fn known_of(document: Document, told: &Value) -> BTreeSet<String> {
    let (mut found, mut wrong) = (BTreeSet::new(), vec![]);
    for (name, value) in told.as_object().expect("it is an object") {
        if name != "config" {
            Table::of(document).walk(name, value, &mut found, &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    found
}
