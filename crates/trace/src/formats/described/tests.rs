//! Descriptions created at run time: they read lines written by them, and rows as the rows' own readers do.

use super::super::rows::{Alibaba, CloudPhysics, K5Cloud, Msr, Systor17, Tencent};
use super::super::samples;
use super::*;
use crate::open::tests::cases;
use crate::options::{LbaUnit, OnBadLine, OpenOptions, TimeUnit};
use crate::source::Source;
use crate::text::TextReader;
use floatgate_base::testing::Bound;
use floatgate_base::{RequestBatch, Result as Outcome};
use floatgate_input::{CHUNK, Input};
use proptest::prelude::*;
use std::cell::Cell;

thread_local! {
    /// The description of [`AtRunTime`].
    static DESCRIPTION: Cell<Description> = const { Cell::new(Alibaba::LINE) };
}

/// A reader by a description created at run time.
struct AtRunTime {
    description: Description,
    units: Units,
}

impl LineFormat for AtRunTime {
    fn new(setup: &Setup, _head: &[u8]) -> Outcome<Self> {
        Ok(Self { description: DESCRIPTION.get(), units: Units::of(setup) })
    }

    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> Result<Option<Record<'a>>, Fault> {
        if self.description.passes_over(line) {
            return Ok(None);
        }
        let mut fields = Fields::new();
        for index in 0..self.description.columns.len() {
            match self.description.column(index, self.units, line, &mut fields)? {
                Step::Next => {}
                Step::Complete => break,
                Step::Other => return Ok(None),
            }
        }
        fields.record(self.units)
    }
}

/// One request: time in ns, device by name, operation, offset, bytes.
type Request = (i64, String, Op, u64, u64);

/// Collects all requests, and the reader's summary or the error that stops it.
fn drain(mut source: Box<dyn Source>) -> (Vec<Request>, String) {
    let (mut batch, mut out) = (RequestBatch::default(), Vec::new());
    let mut bound = Bound::new(100_000);
    loop {
        bound.step();
        batch.clear();
        let result = source.fill(&mut batch, 7);
        for i in 0..batch.len() {
            let device = source.devices()[usize::from(batch.device[i])].clone();
            out.push((batch.time_ns[i], device, batch.op[i], batch.offset[i], batch.bytes[i]));
        }
        if let Err(error) = result {
            return (out, error.to_string());
        }
        if batch.is_empty() {
            return (out, format!("{:?}", source.summary()));
        }
    }
}

fn input(content: &[u8]) -> Input {
    Input::from_stream("t", "trace", Box::new(std::io::Cursor::new(content.to_vec()))).unwrap()
}

/// Reads by a description, in its units.
fn read(description: Description, content: &[u8], on_bad_line: OnBadLine) -> (Vec<Request>, String) {
    let mut options = OpenOptions { on_bad_line, ..OpenOptions::default() };
    for column in description.columns {
        match column.kind {
            Kind::Time(unit) => options.time_unit = Some(unit),
            Kind::Offset(unit) => options.lba_unit = Some(unit),
            _ => {}
        }
    }
    DESCRIPTION.set(description);
    // Messages show only the name and the line of the row.
    let setup = Setup::new("t", &const { Alibaba::INFO }, options).unwrap();
    drain(Box::new(TextReader::<AtRunTime>::new(input(content), CHUNK, setup).unwrap()))
}

/// Reads by a row, with its own reader and with the reader of descriptions created at run time.
fn both<R: Row>(content: &[u8], on_bad_line: OnBadLine) {
    let options = OpenOptions { on_bad_line, ..OpenOptions::default() };
    let setup = || Setup::new("t", &const { R::INFO }, options).unwrap();
    DESCRIPTION.set(std::hint::black_box(R::LINE));
    let (mut requests, last) =
        drain(Box::new(TextReader::<AtRunTime>::new(input(content), CHUNK, setup()).unwrap()));
    for request in &mut requests {
        request.1 = Described::<R>::device_name(request.1.as_bytes());
    }
    assert_eq!((requests, last), drain((R::INFO.reader)(input(content), CHUNK, setup()).unwrap()));
}

type Damage = Vec<(prop::sample::Index, u8, u8)>;

/// Changes, inserts and removes bytes.
fn damaged(mut content: Vec<u8>, damage: &Damage) -> Vec<u8> {
    for (at, byte, how) in damage {
        let at = at.index(content.len());
        match how {
            0 => content[at] = *byte,
            1 => content.insert(at, *byte),
            2 if content.len() > 1 => drop(content.remove(at)),
            _ => content.truncate(at.max(1)),
        }
    }
    content
}

fn damage(most: usize) -> impl Strategy<Value = Damage> {
    prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..4), 1..most)
}

const WORDS: &[&[(&str, Op)]] = &[
    &[("R", Op::Read), ("W", Op::Write), ("D", Op::Trim)],
    &[("read", Op::Read), ("write", Op::Write), ("discard", Op::Trim), ("unmap", Op::Trim)],
    &[("0", Op::Write), ("2", Op::Trim), ("1", Op::Read)],
    &[("trimmed", Op::Trim), ("trim", Op::Trim), ("Read", Op::Read), ("Write", Op::Write)],
];
const LBA_UNITS: [LbaUnit; 3] = [LbaUnit::Byte, LbaUnit::Sector, LbaUnit::Page4k];

