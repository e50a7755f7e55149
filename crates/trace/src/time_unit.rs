//! Decides whether the times of a trace can be in its format's unit.
//!
//! Files of one format differ in their unit. SSDsim's own traces are in ns, but DTRS1K (Microsoft's servers, in the same
//! format) is in us. CloudPhysics' traces are in us, but the sample in libCacheSim is in s. If the beginning of a file,
//! read in the format's unit, requires more than any drive can do, another unit in which such files exist is taken. The choice is reported
//! (`docs/decisions/0006-reading-foreign-traces.md`). The user's unit prevails. Other formats get a warning (`intake.rs`).

use crate::formats::FormatInfo;
use crate::intake::{BYTES_MAX_PER_S, RATE_MAX_PER_S};
use crate::options::{LbaUnit, OpenOptions, TimeUnit};
use crate::setup::Setup;
use floatgate_base::{RequestBatch, Result};
use floatgate_input::{CHUNK, Input};

/// Fewest requests for a conclusion from bytes per second: a burst may be as long.
const REQUESTS_MIN: usize = 4096;
/// Fewest requests for a conclusion from requests per second, which exceed any drive's only in short bursts.
const REQUESTS_MIN_BY_RATE: usize = 256;
/// Parts of the beginning that are examined separately: a burst ends in one of them.
const PARTS: usize = 8;
/// Least rate of a part, as a share of what no drive can do.
const LEAST_SHARE: f64 = 0.5;
/// Most requests per second of a trace in another unit.
const RATE_MAX_ELSEWHERE_PER_S: f64 = 1e5;
/// Least requests per second of a trace in another unit.
const RATE_MIN_ELSEWHERE_PER_S: f64 = 1.0 / 3600.0;
/// Rates of requests and bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rates {
    requests_per_s: f64,
    bytes_per_s: f64,
}

impl Rates {
    /// Returns the rates of the same trace in a unit `factor` times as long.
    fn slower(self, factor: f64) -> Self {
        Self { requests_per_s: self.requests_per_s / factor, bytes_per_s: self.bytes_per_s / factor }
    }
}

/// Returns the unit that the beginning of a trace must have, with the reason, if it cannot be the format's own.
pub(crate) fn corrected(
    info: &'static FormatInfo,
    path: &str,
    head: &[u8],
) -> Result<Option<(TimeUnit, String)>> {
    let Some(own) = info.time_unit.filter(|_| !info.other_time_units.is_empty()) else { return Ok(None) };
    let batch = beginning(info, path, head)?;
    let Some(rates) = impossible(&batch.time_ns, &batch.bytes) else { return Ok(None) };
    let factor = |unit: TimeUnit| 10f64.powi(unit.power() as i32 - own.power() as i32);
    let fits = |unit: &&TimeUnit| {
        let slower = rates.slower(factor(**unit));
        slower.bytes_per_s <= BYTES_MAX_PER_S
            && (RATE_MIN_ELSEWHERE_PER_S..=RATE_MAX_ELSEWHERE_PER_S).contains(&slower.requests_per_s)
    };
    // Any other unit would be a guess: stamps that were made up fit one, too.
    let Some(&unit) = info.other_time_units.iter().find(fits) else { return Ok(None) };
    let rate = if rates.requests_per_s > RATE_MAX_PER_S {
        format!("{:.0} million requests per second", rates.requests_per_s / 1e6)
    } else {
        format!("{:.0} GB per second", rates.bytes_per_s / 1e9)
    };
    let (name, own) = (unit.name(), own.name());
    let note = format!(
        "time in {name}: in {own} the trace would begin with {rate} (--time-unit {own} overrides this)"
    );
    Ok(Some((unit, note)))
}

/// Reads the beginning of a trace in the format's own unit, up to the first record that cannot be read.
fn beginning(info: &'static FormatInfo, path: &str, head: &[u8]) -> Result<RequestBatch> {
    let stream = Box::new(std::io::Cursor::new(head.to_vec()));
    let input = Input::from_stream(path, "trace", stream)?;
    let setup = Setup::new(path, info, OpenOptions { format: Some(info), ..OpenOptions::default() })?;
    let mut batch = RequestBatch::default();
    if let Ok(mut source) = (info.reader)(input, CHUNK, setup) {
        // The head ends within a record, or the trace is damaged: what comes before tells enough.
        let _ = source.fill(&mut batch, head.len());
    }
    Ok(batch)
}

