//! The description of columns as one text: `NAME[:DETAIL]` for a column, `NAME=VALUE` for what holds for all lines.

use super::{EXAMPLE, Kind, SETTING, Separator, UserColumn, UserColumns};
use crate::options::TimeUnit;
use floatgate_base::error::quote;
use floatgate_base::names::remedy;
use floatgate_base::{Error, Op, Place, Result};

/// Columns by their names, for messages.
const COLUMNS: &[&str] = &["time", "date", "op", "offset", "size", "device", "process", "event", "skip"];
/// What may be set for all lines.
const SETTINGS: &[&str] = &["separator", "header", "comment", "op", "size"];
/// Units of addresses and sizes.
const UNITS: &[(&str, u64)] =
    &[("bytes", 1), ("sectors", 512), ("KiB", 1024), ("pages", 4096), ("MiB", 1 << 20)];
const SEPARATORS: &[(&str, Separator)] = &[
    ("comma", Separator::Byte(b',')),
    ("semicolon", Separator::Byte(b';')),
    ("tab", Separator::Byte(b'\t')),
    ("bar", Separator::Byte(b'|')),
    ("blanks", Separator::Blanks),
];
const OPERATIONS: &[(&str, Option<Op>)] =
    &[("read", Some(Op::Read)), ("write", Some(Op::Write)), ("trim", Some(Op::Trim)), ("skip", None)];
/// Most columns of a line.
const COLUMNS_MAX: usize = 256;
/// Most bytes of a unit of addresses or sizes.
const UNIT_MAX: u64 = 1 << 30;

/// Makes an error about the description.
pub(super) fn refuse(what: String, expected: impl Into<String>) -> Box<Error> {
    Error::input(Place::Setting(SETTING.into()), what, expected.into())
}

fn unknown(kind: &str, text: &str, names: &[&str]) -> Box<Error> {
    refuse(format!("{} is not {kind}", quote(text.as_bytes())), remedy(text, names, ""))
}

/// What holds for all lines.
pub(super) struct Whole {
    pub separator: Separator,
    pub header_lines: Option<u64>,
    pub comment: String,
    pub op: Option<Op>,
    pub size_bytes: Option<u64>,
}

impl Default for Whole {
    fn default() -> Self {
        let (header_lines, op, size_bytes) = (None, None, None);
        Self { separator: Separator::Detected, header_lines, comment: "#".into(), op, size_bytes }
    }
}

impl Whole {
    /// Sets one of [`SETTINGS`].
    pub fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match name {
            "separator" => self.separator = separator(value)?,
            "header" => {
                let lines = value.parse().map_err(|_| {
                    let what = format!("header={} is not a number of lines", quote(value.as_bytes()));
                    refuse(what, "expected a whole number, such as header=1")
                })?;
                self.header_lines = Some(lines);
            }
            "comment" => self.comment = value.into(),
            "op" => match OPERATIONS.iter().find(|(name, op)| *name == value && op.is_some()) {
                Some((_, op)) => self.op = *op,
                None => return Err(unknown("an operation", value, &["read", "write", "trim"])),
            },
            "size" => {
                let bytes: Option<u64> = value.parse().ok().filter(|bytes| (1..=UNIT_MAX).contains(bytes));
                self.size_bytes = Some(bytes.ok_or_else(|| {
                    let what = format!("size={} is not a size in bytes", quote(value.as_bytes()));
                    refuse(what, "expected a whole number from 1, such as size=4096")
                })?);
            }
            _ => return Err(unknown("a setting of columns", name, SETTINGS)),
        }
        Ok(())
    }
}

fn separator(value: &str) -> Result<Separator> {
    if let Some((_, separator)) = SEPARATORS.iter().find(|(name, _)| *name == value) {
        return Ok(*separator);
    }
    match value.as_bytes() {
        [byte] if byte.is_ascii_punctuation() && !matches!(byte, b'.' | b'-' | b'+' | b'"') => {
            Ok(Separator::Byte(*byte))
        }
        _ => {
            let names: Vec<&str> = SEPARATORS.iter().map(|(name, _)| *name).collect();
            let what = format!("separator={} cannot separate columns", quote(value.as_bytes()));
            Err(refuse(what, format!("expected {} or a single character such as ';'", names.join(", "))))
        }
    }
}

/// Parses a description.
pub(super) fn parse(text: &str) -> Result<UserColumns> {
    let (mut whole, mut columns) = (Whole::default(), Vec::new());
    for word in text.split_whitespace() {
        // A column's words may contain `=`, but only behind its colon.
        match word.split_once('=') {
            Some((name, value)) if !name.contains(':') => whole.set(name, value)?,
            _ => columns.push(column(word, columns.len() + 1)?),
        }
    }
    finish(whole, columns)
}

