//! fio iolog: a header, and files that are added and opened at their first request and closed at the end.

use super::encoder::{Encoder, Names, Request, is_command, push};
use super::report::WriteReport;
use floatgate_base::Op;

pub(super) struct FioIolog {
    times: bool,
    files: Names<String>,
    last_us: u64,
}

impl FioIolog {
    /// Creates version 3 with times, else version 2.
    pub fn new(times: bool) -> Self {
        Self { times, files: Names::default(), last_us: 0 }
    }

    fn line(&self, us: u64, file: &str, action: &str, out: &mut Vec<u8>) {
        if self.times {
            push(out, us, b' ');
        }
        out.extend_from_slice(file.as_bytes());
        out.push(b' ');
        out.extend_from_slice(action.as_bytes());
    }
}

/// A blank would end the name.
fn candidates(name: &str) -> Box<dyn Iterator<Item = String>> {
    let plain: String =
        name.chars().map(|c| if c.is_whitespace() || is_command(c) { '_' } else { c }).collect();
    let plain = if plain.is_empty() { "device".to_owned() } else { plain };
    let more = plain.clone();
    Box::new(std::iter::once(plain).chain((2u64..).map(move |i| format!("{more}_{i}"))))
}

impl Encoder for FioIolog {
    fn begin(&mut self, out: &mut Vec<u8>) {
        let version = if self.times { 3 } else { 2 };
        out.extend_from_slice(format!("fio version {version} iolog\n").as_bytes());
    }

    fn request(&mut self, r: &Request, name: &str, out: &mut Vec<u8>, report: &mut WriteReport) {
        let us = if self.times { report.unsigned_time(r.time_ns, 1000) } else { 0 };
        let new = !self.files.knows(r.device);
        let file = self.files.of(r.device, name, candidates, report).clone();
        if new {
            self.line(us, &file, "add\n", out);
            self.line(us, &file, "open\n", out);
        }
        let action = match r.op {
            Op::Read => "read ",
            Op::Write => "write ",
            Op::Trim => "trim ",
        };
        self.line(us, &file, action, out);
        push(out, r.offset, b' ');
        push(out, r.bytes, b'\n');
        self.last_us = self.last_us.max(us);
        report.requests += 1;
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        for file in self.files.all() {
            self.line(self.last_us, file, "close\n", out);
        }
    }
}
