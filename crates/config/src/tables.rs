//! Looking names up in the tables of what there is.

use crate::layers::Layers;
use crate::raw::Policy;
use floatgate_base::{PolicyInfo, Result};

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

/// Checks that a policy is in its slot's table.
pub(crate) fn known(layers: &Layers, key: &str, kind: &str, name: &str, table: &[PolicyInfo]) -> Result<()> {
    if table.iter().any(|info| info.name == name) {
        return Ok(());
    }
    Err(unknown(layers, key, kind, name, table.iter().map(|info| info.name)))
}

/// A slot that has just one policy so far.
pub(crate) fn only(
    layers: &Layers,
    key: &str,
    kind: &str,
    given: Option<Policy>,
    name: &str,
) -> Result<Policy> {
    let policy = given.and_then(|p| p.policy).unwrap_or_else(|| name.into());
    if policy == name {
        return Ok(Policy { policy: Some(policy) });
    }
    Err(unknown(layers, key, kind, &policy, std::iter::once(name)))
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
