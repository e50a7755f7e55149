//! The files that blktrace writes, one per CPU, as one stream of events in the order of time.
//!
//! `NAME.blktrace.0` stands for all files of its recording, as `blkparse NAME` reads them; another number is read by
//! itself. Equal times are in the order of CPU numbers. A CPU that is interrupted while it writes an event may store two
//! in the wrong order: each CPU's next events are sorted, too.

use super::blktrace::{EVENT, Order};
use floatgate_base::{Error, Place, Result};
use floatgate_input::Input;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Read};
use std::path::Path;

/// Events per CPU among which the next one is searched.
const AHEAD: usize = 64;

/// Returns the files of the recording of which `path` is the first, in the order of CPU numbers; none if it is not the
/// first of several.
pub(super) fn files(path: &str) -> Vec<String> {
    let Some((stem, ending)) = path.rsplit_once(".blktrace.") else { return Vec::new() };
    let digits = ending.bytes().take_while(u8::is_ascii_digit).count();
    let (number, packed) = ending.split_at(digits);
    if number.parse() != Ok(0u32) {
        return Vec::new();
    }
    let (folder, name) = match stem.rsplit_once('/') {
        Some((folder, name)) => (format!("{folder}/"), name),
        None => (String::new(), stem),
    };
    let prefix = format!("{name}.blktrace.");
    let listed = std::fs::read_dir(if folder.is_empty() { Path::new(".") } else { Path::new(&folder) });
    let names =
        listed.into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut numbered: Vec<(u32, String)> = names
        .filter_map(|other| {
            let number = other.strip_prefix(&prefix)?.strip_suffix(packed)?;
            number.bytes().all(|b| b.is_ascii_digit()).then_some(())?;
            Some((number.parse().ok()?, format!("{folder}{other}")))
        })
        .collect();
    numbered.sort();
    numbered.into_iter().map(|(_, path)| path).collect()
}

/// Opens the files of a recording as one stream.
pub(super) fn open(path: &str, what: &'static str) -> Result<Box<dyn Read + Send>> {
    let mut merged = Merged::default();
    for (number, path) in files(path).iter().enumerate() {
        let mut cpu = Cpu { input: Input::open(path, what)?, order: None, at: 0 };
        // A CPU without events leaves an empty file.
        let head = cpu.input.peek(EVENT)?;
        if head.is_empty() {
            continue;
        }
        cpu.order = Order::of(head);
        if cpu.order.is_none() {
            let place = Place::Byte { path: path.clone(), byte: 0 };
            return Err(Error::input(place, "no blktrace event", "expected the files of one recording"));
        }
        merged.cpus.push((number, cpu));
    }
    Ok(Box::new(merged))
}

/// The file of one CPU.
struct Cpu {
    input: Input,
    order: Option<Order>,
    /// Bytes delivered.
    at: u64,
}

/// What follows in a file.
enum Next {
    Event(u64, Vec<u8>),
    /// The beginning of one that the end of the file cuts short.
    Cut(Vec<u8>),
    End,
}

impl Cpu {
    fn next(&mut self) -> Result<Next> {
        let Some(order) = self.order else { return Ok(Next::End) };
        let mut event = vec![0; EVENT];
        let n = self.input.read_full(&mut event)?;
        if n < EVENT {
            event.truncate(n);
            return Ok(if n == 0 { Next::End } else { Next::Cut(event) });
        }
        let length = order.length(&event).map_err(|fault| {
            let place = Place::Byte { path: self.input.name().into(), byte: self.at };
            Error::input(place, fault.what, fault.expected)
        })?;
        event.resize(length, 0);
        let n = self.input.read_full(&mut event[EVENT..])?;
        self.at += length as u64;
        if EVENT + n < length {
            event.truncate(EVENT + n);
            return Ok(Next::Cut(event));
        }
        Ok(Next::Event(order.time(&event), event))
    }
}

/// The next event of a CPU: time, CPU, order within its file, bytes.
type Event = (u64, usize, u64, Vec<u8>);

/// Events of all CPUs.
#[derive(Default)]
struct Merged {
    cpus: Vec<(usize, Cpu)>,
    ahead: BinaryHeap<Reverse<Event>>,
    read: u64,
    started: bool,
    /// Bytes that are being delivered, and how many of them are.
    current: Vec<u8>,
    delivered: usize,
    /// The beginning of an event that a file cuts short: delivered last.
    cut: Option<Vec<u8>>,
}

impl Merged {
    fn pull(&mut self, place: usize) -> Result<()> {
        let (number, cpu) = &mut self.cpus[place];
        match cpu.next()? {
            Next::Event(time, event) => {
                self.read += 1;
                self.ahead.push(Reverse((time, *number, self.read, event)));
            }
            Next::Cut(bytes) => self.cut = Some(bytes),
            Next::End => {}
        }
        Ok(())
    }

    fn advance(&mut self) -> Result<()> {
        if !std::mem::replace(&mut self.started, true) {
            for place in 0..self.cpus.len() {
                (0..AHEAD).try_for_each(|_| self.pull(place))?;
            }
        }
        self.delivered = 0;
        self.current.clear();
        if let Some(Reverse((_, number, _, event))) = self.ahead.pop() {
            self.current = event;
            if let Some(place) = self.cpus.iter().position(|(other, _)| *other == number) {
                self.pull(place)?;
            }
        } else if let Some(bytes) = self.cut.take() {
            self.current = bytes;
        }
        Ok(())
    }
}

impl Read for Merged {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.delivered == self.current.len() {
            self.advance().map_err(|error| io::Error::other(error.to_string()))?;
        }
        let n = buf.len().min(self.current.len() - self.delivered);
        buf[..n].copy_from_slice(&self.current[self.delivered..self.delivered + n]);
        self.delivered += n;
        Ok(n)
    }
}
