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
        m.fit == best_fit && extension.as_deref().is_some_and(|e| m.info.extensions.contains(&e))
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
