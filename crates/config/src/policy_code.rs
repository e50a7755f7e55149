//! `policy_code` of an experiment: the policies from outside that it uses, each with the hash of its file, must be loaded
//! before the rest is read.

use crate::toml_errors::line_of;
use floatgate_base::{Error, Result};
use floatgate_plugin::is_loaded;
use toml::de::DeTable;

/// The key.
pub(crate) const KEY: &str = "policy_code";

/// Refuses an experiment whose policies are not loaded, before its other keys are read: their parameters are unknown
/// without them.
///
/// # Errors
/// Names the first policy that is missing, or that has changed.
pub(crate) fn must_be_loaded(table: &DeTable<'_>, text: &str, path: &str) -> Result<()> {
    let entries = table.get(KEY).and_then(|value| value.get_ref().as_array());
    for entry in entries.into_iter().flatten() {
        let Some(code) = entry.get_ref().as_str().filter(|code| !is_loaded(code)) else { continue };
        let (name, hash) = code.split_once(' ').unwrap_or((code, ""));
        let hash: String = hash.chars().take(12).collect();
        let what = format!("its policy '{name}', with the hash {hash}..., is not loaded");
        let expected = "expected --policy with its file, of which a run folder has a copy in policies/";
        return Err(Error::input(line_of(text, entry.span().start, path), what, expected));
    }
    Ok(())
}
