//! What a bench says: lines for people, and the same figures as rows of a history.
//!
//! `FLOATGATE_BENCH_HISTORY` names the file to which rows are appended, `FLOATGATE_BENCH_CONTEXT` holds what all rows of
//! a run share: id, date, commit, machine, as `scripts/bench_history.py context` prints it. Without them figures are only
//! printed.

use crate::measure::median;
use floatgate_experiment::meter::build;
use serde_json::{Map, Value, json};
use std::fs::OpenOptions;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

/// Which way a figure gets better.
#[derive(Clone, Copy)]
enum Better {
    Higher,
    Lower,
}

/// What a ratio is a ratio to.
pub struct Yardstick<'a> {
    pub name: &'a str,
    pub unit: &'a str,
    /// One value a round.
    pub rounds: &'a [f64],
}

/// A figure, of which the median of its rounds counts.
pub struct Figure {
    name: String,
    unit: String,
    rounds: Vec<f64>,
    better: Option<Better>,
    yardstick: Value,
    /// A bound, and whether it is the most that the figure may be.
    asked: Option<(f64, bool)>,
    digits: usize,
}

impl Figure {
    fn new(name: impl Into<String>, unit: &str, rounds: &[f64], better: Option<Better>) -> Self {
        Self {
            name: name.into(),
            unit: unit.to_owned(),
            rounds: rounds.to_vec(),
            better,
            yardstick: Value::Null,
            asked: None,
            digits: 2,
        }
    }

    /// Work per time, of which more is better.
    pub fn rate(name: impl Into<String>, unit: &str, rounds: &[f64]) -> Self {
        Self::new(name, unit, rounds, Some(Better::Higher)).digits(1)
    }

    /// Time or memory, of which less is better.
    pub fn cost(name: impl Into<String>, unit: &str, rounds: &[f64]) -> Self {
        Self::new(name, unit, rounds, Some(Better::Lower))
    }

    /// Neither: a change is a change.
    pub fn fact(name: impl Into<String>, unit: &str, rounds: &[f64]) -> Self {
        Self::new(name, unit, rounds, None).digits(3)
    }

    /// By how much something is faster than its yardstick, round by round.
    pub fn ratio(name: impl Into<String>, ours: &[f64], yardstick: &Yardstick<'_>) -> Self {
        let ratios: Vec<f64> = ours.iter().zip(yardstick.rounds).map(|(ours, other)| ours / other).collect();
        let value = short(median(yardstick.rounds.to_vec()));
        Self {
            yardstick: json!({ "name": yardstick.name, "value": value, "unit": yardstick.unit }),
            ..Self::new(name, "", &ratios, Some(Better::Higher))
        }
    }

    /// Asks for so much or more; 0 asks for nothing.
    pub fn at_least(mut self, bound: f64) -> Self {
        self.asked = (bound > 0.0).then_some((bound, false));
        self
    }

    /// Asks for so much or less.
    pub fn at_most(mut self, bound: f64) -> Self {
        self.asked = Some((bound, true));
        self
    }

    /// Digits behind the point where it is printed.
    pub fn digits(mut self, digits: usize) -> Self {
        self.digits = digits;
        self
    }

    fn value(&self) -> f64 {
        median(self.rounds.clone())
    }

    fn met(&self) -> Option<bool> {
        let value = self.value();
        self.asked.map(|(bound, most)| if most { value <= bound } else { value >= bound })
    }

    /// `  0.93   asked 0.75: met`.
    fn text(&self) -> String {
        let digits = self.digits;
        let mut text = format!("{:>8.digits$}", self.value());
        if let (Some((bound, most)), Some(met)) = (self.asked, self.met()) {
            let (most, word) = (if most { " at most" } else { "" }, if met { "met" } else { "NOT met" });
            text += &format!("   asked {bound:.digits$}{most}: {word}");
        }
        text
    }

