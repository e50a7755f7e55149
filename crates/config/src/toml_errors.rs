//! Errors of the TOML reader in floatgate's words: key and value, what is wrong, and what to write instead.

use crate::property::range_words;
use crate::settings;
use crate::slot_types::SLOTS;
use floatgate_base::names::{self, SUGGESTIONS_MAX};
use floatgate_base::policy::{Facts, ParamKind, Setting};
use floatgate_base::{Error, ParamInfo, Place};
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// Most characters of a value that a message quotes.
const SHOWN_MAX: usize = 60;

/// Where TOML comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Origin<'a> {
    /// An experiment file.
    Experiment(&'a str),
    /// A file of another kind. It names its kind, since no row describes its keys.
    Other(&'a str, &'a str),
    /// A key of an experiment with its value, from the command line or the API.
    Override(&'a str, &'a str),
}

/// Writes an error of the TOML reader in floatgate's words.
pub(crate) fn refusal(text: &str, origin: Origin<'_>, error: &toml::de::Error) -> Box<Error> {
    let at = error.span().map_or(0, |span| span.start).min(text.len());
    let value = DeTable::parse(text).ok().and_then(|table| value_at(table.get_ref(), "", at));
    let message = error.message().trim().replace('\n', ", ");
    let subject = Subject { text, origin, at, value };
    let (what, expected) = subject.words(&message);
    let place = match origin {
        Origin::Override(key, _) => Place::Setting(key.to_owned()),
        Origin::Experiment(path) | Origin::Other(path, _) if error.span().is_none() => {
            Place::Path(path.to_owned())
        }
        Origin::Experiment(path) | Origin::Other(path, _) => line_of(text, at, path),
    };
    Error::input(place, what, expected)
}

/// Finds line and column of a byte.
pub(crate) fn line_of(text: &str, byte: usize, path: &str) -> Place {
    let before = &text.as_bytes()[..byte.min(text.len())];
    let line = before.iter().filter(|&&b| b == b'\n').count() as u64 + 1;
    let column = before.iter().rev().take_while(|&&b| b != b'\n').count() as u64 + 1;
    Place::Line { path: path.to_owned(), line, column: Some(column) }
}

/// The key that an error is about.
struct Subject<'a> {
    text: &'a str,
    origin: Origin<'a>,
    at: usize,
    /// The key from the top of the file, and where its value stands.
    value: Option<(String, Range<usize>)>,
}

