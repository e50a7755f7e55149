//! Code shared by the writers of all formats: the interface, whole sectors, numbers and the names of devices.

use super::report::WriteReport;
use floatgate_base::Op;
use std::fmt::Display;

/// A request to write.
pub(super) struct Request {
    pub time_ns: i64,
    pub device: usize,
    pub op: Op,
    pub offset: u64,
    pub bytes: u64,
    /// Process that issued it, 0 if unknown.
    pub process: u32,
}

/// The encoding of one format.
pub(super) trait Encoder {
    /// Appends the beginning of the file.
    fn begin(&mut self, _out: &mut Vec<u8>) {}

    /// Appends one request; `name` is its device's.
    fn request(&mut self, r: &Request, name: &str, out: &mut Vec<u8>, report: &mut WriteReport);

    /// Appends the end of the file.
    fn end(&mut self, _out: &mut Vec<u8>) {}
}

const SECTOR: u64 = 512;
/// Most sectors of a read or write that readers accept, and the end of an address space of 2^64 bytes.
const SECTORS_MAX: u64 = (1 << 40) / SECTOR;
const SECTORS_END: u64 = u64::MAX / SECTOR;

/// Returns the first sector and number of sectors of a request, widened to whole ones.
///
/// Readers reject requests that end beyond 2^64 bytes and transfers of more than 1 TiB; widening stops at these limits.
pub(super) fn sectors(r: &Request, report: &mut WriteReport) -> (u64, u64) {
    report.widened += u64::from(!(r.offset | r.bytes).is_multiple_of(SECTOR));
    let first = (r.offset / SECTOR).min(SECTORS_END - 1);
    let end = (r.offset + (r.bytes - 1)) / SECTOR + 1;
    let count = end.min(SECTORS_END) - first;
    (first, if r.op == Op::Trim { count } else { count.min(SECTORS_MAX) })
}

/// Appends a number and one byte after it.
pub(super) fn push(out: &mut Vec<u8>, mut value: u64, then: u8) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
    out.push(then);
}

/// Names of devices in the file: created at a device's first request, all different.
pub(super) struct Names<T> {
    by_device: Vec<Option<T>>,
}

impl<T> Default for Names<T> {
    fn default() -> Self {
        Self { by_device: Vec::new() }
    }
}

/// Possible names of a device in the file, from its name in the source.
pub(super) type Candidates<T> = fn(&str) -> Box<dyn Iterator<Item = T>>;

impl<T: PartialEq + Display> Names<T> {
    /// Returns the name of the device that the source calls `name`: the first free candidate.
    pub(super) fn of(
        &mut self,
        device: usize,
        name: &str,
        candidates: Candidates<T>,
        report: &mut WriteReport,
    ) -> &T {
        if device >= self.by_device.len() {
            self.by_device.resize_with(device + 1, || None);
        }
        if self.by_device[device].is_none() {
            let free = candidates(name).find(|c| !self.by_device.iter().flatten().any(|n| n == c));
            // Readers show a name as it is displayed here.
            report.devices_renamed += u64::from(free.as_ref().is_some_and(|n| n.to_string() != name));
            self.by_device[device] = free;
        }
        match &self.by_device[device] {
            Some(name) => name,
            None => unreachable!("candidates never end"),
        }
    }

    pub(super) fn knows(&self, device: usize) -> bool {
        self.by_device.get(device).is_some_and(Option::is_some)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &T> {
        self.by_device.iter().flatten()
    }
}

/// Returns whether a terminal interprets a character of a name: control characters, and those that change the direction
/// of text or show nothing.
pub(super) fn is_command(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}
