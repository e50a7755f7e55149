//! Columns of a source, batch by batch, as bytes from which Python builds arrays.

use crate::errors::raise;
use floatgate_base::{OptionalColumns, RequestBatch, Result};
use floatgate_trace::Source;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Process, thread, descriptor, file and stream of a writer.
pub type WriterRow = (Option<u32>, Option<u32>, Option<i32>, Option<u32>, Option<u32>);

/// Requests per batch of columns.
const COLUMNS_LEN: usize = 1 << 18;

/// Columns of a trace, batch by batch.
///
/// Each batch is a dictionary of little-endian arrays. Always present: `time_ns` (int64), `device` (uint16, into
/// `devices`), `op` (uint8: 0 read, 1 write, 2 trim), `offset` and `bytes` (uint64). Where the source has them:
/// `context` (uint32, into `contexts`), `stream` (uint32), `predicted_life` (uint32), `flags` (uint8, 1 = FUA, 2 =
/// FLUSH). Content adds `content_len` (uint32, entries per request), and `fingerprint` (uint64) and `compressed_bytes`
/// (uint16) with the entries of all requests in sequence.
#[pyclass(module = "floatgate._core")]
pub struct TraceBatches {
    source: Mutex<Box<dyn Source>>,
}

/// Packs numbers into the bytes of an array.
fn array<'py, T: Copy, const N: usize>(
    py: Python<'py>,
    values: &[T],
    bytes: impl Fn(T) -> [u8; N],
) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, values.len() * N, |out| {
        for (to, &value) in out.chunks_exact_mut(N).zip(values) {
            to.copy_from_slice(&bytes(value));
        }
        Ok(())
    })
}

impl TraceBatches {
    pub fn new(source: Box<dyn Source>) -> Self {
        Self { source: Mutex::new(source) }
    }

    fn source(&self) -> MutexGuard<'_, Box<dyn Source>> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fill(&self, batch: &mut RequestBatch) -> Result<OptionalColumns> {
        let mut source = self.source();
        source.fill(batch, COLUMNS_LEN)?;
        Ok(source.columns())
    }
}

#[pymethods]
impl TraceBatches {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        py.check_signals()?;
        let mut batch = RequestBatch::with_capacity(COLUMNS_LEN);
        let optional = py.detach(|| self.fill(&mut batch)).map_err(|e| raise(&e))?;
        if batch.is_empty() {
            return Ok(None);
        }
        let columns = PyDict::new(py);
        columns.set_item("time_ns", array(py, &batch.time_ns, i64::to_le_bytes)?)?;
        columns.set_item("device", array(py, &batch.device, u16::to_le_bytes)?)?;
        columns.set_item("op", array(py, &batch.op, |op| [op as u8])?)?;
        columns.set_item("offset", array(py, &batch.offset, u64::to_le_bytes)?)?;
        columns.set_item("bytes", array(py, &batch.bytes, u64::to_le_bytes)?)?;
        if optional.context {
            columns.set_item("context", array(py, &batch.context, u32::to_le_bytes)?)?;
        }
        if optional.stream {
            columns.set_item("stream", array(py, &batch.stream, u32::to_le_bytes)?)?;
        }
        if optional.predicted_life {
            columns.set_item("predicted_life", array(py, &batch.predicted_life, u32::to_le_bytes)?)?;
        }
        if optional.flags {
            columns.set_item("flags", array(py, &batch.flags, |flags| [flags])?)?;
        }
        if optional.content {
            let content = &batch.content;
            let len: Vec<u32> = (0..content.end.len()).map(|i| content.range(i).len() as u32).collect();
            columns.set_item("content_len", array(py, &len, u32::to_le_bytes)?)?;
            columns.set_item("fingerprint", array(py, &content.fingerprint, u64::to_le_bytes)?)?;
            let sizes = array(py, &content.compressed_bytes, u16::to_le_bytes)?;
            columns.set_item("compressed_bytes", sizes)?;
        }
        Ok(Some(columns))
    }

    /// Names of the devices seen so far.
    #[getter]
    fn devices(&self) -> Vec<String> {
        self.source().devices().to_vec()
    }

    /// Name of the format.
    #[getter]
    fn format(&self) -> &'static str {
        self.source().format()
    }

    /// The optional columns of every batch, out of `context`, `stream`, `predicted_life`, `flags`, `content`.
    #[getter]
    fn optional(&self) -> Vec<&'static str> {
        let columns = self.source().columns();
        let all = [
            ("context", columns.context),
            ("stream", columns.stream),
            ("predicted_life", columns.predicted_life),
            ("flags", columns.flags),
            ("content", columns.content),
        ];
        all.iter().filter(|(_, has)| *has).map(|(name, _)| *name).collect()
    }

    /// Numbers and names of the contexts seen so far; the first one means no context.
    #[getter]
    fn contexts(&self) -> Vec<(u64, String)> {
        self.source().contexts().iter().map(|c| (c.id, c.name.clone())).collect()
    }

    /// Process, thread, descriptor, file and stream of the writer of each stream, as far as known; empty where streams do
    /// not stand for writers.
    #[getter]
    fn writers(&self) -> Vec<WriterRow> {
        let writers = self.source().writers().into_iter();
        writers.map(|w| (w.process, w.thread, w.fd, w.file, w.stream)).collect()
    }

    /// Which of `process`, `thread`, `fd`, `file` and `stream` the writers have.
    #[getter]
    fn writer_fields(&self) -> Vec<String> {
        self.source().writer_fields()
    }

    /// Whether time stamps are meaningful; otherwise they are 0.
    #[getter]
    fn has_times(&self) -> bool {
        self.source().has_times()
    }

    /// Report of what a slice has kept and left out so far, as JSON; None where the whole trace is read.
    #[getter]
    fn slice_report(&self) -> Option<String> {
        let report = self.source().slice_report()?;
        Some(serde_json::to_string(&report).expect("a report is JSON"))
    }
}
