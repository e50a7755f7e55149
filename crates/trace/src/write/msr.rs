//! MSR Cambridge CSV: the first request gets the first stamp of the original collection, response times are 0.

use super::encoder::{Encoder, Names, Request, is_command, push};
use super::report::WriteReport;
use floatgate_base::Op;

/// FILETIME of the first stamp; negative times remain possible after it.
const FIRST_TICKS: u64 = 128_166_372_000_000_000;

#[derive(Default)]
pub(super) struct Msr {
    devices: Names<Disk>,
}

#[derive(PartialEq)]
struct Disk {
    host: String,
    number: u64,
}

impl std::fmt::Display for Disk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}_{}", self.host, self.number)
    }
}

/// Host and disk: `prxy_0` is disk 0 of prxy, other names are hosts.
fn candidates(name: &str) -> Box<dyn Iterator<Item = Disk>> {
    // A spreadsheet would evaluate a cell that begins like a formula.
    let formula = |at: usize, c: char| at == 0 && matches!(c, '=' | '+' | '-' | '@');
    let clean = |s: &str| -> String {
        s.chars()
            .enumerate()
            .map(|(at, c)| if c == ',' || is_command(c) || formula(at, c) { '_' } else { c })
            .collect()
    };
    let split = name.rsplit_once('_').and_then(|(host, disk)| {
        let number: u64 = disk.parse().ok()?;
        // Only names that read back unchanged.
        (!host.is_empty() && number.to_string() == disk).then_some((host, number))
    });
    let (host, own) = split.unwrap_or((if name.is_empty() { "device" } else { name }, 0));
    let host = clean(host);
    Box::new(std::iter::once(own).chain(0..).map(move |number| Disk { host: host.clone(), number }))
}

impl Encoder for Msr {
    fn request(&mut self, r: &Request, name: &str, out: &mut Vec<u8>, report: &mut WriteReport) {
        let kind: &[u8] = match r.op {
            Op::Read => b",Read,",
            Op::Write => b",Write,",
            Op::Trim => {
                report.trims_left_out += 1;
                return;
            }
        };
        // Times of 64 bits in nanoseconds reach back 292 years, not to the beginning of this clock.
        let ticks = FIRST_TICKS.saturating_add_signed(r.time_ns.div_euclid(100));
        report.stamps_rounded += u64::from(r.time_ns.rem_euclid(100) != 0);
        push(out, ticks, b',');
        let Disk { host, number } = self.devices.of(r.device, name, candidates, report);
        out.extend_from_slice(host.as_bytes());
        out.push(b',');
        push(out, *number, b',');
        out.pop();
        out.extend_from_slice(kind);
        push(out, r.offset, b',');
        push(out, r.bytes, b',');
        out.extend_from_slice(b"0\n");
        report.requests += 1;
    }
}
