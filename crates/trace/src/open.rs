//! Opens a trace: detects its format and creates the reader.

use crate::formats::{self, FORMATS, FormatInfo, Likeness};
use crate::options::OpenOptions;
use crate::setup::Setup;
use crate::source::Source;
use crate::tar::is_archive;
use crate::time_unit;
use floatgate_base::error::quote;
use floatgate_base::names::remedy;
use floatgate_base::{Error, Place, Result};
use floatgate_input::{CHUNK, whole_lines};
use floatgate_input::{Input, STDIN};
use std::io::Read;

/// Lines at the beginning of a trace that determine its format.
const HEAD_LINES: usize = 200;

/// Opens the trace `path` (`-` for standard input, which cannot be rewound).
///
/// gz, xz, zst and bz2 are recognised by their first bytes. The format is that of the options. Without one the content
/// decides, and the file's extension if several formats share a grammar.
///
/// # Errors
/// Unusable input, with the place: a missing or empty file, a directory, a broken archive, an unknown format, units
/// that the format does not allow.
pub fn open(path: &str, options: &OpenOptions) -> Result<Box<dyn Source>> {
    let mut input = Input::open(path, "trace")?;
    if options.decompress_ahead {
        input.decompress_ahead(CHUNK);
    }
    open_input(input, path, options, CHUNK)
}

/// Reads a trace from any stream of bytes; `name` represents it in messages, and its extension counts as a file's.
///
/// # Errors
/// As for [`open`].
pub fn open_stream(
    stream: Box<dyn Read + Send>,
    name: &str,
    options: &OpenOptions,
) -> Result<Box<dyn Source>> {
    open_input(Input::from_stream(name, "trace", stream)?, name, options, CHUNK)
}

/// Opens an input with a chunk of any size, for tests.
pub(crate) fn open_input(
    mut input: Input,
    path: &str,
    options: &OpenOptions,
    chunk: usize,
) -> Result<Box<dyn Source>> {
    let head = input.peek(CHUNK)?;
    // A CPU that was idle leaves an empty file; the recording is that of all CPUs.
    let of_cpus = head.is_empty() && formats::is_first_of_cpus(path);
    if head.is_empty() && !of_cpus {
        let place = Place::Path(path.into());
        return Err(Error::input(place, "the file is empty", "expected a trace"));
    }
    let (info, rivals) = match options.format {
        Some(info) => (info, Vec::new()),
        None if of_cpus => (formats::BLKTRACE, Vec::new()),
        None => detect(path, head)?,
    };
    let mut setup = Setup::new(path, info, *options)?;
    setup.rivals = rivals;
    if options.time_unit.is_none()
        && let Some((unit, note)) = time_unit::corrected(info, path, input.peek(CHUNK)?)?
    {
        setup.take_unit(unit, note);
    }
    (info.reader)(input, chunk, setup)
}

/// Returns the extension of a path without that of a compression, in lower case.
fn extension(path: &str) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let packed = [".gz", ".xz", ".zst", ".zstd", ".bz2"];
    let name = packed.iter().find_map(|p| name.strip_suffix(p)).unwrap_or(&name);
    name.rsplit_once('.').map(|(_, extension)| extension.to_owned())
}

/// How well a format explains the head of a trace.
struct Match {
    info: &'static FormatInfo,
    /// Lines that are typical of it.
    sure: usize,
    /// Lines that fit its grammar.
    fit: usize,
}

/// Returns the lines that determine the format.
fn head_lines(head: &[u8]) -> Vec<&[u8]> {
    let lines = whole_lines(head).split(|&b| b == b'\n').map(<[u8]>::trim_ascii_end);
    lines.filter(|l| !l.is_empty()).take(HEAD_LINES).collect()
}

fn matches(head: &[u8]) -> Vec<Match> {
    let lines = head_lines(head);
    let of = |info: &'static FormatInfo| {
        let likeness = lines.iter().map(|l| (info.recognise)(l));
        let sure = likeness.clone().filter(|l| *l == Likeness::Yes).count();
        Match { info, sure, fit: likeness.filter(|l| *l != Likeness::No).count() }
    };
    FORMATS.iter().map(of).collect()
}

/// Two formats with one grammar and one meaning, which differ in the default event: the first is chosen, and reports
/// the other one as possible.
const SAME_GRAMMAR: (&str, &str) = ("blkparse", "ssdtrace");
/// Two formats that read every line alike: the first is chosen, and reports the other one.
const SAME_READING: [&str; 2] = ["ssdsim", "mqsim"];

