//! Program contexts and streams: page writes and updates by context, and the intervals of updates.
//!
//! Memory: about 100 bytes per context, and up to 2 KiB for the intervals of each of the first [`MEDIANS_MAX`] contexts
//! with updates. At most [`STREAMS_MAX`] streams are distinguished.

use super::log_histogram::{bucket, lowest, quantile_bucket};
use crate::source::Context;
use floatgate_base::{Op, RequestBatch, TRACE_PAGE_BYTES};
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::cmp::Reverse;

/// Most contexts and streams in the JSON.
const LISTED_MAX: usize = 1000;
/// Most contexts with a median.
const MEDIANS_MAX: usize = 1 << 16;
const STREAMS_MAX: usize = 1 << 16;
const TOP: usize = 5;

/// Program contexts; null if the trace has none.
#[derive(Clone, Debug, Serialize)]
pub struct ContextsInfo {
    /// Contexts that write.
    pub count: u64,
    /// Page writes without a context.
    pub page_writes_without: u64,
    /// Updates attributed to contexts, as in [`ContextInfo::updates`].
    pub updates: u64,
    /// Share of these updates in the five contexts with the most; null without updates.
    pub top5_update_share: Option<f64>,
    /// Share of the pages that were followed for updates; 1 means exact.
    pub sampled_share: f64,
    /// The contexts with the most page writes, in descending order; at most 1000.
    pub list: Vec<ContextInfo>,
}

/// One program context.
#[derive(Clone, Debug, Serialize)]
pub struct ContextInfo {
    /// Its unique identifier, in decimal: it may exceed the numbers of JSON.
    pub id: String,
    /// The functions on the path, if known; otherwise empty.
    pub name: String,
    /// Requests that write.
    pub writes: u64,
    /// Page writes.
    pub page_writes: u64,
    /// Its share of all page writes.
    pub page_write_share: f64,
    /// Page writes of any context that replaced data written by this one.
    pub updates: u64,
    /// Median of the bytes written before its data were replaced, within 12.5 %; null without updates.
    pub update_interval_median_bytes: Option<u64>,
}

/// Streams assigned by the host; null if the trace has none.
#[derive(Clone, Debug, Serialize)]
pub struct StreamsInfo {
    /// Streams of writes; null if there are too many to distinguish.
    pub count: Option<u64>,
    /// The streams with the most page writes, in descending order; at most 1000.
    pub list: Vec<StreamInfo>,
}

/// One stream.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct StreamInfo {
    /// Its number.
    pub stream: u32,
    /// Requests that write.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Page writes.
    pub page_writes: u64,
    /// Its share of all page writes.
    pub page_write_share: f64,
}

#[derive(Clone, Default)]
struct Row {
    writes: u64,
    page_writes: u64,
    updates: u64,
    /// Counts by bucket, up to the highest one used.
    intervals: Vec<u32>,
}

/// Counters of one pass over the trace.
pub(crate) struct Contexts {
    rows: Vec<Row>,
    medians: usize,
    medians_max: usize,
}

impl Default for Contexts {
    fn default() -> Self {
        Self { rows: Vec::new(), medians: 0, medians_max: MEDIANS_MAX }
    }
}

/// Counts the pages of 4 KiB that a transfer touches.
pub(crate) fn pages_of(offset: u64, bytes: u64) -> u64 {
    (offset + (bytes - 1)) / TRACE_PAGE_BYTES - offset / TRACE_PAGE_BYTES + 1
}

impl Contexts {
    pub fn add(&mut self, batch: &RequestBatch) {
        let Some(&largest) = batch.context.iter().max() else { return };
        if largest as usize >= self.rows.len() {
            self.rows.resize(largest as usize + 1, Row::default());
        }
        let columns = batch.context.iter().zip(&batch.op).zip(batch.offset.iter().zip(&batch.bytes));
        for ((&context, _), (&offset, &bytes)) in columns.filter(|((_, op), _)| **op == Op::Write) {
            let row = &mut self.rows[context as usize];
            row.writes += 1;
            row.page_writes += pages_of(offset, bytes);
        }
    }

    /// Counts `n` updates of data written by `context`, after `pages` page writes.
    #[inline]
    pub fn update(&mut self, context: u32, pages: u64, n: u64) {
        let Some(row) = self.rows.get_mut(context as usize).filter(|_| context != 0) else { return };
        row.updates += n;
        if row.intervals.is_empty() {
            if self.medians == self.medians_max {
                return;
            }
            self.medians += 1;
        }
        let i = bucket(pages);
        if i >= row.intervals.len() {
            row.intervals.resize(i + 1, 0);
        }
        row.intervals[i] = row.intervals[i].saturating_add(u32::try_from(n).unwrap_or(u32::MAX));
    }

    pub fn describe(&self, names: &[Context], shift: u32) -> ContextsInfo {
        let all: u64 = self.rows.iter().map(|row| row.page_writes).sum();
        let writing = || self.rows.iter().enumerate().skip(1).filter(|(_, row)| row.writes > 0);
        let mut by_writes: Vec<usize> = writing().map(|(i, _)| i).collect();
        by_writes.sort_by_key(|&i| (Reverse(self.rows[i].page_writes), i));
        let mut updates: Vec<u64> = self.rows.iter().map(|row| row.updates).collect();
        updates.sort_unstable_by_key(|&n| Reverse(n));
        let sum: u64 = updates.iter().sum();
        let top: u64 = updates.iter().take(TOP).sum();
        let nameless = Context::default();
        let list = by_writes.iter().take(LISTED_MAX).map(|&i| {
            let (row, context) = (&self.rows[i], names.get(i).unwrap_or(&nameless));
            ContextInfo {
                id: context.id.to_string(),
                name: context.name.clone(),
                writes: row.writes,
                page_writes: row.page_writes,
                page_write_share: row.page_writes as f64 / all as f64,
                updates: row.updates,
                update_interval_median_bytes: row.median().map(|pages| pages * TRACE_PAGE_BYTES),
            }
        });
        ContextsInfo {
            count: by_writes.len() as u64,
            page_writes_without: self.rows.first().map_or(0, |row| row.page_writes),
            updates: sum,
            top5_update_share: (sum > 0).then(|| top as f64 / sum as f64),
            sampled_share: 1.0 / (1u64 << shift) as f64,
            list: list.collect(),
        }
    }
}

