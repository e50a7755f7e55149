//! Lines read in their usual form where they have it, and by the parsers of all forms: the results are the same.

use super::blkparse::BlkParse;
use super::described::Described;
use super::nbdkit_log::NbdkitLog;
use super::rows::{Alibaba, K5Cloud, Msr, Systor17, Tencent};
use super::ssdtrace::SsdTrace;
use super::{FORMATS, samples};
use crate::intake::Record;
use crate::options::{OnBadLine, OpenOptions};
use crate::setup::Setup;
use crate::source::Source;
use crate::text::{LineFormat, TextReader};
use floatgate_base::testing::Bound;
use floatgate_base::{OptionalColumns, RequestBatch, Result, Rng};
use floatgate_input::{CHUNK, Cursor, Fault, Input, Known, Scan};

/// A format whose lines have no usual form.
struct Unusual<F>(F);

impl<F: LineFormat> LineFormat for Unusual<F> {
    fn new(setup: &Setup, head: &[u8]) -> Result<Self> {
        F::new(setup, head).map(Self)
    }

    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        self.0.parse(line)
    }

    fn columns(&self) -> OptionalColumns {
        self.0.columns()
    }

    fn extras(&mut self, bytes: u64, batch: &mut RequestBatch) {
        self.0.extras(bytes, batch);
    }

    fn device_name(key: &[u8]) -> String {
        F::device_name(key)
    }

    fn processes(&self) -> Option<Vec<u64>> {
        self.0.processes()
    }

    fn restart(&mut self) {
        self.0.restart();
    }

    fn hint_if_empty(&self) -> String {
        self.0.hint_if_empty()
    }
}

/// The form of a run: how a trace is read.
#[derive(Clone, Copy, Debug)]
struct Form {
    chunk: usize,
    batch: usize,
    on_bad_line: OnBadLine,
}

/// Collects everything that a reader returns in two passes.
fn read<F: LineFormat>(name: &str, content: &[u8], form: Form) -> Vec<String> {
    let format = FORMATS.iter().find(|format| format.name == name).unwrap();
    let options = OpenOptions { on_bad_line: form.on_bad_line, ..OpenOptions::default() };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace");
    std::fs::write(&path, content).unwrap();
    let input = Input::open(path.to_str().unwrap(), "trace").unwrap();
    let setup = Setup::new("t", format, options).unwrap();
    let mut source = TextReader::<F>::new(input, form.chunk, setup).unwrap();
    let (mut batch, mut log) = (RequestBatch::default(), Vec::new());
    let mut bound = Bound::new(100_000);
    for _ in 0..2 {
        let mut count = 0;
        loop {
            bound.step();
            batch.clear();
            let result = source.fill(&mut batch, form.batch);
            let places = (0..batch.len() as u64).map(|i| source.place_of(count + i)).collect::<Vec<_>>();
            count += batch.len() as u64;
            log.push(format!("{batch:?} {places:?} {:?} {:?}", source.summary(), source.devices()));
            if let Err(error) = &result {
                log.push(error.to_string());
            }
            if result.is_err() || batch.is_empty() {
                break;
            }
        }
        log.push(format!("{:?} {:?}", source.writers(), source.columns()));
        source.rewind().unwrap();
    }
    log
}

const WORDS: &[&[u8]] = &[
    b",",
    b" ",
    b"  ",
    b"\t",
    b"\r",
    b"\r\n",
    b"\n",
    b"\0",
    b"\xc3\xa9",
    b"\xff",
    b".",
    b"e5",
    b"-",
    b"+ ",
    b"0x",
    b"Read",
    b"Write",
    b"read",
    b"W",
    b"R",
    b"FWFS",
    b"Q",
    b"C",
    b"trim=1",
    b" trim=0",
    b" fua=1",
    b"connection=2 ",
    b"Flush",
    b"Trim",
    b"Zero",
    b"...",
    b"id=7",
    b"[java]",
    b"prxy",
    b"8,16",
    b"18446744073709551616",
    b"2026-11-21 02:56:10.852818 ",
    b" \t",
    b"\t ",
    b"                         ",
];

