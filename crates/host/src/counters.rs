//! Counters of host requests.

use serde::{Deserialize, Serialize};

/// Requests, bytes and pages, by device or in total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCounters {
    /// Read requests.
    pub read_requests: u64,
    /// Write requests.
    pub write_requests: u64,
    /// TRIM requests.
    pub trim_requests: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Bytes trimmed.
    pub trim_bytes: u64,
    /// Pages touched by reads, in part or whole.
    pub page_reads: u64,
    /// Pages touched by writes, in part or whole.
    pub page_writes: u64,
}

impl HostCounters {
    /// Adds the counts of another one.
    pub fn add(&mut self, other: &Self) {
        self.read_requests += other.read_requests;
        self.write_requests += other.write_requests;
        self.trim_requests += other.trim_requests;
        self.read_bytes += other.read_bytes;
        self.write_bytes += other.write_bytes;
        self.trim_bytes += other.trim_bytes;
        self.page_reads += other.page_reads;
        self.page_writes += other.page_writes;
    }

    /// Returns the number of all requests.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.read_requests + self.write_requests + self.trim_requests
    }
}
