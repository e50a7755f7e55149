//! Where a workload ends by what it has written (`workload.stop_after`).

use crate::layers::Layers;
use crate::raw;
use floatgate_base::{Result, units::parse_bytes};

const KEY: &str = "workload.stop_after";

/// Takes out the key, with the bytes of writes that it means.
pub(crate) fn take(layers: &Layers, given: &mut raw::Workload) -> Result<(Option<String>, Option<u64>)> {
    let Some(text) = given.stop_after.take() else { return Ok((None, None)) };
    let bytes = parse_bytes(&text).map_err(|e| layers.error(KEY, e, "expected a size such as \"5 GiB\""))?;
    if bytes == 0 {
        let expected = "expected a size such as \"5 GiB\", or no such key";
        return Err(layers.error(KEY, format!("'{text}' is nothing"), expected));
    }
    Ok((Some(text), Some(bytes)))
}

/// More requests of a generator than it takes to write so much.
pub(crate) fn requests(layers: &Layers, bytes: u64, mean_bytes: f64, write_share: f64) -> Result<u64> {
    if write_share <= 0.0 {
        return Err(layers.error(
            KEY,
            "the workload writes nothing",
            "expected one that writes, or no such key",
        ));
    }
    // Twice the mean, and enough for the chance of few requests.
    Ok((2.0 * bytes as f64 / (mean_bytes * write_share)).ceil() as u64 + 1_000_000)
}
