//! The report on a written trace.

use floatgate_base::RequestBatch;
use serde::Serialize;

/// Requests written, and properties that the format could not represent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WriteReport {
    /// Requests written.
    pub requests: u64,
    /// TRIMs left out because the format has none.
    pub trims_left_out: u64,
    /// Requests widened to whole sectors.
    pub widened: u64,
    /// Stamps before the first one, written as the first one because the format has no sign.
    pub stamps_clamped: u64,
    /// Stamps rounded down to the format's unit.
    pub stamps_rounded: u64,
    /// Requests whose stamps were left out because the format has none.
    pub stamps_left_out: u64,
    /// Requests with stamp 0 because the format requires one and the source has none.
    pub stamps_made_up: u64,
    /// Devices that get another name, because the format cannot represent theirs.
    pub devices_renamed: u64,
    /// Requests of the source whose program context was left out.
    pub contexts_left_out: u64,
    /// Requests of the source whose stream, other than 0, was left out.
    pub streams_left_out: u64,
    /// Requests of the source whose predicted life, other than 0, was left out.
    pub predicted_lives_left_out: u64,
    /// Requests of the source whose pages' content was left out.
    pub contents_left_out: u64,
}

impl WriteReport {
    /// Counts values of the optional columns, which no text format has, except streams that stand for processes.
    pub(super) fn note_columns(&mut self, batch: &RequestBatch, has_processes: bool) {
        let count = |column: &[u32]| column.iter().filter(|v| **v != 0).count() as u64;
        self.contexts_left_out += count(&batch.context);
        self.streams_left_out += if has_processes { 0 } else { count(&batch.stream) };
        self.predicted_lives_left_out += count(&batch.predicted_life);
        let content = &batch.content;
        let known = (0..content.end.len()).filter(|&i| !content.range(i).is_empty());
        self.contents_left_out += known.count() as u64;
    }

    /// Converts a stamp to units of `unit_ns` without sign.
    pub(super) fn unsigned_time(&mut self, time_ns: i64, unit_ns: u64) -> u64 {
        let ns = u64::try_from(time_ns).unwrap_or_else(|_| {
            self.stamps_clamped += 1;
            0
        });
        self.stamps_rounded += u64::from(ns % unit_ns != 0);
        ns / unit_ns
    }
}
