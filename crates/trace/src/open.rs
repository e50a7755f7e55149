//! Opens a trace: finds out its format and puts the right reader before it.

use crate::formats::{FORMATS, FormatInfo, Likeness};
use crate::input::{Input, STDIN};
use crate::lines::{CHUNK, Lines};
use crate::options::OpenOptions;
use crate::source::Source;
use crate::text::Setup;
use floatgate_base::error::quote;
use floatgate_base::{Error, Place, Result};
use std::io::Read;

/// Lines at the head of a trace that decide about its format.
const HEAD_LINES: usize = 200;

/// Opens the trace `path` (`-` for standard input, which cannot be rewound).
///
/// gz, xz, zst and bz2 are known by their first bytes. The format is the one asked for; otherwise the content tells,
/// and the file's extension where several formats share a grammar.
///
/// # Errors
/// Unusable input, with the place: no file, a directory, nothing in it, a broken archive, an unknown format, units
/// that the format does not leave open.
pub fn open(path: &str, options: &OpenOptions) -> Result<Box<dyn Source>> {
    open_input(Input::open(path)?, path, options, CHUNK)
}

/// Reads a trace from any stream of bytes; `name` stands for it in messages and its extension counts as a file's.
///
/// # Errors
/// As [`open`].
pub fn open_stream(
    stream: Box<dyn Read + Send>,
    name: &str,
    options: &OpenOptions,
) -> Result<Box<dyn Source>> {
    open_input(Input::from_stream(name, stream)?, name, options, CHUNK)
}

/// The same with a chunk of any size, for tests.
pub(crate) fn open_input(
    input: Input,
    path: &str,
    options: &OpenOptions,
    chunk: usize,
) -> Result<Box<dyn Source>> {
    let lines = Lines::new(input, chunk)?;
    if lines.buffered().is_empty() {
        let place = Place::Path(path.into());
        return Err(Error::input(place, "the file is empty", "expected a trace"));
    }
    let info = match options.format {
        Some(info) => info,
        None => detect(path, &lines)?,
    };
    (info.reader)(lines, Setup::new(path, info, *options)?)
}

/// Extension of a path without that of a compression, in lower case.
fn extension(path: &str) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let packed = [".gz", ".xz", ".zst", ".zstd", ".bz2"];
    let name = packed.iter().find_map(|p| name.strip_suffix(p)).unwrap_or(&name);
    name.rsplit_once('.').map(|(_, extension)| extension.to_owned())
}

/// How well a format explains the head of a trace.
struct Match {
    info: &'static FormatInfo,
    /// Lines that look like it.
    sure: usize,
    /// Lines that its grammar fits at all.
    fit: usize,
}

fn matches(lines: &Lines) -> Vec<Match> {
    let head = lines.buffered_lines().split(|&b| b == b'\n').map(<[u8]>::trim_ascii_end);
    let head: Vec<&[u8]> = head.filter(|l| !l.is_empty()).take(HEAD_LINES).collect();
    let of = |info: &'static FormatInfo| {
        let likeness = head.iter().map(|l| (info.recognise)(l));
        let sure = likeness.clone().filter(|l| *l == Likeness::Yes).count();
        Match { info, sure, fit: likeness.filter(|l| *l != Likeness::No).count() }
    };
    FORMATS.iter().map(of).collect()
}

/// Finds the format of a trace by its first lines and its extension.
fn detect(path: &str, lines: &Lines) -> Result<&'static FormatInfo> {
    let found = matches(lines);
    let best_fit = found.iter().map(|m| m.fit).max().unwrap_or(0);
    let best_sure = found.iter().map(|m| m.sure).max().unwrap_or(0);
    if best_fit == 0 {
        return Err(unknown(path, lines));
    }
    let extension = extension(path);
    let by_extension = |m: &&Match| {
        let names = |e: &str| e == m.info.name || m.info.extensions.contains(&e);
        m.fit == best_fit && extension.as_deref().is_some_and(names)
    };
    if let Some(m) = found.iter().find(by_extension) {
        return Ok(m.info);
    }
    let candidates: Vec<&FormatInfo> =
        found.iter().filter(|m| m.sure == best_sure && m.fit > 0).map(|m| m.info).collect();
    if let [only] = candidates[..] {
        return FORMATS.iter().find(|f| f.name == only.name).ok_or_else(|| unknown(path, lines));
    }
    let names: Vec<&str> = candidates.iter().map(|f| f.name).collect();
    let what = format!("the content fits {} alike", names.join(" and "));
    let how = match path {
        STDIN => "give --format".to_owned(),
        _ => format!("give --format or the extension .{}", names.join(" or .")),
    };
    Err(Error::input(Place::Path(path.into()), what, how))
}

