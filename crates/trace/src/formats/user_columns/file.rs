//! The description of columns in a TOML file, which can be kept beside the traces that it describes.
//!
//! Keys are those of the text: `columns` (a text or a list of texts), `separator`, `header`, `comment`, `op`, `size`.

use super::grammar::{Whole, column, finish, refuse};
use super::{EXAMPLE, UserColumns};
use floatgate_base::error::quote;
use floatgate_base::names::remedy;
use floatgate_base::{Error, Place, Result};
use toml::Value;

const KEYS: &[&str] = &["columns", "separator", "header", "comment", "op", "size"];
/// Longest file.
const BYTES_MAX: u64 = 1 << 20;

/// Reads the file `path`.
pub(super) fn load(path: &str) -> Result<UserColumns> {
    let refuse_file = |what: String, expected: &str| Error::input(Place::Path(path.into()), what, expected);
    let expected = format!("expected a TOML file with columns = \"{EXAMPLE}\"");
    let size = std::fs::metadata(path).map(|m| m.len()).unwrap_or(0);
    if size > BYTES_MAX {
        return Err(refuse_file(format!("the file has {size} bytes"), &expected));
    }
    let text = std::fs::read_to_string(path).map_err(|error| refuse_file(error.to_string(), &expected))?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        let place = Place::Line { path: path.into(), line: line as u64, column: None };
        Error::input(place, error.message().to_owned(), expected.clone())
    })?;
    parse(&table).map_err(|error| refuse_file(error.what, &error.expected))
}

fn parse(table: &toml::Table) -> Result<UserColumns> {
    let (mut whole, mut columns) = (Whole::default(), Vec::new());
    for (key, value) in table {
        match (key.as_str(), value) {
            ("columns", Value::String(text)) => {
                for word in text.split_whitespace() {
                    columns.push(column(word, columns.len() + 1)?);
                }
            }
            ("columns", Value::Array(items)) => {
                for item in items {
                    let Value::String(word) = item else {
                        return Err(refuse(
                            format!("{item} is not a column"),
                            "expected a text such as \"time:s\"",
                        ));
                    };
                    columns.push(column(word, columns.len() + 1)?);
                }
            }
            ("header" | "size", Value::Integer(number)) => whole.set(key, &number.to_string())?,
            ("separator" | "comment" | "op", Value::String(text)) => whole.set(key, text)?,
            (key, value) if KEYS.contains(&key) => {
                let kind = if matches!(key, "header" | "size") { "a whole number" } else { "a text" };
                return Err(refuse(format!("{key} = {value} is not {kind}"), format!("expected {kind}")));
            }
            _ => {
                let what = format!("unknown key {}", quote(key.as_bytes()));
                return Err(refuse(what, remedy(key, KEYS, "")));
            }
        }
    }
    finish(whole, columns)
}
