//! Look-ups of names in tables.

use crate::layers::Layers;
use crate::slot_types::SLOTS;
use floatgate_base::Result;
use floatgate_base::names::remedy;

/// Refuses a name that is in no table, and suggests close ones.
pub(crate) fn unknown<'a>(
    layers: &Layers,
    key: &str,
    kind: &str,
    name: &str,
    valid: impl Iterator<Item = &'a str>,
) -> Box<floatgate_base::Error> {
    let valid: Vec<_> = valid.collect();
    let quoted = floatgate_base::error::quote(name.as_bytes());
    layers.error(key, format!("unknown {kind} {quoted}"), remedy(name, &valid, listing(key)))
}

/// Names the command that lists the values of a key.
pub(crate) fn listing(key: &str) -> &'static str {
    match key {
        "drive.preset" => "floatgate drives",
        "workload.twin" | "workload.micro" => "floatgate trace generate --list",
        _ if SLOTS.iter().any(|slot| key == format!("{}.{}", slot.key, slot.selector)) => {
            "floatgate policies"
        }
        _ => "floatgate schema",
    }
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
