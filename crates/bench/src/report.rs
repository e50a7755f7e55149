//! Reports of the benchmark: lines for people, and the same metrics as rows of a history.
//!
//! `FLOATGATE_BENCH_HISTORY` names the file to which rows are appended. `FLOATGATE_BENCH_CONTEXT` holds what all rows
//! of a run share: id, date, commit, machine, as `scripts/bench_history.py context` prints it. Without them metrics are
//! only printed.

use crate::measure::median;
use floatgate_experiment::meter::build;
use serde_json::{Map, Value, json};
use std::fs::OpenOptions;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

/// The direction in which a metric improves.
#[derive(Clone, Copy)]
enum Better {
    Higher,
    Lower,
}

/// The denominator of a ratio.
pub struct Yardstick<'a> {
    pub name: &'a str,
    pub unit: &'a str,
    /// One value per round.
    pub rounds: &'a [f64],
}

/// A metric; its value is the median of its rounds.
pub struct Metric {
    name: String,
    unit: String,
    rounds: Vec<f64>,
    better: Option<Better>,
    yardstick: Value,
    /// A bound, and whether it is an upper bound.
    required: Option<(f64, bool)>,
    digits: usize,
}

impl Metric {
    fn new(name: impl Into<String>, unit: &str, rounds: &[f64], better: Option<Better>) -> Self {
        Self {
            name: name.into(),
            unit: unit.to_owned(),
            rounds: rounds.to_vec(),
            better,
            yardstick: Value::Null,
            required: None,
            digits: 2,
        }
    }

    /// Builds a metric of work per time; more is better.
    pub fn rate(name: impl Into<String>, unit: &str, rounds: &[f64]) -> Self {
        Self::new(name, unit, rounds, Some(Better::Higher)).digits(1)
    }

    /// Builds a metric of time or memory; less is better.
    pub fn cost(name: impl Into<String>, unit: &str, rounds: &[f64]) -> Self {
        Self::new(name, unit, rounds, Some(Better::Lower))
    }

    /// Builds a metric that has no better direction.
    pub fn fact(name: impl Into<String>, unit: &str, rounds: &[f64]) -> Self {
        Self::new(name, unit, rounds, None).digits(3)
    }

    /// Builds the ratio of a rate to its yardstick, round by round.
    pub fn ratio(name: impl Into<String>, ours: &[f64], yardstick: &Yardstick<'_>) -> Self {
        let ratios: Vec<f64> = ours.iter().zip(yardstick.rounds).map(|(ours, other)| ours / other).collect();
        let value = short(median(yardstick.rounds.to_vec()));
        Self {
            yardstick: json!({ "name": yardstick.name, "value": value, "unit": yardstick.unit }),
            ..Self::new(name, "", &ratios, Some(Better::Higher))
        }
    }

    /// Requires a lower bound; 0 requires nothing.
    pub fn at_least(mut self, bound: f64) -> Self {
        self.required = (bound > 0.0).then_some((bound, false));
        self
    }

    /// Requires an upper bound.
    pub fn at_most(mut self, bound: f64) -> Self {
        self.required = Some((bound, true));
        self
    }

    /// Sets the number of digits printed after the decimal point.
    pub fn digits(mut self, digits: usize) -> Self {
        self.digits = digits;
        self
    }

    fn value(&self) -> f64 {
        median(self.rounds.clone())
    }

    fn met(&self) -> Option<bool> {
        let value = self.value();
        self.required.map(|(bound, most)| if most { value <= bound } else { value >= bound })
    }

    /// Formats the value and its bound: `  0.93   required 0.75: met`.
    fn text(&self) -> String {
        let digits = self.digits;
        let mut text = format!("{:>8.digits$}", self.value());
        if let (Some((bound, most)), Some(met)) = (self.required, self.met()) {
            let (most, word) = (if most { " at most" } else { "" }, if met { "met" } else { "NOT met" });
            text += &format!("   required {bound:.digits$}{most}: {word}");
        }
        text
    }

    fn row(&self, group: &str, title: &str) -> Map<String, Value> {
        let rounds: Vec<f64> = self.rounds.iter().map(|&value| short(value)).collect();
        let better = self.better.map(|better| match better {
            Better::Higher => "higher",
            Better::Lower => "lower",
        });
        let required = self
            .required
            .map(|(value, most)| json!({ "bound": if most { "most" } else { "least" }, "value": value }));
        let row = json!({
            "build": build(),
            "group": group,
            "title": title,
            "key": format!("{group}/{}", self.name),
            "value": short(self.value()),
            "unit": self.unit,
            "better": better,
            "rounds": rounds,
            "yardstick": self.yardstick,
            "asked": required,
            "met": self.met(),
        });
        match row {
            Value::Object(row) => row,
            _ => unreachable!("it is written as an object"),
        }
    }
}