    fn row(&self, group: &str, title: &str) -> Map<String, Value> {
        let rounds: Vec<f64> = self.rounds.iter().map(|&value| short(value)).collect();
        let better = self.better.map(|better| match better {
            Better::Higher => "higher",
            Better::Lower => "lower",
        });
        let asked = self
            .asked
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
            "asked": asked,
            "met": self.met(),
        });
        match row {
            Value::Object(row) => row,
            _ => unreachable!("it is written as an object"),
        }
    }
}

/// Five digits are more than any of the figures holds.
fn short(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

/// Where rows go, and what they share.
struct History {
    path: String,
    context: Map<String, Value>,
}

impl History {
    fn of_environment() -> Result<Option<Self>, String> {
        let Ok(path) = std::env::var("FLOATGATE_BENCH_HISTORY") else { return Ok(None) };
        let text = std::env::var("FLOATGATE_BENCH_CONTEXT").unwrap_or_default();
        let context = serde_json::from_str(&text).map_err(|_| {
            "FLOATGATE_BENCH_CONTEXT: no JSON object; expected what `scripts/bench_history.py context` prints".to_owned()
        })?;
        Ok(Some(Self { path, context }))
    }

    /// Appends whole lines with one write, so that a bench that is broken off leaves no half of one.
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
        // A line that lost its end stays alone.
        let separate = if last == [b'\n'] { "" } else { "\n" };
        file.write_all(format!("{separate}{lines}").as_bytes())
    }
}

/// Prints figures, and keeps them.
pub struct Report {
    history: Option<History>,
    group: &'static str,
    title: String,
    lines: String,
}

impl Report {
    /// With the history that the environment asks for, if any.
    ///
    /// # Errors
    /// A history without its context.
    pub fn of_environment() -> Result<Self, String> {
        Ok(Self {
            history: History::of_environment()?,
            group: "",
            title: String::new(),
            lines: String::new(),
        })
    }

    /// Begins a group of figures; `group` is the first part of their keys.
    pub fn group(&mut self, group: &'static str, title: impl Into<String>) {
        self.flush();
        (self.group, self.title) = (group, title.into());
        println!("{}", self.title);
    }

    /// Keeps a figure that the label of another line shows, and gives its value.
    pub fn keep(&mut self, figure: &Figure) -> f64 {
        if let Some(History { context, .. }) = &self.history {
            let mut row = context.clone();
            row.extend(figure.row(self.group, &self.title));
            self.lines += &Value::Object(row).to_string();
            self.lines.push('\n');
        }
        figure.value()
    }

    /// Keeps a figure and prints it in a line of its own.
    pub fn print(&mut self, label: &str, figure: &Figure) {
        self.keep(figure);
        println!("    {label:<56} {}", figure.text());
    }

    fn flush(&mut self) {
        let lines = std::mem::take(&mut self.lines);
        if let Some(history) = &self.history
            && !lines.is_empty()
            && let Err(error) = history.append(&lines)
        {
            eprintln!("error: {}: {error}; the figures of {} are not kept", history.path, self.group);
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
        report.keep(&Figure::cost("write", "s", &[3.0]));
        drop(report);
        let text = std::fs::read_to_string(&path).expect("it was written");
        std::fs::remove_dir_all(&folder).expect("it is there");
        assert_eq!(text.lines().count(), 1);
    }

    #[test]
    fn figures_become_rows_of_whole_lines() {
        let path = std::env::temp_dir().join(format!("floatgate-bench-{}.jsonl", std::process::id()));
        // What a bench left that lost power.
        std::fs::write(&path, "{\"run\"").expect("there is room");
        let mut report = report(&path);
        report.group("timed", "a drive in timed mode");
        let flat = Yardstick { name: "flat kernel", unit: "M/s", rounds: &[40.0, 50.0, 40.0] };
        report.print(
            "steps, / flat",
            &Figure::ratio("steps/flat-kernel-ratio", &[10.0, 10.0, 11.0], &flat).at_least(0.3),
        );
        assert!((report.keep(&Figure::cost("write", "s", &[3.0])) - 3.0).abs() < 1e-9);
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