/// Says why no format fits.
fn unknown(path: &str, lines: &Lines) -> Box<Error> {
    let names: Vec<&str> = FORMATS.iter().map(|f| f.name).collect();
    let expected = format!("expected one of {}", names.join(", "));
    let head = lines.buffered();
    let text = match std::str::from_utf8(head) {
        Ok(_) => head.len(),
        // The head may end within a character.
        Err(e) if e.error_len().is_none() => head.len(),
        Err(e) => e.valid_up_to(),
    };
    let binary = head[..text].iter().position(|&b| b == 0).or((text < head.len()).then_some(text));
    if let Some(byte) = binary {
        let place = Place::Byte { path: path.into(), byte: byte as u64 };
        return Error::input(place, "binary content where a text trace was expected", expected);
    }
    let first = head.split(|&b| b == b'\n').find(|l| !l.trim_ascii().is_empty()).unwrap_or_default();
    let what = format!("the format is not recognised (first line {})", quote(first.trim_ascii_end()));
    Error::input(Place::Path(path.into()), what, expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::OnBadLine;
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

    /// A few lines of every format.
    const SAMPLES: &[(&str, &str)] = &[
        (
            "msr",
            "128166391024154329,prxy,0,Write,1105182720,1024,1514\n128166391024310068,hm,1,Read,0,4096,20\n",
        ),
        ("spc", "0,20941264,8192,W,0.551706,Alpha/NT\n1,20939840,8192,r,0.554041\n"),
        ("disksim", "7961.833 0 20228336 8 0\n8346.206\t1\t6397360\t496\t1\n"),
        ("ssdsim", "0 0 303567 7 0\n0 1 55590 6 1\n26214000 0 303574 7 0\n"),
        ("mqsim", "11413000 0 657728 16 1\n11565000 1 31244784 64 0\n"),
        ("flashsim", "26.214000\t0\t303574\t1\t0\n78.643000\t0\t55596\t1\t1\n"),
        (
            "blkparse",
            "  8,16   0        4     0.000017985  5314  Q   R 1611592 + 256 [java]\n  8,16   0        7     \
             0.001092325  5314  C   R 1611592 + 256 [0]\n  8,33  4  1  0.5  3922  Q   N 0 (00 ..) [k w]\n  8,16   \
             1        8     0.002  5314  Q  DS 8 + 8 [java]\nCPU0 (8,16):\n Reads Queued:  0, 0KiB\n",
        ),
        (
            "fio-iolog",
            "fio version 3 iolog\n30 /dev/null add\n10736 /dev/null trim 0 2147483648\n10752 /dev/null write 0 4096\n",
        ),
        (
            "nbdkit-log",
            "2026-11-21 02:56:10.744991 connection=1 Connect export=\"a\" tls=0 size=0x40000000\n2026-11-21 \
             02:56:10.852818 connection=1 Read id=3 offset=0x0 count=0x4000 ...\n2026-11-21 02:56:10.852837 \
             connection=1 ...Read id=3 return=0\n2026-11-21 02:56:10.853756 connection=1 Zero id=8 offset=0x3fff0000 \
             count=0x10000 trim=1 fua=0 fast=0 ...\n",
        ),
    ];

    type Rows = Vec<(i64, u16, Op, u64, u64)>;

    /// All that a reader says about some content, errors included.
    fn read(content: &[u8], options: &OpenOptions, chunk: usize, batch: usize) -> (Rows, String) {
        let mut rows = Vec::new();
        let stream = Box::new(std::io::Cursor::new(content.to_vec()));
        let opened = Input::from_stream("t", stream).and_then(|i| open_input(i, "t", options, chunk));
        let mut source = match opened {
            Ok(source) => source,
            Err(e) => return (rows, e.to_string()),
        };
        let mut requests = RequestBatch::default();
        loop {
            requests.clear();
            let result = source.fill(&mut requests, batch);
            for i in 0..requests.len() {
                let (time, device) = (requests.time_ns[i], requests.device[i]);
                let place = source.place_of(rows.len() as u64);
                assert!(place.starts_with("t:"), "{place}");
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

    #[test]
    fn the_samples_are_recognised() {
        for (name, sample) in SAMPLES {
            let stream = |name: &str| {
                let stream = Box::new(std::io::Cursor::new(sample.as_bytes().to_vec()));
                open_stream(stream, name, &OpenOptions::default()).map(|s| s.format())
            };
            assert_eq!(stream(&format!("trace.{name}")).unwrap(), *name);
            if !["ssdsim", "mqsim", "flashsim", "disksim"].contains(name) {
                assert_eq!(stream("trace.txt").unwrap(), *name);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Damaged lines: no panic, and neither chunk nor batch changes what is read or what is refused.
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
            // The head decides about the action and must be the same.
            options.action = (name == "blkparse").then_some(crate::options::Action(b'Q'));
            let whole = read(&content, &options, CHUNK, 1000);
            prop_assert_eq!(&read(&content, &options, chunk, batch), &whole);
        }

        /// Anything at all, under every format and under detection: no panic.
        #[test]
        fn any_bytes_are_survived(content in prop::collection::vec(any::<u8>(), 0..400), skip in any::<bool>()) {
            let on_bad_line = if skip { OnBadLine::Skip } else { OnBadLine::Stop };
            read(&content, &OpenOptions { on_bad_line, ..OpenOptions::default() }, CHUNK, 3);
            for (name, _) in SAMPLES {
                read(&content, &with_format(name, on_bad_line), 64, 3);
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
                ]),
                1..12,
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
