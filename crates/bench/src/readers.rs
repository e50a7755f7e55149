//! Readers alone, from warm files: lines or records per CPU second.

use crate::measure::{rate, rounds};
use crate::report::{Metric, Report};
use floatgate_base::{RequestBatch, Rng};
use floatgate_trace::{OpenOptions, open};
use std::io::Write as _;
use std::path::{Path, PathBuf};

const LINES: u64 = 4_000_000;
const RECORDS: u64 = 10_000_000;
/// MSR's columns as a user describes them.
const MSR_COLUMNS: &str = "time:filetime skip skip op:RW offset:bytes size:bytes";

/// Reads a trace to its end.
pub fn read(path: &Path) {
    read_with(path, &OpenOptions::default());
}

fn read_with(path: &Path, options: &OpenOptions) {
    let mut source = open(&path.to_string_lossy(), options).expect("the bench's trace opens");
    let mut batch = RequestBatch::default();
    loop {
        batch.clear();
        source.fill(&mut batch, RequestBatch::DEFAULT_LEN).expect("the bench's trace is valid");
        if batch.is_empty() {
            return;
        }
    }
}

/// A file of the benchmark, removed when dropped.
pub struct File(pub PathBuf);

impl File {
    /// Writes the file.
    pub fn new(extension: &str, write: impl FnOnce(&mut dyn std::io::Write)) -> Self {
        let name = format!("floatgate-bench-{}.{extension}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let file = std::fs::File::create(&path).expect("the temporary folder can be written");
        let mut out = std::io::BufWriter::with_capacity(1 << 20, file);
        write(&mut out);
        out.flush().expect("the temporary folder has room");
        Self(path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Measures each reader; required rates are in millions.
pub fn all(report: &mut Report) {
    report.group("readers", "Readers alone, from warm files, one core");
    let rows: [(&str, &str, u64, f64, Writer); 8] = [
        ("MSR CSV, M lines/s", "msr", LINES, 4.0, msr),
        // The same lines by a description of the user: at least 0.8 of the reader written for them.
        ("described columns, M lines/s", "columns", LINES, 3.2, msr),
        ("blkparse, all events, M lines/s", "blkparse", LINES, 1.5, blkparse),
        ("nbdkit-log, calls and returns, M lines/s", "nbdkit", LINES, 1.5, nbdkit),
        ("blktrace, all events, M events/s", "blktrace", RECORDS, 5.0, blktrace),
        ("HP SRT, M records/s", "srt", RECORDS, 20.0, srt),
        ("vscsi version 1, M records/s", "vscsi", RECORDS, 20.0, vscsi),
        ("oracleGeneral, M records/s", "oracle", RECORDS, 20.0, oracle),
    ];
    for (name, extension, count, required, writer) in rows {
        let file = File::new(extension, |out| writer(count, out));
        let options = match extension {
            "columns" => OpenOptions::default().with_columns(MSR_COLUMNS).expect("the description is valid"),
            _ => OpenOptions::default(),
        };
        let pass = || read_with(&file.0, &options);
        pass();
        let rates = rounds(|| rate(count, pass));
        report.print(name, &Metric::rate(format!("{extension}/read"), "M/s", &rates).at_least(required));
    }
}

type Writer = fn(u64, &mut dyn std::io::Write);

fn msr(lines: u64, out: &mut dyn std::io::Write) {
    let mut rng = Rng::new(1, "msr readers");
    for i in 0..lines {
        let op = if rng.below(5) == 0 { "Read" } else { "Write" };
        let (time, offset, took) =
            (128_166_372_003_061_629 + i * 5000, rng.below(1 << 30) * 512, rng.below(20_000));
        writeln!(out, "{time},prxy,0,{op},{offset},{},{took}", 512 << rng.below(8)).expect("there is room");
    }
}

/// Writes blkparse lines: each request is queued, allocated, inserted, issued and completed.
fn blkparse(lines: u64, out: &mut dyn std::io::Write) {
    let mut rng = Rng::new(1, "blkparse readers");
    let (mut sector, mut words) = (0, "R");
    for i in 0..lines {
        let action = ["Q", "G", "I", "D", "C"][(i % 5) as usize];
        if i % 5 == 0 {
            sector = rng.below(1 << 30) * 8;
            words = ["R", "W", "WS", "RA"][rng.below(4) as usize];
        }
        let (cpu, process) = (rng.below(8), if action == "C" { "0" } else { "java" });
        writeln!(
            out,
            "  8,16  {cpu:>2} {i:>8} {:>5}.{:09} {:>5}  {action} {words:>3} {sector} + 8 [{process}]",
            i / 1_000_000,
            i % 1_000_000 * 1000,
            4000 + cpu
        )
        .expect("there is room");
    }
}

/// Writes lines of nbdkit's log: each request is called and returns.
fn nbdkit(lines: u64, out: &mut dyn std::io::Write) {
    let mut rng = Rng::new(1, "nbdkit readers");
    for i in 0..lines / 2 {
        let (ms, word) = (i / 10, ["Read", "Write", "Write", "Trim", "Zero"][rng.below(5) as usize]);
        let (minute, second, micro) = (ms / 60_000 % 60, ms / 1000 % 60, ms % 1000 * 1000 + i % 10 * 100);
        let head =
            format!("2026-07-01 {:02}:{minute:02}:{second:02}.{micro:06} connection=1", ms / 3_600_000);
        let (offset, count) = (rng.below(1 << 28) * 512, 512 << rng.below(8));
        let trim = if word == "Zero" { "trim=1 " } else { "" };
        let fua = if word != "Read" { "fua=0 " } else { "" };
        writeln!(out, "{head} {word} id={i} offset={offset:#x} count={count:#x} {trim}{fua}...")
            .and_then(|()| writeln!(out, "{head} ...{word} id={i} return=0"))
            .expect("there is room");
    }
}

/// Writes binary events: each request is queued, allocated, inserted, issued and completed.
fn blktrace(records: u64, out: &mut dyn std::io::Write) {
    let mut rng = Rng::new(1, "blktrace readers");
    let (mut sector, mut bits) = (0, 0);
    for i in 0..records {
        let action = [0x10_0001u32, 4, 0x10_000c, 0x40_0007, 0x80_0008][(i % 5) as usize];
        if i % 5 == 0 {
            sector = rng.below(1 << 30) * 8;
            bits = [1 << 16, 1 << 17, 1 << 17 | 1 << 19, 1 << 16 | 1 << 27][rng.below(4) as usize];
        }
        let cpu = rng.below(8) as u32;
        let head = [0x6561_7407, i as u32].map(u32::to_le_bytes).concat();
        let times = [i * 1000, sector].map(u64::to_le_bytes).concat();
        let tail = [4096, action | bits, 4000 + cpu, 8 << 20 | 16, cpu, 0].map(u32::to_le_bytes).concat();
        out.write_all(&[head, times, tail].concat()).expect("there is room");
    }
}

fn srt(records: u64, out: &mut dyn std::io::Write) {
    let mut rng = Rng::new(1, "srt readers");
    out.write_all(b"$$TR_IOREC-1.3 (bench)\0\nsectorsize  = 256,\n\x0c").expect("there is room");
    for i in 0..records {
        let (second, micro, sector) =
            ((i / 1000) as u32, (i % 1000 * 1000) as u32, rng.below(1 << 22) as u32 * 16);
        let words = [56, 0x4_0001, second, micro, 1, 2, 4096, sector, 0x0800_0107, 4, 1, sector & 1, 0, 7];
        words.iter().for_each(|word| out.write_all(&word.to_be_bytes()).expect("there is room"));
    }
}

fn vscsi(records: u64, out: &mut dyn std::io::Write) {
    let mut rng = Rng::new(1, "vscsi readers");
    for i in 0..records {
        let command: u16 = if rng.below(2) == 0 { 0x28 } else { 0x2a };
        let counts = [i as u32, 4096, 1].map(u32::to_le_bytes).concat();
        let head = [command.to_le_bytes(), 0x100u16.to_le_bytes()].concat();
        let tail = [rng.below(1 << 28) * 8, i * 100].map(u64::to_le_bytes).concat();
        out.write_all(&[counts, head, tail].concat()).expect("there is room");
    }
}

fn oracle(records: u64, out: &mut dyn std::io::Write) {
    let mut rng = Rng::new(1, "oracle readers");
    for i in 0..records {
        out.write_all(&((i / 1000) as u32).to_le_bytes()).expect("there is room");
        out.write_all(&(rng.below(1 << 28) * 8).to_le_bytes()).expect("there is room");
        out.write_all(&4096u32.to_le_bytes()).expect("there is room");
        out.write_all(&((i + 1 + rng.below(1 << 20)) as i64).to_le_bytes()).expect("there is room");
    }
}