/// Returns the rates of requests if they exceed any drive throughout.
fn impossible(time_ns: &[i64], bytes: &[u64]) -> Option<Rates> {
    let last = time_ns.len().checked_sub(1)?;
    // Up to the request after a part, whose own bytes come later.
    let rates = |from: usize, to: usize| {
        let span_s = (time_ns[to] - time_ns[from]).max(0) as f64 / 1e9;
        let bytes: f64 = bytes[from..to].iter().map(|bytes| *bytes as f64).sum();
        Rates { requests_per_s: (to - from) as f64 / span_s, bytes_per_s: bytes / span_s }
    };
    let throughout = |fast: &dyn Fn(Rates) -> f64, limit: f64| {
        fast(rates(0, last)) > limit
            && (0..PARTS).all(|i| fast(rates(last * i / PARTS, last * (i + 1) / PARTS)) > limit * LEAST_SHARE)
    };
    let rises = time_ns[last] > time_ns[0];
    // Stamps that merely count requests have no unit.
    let counts = last > 0 && time_ns.windows(2).all(|pair| pair[1] - pair[0] == time_ns[1] - time_ns[0]);
    let by_bytes = last + 1 >= REQUESTS_MIN && throughout(&|rates| rates.bytes_per_s, BYTES_MAX_PER_S);
    let by_rate =
        last + 1 >= REQUESTS_MIN_BY_RATE && throughout(&|rates| rates.requests_per_s, RATE_MAX_PER_S);
    (rises && !counts && (by_bytes || by_rate)).then(|| rates(0, last))
}

/// Describes the units of a trace: those that the user or the content set, and what the format leaves to assume.
pub(crate) fn described(info: &FormatInfo, options: &OpenOptions, corrected: Option<&String>) -> Vec<String> {
    let mut out: Vec<String> = corrected.cloned().into_iter().collect();
    let mut assumed = if info.states_units { "" } else { info.units }.to_owned();
    if let Some(unit) = options.time_unit {
        out.push(format!("time in {} (--time-unit)", unit.name()));
    }
    if !out.is_empty() {
        assumed = without(&assumed, "time");
    }
    if let Some(unit) = options.lba_unit {
        let name = match unit {
            LbaUnit::Byte => "bytes",
            LbaUnit::Sector => "sectors of 512 bytes",
            LbaUnit::Page4k => "pages of 4096 bytes",
        };
        out.push(format!("address in {name} (--lba-unit)"));
        assumed = without(&assumed.replace("address and size in", "address in it, size in"), "address");
    }
    if !assumed.is_empty() {
        out.push(assumed);
    }
    out
}

