//! Every figure of a result, declared once: its key, unit and meaning, how people see it, and which of two is better.
//!
//! From the rows follow flat tables and their leading columns, comparisons, the figures that sweeps draw and list, and
//! `docs/results.md`. Who adds a figure to a result adds its row here; a test finds figures without one.

mod content;
mod metric;
mod operations;
mod outcome;
mod schema;

pub use metric::{Axis, Better, Format, Group, Kind, Metric};
pub use schema::schema;

use floatgate_flash::Cause;
use serde_json::{Value, json};

/// All groups, those first that people look at first.
pub fn groups() -> impl Iterator<Item = &'static Group> {
    outcome::GROUPS.iter().chain(operations::GROUPS).chain(content::GROUPS)
}

/// What stands for a name in braces, in the order of results.
fn names(placeholder: &str) -> Vec<&'static str> {
    let causes = |of: &[Cause]| of.iter().map(|cause| cause.name()).chain(["total"]).collect();
    match placeholder {
        "cause" => causes(&Cause::ALL),
        "erasing" => causes(&Cause::ERASING),
        "kind" | "access" => vec!["read", "write"],
        "direction" => vec!["read", "write", "trim"],
        "class" => floatgate_flash::Class::ALL.iter().map(|class| class.name()).collect(),
        "decile" => vec!["p10", "p50", "p90"],
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

/// One figure: the row that it stands in, with all names filled in.
#[derive(Clone, Debug)]
pub struct Figure {
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
}

/// Every figure, in the order of the groups; names of a group's key change slowest.
#[must_use]
pub fn figures() -> Vec<Figure> {
    let mut figures = vec![];
    for group in groups() {
        for filled in filled(group.key) {
            for row in group.rows {
                figures.extend(of_row(group, row, &filled));
            }
        }
    }
    figures
}

/// Names that fill a key, and the key with them.
type Filled = (Vec<(String, &'static str)>, String);

fn of_row(group: &'static Group, row: &'static Metric, (outer, prefix): &Filled) -> Vec<Figure> {
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
        Figure {
            key: format!("{prefix}{point}{key}"),
            of: (group, row),
            label: with_names(row.label).1,
            short: with_names(row.short).0,
            best: with_names(row.best).0,
        }
    };
    filled(row.key).into_iter().map(one).collect()
}

/// A key with each combination of names for its braces.
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

/// The figures that tables, pictures and comparisons choose by themselves, as JSON, for other languages.
#[must_use]
pub fn to_json() -> Value {
    figures().iter().filter(|figure| figure.of.1.is_chosen()).map(row_json).collect()
}

fn row_json(figure: &Figure) -> Value {
    let (group, row) = figure.of;
    json!({
        "key": figure.key,
        "group": group.key,
        "kind": row.kind.name(),
        "unit": row.unit,
        "label": figure.label,
        "short": figure.short,
        "best": figure.best,
        "format": row.format.name(),
        "better": row.better.map(Better::name),
        "axis": row.axis.map(|axis| json!({ "title": axis.title, "per": axis.per, "tail": axis.tail })),
        "column": row.column,
        "leads": row.leads,
        "everywhere": row.everywhere,
        "compared": row.compared,
    })
}

/// The groups with their rows as they are declared, for the docs.
#[must_use]
pub fn groups_json() -> Value {
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
    groups()
        .map(|group| {
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

/// The names in braces of a key.
fn placeholders(key: &'static str) -> impl Iterator<Item = &'static str> {
    key.split('{').skip(1).filter_map(|rest| rest.split('}').next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_key_stands_once() {
        let figures = figures();
        let keys: BTreeSet<_> = figures.iter().map(|figure| &figure.key).collect();
        assert!(keys.len() == figures.len() && keys.len() > 300, "{} of {}", keys.len(), figures.len());
        assert!(keys.iter().all(|key| !key.contains(['{', '}'])));
    }

    #[test]
    fn names_are_filled_in() {
        let figures = figures();
        let of = |key: &str| figures.iter().find(|figure| figure.key == key).unwrap();
        let read = of("latency_us.read.p99");
        let told = (read.label.as_str(), read.short.as_str(), read.best.as_str());
        assert_eq!(told, ("Read latency, p99", "read p99, us", "lowest read p99"));
        assert_eq!(of("latency_us.write.p999").label, "Write latency, p99.9");
        assert_eq!(of("energy.erase_j.gc").of.1.unit, "J");
    }

    #[test]
    fn what_people_look_for_is_said_in_full() {
        for figure in figures() {
            let (_, row) = figure.of;
            assert!(!row.meaning.is_empty() && !row.meaning.ends_with('.'), "{}", figure.key);
            assert_eq!(row.axis.is_some(), !row.label.is_empty(), "{}", figure.key);
            assert_eq!(row.column.is_some(), !row.short.is_empty(), "{}", figure.key);
            assert!(row.best.is_empty() || (row.better.is_some() && row.column.is_some()), "{}", figure.key);
            assert!(!row.compared || row.better.is_some(), "{}", figure.key);
            assert!(!row.leads || row.everywhere, "{}", figure.key);
        }
    }
}
