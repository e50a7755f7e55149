//! The keys of an experiment, each declared once: its meaning, default and range, and the mode and keys with
//! which it acts.
//!
//! A row of a table is a [`ParamInfo`], as a parameter of a policy is. From the rows follow the types that TOML is read
//! into, the JSON schema, defaults, `docs/settings.md`, and the refusals of values out of range and of keys without
//! effect ([`crate::checks`]). Tables of slots have their rows with their policies ([`crate::slot_types`]).
//!
//! `docs/decisions/0035-settings-as-rows.md` says why. `resolve/` makes a plan of the settings, one file per part, and
//! holds the checks across tables.

pub(crate) mod conditions;
mod drive;
mod ftl;
mod host;
mod lifetime;
mod table;
mod workload;

pub use drive::{Commands, Drive, Energy, Geometry, Rated, Timing};
pub(crate) use drive::{US_MAX, US_MIN, USER_BYTES_MAX};
pub(crate) use ftl::SPARE_MAX;
pub use ftl::{Allocation, Ftl};
pub use host::Host;
pub use lifetime::{Forecast, Lifetime};
pub use table::Table;
pub use workload::Workload;
pub(crate) use workload::{ARRIVALS, KINDS, REPEATS};

use crate::slot_table::SlotTable;
use crate::slot_types;
use floatgate_base::ParamInfo;
use table::table;

/// Tables of the slots.
pub type Map = SlotTable<slot_types::Map>;
/// See [`Map`].
pub type Metadata = SlotTable<slot_types::Metadata>;
/// See [`Map`].
pub type Collect = SlotTable<slot_types::Collect>;
/// See [`Map`].
pub type Separate = SlotTable<slot_types::Separate>;
/// See [`Map`].
pub type Level = SlotTable<slot_types::Level>;
/// See [`Map`].
pub type Reclaim = SlotTable<slot_types::Reclaim>;
/// See [`Map`].
pub type Dpes = SlotTable<slot_types::Dpes>;
/// See [`Map`].
pub type Dispatch = SlotTable<slot_types::Dispatch>;
/// See [`Map`].
pub type Background = SlotTable<slot_types::Background>;
/// See [`Map`].
pub type Buffer = SlotTable<slot_types::Buffer>;
/// See [`Map`].
pub type Scheduling = SlotTable<slot_types::Scheduling>;
/// See [`Map`].
pub type Throttle = SlotTable<slot_types::Throttle>;
/// See [`Map`].
pub type Reduce = SlotTable<slot_types::Reduce>;
/// See [`Map`].
pub type Disturb = SlotTable<slot_types::Disturb>;
/// See [`Map`].
pub type Endurance = SlotTable<slot_types::Endurance>;

/// Modes with what they are.
pub(crate) const MODES: &[(&str, &str)] =
    &[("functional", "operations are counted"), ("timed", "operations take time and wait for one another")];

table! {
    Experiment = "", "A floatgate experiment: a drive, its firmware, and a workload."
    rows {
        seed: u64 = count_from("seed of every random stream", 1, 0);
        mode: String = name("how time is treated", MODES);
        policies: String = text(
            "sets of policies, joined by +, over the file and under the settings of the command line",
            "none",
            "names of sets, such as \"all-in-one\" or \"ids+redftl-plus\" (`floatgate policies`)",
        );
        policy_code: Vec<String> = other(
            "policies from outside that the experiment uses, each with the hash of its file; floatgate writes it, and refuses \
             other code",
            "a list of names with hashes, as floatgate writes it",
        );
    }
    tables {
        drive: Drive,
        ftl: Ftl,
        host: Host,
        lifetime: Lifetime,
        workload: Workload,
    }
}

/// All tables that are no slots, in the order of the docs.
pub const TABLES: [Table; 12] = [
    Experiment::TABLE,
    Drive::TABLE,
    Geometry::TABLE,
    Timing::TABLE,
    Commands::TABLE,
    Energy::TABLE,
    Rated::TABLE,
    Ftl::TABLE,
    Allocation::TABLE,
    Host::TABLE,
    Forecast::TABLE,
    Workload::TABLE,
];

