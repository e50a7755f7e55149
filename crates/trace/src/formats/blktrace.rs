//! blktrace's binary events, as the kernel writes them: `NAME.blktrace.CPU`.
//!
//! An event has 48 bytes and a payload: `u32 magic, u32 sequence, u64 time, u64 sector, u32 bytes, u32 action, u32 pid,
//! u32 device, u32 cpu, u16 error, u16 payload length` (Linux, `include/uapi/linux/blktrace_api.h`). The magic number
//! holds the version, and its order of bytes is that of the machine that recorded. Requests are those that
//! blkparse's text shows (`blkparse.rs`). Events without data, commands that pass through (BLK_TC_PC) and notes (names
//! of processes, messages) are not requests; they are counted as other records. A flush without data is attached to the
//! next request. The files of several CPUs are merged (`blktrace_cpus.rs`).

use super::block_events::{Events, Processes};
use super::{FormatInfo, Likeness, blktrace_cpus, no_line};
use crate::binary::{BinaryReader, RecordFormat, field_fault, u16_le, u32_le, u64_le};
use crate::intake::Record;
use crate::options::LbaUnit;
use crate::setup::Setup;
use crate::source::Source;
use floatgate_base::batch::flags;
use floatgate_base::{Error, Op, OptionalColumns, Place, RequestBatch, Result};
use floatgate_input::{Fault, Input, scaled};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "blktrace",
    summary: "blktrace events (Linux), binary, of one or several CPUs",
    line: "expected events of version 7, each of 48 bytes and its payload",
    units: "time in nanoseconds, address in sectors of 512 bytes, size in bytes",
    states_units: true,
    time_unit: None,
    other_time_units: &[],
    lba_unit: Some(LbaUnit::Sector),
    extensions: &["blktrace"],
    has_times: true,
    has_actions: true,
    recognise: no_line,
    recognise_head,
    reader,
};

/// Bytes of an event before its payload.
pub(super) const EVENT: usize = 48;
/// The magic number without the version in its last byte.
const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;
/// Longest payload: names and messages are much shorter.
const PAYLOAD_MAX: usize = 16 << 10;

/// Categories of an action, in its upper half.
mod category {
    pub const WRITE: u32 = 1 << 17;
    pub const FLUSH: u32 = 1 << 18;
    pub const PASS_THROUGH: u32 = 1 << 25;
    pub const NOTE: u32 = 1 << 26;
    pub const DISCARD: u32 = 1 << 29;
    pub const FUA: u32 = 1 << 31;
}
/// Set in the action of an event with a control group, whose number begins the payload.
const HAS_GROUP: u32 = 1 << 8;

/// The order of bytes of a recording.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Order {
    big: bool,
}

impl Order {
    /// Returns the order in which the first event is one of the known version.
    pub fn of(event: &[u8]) -> Option<Self> {
        [false, true].into_iter().map(|big| Self { big }).find(|order| order.is_event(event))
    }

    #[inline]
    pub fn is_event(self, event: &[u8]) -> bool {
        event.len() >= 4 && self.u32(event, 0) == MAGIC | VERSION
    }

    #[inline]
    fn u32(self, event: &[u8], at: usize) -> u32 {
        let value = u32_le(event, at);
        if self.big { value.swap_bytes() } else { value }
    }

    #[inline]
    fn u64(self, event: &[u8], at: usize) -> u64 {
        let value = u64_le(event, at);
        if self.big { value.swap_bytes() } else { value }
    }

    /// Returns the time of an event.
    pub fn time(self, event: &[u8]) -> u64 {
        self.u64(event, 8)
    }

    /// Returns the length of the payload.
    #[inline]
    fn payload(self, event: &[u8]) -> usize {
        let payload = u16_le(event, 46);
        usize::from(if self.big { payload.swap_bytes() } else { payload })
    }

    /// Returns the length of an event with its payload.
    #[inline]
    pub fn length(self, event: &[u8]) -> std::result::Result<usize, Fault> {
        if !self.is_event(event) {
            let expected = "expected that of the first event";
            return Err(field_fault(0, 4, "is another magic number", expected));
        }
        let payload = self.payload(event);
        if payload > PAYLOAD_MAX {
            return Err(field_fault(46, 2, "is too long a payload", "expected at most 16384 bytes"));
        }
        Ok(EVENT + payload)
    }
}

pub(super) struct Blktrace {
    order: Order,
    lba_bytes: u64,
    events: Events,
    /// Flushes since the last request, and the flags of the current one.
    flags: u8,
    processes: Processes,
    /// Key of the last request's device, most significant byte first.
    device: [u8; 4],
}

/// Returns the letter of an action that carries a request, as blkparse prints it.
#[inline]
fn letter(action: u32) -> Option<u8> {
    match action & 0xffff & !HAS_GROUP {
        1 => Some(b'Q'),
        2 => Some(b'M'),
        3 => Some(b'F'),
        4 => Some(b'G'),
        5 => Some(b'S'),
        6 => Some(b'R'),
        7 => Some(b'D'),
        8 => Some(b'C'),
        12 => Some(b'I'),
        14 => Some(b'B'),
        15 => Some(b'A'),
        _ => None,
    }
}