impl Subject<'_> {
    fn key(&self) -> &str {
        match (&self.value, self.origin) {
            (Some((key, _)), _) => key,
            (None, Origin::Override(key, _)) => key,
            (None, _) => "",
        }
    }

    fn name(&self) -> &str {
        self.key().rsplit('.').next().unwrap_or_default()
    }

    /// Shows key and value as the user wrote them.
    fn shown(&self) -> String {
        match (self.origin, &self.value) {
            (Origin::Override(_, value), _) => floatgate_base::error::quote(value.as_bytes()),
            (_, Some((_, span))) => {
                let value = self.text.get(span.clone()).unwrap_or_default();
                let cut = if value.chars().nth(SHOWN_MAX).is_some() { "..." } else { "" };
                let value: String = value.chars().take(SHOWN_MAX).collect();
                format!("{} = {value}{cut}", self.name())
            }
            (_, None) => "the value".into(),
        }
    }

    /// Writes a value as an example of the key.
    fn example(&self, value: &Setting) -> String {
        match (self.origin, value) {
            (Origin::Override(key, _), value) => format!("{key}={}", value.to_toml()),
            (_, Setting::Name(name)) => format!("{} = \"{name}\"", self.name()),
            (_, value) => format!("{} = {}", self.name(), value.to_toml()),
        }
    }

    /// Says what is wrong and what to write instead.
    fn words(&self, message: &str) -> (String, String) {
        let (fact, expected) = message.split_once(", expected ").unwrap_or((message, ""));
        let shown = || self.shown();
        if let Some(name) = backquoted(fact.strip_prefix("unknown field ")) {
            return self.unknown_key(name, expected);
        }
        if let Some(name) = backquoted(fact.strip_prefix("missing field ")) {
            return (format!("the key '{name}' is missing"), format!("expected {name} = VALUE"));
        }
        if message.contains("value was too large") {
            let most = format!("expected a whole number up to {}", i64::MAX);
            return (format!("{} is too large", shown()), most);
        }
        if fact.starts_with("invalid value: integer") && matches!(expected, "u32" | "u64") {
            let most = if expected == "u32" { u32::MAX.to_string() } else { i64::MAX.to_string() };
            let range = self.row().map_or_else(String::new, |row| match row.kind {
                ParamKind::Whole { least, most: own } if own < u64::from(u32::MAX) => {
                    format!("{least} to {own}")
                }
                ParamKind::Whole { least, .. } => format!("{least} to {most}"),
                _ => format!("0 to {most}"),
            });
            return (format!("{} is out of range", shown()), format!("expected a whole number from {range}"));
        }
        if fact.starts_with("invalid ") && !expected.is_empty() && self.value.is_some() {
            let (fault, kind) = type_words(expected);
            let kind = self.row_words().unwrap_or_else(|| kind.into());
            let holds = if self.is_within_list() { "holds an item that " } else { "" };
            return (format!("{} {holds}{fault}", shown()), format!("expected {kind}"));
        }
        self.syntax(message, fact, expected)
    }

    /// Checks whether the error is about an item of a list.
    fn is_within_list(&self) -> bool {
        let Some((_, span)) = &self.value else { return false };
        self.at > span.start && self.text.get(span.clone()).is_some_and(|value| value.starts_with('['))
    }

    /// Explains text that is not TOML, or not what its reader takes.
    fn syntax(&self, message: &str, fact: &str, expected: &str) -> (String, String) {
        let fact = fact.replace('`', "'");
        if let Origin::Override(..) = self.origin {
            return ("this is not a key".into(), "expected a dotted key such as ftl.spare_factor".into());
        }
        if self.value.is_some() {
            let kind = match self.origin {
                Origin::Other(_, kind) => kind,
                _ => "a floatgate experiment (see: floatgate schema)",
            };
            let expected = if expected.is_empty() { kind.into() } else { expected.replace('`', "'") };
            return (fact, format!("expected {expected}"));
        }
        let start = self.text[..self.at].rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.text[start..].lines().next().unwrap_or_default().trim();
        if message.starts_with("duplicate key") {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let name: String =
                rest.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '"')).collect();
            return (format!("{name} is set twice"), "expected each key once".into());
        }
        let line = floatgate_base::error::quote(line.as_bytes());
        (format!("{line} is not TOML: {fact}"), "expected KEY = VALUE, such as seed = 1".into())
    }

    /// Suggests keys in place of an unknown one. `expected` lists the valid ones of its table as serde does.
    fn unknown_key(&self, name: &str, expected: &str) -> (String, String) {
        let key = self.key();
        let table = match key.rsplit_once('.') {
            Some((table, last)) if last == name => table,
            None if key == name => "",
            _ => key,
        };
        let valid: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
        let (listing, is_override) = match self.origin {
            Origin::Experiment(_) => ("floatgate schema", false),
            Origin::Other(..) => ("", false),
            Origin::Override(..) => ("floatgate schema", true),
        };
        let within = if table.is_empty() { String::new() } else { format!(" in [{table}]") };
        let what = format!("unknown key {}{within}", floatgate_base::error::quote(name.as_bytes()));
        let near = names::close(name, &valid);
        let full = |other: &&str| match (is_override, table) {
            (true, table) if !table.is_empty() => format!("{table}.{other}"),
            _ => (*other).to_owned(),
        };
        let mut near: Vec<String> = near.iter().map(full).collect();
        if near.is_empty() && !listing.is_empty() {
            let last = format!(".{name}");
            near = all_keys().filter(|key| key.ends_with(&last)).take(SUGGESTIONS_MAX).collect();
        }
        if near.is_empty() {
            return (what, names::remedy(name, &valid, listing));
        }
        (what, names::suggestion(&near, listing, valid.len()))
    }

    /// Finds the row of the key.
    fn row(&self) -> Option<ParamInfo> {
        let key = self.key();
        if let Origin::Other(..) = self.origin {
            return None;
        }
        settings::row_of(key)
    }

    /// Says what the key takes, with an example.
    fn row_words(&self) -> Option<String> {
        let key = self.key();
        if let Some(slot) = SLOTS.iter().find(|slot| key == format!("{}.{}", slot.key, slot.selector)) {
            let policy = Setting::Name(slot.policies[0].name.into());
            return Some(format!("a name in quotes, such as {}", self.example(&policy)));
        }
        let row = self.row()?;
        let default = row.fallback(&Facts { pe_cycles: 3000, ..Facts::default() });
        let such_as = |value: Option<Setting>| {
            value.map_or_else(String::new, |value| format!(", such as {}", self.example(&value)))
        };
        Some(match row.kind {
            ParamKind::Whole { least, .. } => {
                range_words(&row, &such_as(default.or(Some(Setting::Whole(least)))))
            }
            ParamKind::Number(_) if row.advice.is_none() => row.range_words() + &such_as(default),
            ParamKind::Name(names) => {
                let first = Setting::Name(names[0].0.into());
                format!("a name in quotes{}", such_as(Some(first)))
            }
            ParamKind::Listed(names) => {
                let first = names().first().map(|name| Setting::Name((*name).into()));
                format!("a name in quotes{}", such_as(first))
            }
            _ => row.range_words(),
        })
    }
}

