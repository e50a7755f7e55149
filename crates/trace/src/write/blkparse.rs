//! blkparse's default text: one event Q per request, nine decimals of a second, sectors of 512 bytes.
//!
//! Devices named `major,minor` keep their names; others get a minor number of the extended block devices. Requests that
//! cut sectors are widened to whole ones.

use super::encoder::{Encoder, Names, Request, push, sectors};
use super::report::WriteReport;
use floatgate_base::Op;

/// Major number of block devices whose drivers have none of their own.
const EXTENDED: u64 = 259;
const SECOND_NS: u64 = 1_000_000_000;

#[derive(Default)]
pub(super) struct BlkParse {
    devices: Names<String>,
}

fn is_pair(name: &str) -> bool {
    let number = |s: &str| !s.starts_with('+') && s.parse::<u64>().is_ok();
    name.split_once(',').is_some_and(|(major, minor)| number(major) && number(minor))
}

fn candidates(name: &str) -> Box<dyn Iterator<Item = String>> {
    let own = is_pair(name).then(|| name.to_owned());
    Box::new(own.into_iter().chain((0u64..).map(|minor| format!("{EXTENDED},{minor}"))))
}

impl Encoder for BlkParse {
    fn request(&mut self, r: &Request, name: &str, out: &mut Vec<u8>, report: &mut WriteReport) {
        let (first, count) = sectors(r, report);
        let ns = report.unsigned_time(r.time_ns, 1);
        out.extend_from_slice(self.devices.of(r.device, name, candidates, report).as_bytes());
        out.extend_from_slice(b" 0 ");
        report.requests += 1;
        push(out, report.requests, b' ');
        push(out, ns / SECOND_NS, b'.');
        // A 1 before the nine decimals preserves their zeros; then the point replaces it.
        let point = out.len() - 1;
        out.pop();
        push(out, SECOND_NS + ns % SECOND_NS, b' ');
        out[point] = b'.';
        push(out, u64::from(r.process), b' ');
        out.extend_from_slice(match r.op {
            Op::Read => b"Q R ",
            Op::Write => b"Q W ",
            Op::Trim => b"Q D ",
        });
        push(out, first, b' ');
        out.extend_from_slice(b"+ ");
        push(out, count, b' ');
        out.extend_from_slice(b"[floatgate]\n");
    }
}