/// Returns what an action does with data, of which there are `bytes`.
#[inline]
fn operation(action: u32, bytes: u32) -> Option<Op> {
    if action & category::DISCARD != 0 {
        Some(Op::Trim)
    } else if action & category::WRITE != 0 {
        Some(Op::Write)
    } else {
        (bytes > 0).then_some(Op::Read)
    }
}

impl Blktrace {
    /// Returns the letter of an event that carries a request; none for one that carries no data.
    fn request(order: Order, event: &[u8]) -> Option<u8> {
        let (bytes, action) = (order.u32(event, 24), order.u32(event, 28));
        let has_data = action & (category::PASS_THROUGH | category::NOTE) == 0 && bytes >= 512;
        letter(action).filter(|_| has_data && operation(action, bytes).is_some())
    }
}

/// Lists the letters of the requests in the head of a trace.
fn letters(order: Order, mut head: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while head.len() >= EVENT {
        let Ok(length) = order.length(head) else { break };
        out.extend(Blktrace::request(order, head));
        head = head.get(length..).unwrap_or_default();
    }
    out
}

impl RecordFormat for Blktrace {
    fn new(setup: &Setup, head: &[u8]) -> Result<Self> {
        let Some(order) = Order::of(head) else {
            let place = Place::Byte { path: setup.path.clone(), byte: 0 };
            return Err(Error::input(place, "the first event is not one of version 7", INFO.line));
        };
        Ok(Self {
            order,
            lba_bytes: setup.lba_bytes,
            events: Events::new(setup.action(), letters(order, head).into_iter(), None),
            flags: 0,
            processes: Processes::default(),
            device: [0; 4],
        })
    }

    #[inline]
    fn shortest(&self) -> usize {
        EVENT
    }

    #[inline]
    fn length(&self, bytes: &[u8]) -> std::result::Result<usize, Fault> {
        self.order.length(bytes)
    }

    #[inline]
    fn parse<'a>(&'a mut self, event: &'a [u8]) -> std::result::Result<Option<Record<'a>>, Fault> {
        let order = self.order;
        let action = order.u32(event, 28);
        if action & category::NOTE != 0 {
            return Ok(None);
        }
        match letter(action) {
            Some(letter) if letter == self.events.action => {}
            Some(letter) => {
                self.events.note_other(letter);
                return Ok(None);
            }
            None => return Ok(None),
        }
        let bytes = order.u32(event, 24);
        let op = operation(action, bytes);
        self.flags &= flags::FLUSH;
        if action & category::FLUSH != 0 {
            self.flags |= flags::FLUSH;
        }
        if action & category::FUA != 0 && op.is_some() {
            self.flags |= flags::FUA;
        }
        // The text has whole sectors, and none for a command that passes through.
        let sectors = u64::from(bytes / 512);
        let Some(op) = op.filter(|_| sectors > 0 && action & category::PASS_THROUGH == 0) else {
            return Ok(None);
        };
        self.device = order.u32(event, 36).to_be_bytes();
        self.processes.see(u64::from(order.u32(event, 32)));
        Ok(Some(Record {
            stamp: i128::from(order.time(event)),
            op,
            offset: scaled(order.u64(event, 16), self.lba_bytes)?,
            bytes: sectors * 512,
            device: &self.device,
        }))
    }

    fn device_name(key: &[u8]) -> String {
        let number = key.iter().fold(0u32, |number, &byte| number << 8 | u32::from(byte));
        format!("{},{}", number >> 20, number & 0xf_ffff)
    }

    fn processes(&self) -> Option<Vec<u64>> {
        Some(self.processes.all())
    }

    fn columns(&self) -> OptionalColumns {
        OptionalColumns { flags: true, stream: true, stream_is_process: true, ..OptionalColumns::default() }
    }

    #[inline]
    fn extras(&mut self, batch: &mut RequestBatch) {
        batch.flags.push(std::mem::take(&mut self.flags));
        batch.stream.push(self.processes.last());
    }

    fn restart(&mut self) {
        self.flags = 0;
    }

    /// A recording that was stopped hard ends anywhere.
    fn tail_may_be_cut(&self) -> bool {
        true
    }

    fn assumed(&self, out: &mut Vec<String>) {
        self.events.assumed(out);
    }

    fn hint_if_empty(&self) -> String {
        self.events.hint_if_empty()
    }
}

/// Creates the reader: of one file, or of the files of all CPUs.
fn reader(input: Input, chunk: usize, setup: Setup) -> Result<Box<dyn Source>> {
    let files = if input.reopens() { blktrace_cpus::files(&setup.path) } else { Vec::new() };
    if files.len() < 2 {
        return Ok(Box::new(BinaryReader::<Blktrace>::new(input, chunk, setup)?));
    }
    let merged = Input::of_files(&setup.path, "trace", blktrace_cpus::open)?;
    let mut reader = BinaryReader::<Blktrace>::new(merged, chunk, setup)?;
    reader.assume(format!("{} files of CPUs, merged by time", files.len()));
    Ok(Box::new(reader))
}

fn recognise_head(head: &[u8]) -> Likeness {
    Likeness::sure(Order::of(head).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Action;

    #[test]
    fn letters_are_actions_of_the_command_line() {
        for action in 0..40 {
            if let Some(letter) = letter(action | HAS_GROUP) {
                assert!(Action::parse(std::str::from_utf8(&[letter]).unwrap()).is_ok(), "{action}");
            }
        }
    }
}
