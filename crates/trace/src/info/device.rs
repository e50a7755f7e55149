//! The counts of one device.

use serde::Serialize;

/// Statistics of one device of a trace.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DeviceInfo {
    /// Name in the trace.
    pub name: String,
    /// Accepted requests.
    pub requests: u64,
    /// Requests that read.
    pub reads: u64,
    /// Requests that write.
    pub writes: u64,
    /// Requests that trim.
    pub trims: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Bytes trimmed.
    pub trim_bytes: u64,
    /// Distinct 4 KiB pages written.
    pub pages_written_distinct: u64,
    /// Distinct 4 KiB pages read.
    pub pages_read_distinct: u64,
    /// Distinct 4 KiB pages read or written, in bytes.
    pub footprint_bytes: u64,
    /// End of the last byte addressed: a drive must be at least this large.
    pub end_bytes: u64,
}
