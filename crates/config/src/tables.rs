//! Looking names up in the tables of what there is.

use crate::layers::Layers;
use floatgate_base::Result;

/// A name that is in no table: quoted, with the valid ones.
pub(crate) fn unknown<'a>(
    layers: &Layers,
    key: &str,
    kind: &str,
    name: &str,
    valid: impl Iterator<Item = &'a str>,
) -> Box<floatgate_base::Error> {
    let valid: Vec<_> = valid.map(|name| format!("'{name}'")).collect();
    let name = floatgate_base::error::quote(name.as_bytes());
    layers.error(key, format!("unknown {kind} {name}"), format!("expected one of {}", valid.join(", ")))
}

/// Looks a value up in a table of (name, meaning) pairs, giving its row.
pub(crate) fn choice(
    layers: &Layers,
    key: &str,
    kind: &str,
    name: &str,
    table: &[(&str, &str)],
) -> Result<usize> {
    table
        .iter()
        .position(|(n, _)| *n == name)
        .ok_or_else(|| unknown(layers, key, kind, name, table.iter().map(|(n, _)| *n)))
}

/// "a", "a or b", "a, b or c".
pub(crate) fn any_of<S: AsRef<str>>(names: &[S]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match &names[..] {
        [] => String::new(),
        [one] => (*one).into(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
