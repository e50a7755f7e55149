//! The table `[ftl.separate]`. Parameters are numbers whose names, ranges and defaults stand with their policies; the
//! table of [`raw::Separate`] only names them all.

use crate::layers::Layers;
use crate::raw;
use crate::tables::known;
use floatgate_base::Result;
use floatgate_base::policy::Number;
use floatgate_ftl::separate::{Given, POLICIES, Separate};
use serde_json::{Map, Value};

/// The separator with its parameters, and what the resolved experiment says.
pub(crate) fn resolve(layers: &Layers, given: Option<raw::Separate>) -> Result<(Separate, raw::Separate)> {
    let given = given.unwrap_or_default();
    let name = given.policy.clone().unwrap_or_else(|| "none".into());
    known(layers, "ftl.separate.policy", "separator", &name, POLICIES)?;
    let info = POLICIES.iter().find(|info| info.name == name).expect("it is known");
    let given = keys_of(&given);
    let section = layers.section("ftl.separate");
    let foreign = given.keys().find(|key| info.params.iter().all(|param| param.name != *key));
    if let Some(key) = foreign {
        let owners = POLICIES.iter().filter(|info| info.params.iter().any(|param| param.name == *key));
        let owners: Vec<_> = owners.map(|info| info.name).collect();
        let expected = format!("expected it with {} only", owners.join(", "));
        return Err(section.error(key, format!("{key} is no parameter of {name}"), expected));
    }
    let mut resolved = Map::from_iter([("policy".into(), name.clone().into())]);
    let mut values = Vec::with_capacity(info.params.len());
    for param in info.params {
        let number = param.number.expect("parameters of separators are numbers");
        let value = given.get(param.name).and_then(Value::as_f64).unwrap_or(number.default);
        if !(number.least..=number.most).contains(&value) {
            let kind = if number.whole { "a whole number" } else { "a number" };
            let expected = format!("expected {kind} from {} to {}", number.least, number.most);
            return Err(section.error(param.name, format!("{} is {value}", param.name), expected));
        }
        resolved.insert(param.name.into(), json_of(number, value));
        values.push(value);
    }
    let separate = Separate::of(&name, &Given::new(info, &values)).expect("what is in the table can be made");
    Ok((separate, serde_json::from_value(resolved.into()).expect("parameters are keys of the table")))
}

/// The parameters that are set.
fn keys_of(given: &raw::Separate) -> Map<String, Value> {
    let Ok(Value::Object(mut keys)) = serde_json::to_value(given) else { return Map::new() };
    keys.retain(|key, value| key != "policy" && !value.is_null());
    keys
}

fn json_of(number: Number, value: f64) -> Value {
    if number.whole { Value::from(value as u64) } else { Value::from(value) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::ParamInfo;

    /// Every parameter of a separator is a key of the table, and no key is left over.
    #[test]
    fn the_table_names_the_parameters_of_all_separators() {
        let schema = serde_json::to_value(schemars::schema_for!(raw::Separate)).unwrap();
        let mut keys: Vec<String> = schema["properties"].as_object().unwrap().keys().cloned().collect();
        keys.retain(|key| key != "policy");
        let params = POLICIES.iter().flat_map(|info| info.params);
        let mut names: Vec<String> = params.clone().map(|param| param.name.to_string()).collect();
        names.sort_unstable();
        names.dedup();
        keys.sort_unstable();
        assert_eq!(keys, names);
        let sound = |param: &ParamInfo| {
            param.number.is_some_and(|n| (n.least..=n.most).contains(&n.default) && n.least < n.most)
        };
        params.for_each(|param| assert!(sound(param), "{}", param.name));
    }
}