/// Generates any consistent description.
fn descriptions() -> impl Strategy<Value = Description> {
    let unread = prop_oneof![
        Just(Column::number("is not a number")),
        Just(Column::text("is not text", "expected a text")),
        Just(Column::latency("is not a latency", "expected seconds or nothing")),
    ];
    let time = prop::sample::select(TimeUnit::NAMES).prop_map(|(_, unit)| Column::time(unit));
    let operation = prop_oneof![
        prop::sample::select(WORDS).prop_map(|words| Column::words(
            "is not an operation",
            "expected one",
            words
        )),
        Just(Column::scsi_code()),
    ];
    let offset =
        prop::sample::select(&LBA_UNITS[..]).prop_map(|unit| Column::offset("is not an offset", unit));
    let size = prop::sample::select(&LBA_UNITS[..]).prop_map(|unit| Column::size("is not a size", unit));
    let needed = (time, operation, offset, size, prop::collection::vec(unread, 0..4))
        .prop_map(|(time, operation, offset, size, unread)| {
            [vec![time, operation, offset, size], unread].concat()
        })
        .prop_shuffle();
    let separator = prop::sample::select(vec![b',', b';', b'|', b'\t']);
    let header = prop::sample::select(vec!["", "time", "#"]);
    (
        needed,
        0usize..3,
        any::<prop::sample::Index>(),
        separator,
        any::<bool>(),
        header,
        any::<bool>(),
        0usize..3,
    )
        .prop_map(|(mut columns, devices, at, separator, blanks, header, more, last)| {
            let blanks = blanks && devices < 2 && separator != b'\t';
            let text = Column::text("is not a host", "expected a host").device();
            let device = [text, Column::number("is not a disk").device()];
            let at = at.index(columns.len() + 1);
            drop(columns.splice(at..at, device[2 - devices..].to_vec()));
            let figure = Column::figure("is not a figure", "expected a figure");
            columns.extend([figure.optional(), figure].into_iter().nth(last));
            let more = more && last == 2;
            // As a description written by a user would be.
            let description = Description { separator, blanks, header, columns: columns.leak(), more };
            assert_eq!(description.problem(), None);
            description
        })
}

/// Content of a line: ticks, device, which word or code, address, length, form of ignored fields.
type Content = (u64, u8, prop::sample::Index, u64, u64, u64);

fn content() -> impl Strategy<Value = Content> {
    (0..1u64 << 30, 0..3u8, any::<prop::sample::Index>(), 0..1u64 << 50, 1..1u64 << 28, 0..1u64 << 20)
}

/// Writes one line by a description; returns it with its request.
fn render(description: &Description, content: &Content, first_ns: Option<i64>) -> (String, Request) {
    let (ticks, disk, which, lba, size, odd) = *content;
    let mut request = (0, String::new(), Op::Read, 0, 0);
    let mut fields = Vec::new();
    for column in description.columns {
        let field = match column.kind {
            Kind::Time(unit) => {
                request.0 = ticks as i64 * 10i64.pow(unit.power());
                ticks.to_string()
            }
            Kind::Words(words) => {
                let (word, op) = words[which.index(words.len())];
                request.2 = op;
                if odd % 2 == 0 { word.to_owned() } else { word.to_uppercase() }
            }
            Kind::ScsiCode => {
                let (text, op) = [("2a", Op::Write), ("0x28", Op::Read), ("8A", Op::Write)][which.index(3)];
                request.2 = op;
                text.to_owned()
            }
            Kind::Offset(unit) => {
                request.3 = lba * unit.bytes();
                lba.to_string()
            }
            Kind::Size(unit) => {
                request.4 = size * unit.bytes();
                size.to_string()
            }
            Kind::Number if column.device => disk.to_string(),
            Kind::Text if column.device => format!("host{}", disk % 2),
            Kind::Number => odd.to_string(),
            Kind::Text => format!("text {odd}"),
            Kind::Latency if odd % 2 == 0 => String::new(),
            Kind::Latency => format!("0.{odd}"),
            Kind::Figure if column.optional && odd % 3 == 0 => continue,
            Kind::Figure => format!("-{odd}.5"),
        };
        if column.device {
            // The key of several columns is everything between their ends.
            if !request.1.is_empty() {
                request.1.push(char::from(description.separator));
            }
            request.1 += &field;
        }
        fields.push(if description.blanks && odd % 5 == 0 { format!(" {field}\t") } else { field });
    }
    if request.1.is_empty() {
        request.1 = "0".into();
    }
    request.0 -= first_ns.unwrap_or(request.0);
    if description.more && odd % 7 == 0 {
        fields.push("more".into());
    }
    (fields.join(&char::from(description.separator).to_string()), request)
}

