//! Reads sessions of sigrok (`.sr`): a zip archive with `metadata`, and samples in `logic-1-1`, `logic-1-2`, ... or in
//! `logic-1`.
//!
//! A sample has `unitsize` bytes, with the first channel in the lowest bit. Runs of equal samples are skipped eight
//! bytes at a time.

use crate::level::Level;
use crate::lows::Lows;
use crate::options::Watch;
use crate::units::parse_rate_hz;
use floatgate_base::error::quote;
use floatgate_base::{Error, Place, Result};
use std::fs::File;
use std::io::Read;
use zip::ZipArchive;

/// Most bytes of `metadata`.
const METADATA_MAX: u64 = 1 << 20;
const CHUNK: usize = 1 << 20;
/// Most bytes per sample.
const UNIT_MAX: usize = 8;

/// The description of the samples in `metadata`.
#[derive(Debug, Default)]
struct Metadata {
    file: Option<String>,
    rate_hz: Option<f64>,
    unit: usize,
    /// Names of channels, by bit.
    probes: Vec<(usize, String)>,
}

impl Metadata {
    fn parse(text: &str) -> Self {
        let (mut metadata, mut devices) = (Self { unit: 1, ..Self::default() }, 0);
        for line in text.lines() {
            if line.trim_start().starts_with("[device") {
                devices += 1;
            }
            let Some((key, value)) = line.split_once('=') else { continue };
            // Later devices are ignored: their samples are taken at other times.
            if devices > 1 {
                break;
            }
            let (key, value) = (key.trim(), value.trim());
            match key {
                "capturefile" => metadata.file = Some(value.to_owned()),
                "samplerate" => metadata.rate_hz = parse_rate_hz(value),
                "unitsize" => metadata.unit = value.parse().unwrap_or(0),
                _ => {
                    if let Some(bit) = key.strip_prefix("probe").and_then(|n| n.parse::<usize>().ok())
                        && (1..=8 * UNIT_MAX).contains(&bit)
                        && metadata.probes.iter().all(|(known, _)| *known != bit - 1)
                    {
                        metadata.probes.push((bit - 1, value.to_owned()));
                    }
                }
            }
        }
        metadata
    }
}

/// Reads a session.
pub(crate) fn read(path: &str, lows: &mut Lows, unit_ps: Option<f64>, watch: &mut Watch) -> Result<()> {
    let place = || Place::Path(path.into());
    let refuse = |what: String, expected: &str| Error::input(place(), what, expected);
    let file =
        File::open(path).map_err(|e| refuse(format!("cannot be opened ({e})"), "expected a capture file"))?;
    let mut archive = ZipArchive::new(file).map_err(|e| {
        refuse(format!("is not a zip archive that can be read ({e})"), "expected a sigrok session")
    })?;
    let mut text = String::new();
    let metadata = archive.by_name("metadata").map_err(|_| {
        refuse("the archive contains no file 'metadata'".into(), "expected a sigrok session (version 2)")
    })?;
    metadata
        .take(METADATA_MAX)
        .read_to_string(&mut text)
        .map_err(|e| refuse(format!("its metadata cannot be read ({e})"), "expected a sigrok session"))?;
    let metadata = Metadata::parse(&text);
    let period_ps = unit_ps.or(metadata.rate_hz.map(|rate_hz| 1e12 / rate_hz));
    let Some(period_ps) = period_ps else {
        return Err(refuse(
            "its metadata have no samplerate".into(),
            "pass the time between samples, as in --time-unit 1us",
        ));
    };
    let Some(name) = metadata.file.filter(|_| !metadata.probes.is_empty()) else {
        return Err(refuse("it has no logic channels".into(), "capture the pin on a digital channel"));
    };
    if !(1..=UNIT_MAX).contains(&metadata.unit) {
        return Err(refuse(format!("samples of {} bytes", metadata.unit), "expected from 1 to 8 bytes"));
    }
    lows.sampled(period_ps);
    let first = lows.pins.len();
    let probes = metadata.probes.into_iter().filter(|(bit, _)| *bit < 8 * metadata.unit);
    let pins: Vec<(usize, usize)> = probes.map(|(bit, name)| (bit, lows.add_pin(name))).collect();
    let mut packed = 0;
    let mut samples = Samples { unit: metadata.unit, period_ps, pins, at: 0, value: None };
    for part in parts(&archive, &name) {
        let damaged = |e: &dyn std::fmt::Display| {
            refuse(
                format!("{} is damaged ({e})", quote(part.as_bytes())),
                "expected an intact sigrok session",
            )
        };
        let mut entry = archive.by_name(&part).map_err(|e| damaged(&e))?;
        packed += entry.compressed_size();
        let (mut buf, mut held) = (vec![0; CHUNK + UNIT_MAX], 0);
        loop {
            let read = entry.read(&mut buf[held..held + CHUNK]).map_err(|e| damaged(&e))?;
            if read == 0 {
                break;
            }
            let data = held + read;
            let whole = data - data % metadata.unit;
            samples.take(&buf[..whole], lows);
            buf.copy_within(whole..data, 0);
            held = data - whole;
            watch(packed)?;
        }
        if held > 0 {
            return Err(damaged(&format!("it ends within a sample of {} bytes", metadata.unit)));
        }
    }
    if samples.at == 0 {
        return Err(refuse("it has no samples".into(), "expected a capture"));
    }
    lows.reach(samples.time_ps());
    lows.end(first);
    Ok(())
}

