//! The common interface of trace readers and workload generators.
//!
//! A reader or a generator is a [`Source`]. A transformation of a trace is a [`Source`] around another one: `slice/`,
//! `content.rs`, `shuffle.rs`, `until.rs`, `without_reads.rs`, `amplify/`.

use crate::slice::SliceReport;
use floatgate_base::{OptionalColumns, RequestBatch, Result};
use serde::{Deserialize, Serialize};

/// The summary of a source, complete once it has been read to its end.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Lines or records skipped under `--on-bad-line skip`.
    pub bad_lines_skipped: u64,
    /// The first such line with its message, for the report.
    pub first_bad_line: Option<String>,
    /// Records that are not a read, write or TRIM (flushes, other events, headers), left out as documented.
    pub other_records: u64,
    /// Stamps smaller than the previous one.
    pub stamps_backwards: u64,
    /// Place of the first of them: `line 7`, `byte 99`. Without the name of the trace.
    pub first_backwards: Option<String>,
    /// Largest step back of a stamp, in nanoseconds.
    pub furthest_back_ns: u64,
    /// Stamps more than 30 years from the previous one: broken, or of another clock.
    pub stamp_jumps: u64,
    /// Skipped lines of a tar archive's headers and padding.
    pub tar_lines: u64,
    /// Suspicious findings that are not errors, such as a rate that suggests another unit of time.
    pub suspicions: Vec<String>,
    /// BLAKE3 hash of the decompressed content, in hex; none for generators.
    pub content_hash: Option<String>,
}

impl Summary {
    /// Returns the largest step back of a stamp in seconds; none if no stamp decreases.
    #[must_use]
    pub fn furthest_back_s(&self) -> Option<f64> {
        (self.stamps_backwards > 0).then_some(self.furthest_back_ns as f64 / 1e9)
    }
}

/// A program context: a path through a program that leads to a write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// Its unique identifier, also across recordings of the same program.
    pub id: u64,
    /// The functions on the path, if known.
    pub name: String,
}

/// Who issued the requests of a stream, where streams stand for their writers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Writer {
    /// Process.
    pub process: Option<u32>,
    /// Thread.
    pub thread: Option<u32>,
    /// File descriptor.
    pub fd: Option<i32>,
    /// File, a number of the trace's metadata.
    pub file: Option<u32>,
    /// Stream that the host assigned.
    pub stream: Option<u32>,
}

impl Writer {
    /// Names of the fields, in their order.
    pub const FIELDS: [&str; 5] = ["process", "thread", "fd", "file", "stream"];

    /// Returns the writer of which only the process is known.
    #[must_use]
    pub fn process(process: u64) -> Self {
        Self { process: u32::try_from(process).ok(), ..Self::default() }
    }
}

/// A stream of requests: a trace file or a generator.
pub trait Source: Send {
    /// Appends up to `max` requests to `batch`, fewer only at the end of the stream.
    ///
    /// # Errors
    /// Input errors with the place (path and line, or byte) that cannot be parsed.
    fn fill(&mut self, batch: &mut RequestBatch, max: usize) -> Result<()>;

    /// Restarts at the first request.
    ///
    /// # Errors
    /// When the file cannot be opened again, or is a pipe.
    fn rewind(&mut self) -> Result<()>;

    /// Returns the name of the format, or `synthetic`.
    fn format(&self) -> &'static str;

    /// Returns the names of the devices seen so far; `RequestBatch::device` indexes this table.
    fn devices(&self) -> &[String];

    /// Returns the counts so far; complete after the end of the stream.
    fn summary(&self) -> Summary;

    /// Returns the place of request number `index` (from 0, of the current pass) for error messages: `PATH:LINE`.
    fn place_of(&self, index: u64) -> String;

    /// Returns whether the stamps are meaningful; otherwise they are all 0.
    fn has_times(&self) -> bool {
        true
    }

    /// Returns the reader's assumptions where the format is silent: units, polarity, the chosen event.
    fn assumed(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the optional columns that are filled, the same in every batch.
    fn columns(&self) -> OptionalColumns {
        OptionalColumns::default()
    }

    /// Returns the contexts seen so far; `RequestBatch::context` indexes this table, whose entry 0 stands for no
    /// context.
    fn contexts(&self) -> &[Context] {
        &[]
    }

    /// Returns the writers seen so far by the number of their stream; empty where streams do not stand for writers.
    fn writers(&self) -> Vec<Writer> {
        Vec::new()
    }

    /// Returns which of [`Writer::FIELDS`] the trace knows; empty where streams do not stand for writers.
    fn writer_fields(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the counts kept and left out so far, for a slice of a trace.
    fn slice_report(&self) -> Option<SliceReport> {
        None
    }
}

/// Forwards methods unchanged to the inner source (`self.inner`). Name every method of [`Source`] that is not written
/// out: a forgotten one with a default would hide the inner source's result.
#[macro_export]
macro_rules! forward_to_inner {
    ($($method:ident),*) => { $($crate::forward_to_inner!(@ $method);)* };
    (@ rewind) => {
        fn rewind(&mut self) -> ::floatgate_base::Result<()> {
            self.inner.rewind()
        }
    };
    (@ format) => {
        fn format(&self) -> &'static str {
            self.inner.format()
        }
    };
    (@ devices) => {
        fn devices(&self) -> &[String] {
            self.inner.devices()
        }
    };
    (@ summary) => {
        fn summary(&self) -> $crate::Summary {
            self.inner.summary()
        }
    };
    (@ place_of) => {
        fn place_of(&self, index: u64) -> String {
            self.inner.place_of(index)
        }
    };
    (@ has_times) => {
        fn has_times(&self) -> bool {
            self.inner.has_times()
        }
    };
    (@ assumed) => {
        fn assumed(&self) -> Vec<String> {
            self.inner.assumed()
        }
    };
    (@ columns) => {
        fn columns(&self) -> ::floatgate_base::OptionalColumns {
            self.inner.columns()
        }
    };
    (@ contexts) => {
        fn contexts(&self) -> &[$crate::Context] {
            self.inner.contexts()
        }
    };
    (@ writers) => {
        fn writers(&self) -> Vec<$crate::Writer> {
            self.inner.writers()
        }
    };
    (@ writer_fields) => {
        fn writer_fields(&self) -> Vec<String> {
            self.inner.writer_fields()
        }
    };
    (@ slice_report) => {
        fn slice_report(&self) -> Option<$crate::SliceReport> {
            self.inner.slice_report()
        }
    };
}