/// Changes a line, or leaves it as it is.
fn vary(mut line: Vec<u8>, rng: &mut Rng) -> Vec<u8> {
    for _ in 0..[0, 1, 1, 1, 2, 3][rng.below(6) as usize] {
        let at = rng.below(line.len() as u64 + 1) as usize;
        // Mostly the digits of a number.
        if rng.below(3) > 0 {
            let Some(from) = (at..line.len()).find(|&i| line[i].is_ascii_digit()) else { continue };
            let len = line[from..].iter().take_while(|b| b.is_ascii_digit()).count();
            let digits = (0..rng.below(22)).map(|_| b'0' + rng.below(10) as u8).collect::<Vec<u8>>();
            line.splice(from..from + len, digits);
            continue;
        }
        let word = WORDS[rng.below(WORDS.len() as u64) as usize];
        let long = [b'x'; 300];
        match rng.below(8) {
            0 => drop(line.splice(at..at, long[..rng.below(300) as usize].iter().copied())),
            1 => line.truncate(at),
            2 | 3 => drop(line.drain(at..(at + 1 + rng.below(4) as usize).min(line.len()))),
            4 if at < line.len() => line[at] = line[at].to_ascii_uppercase(),
            _ => drop(line.splice(at..at, word.iter().copied())),
        }
    }
    line
}

/// Compares both ways on random valid and damaged lines.
fn compare<F: LineFormat>(name: &str) {
    let base = std::env::var("FLOATGATE_SEED").ok().and_then(|seed| seed.parse().ok());
    let cases = std::env::var("FLOATGATE_FUZZ_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    for seed in base.map_or(0..cases, |seed: u64| seed..seed + 1) {
        let mut rng = Rng::new(seed, name);
        let sample = samples::bytes(name);
        let lines: Vec<&[u8]> = sample.split(|b| *b == b'\n').collect();
        let mut content = Vec::new();
        for _ in 0..=rng.below(100) {
            let line = lines[rng.below(lines.len() as u64) as usize].to_vec();
            content.extend(vary(line, &mut rng));
            content.extend(if rng.below(8) == 0 { &b"\r\n"[..] } else { b"\n" });
        }
        content.truncate(content.len() - [0, 1, 5][rng.below(3) as usize].min(content.len() - 1));
        let form = Form {
            chunk: if rng.below(2) == 0 { CHUNK } else { 1 + rng.below(400) as usize },
            batch: 1 + rng.below(150) as usize,
            on_bad_line: if rng.below(4) == 0 { OnBadLine::Stop } else { OnBadLine::Skip },
        };
        let usual = read::<F>(name, &content, form);
        let expected = read::<Unusual<F>>(name, &content, form);
        for (i, (usual, expected)) in usual.iter().zip(&expected).enumerate() {
            assert_eq!(usual, expected, "{name}, FLOATGATE_SEED={seed}, {form:?}, step {i}");
        }
        assert_eq!(usual.len(), expected.len(), "{name}, FLOATGATE_SEED={seed}");
    }
}

#[test]
fn usual_lines_of_columns_are_read_as_by_all_forms() {
    compare::<Described<Msr>>("msr");
    compare::<Described<Alibaba>>("alibaba");
    compare::<Described<Tencent>>("tencent");
    compare::<Described<Systor17>>("systor17");
    compare::<Described<K5Cloud>>("k5cloud");
}

#[test]
fn usual_lines_of_blkparse_are_read_as_by_all_forms() {
    compare::<BlkParse>("blkparse");
    compare::<SsdTrace>("ssdtrace");
}

#[test]
fn usual_lines_of_nbdkit_are_read_as_by_all_forms() {
    compare::<NbdkitLog>("nbdkit-log");
}

/// Counts the lines of a trace that have the usual form, as the second of two equal lines.
fn usual_lines<F: LineFormat>(name: &str, content: &str) -> usize {
    assert!(F::HAS_USUAL);
    let format = FORMATS.iter().find(|format| format.name == name).unwrap();
    let setup = Setup::new("t", format, OpenOptions::default()).unwrap();
    let mut reader = F::new(&setup, content.as_bytes()).unwrap();
    let is_usual = |line: &str, reader: &mut F| {
        let bytes = [format!("{line}\n").as_bytes(), &[b'\n'; 300]].concat();
        let _ = reader.parse(&mut Cursor::new(&bytes, line.len()));
        let usual = reader.usual(Scan::new(&bytes).unwrap(), Known::NONE);
        usual.inspect(|usual| assert_eq!(usual.bytes, line.len() + 1)).is_some()
    };
    content.lines().filter(|line| is_usual(line, &mut reader)).count()
}

#[test]
fn the_form_that_tools_write_is_the_usual_one() {
    let sample = |name| String::from_utf8(samples::bytes(name)).unwrap();
    assert_eq!(usual_lines::<Described<Msr>>("msr", &sample("msr")), 2);
    assert_eq!(
        usual_lines::<Described<Tencent>>("tencent", &sample("tencent")),
        sample("tencent").lines().count()
    );
    // Not the event without a sector and the two lines of the summary.
    assert_eq!(
        usual_lines::<BlkParse>("blkparse", &sample("blkparse")),
        sample("blkparse").lines().count() - 3
    );
    // Not the connection.
    assert_eq!(usual_lines::<NbdkitLog>("nbdkit-log", &sample("nbdkit-log")), 3);
}
