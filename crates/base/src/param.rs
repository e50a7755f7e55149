//! The keys of an experiment, of its tables and of the parameters of policies: meaning, range, default, and where each
//! has an effect.

use std::collections::BTreeMap;

/// A key in a table of an experiment, such as a parameter of a policy.
#[derive(Clone, Copy, Debug)]
pub struct ParamInfo {
    /// Name of the key in its table.
    pub name: &'static str,
    /// Meaning and unit.
    pub summary: &'static str,
    /// Kind and range of its values.
    pub kind: ParamKind,
    /// Its default.
    pub default: Fallback,
    /// Whether the parameter has the same meaning for each policy that takes it. Its value in a file then stays when
    /// another of these policies replaces the one in the file.
    pub shared: bool,
    /// The modes in which it has an effect.
    pub acts: Acts,
    /// Another key on which its effect depends.
    pub need: Option<Need>,
    /// Expected value for messages, if the range alone would not help.
    pub advice: Option<&'static str>,
}

/// The modes in which a key has an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acts {
    /// Both modes.
    Always,
    /// Timed mode.
    Timed,
    /// Functional mode.
    Functional,
}

/// A key on which another one depends, and the values that give the other one an effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Need {
    /// The key from the root of the experiment; its values are names.
    pub key: &'static str,
    /// One of these values is required.
    pub values: &'static [&'static str],
}

/// Kind and range of the values of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum ParamKind {
    /// A whole number.
    Whole {
        /// The minimum.
        least: u64,
        /// The maximum.
        most: u64,
    },
    /// A number.
    Number(Range),
    /// True or false.
    Flag,
    /// One of these names, each with its meaning.
    Name(&'static [(&'static str, &'static str)]),
    /// One of the names of another table.
    Listed(fn() -> Vec<&'static str>),
    /// A text of the form described here; the code that uses it checks it.
    Text(&'static str),
    /// A list of all these names, each once, in any order.
    Order(&'static [&'static str]),
    /// Another form, described here; the code that uses it checks it.
    Other(&'static str),
    /// A list of numbers in a range, at least one.
    Numbers {
        /// Range of each number.
        range: Range,
        /// Maximum number of entries.
        most: usize,
    },
    /// A list of tables of numbers, at least one; each has all of these keys.
    Rows {
        /// The keys with the range of each.
        columns: &'static [(&'static str, Range)],
        /// Maximum number of tables.
        most: usize,
    },
}

/// A range of finite numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The minimum.
    pub least: f64,
    /// The maximum; infinite for no limit.
    pub most: f64,
    /// Whether the minimum itself is excluded.
    pub above_least: bool,
    /// Whether the maximum itself is excluded.
    pub below_most: bool,
}

/// The default of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum Fallback {
    /// A number; the index of its row for [`ParamKind::Name`], 0 or 1 for [`ParamKind::Flag`].
    Value(f64),
    /// A property of the drive, in words and as a value.
    Drive(&'static str, fn(&Facts) -> f64),
    /// A text.
    Text(&'static str),
    /// No value: the code that uses the parameter decides, as described here.
    Absent(&'static str),
    /// A list of numbers.
    Numbers(&'static [f64]),
    /// A list of tables, each with the values of the columns.
    Rows(&'static [&'static [f64]]),
}

/// The properties of a drive on which defaults depend.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts {
    /// Rated program/erase cycles per block.
    pub pe_cycles: u32,
    /// Whether collection is incremental by default, alongside host writes.
    pub incremental: bool,
    /// Whether jobs keep host operations off the dies of their channel.
    pub jobs_hold_channel: bool,
}

/// A value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// A whole number.
    Whole(u64),
    /// A number.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// A name, or another text.
    Name(String),
    /// A list of names.
    Names(Vec<String>),
    /// A list of numbers.
    Numbers(Vec<f64>),
    /// A list of tables of numbers.
    Rows(Vec<BTreeMap<String, f64>>),
}

/// An invalid value: the parameter, the fact, and the expected value.
#[derive(Clone, Debug, PartialEq)]
pub struct Misfit {
    /// The invalid parameter.
    pub param: &'static str,
    /// The fact that is wrong.
    pub what: String,
    /// The expected value.
    pub expected: String,
}

