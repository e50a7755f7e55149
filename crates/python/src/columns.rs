//! Formats read in Python and passed to the core as columns: `floatgate.trace.columns` parses the file, this module
//! only moves its arrays.

use crate::batches::WriterRow;
use crate::errors::carry;
use floatgate_base::{Error, Op, OptionalColumns, Result};
use floatgate_trace::external::{self, ColumnChunk, ColumnReader, ExternalFile};
use floatgate_trace::{Context, Writer};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A reader of `floatgate.trace.columns`.
struct PythonReader {
    reader: Py<PyAny>,
    columns: OptionalColumns,
}

/// Opens a trace with the Python package.
fn open(file: ExternalFile<'_>) -> Result<Box<dyn ColumnReader>> {
    let opened = Python::attach(|py| -> PyResult<PythonReader> {
        let module = py.import("floatgate.trace.columns")?;
        let reader =
            module.call_method1("open_columns", (file.format, file.name, file.path, file.keep_writers))?;
        let optional: Vec<String> = reader.getattr("optional")?.extract()?;
        let has = |name: &str| optional.iter().any(|o| o == name);
        let columns = OptionalColumns {
            context: has("context"),
            stream: has("stream"),
            stream_is_process: has("process"),
            predicted_life: has("predicted_life"),
            content: has("content"),
            flags: has("flags"),
        };
        Ok(PythonReader { reader: reader.unbind(), columns })
    });
    Ok(Box::new(opened.map_err(carry)?))
}

/// Copies an array out of a dictionary.
fn column<T: Element + Copy>(columns: &Bound<'_, PyDict>, name: &str) -> PyResult<Vec<T>> {
    let array = columns.as_any().get_item(name)?;
    PyBuffer::<T>::get(&array)?.to_vec(columns.py())
}

impl PythonReader {
    fn take(
        &self,
        columns: &Bound<'_, PyDict>,
        chunk: &mut ColumnChunk,
    ) -> PyResult<std::result::Result<(), u8>> {
        chunk.rows.time_ns = column(columns, "time_ns")?;
        chunk.rows.device = column(columns, "device")?;
        chunk.rows.offset = column(columns, "offset")?;
        chunk.rows.bytes = column(columns, "bytes")?;
        chunk.devices = columns.as_any().get_item("devices")?.extract()?;
        for code in column::<u8>(columns, "op")? {
            chunk.rows.op.push(match code {
                0 => Op::Read,
                1 => Op::Write,
                2 => Op::Trim,
                other => return Ok(Err(other)),
            });
        }
        if self.columns.context {
            chunk.context_ids = column(columns, "context")?;
            let named: Vec<(u64, String)> = columns.as_any().get_item("contexts")?.extract()?;
            chunk.contexts = named.into_iter().map(|(id, name)| Context { id, name }).collect();
        }
        if self.columns.flags {
            chunk.rows.flags = column(columns, "flags")?;
        }
        if self.columns.stream {
            chunk.rows.stream = column(columns, "stream")?;
        }
        if self.columns.predicted_life {
            chunk.rows.predicted_life = column(columns, "predicted_life")?;
        }
        if self.columns.content {
            let ends: Vec<u64> = column(columns, "content_end")?;
            chunk.rows.content.end = ends.into_iter().map(|end| end as usize).collect();
            chunk.rows.content.fingerprint = column(columns, "fingerprint")?;
            chunk.rows.content.compressed_bytes = column(columns, "compressed_bytes")?;
        }
        Ok(Ok(()))
    }
}

impl ColumnReader for PythonReader {
    fn next(&mut self, chunk: &mut ColumnChunk) -> Result<bool> {
        let chunk_read = Python::attach(|py| {
            let next = self.reader.call_method0(py, "next")?;
            if next.is_none(py) {
                return Ok(None);
            }
            let columns = next.bind(py).cast::<PyDict>()?;
            self.take(columns, chunk).map(Some)
        });
        match chunk_read.map_err(carry)? {
            None => Ok(false),
            Some(Ok(())) => Ok(true),
            Some(Err(code)) => {
                Err(Error::run(format!("a reader of columns returned the unknown operation code {code}"), ""))
            }
        }
    }

    fn restart(&mut self) -> Result<()> {
        Python::attach(|py| self.reader.call_method0(py, "restart").map(|_| ())).map_err(carry)
    }

    fn columns(&self) -> OptionalColumns {
        self.columns
    }

    fn writers(&self) -> (Vec<Writer>, Vec<String>) {
        let writers = Python::attach(|py| -> PyResult<(Vec<WriterRow>, Vec<String>)> {
            self.reader.call_method0(py, "writers")?.extract(py)
        });
        let (rows, fields) = writers.unwrap_or_default();
        let writer =
            |(process, thread, fd, file, stream): WriterRow| Writer { process, thread, fd, file, stream };
        (rows.into_iter().map(writer).collect(), fields)
    }

    fn has_times(&self) -> bool {
        Python::attach(|py| self.reader.getattr(py, "has_times")?.extract(py)).unwrap_or(true)
    }

    fn assumed(&self) -> Vec<String> {
        Python::attach(|py| self.reader.call_method0(py, "assumed")?.extract(py)).unwrap_or_default()
    }
}

pub fn register() {
    external::register(open);
}
