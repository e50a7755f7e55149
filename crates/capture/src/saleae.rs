//! Reads binary exports of Saleae Logic 2: one digital channel per file, named `digital_0.bin`.
//!
//! All numbers are little-endian, all times seconds as doubles. Version 0 has one run of samples: its first level, begin,
//! end, and the times of transitions, each of which inverts the level. Version 1 has several such runs, each with a
//! sample rate; between them samples are missing.
//!
//! Source: Saleae, "Binary Export Format - Version 0" and "Binary and CSV Export Formats - 2025 Update".

use crate::level::Level;
use crate::lows::Lows;
use crate::options::Watch;
use floatgate_base::{Error, Place, Result};
use floatgate_input::Input;

/// The first bytes of each file.
pub(crate) const MAGIC: &[u8] = b"<SALEAE>";
/// Largest time, in seconds: 100 days.
const TIME_MAX_S: f64 = 8.64e6;
/// Transitions to read at once.
const BLOCK: usize = 1 << 13;

/// Reads a channel. A file of analog samples has none.
pub(crate) fn read(input: Input, lows: &mut Lows, watch: &mut Watch) -> Result<()> {
    let first = lows.pins.len();
    let path = input.name().to_owned();
    let mut reader = Reader { input, path, at: 0, pin: first, now_ps: i64::MIN };
    let magic = reader.bytes::<8>("its header")?;
    if magic != MAGIC {
        return Err(reader.fault("does not begin with <SALEAE>", "expected a binary export of Logic 2"));
    }
    let version = u32::from_le_bytes(reader.bytes("its header")?);
    let kind = u32::from_le_bytes(reader.bytes("its header")?);
    if version > 1 {
        let what = format!("has version {version} of the binary format");
        return Err(reader.fault(what, "expected version 0 or 1; export CSV"));
    }
    match kind {
        0 => {}
        1 => {
            lows.notes.push(format!("{} has analog samples and is not read", reader.path));
            return Ok(());
        }
        _ => return Err(reader.fault(format!("has data of type {kind}"), "expected 0: a digital channel")),
    }
    let name = reader.path.rsplit('/').next().unwrap_or(&reader.path);
    let name = name.split_once(".bin").map_or(name, |(stem, _)| stem).to_owned();
    lows.add_pin(name);
    let runs = if version == 0 { 1 } else { u64::from_le_bytes(reader.bytes("its number of runs")?) };
    if runs == 0 {
        return Err(reader.fault("has no samples", "expected a capture"));
    }
    let (mut gaps, mut missing_ps) = (0u64, 0);
    for run in 0..runs {
        let end_ps = reader.now_ps;
        let begin_ps = reader.run(version, lows, watch)?;
        if run > 0 && begin_ps > end_ps {
            (gaps, missing_ps) = (gaps + 1, missing_ps + begin_ps.abs_diff(end_ps));
        }
    }
    if gaps > 0 {
        lows.notes.push(format!(
            "{} lacks samples {gaps} times, {:.6} s in all: a gap is no phase",
            reader.path,
            missing_ps as f64 / 1e12
        ));
    }
    lows.end(first);
    Ok(())
}

struct Reader {
    input: Input,
    path: String,
    /// Bytes read so far.
    at: u64,
    pin: usize,
    now_ps: i64,
}

impl Reader {
    #[cold]
    fn fault(&self, what: impl Into<String>, expected: impl Into<String>) -> Box<Error> {
        Error::input(Place::Path(self.path.clone()), what, expected)
    }

    #[cold]
    fn truncated(&self, part: &str) -> Box<Error> {
        self.fault(
            format!("ends at byte {}, within {part}", self.at),
            "expected a complete export; export it again",
        )
    }

    /// Reads some bytes that are `part` of the file.
    fn bytes<const N: usize>(&mut self, part: &str) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        let read = self.input.read_full(&mut bytes)?;
        self.at += read as u64;
        if read < N { Err(self.truncated(part)) } else { Ok(bytes) }
    }

    /// Reads a time, which must not lie before the previous one.
    fn time(&mut self, bytes: [u8; 8]) -> Result<i64> {
        let time_s = f64::from_le_bytes(bytes);
        if !(-TIME_MAX_S..=TIME_MAX_S).contains(&time_s) {
            let what = format!("the time before byte {} is {time_s} s", self.at);
            return Err(self.fault(what, "expected times within 100 days"));
        }
        let time_ps = (time_s * 1e12).round() as i64;
        if time_ps < self.now_ps {
            let what = format!("time goes back before byte {}, to {time_s} s", self.at);
            return Err(self.fault(what, "expected times in ascending order"));
        }
        self.now_ps = time_ps;
        Ok(time_ps)
    }

    /// Reads a run of samples; returns its begin.
    fn run(&mut self, version: u32, lows: &mut Lows, watch: &mut Watch) -> Result<i64> {
        let part = "the header of its samples";
        let mut is_high = match u32::from_le_bytes(self.bytes(part)?) {
            state @ 0..=1 => state == 1,
            state => {
                let what = format!("the first level before byte {} is {state}", self.at);
                return Err(self.fault(what, "expected 0 or 1"));
            }
        };
        if version == 1 {
            let rate_hz = f64::from_le_bytes(self.bytes(part)?);
            if (1e-3..=1e12).contains(&rate_hz) {
                lows.sampled(1e12 / rate_hz);
            }
        }
        let begin = self.bytes(part)?;
        let before_ps = self.now_ps;
        let begin_ps = self.time(begin)?;
        if before_ps > i64::MIN && begin_ps > before_ps {
            lows.change(self.pin, before_ps, Level::Unknown);
        }
        let end: [u8; 8] = self.bytes(part)?;
        let transitions = u64::from_le_bytes(self.bytes(part)?);
        let level = |is_high: bool| if is_high { Level::High } else { Level::Low };
        lows.change(self.pin, begin_ps, level(is_high));
        let mut left = transitions;
        let mut block = vec![0; 8 * BLOCK];
        while left > 0 {
            let want = 8 * left.min(BLOCK as u64) as usize;
            let read = self.input.read_full(&mut block[..want])?;
            for bytes in block[..read].chunks_exact(8) {
                self.at += 8;
                let time_ps = self.time(bytes.try_into().unwrap_or_default())?;
                is_high = !is_high;
                lows.change(self.pin, time_ps, level(is_high));
            }
            if read < want {
                self.at += (read % 8) as u64;
                let done = transitions - left + read as u64 / 8;
                return Err(self.truncated(&format!("its transitions ({done} of {transitions})")));
            }
            left -= read as u64 / 8;
            watch(self.input.taken())?;
        }
        let end_ps = self.time(end)?;
        lows.reach(end_ps);
        Ok(begin_ps)
    }
}
