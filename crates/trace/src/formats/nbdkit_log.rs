//! The log of nbdkit's log filter: `DATE TIME [connection=N] Action id=N offset=0x0 count=0x200 ...`.
//!
//! Reads, writes and trims count when the call is logged, even if the call fails later. The line of its return is
//! another record, as are flushes, connections and the like. `Zero` with `trim=1` lets the drive deallocate the range
//! and counts as TRIM; without it the zeros must be stored and it counts as a write.
//! `fua=1` is kept, and a flush counts with the next request. The export is the device, regardless of the connection.

use super::{FormatInfo, Likeness, no_head, text_reader};
use crate::intake::Record;
use crate::setup::Setup;
use crate::text::{LineFormat, Usual};
use floatgate_base::batch::flags;
use floatgate_base::{Op, OptionalColumns, RequestBatch, Result};
use floatgate_input::date::minute_of;
use floatgate_input::{Cursor, Fault, Known, Scan};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "nbdkit-log",
    summary: "log of nbdkit's log filter",
    line: "expected YYYY-MM-DD HH:MM:SS.ffffff [connection=N] Action ...",
    units: "time as date and time of day, address and size in bytes; Zero that may trim counts as TRIM",
    states_units: true,
    time_unit: None,
    other_time_units: &[],
    lba_unit: None,
    extensions: &["nbdlog", "nbdkit"],
    has_times: true,
    has_actions: false,
    recognise,
    recognise_head: no_head,
    reader: text_reader::<NbdkitLog>,
};

/// Device of a connection whose export has no name or is unknown.
const NO_EXPORT: &[u8] = b"nbd";

pub(super) struct NbdkitLog {
    /// `YYYY-MM-DD HH:MM:` of the last line and its seconds since 1970.
    minute: [u8; 17],
    minute_s: i64,
    /// Exports by connection.
    exports: Vec<(u64, Vec<u8>)>,
    /// Flushes since the last request, and whether the current one is FUA.
    flags: u8,
}

impl LineFormat for NbdkitLog {
    fn new(_setup: &Setup, _head: &[u8]) -> Result<Self> {
        Ok(Self { minute: [0; 17], minute_s: 0, exports: Vec::new(), flags: 0 })
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        if line.at_end() {
            return Ok(None);
        }
        let stamp = self.stamp(line)?;
        let connection = if line.eat_word(b"connection=") {
            let n = line.uint();
            n.filter(|_| line.blanks())
                .ok_or_else(|| line.fault("is not a connection", "expected a whole number"))?
        } else {
            0
        };
        let from = line.at();
        let action = line.word();
        let (op, zero) = match action {
            b"Read" => (Op::Read, false),
            b"Write" => (Op::Write, false),
            b"Trim" => (Op::Trim, false),
            b"Zero" => (Op::Write, true),
            b"Connect" => {
                self.connect(connection, line.rest());
                return Ok(None);
            }
            b"Flush" => {
                self.flags |= flags::FLUSH;
                return Ok(None);
            }
            b"Disconnect" | b"Extents" | b"Cache" | b"Preconnect" | b"Ready" | b"Fork" | b"ListExports"
            | b"Unload" | b"Load" | b"Getready" | b"AfterFork" | b"Cleanup" => {
                return Ok(None);
            }
            _ if action.starts_with(b"...") => return Ok(None),
            _ => {
                let expected = "expected Read, Write, Trim, Zero, Flush, Connect or another nbdkit action";
                return Err(Fault { from, to: line.at(), what: "is not an action", expected });
            }
        };
        if field(line, b"id=") {
            line.word();
        }
        let offset = field(line, b"offset=").then(|| line.hex()).flatten();
        let offset = offset.ok_or_else(|| line.fault("is not an offset", "expected offset=0x..."))?;
        let bytes = field(line, b"count=").then(|| line.hex()).flatten();
        let bytes = bytes.ok_or_else(|| line.fault("is not a length", "expected count=0x..."))?;
        let op = if zero && field(line, b"trim=1") { Op::Trim } else { op };
        if zero && op == Op::Write {
            field(line, b"trim=0");
        }
        self.flags &= flags::FLUSH;
        if field(line, b"fua=1") {
            self.flags |= flags::FUA;
        }
        let device = self.export(connection);
        Ok(Some(Record { stamp: stamp.into(), op, offset, bytes, device }))
    }

    const HAS_USUAL: bool = true;

