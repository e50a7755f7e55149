//! Requests travel in batches of columns, never as one object each.

use crate::label::Label;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum Op {
    /// Read `bytes` from `offset`.
    Read = 0,
    /// Write `bytes` to `offset`.
    Write = 1,
    /// The host no longer needs these bytes (TRIM, discard, deallocate).
    Trim = 2,
}

/// Content of the pages of a batch's requests: one list of entries per request, concatenated.
///
/// Entry `k` of a request describes its bytes from `offset + 4096 k`, at most 4096 of them. A request of unknown
/// content has no entries; where only a part is unknown, the entries of that part are zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentColumns {
    /// End of each request's entries; they begin where those of the previous request end.
    pub end: Vec<usize>,
    /// Equal for equal content; 0 if unknown.
    pub fingerprint: Vec<u64>,
    /// Bytes after compression, at most 4096; 0 if unknown.
    pub compressed_bytes: Vec<u16>,
}

impl ContentColumns {
    /// Returns the indices of the entries of request `i` in the columns.
    #[inline]
    #[must_use]
    pub fn range(&self, i: usize) -> std::ops::Range<usize> {
        let from = if i == 0 { 0 } else { self.end[i - 1] };
        from..self.end[i]
    }

    /// Appends an entry to the request that the next [`ContentColumns::close`] ends.
    #[inline]
    pub fn push(&mut self, fingerprint: u64, compressed_bytes: u16) {
        self.fingerprint.push(fingerprint);
        self.compressed_bytes.push(compressed_bytes);
    }

    /// Ends the entries of one request.
    #[inline]
    pub fn close(&mut self) {
        self.end.push(self.fingerprint.len());
    }

    fn clear(&mut self) {
        self.end.clear();
        self.fingerprint.clear();
        self.compressed_bytes.clear();
    }
}

/// Attributes of a request beside its operation (bits of [`RequestBatch::flags`]).
pub mod flags {
    /// A write that completes only when its data are on flash (forced unit access).
    pub const FUA: u8 = 1;
    /// A request that completes only when everything written before it is on flash.
    pub const FLUSH: u8 = 2;
}

/// Which optional columns a source fills.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OptionalColumns {
    /// Program contexts.
    pub context: bool,
    /// Streams or placement handles assigned by the host.
    pub stream: bool,
    /// Whether these are numbers of processes, for want of streams.
    pub stream_is_process: bool,
    /// Predicted lifetimes of data.
    pub predicted_life: bool,
    /// Fingerprints and compressed sizes.
    pub content: bool,
    /// FUA and FLUSH.
    pub flags: bool,
}

/// A batch of requests in order of arrival. All columns have the same length; an optional column that the source does
/// not fill is empty.
#[derive(Clone, Debug, Default)]
pub struct RequestBatch {
    /// Arrival in nanoseconds since the first request of the trace; may decrease.
    pub time_ns: Vec<i64>,
    /// Index into the source's table of devices.
    pub device: Vec<u16>,
    /// Kind of request.
    pub op: Vec<Op>,
    /// First byte addressed.
    pub offset: Vec<u64>,
    /// Bytes addressed; never 0.
    pub bytes: Vec<u64>,
    /// Optional: the program context of the write, an index into the source's table of contexts; 0 for no context.
    pub context: Vec<u32>,
    /// Optional: the stream or placement handle assigned by the host.
    pub stream: Vec<u32>,
    /// Optional: predicted lifetime of the data in host page writes; 0 for no prediction.
    pub predicted_life: Vec<u32>,
    /// Optional: the content of the pages.
    pub content: ContentColumns,
    /// Optional: bits of [`flags`].
    pub flags: Vec<u8>,
    /// Optional, filled by the dispatcher only: the label of the request.
    pub label: Vec<Label>,
}

impl RequestBatch {
    /// Default number of requests per batch of a source.
    pub const DEFAULT_LEN: usize = 4096;

    /// Creates an empty batch with room for `n` requests.
    #[must_use]
    pub fn with_capacity(n: usize) -> Self {
        Self {
            time_ns: Vec::with_capacity(n),
            device: Vec::with_capacity(n),
            op: Vec::with_capacity(n),
            offset: Vec::with_capacity(n),
            bytes: Vec::with_capacity(n),
            ..Self::default()
        }
    }

