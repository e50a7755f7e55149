//! Readable JSON: objects span lines, a list of numbers stays on one line.

use serde::Serialize;
use serde_json::ser::Formatter;
use std::io::{Result, Write};

#[derive(Default)]
struct Columns {
    depth: usize,
    /// Whether the current object has an entry.
    filled: bool,
}

impl Columns {
    fn line<W: ?Sized + Write>(&self, out: &mut W) -> Result<()> {
        out.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| out.write_all(b"  "))
    }
}

impl Formatter for Columns {
    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> Result<()> {
        if first { Ok(()) } else { out.write_all(b", ") }
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        self.depth += 1;
        self.filled = false;
        out.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        self.depth -= 1;
        if self.filled {
            self.line(out)?;
        }
        self.filled = true;
        out.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> Result<()> {
        if !first {
            out.write_all(b",")?;
        }
        self.line(out)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        out.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> Result<()> {
        self.filled = true;
        Ok(())
    }
}

/// Formats the value as text.
pub fn text(value: &impl Serialize) -> String {
    let mut out = Vec::new();
    let mut to = serde_json::Serializer::with_formatter(&mut out, Columns::default());
    value.serialize(&mut to).expect("a value of text keys is JSON");
    String::from_utf8(out).expect("JSON is UTF-8")
}