type Detected = (&'static FormatInfo, Vec<&'static str>);

/// Detects the format of a trace from its beginning and its extension, and the other possible formats.
fn detect(path: &str, head: &[u8]) -> Result<Detected> {
    let extension = extension(path);
    let named = |info: &FormatInfo| {
        let names = |e: &str| e == info.name || info.extensions.contains(&e);
        extension.as_deref().is_some_and(names)
    };
    if let Some(info) = detect_binary(head, named) {
        return Ok((info, Vec::new()));
    }
    let all = matches(head);
    let best_fit = all.iter().map(|m| m.fit).max().unwrap_or(0);
    let best_sure = all.iter().map(|m| m.sure).max().unwrap_or(0);
    if best_fit == 0 {
        return Err(unknown(path, head));
    }
    if let Some(m) = all.iter().find(|m| m.fit == best_fit && named(m.info)) {
        return Ok((m.info, Vec::new()));
    }
    let candidates: Vec<&'static FormatInfo> =
        all.iter().filter(|m| m.sure == best_sure && m.fit > 0).map(|m| m.info).collect();
    let rivals: Vec<&'static str> = all.iter().filter(|m| m.fit == best_fit).map(|m| m.info.name).collect();
    if let [only] = candidates[..] {
        let others: Vec<&'static str> = rivals.iter().copied().filter(|n| *n != only.name).collect();
        // Typical lines decide only if the other formats interpret them in the same way.
        if others.iter().all(|other| (only.name, *other) == SAME_GRAMMAR) {
            return Ok((only, others));
        }
    }
    if let [first, second] = candidates[..]
        && [first.name, second.name] == SAME_READING
    {
        return Ok((first, rivals.iter().copied().filter(|name| *name != first.name).collect()));
    }
    let names: Vec<&str> = match candidates.len() {
        1 => rivals,
        _ => candidates.iter().map(|f| f.name).collect(),
    };
    let (last, first) = names.split_last().unwrap_or((&"", &[]));
    let both = if first.len() == 1 { "both " } else { "" };
    let what = format!("the content fits {both}{} and {last}", first.join(", "));
    let how = match path {
        STDIN => "use --format".to_owned(),
        _ => format!("use --format or the extension .{}", names.join(" or .")),
    };
    Err(Error::input(Place::Path(path.into()), what, how))
}

/// Returns the binary format that the extension names, unless the content contradicts it, or that the content
/// indicates.
fn detect_binary(head: &[u8], named: impl Fn(&FormatInfo) -> bool) -> Option<&'static FormatInfo> {
    let likeness = |info: &FormatInfo| (info.recognise_head)(head);
    let by_name = FORMATS.iter().find(|f| named(f) && likeness(f) != Likeness::No);
    by_name.or_else(|| FORMATS.iter().find(|f| likeness(f) == Likeness::Yes))
}