/// Returns every key outside slots, from the top of the experiment, with its row.
pub(crate) fn rows() -> impl Iterator<Item = (String, &'static ParamInfo)> {
    TABLES.iter().flat_map(|table| table.rows.iter().map(|row| (table.key_of(row), row)))
}

/// Finds the row of a key, of a table or of a slot.
pub(crate) fn row_of(key: &str) -> Option<ParamInfo> {
    if let Some((_, row)) = rows().find(|(other, _)| other == key) {
        return Some(*row);
    }
    let (table, name) = key.rsplit_once('.')?;
    let slot = slot_types::SLOTS.iter().find(|slot| slot.key == table)?;
    slot.params().into_iter().find(|(param, _)| param.name == name).map(|(param, _)| *param)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slot_types::SLOTS;
    use floatgate_base::policy::{Facts, ParamKind};
    use std::collections::BTreeSet;

    #[test]
    fn rows_are_sound() {
        let keys: Vec<_> = rows().collect();
        let unique: BTreeSet<_> = keys.iter().map(|(key, _)| key).collect();
        assert!(unique.len() == keys.len() && keys.len() > 100, "{}", keys.len());
        for (key, row) in &keys {
            if let Some(default) = row.fallback(&Facts::default()) {
                assert!(row.takes(&default), "{key}: {default:?}");
            }
            assert!(!row.summary.is_empty() && !row.summary.ends_with('.'), "{key}");
            let has_choice = match row.kind {
                ParamKind::Whole { least, most } => least < most,
                ParamKind::Number(range) => range.least < range.most,
                ParamKind::Name(names) => names.len() > 1,
                ParamKind::Listed(names) => names().len() > 1,
                ParamKind::Text(words) | ParamKind::Other(words) => !words.is_empty(),
                ParamKind::Numbers { range, most } => range.least < range.most && most > 0,
                ParamKind::Flag | ParamKind::Order(_) | ParamKind::Rows { .. } => true,
            };
            assert!(has_choice, "{key}");
            let Some(need) = row.need else { continue };
            let (_, needed) = rows().find(|(other, _)| other == need.key).unwrap_or_else(|| panic!("{key}"));
            let names: Vec<&str> = match needed.kind {
                ParamKind::Name(names) => names.iter().map(|(name, _)| *name).collect(),
                ParamKind::Listed(names) => names(),
                _ => panic!("{key} needs {}, which has no names", need.key),
            };
            assert!(need.values.iter().all(|value| names.contains(value)), "{key}: {need:?}");
        }
    }

    /// No table is forgotten in [`TABLES`], by the tables that the schema knows.
    #[test]
    fn the_schema_has_the_tables_and_their_keys() {
        let schema = crate::schema::schema();
        let defined = schema["$defs"].as_object().expect("there are tables");
        // Lifetime holds only tables.
        assert_eq!(defined.len() + 1, TABLES.len() + 1 + SLOTS.len(), "{:?}", defined.keys());
        for table in TABLES.iter().filter(|table| !table.key.is_empty()) {
            let schema = defined.values().find(|schema| schema["description"] == table.summary);
            let schema = schema.unwrap_or_else(|| panic!("{}", table.key));
            for row in table.rows {
                let key = &schema["properties"][row.name];
                let both = |types: [&str; 2]| key["type"] == serde_json::json!(types);
                let (sized, in_bytes) = (both(["integer", "string"]), both(["string", "integer"]));
                assert_eq!(
                    sized,
                    row.name.ends_with("_bytes") && matches!(row.kind, ParamKind::Whole { .. })
                );
                let is_size =
                    ["capacity", "visible", "user_capacity", "stop_after", "start_after"].contains(&row.name);
                assert_eq!(in_bytes, is_size, "{}", table.key_of(row));
                assert!(
                    (sized || in_bytes || key["type"].is_string()) && key["description"].is_string(),
                    "{}: {key}",
                    table.key_of(row)
                );
            }
        }
    }
}