impl Row {
    /// Returns the median interval in page writes: the middle of its bucket.
    fn median(&self) -> Option<u64> {
        let i = quantile_bucket(self.intervals.iter().map(|&n| u64::from(n)), 0.5)?;
        Some(lowest(i) + (lowest(i + 1) - lowest(i)) / 2)
    }
}

/// Counters of streams for one pass over the trace.
#[derive(Default)]
pub(crate) struct Streams {
    rows: FxHashMap<u32, [u64; 3]>,
    page_writes: u64,
    more: bool,
}

impl Streams {
    pub fn add(&mut self, batch: &RequestBatch) {
        let columns = batch.stream.iter().zip(&batch.op).zip(batch.offset.iter().zip(&batch.bytes));
        for ((&stream, _), (&offset, &bytes)) in columns.filter(|((_, op), _)| **op == Op::Write) {
            let pages = pages_of(offset, bytes);
            self.page_writes += pages;
            if self.rows.len() == STREAMS_MAX && !self.rows.contains_key(&stream) {
                self.more = true;
                continue;
            }
            let row = self.rows.entry(stream).or_default();
            *row = [row[0] + 1, row[1] + bytes, row[2] + pages];
        }
    }

    pub fn describe(&self) -> StreamsInfo {
        let mut list: Vec<StreamInfo> = self
            .rows
            .iter()
            .map(|(&stream, &[writes, write_bytes, page_writes])| StreamInfo {
                stream,
                writes,
                write_bytes,
                page_writes,
                page_write_share: page_writes as f64 / self.page_writes as f64,
            })
            .collect();
        list.sort_unstable_by_key(|row| (Reverse(row.page_writes), row.stream));
        let count = (!self.more).then_some(list.len() as u64);
        list.truncate(LISTED_MAX);
        StreamsInfo { count, list }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(rows: &[(Op, u32, u64, u64)]) -> RequestBatch {
        let mut batch = RequestBatch::default();
        for &(op, number, offset, bytes) in rows {
            batch.push(0, 0, op, offset, bytes);
            batch.context.push(number);
            batch.stream.push(number);
        }
        batch
    }

    #[test]
    fn contexts_are_sorted_by_page_writes() {
        let mut contexts = Contexts::default();
        contexts.add(&batch(&[
            (Op::Write, 1, 0, 4096),
            (Op::Write, 2, 100, 4096),
            (Op::Read, 3, 0, 1 << 30),
            (Op::Write, 0, 0, 1),
            (Op::Write, 2, 0, 1),
        ]));
        contexts.update(1, 9, 3);
        contexts.update(1, 2, 1);
        contexts.update(0, 2, 100);
        contexts.update(9, 2, 100);
        let names = [(0, ""), (7, "main < write"), (u64::MAX, "flush")];
        let names = names.map(|(id, name)| Context { id, name: name.to_owned() });
        let info = contexts.describe(&names, 0);
        assert_eq!((info.count, info.page_writes_without, info.updates), (2, 1, 4));
        assert_eq!(info.top5_update_share, Some(1.0));
        let [first, second] = &info.list[..] else { panic!("{info:?}") };
        assert_eq!((first.id.as_str(), first.name.as_str()), ("18446744073709551615", "flush"));
        assert_eq!((first.writes, first.page_writes, first.page_write_share, first.updates), (2, 3, 0.6, 0));
        assert_eq!((second.updates, second.update_interval_median_bytes), (4, Some(9 * 4096)));
        assert_eq!(first.update_interval_median_bytes, None);
    }

    #[test]
    fn no_more_medians_than_fit() {
        let mut contexts = Contexts { medians_max: 1, ..Contexts::default() };
        contexts.add(&batch(&[(Op::Write, 1, 0, 1), (Op::Write, 2, 0, 1)]));
        contexts.update(2, 5, 1);
        contexts.update(1, 5, 1);
        contexts.update(2, 5, 1);
        let info = contexts.describe(&[], 0);
        assert_eq!((info.list[0].updates, info.list[0].update_interval_median_bytes), (1, None));
        assert_eq!((info.list[1].updates, info.list[1].update_interval_median_bytes), (2, Some(5 * 4096)));
    }

    #[test]
    fn streams_count_writes() {
        let mut streams = Streams::default();
        streams.add(&batch(&[
            (Op::Write, 7, 0, 8192),
            (Op::Read, 8, 0, 1),
            (Op::Write, 3, 0, 1),
            (Op::Trim, 7, 0, 9),
        ]));
        let info = streams.describe();
        assert_eq!(info.count, Some(2));
        assert_eq!((info.list[0].stream, info.list[0].writes, info.list[0].write_bytes), (7, 1, 8192));
        assert_eq!((info.list[1].stream, info.list[1].page_write_share), (3, 1.0 / 3.0));
    }
}