/// Explains why no format fits.
fn unknown(path: &str, head: &[u8]) -> Box<Error> {
    let refuse = |what: &str, how: &str| Error::input(Place::Path(path.into()), what, how);
    if is_archive(head) {
        return refuse("is a tar archive", "unpack it first");
    }
    if head.starts_with(b"version https://git-lfs") {
        return refuse("is a Git LFS pointer, not the trace itself", "fetch it with git lfs pull");
    }
    let names: Vec<&str> = FORMATS.iter().map(|f| f.name).collect();
    let expected = remedy("", &names, "floatgate schema");
    let text = match std::str::from_utf8(head) {
        Ok(_) => head.len(),
        // The head may end within a character.
        Err(e) if e.error_len().is_none() => head.len(),
        Err(e) => e.valid_up_to(),
    };
    let binary = head[..text].iter().position(|&b| b == 0).or((text < head.len()).then_some(text));
    if let Some(byte) = binary {
        let place = Place::Byte { path: path.into(), byte: byte as u64 };
        let numbers = if head.len().is_multiple_of(4) {
            "; for page numbers of 4 bytes each: --format pages"
        } else {
            ""
        };
        return Error::input(place, "binary content of an unknown format", expected + numbers);
    }
    let first = head.split(|&b| b == b'\n').find(|l| !l.trim_ascii().is_empty()).unwrap_or_default();
    let what = format!("unknown format (first line {})", quote(first.trim_ascii_end()));
    let described =
        "; for any other log: --columns, as in --columns \"time:s op:RW offset:sectors size:bytes\"";
    Error::input(Place::Path(path.into()), what, expected + described)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::formats::samples::{EXTERNAL_SAMPLES, SAMPLES, SHARED, binary_samples};
    use crate::options::OnBadLine;
    use floatgate_base::testing::Bound;
    use floatgate_base::{Op, RequestBatch};
    use proptest::prelude::*;

    #[test]
    fn extensions_are_found_behind_a_compression() {
        for (path, expected) in [
            ("a/b.mqsim", Some("mqsim")),
            ("b.MQSim.zst", Some("mqsim")),
            ("b.csv.gz", Some("csv")),
            ("b.nbdkit-log.zst", Some("nbdkit-log")),
            ("x.y/b", None),
            ("-", None),
            ("b.zst", None),
        ] {
            assert_eq!(extension(path).as_deref(), expected, "{path}");
        }
    }

    type Rows = Vec<(i64, u16, Op, u64, u64)>;

    /// Collects the results of a reader for some content, including errors.
    fn read(content: &[u8], options: &OpenOptions, chunk: usize, batch: usize) -> (Rows, String) {
        let mut rows = Vec::new();
        let stream = Box::new(std::io::Cursor::new(content.to_vec()));
        let opened =
            Input::from_stream("t", "trace", stream).and_then(|i| open_input(i, "t", options, chunk));
        let mut source = match opened {
            Ok(source) => source,
            Err(e) => return (rows, e.to_string()),
        };
        let mut requests = RequestBatch::default();
        let mut bound = Bound::new(100_000_000);
        loop {
            bound.step();
            requests.clear();
            let result = source.fill(&mut requests, batch);
            for i in 0..requests.len() {
                let (time, device) = (requests.time_ns[i], requests.device[i]);
                let place = source.place_of(rows.len() as u64);
                assert!(place.starts_with("t:") || place.starts_with("t@"), "{place}");
                rows.push((time, device, requests.op[i], requests.offset[i], requests.bytes[i]));
            }
            if let Err(e) = result {
                return (rows, e.to_string());
            }
            if requests.is_empty() {
                return (rows, format!("{:?}{:?}", source.summary(), source.devices()));
            }
        }
    }

    fn with_format(name: &str, on_bad_line: OnBadLine) -> OpenOptions {
        let format = FORMATS.iter().find(|f| f.name == name);
        OpenOptions { format, on_bad_line, ..OpenOptions::default() }
    }

    #[test]
    fn line_breaks_and_a_missing_last_one_make_no_difference() {
        for (name, sample) in SAMPLES {
            let options = with_format(name, OnBadLine::Stop);
            let plain = read(sample.as_bytes(), &options, CHUNK, 100).0;
            assert!(plain.len() >= 2, "{name}");
            for other in [
                sample.replace('\n', "\r\n"),
                sample.trim_end().to_owned(),
                sample.replace('\n', "\n\n"),
                format!("\r\n{}", sample.replace('\n', "\r\n").trim_end()),
            ] {
                assert_eq!(read(other.as_bytes(), &options, CHUNK, 100).0, plain, "{name}");
            }
        }
    }

    fn detected(content: &[u8], name: &str) -> Result<&'static str> {
        open_stream(Box::new(std::io::Cursor::new(content.to_vec())), name, &OpenOptions::default())
            .map(|s| s.format())
    }

    #[test]
    fn the_samples_are_recognised() {
        for (name, sample) in SAMPLES {
            assert_eq!(detected(sample.as_bytes(), &format!("trace.{name}")).unwrap(), *name);
            if !SHARED.contains(name) {
                assert_eq!(detected(sample.as_bytes(), "trace.txt").unwrap(), *name);
            }
        }
        for (name, sample) in binary_samples() {
            assert_eq!(detected(&sample, &format!("trace.{name}")).unwrap(), name);
            if name != "pages" {
                assert_eq!(detected(&sample, "trace.bin").unwrap(), name);
            }
        }
    }

    /// The core recognises them and leaves them to the layer around it.
    #[test]
    fn formats_read_elsewhere_are_recognised() {
        for (name, sample) in EXTERNAL_SAMPLES {
            let error = detected(sample.as_bytes(), "trace.txt").unwrap_err().to_string();
            let expected = format!("trace.txt: {name} cannot be read by the core alone; ");
            assert!(error.starts_with(&expected), "{error}");
        }
    }

    #[test]
    fn every_format_has_a_sample() {
        for format in FORMATS {
            let text = SAMPLES.iter().any(|(name, _)| *name == format.name);
            let binary = binary_samples().iter().any(|(name, _)| *name == format.name);
            let external = EXTERNAL_SAMPLES.iter().any(|(name, _)| *name == format.name);
            assert!(text || binary || external, "{}", format.name);
            assert!(!format.summary.is_empty() && format.line.starts_with("expected "), "{}", format.name);
        }
    }

    /// Returns the number of cases of each property; `FLOATGATE_FUZZ_CASES=100000` turns them into a fuzzer.
    pub(crate) fn cases() -> u32 {
        std::env::var("FLOATGATE_FUZZ_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(64)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases()))]

        /// Damaged lines: no panic, and neither chunks nor batches change the requests or the errors.
        #[test]
        fn chunks_and_batches_make_no_difference(
            which in 0..SAMPLES.len(),
            copies in 1usize..6,
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..3), 0..6),
            chunk in 1usize..300,
            batch in 1usize..5,
            skip in any::<bool>(),
        ) {
            let (name, sample) = SAMPLES[which];
            let mut content = sample.repeat(copies).into_bytes();
            for (at, byte, how) in damage {
                let at = at.index(content.len());
                match how {
                    0 => content[at] = byte,
                    1 => content.insert(at, byte),
                    _ => { content.truncate(at.max(1)); }
                }
            }
            let mut options = with_format(name, if skip { OnBadLine::Skip } else { OnBadLine::Stop });
            // The head determines the action and must be the same.
            let has_actions = options.format.is_some_and(|f| f.has_actions);
            options.action = has_actions.then_some(crate::options::Action(b'Q'));
            let whole = read(&content, &options, CHUNK, 1000);
            prop_assert_eq!(&read(&content, &options, chunk, batch), &whole);
        }

        /// Damaged records, likewise.
        #[test]
        fn chunks_and_batches_make_no_difference_to_records(
            which in 0..5usize,
            copies in 1usize..6,
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..3), 0..4),
            chunk in 1usize..300,
            batch in 1usize..5,
            skip in any::<bool>(),
        ) {
            let (name, sample) = binary_samples().swap_remove(which);
            let mut content = sample.repeat(copies);
            for (at, byte, how) in damage {
                let at = at.index(content.len());
                match how {
                    0 => content[at] = byte,
                    1 => content.insert(at, byte),
                    _ => { content.truncate(at.max(1)); }
                }
            }
            let options = with_format(name, if skip { OnBadLine::Skip } else { OnBadLine::Stop });
            let whole = read(&content, &options, CHUNK, 1000);
            prop_assert_eq!(&read(&content, &options, chunk, batch), &whole);
        }

        /// Any bytes, under every format and under detection: no panic.
        #[test]
        fn any_bytes_are_survived(content in prop::collection::vec(any::<u8>(), 0..400), skip in any::<bool>()) {
            let on_bad_line = if skip { OnBadLine::Skip } else { OnBadLine::Stop };
            read(&content, &OpenOptions { on_bad_line, ..OpenOptions::default() }, CHUNK, 3);
            for format in FORMATS {
                read(&content, &with_format(format.name, on_bad_line), 64, 3);
            }
        }

        /// Fields of all kinds in every separator: no panic, and sums stay in range.
        #[test]
        fn odd_fields_are_survived(
            fields in prop::collection::vec(
                prop::sample::select(vec![
                    "0", "1", "-1", "18446744073709551615", "99999999999999999999", "1e300", "1e-300", "1.5e3", "nan",
                    "", "R", "W", "D", "+", "8,16", "Q", "Read", "write", "0x10", "offset=0xffffffffffffffff",
                    "count=0x1", "2026-02-29", "2026-12-31", "23:59:60.999999", "é", "\u{0}", "fio version 3 iolog\n",
                    "*", "2a", "C", "DiskRead", "0xffffffffffffffff", "Hit", "3", "6", "ustar\u{0}", "20 a=b", "#",
                    "d6c75ba46e82326fefa545b57a12e221",
                ]),
                1..14,
            ),
            separator in prop::sample::select(vec![",", " ", "\t", "\n"]),
        ) {
            let content = fields.join(separator).into_bytes();
            for (name, _) in SAMPLES {
                let (rows, _) = read(&content, &with_format(name, OnBadLine::Skip), CHUNK, 3);
                for (_, _, _, offset, bytes) in rows {
                    prop_assert!(bytes > 0 && offset.checked_add(bytes).is_some());
                }
            }
        }
    }
}
