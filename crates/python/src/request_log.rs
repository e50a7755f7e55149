//! A log of requests written by Python: `floatgate.run.request_log` writes the file, this module only passes its
//! columns on.

use crate::errors::carry;
use floatgate_base::Result;
use floatgate_experiment::{RequestRows, RequestSink};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// A `floatgate.run.request_log.RequestLog`.
pub struct PythonLog(pub Py<PyAny>);

impl RequestSink for PythonLog {
    fn take(&mut self, rows: &RequestRows, devices: &[String]) -> Result<()> {
        Python::attach(|py| -> PyResult<()> {
            let columns = PyDict::new(py);
            let set = |name: &str, bytes: Vec<u8>| columns.set_item(name, PyBytes::new(py, &bytes));
            let requests = &rows.requests;
            let wide = |value: &dyn Fn(usize) -> u64| {
                (0..requests.len()).flat_map(|i| value(i).to_le_bytes()).collect::<Vec<u8>>()
            };
            set("request", wide(&|i| requests[i].number))?;
            set("arrival_ns", wide(&|i| requests[i].arrival_ns))?;
            set("op", requests.iter().map(|r| r.op as u8).collect())?;
            set("device", requests.iter().flat_map(|r| r.device.to_le_bytes()).collect())?;
            set("offset", wide(&|i| requests[i].offset))?;
            set("bytes", wide(&|i| requests[i].bytes))?;
            set("queue", requests.iter().flat_map(|r| r.queue.to_le_bytes()).collect())?;
            set("fetched_ns", wide(&|i| rows.fetched_ns[i]))?;
            set("completed_ns", wide(&|i| rows.completed_ns[i]))?;
            self.0.call_method1(py, "take", (columns, devices.to_vec())).map(|_| ())
        })
        .map_err(carry)
    }

    fn restart(&mut self) -> Result<()> {
        Python::attach(|py| self.0.call_method0(py, "restart").map(|_| ())).map_err(carry)
    }
}
