//! The JSON schema of the experiment file, for editors.

use crate::settings::Experiment;
use crate::twins::TWINS;
use serde_json::Value;

/// Returns the schema: each key with its type, its range and its meaning.
#[must_use]
pub fn schema() -> Value {
    let mut root = serde_json::to_value(schemars::schema_for!(Experiment)).expect("a schema is JSON");
    // A path is valid, too: the names are examples.
    let twins: Vec<&str> = TWINS.iter().map(|t| t.name).collect();
    root["$defs"]["Workload"]["properties"]["twin"]["examples"] = twins.into();
    root
}
