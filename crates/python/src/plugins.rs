//! Policies from outside: their descriptions come from Python as addresses.

use crate::errors;
use floatgate_base::{Error, Place, Slot};
use floatgate_config::slot_types::SLOTS;
use floatgate_plugin::contract::{self, Policy};
use pyo3::prelude::*;

/// Checks a policy of the contract at `address` and adds it to its slot; returns the key of the slot and its name.
/// `file` is named in messages. The memory at the address, and all that it points to, must never be freed.
#[pyfunction]
fn load_policy(address: usize, sha256: &str, file: &str) -> PyResult<(&'static str, &'static str)> {
    let slot_of = |key: &str| SLOTS.iter().copied().find(|slot| slot.key == key);
    // SAFETY: only `floatgate.plugins` calls this, with a policy that it keeps for the life of the process, or with one
    // of a shared library that is never unloaded. Loading either is trusted.
    let loaded = unsafe { floatgate_plugin::load(address as *const Policy, sha256, slot_of) };
    loaded.map(|plugin| (plugin.kind.slot(), plugin.info.name)).map_err(|refused| {
        errors::raise(&Error::input(Place::Path(file.into()), refused.what, refused.expected))
    })
}

/// Removes all policies from outside from their slots, as if none had been loaded.
#[pyfunction]
fn unload_policies() {
    Slot::remove_added();
}

/// Returns the source of the contract, of which the C header is made.
#[pyfunction]
fn policy_contract() -> &'static str {
    contract::TEXT
}

/// Adds this module's functions to `_core`.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(policy_contract, module)?)?;
    module.add_function(wrap_pyfunction!(unload_policies, module)?)?;
    module.add_function(wrap_pyfunction!(load_policy, module)?)
}
