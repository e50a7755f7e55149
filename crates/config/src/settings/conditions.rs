//! Which keys act in which mode, and with which values of others.

use super::rows;
use crate::slot_types::SLOTS;
use floatgate_base::ParamInfo;
use floatgate_base::policy::{Acts, Need};

/// Returns the keys that a key needs, those first that the needed ones need themselves.
pub(crate) fn chain(row: &ParamInfo) -> impl Iterator<Item = Need> {
    let need = row.need;
    let first = need.and_then(|need| rows().find(|(key, _)| key == need.key)).and_then(|(_, row)| row.need);
    first.into_iter().chain(need)
}

/// Returns the keys that others need, those first that need none.
pub(crate) fn needed_keys() -> Vec<&'static str> {
    let mut keys: Vec<_> = rows().filter_map(|(_, row)| row.need.map(|need| need.key)).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Returns the keys that act only with some values of `key`, and these values.
pub(crate) fn needing(key: &str) -> impl Iterator<Item = (String, &'static [&'static str])> {
    rows().filter_map(move |(name, row)| {
        chain(row).find(|need| need.key == key).map(|need| (name, need.values))
    })
}

/// Returns all keys that act in one mode only.
pub(crate) fn acting_in(acts: Acts) -> Vec<String> {
    let of_tables = rows().filter(|(_, row)| row.acts == acts).map(|(key, _)| key);
    let of_slots = SLOTS.iter().flat_map(|slot| {
        let selector = (slot.acts == acts).then(|| format!("{}.{}", slot.key, slot.selector));
        let params = slot.params().into_iter().filter(|(param, _)| param.acts == acts);
        selector.into_iter().chain(params.map(|(param, _)| format!("{}.{}", slot.key, param.name)))
    });
    of_tables.chain(of_slots).collect()
}