/// Rounds to five significant digits, more than any metric is accurate to.
fn short(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

/// The history file, and the fields shared by all its rows.
struct History {
    path: String,
    context: Map<String, Value>,
}

impl History {
    fn of_environment() -> Result<Option<Self>, String> {
        let Ok(path) = std::env::var("FLOATGATE_BENCH_HISTORY") else { return Ok(None) };
        let text = std::env::var("FLOATGATE_BENCH_CONTEXT").unwrap_or_default();
        let context = serde_json::from_str(&text).map_err(|_| {
            "FLOATGATE_BENCH_CONTEXT: not a JSON object; expected what `scripts/bench_history.py context` prints".to_owned()
        })?;
        Ok(Some(Self { path, context }))
    }

    /// Appends whole lines with one write; an interrupted benchmark leaves no partial line.
    fn append(&self, lines: &str) -> std::io::Result<()> {
        if let Some(folder) = Path::new(&self.path).parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(&self.path)?;
        let mut last = [b'\n'];
        if file.seek(SeekFrom::End(0))? > 0 {
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
        }
        // An existing line without its end stays a line of its own.
        let separate = if last == [b'\n'] { "" } else { "\n" };
        file.write_all(format!("{separate}{lines}").as_bytes())
    }
}

/// Prints metrics and appends them to the history.
pub struct Report {
    history: Option<History>,
    group: &'static str,
    title: String,
    lines: String,
}

impl Report {
    /// Builds a report with the history that the environment names, if any.
    ///
    /// # Errors
    /// The environment names a history without its context.
    pub fn of_environment() -> Result<Self, String> {
        Ok(Self {
            history: History::of_environment()?,
            group: "",
            title: String::new(),
            lines: String::new(),
        })
    }

    /// Begins a group of metrics; `group` is the first part of their keys.
    pub fn group(&mut self, group: &'static str, title: impl Into<String>) {
        self.flush();
        (self.group, self.title) = (group, title.into());
        println!("{}", self.title);
    }

    /// Keeps a metric that appears in the label of another line; returns its value.
    pub fn keep(&mut self, metric: &Metric) -> f64 {
        if let Some(History { context, .. }) = &self.history {
            let mut row = context.clone();
            row.extend(metric.row(self.group, &self.title));
            self.lines += &Value::Object(row).to_string();
            self.lines.push('\n');
        }
        metric.value()
    }

    /// Keeps a metric and prints it on its own line.
    pub fn print(&mut self, label: &str, metric: &Metric) {
        self.keep(metric);
        println!("    {label:<56} {}", metric.text());
    }

    fn flush(&mut self) {
        let lines = std::mem::take(&mut self.lines);
        if let Some(history) = &self.history
            && !lines.is_empty()
            && let Err(error) = history.append(&lines)
        {
            eprintln!("error: {}: {error}; the metrics of {} are not kept", history.path, self.group);
        }
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        self.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(path: &std::path::Path) -> Report {
        let context = [("run".to_owned(), json!("a"))].into_iter().collect();
        let history = Some(History { path: path.to_string_lossy().into_owned(), context });
        Report { history, group: "", title: String::new(), lines: String::new() }
    }

    #[test]
    fn a_folder_that_is_not_there_is_made() {
        let folder = std::env::temp_dir().join(format!("floatgate-bench-new-{}", std::process::id()));
        let path = folder.join("bench/history.jsonl");
        let mut report = report(&path);
        report.group("timed", "a drive in timed mode");
        report.keep(&Metric::cost("write", "s", &[3.0]));
        drop(report);
        let text = std::fs::read_to_string(&path).expect("it was written");
        std::fs::remove_dir_all(&folder).expect("it is there");
        assert_eq!(text.lines().count(), 1);
    }

    #[test]
    fn metrics_become_rows_of_whole_lines() {
        let path = std::env::temp_dir().join(format!("floatgate-bench-{}.jsonl", std::process::id()));
        // A line left by a benchmark that lost power.
        std::fs::write(&path, "{\"run\"").expect("there is room");
        let mut report = report(&path);
        report.group("timed", "a drive in timed mode");
        let flat = Yardstick { name: "flat kernel", unit: "M/s", rounds: &[40.0, 50.0, 40.0] };
        report.print(
            "steps, / flat",
            &Metric::ratio("steps/flat-kernel-ratio", &[10.0, 10.0, 11.0], &flat).at_least(0.3),
        );
        assert!((report.keep(&Metric::cost("write", "s", &[3.0])) - 3.0).abs() < 1e-9);
        drop(report);
        let text = std::fs::read_to_string(&path).expect("it was written");
        std::fs::remove_file(&path).expect("it is there");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines.len(), lines[0], text.ends_with('\n')), (3, "{\"run\"", true));
        let row: Value = serde_json::from_str(lines[1]).expect("JSON");
        assert_eq!((&row["run"], &row["key"]), (&json!("a"), &json!("timed/steps/flat-kernel-ratio")));
        assert_eq!((&row["value"], &row["rounds"]), (&json!(0.25), &json!([0.25, 0.2, 0.275])));
        assert_eq!(row["yardstick"], json!({ "name": "flat kernel", "value": 40.0, "unit": "M/s" }));
        assert_eq!((&row["asked"]["bound"], &row["met"]), (&json!("least"), &json!(false)));
        let row: Value = serde_json::from_str(lines[2]).expect("JSON");
        assert_eq!(
            (&row["better"], &row["met"], &row["asked"]),
            (&json!("lower"), &Value::Null, &Value::Null)
        );
    }
}
