//! Declarations of tables of settings: a row for each key. Its field, default, checks, schema and line in the
//! docs follow from it.

use floatgate_base::policy::Facts;
use floatgate_base::{ParamInfo, Setting};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Value, json};

/// A table of settings as data.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// The table from the top of the experiment; empty for the top itself.
    pub key: &'static str,
    /// What its keys are about.
    pub summary: &'static str,
    /// Its keys, tables within it left out.
    pub rows: &'static [ParamInfo],
}

impl Table {
    /// Returns the full name of a key.
    #[must_use]
    pub fn key_of(&self, row: &ParamInfo) -> String {
        if self.key.is_empty() { row.name.into() } else { format!("{}.{}", self.key, row.name) }
    }
}

/// A type that a key of a table may have.
pub(crate) trait Field: Sized {
    /// Converts a value to this type.
    fn of(setting: Setting) -> Option<Self>;
}

macro_rules! fields {
    ($($type:ty: $pattern:pat => $value:expr,)*) => {
        $(impl Field for $type {
            fn of(setting: Setting) -> Option<Self> {
                match setting {
                    $pattern => $value,
                    _ => None,
                }
            }
        })*
    };
}

fields! {
    u32: Setting::Whole(value) => u32::try_from(value).ok(),
    u64: Setting::Whole(value) => Some(value),
    f64: Setting::Number(value) => Some(value),
    bool: Setting::Flag(value) => Some(value),
    String: Setting::Name(value) => Some(value),
    Vec<f64>: Setting::Numbers(list) => Some(list),
    Vec<String>: Setting::Names(list) => Some(list),
    // No row has a default for these.
    Vec<u32>: Setting::Names(_) => None,
    Vec<(u64, f64)>: Setting::Names(_) => None,
}

/// Returns the value that is set, or the default of the row.
///
/// # Panics
/// When no value is set and the row has no default.
pub(crate) fn or_default<T: Field + Clone>(value: Option<&T>, rows: &[ParamInfo], name: &str) -> T {
    value.cloned().unwrap_or_else(|| {
        let row = rows.iter().find(|row| row.name == name);
        let value = row.and_then(|row| row.fallback(&Facts::default())).and_then(T::of);
        value.unwrap_or_else(|| panic!("{name} has no default of its type"))
    })
}

/// Describes a table in the schema: its keys with type, range and meaning, and the tables within it.
pub(crate) fn schema(
    table: &Table,
    others: &[(&'static str, Schema)],
    inner: &[(&'static str, Schema)],
) -> Schema {
    let mut properties = serde_json::Map::new();
    for row in table.rows {
        let open = others.iter().find(|(name, _)| *name == row.name).map(|(_, schema)| schema.clone());
        properties.insert(row.name.into(), crate::property::property(row, &[], open.map(Value::from)));
    }
    for (name, schema) in inner {
        properties.insert((*name).into(), schema.clone().into());
    }
    let object = json!({
        "description": table.summary,
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    });
    Schema::try_from(object).expect("an object is a schema")
}

/// Returns the schema of a type, for a key whose values its row cannot describe.
pub(crate) fn open<T: schemars::JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// Declares a table of optional keys, serialised without the missing ones; unknown keys are refused.
///
/// A key is `name: type = kind(summary, ...)`, where `kind` is a constructor of [`ParamInfo`] whose first argument, the
/// name, is left out; what a table holds beside keys stands under `tables`. Results show them in this order.
macro_rules! table {
    (
        $(#[$meta:meta])*
        $name:ident = $key:literal, $summary:literal
        $(
            rows {
                $($field:ident: $type:ty = $make:ident($means:literal $(, $arg:expr)* $(,)?) $(. $more:ident($($more_arg:expr),* $(,)?))*;)*
            }
            $(tables { $($inner:ident: $inner_type:ty,)* })?
        )+
    ) => {
        #[doc = $summary]
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $(
                $(
                    #[doc = $means]
                    #[serde(skip_serializing_if = "Option::is_none")]
                    pub $field: Option<$type>,
                )*
                $($(
                    #[doc = "The table of this name."]
                    #[serde(skip_serializing_if = "Option::is_none")]
                    pub $inner: Option<$inner_type>,
                )*)?
            )+
        }

        impl $name {
            /// Its keys.
            pub const TABLE: crate::settings::Table = crate::settings::Table {
                key: $key,
                summary: $summary,
                rows: &[$($(
                    floatgate_base::ParamInfo::$make(stringify!($field), $means $(, $arg)*)$(.$more($($more_arg),*))*,
                )*)+],
            };

            $($(
                #[doc = concat!("`", stringify!($field), "` as set, or its default; panics where the row has none.")]
                #[must_use]
                pub fn $field(&self) -> $type {
                    crate::settings::table::or_default(self.$field.as_ref(), Self::TABLE.rows, stringify!($field))
                }
            )*)+
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let others = [$($((stringify!($field), crate::settings::table::open::<$type>(generator)),)*)+];
                let inner = [$($($((stringify!($inner), generator.subschema_for::<$inner_type>()),)*)?)+];
                crate::settings::table::schema(&Self::TABLE, &others, &inner)
            }
        }
    };
}

pub(crate) use table;
