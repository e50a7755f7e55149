//! The JSON schemas of `result.json` and of `lifetime.json`, from the rows.

use super::{Document, Kind, NamedMetric, metrics};
use serde_json::{Map, Value, json};

/// Builds the schema of a document of a version of the layout; its settings have a separate schema.
#[must_use]
pub fn schema(document: Document, layout: &str) -> Value {
    let mut root = Table::default();
    for metric in metrics(document) {
        root.add(&metric.key, &metric);
    }
    root.known.push("config".into());
    root.properties.insert(
        "config".into(),
        json!({ "type": "object", "description": "the resolved experiment (floatgate schema experiment)" }),
    );
    // The name of the layout decides whether two documents can be read alike.
    root.properties
        .insert("schema".into(), json!({ "const": layout, "description": "name and version of the layout" }));
    let mut schema = root.schema(false);
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = match document {
        Document::Result => "A result of floatgate",
        Document::Forecast => "A forecast of floatgate",
    }
    .into();
    schema
}

/// Properties of an object, those always present, and tables below it.
#[derive(Default)]
struct Table {
    properties: Map<String, Value>,
    known: Vec<String>,
    tables: Vec<(String, Self)>,
    /// The schema of any other name.
    others: Option<Value>,
    about: &'static str,
    /// Whether it may be null.
    nullable: bool,
    /// Whether every result has it.
    always: bool,
}

impl Table {
    fn add(&mut self, key: &str, metric: &NamedMetric) {
        let (group, row) = metric.of;
        let Some((name, rest)) = key.split_once('.') else {
            let value = leaf(metric);
            if key == "*" {
                self.others = Some(value);
            } else {
                self.known.extend((!row.nullable && !metric.optional).then(|| key.to_string()));
                self.properties.insert(key.into(), value);
            }
            return;
        };
        let at = self.tables.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            self.tables.push((name.to_string(), Self { nullable: true, ..Self::default() }));
            self.tables.len() - 1
        });
        let table = &mut self.tables[at].1;
        if group.key == name {
            table.about = group.about;
            table.always = group.when.is_empty();
            table.nullable = !table.always;
        }
        table.add(rest, metric);
    }

    fn schema(self, nullable: bool) -> Value {
        let (mut properties, mut required) = (self.properties, self.known);
        for (name, table) in self.tables {
            let (name, listed) = name.strip_suffix("[]").map_or((name.as_str(), false), |name| (name, true));
            let (about, nullable) = (table.about, table.nullable);
            required.extend(table.always.then(|| name.to_string()));
            let mut one = table.schema(nullable && !listed);
            if listed {
                one = json!({ "type": ["array", "null"], "items": one });
            } else if !about.is_empty() {
                one["description"] = about.into();
            }
            properties.insert(name.into(), one);
        }
        json!({
            "type": if nullable { json!(["object", "null"]) } else { json!("object") },
            "properties": properties,
            "required": required,
            "additionalProperties": self.others.unwrap_or_else(|| false.into()),
        })
    }
}

fn leaf(metric: &NamedMetric) -> Value {
    let row = metric.of.1;
    let numbers = json!({ "type": "array", "items": { "type": "number" } });
    let mut value = match row.kind {
        Kind::Count => json!({ "type": "integer", "minimum": 0 }),
        Kind::Number => json!({ "type": "number" }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Text => json!({ "type": "string" }),
        Kind::Interval => {
            json!({ "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 })
        }
        Kind::Numbers => numbers,
        Kind::Gaps => json!({ "type": "array", "items": { "type": ["number", "null"] } }),
        Kind::Pairs => json!({ "type": "array", "items": numbers }),
        Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Kind::Histogram => json!({
            "type": "object",
            "properties": { "from": { "type": "integer" }, "width": { "type": "integer" } },
            "required": ["from", "width"],
            "additionalProperties": numbers,
        }),
    };
    if row.nullable {
        value["type"] = json!([value["type"], "null"]);
    }
    value["description"] = row.meaning.into();
    if !row.unit.is_empty() {
        value["x-unit"] = row.unit.into();
    }
    value
}
