//! blkparse's default text: `maj,min cpu seq time pid action rwbs sector + sectors [process]`.
//!
//! `block_events.rs` selects the event that counts as the request. Other records are: other events, messages, lines
//! without an address, the summaries at the end of a file, and flushes without a request, which count for the next
//! request. Stamps of several CPUs are merged out of order. The stream of a request is its process.

use super::block_events::{Events, Processes};
use super::{FormatInfo, Likeness, no_head, text_reader};
use crate::intake::Record;
use crate::options::{LbaUnit, TimeUnit};
use crate::setup::Setup;
use crate::text::{LineFormat, Usual};
use floatgate_base::batch::flags;
use floatgate_base::{Op, OptionalColumns, RequestBatch, Result};
use floatgate_input::{Cursor, Fault, Known, Scan, scaled};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "blkparse",
    summary: "blkparse default text (Linux blktrace)",
    line: "expected maj,min cpu seq time pid action rwbs sector + sectors [process]",
    units: "time in seconds, address and size in sectors of 512 bytes",
    states_units: true,
    time_unit: Some(TimeUnit::Seconds),
    other_time_units: &[],
    lba_unit: Some(LbaUnit::Sector),
    extensions: &["blkparse"],
    has_times: true,
    has_actions: true,
    recognise,
    recognise_head: no_head,
    reader: text_reader::<BlkParse>,
};

pub(super) struct BlkParse {
    time_power: u32,
    lba_bytes: u64,
    events: Events,
    in_summary: bool,
    /// Flushes since the last request, and the flags of the current one.
    flags: u8,
    processes: Processes,
}

impl LineFormat for BlkParse {
    fn new(setup: &Setup, head: &[u8]) -> Result<Self> {
        Self::preferring(setup, head, None)
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        line.blanks();
        let from = line.at();
        if line.uint().is_none() || !line.eat(b',') || line.uint().is_none() {
            return self.no_event(line);
        }
        let device = line.since(from);
        self.in_summary = false;
        number(line, "is not a CPU")?;
        number(line, "is not a sequence number")?;
        gap(line)?;
        let stamp = line
            .stamp(self.time_power)
            .ok_or_else(|| line.fault("is not a time stamp", "expected seconds"))?;
        let process = number(line, "is not a process number")?;
        gap(line)?;
        let action = line.word();
        if action != [self.events.action] {
            if let [action] = action {
                self.events.note_other(*action);
            }
            return Ok(None);
        }
        gap(line)?;
        let rwbs = line.word();
        self.flags &= flags::FLUSH;
        self.flags |= flags_of(rwbs);
        let Some(op) = operation(rwbs) else { return Ok(None) };
        let Some((lba, sectors)) = extent(line) else { return Ok(None) };
        let offset = scaled(lba, self.lba_bytes)?;
        self.processes.see(process);
        Ok(Some(Record { stamp, op, offset, bytes: scaled(sectors, 512)?, device }))
    }

    const HAS_USUAL: bool = true;

    #[inline(always)]
    fn usual<'a>(&'a mut self, mut line: Scan<'a>, last_device: Known) -> Option<Usual<'a>> {
        line.more_blanks()?;
        let from = line.at();
        let is_known = line.has_known(last_device, b' ');
        if !is_known {
            line.skip_digits()?;
            line.eat(b',')?;
            line.skip_digits()?;
        }
        let device = line.since(from)?;
        // CPU and sequence number.
        for _ in 0..2 {
            line.blanks()?;
            line.skip_digits()?;
        }
        line.blanks()?;
        let mut numbers = line;
        line.skip_stamp(self.time_power)?;
        line.blanks()?;
        line.skip_digits()?;
        line.blanks()?;
        let [action, b' ', ..] = line.word().to_le_bytes() else { return None };
        // A tab or the end of the line.
        if action < b' ' {
            return None;
        }
        if action != self.events.action {
            let bytes = line.line_end()?;
            self.in_summary = false;
            self.events.note_other(action);
            return Some(Usual::other(bytes));
        }
        let stamp = numbers.stamp(self.time_power)?;
        numbers.blanks()?;
        let process = numbers.uint()?;
        line.eat(action)?;
        line.blanks()?;
        let from = line.at();
        line.until(b' ')?;
        let rwbs = line.since(from).filter(|rwbs| !rwbs.contains(&b'\t'))?;
        let op = operation(rwbs)?;
        line.blanks()?;
        let lba = line.uint()?;
        line.eat_text(b" + ")?;
        let sectors = line.uint()?;
        let offset = lba.checked_mul(self.lba_bytes)?;
        let size = sectors.checked_mul(512)?;
        let bytes = line.line_end()?;
        self.in_summary = false;
        self.flags &= flags::FLUSH;
        self.flags |= flags_of(rwbs);
        self.processes.see(process);
        let record = Some(Record { stamp, op, offset, bytes: size, device });
        Some(Usual { record, is_known, bytes })
    }

    fn processes(&self) -> Option<Vec<u64>> {
        Some(self.processes.all())
    }

    fn columns(&self) -> OptionalColumns {
        OptionalColumns { flags: true, stream: true, stream_is_process: true, ..OptionalColumns::default() }
    }

    fn extras(&mut self, _bytes: u64, batch: &mut RequestBatch) {
        batch.flags.push(std::mem::take(&mut self.flags));
        batch.stream.push(self.processes.last());
    }

