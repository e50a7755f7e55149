//! Applies the dispatcher to batches of requests.
//!
//! A batch holds whole windows of the dispatcher.

use floatgate_base::RequestBatch;
use floatgate_host::{Dispatch, DispatchCounters, Dispatcher};

/// The dispatcher and its counts.
pub(crate) struct Dispatching {
    dispatcher: Dispatcher,
    pub counters: DispatchCounters,
}

impl Dispatching {
    /// Creates the stage before the first request; None for a dispatcher that labels nothing.
    pub fn of(dispatch: Dispatch) -> Option<Self> {
        Some(Self { dispatcher: Dispatcher::of(dispatch)?, counters: DispatchCounters::default() })
    }

    /// Returns the required length of a batch, except the last one of a pass.
    pub fn batch_len(&self) -> usize {
        self.dispatcher.batch_len(RequestBatch::DEFAULT_LEN)
    }

    /// Begins a pass.
    pub fn restart(&mut self) {
        self.dispatcher.restart();
    }

    /// Labels the requests of the next batch.
    pub fn label(&mut self, batch: &mut RequestBatch) {
        self.dispatcher.label(batch);
    }

    /// Counts served requests of the batch.
    pub fn count(&mut self, batch: &RequestBatch, served: (usize, usize)) {
        self.dispatcher.count(batch, served, &mut self.counters);
    }
}
