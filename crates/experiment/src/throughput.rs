//! Requests and bytes per second of a timed run, at the host and at the flash.

use floatgate_sim::{Outcome, Plan};
use serde_json::{Value, json};

const MEGABYTE: f64 = 1e6;

/// Builds rates over the service time of the counted requests; null if nothing took time.
pub(crate) fn throughput(plan: &Plan, outcome: &Outcome) -> Value {
    let Some(span_s) = outcome.span_s.filter(|&span_s| span_s > 0.0 && outcome.latencies.is_some()) else {
        return Value::Null;
    };
    let (host, flash) = (&outcome.host, &outcome.flash);
    let per_s = |count: u64| count as f64 / span_s;
    let mb_per_s = |bytes: f64| bytes / MEGABYTE / span_s;
    let page_bytes = f64::from(plan.drive.flash_page_bytes());
    json!({
        "iops": per_s(host.read_requests + host.write_requests),
        "read_iops": per_s(host.read_requests),
        "write_iops": per_s(host.write_requests),
        "read_mb_per_s": mb_per_s(host.read_bytes as f64),
        "write_mb_per_s": mb_per_s(host.write_bytes as f64),
        "flash_read_mb_per_s": mb_per_s(flash.reads.iter().sum::<u64>() as f64 * page_bytes),
        "flash_program_mb_per_s": mb_per_s(flash.flash_programs_total() as f64 * page_bytes),
    })
}
