//! A log of requests kept in memory.

use floatgate_base::Op;
use floatgate_base::Result;
use floatgate_experiment::{Options, Output, RequestRows, RequestSink, load, run_logged};
use std::sync::{Arc, Mutex};

/// A request on record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub number: u64,
    pub op: Op,
    pub device: u16,
    pub offset: u64,
    pub bytes: u64,
    pub queue: u16,
    pub arrival_ns: u64,
    pub fetched_ns: u64,
    pub completed_ns: u64,
}

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<Row>>>);

impl RequestSink for Kept {
    fn take(&mut self, rows: &RequestRows, devices: &[String]) -> Result<()> {
        let mut kept = self.0.lock().unwrap();
        for (i, r) in rows.requests.iter().enumerate() {
            assert!(devices.is_empty() || usize::from(r.device) < devices.len());
            kept.push(Row {
                number: r.number,
                op: r.op,
                device: r.device,
                offset: r.offset,
                bytes: r.bytes,
                queue: r.queue,
                arrival_ns: r.arrival_ns,
                fetched_ns: rows.fetched_ns[i],
                completed_ns: rows.completed_ns[i],
            });
        }
        Ok(())
    }

    fn restart(&mut self) -> Result<()> {
        self.0.lock().unwrap().clear();
        Ok(())
    }
}

/// Runs an experiment under the shadow model and gives its log beside what came out.
pub fn try_logged(
    toml: &str,
    overrides: &[(&str, String)],
) -> std::result::Result<(Output, Vec<Row>), String> {
    let overrides: Vec<_> = overrides.iter().map(|(k, v)| (k.to_string(), v.clone())).collect();
    let mut resolved = load(Some(toml), "test.toml", &overrides).map_err(|e| e.to_string())?;
    resolved.plan.shadow = true;
    let kept = Kept::default();
    let log: Box<dyn RequestSink> = Box::new(kept.clone());
    let output =
        run_logged(resolved, &Options::default(), Some(log), &mut |_| Ok(())).map_err(|e| e.to_string())?;
    let rows = std::mem::take(&mut *kept.0.lock().unwrap());
    Ok((output, rows))
}

/// As [`try_logged`], of an experiment that must succeed.
pub fn logged(toml: &str, overrides: &[(&str, String)]) -> (Output, Vec<Row>) {
    try_logged(toml, overrides).unwrap_or_else(|e| panic!("{e}\n{toml}{overrides:?}"))
}
