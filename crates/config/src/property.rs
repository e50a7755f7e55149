//! A key of an experiment in the JSON schema.

use floatgate_base::ParamInfo;
use floatgate_base::policy::{Acts, ParamKind, Range};
use serde_json::{Map, Value, json};

/// An example of a size.
pub(crate) const SIZE: &str = "a size such as \"4 KiB\"";

/// Returns whether a key takes sizes beside whole numbers of bytes: its name ends with the unit.
pub(crate) fn takes_sizes(row: &ParamInfo) -> bool {
    matches!(row.kind, ParamKind::Whole { .. }) && row.name.ends_with("_bytes")
}

/// Returns whether a key that takes a size in quotes takes a whole number of bytes, too.
pub(crate) fn takes_bytes(row: &ParamInfo) -> bool {
    matches!(row.kind, ParamKind::Text(words) if words.starts_with("a size such as "))
}

/// Describes what a key takes, with an example behind its range.
pub(crate) fn range_words(row: &ParamInfo, example: &str) -> String {
    let range = row.range_words() + example;
    if takes_sizes(row) { format!("{range}, or {SIZE}") } else { range }
}

/// Describes in which mode and with which other keys a key acts, as the end of its description.
fn condition_words(param: &ParamInfo) -> String {
    let mode = match param.acts {
        Acts::Always => String::new(),
        Acts::Timed => "; in timed mode".into(),
        Acts::Functional => "; in functional mode".into(),
    };
    let need = param.need.map_or_else(String::new, |need| {
        let names: Vec<_> = need.values.iter().map(|name| format!("\"{name}\"")).collect();
        format!("; with {} = {}", need.key, names.join(" or "))
    });
    mode + &need
}

/// Describes a parameter in the schema, with the range of the first of several policies that share its name.
/// `open` is the schema of a key whose values its row does not describe.
pub(crate) fn property(param: &ParamInfo, owners: &[&str], open: Option<Value>) -> Value {
    let whose = if owners.is_empty() { String::new() } else { format!("{}: ", owners.join(", ")) };
    let described = format!("{whose}{}{}.", param.described(), condition_words(param));
    let mut shown = json!({ "description": described });
    let bounded = owners.len() < 2;
    match param.kind {
        ParamKind::Whole { least, most } => {
            shown["type"] = if takes_sizes(param) { json!(["integer", "string"]) } else { "integer".into() };
            if bounded {
                shown["minimum"] = least.into();
                shown["maximum"] = most.into();
            }
        }
        ParamKind::Number(range) => number(&mut shown, bounded.then_some(range)),
        ParamKind::Flag => shown["type"] = "boolean".into(),
        ParamKind::Name(names) => {
            shown["type"] = "string".into();
            shown["enum"] = names.iter().map(|(name, _)| *name).collect();
        }
        ParamKind::Listed(names) => {
            shown["type"] = "string".into();
            shown["enum"] = names().into();
        }
        ParamKind::Text(_) if takes_bytes(param) => shown["type"] = json!(["string", "integer"]),
        ParamKind::Text(_) => shown["type"] = "string".into(),
        ParamKind::Order(names) => {
            list(&mut shown, json!({ "type": "string", "enum": names }), names.len());
            shown["minItems"] = names.len().into();
        }
        ParamKind::Other(_) => {
            let Some(Value::Object(open)) = open else { return shown };
            shown.as_object_mut().expect("an object").extend(open);
            shown["description"] = described.into();
        }
        ParamKind::Numbers { range, most } => {
            let mut item = json!({});
            number(&mut item, bounded.then_some(range));
            list(&mut shown, item, most);
        }
        ParamKind::Rows { columns, most } => {
            let column = |&(name, range): &(&str, Range)| {
                let mut value = json!({});
                number(&mut value, bounded.then_some(range));
                (name.to_string(), value)
            };
            let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
            let item = json!({
                "type": "object",
                "additionalProperties": false,
                "required": names,
                "properties": columns.iter().map(column).collect::<Map<_, _>>(),
            });
            list(&mut shown, item, most);
        }
    }
    shown
}

/// Describes a number, with its range if there is one.
fn number(shown: &mut Value, range: Option<Range>) {
    shown["type"] = "number".into();
    let Some(range) = range else { return };
    shown[if range.above_least { "exclusiveMinimum" } else { "minimum" }] = range.least.into();
    if range.most.is_finite() {
        shown[if range.below_most { "exclusiveMaximum" } else { "maximum" }] = range.most.into();
    }
}

/// Describes a list of one to `most` items.
fn list(shown: &mut Value, item: Value, most: usize) {
    shown["type"] = "array".into();
    shown["items"] = item;
    shown["minItems"] = 1.into();
    shown["maxItems"] = most.into();
}
