//! Files: the savings of deduplication and compression on them.

use crate::errors::{guarded, raise};
use crate::experiment::stop;
use crate::json;
use floatgate_content::{FilePages, Fingerprints, Settings, lz4_bytes, measure};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// Fingerprints (u64) and LZ4 sizes (u16) of all pages, and pages per file (u32), in native byte order.
type Columns = (Py<PyBytes>, Py<PyBytes>, Py<PyBytes>);

/// Measures the files below some paths as JSON, with the columns of their pages if `keep_pages` is set.
#[pyfunction]
#[pyo3(signature = (
    paths, progress=None, *, zstd_level=1, chunks=vec![1, 2, 4, 8], sample_share=1.0 / 64.0, seed=1,
    fingerprint_bits=64, keep_pages=false
))]
// The arguments are the options of the command line.
#[allow(clippy::too_many_arguments)]
fn content_measure(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    progress: Option<Py<PyAny>>,
    zstd_level: i32,
    chunks: Vec<u32>,
    sample_share: f64,
    seed: u64,
    fingerprint_bits: u32,
    keep_pages: bool,
) -> PyResult<(String, Option<Columns>)> {
    let settings = Settings { zstd_level, chunks, sample_share, seed, fingerprint_bits, keep_pages };
    let mut raised = None;
    let done = py.detach(|| {
        guarded(|| {
            measure(&paths, &settings, &mut |bytes, total, phase| {
                let called = Python::attach(|py| {
                    py.check_signals()?;
                    progress.as_ref().map_or(Ok(()), |call| call.call1(py, (bytes, total, phase)).map(|_| ()))
                });
                called.map_err(|e| stop(e, &mut raised))
            })
        })
    });
    if let Some(exception) = raised {
        return Err(exception);
    }
    let measured = done.map_err(|e| raise(&e))?;
    Ok((json::text(&measured.figures), measured.pages.map(|pages| columns(py, &pages))))
}

fn columns(py: Python<'_>, pages: &FilePages) -> Columns {
    let prints: Vec<u8> = pages.fingerprints.iter().flat_map(|print| print.to_ne_bytes()).collect();
    let sizes: Vec<u8> = pages.lz4_bytes.iter().flat_map(|size| size.to_ne_bytes()).collect();
    let files: Vec<u8> = pages.file_pages.iter().flat_map(|count| count.to_ne_bytes()).collect();
    let bytes = |column: &[u8]| PyBytes::new(py, column).unbind();
    (bytes(&prints), bytes(&sizes), bytes(&files))
}

/// Returns the fingerprint and LZ4 size of a page, as the recorder computes them.
#[pyfunction]
fn content_page(page: &[u8]) -> (u64, usize) {
    (Fingerprints::new(64).of(page), lz4_bytes(page))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(content_measure, module)?)?;
    module.add_function(wrap_pyfunction!(content_page, module)?)
}
