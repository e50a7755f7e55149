//! The rate at which a workload writes by its own time stamps, without a drive.

use crate::plan::Plan;
use crate::reading::open::open_source;
use crate::reading::pass::without_time;
use floatgate_base::{Op, RequestBatch, Result};
use floatgate_trace::period::Stamps;

/// What a pass over a workload writes, and how long it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteRate {
    /// Bytes that the host writes.
    pub write_bytes: u64,
    /// Time from the first request to that of the next pass.
    pub period_ns: u64,
}

/// Reads the workload once. `tick` receives the requests so far and may stop it.
///
/// # Errors
/// Input errors of the source, a workload without requests or without time stamps, and the errors of `tick`.
pub fn read_write_rate(plan: &Plan, tick: &mut dyn FnMut(u64) -> Result<()>) -> Result<WriteRate> {
    let mut source = open_source(plan)?;
    let mut batch = RequestBatch::default();
    let (mut requests, mut write_bytes, mut stamps) = (0, 0, Stamps::default());
    loop {
        batch.clear();
        source.fill(&mut batch, RequestBatch::DEFAULT_LEN)?;
        if batch.is_empty() {
            break;
        }
        stamps.note(&batch.time_ns);
        let writes = batch.op.iter().zip(&batch.bytes).filter(|&(&op, _)| op == Op::Write);
        write_bytes += writes.map(|(_, bytes)| bytes).sum::<u64>();
        requests += batch.len() as u64;
        tick(requests)?;
    }
    match stamps.period_ns() {
        0 => Err(without_time(plan, requests, &source.summary())),
        period_ns => Ok(WriteRate { write_bytes, period_ns }),
    }
}
