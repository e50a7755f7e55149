//! The dispatcher at work on the batches that are read.
//!
//! A batch holds whole windows of the dispatcher.

use floatgate_base::RequestBatch;
use floatgate_host::{Dispatch, DispatchCounters, Dispatcher};

/// The dispatcher with what it did.
pub(crate) struct Dispatching {
    dispatcher: Dispatcher,
    pub counters: DispatchCounters,
}

impl Dispatching {
    /// Before the first request; none for a dispatcher that labels nothing.
    pub fn of(dispatch: Dispatch) -> Option<Self> {
        Some(Self { dispatcher: Dispatcher::of(dispatch)?, counters: DispatchCounters::default() })
    }

    /// Requests that a batch must have, but for the last one of a pass.
    pub fn batch_len(&self) -> usize {
        self.dispatcher.batch_len(RequestBatch::DEFAULT_LEN)
    }

    /// A pass begins.
    pub fn restart(&mut self) {
        self.dispatcher.restart();
    }

    /// Labels the requests of the next batch.
    pub fn label(&mut self, batch: &mut RequestBatch) {
        self.dispatcher.label(batch);
    }

    /// Counts requests of the batch that were served.
    pub fn count(&mut self, batch: &RequestBatch, served: (usize, usize)) {
        self.dispatcher.count(batch, served, &mut self.counters);
    }
}
