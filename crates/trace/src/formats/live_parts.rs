//! The parts of a journal as one stream: `journal` is the last one. Those before it have numbers: `journal.000001`, or
//! `journal.000001.zst` once it is packed.

use super::live::HEADER_BYTES;
use floatgate_base::Result;
use floatgate_input::Input;
use std::io::{self, Read};
use std::path::Path;

/// Returns the earlier parts of the journal `path` in their order.
#[must_use]
pub fn earlier(path: &str) -> Vec<String> {
    let (folder, name) = match path.rsplit_once('/') {
        Some((folder, name)) => (format!("{folder}/"), name),
        None => (String::new(), path),
    };
    let prefix = format!("{name}.");
    let listed = std::fs::read_dir(if folder.is_empty() { Path::new(".") } else { Path::new(&folder) });
    let names =
        listed.into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut numbered: Vec<(u64, String)> = names
        .filter_map(|other| {
            let number = other.strip_prefix(&prefix)?;
            let number = number.strip_suffix(".zst").unwrap_or(number);
            let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
            is_number.then(|| Some((number.parse().ok()?, format!("{folder}{other}")))).flatten()
        })
        .collect();
    numbered.sort();
    // A part that is being packed lies there twice.
    numbered.dedup_by_key(|(number, _)| *number);
    numbered.into_iter().map(|(_, path)| path).collect()
}

/// Opens all parts of a journal, oldest first, with the header of the first one.
///
/// # Errors
/// A part cannot be opened.
pub fn open(path: &str, what: &'static str) -> Result<Box<dyn Read + Send>> {
    let mut parts = earlier(path);
    parts.push(path.to_owned());
    parts.reverse();
    Ok(Box::new(Parts { left: parts, what, current: None, is_first: true }))
}

struct Parts {
    /// Paths of the parts to come, the next one last.
    left: Vec<String>,
    what: &'static str,
    current: Option<Input>,
    is_first: bool,
}

impl Read for Parts {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let other = |error: Box<floatgate_base::Error>| io::Error::other(error.to_string());
        loop {
            if let Some(current) = &mut self.current {
                let n = current.read_full(buf).map_err(other)?;
                if n > 0 {
                    return Ok(n);
                }
            }
            let Some(path) = self.left.pop() else { return Ok(0) };
            let mut next = Input::open(&path, self.what).map_err(other)?;
            if !std::mem::replace(&mut self.is_first, false) {
                next.read_full(&mut [0; HEADER_BYTES]).map_err(other)?;
            }
            self.current = Some(next);
        }
    }
}
