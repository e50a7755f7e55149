//! The table of a slot in an experiment: the name of a policy, and parameters of any policy of the slot.
//! Whether the policy takes them is checked once all layers are known (`resolve/slot.rs`).

use crate::slot_types::Table;
use floatgate_base::policy::{ParamKind, Setting, Slot};
use floatgate_base::{ChosenPolicy, ParamInfo};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, json};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// The table of a slot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlotTable<T> {
    /// The policy, if one is named.
    pub policy: Option<String>,
    values: Vec<(&'static str, Setting)>,
    slot: PhantomData<T>,
}

impl<T: Table> SlotTable<T> {
    /// Makes the table that sets a policy and all its values.
    #[must_use]
    pub fn of(policy: &ChosenPolicy) -> Self {
        let mut table = Self { policy: Some(policy.name().into()), values: Vec::new(), slot: PhantomData };
        policy.values().iter().for_each(|(name, value)| table.set(name, value.clone()));
        table
    }

    /// Returns the parameters that are set.
    #[must_use]
    pub fn values(&self) -> &[(&'static str, Setting)] {
        &self.values
    }

    /// Returns a parameter, if it is set.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Setting> {
        self.values.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// Sets a parameter. They stand in the order of the slot's table.
    pub fn set(&mut self, name: &'static str, value: impl Into<Setting>) {
        self.remove(name);
        self.values.push((name, value.into()));
        let params = T::SLOT.params();
        self.values.sort_by_key(|(key, _)| params.iter().position(|(param, _)| param.name == *key));
    }

    /// Leaves a parameter out.
    pub fn remove(&mut self, name: &str) {
        self.values.retain(|(key, _)| *key != name);
    }
}

impl<T: Table> Serialize for SlotTable<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(policy) = &self.policy {
            map.serialize_entry(T::SLOT.selector, policy)?;
        }
        for (name, value) in &self.values {
            match value {
                Setting::Whole(value) => map.serialize_entry(name, value)?,
                Setting::Number(value) => map.serialize_entry(name, value)?,
                Setting::Flag(value) => map.serialize_entry(name, value)?,
                Setting::Name(value) => map.serialize_entry(name, value)?,
                Setting::Names(list) => map.serialize_entry(name, list)?,
                Setting::Numbers(list) => map.serialize_entry(name, list)?,
                Setting::Rows(rows) => map.serialize_entry(name, rows)?,
            }
        }
        map.end()
    }
}

impl<'de, T: Table> serde::Deserialize<'de> for SlotTable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TableVisitor(PhantomData))
    }
}

struct TableVisitor<T>(PhantomData<T>);

impl<'de, T: Table> Visitor<'de> for TableVisitor<T> {
    type Value = SlotTable<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "struct {}", T::NAME)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut table = SlotTable { policy: None, values: Vec::new(), slot: PhantomData };
        while let Some(key) = map.next_key_seed(KeyOf(T::SLOT))? {
            match key.map(|param| (param.name, param.kind)) {
                None => table.policy = Some(map.next_value()?),
                Some((name, ParamKind::Whole { .. })) => table.set(name, Setting::Whole(map.next_value()?)),
                Some((name, ParamKind::Number(_))) => table.set(name, Setting::Number(map.next_value()?)),
                Some((name, ParamKind::Flag)) => table.set(name, Setting::Flag(map.next_value()?)),
                Some((
                    name,
                    ParamKind::Name(_) | ParamKind::Text(_) | ParamKind::Listed(_) | ParamKind::Other(_),
                )) => table.set(name, Setting::Name(map.next_value()?)),
                Some((name, ParamKind::Order(_))) => table.set(name, Setting::Names(map.next_value()?)),
                Some((name, ParamKind::Numbers { .. })) => {
                    table.set(name, Setting::Numbers(map.next_value()?))
                }
                Some((name, ParamKind::Rows { .. })) => table.set(name, Setting::Rows(map.next_value()?)),
            }
        }
        Ok(table)
    }
}

/// Reads a key of a slot's table: a parameter, or none for the selector.
struct KeyOf(&'static Slot);

impl<'de> DeserializeSeed<'de> for KeyOf {
    type Value = Option<&'static ParamInfo>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for KeyOf {
    type Value = Option<&'static ParamInfo>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("field identifier")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        if key == self.0.selector {
            return Ok(None);
        }
        let params = self.0.params();
        if let Some((param, _)) = params.iter().find(|(param, _)| param.name == key) {
            return Ok(Some(param));
        }
        // In the words of serde, which `toml_errors` reads.
        let names = std::iter::once(self.0.selector).chain(params.iter().map(|(param, _)| param.name));
        let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
        let expected = match &names[..] {
            [one] => one.clone(),
            [one, other] => format!("{one} or {other}"),
            _ => format!("one of {}", names.join(", ")),
        };
        Err(E::custom(format!("unknown field `{key}`, expected {expected}")))
    }
}

impl<T: Table> JsonSchema for SlotTable<T> {
    fn schema_name() -> Cow<'static, str> {
        T::NAME.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let slot = T::SLOT;
        let names: Vec<_> = slot.all().into_iter().map(|info| info.name).collect();
        let mut properties = Map::from_iter([(
            slot.selector.into(),
            json!({ "description": format!("{}; default \"{}\".", slot.what, names[0]), "type": "string", "enum": names }),
        )]);
        for (param, owners) in slot.params() {
            properties.insert(param.name.into(), crate::property::property(param, &owners, None));
        }
        let schema = json!({
            "description": slot.summary,
            "type": "object",
            "additionalProperties": false,
            "properties": properties,
        });
        Schema::try_from(schema).expect("an object is a schema")
    }
}