/// Returns every key of an experiment, from its top.
fn all_keys() -> impl Iterator<Item = String> {
    let of_slots = SLOTS.iter().flat_map(|slot| {
        let params = slot.params().into_iter().map(|(param, _)| param.name);
        params.map(|name| format!("{}.{name}", slot.key)).collect::<Vec<_>>()
    });
    settings::rows().map(|(key, _)| key).chain(of_slots)
}

/// Says what is wrong with a value that is not of the type that serde expects, and what is.
fn type_words(expected: &str) -> (&'static str, &'static str) {
    match expected {
        "u32" | "u64" => ("is not a whole number", "a whole number"),
        "f64" => ("is not a number", "a number"),
        "a boolean" => ("is neither true nor false", "true or false"),
        "a string" => ("is not text", "text in quotes"),
        "a sequence" => ("is not a list", "a list, such as [1, 2]"),
        _ if expected.starts_with("struct ") || expected == "a map" => {
            ("is not a table", "a table: a line with its name in brackets, and its keys below")
        }
        _ if expected.starts_with("a tuple ") => {
            ("does not hold lists of two numbers", "lists such as [[4096, 1]]")
        }
        _ => ("has the wrong type", "a value of another type (see: floatgate schema)"),
    }
}

fn backquoted(text: Option<&str>) -> Option<&str> {
    text?.split('`').nth(1)
}

/// Finds the key that stands at a byte or whose value does, with the place of the value.
fn value_at(table: &DeTable<'_>, prefix: &str, at: usize) -> Option<(String, Range<usize>)> {
    for (key, value) in table {
        let path =
            if prefix.is_empty() { key.get_ref().to_string() } else { format!("{prefix}.{}", key.get_ref()) };
        if let DeValue::Table(inner) = value.get_ref()
            && let Some(deeper) = value_at(inner, &path, at)
        {
            return Some(deeper);
        }
        if key.span().contains(&at) || value.span().contains(&at) {
            return Some((path, value.span()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::layers::Layers;

    fn file(text: &str) -> String {
        Layers::default().add_file(text, "e.toml").unwrap_err().to_string()
    }

    fn setting(key: &str, value: &str) -> String {
        Layers::default().add_override(key, value).unwrap_err().to_string()
    }

    #[test]
    fn a_wrong_type_names_key_value_and_an_example() {
        for (text, expected) in [
            (
                "seed = \"x\"",
                "e.toml:1:8: seed = \"x\" is not a whole number; expected a whole number from 0, such as seed = 1",
            ),
            (
                "mode = 3",
                "e.toml:1:8: mode = 3 is not text; expected a name in quotes, such as mode = \"functional\"",
            ),
            (
                "[ftl.collect]\npolicy = 3",
                "e.toml:2:10: policy = 3 is not text; expected a name in quotes, such as policy = \"greedy\"",
            ),
            (
                "[drive]\nplp = \"yes\"",
                "e.toml:2:7: plp = \"yes\" is neither true nor false; expected true or false",
            ),
            (
                "seed = -1",
                "e.toml:1:8: seed = -1 is out of range; expected a whole number from 0 to 9223372036854775807",
            ),
            (
                "[drive.geometry]\nchannels = 4294967296",
                "e.toml:2:12: channels = 4294967296 is out of range; expected a whole number from 1 to 4294967295",
            ),
            ("drive = 3", "e.toml:1:9: drive = 3 is not a table; expected a table: a line"),
            ("ftl = []", "e.toml:1:7: ftl = [] is not a table; expected a table: a line"),
        ] {
            assert!(file(text).starts_with(expected), "{}", file(text));
        }
        assert_eq!(
            setting("seed", "x"),
            "seed: 'x' is not a whole number; expected a whole number from 0, such as seed=1"
        );
    }

    #[test]
    fn unknown_keys_come_with_close_ones() {
        assert_eq!(
            file("[ftl]\nspare = 3"),
            "e.toml:2:1: unknown key 'spare' in [ftl]; did you mean 'spare_factor'? ('floatgate schema' lists all)"
        );
        assert_eq!(
            setting("ftl.spare", "3"),
            "ftl.spare: unknown key 'spare' in [ftl]; did you mean 'ftl.spare_factor'? ('floatgate schema' lists all)"
        );
        let elsewhere = file("spare_factor = 0.1");
        assert!(elsewhere.contains("did you mean 'ftl.spare_factor'?"), "{elsewhere}");
        let none = file("[ftl]\nzzzz = 1");
        assert!(none.contains("expected one of 'spare_factor', ") && none.contains(" others ("), "{none}");
        assert!(none.matches('\'').count() <= 14, "{none}");
    }

    #[test]
    fn text_that_is_not_toml_is_quoted() {
        assert_eq!(
            file("seed = = 2\n"),
            "e.toml:1:8: 'seed = = 2' is not TOML: extra '='; expected KEY = VALUE, such as seed = 1"
        );
        assert_eq!(file("seed = 1\nseed = 2\n"), "e.toml:2:1: seed is set twice; expected each key once");
    }
}