/// Leaves out the clause that begins with `word`.
fn without(text: &str, word: &str) -> String {
    let Some((prefix, clauses)) = text.split_once(": ") else { return String::new() };
    let kept: Vec<&str> =
        clauses.split([',', ';']).map(str::trim).filter(|clause| !clause.starts_with(word)).collect();
    if kept.is_empty() { String::new() } else { format!("{prefix}: {}", kept.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::FORMATS;
    use crate::open_stream;
    use crate::source::Source;

    fn source(content: &str, name: &str, unit: Option<TimeUnit>) -> Box<dyn Source> {
        let options = OpenOptions { time_unit: unit, ..OpenOptions::default() };
        open_stream(Box::new(std::io::Cursor::new(content.as_bytes().to_vec())), name, &options).unwrap()
    }

    /// Returns the notes about the unit, with the last stamp.
    fn read(content: &str, name: &str, unit: Option<TimeUnit>) -> (Vec<String>, i64) {
        let mut source = source(content, name, unit);
        let mut batch = RequestBatch::default();
        source.fill(&mut batch, 1 << 20).unwrap();
        let about = |text: &String| text.starts_with("time in");
        (source.assumed().into_iter().filter(about).collect(), *batch.time_ns.last().unwrap())
    }

    /// Makes requests of 64 KiB at these stamps, for SSDsim.
    fn ssdsim(stamps: impl Iterator<Item = u64>) -> String {
        stamps.zip(0u64..).map(|(stamp, i)| format!("{stamp} 0 {} 128 {}\n", i * 128, i % 2)).collect()
    }

    /// Generates the gaps of a server, between 1 and 3 ms on average by the part of the trace, in microseconds.
    fn server(n: u64) -> impl Iterator<Item = u64> {
        (0..n).scan(0, |at, i| {
            *at += (i * 7919) % (2000 + 4000 * (i * 4 / 10_000 % 2));
            Some(*at)
        })
    }

    #[test]
    fn microseconds_are_recognised_and_reported() {
        let (content, last) = (ssdsim(server(10_000)), server(10_000).last().unwrap() as i64);
        let (notes, end) = read(&content, "t.ssdsim", None);
        let note =
            "time in us: in ns the trace would begin with 33 GB per second (--time-unit ns overrides this)";
        assert_eq!((notes, end), (vec![note.to_owned()], last * 1000));
        // The user's unit prevails, and is said once.
        let set = |name: &str| vec![format!("time in {name} (--time-unit)")];
        assert_eq!(read(&content, "t.ssdsim", Some(TimeUnit::Nanoseconds)), (set("ns"), last));
        assert_eq!(read(&content, "t.ssdsim", Some(TimeUnit::Microseconds)), (set("us"), last * 1000));
    }

    #[test]
    fn possible_traces_are_left_alone() {
        let last = server(10_000).last().unwrap() as i64;
        let untouched = |content: &str| read(content, "t.ssdsim", None);
        // The same server in nanoseconds, and one that is a hundred times as busy.
        assert_eq!(untouched(&ssdsim(server(10_000).map(|t| t * 1000))), (vec![], last * 1000));
        assert_eq!(untouched(&ssdsim(server(10_000).map(|t| t * 10))), (vec![], last * 10));
        // Too few requests; a burst before a pause; stamps that are all equal, that count requests, that decrease.
        assert!(untouched(&ssdsim(server(200))).0.is_empty());
        assert!(untouched(&ssdsim(server(10_000).map(|t| t + 100_000_000 * (t / 9_000_000)))).0.is_empty());
        assert!(untouched(&ssdsim((0..10_000).map(|_| 7))).0.is_empty());
        assert!(untouched(&ssdsim(0..10_000)).0.is_empty());
        assert!(untouched(&ssdsim((0..10_000).map(|i| 20 * i))).0.is_empty());
        assert!(untouched(&ssdsim((0..10_000).map(|i| 1_000_000_000 - 2000 * i))).0.is_empty());
    }

    /// As in the sample of libCacheSim: 400 requests, four a second.
    #[test]
    fn seconds_of_cloudphysics_are_recognised() {
        let mut content = String::from("version,time,op,size,lbn\n");
        for i in 0..400 {
            content += &format!("1,{},{},4096,{}\n", 5_000_000 + i / 4, ["28", "2a"][i % 2], 1000 + 8 * i);
        }
        let (notes, end) = read(&content, "t.csv", None);
        let note = "time in s: in us the trace would begin with 4 million requests per second (--time-unit us \
                    overrides this)";
        assert_eq!(source(&content, "t.csv", None).assumed(), [note]);
        assert_eq!((notes, end), (vec![note.to_owned()], 99_000_000_000));
        assert_eq!(read(&content, "t.csv", Some(TimeUnit::Microseconds)).1, 99_000);
    }

    /// Every format with an assumed unit says it once, whether the user overrides it or not.
    #[test]
    fn assumed_and_overridden_units_are_never_both_said() {
        for info in FORMATS.iter().filter(|info| info.time_unit.is_some()) {
            let options = OpenOptions { time_unit: Some(TimeUnit::Filetime), ..OpenOptions::default() };
            let text = described(info, &options, None).join("; ");
            assert_eq!(
                text.matches("time in").count() + text.matches("times in").count(),
                1,
                "{}: {text}",
                info.name
            );
        }
        for info in FORMATS.iter().filter(|info| info.lba_unit.is_some()) {
            let options = OpenOptions { lba_unit: Some(LbaUnit::Page4k), ..OpenOptions::default() };
            let text = described(info, &options, None).join("; ");
            assert_eq!(text.matches("address").count(), 1, "{}: {text}", info.name);
        }
    }
}