    fn restart(&mut self) {
        self.in_summary = false;
        self.flags = 0;
    }

    fn assumed(&self, out: &mut Vec<String>) {
        self.events.assumed(out);
    }

    fn hint_if_empty(&self) -> String {
        self.events.hint_if_empty()
    }
}

impl BlkParse {
    /// Creates a reader that prefers the action `first` if the trace has it.
    pub fn preferring(setup: &Setup, head: &[u8], first: Option<u8>) -> Result<Self> {
        Ok(Self {
            time_power: setup.time_power,
            lba_bytes: setup.lba_bytes,
            events: Events::new(setup.action(), head.split(|&b| b == b'\n').filter_map(event), first),
            in_summary: false,
            flags: 0,
            processes: Processes::default(),
        })
    }

    /// Handles a line that does not begin with a device: a summary, a heading, or a fault.
    fn no_event<'a>(&mut self, line: &Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        let text = line.line().trim_ascii();
        let heading = [&b"CPU"[..], b"Total (", b"Throughput", b"Events (", b"Skips:", b"Input file", b"==="];
        self.in_summary |= heading.iter().any(|h| text.starts_with(h)) || is_process(text);
        if self.in_summary || text.is_empty() {
            return Ok(None);
        }
        Err(line.fault("is not a device", "expected major,minor and an event, or a summary"))
    }
}

/// Skips blanks and a whole number.
#[inline]
fn number(line: &mut Cursor<'_>, what: &'static str) -> std::result::Result<u64, Fault> {
    gap(line)?;
    line.uint().ok_or_else(|| line.fault(what, "expected a whole number"))
}

/// Skips the blanks between two fields.
#[inline]
fn gap(line: &mut Cursor<'_>) -> std::result::Result<(), Fault> {
    if line.blanks() { Ok(()) } else { Err(line.fault("is not a number", "expected a number and a blank")) }
}

/// Returns flush and FUA of the RWBS letters: an F before the operation, or instead of it, is a flush, one after it is
/// FUA. A flush without a request (F, FF, FN, or of length 0) counts for the next request.
#[inline]
pub(super) fn flags_of(rwbs: &[u8]) -> u8 {
    let (flush, rest) = match rwbs {
        [b'F', rest @ ..] => (flags::FLUSH, rest),
        _ => (0, rwbs),
    };
    let fua = matches!(rest, [b'W' | b'R' | b'D', b'F', ..]);
    flush | if fua { flags::FUA } else { 0 }
}

/// Returns the operation of the RWBS letters. An F before the operation is an accompanying flush; letters after it are
/// hints (FUA, ahead, sync, meta, barrier, secure).
#[inline]
pub(super) fn operation(rwbs: &[u8]) -> Option<Op> {
    match rwbs {
        [b'W', ..] | [b'F', b'W', ..] => Some(Op::Write),
        [b'R', ..] | [b'F', b'R', ..] => Some(Op::Read),
        [b'D', ..] | [b'F', b'D', ..] => Some(Op::Trim),
        _ => None,
    }
}

/// Parses address and length: `sector + sectors`, or `sector sectors`, as a format of `blkparse -f` may have them.
#[inline]
pub(super) fn extent(line: &mut Cursor<'_>) -> Option<(u64, u64)> {
    line.blanks();
    let lba = line.uint()?;
    line.blanks();
    let has_plus = line.eat(b'+');
    line.blanks();
    let sectors = line.uint()?;
    (has_plus || line.blanks() || line.at_end()).then_some((lba, sectors))
}

/// Returns whether a line names the process of a summary: `app (77)` (`blkparse -s`).
fn is_process(text: &[u8]) -> bool {
    let Some(rest) = text.strip_suffix(b")") else { return false };
    let digits = rest.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    digits > 0 && rest[..rest.len() - digits].ends_with(b" (")
}

/// Returns the action of an event that carries a request.
fn event(line: &[u8]) -> Option<u8> {
    let mut words = line.split(|b| matches!(b, b' ' | b'\t')).filter(|w| !w.is_empty());
    is_device(words.next()?).then_some(())?;
    let [action] = words.nth(4)? else { return None };
    operation(words.next()?)?;
    let number = |word: &[u8]| word.iter().all(u8::is_ascii_digit);
    let (sector, next) = (words.next()?, words.next()?);
    (number(sector) && (next == b"+" || number(next))).then_some(*action)
}

fn is_device(word: &[u8]) -> bool {
    let mut parts = word.split(|&b| b == b',');
    let number = |p: Option<&[u8]>| p.is_some_and(|p| !p.is_empty() && p.iter().all(u8::is_ascii_digit));
    number(parts.next()) && number(parts.next()) && parts.next().is_none()
}

fn recognise(line: &[u8]) -> Likeness {
    let words: Vec<&[u8]> =
        line.split(|b| matches!(b, b' ' | b'\t')).filter(|w| !w.is_empty()).take(7).collect();
    let number = |w: &[u8]| w.iter().all(u8::is_ascii_digit);
    Likeness::sure(
        words.len() >= 7
            && is_device(words[0])
            && number(words[1])
            && number(words[2])
            && words[3].iter().all(|b| b.is_ascii_digit() || *b == b'.')
            && words[5].len() <= 2,
    )
}