impl Misfit {
    /// Creates a misfit of a parameter with its fact and the expected value.
    #[must_use]
    pub fn new(param: &'static str, what: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { param, what: what.into(), expected: expected.into() }
    }
}

impl Range {
    /// Creates a range that includes both ends.
    #[must_use]
    pub const fn closed(least: f64, most: f64) -> Self {
        Self { least, most, above_least: false, below_most: false }
    }

    /// From 0.
    pub const FROM_0: Self = Self::closed(0.0, f64::INFINITY);
    /// Greater than 0.
    pub const ABOVE_0: Self = Self { above_least: true, ..Self::FROM_0 };
    /// A share: from 0 to 1.
    pub const SHARE: Self = Self::closed(0.0, 1.0);
    /// A share from 0 to less than 1.
    pub const SHARE_BELOW_1: Self = Self { below_most: true, ..Self::SHARE };
    /// A share between 0 and 1, without both ends.
    pub const SHARE_BETWEEN: Self = Self { above_least: true, ..Self::SHARE_BELOW_1 };

    /// Returns whether the range contains a number.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        let from = if self.above_least { value > self.least } else { value >= self.least };
        let to = if self.below_most { value < self.most } else { value <= self.most };
        value.is_finite() && from && to
    }

    /// Describes the range in words.
    #[must_use]
    pub fn words(&self) -> String {
        let from = if self.above_least { "greater than" } else { "from" };
        let (least, most) = (self.least, self.most);
        match (most.is_infinite(), self.above_least, self.below_most) {
            (true, ..) => format!("a number {from} {least}"),
            (false, false, false) => format!("a number from {least} to {most}"),
            (false, true, true) => format!("a number between {least} and {most}"),
            (false, false, true) => format!("a number from {least} up to but not {most}"),
            (false, true, false) => format!("a number greater than {least}, up to {most}"),
        }
    }
}

impl ParamInfo {
    const fn new(name: &'static str, summary: &'static str, kind: ParamKind, default: Fallback) -> Self {
        Self { name, summary, kind, default, shared: false, acts: Acts::Always, need: None, advice: None }
    }

    /// Describes a whole number from `least` to `most`.
    #[must_use]
    pub const fn whole(
        name: &'static str,
        summary: &'static str,
        default: u32,
        (least, most): (u32, u32),
    ) -> Self {
        let kind = ParamKind::Whole { least: least as u64, most: most as u64 };
        Self::new(name, summary, kind, Fallback::Value(default as f64))
    }

    /// Describes a whole number of up to 64 bits, from `least`, which is its default.
    #[must_use]
    pub const fn count(name: &'static str, summary: &'static str, least: u64) -> Self {
        Self::count_from(name, summary, least, least)
    }

    /// Describes a whole number of up to 64 bits, from `least`.
    #[must_use]
    pub const fn count_from(name: &'static str, summary: &'static str, default: u64, least: u64) -> Self {
        let kind = ParamKind::Whole { least, most: u64::MAX };
        Self::new(name, summary, kind, Fallback::Value(default as f64))
    }

    /// Describes a number from `least` to `most`.
    #[must_use]
    pub const fn real(
        name: &'static str,
        summary: &'static str,
        default: f64,
        (least, most): (f64, f64),
    ) -> Self {
        Self::within(name, summary, default, Range::closed(least, most))
    }

    /// Describes a number of a range.
    #[must_use]
    pub const fn within(name: &'static str, summary: &'static str, default: f64, range: Range) -> Self {
        Self::new(name, summary, ParamKind::Number(range), Fallback::Value(default))
    }

    /// Describes a flag.
    #[must_use]
    pub const fn flag(name: &'static str, summary: &'static str, default: bool) -> Self {
        Self::new(name, summary, ParamKind::Flag, Fallback::Value(default as u8 as f64))
    }

    /// Describes a choice of one of several names; the first is the default.
    #[must_use]
    pub const fn name(
        name: &'static str,
        summary: &'static str,
        names: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self::new(name, summary, ParamKind::Name(names), Fallback::Value(0.0))
    }

