//! Every metric of a result, declared once: its key, unit, meaning and display, and which of two values is better.
//!
//! The rows determine flat tables and their leading columns, comparisons, the metrics that sweeps draw and list, and
//! `docs/results.md`. A metric added to a result needs a row here; a test reports metrics without one.

mod content;
mod forecast;
mod metric;
mod operations;
mod outcome;
mod schema;

pub use metric::{Axis, Better, Format, Group, Kind, Metric};
pub use schema::schema;

use floatgate_flash::Cause;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A document with metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document {
    /// `result.json`, of a run.
    Result,
    /// `lifetime.json`, of a whole life.
    Forecast,
}

impl Document {
    /// Returns its groups, most important first, each with whether its metrics may be missing.
    fn groups(self) -> Vec<(&'static Group, bool)> {
        let there = |group| (group, false);
        match self {
            Self::Result => {
                let parts = outcome::GROUPS.iter().chain(operations::GROUPS).chain(content::GROUPS);
                parts.map(there).collect()
            }
            Self::Forecast => {
                let own = forecast::GROUPS.iter().chain([&content::DRIVE]).map(there);
                // The full method reports reduction by the drive, the other methods by their laps.
                own.chain([(&forecast::BY_CHOICE, true), (&content::REDUCE, true)]).collect()
            }
        }
    }
}

/// Returns the names that replace a name in braces, in the order of results.
fn names(placeholder: &str) -> Vec<&'static str> {
    let causes = |of: &[Cause]| of.iter().map(|cause| cause.name()).chain(["total"]).collect();
    match placeholder {
        "cause" => causes(&Cause::ALL),
        "erasing" => causes(&Cause::ERASING),
        "kind" | "access" => vec!["read", "write"],
        "direction" => vec!["read", "write", "trim"],
        "class" => floatgate_flash::Class::ALL.iter().map(|class| class.name()).collect(),
        "decile" => vec!["p10", "p50", "p90"],
        "part" => vec!["busiest", "typical"],
        "quantile" => vec!["mean", "p50", "p90", "p99", "p999", "p9999", "max"],
        "rank" => vec!["p50", "p99", "max"],
        "while" => vec!["during", "otherwise"],
        "operation" => vec!["read", "program", "erase", "transfer", "hash", "compress", "decompress"],
        "paged" => vec!["read", "program", "transfer", "hash", "compress", "decompress"],
        "place" => vec!["place", "flushed"],
        "counted" => vec!["requests", "place_requests", "flushed_requests"],
        "reason" => vec!["evict", "watermark", "fua", "flush", "end", "total"],
        "fate" => {
            vec!["jobs", "made", "refused", "died_by_update", "died_by_erase", "promoted", "tails_forgone"]
        }
        "page_type" => vec!["all", "LSB", "CSB", "MSB", "TSB"],
        "entry" => vec!["entries", "used", "bytes", "searches", "hits", "entered", "stale", "evicted"],
        "decision" => vec!["dedup", "compress", "throttle"],
        "budget" => vec!["demand", "capacity"],
        "scheme" => vec!["dedup", "compress"],
        "choice" => vec!["none", "dedup", "compress", "both"],
        other => unreachable!("no names for {{{other}}}"),
    }
}

/// One metric: its row, with all names filled in.
#[derive(Clone, Debug)]
pub struct NamedMetric {
    /// Its key in a result; `*` stands for any one name.
    pub key: String,
    /// Its group and its row.
    pub of: (&'static Group, &'static Metric),
    /// See [`Metric::label`].
    pub label: String,
    /// See [`Metric::short`].
    pub short: String,
    /// See [`Metric::best`].
    pub best: String,
    /// Whether it may be missing where its table is present.
    pub optional: bool,
}

/// Lists every metric of a document, in the order of its groups; names of a group's key change slowest. A key of
/// several groups is listed for the first.
#[must_use]
pub fn metrics(document: Document) -> Vec<NamedMetric> {
    let (mut metrics, mut keys) = (vec![], BTreeSet::new());
    for (group, optional) in document.groups() {
        for filled in filled(group.key) {
            for row in group.rows {
                let of_row =
                    expand(group, row, &filled).into_iter().map(|metric| NamedMetric { optional, ..metric });
                metrics.extend(of_row.filter(|metric| keys.insert(metric.key.clone())));
            }
        }
    }
    metrics
}

