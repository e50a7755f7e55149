//! MQSim ascii: nanoseconds, sectors of 512 bytes, 1 = read. Requests that cut sectors are widened to whole ones.

use super::encoder::{Encoder, Names, Request, push, sectors};
use super::report::WriteReport;
use floatgate_base::Op;

#[derive(Default)]
pub(super) struct MqSim {
    devices: Names<u64>,
}

/// A name that is or ends in a number keeps it.
fn candidates(name: &str) -> Box<dyn Iterator<Item = u64>> {
    let digits = name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let own: Option<u64> = name[digits..].parse().ok();
    Box::new(own.into_iter().chain(0..))
}

impl Encoder for MqSim {
    fn request(&mut self, r: &Request, name: &str, out: &mut Vec<u8>, report: &mut WriteReport) {
        if r.op == Op::Trim {
            report.trims_left_out += 1;
            return;
        }
        let (first, count) = sectors(r, report);
        push(out, report.unsigned_time(r.time_ns, 1), b' ');
        push(out, *self.devices.of(r.device, name, candidates, report), b' ');
        push(out, first, b' ');
        push(out, count, b' ');
        push(out, u64::from(r.op == Op::Read), b'\n');
        report.requests += 1;
    }
}