/// Writes a trace by a description; returns it with its requests.
fn trace(description: &Description, lines: &[Content]) -> (String, Vec<Request>) {
    let first_ns = description.columns.iter().find_map(|column| match column.kind {
        Kind::Time(unit) => Some(lines[0].0 as i64 * 10i64.pow(unit.power())),
        _ => None,
    });
    let (text, requests): (Vec<String>, Vec<Request>) =
        lines.iter().map(|content| render(description, content, first_ns)).unzip();
    // A header may occur anywhere.
    let header = format!("\n{}{}more\n", description.header.to_uppercase(), description.header);
    (text.join(if description.header.is_empty() { "\n" } else { &header }), requests)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    /// Lines written by a description are read back unchanged.
    #[test]
    fn described_lines_are_read_back(
        description in descriptions(),
        lines in prop::collection::vec(content(), 1..12),
    ) {
        let (text, requests) = trace(&description, &lines);
        let (read_back, last) = read(description, text.as_bytes(), OnBadLine::Stop);
        prop_assert_eq!(read_back, requests, "{}\n{}\n{:?}", last, text, description);
    }

    /// Damaged lines stop the reader with their place or are skipped; the requests before and after them remain.
    #[test]
    fn damaged_lines_are_refused_or_skipped(
        description in descriptions(),
        lines in prop::collection::vec(content(), 1..12),
        damage in damage(6),
    ) {
        let (text, requests) = trace(&description, &lines);
        let content = damaged(text.into_bytes(), &damage);
        let (stopped, error) = read(description, &content, OnBadLine::Stop);
        let (skipped, last) = read(description, &content, OnBadLine::Skip);
        prop_assert!(skipped.starts_with(&stopped) && skipped.len() <= requests.len() + 2 * damage.len());
        let complete = error.starts_with("Summary");
        prop_assert!(complete || error.starts_with("t:") && error.contains("; expected "), "{}", error);
        prop_assert!(!complete || last == error);
    }

    /// A row read by its constant and by the same value at run time gives the same requests and messages.
    #[test]
    fn rows_are_read_alike_at_run_time(which in 0..6usize, damage in damage(8), skip in any::<bool>()) {
        let on_bad_line = if skip { OnBadLine::Skip } else { OnBadLine::Stop };
        let (name, both) = [
            ("msr", both::<Msr> as fn(&[u8], OnBadLine)),
            ("alibaba", both::<Alibaba>),
            ("tencent", both::<Tencent>),
            ("systor17", both::<Systor17>),
            ("k5cloud", both::<K5Cloud>),
            ("cloudphysics", both::<CloudPhysics>),
        ][which];
        both(&damaged(samples::bytes(name).repeat(3), &damage), on_bad_line);
    }
}

#[test]
fn contradictions_are_named() {
    let with = |columns: &[Column]| Description { columns: columns.to_vec().leak(), ..K5Cloud::LINE };
    let base = K5Cloud::LINE.columns;
    let column = Column::number("is not a number");
    let figure = Column::figure("is not a figure", "expected a figure");
    let words = |words| [&base[..2], &[Column::words("", "", words)], &base[3..]].concat();
    let same = |count: usize| vec![column.device(); count];
    for (description, expected) in [
        (with(&base[..4]), Some("a line has one time, one operation, one address and one size")),
        (
            with(&[base, &base[1..2]].concat()),
            Some("a line has one time, one operation, one address and one size"),
        ),
        (with(&[base, &[figure]].concat()), Some("a figure ends the line")),
        (
            with(&[&[column.optional()], base].concat()),
            Some("only a last column that is not read may be missing"),
        ),
        (with(&[base, &[column.device()]].concat()), Some("the columns of the device are adjacent")),
        (
            with(&[same(2), base[1..].to_vec()].concat()),
            Some("blanks are part of a device of several columns"),
        ),
        (
            with(&words(&[("R", Op::Read), ("read", Op::Read)])),
            Some("a word of the operation begins a later one"),
        ),
        (with(&words(&[("read", Op::Read), ("R", Op::Read)])), None),
        (Description { separator: b'.', ..K5Cloud::LINE }, Some("a field may contain the separator")),
        (
            Description { separator: b' ', ..K5Cloud::LINE },
            Some("blanks cannot both separate and surround fields"),
        ),
        (Description { header: "0", ..K5Cloud::LINE }, Some("a header begins like a record")),
        (with(base), None),
    ] {
        assert_eq!(description.problem(), expected, "{description:?}");
    }
}

#[test]
fn messages_point_into_fields_between_any_separator() {
    let description = Description { separator: b';', blanks: false, ..K5Cloud::LINE };
    for (line, expected) in [
        ("1;x,y;R;0;512", "t:1:3: 'x,y' is not a time stamp; expected seconds"),
        ("1;0;R;0;512k;7", "t:1:9: '512k' is not a length; expected bytes"),
        ("1;0;R;0", "t:1:8: the line ends too early; expected bytes"),
    ] {
        assert_eq!(read(description, line.as_bytes(), OnBadLine::Stop).1, expected);
    }
}
