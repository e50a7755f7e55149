//! What a trace reader and a workload generator have in common.
//!
//! A reader or a generator is a [`Source`]. What changes a trace is a [`Source`] around another one: `slice/`,
//! `content.rs`, `shuffle.rs`, `until.rs`, `without_reads.rs`, `amplify/`.

use crate::slice::SliceReport;
use floatgate_base::{OptionalColumns, RequestBatch, Result};
use serde::{Deserialize, Serialize};

/// What a source can tell about itself once it has been read to its end.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Lines or records left out under `--on-bad-line skip`.
    pub bad_lines_skipped: u64,
    /// The first such line with its message, for the report.
    pub first_bad_line: Option<String>,
    /// Records that are no read, write or TRIM (flushes, other events, headers), left out as documented.
    pub other_records: u64,
    /// Stamps smaller than the one before.
    pub stamps_backwards: u64,
    /// Where the first of them is: `line 7`, `byte 99`. Without the name of the trace.
    pub first_backwards: Option<String>,
    /// By how much a stamp lies before the one before it, at most; nanoseconds.
    pub furthest_back_ns: u64,
    /// Stamps more than 30 years from the one before: broken, or of another clock.
    pub stamp_jumps: u64,
    /// Lines of a tar archive's headers and padding, passed over.
    pub tar_lines: u64,
    /// What looks wrong without being an error, such as a rate that says that the unit of time is another.
    pub suspicions: Vec<String>,
    /// blake3 of the decompressed content, in hex; none for generators.
    pub content_hash: Option<String>,
}

impl Summary {
    /// By how many seconds a stamp lies before the one before it, at most; none where all run forwards.
    #[must_use]
    pub fn furthest_back_s(&self) -> Option<f64> {
        (self.stamps_backwards > 0).then_some(self.furthest_back_ns as f64 / 1e9)
    }
}

/// A program context: a path through a program that leads to a write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// What tells it from all others, also in other recordings of the same program.
    pub id: u64,
    /// The functions on the path, as far as they are known.
    pub name: String,
}

/// A stream of requests: a trace file or a generator.
pub trait Source: Send {
    /// Appends up to `max` requests to `batch`, fewer only at the end of the stream.
    ///
    /// # Errors
    /// Input errors carry the place (path and line, or byte) at which the source cannot be understood.
    fn fill(&mut self, batch: &mut RequestBatch, max: usize) -> Result<()>;

    /// Starts again from the first request.
    ///
    /// # Errors
    /// When the file cannot be opened again, or is a pipe.
    fn rewind(&mut self) -> Result<()>;

    /// Name of the format, or `synthetic`.
    fn format(&self) -> &'static str;

    /// Names of the devices seen so far; `RequestBatch::device` indexes this table.
    fn devices(&self) -> &[String];

    /// Counts so far; complete after the end of the stream.
    fn summary(&self) -> Summary;

    /// Where request number `index` (from 0, of the present pass) stands, for error messages: `PATH:LINE`.
    fn place_of(&self, index: u64) -> String;

    /// Whether the stamps mean anything; if not they are all 0.
    fn has_times(&self) -> bool {
        true
    }

    /// What the reader took for granted because the format does not say it: units, polarity, the chosen event.
    fn assumed(&self) -> Vec<String> {
        Vec::new()
    }

    /// Which optional columns are filled: the same ones in every batch.
    fn columns(&self) -> OptionalColumns {
        OptionalColumns::default()
    }

    /// The contexts seen so far; `RequestBatch::context` indexes this table, whose entry 0 stands for no context.
    fn contexts(&self) -> &[Context] {
        &[]
    }

    /// What has been kept and left out so far, if this is a slice of a trace.
    fn slice_report(&self) -> Option<SliceReport> {
        None
    }
}

/// What a source around another one (`self.inner`) leaves as it is. Name every method of [`Source`] that is not written
/// out: one with a default that is forgotten would hide what the inner source says.
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
    (@ slice_report) => {
        fn slice_report(&self) -> Option<$crate::SliceReport> {
            self.inner.slice_report()
        }
    };
}
