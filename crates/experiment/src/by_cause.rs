//! Metrics by cause of operations.

use floatgate_flash::Cause;
use serde_json::{Map, Value};

/// Builds a flat map from causes to values with the total at the end.
pub(crate) fn by_cause<T: Copy + Into<Value>>(
    causes: &[Cause],
    figure: impl Fn(Cause) -> T,
    total: T,
) -> Value {
    let mut map: Map<String, Value> =
        causes.iter().map(|&c| (c.name().to_string(), figure(c).into())).collect();
    map.insert("total".into(), total.into());
    map.into()
}
