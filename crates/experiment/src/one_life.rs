//! One life without a drive; a throttle from outside may make it fail.

use floatgate_base::{Error, Result};
use floatgate_lifetime::life::{Life, Outcome};

/// Simulates a life.
///
/// # Errors
/// Those of `tick`, and the fault of a throttle from outside.
pub(crate) fn lived(life: &Life<'_>, tick: &mut dyn FnMut(f64) -> Result<()>) -> Result<Outcome> {
    let outcome = life.run(tick)?;
    match outcome.policy_fault {
        None => Ok(outcome),
        Some(fault) => Err(Error::run(fault, "expected a policy that keeps to its contract")),
    }
}
