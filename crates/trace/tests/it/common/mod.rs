//! Code shared by the tests of this folder.

pub mod memory;

use floatgate_base::testing::Bound;
use floatgate_base::{Op, RequestBatch, Result};
use floatgate_trace::{OpenOptions, Source, open_stream};
use std::path::PathBuf;

/// One request: time in ns, device by name, operation, offset, bytes.
pub type Row = (i64, String, Op, u64, u64);

/// Reads all requests of a source from its current position, in batches of `batch` requests.
pub fn rows_of(source: &mut dyn Source, batch: usize) -> Result<Vec<Row>> {
    let mut out = Vec::new();
    let mut requests = RequestBatch::default();
    let mut bound = Bound::new(100_000_000);
    loop {
        bound.step();
        requests.clear();
        source.fill(&mut requests, batch)?;
        if requests.is_empty() {
            return Ok(out);
        }
        for i in 0..requests.len() {
            let device = source.devices()[usize::from(requests.device[i])].clone();
            out.push((requests.time_ns[i], device, requests.op[i], requests.offset[i], requests.bytes[i]));
        }
    }
}

/// Parses options by name, as on the command line.
pub fn options(format: Option<&str>) -> OpenOptions {
    OpenOptions::parse(format, None, None, None, None).unwrap()
}

/// Opens content in memory.
pub fn open_bytes(content: &[u8], name: &str, options: &OpenOptions) -> Result<Box<dyn Source>> {
    open_stream(Box::new(std::io::Cursor::new(content.to_vec())), name, options)
}

/// Reads the requests of content in memory.
pub fn rows(content: &[u8], name: &str, options: &OpenOptions) -> Result<Vec<Row>> {
    rows_of(&mut *open_bytes(content, name, options)?, 7)
}

/// Returns the error message for some content.
pub fn refusal(content: &[u8], name: &str, options: &OpenOptions) -> String {
    let error = rows(content, name, options).expect_err("should be refused");
    assert_eq!(error.status(), 2);
    error.to_string()
}

/// A folder for one test's files, removed at the end.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("floatgate-trace-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Writes a file and returns its path.
    pub fn file(&self, name: &str, content: &[u8]) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path.to_string_lossy().into_owned()
    }

    pub fn path(&self) -> String {
        self.0.to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}