    /// Describes a name of another table; the code that uses it knows the default.
    #[must_use]
    pub const fn listed(name: &'static str, summary: &'static str, names: fn() -> Vec<&'static str>) -> Self {
        Self::new(name, summary, ParamKind::Listed(names), Fallback::Absent("none"))
    }

    /// Describes a text of the form in `words`.
    #[must_use]
    pub const fn text(
        name: &'static str,
        summary: &'static str,
        default: &'static str,
        words: &'static str,
    ) -> Self {
        Self::new(name, summary, ParamKind::Text(words), Fallback::Text(default))
    }

    /// Describes a list of all these names, each once; the default order is that of `names`.
    #[must_use]
    pub const fn order(name: &'static str, summary: &'static str, names: &'static [&'static str]) -> Self {
        Self::new(name, summary, ParamKind::Order(names), Fallback::Value(0.0))
    }

    /// Describes another form, in `words`, which the code that uses it checks.
    #[must_use]
    pub const fn other(name: &'static str, summary: &'static str, words: &'static str) -> Self {
        Self::new(name, summary, ParamKind::Other(words), Fallback::Absent("none"))
    }

    /// Describes a list of numbers.
    #[must_use]
    pub const fn numbers(
        name: &'static str,
        summary: &'static str,
        default: &'static [f64],
        (range, most): (Range, usize),
    ) -> Self {
        Self::new(name, summary, ParamKind::Numbers { range, most }, Fallback::Numbers(default))
    }

    /// Describes a list of tables of numbers.
    #[must_use]
    pub const fn rows(
        name: &'static str,
        summary: &'static str,
        default: &'static [&'static [f64]],
        (columns, most): (&'static [(&'static str, Range)], usize),
    ) -> Self {
        Self::new(name, summary, ParamKind::Rows { columns, most }, Fallback::Rows(default))
    }

    /// Sets a default that depends on the drive, described by `words`.
    #[must_use]
    pub const fn or_of_drive(self, words: &'static str, of: fn(&Facts) -> f64) -> Self {
        Self { default: Fallback::Drive(words, of), ..self }
    }

    /// Removes the default; `words` describe what happens without a value.
    #[must_use]
    pub const fn or(self, words: &'static str) -> Self {
        Self { default: Fallback::Absent(words), ..self }
    }

    /// Sets the maximum of a whole number.
    ///
    /// # Panics
    /// When the parameter is not a whole number. Rows are constants: the compiler reports it.
    #[must_use]
    pub const fn up_to(self, most: u64) -> Self {
        let ParamKind::Whole { least, .. } = self.kind else { panic!("no whole number") };
        Self { kind: ParamKind::Whole { least, most }, ..self }
    }

    /// Restricts the parameter to timed mode.
    #[must_use]
    pub const fn timed(self) -> Self {
        Self { acts: Acts::Timed, ..self }
    }

    /// Restricts the parameter to functional mode.
    #[must_use]
    pub const fn functional(self) -> Self {
        Self { acts: Acts::Functional, ..self }
    }

    /// Restricts the effect of the parameter to these values of `key`.
    #[must_use]
    pub const fn with(self, key: &'static str, values: &'static [&'static str]) -> Self {
        Self { need: Some(Need { key, values }), ..self }
    }

    /// Sets the expected value that messages state.
    #[must_use]
    pub const fn expecting(self, advice: &'static str) -> Self {
        Self { advice: Some(advice), ..self }
    }

    /// Marks the parameter as one with the same meaning for each policy that takes it.
    #[must_use]
    pub const fn shared(self) -> Self {
        Self { shared: true, ..self }
    }

    /// Returns the default as a number.
    ///
    /// # Panics
    /// When the default is not a number.
    #[must_use]
    pub const fn default_number(&self) -> f64 {
        let Fallback::Value(value) = self.default else { panic!("the default is not a number") };
        value
    }

    /// Describes the default: a value, or what determines it.
    #[must_use]
    pub fn default_words(&self) -> String {
        match (self.default, self.kind) {
            (Fallback::Value(row), ParamKind::Name(names)) => names[row as usize].0.into(),
            (Fallback::Value(value), ParamKind::Flag) => (value != 0.0).to_string(),
            (Fallback::Value(_), ParamKind::Order(names)) => names.join(", "),
            (Fallback::Value(value), _) => value.to_string(),
            (Fallback::Drive(words, _) | Fallback::Absent(words) | Fallback::Text(words), _) => words.into(),
            (Fallback::Numbers(_) | Fallback::Rows(_), _) => {
                self.fallback(&Facts::default()).map(|default| default.to_toml()).unwrap_or_default()
            }
        }
    }

    /// Describes the meaning and the default.
    #[must_use]
    pub fn described(&self) -> String {
        let colon = if matches!(self.default, Fallback::Drive(..) | Fallback::Absent(_)) { ":" } else { "" };
        format!("{}; default{colon} {}", self.summary, self.default_words())
    }

    /// Describes the range of values.
    #[must_use]
    pub fn range_words(&self) -> String {
        if let Some(advice) = self.advice {
            return advice.into();
        }
        match self.kind {
            // The limits of integer types mean nothing to users.
            ParamKind::Whole { least, most } if most == u64::MAX || most == u64::from(u32::MAX) => {
                format!("a whole number from {least}")
            }
            ParamKind::Whole { least, most } => format!("a whole number from {least} to {most}"),
            ParamKind::Number(range) => range.words(),
            ParamKind::Flag => "true or false".into(),
            ParamKind::Name(names) => {
                let names: Vec<_> = names.iter().map(|(name, _)| format!("'{name}'")).collect();
                format!("one of {}", names.join(", "))
            }
            ParamKind::Listed(names) => {
                let names: Vec<_> = names().iter().map(|name| format!("'{name}'")).collect();
                format!("one of {}", names.join(", "))
            }
            ParamKind::Text(words) | ParamKind::Other(words) => words.into(),
            ParamKind::Order(names) => {
                let names: Vec<_> = names.iter().map(|name| format!("\"{name}\"")).collect();
                format!("{}, in any order", names.join(", "))
            }
            ParamKind::Numbers { range, most } => {
                format!("a list of up to {most}, each {}", range.words())
            }
            ParamKind::Rows { columns, most } => {
                let columns: Vec<_> =
                    columns.iter().map(|(name, range)| format!("{name} = {}", range.words())).collect();
                format!("a list of up to {most} tables with {}", columns.join(" and "))
            }
        }
    }

    /// Returns the names that the parameter takes, if it takes names.
    #[must_use]
    pub fn names(&self) -> Option<Vec<&'static str>> {
        match self.kind {
            ParamKind::Name(names) => Some(names.iter().map(|(name, _)| *name).collect()),
            ParamKind::Listed(names) => Some(names()),
            _ => None,
        }
    }

    /// Returns the default value, if the parameter has one.
    #[must_use]
    pub fn fallback(&self, facts: &Facts) -> Option<Setting> {
        let value = match self.default {
            Fallback::Value(value) => value,
            Fallback::Drive(_, of) => of(facts),
            Fallback::Absent(_) => return None,
            Fallback::Text(text) => return Some(Setting::Name(text.into())),
            Fallback::Numbers(list) => return Some(Setting::Numbers(list.to_vec())),
            Fallback::Rows(rows) => return Some(self.rows_of(rows)),
        };
        Some(self.setting(value))
    }

    /// Converts a number to a value of this kind; for names it is the index of the row.
    #[must_use]
    pub fn setting(&self, value: f64) -> Setting {
        match self.kind {
            ParamKind::Whole { .. } => Setting::Whole(value as u64),
            ParamKind::Number(_) => Setting::Number(value),
            ParamKind::Flag => Setting::Flag(value != 0.0),
            ParamKind::Name(names) => Setting::Name(names[value as usize].0.into()),
            ParamKind::Listed(names) => Setting::Name(names()[value as usize].into()),
            ParamKind::Text(_) | ParamKind::Other(_) => Setting::Name(String::new()),
            ParamKind::Order(names) => Setting::Names(names.iter().map(|name| (*name).into()).collect()),
            ParamKind::Numbers { .. } => Setting::Numbers(vec![value]),
            ParamKind::Rows { columns, .. } => {
                Setting::Rows(vec![columns.iter().map(|(name, _)| ((*name).to_string(), value)).collect()])
            }
        }
    }

    fn rows_of(&self, rows: &[&[f64]]) -> Setting {
        let ParamKind::Rows { columns, .. } = self.kind else { return Setting::Rows(Vec::new()) };
        let row = |values: &&[f64]| {
            let named = columns.iter().zip(values.iter());
            named.map(|((name, _), value)| ((*name).to_string(), *value)).collect()
        };
        Setting::Rows(rows.iter().map(row).collect())
    }

    /// Returns whether a value has the right kind and lies in the range.
    #[must_use]
    pub fn takes(&self, value: &Setting) -> bool {
        match (self.kind, value) {
            (ParamKind::Whole { least, most }, Setting::Whole(value)) => (least..=most).contains(value),
            (ParamKind::Number(range), Setting::Number(value)) => range.contains(*value),
            (ParamKind::Flag, Setting::Flag(_)) => true,
            (ParamKind::Name(names), Setting::Name(value)) => names.iter().any(|(name, _)| name == value),
            (ParamKind::Listed(names), Setting::Name(value)) => names().contains(&value.as_str()),
            (ParamKind::Text(_), Setting::Name(_)) | (ParamKind::Other(_), _) => true,
            (ParamKind::Order(names), Setting::Names(list)) => {
                list.len() == names.len() && names.iter().all(|name| list.iter().any(|other| other == name))
            }
            (ParamKind::Numbers { range, most }, Setting::Numbers(list)) => {
                (1..=most).contains(&list.len()) && list.iter().all(|&value| range.contains(value))
            }
            (ParamKind::Rows { columns, most }, Setting::Rows(rows)) => {
                let sound = |row: &BTreeMap<String, f64>| {
                    let known =
                        |(name, range): &(&str, Range)| row.get(*name).is_some_and(|&v| range.contains(v));
                    row.len() == columns.len() && columns.iter().all(known)
                };
                (1..=most).contains(&rows.len()) && rows.iter().all(sound)
            }
            _ => false,
        }
    }

    /// Checks kind and range of a value.
    ///
    /// # Errors
    /// The fact that is wrong with the value.
    pub fn check(&self, value: Setting) -> Result<Setting, Misfit> {
        if self.takes(&value) {
            return Ok(value);
        }
        let what = match &value {
            Setting::Name(value) => {
                format!("unknown {} {}", self.name, crate::error::quote(value.as_bytes()))
            }
            value => format!("{} is {}", self.name, value.to_toml()),
        };
        let expected = match (&value, self.names()) {
            (Setting::Name(value), Some(names)) => crate::names::remedy(value, &names, "floatgate schema"),
            _ => format!("expected {}", self.range_words()),
        };
        Err(Misfit::new(self.name, what, expected))
    }
}