/// Parses the description of column number `number` (from 1).
pub(super) fn column(word: &str, number: usize) -> Result<UserColumn> {
    let (name, detail) = word.split_once(':').unwrap_or((word, ""));
    let lacks = |expected: &str| {
        let what = format!("column {number}, {}, has no unit", quote(word.as_bytes()));
        Err(refuse(what, expected.to_owned()))
    };
    let kind = match (name, detail) {
        ("time", "") => return lacks("expected one such as time:s (ns, us, ms, s, filetime, iso, clock)"),
        ("time", detail) => time(detail)?,
        ("date", "") => Kind::Date,
        ("op", "" | "RW" | "RWD") => Kind::Letter,
        ("op", "rwbs") => Kind::Rwbs,
        ("op", words) => Kind::Words(operations(words)?),
        ("offset" | "size", "") => {
            return lacks("expected one such as offset:sectors (bytes, sectors, pages)");
        }
        ("offset", unit) => Kind::Offset(unit_bytes(unit)?),
        ("size", unit) => Kind::Size(unit_bytes(unit)?),
        ("device", "") => Kind::Device,
        ("process", "") => Kind::Process,
        ("event", words) if !words.is_empty() => Kind::Event(words.split(',').map(str::to_owned).collect()),
        ("event", _) => return Err(refuse("event has no word".into(), "expected one such as event:Q")),
        ("skip" | "-" | "_", "") => Kind::Skip,
        ("date" | "device" | "process" | "skip" | "-" | "_", _) => {
            let what = format!("column {number}, {}, has no units", quote(word.as_bytes()));
            return Err(refuse(what, format!("expected {name}")));
        }
        _ => return Err(unknown("a column", name, COLUMNS)),
    };
    let (what, expected) = fault_texts(&kind, name, number);
    Ok(UserColumn { kind, what, expected })
}

fn time(detail: &str) -> Result<Kind> {
    match detail {
        "iso" => Ok(Kind::IsoTime),
        "clock" => Ok(Kind::Clock),
        _ => match TimeUnit::NAMES.iter().find(|(name, _)| *name == detail) {
            Some((_, unit)) => Ok(Kind::Time(*unit)),
            None => {
                let names = TimeUnit::NAMES.iter().map(|(name, _)| *name).chain(["iso", "clock"]);
                Err(unknown("a unit of time", detail, &names.collect::<Vec<_>>()))
            }
        },
    }
}

fn unit_bytes(unit: &str) -> Result<u64> {
    if let Some((_, bytes)) = UNITS.iter().find(|(name, _)| *name == unit) {
        return Ok(*bytes);
    }
    let number = unit.parse().ok().filter(|bytes| (1..=UNIT_MAX).contains(bytes));
    number.ok_or_else(|| {
        let names: Vec<&str> = UNITS.iter().map(|(name, _)| *name).collect();
        let what = format!("{} is not a unit of addresses or sizes", quote(unit.as_bytes()));
        refuse(what, format!("expected {} or a number of bytes", names.join(", ")))
    })
}

fn operations(words: &str) -> Result<Vec<(String, Option<Op>)>> {
    let mut out: Vec<(String, Option<Op>)> = Vec::new();
    for word in words.split(',') {
        let Some((field, name)) = word.split_once('=') else {
            let what = format!("op:{} has no operation for a word", quote(words.as_bytes()));
            return Err(refuse(what, "expected op:RW, op:rwbs, or words such as op:0=read,1=write,*=skip"));
        };
        let Some((_, op)) = OPERATIONS.iter().find(|(known, _)| *known == name) else {
            let names: Vec<&str> = OPERATIONS.iter().map(|(name, _)| *name).collect();
            return Err(unknown("an operation", name, &names));
        };
        if field.is_empty() || out.iter().any(|(known, _)| known == field || known == "*") {
            let what = format!("op:{}: {} can never match", quote(words.as_bytes()), quote(word.as_bytes()));
            return Err(refuse(what, "expected each word once, and * last"));
        }
        out.push((field.to_owned(), *op));
    }
    Ok(out)
}

/// Makes the texts for a field that does not fit.
fn fault_texts(kind: &Kind, name: &str, number: usize) -> (String, String) {
    let expected = match kind {
        Kind::Time(TimeUnit::Filetime) => "expected ticks of 100 ns".into(),
        Kind::Time(unit) => format!("expected a time in {}", unit.name()),
        Kind::IsoTime => "expected YYYY-MM-DDTHH:MM:SS.ffffff".into(),
        Kind::Clock => "expected HH:MM:SS.ffffff".into(),
        Kind::Date => "expected YYYY-MM-DD".into(),
        Kind::Letter => "expected a word that begins with R, W or D".into(),
        Kind::Words(words) => {
            let known: Vec<&str> = words.iter().map(|(word, _)| word.as_str()).collect();
            format!("expected {}", known.join(" or "))
        }
        Kind::Offset(unit) | Kind::Size(unit) => format!("expected {}", unit_text(*unit)),
        Kind::Rwbs | Kind::Device | Kind::Process | Kind::Event(_) | Kind::Skip => "expected a field".into(),
    };
    (format!("cannot be column {number} ({name})"), expected)
}

fn unit_text(bytes: u64) -> String {
    let of = |n: u64| format!(" of {n} bytes");
    match bytes {
        1 => "bytes".into(),
        512 => "sectors".to_owned() + &of(512),
        4096 => "pages".to_owned() + &of(4096),
        n => "units".to_owned() + &of(n),
    }
}

