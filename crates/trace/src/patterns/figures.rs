//! The patterns of a trace, as they are handed out.

use super::addresses::AddressFigures;
use super::course::Course;
use super::strongest::Strong;
use crate::slice::SliceReport;
use serde::Serialize;

/// Patterns of a trace; the fields are those of the JSON of `floatgate trace patterns`. Shares and means are null where
/// there is nothing to share.
#[derive(Clone, Debug, Serialize)]
pub struct PatternsInfo {
    /// Name of the format.
    pub format: String,
    /// Accepted requests.
    pub requests: u64,
    /// Requests that read.
    pub reads: u64,
    /// Requests that write.
    pub writes: u64,
    /// Requests that trim.
    pub trims: u64,
    /// Windows, with the last one if it is shorter.
    pub windows: u64,
    /// Patterns of all windows: one that is found in two windows counts twice.
    pub patterns: u64,
    /// Mean number of patterns of a window.
    pub patterns_per_window: Option<f64>,
    /// Mean number of addresses of a pattern.
    pub pattern_size_mean: Option<f64>,
    /// Share of the start addresses written that are in a pattern of any window.
    pub address_share: Option<f64>,
    /// Share of the write requests whose start address is in a pattern of their window.
    pub write_share: Option<f64>,
    /// Windows with any pattern.
    pub windows_with_patterns: u64,
    /// Mean number of transactions of a pattern.
    pub support_mean: Option<f64>,
    /// Write requests that were mined.
    pub writes_mined: u64,
    /// Write requests whose start address is in a pattern of their window.
    pub writes_in_patterns: u64,
    /// Patterns by their number of addresses.
    pub sizes: SizeCounts,
    /// Patterns over the trace.
    pub course: Course,
    /// How often addresses are accessed, and which are in patterns.
    pub addresses: AddressFigures,
    /// The sets with the largest support times size in any window, each once.
    pub strongest: Vec<Strong>,
    /// Stamps smaller than the one before.
    pub stamps_backwards: u64,
    /// Where the first of them is: a line, a byte, a row or a request; null without any.
    pub stamps_backwards_first: Option<String>,
    /// By how many seconds a stamp lies before the one before it, at most; null without any.
    pub stamps_backwards_s_max: Option<f64>,
    /// Lines left out because they could not be understood.
    pub bad_lines_skipped: u64,
    /// The first of them with its message.
    pub first_bad_line: Option<String>,
    /// What looks wrong without being an error.
    pub suspicions: Vec<String>,
    /// What the reader took for granted.
    pub assumed: Vec<String>,
    /// blake3 of the decompressed content.
    pub content_hash: Option<String>,
    /// What a slice has kept and left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slice: Option<SliceReport>,
}

/// Patterns by size.
#[derive(Clone, Debug, Serialize)]
pub struct SizeCounts {
    /// Addresses of a pattern, ascending.
    pub size: Vec<u64>,
    /// Patterns of all windows that have so many.
    pub patterns: Vec<u64>,
}