impl Setting {
    /// Formats the value as in an experiment, but names without quotes.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let row = |row: &BTreeMap<String, f64>| {
            let columns: Vec<_> = row.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            format!("{{{}}}", columns.join(", "))
        };
        match self {
            Self::Whole(value) => value.to_string(),
            Self::Number(value) => number(*value),
            Self::Flag(value) => value.to_string(),
            Self::Name(value) => value.clone(),
            Self::Names(list) => format!("{list:?}"),
            Self::Numbers(list) => {
                format!("[{}]", list.iter().map(f64::to_string).collect::<Vec<_>>().join(", "))
            }
            Self::Rows(rows) => format!("[{}]", rows.iter().map(row).collect::<Vec<_>>().join(", ")),
        }
    }
}

/// Formats a number for people: without trailing zeros.
fn number(value: f64) -> String {
    let size = value.abs();
    if size.is_finite() && (size >= 1e15 || size > 0.0 && size < 1e-6) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

impl From<u32> for Setting {
    fn from(value: u32) -> Self {
        Self::Whole(value.into())
    }
}

impl From<f64> for Setting {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<bool> for Setting {
    fn from(value: bool) -> Self {
        Self::Flag(value)
    }
}

impl From<&str> for Setting {
    fn from(value: &str) -> Self {
        Self::Name(value.into())
    }
}