/// Makes the description, after a check that lines of these columns are requests.
pub(super) fn finish(whole: Whole, mut columns: Vec<UserColumn>) -> Result<UserColumns> {
    while matches!(columns.last(), Some(UserColumn { kind: Kind::Skip, .. })) {
        columns.pop();
    }
    if columns.len() > COLUMNS_MAX {
        let what = format!("{} columns are described", columns.len());
        return Err(refuse(what, format!("expected at most {COLUMNS_MAX}")));
    }
    check(&whole, &columns)?;
    let text = canonical(&whole, &columns);
    let Whole { separator, header_lines, comment, op, size_bytes } = whole;
    Ok(UserColumns { separator, header_lines, comment: comment.into_bytes(), columns, op, size_bytes, text })
}

fn check(whole: &Whole, columns: &[UserColumn]) -> Result<()> {
    let count = |is: fn(&Kind) -> bool| columns.iter().filter(|column| is(&column.kind)).count();
    let times = count(|k| matches!(k, Kind::Time(_) | Kind::IsoTime | Kind::Clock));
    let dates = count(|k| matches!(k, Kind::Date));
    let ops = count(|k| matches!(k, Kind::Letter | Kind::Rwbs | Kind::Words(_)));
    let offsets = count(|k| matches!(k, Kind::Offset(_)));
    let sizes = count(|k| matches!(k, Kind::Size(_)));
    let clocks = count(|k| matches!(k, Kind::Clock));
    let devices = count(|k| matches!(k, Kind::Device));
    let processes = count(|k| matches!(k, Kind::Process));
    let example = format!("expected all of them, as in --columns \"{EXAMPLE}\"");
    let problem = if offsets == 0 {
        Some(("no column is the offset", example))
    } else if ops == 0 && whole.op.is_none() {
        Some(("no column is the operation", "expected op:RW or a setting such as op=write".into()))
    } else if sizes == 0 && whole.size_bytes.is_none() {
        Some(("no column is the size", "expected size:bytes or a setting such as size=4096".into()))
    } else if ops > 0 && whole.op.is_some() || sizes > 0 && whole.size_bytes.is_some() {
        Some(("a column and a setting have the same meaning", "expected one of the two".into()))
    } else if [times, dates, ops, offsets, sizes, devices, processes].iter().any(|n| *n > 1) {
        Some(("two columns have the same meaning", "expected skip for the one that does not count".into()))
    } else if dates != clocks {
        Some(("date and time:clock belong together", "expected both, or neither".into()))
    } else {
        None
    };
    match problem {
        Some((what, expected)) => Err(refuse(what.into(), expected)),
        None => Ok(()),
    }
}

/// Writes a description that parses to the same value.
fn canonical(whole: &Whole, columns: &[UserColumn]) -> String {
    let mut words: Vec<String> = columns.iter().map(|column| column_text(&column.kind)).collect();
    match whole.separator {
        Separator::Detected => {}
        separator => words.push(format!("separator={}", separator_text(separator))),
    }
    words.extend(whole.header_lines.map(|lines| format!("header={lines}")));
    if whole.comment != "#" {
        words.push(format!("comment={}", whole.comment));
    }
    words.extend(whole.op.map(|op| format!("op={}", operation_text(Some(op)))));
    words.extend(whole.size_bytes.map(|bytes| format!("size={bytes}")));
    words.join(" ")
}

pub(super) fn separator_text(separator: Separator) -> String {
    match (SEPARATORS.iter().find(|(_, known)| *known == separator), separator) {
        (Some((name, _)), _) => (*name).into(),
        (None, Separator::Byte(byte)) => char::from(byte).to_string(),
        (None, _) => "detected".into(),
    }
}

fn operation_text(op: Option<Op>) -> &'static str {
    OPERATIONS.iter().find(|(_, known)| *known == op).map_or("skip", |(name, _)| name)
}

fn column_text(kind: &Kind) -> String {
    let unit = |name: &str, bytes: u64| match UNITS.iter().find(|(_, known)| *known == bytes) {
        Some((known, _)) => format!("{name}:{known}"),
        None => format!("{name}:{bytes}"),
    };
    match kind {
        Kind::Time(time_unit) => format!("time:{}", time_unit.name()),
        Kind::IsoTime => "time:iso".into(),
        Kind::Clock => "time:clock".into(),
        Kind::Date => "date".into(),
        Kind::Letter => "op:RW".into(),
        Kind::Rwbs => "op:rwbs".into(),
        Kind::Words(words) => {
            let words: Vec<String> =
                words.iter().map(|(word, op)| format!("{word}={}", operation_text(*op))).collect();
            format!("op:{}", words.join(","))
        }
        Kind::Offset(bytes) => unit("offset", *bytes),
        Kind::Size(bytes) => unit("size", *bytes),
        Kind::Device => "device".into(),
        Kind::Process => "process".into(),
        Kind::Event(words) => format!("event:{}", words.join(",")),
        Kind::Skip => "skip".into(),
    }
}
