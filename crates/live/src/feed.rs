//! The source of a live simulation: it holds the requests that have come and are not served yet.

use floatgate_base::{Op, OptionalColumns, RequestBatch, Result};
use floatgate_trace::{Source, Summary};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The end of a feed where requests come in.
#[derive(Clone, Default)]
pub struct Feed(Arc<Mutex<Queued>>);

#[derive(Default)]
struct Queued {
    batch: RequestBatch,
    /// What a reader of the journal says of it, once the drive has stopped.
    read: Option<Read>,
}

/// What a reader of the whole journal says of it.
pub(crate) struct Read {
    pub summary: Summary,
    pub assumed: Vec<String>,
}

/// A request for the feed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fed {
    /// Nanoseconds since the first request.
    pub stamp_ns: i64,
    pub op: Op,
    pub offset: u64,
    pub bytes: u64,
    pub flags: u8,
    pub stream: u16,
}

impl Feed {
    fn queued(&self) -> MutexGuard<'_, Queued> {
        // A batch has no state that a panic could leave half-changed and that is used afterwards.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn push(&self, fed: Fed) {
        let batch = &mut self.queued().batch;
        batch.push(fed.stamp_ns, 0, fed.op, fed.offset, fed.bytes);
        batch.flags.push(fed.flags);
        batch.stream.push(u32::from(fed.stream));
    }

    pub(crate) fn end(&self, read: Read) {
        self.queued().read = Some(read);
    }
}

/// The end of a feed from which the simulation reads.
pub(crate) struct LiveSource {
    feed: Feed,
    devices: Vec<String>,
}

impl LiveSource {
    pub fn of(feed: &Feed) -> Self {
        Self { feed: feed.clone(), devices: vec!["live".into()] }
    }
}

impl Source for LiveSource {
    fn fill(&mut self, batch: &mut RequestBatch, _max: usize) -> Result<()> {
        let queued = &mut self.feed.queued().batch;
        std::mem::swap(queued, batch);
        queued.clear();
        Ok(())
    }

    fn rewind(&mut self) -> Result<()> {
        let what = "a live drive has no trace to read again";
        Err(floatgate_base::Error::run(what, "expected settings that read the workload once"))
    }

    fn format(&self) -> &'static str {
        "live"
    }

    fn devices(&self) -> &[String] {
        &self.devices
    }

    fn summary(&self) -> Summary {
        self.feed.queued().read.as_ref().map(|read| read.summary.clone()).unwrap_or_default()
    }

    fn place_of(&self, index: u64) -> String {
        format!("request {}", index + 1)
    }

    fn assumed(&self) -> Vec<String> {
        self.feed.queued().read.as_ref().map(|read| read.assumed.clone()).unwrap_or_default()
    }

    fn columns(&self) -> OptionalColumns {
        OptionalColumns { flags: true, stream: true, ..OptionalColumns::default() }
    }
}
