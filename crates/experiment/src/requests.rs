//! The workload of an experiment by itself: its requests are read as in a run, but not served by a drive.

use crate::meter::thread_cpu_s;
use floatgate_base::{RequestBatch, Result};
use floatgate_config::Resolved;
use floatgate_host::Dispatcher;
use floatgate_sim::reading::open_source;
use floatgate_trace::Source;
use serde::Serialize;

/// Cost of dispatch for a pass over a workload.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DispatchCost {
    /// Requests of the pass.
    pub requests: u64,
    /// CPU time of generating or reading them, seconds.
    pub read_cpu_s: f64,
    /// CPU time of mining and labelling them, seconds; 0 where the dispatcher labels nothing.
    pub dispatch_cpu_s: f64,
    /// `dispatch_cpu_s` per request, microseconds; None without requests.
    pub dispatch_us_per_request: Option<f64>,
}

/// Opens the workload.
///
/// # Errors
/// The workload cannot be opened.
pub fn open(resolved: &Resolved) -> Result<Box<dyn Source>> {
    open_source(&resolved.plan)
}

/// Sends a pass over a source of the experiment through its dispatcher.
///
/// # Errors
/// Those of the source.
pub fn dispatch(resolved: &Resolved, source: &mut dyn Source) -> Result<DispatchCost> {
    let mut dispatcher = Dispatcher::of(resolved.plan.ftl.dispatch);
    let least = RequestBatch::DEFAULT_LEN;
    let len = dispatcher.as_ref().map_or(least, |dispatcher| dispatcher.batch_len(least));
    let mut batch = RequestBatch::with_capacity(len);
    let (mut requests, mut read_cpu_s, mut dispatch_cpu_s) = (0, 0.0, 0.0);
    loop {
        batch.clear();
        let begun_s = thread_cpu_s();
        source.fill(&mut batch, len)?;
        let made_s = thread_cpu_s();
        read_cpu_s += made_s - begun_s;
        if batch.is_empty() {
            break;
        }
        requests += batch.len() as u64;
        if let Some(dispatcher) = &mut dispatcher {
            dispatcher.label(&mut batch);
            dispatch_cpu_s += thread_cpu_s() - made_s;
        }
    }
    let dispatch_us_per_request = (requests > 0).then(|| dispatch_cpu_s * 1e6 / requests as f64);
    Ok(DispatchCost { requests, read_cpu_s, dispatch_cpu_s, dispatch_us_per_request })
}