/// Lists the files with samples, in order of time.
fn parts(archive: &ZipArchive<File>, name: &str) -> Vec<String> {
    let names = || archive.file_names().flatten();
    let number = |file: &str| file.strip_prefix(name)?.strip_prefix('-')?.parse::<u64>().ok();
    let mut numbered: Vec<(u64, String)> =
        names().filter_map(|file| Some((number(&file)?, file.into_owned()))).collect();
    numbered.sort();
    let plain = names().filter(|file| file == name).map(|file| file.into_owned());
    plain.chain(numbered.into_iter().map(|(_, file)| file)).collect()
}

struct Samples {
    unit: usize,
    period_ps: f64,
    /// Bit and pin.
    pins: Vec<(usize, usize)>,
    /// Samples processed so far.
    at: u64,
    value: Option<u64>,
}

impl Samples {
    fn time_ps(&self) -> i64 {
        (self.at as f64 * self.period_ps).round() as i64
    }

    /// Processes whole samples.
    fn take(&mut self, bytes: &[u8], lows: &mut Lows) {
        let unit = self.unit;
        let mut at = 0;
        while at < bytes.len() {
            let equal = self.value.map_or(0, |value| run_of(&bytes[at..], unit, value));
            at += equal;
            self.at += (equal / unit) as u64;
            if at >= bytes.len() {
                break;
            }
            let value = sample(&bytes[at..at + unit]);
            let changed = self.value.map_or(u64::MAX, |before| before ^ value);
            let time_ps = self.time_ps();
            for &(bit, pin) in &self.pins {
                if changed >> bit & 1 != 0 {
                    let level = if value >> bit & 1 == 0 { Level::Low } else { Level::High };
                    lows.change(pin, time_ps, level);
                }
            }
            (self.value, self.at, at) = (Some(value), self.at + 1, at + unit);
        }
    }
}

fn sample(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// Counts the leading bytes that contain only samples of this value.
fn run_of(bytes: &[u8], unit: usize, value: u64) -> usize {
    let mut from = 0;
    if unit.is_power_of_two() {
        let repeated = (0..8 / unit).fold(0, |word, at| word | value << (8 * unit * at));
        let same = |word: &&[u8]| {
            word.len() == 8 && u64::from_le_bytes((**word).try_into().unwrap_or_default()) == repeated
        };
        from = 8 * bytes.chunks(8).take_while(same).count();
    }
    let rest = bytes[from..].chunks(unit).take_while(|one| one.len() == unit && sample(one) == value);
    from + unit * rest.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_equal_samples_are_found() {
        for unit in 1..=8 {
            let one: Vec<u8> = (1..=unit as u8).collect();
            for len in 0..40 {
                let mut bytes = one.repeat(len);
                assert_eq!(run_of(&bytes, unit, sample(&one)), bytes.len(), "{unit} {len}");
                bytes.extend(std::iter::repeat_n(0xff, unit));
                bytes.extend(one.repeat(9));
                assert_eq!(run_of(&bytes, unit, sample(&one)), unit * len, "{unit} {len}");
            }
        }
    }
}