    #[inline(always)]
    fn usual<'a>(&'a mut self, mut line: Scan<'a>, _last_device: Known) -> Option<Usual<'a>> {
        line.eat_text(self.minute.first_chunk::<8>()?)?;
        line.eat_text(&self.minute[8..16])?;
        line.eat(self.minute[16])?;
        let second_ns = line.stamp(9).filter(|ns| *ns < 61_000_000_000)?;
        line.blanks()?;
        let connection = if line.has(b"connecti") {
            line.eat_text(b"on=")?;
            let connection = line.uint()?;
            line.blanks()?;
            connection
        } else {
            0
        };
        let (op, zero) = if line.has(b"Write ") {
            (Op::Write, false)
        } else if line.has(b"Read ") {
            (Op::Read, false)
        } else if line.has(b"...") {
            return Some(Usual::other(line.line_end()?));
        } else if line.has(b"Trim ") {
            (Op::Trim, false)
        } else if line.has(b"Zero ") {
            (Op::Write, true)
        } else {
            return None;
        };
        line.eat_text(b"id=")?;
        line.uint()?;
        line.eat_text(b" offset=")?;
        line.eat_text(b"0x")?;
        let offset = line.hex()?;
        line.eat_text(b" count=")?;
        line.eat_text(b"0x")?;
        let size = line.hex()?;
        line.blanks()?;
        let may_trim = zero && line.has(b"trim=1");
        if zero && !may_trim {
            line.has(b"trim=0");
        }
        line.more_blanks()?;
        let fua = line.has(b"fua=1");
        if line.next() == b'\t' {
            return None;
        }
        let bytes = line.line_end()?;
        self.flags = self.flags & flags::FLUSH | if fua { flags::FUA } else { 0 };
        let stamp = (self.minute_s * 1_000_000_000 + second_ns as i64).into();
        let (op, device) = (if may_trim { Op::Trim } else { op }, self.export(connection));
        let record = Some(Record { stamp, op, offset, bytes: size, device });
        Some(Usual { record, is_known: false, bytes })
    }

    fn columns(&self) -> OptionalColumns {
        OptionalColumns { flags: true, ..OptionalColumns::default() }
    }

    fn extras(&mut self, _bytes: u64, batch: &mut RequestBatch) {
        batch.flags.push(std::mem::take(&mut self.flags));
    }

    fn restart(&mut self) {
        self.exports.clear();
        self.flags = 0;
    }
}

impl NbdkitLog {
    /// Parses `YYYY-MM-DD HH:MM:SS.ffffff ` to nanoseconds since 1970.
    #[inline]
    fn stamp(&mut self, line: &mut Cursor<'_>) -> std::result::Result<i64, Fault> {
        const WHAT: (&str, &str) = ("is not a time stamp", "expected YYYY-MM-DD HH:MM:SS.ffffff");
        let minute = line.rest().get(..17).ok_or_else(|| line.fault(WHAT.0, WHAT.1))?;
        if minute != self.minute {
            self.minute_s = minute_of(minute).ok_or_else(|| line.fault(WHAT.0, WHAT.1))?;
            self.minute.copy_from_slice(minute);
        }
        line.skip(17);
        let second = line.stamp(9).filter(|s| (0..61_000_000_000).contains(s));
        let second = second.ok_or_else(|| line.fault(WHAT.0, WHAT.1))?;
        if !line.blanks() {
            return Err(line.fault(WHAT.0, WHAT.1));
        }
        Ok(self.minute_s * 1_000_000_000 + second as i64)
    }

    /// Returns the export of a connection.
    #[inline]
    fn export(&self, connection: u64) -> &[u8] {
        let known = self.exports.iter().find(|(c, _)| *c == connection);
        known.map_or(NO_EXPORT, |(_, export)| export.as_slice())
    }

    /// Stores the export of a connection.
    fn connect(&mut self, connection: u64, rest: &[u8]) {
        let quoted = rest.trim_ascii_start().strip_prefix(b"export=\"");
        let name = quoted.and_then(|q| q.split(|&b| b == b'"').next()).unwrap_or_default();
        let name = if name.is_empty() { NO_EXPORT } else { name };
        self.exports.retain(|(c, _)| *c != connection);
        // Servers may run long; connections without a logged end must not grow the table without limit.
        if self.exports.len() >= 1024 {
            self.exports.remove(0);
        }
        self.exports.push((connection, name.to_vec()));
    }
}

/// Skips blanks and `name`, if that comes next.
#[inline]
fn field(line: &mut Cursor<'_>, name: &[u8]) -> bool {
    line.blanks();
    let hit = line.rest().starts_with(name);
    if hit {
        line.skip(name.len());
    }
    hit
}

fn recognise(line: &[u8]) -> Likeness {
    Likeness::sure(line.len() > 20 && minute_of(&line[..17]).is_some() && line[17].is_ascii_digit())
}
