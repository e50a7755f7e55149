//! The patterns of a trace, as returned to the caller.

use super::addresses::AddressFigures;
use super::course::Course;
use super::strongest::Strong;
use crate::slice::SliceReport;
use serde::Serialize;

/// Patterns of a trace; the fields are those of the JSON of `floatgate trace patterns`. Shares and means are null if
/// their denominator is 0.
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
    /// Windows, including a shorter last one.
    pub windows: u64,
    /// Patterns of all windows: one that occurs in two windows counts twice.
    pub patterns: u64,
    /// Mean number of patterns per window.
    pub patterns_per_window: Option<f64>,
    /// Mean number of addresses per pattern.
    pub pattern_size_mean: Option<f64>,
    /// Share of the start addresses written that are in a pattern of any window.
    pub address_share: Option<f64>,
    /// Share of the write requests whose start address is in a pattern of their window.
    pub write_share: Option<f64>,
    /// Windows with any pattern.
    pub windows_with_patterns: u64,
    /// Mean number of transactions per pattern.
    pub support_mean: Option<f64>,
    /// Write requests that were mined.
    pub writes_mined: u64,
    /// Write requests whose start address is in a pattern of their window.
    pub writes_in_patterns: u64,
    /// Patterns by their number of addresses.
    pub sizes: SizeCounts,
    /// Patterns over the trace.
    pub course: Course,
    /// Access counts of addresses, and membership in patterns.
    pub addresses: AddressFigures,
    /// The sets with the largest support times size in any window, each once.
    pub strongest: Vec<Strong>,
    /// Stamps smaller than the previous one.
    pub stamps_backwards: u64,
    /// Place of the first of them: a line, a byte, a row or a request; null without any.
    pub stamps_backwards_first: Option<String>,
    /// Largest step back of a stamp in seconds; null without any.
    pub stamps_backwards_s_max: Option<f64>,
    /// Skipped lines that could not be parsed.
    pub bad_lines_skipped: u64,
    /// The first of them with its message.
    pub first_bad_line: Option<String>,
    /// Suspicious findings that are not errors.
    pub suspicions: Vec<String>,
    /// Assumptions of the reader.
    pub assumed: Vec<String>,
    /// BLAKE3 hash of the decompressed content.
    pub content_hash: Option<String>,
    /// Requests kept and left out by a slice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slice: Option<SliceReport>,
}

/// Patterns by size.
#[derive(Clone, Debug, Serialize)]
pub struct SizeCounts {
    /// Addresses per pattern, ascending.
    pub size: Vec<u64>,
    /// Patterns of all windows with this number.
    pub patterns: Vec<u64>,
}