/// Names that fill a key, and the filled key.
type Filled = (Vec<(String, &'static str)>, String);

fn expand(group: &'static Group, row: &'static Metric, (outer, prefix): &Filled) -> Vec<NamedMetric> {
    let point = if prefix.is_empty() { "" } else { "." };
    let one = |(inner, key): Filled| {
        let with_names = |text: &str| {
            let text = outer
                .iter()
                .chain(&inner)
                .fold(text.to_string(), |text, (name, value)| text.replace(name, value));
            let mut letters = text.chars();
            (
                text.clone(),
                letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect()),
            )
        };
        NamedMetric {
            key: format!("{prefix}{point}{key}"),
            of: (group, row),
            label: with_names(row.label).1,
            short: with_names(row.short).0,
            best: with_names(row.best).0,
            optional: false,
        }
    };
    filled(row.key).into_iter().map(one).collect()
}

/// Fills the braces of a key with each combination of names.
fn filled(key: &str) -> Vec<Filled> {
    let Some((begin, end)) = key.find('{').zip(key.find('}')) else { return vec![(vec![], key.to_string())] };
    let placeholder = &key[begin..=end];
    let with = |name: &'static str| {
        let rest = filled(&key.replacen(placeholder, name, 1));
        rest.into_iter().map(move |(mut names, key)| {
            names.insert(0, (placeholder.to_string(), name));
            (names, key)
        })
    };
    names(&key[begin + 1..end]).into_iter().flat_map(with).collect()
}

/// Returns the metrics of results that tables, charts and comparisons show by default, as JSON for other languages.
#[must_use]
pub fn to_json() -> Value {
    metrics(Document::Result).iter().filter(|metric| metric.of.1.is_chosen()).map(row_json).collect()
}

fn row_json(metric: &NamedMetric) -> Value {
    let (group, row) = metric.of;
    json!({
        "key": metric.key,
        "group": group.key,
        "kind": row.kind.name(),
        "unit": row.unit,
        "label": metric.label,
        "short": metric.short,
        "best": metric.best,
        "format": row.format.name(),
        "better": row.better.map(Better::name),
        "axis": row.axis.map(|axis| json!({ "title": axis.title, "per": axis.per, "tail": axis.tail })),
        "column": row.column,
        "leads": row.leads,
        "everywhere": row.everywhere,
        "compared": row.compared,
    })
}

/// Returns the groups of a document with their declared rows, for the docs.
#[must_use]
pub fn groups_json(document: Document) -> Value {
    let row = |row: &Metric| {
        json!({
            "key": row.key,
            "kind": row.kind.name(),
            "unit": row.unit,
            "meaning": row.meaning,
            "better": row.better.map(Better::name),
            "nullable": row.nullable,
            "everywhere": row.everywhere,
        })
    };
    let groups = document.groups();
    groups
        .into_iter()
        .map(|(group, _)| {
            let rows: Vec<Value> = group.rows.iter().map(row).collect();
            let keys = std::iter::once(group.key).chain(group.rows.iter().map(|row| row.key));
            let mut names = serde_json::Map::new();
            for placeholder in keys.flat_map(placeholders) {
                names.insert(placeholder.to_string(), json!(self::names(placeholder)));
            }
            json!({ "key": group.key, "about": group.about, "when": group.when, "names": names, "rows": rows })
        })
        .collect()
}

/// Iterates over the names in braces of a key.
fn placeholders(key: &'static str) -> impl Iterator<Item = &'static str> {
    key.split('{').skip(1).filter_map(|rest| rest.split('}').next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_stands_once() {
        let rows = Document::Result.groups().into_iter().flat_map(|(group, _)| {
            filled(group.key).into_iter().flat_map(move |filled| {
                group.rows.iter().flat_map(move |row| expand(group, row, &filled).into_iter())
            })
        });
        let keys: BTreeSet<_> = metrics(Document::Result).into_iter().map(|metric| metric.key).collect();
        assert!(keys.len() == rows.count() && keys.len() > 300, "{}", keys.len());
        assert!(keys.iter().all(|key| !key.contains(['{', '}'])));
    }

    #[test]
    fn names_are_filled_in() {
        let metrics = metrics(Document::Result);
        let of = |key: &str| metrics.iter().find(|metric| metric.key == key).unwrap();
        let read = of("latency_us.read.p99");
        let names = (read.label.as_str(), read.short.as_str(), read.best.as_str());
        assert_eq!(names, ("Read latency, p99", "read p99, us", "lowest read p99"));
        assert_eq!(of("latency_us.write.p999").label, "Write latency, p99.9");
        assert_eq!(of("energy.erase_j.gc").of.1.unit, "J");
    }

    #[test]
    fn what_people_look_for_is_said_in_full() {
        for metric in [Document::Result, Document::Forecast].into_iter().flat_map(metrics) {
            let (_, row) = metric.of;
            assert!(!row.meaning.is_empty() && !row.meaning.ends_with('.'), "{}", metric.key);
            assert_eq!(row.axis.is_some(), !row.label.is_empty(), "{}", metric.key);
            assert_eq!(row.column.is_some(), !row.short.is_empty(), "{}", metric.key);
            assert!(row.best.is_empty() || (row.better.is_some() && row.column.is_some()), "{}", metric.key);
            assert!(!row.compared || row.better.is_some(), "{}", metric.key);
            assert!(!row.leads || row.everywhere, "{}", metric.key);
        }
    }
}
