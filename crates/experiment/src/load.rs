//! Reads an experiment, and writes it out with every default.

use floatgate_base::{Place, Result};
use floatgate_config::layers::Layers;
use floatgate_config::{Resolved, policy_sets, resolve};
use floatgate_sim::plan::Workload;
use std::path::Path;

/// Resolves and checks an experiment: the text of a file (with its path), and overrides on top.
///
/// # Errors
/// Input errors with their place.
pub fn load(text: Option<&str>, path: &str, overrides: &[(String, String)]) -> Result<Resolved> {
    let mut layers = Layers::default();
    if let Some(text) = text {
        layers.add_file(text, path)?;
    }
    let is_set = |(key, _): &&(String, String)| key == policy_sets::KEY;
    for (key, value) in overrides.iter().filter(is_set) {
        layers.add_override(key, value)?;
    }
    if let Some(names) = layers.text(policy_sets::KEY).map(str::to_string) {
        policy_sets::lay_over(&mut layers, &names)?;
    }
    for (key, value) in overrides.iter().filter(|one| !is_set(one)) {
        layers.add_override(key, value)?;
    }
    let in_file = |key| matches!(layers.place(key), Place::Line { .. });
    let (trace, snapshot) = (in_file("workload.file"), in_file("ftl.snapshot"));
    let mut resolved = resolve(layers)?;
    if let (true, Workload::Trace { path: file, .. }) = (trace, &mut resolved.plan.workload.source) {
        anchor(file, path);
    }
    if let (true, Some(file)) = (snapshot, &mut resolved.plan.ftl.snapshot) {
        anchor(file, path);
    }
    Ok(resolved)
}

/// Resolves the path of a trace or a snapshot relative to the file that names it.
fn anchor(path: &mut String, experiment_path: &str) {
    let folder = Path::new(experiment_path).parent();
    if let (Some(folder), true) = (folder, path != "-" && Path::new(&*path).is_relative()) {
        *path = folder.join(&*path).to_string_lossy().into_owned();
    }
}

pub(crate) fn absolute(path: &str) -> String {
    std::path::absolute(path).map_or_else(|_| path.to_owned(), |p| p.to_string_lossy().into_owned())
}

/// Formats the resolved experiment as TOML; absolute paths let the text work from anywhere.
#[must_use]
pub fn experiment_toml(resolved: &Resolved) -> String {
    let mut experiment = resolved.experiment.clone();
    if let (Workload::Trace { path, .. }, Some(workload)) =
        (&resolved.plan.workload.source, &mut experiment.workload)
    {
        workload.file = Some(if path == "-" { path.clone() } else { absolute(path) });
    }
    if let (Some(path), Some(ftl)) = (&resolved.plan.ftl.snapshot, &mut experiment.ftl) {
        ftl.snapshot = Some(absolute(path));
    }
    toml::to_string(&experiment).expect("an experiment is TOML")
}