    /// Returns the number of requests.
    #[must_use]
    pub fn len(&self) -> usize {
        self.op.len()
    }

    /// Returns whether the batch is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.op.is_empty()
    }

    /// Removes all requests and keeps the memory.
    pub fn clear(&mut self) {
        self.time_ns.clear();
        self.device.clear();
        self.op.clear();
        self.offset.clear();
        self.bytes.clear();
        self.context.clear();
        self.stream.clear();
        self.predicted_life.clear();
        self.content.clear();
        self.flags.clear();
        self.label.clear();
    }

    /// Returns the flags of request `i`; 0 for a batch without flags.
    #[inline]
    #[must_use]
    pub fn flags_of(&self, i: usize) -> u8 {
        self.flags.get(i).copied().unwrap_or(0)
    }

    /// Appends a request; a source with optional columns appends to each of these, too.
    #[inline]
    pub fn push(&mut self, time_ns: i64, device: u16, op: Op, offset: u64, bytes: u64) {
        self.time_ns.push(time_ns);
        self.device.push(device);
        self.op.push(op);
        self.offset.push(offset);
        self.bytes.push(bytes);
    }

    /// Appends request `i` of another batch from the same source, with another time stamp.
    #[inline]
    pub fn push_of(&mut self, from: &Self, i: usize, time_ns: i64) {
        self.push(time_ns, from.device[i], from.op[i], from.offset[i], from.bytes[i]);
        self.context.extend(from.context.get(i));
        self.stream.extend(from.stream.get(i));
        self.predicted_life.extend(from.predicted_life.get(i));
        self.flags.extend(from.flags.get(i));
        if !from.content.end.is_empty() {
            let entries = from.content.range(i);
            self.content.fingerprint.extend_from_slice(&from.content.fingerprint[entries.clone()]);
            self.content.compressed_bytes.extend_from_slice(&from.content.compressed_bytes[entries]);
            self.content.close();
        }
    }

    /// Appends requests of another batch from the same source.
    pub fn extend_of(&mut self, from: &Self, requests: Range<usize>) {
        /// Optional columns without values stay empty.
        fn copy<T: Copy>(to: &mut Vec<T>, from: &[T], requests: &Range<usize>) {
            to.extend_from_slice(from.get(requests.clone()).unwrap_or_default());
        }
        copy(&mut self.time_ns, &from.time_ns, &requests);
        copy(&mut self.device, &from.device, &requests);
        copy(&mut self.op, &from.op, &requests);
        copy(&mut self.offset, &from.offset, &requests);
        copy(&mut self.bytes, &from.bytes, &requests);
        copy(&mut self.context, &from.context, &requests);
        copy(&mut self.stream, &from.stream, &requests);
        copy(&mut self.predicted_life, &from.predicted_life, &requests);
        copy(&mut self.flags, &from.flags, &requests);
        copy(&mut self.label, &from.label, &requests);
        if !from.content.end.is_empty() {
            for i in requests {
                let entries = from.content.range(i);
                self.content.fingerprint.extend_from_slice(&from.content.fingerprint[entries.clone()]);
                self.content.compressed_bytes.extend_from_slice(&from.content.compressed_bytes[entries]);
                self.content.close();
            }
        }
    }

    /// Counts the bytes of memory that the requests occupy.
    #[must_use]
    pub fn bytes_in_memory(&self) -> usize {
        let Self {
            time_ns,
            device,
            op,
            offset,
            bytes,
            context,
            stream,
            predicted_life,
            content: ContentColumns { end, fingerprint, compressed_bytes },
            flags,
            label,
        } = self;
        size_of_val(&time_ns[..])
            + size_of_val(&device[..])
            + size_of_val(&op[..])
            + size_of_val(&offset[..])
            + size_of_val(&bytes[..])
            + size_of_val(&context[..])
            + size_of_val(&stream[..])
            + size_of_val(&predicted_life[..])
            + size_of_val(&end[..])
            + size_of_val(&fingerprint[..])
            + size_of_val(&compressed_bytes[..])
            + size_of_val(&flags[..])
            + size_of_val(&label[..])
    }
}
