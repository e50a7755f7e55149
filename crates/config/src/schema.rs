//! The JSON schema of the experiment file, for editors.

use crate::presets::PRESETS;
use crate::raw::Experiment;
use crate::resolve_workload::KINDS;
use crate::twins::TWINS;
use floatgate_ftl::pool::FREE_CHOICES;
use floatgate_ftl::setup::UNWRITTEN_READS;
use floatgate_host::placement::{BEYOND, DEVICES};
use floatgate_host::queues::QUEUE_OF;
use floatgate_sim::plan::{AUTO_FILLS, PRECONDITIONS};
use floatgate_trace::Pattern;
use floatgate_trace::generate::micro::MICROS;
use serde_json::Value;

/// The schema, with the names that each key takes.
#[must_use]
pub fn schema() -> Value {
    let mut root = serde_json::to_value(schemars::schema_for!(Experiment)).expect("a schema is JSON");
    let names =
        |table: &[(&str, &str)]| table.iter().map(|(name, _)| (*name).to_string()).collect::<Vec<_>>();
    limit(&mut root, "Drive", "preset", PRESETS.iter().map(|p| p.name.to_string()).collect());
    limit(&mut root, "Ftl", "precondition", names(PRECONDITIONS));
    limit(&mut root, "Ftl", "auto_fill", names(AUTO_FILLS));
    limit(&mut root, "Ftl", "free_block", names(FREE_CHOICES));
    limit(&mut root, "Ftl", "unwritten_reads", names(UNWRITTEN_READS));
    limit(&mut root, "Host", "queue_of", names(QUEUE_OF));
    limit(&mut root, "Workload", "kind", names(KINDS));
    let patterns = Pattern::NAMES.iter().map(|(name, _)| (*name).to_string()).collect();
    limit(&mut root, "Workload", "pattern", patterns);
    limit(&mut root, "Workload", "micro", MICROS.iter().map(|m| m.name.to_string()).collect());
    // A path will do as well, so the names are examples.
    let twins: Vec<&str> = TWINS.iter().map(|t| t.name).collect();
    root["$defs"]["Workload"]["properties"]["twin"]["examples"] = twins.into();
    limit(&mut root, "Workload", "devices", names(DEVICES));
    limit(&mut root, "Workload", "beyond", names(BEYOND));
    limit(
        &mut root,
        "Workload",
        "format",
        floatgate_trace::FORMATS.iter().map(|f| f.name.to_string()).collect(),
    );
    root
}

/// Restricts a key of a definition to names.
fn limit(root: &mut Value, definition: &str, key: &str, names: Vec<String>) {
    root["$defs"][definition]["properties"][key]["enum"] = names.into();
}
