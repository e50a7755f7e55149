//! Begin and end of a workload by the bytes that it has written (`workload.start_after`,
//! `workload.stop_after`).

use crate::layers::Layers;
use crate::settings;
use floatgate_base::{Result, units::parse_bytes};
use floatgate_trace::Until;

const KEY: &str = "workload.stop_after";

/// The key of the begin.
const BEGIN: &str = "workload.start_after";

/// The part of a workload that is served, by bytes written.
pub(crate) struct Part {
    /// The sizes as written: begin and end.
    pub sizes: (Option<String>, String),
    /// Bytes written before it begins, and by it.
    pub passed_bytes: u64,
    pub written_bytes: u64,
}

impl Part {
    /// Returns the bytes written when it ends.
    pub fn end_bytes(&self) -> u64 {
        self.passed_bytes.saturating_add(self.written_bytes)
    }

    /// Converts the part for the source of requests, with the warm-up, whether the workload repeats, and
    /// whether its content is new each time.
    pub fn until(
        self,
        raw: &mut settings::Workload,
        (warmup_requests, again, renews_content): (u64, bool, bool),
    ) -> Until {
        (raw.start_after, raw.stop_after) = (self.sizes.0, Some(self.sizes.1));
        let Self { passed_bytes, written_bytes, .. } = self;
        Until { passed_bytes, written_bytes, warmup_requests, again, renews_content }
    }
}

/// Takes the keys out of the table, with their sizes in bytes; none if the workload ends by itself.
pub(crate) fn take(layers: &Layers, table: &mut settings::Workload) -> Result<Option<Part>> {
    let begin = table.start_after.take();
    let Some(end) = table.stop_after.take() else {
        if begin.is_some() {
            let what = "start_after without stop_after";
            return Err(layers.error(BEGIN, what, "expected stop_after beside it, such as \"5 GiB\""));
        }
        return Ok(None);
    };
    let bytes = |key: &str, text: &str| {
        parse_bytes(text).map_err(|e| layers.error(key, e, "expected a size such as \"5 GiB\""))
    };
    let written_bytes = bytes(KEY, &end)?;
    if written_bytes == 0 {
        let expected = "expected a size such as \"5 GiB\", or no such key";
        return Err(layers.error(KEY, format!("'{end}' is nothing"), expected));
    }
    let passed_bytes = begin.as_deref().map_or(Ok(0), |text| bytes(BEGIN, text))?;
    Ok(Some(Part { sizes: (begin, end), passed_bytes, written_bytes }))
}

/// Returns more requests of a generator than writing `bytes` takes.
pub(crate) fn requests(layers: &Layers, bytes: u64, mean_bytes: f64, write_share: f64) -> Result<u64> {
    if write_share <= 0.0 {
        return Err(layers.error(
            KEY,
            "the workload writes nothing",
            "expected one that writes, or no such key",
        ));
    }
    // Twice the mean, and a margin for few requests.
    Ok((2.0 * bytes as f64 / (mean_bytes * write_share)).ceil() as u64 + 1_000_000)
}
