//! Measures write amplification from captures, in one call.

use crate::humps::{Hump, READ_MAX_PS, separate};
use crate::lengths::Lengths;
use crate::lows::{Lows, Pin};
use crate::options::{Format, ReadOptions};
use crate::read::{Reading, read};
use crate::recorder::{Recorder, Theory};
use crate::volume::{Geometry, HostBytes, Terms, Volume};
use floatgate_base::error::quote;
use floatgate_base::names::remedy;
use floatgate_base::{Error, Place, Result};
use serde::Serialize;

/// Most names in a message.
const NAMES_MAX: usize = 20;
/// Relative difference between dies above which a warning is issued.
const UNEQUAL_SHARE: f64 = 0.05;

/// Settings of a measurement.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// Files with captures.
    pub paths: Vec<String>,
    /// Options for reading them.
    pub read: ReadOptions,
    /// Names of the signals to count; empty for all that look like Ready/Busy pins.
    pub signals: Vec<String>,
    /// Programs are longer than the first length and shorter than the second; detected if absent.
    pub program_ps: Option<(u64, u64)>,
    /// A polling recorder to simulate between the captures and the counts.
    pub recorder: Option<Recorder>,
    /// Shape of the drive.
    pub geometry: Geometry,
    /// Pages per program, if known.
    pub multi_page: Option<f64>,
    /// Host writes.
    pub host: Option<HostBytes>,
}

/// Counts of a signal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Signal {
    /// Its name.
    pub name: String,
    /// Its capture.
    pub path: String,
    /// Low phases within the interval.
    pub programs: u64,
    /// Low phases below it.
    pub reads: u64,
    /// Low phases above it.
    pub erases: u64,
    /// Low phases with a missing edge.
    pub unclassified: u64,
}

/// A polling recorder and its expected losses.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recorded {
    /// Time between two polls.
    pub period_us: f64,
    /// Time that a pin must be high before counts are sent; 0: counts are always sent.
    pub quiet_s: f64,
    /// Actual number of programs.
    pub programs_exact: f64,
    /// Programs between two polls, on average over all phases of the polling.
    pub missed: f64,
    /// High phases between two polls, on average: they merge the low phases around them.
    pub merged: f64,
    /// Low phases that were counted but never sent.
    pub unsent: u64,
}

/// Results of a measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// Programs of all signals.
    pub programs: u64,
    /// Reads of all signals.
    pub reads: u64,
    /// Erases of all signals.
    pub erases: u64,
    /// Unclassified low phases of all signals.
    pub unclassified: u64,
    /// Lower and upper limit of programs.
    pub interval_us: [f64; 2],
    /// Whether the caller set the interval.
    #[serde(rename = "interval_given")]
    pub interval_is_set: bool,
    /// Pages per program.
    pub multi_page: f64,
    /// Write amplification and its inputs.
    #[serde(flatten)]
    pub volume: Volume,
    /// Bytes written by the host.
    pub host_bytes: Option<u64>,
    /// Bound on the error of the host's bytes.
    pub host_step_bytes: Option<u64>,
    /// Possible errors of the count by cause, in programs.
    pub terms: Terms,
    /// Length of the longest capture; none for lists of lengths.
    pub duration_s: Option<f64>,
    /// Time between two samples or polls; none for lists of lengths.
    pub step_us: Option<f64>,
    /// The simulated recorder, if any.
    pub recorder: Option<Recorded>,
    /// Signals that were counted.
    pub signals: Vec<Signal>,
    /// Signals that were not counted.
    pub left_out: Vec<String>,
    /// Humps of all signals.
    pub humps: Vec<Hump>,
    /// Low phases of all signals: from this length, up to that one, count.
    pub histogram_us: Vec<(f64, f64, u64)>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// Reads captures and measures. `watch` receives the bytes read so far and the total, which is none if one file is a
/// pipe; an error of it ends the reading.
///
/// # Errors
/// Unusable input, with the place: an unreadable file, a missing signal, no low phase, no phase as long as a program.
pub fn measure(
    measurement: &Measurement,
    watch: &mut dyn FnMut(u64, Option<u64>) -> Result<()>,
) -> Result<Measured> {
    let mut lows = Lows::new(measurement.program_ps, measurement.recorder);
    let mut readings = Vec::new();
    let sizes: Vec<Option<u64>> = measurement.paths.iter().map(|path| file_bytes(path)).collect();
    let total = sizes.iter().copied().sum::<Option<u64>>();
    for (number, path) in measurement.paths.iter().enumerate() {
        let before: u64 = sizes[..number].iter().flatten().sum();
        readings.push(read(path, &measurement.read, &mut lows, &mut |taken| watch(before + taken, total))?);
    }
    if measurement.recorder.is_some() {
        must_have_times(&readings)?;
    }
    let mut warnings = Vec::new();
    let chosen = choose(&lows, &readings, &measurement.signals, &mut warnings)?;
    let mut lengths = Lengths::default();
    chosen.iter().for_each(|&pin| lengths.join(lows.pins[pin].lengths()));
    if lengths.count() == 0 {
        return Err(no_low(&lows, &chosen, &readings[0].path));
    }
    let step_ps = measurement.recorder.map_or(lows.step_ps(), |recorder| recorder.period_ps);
    let separation = separate(&lengths, step_ps);
    let program_ps = match (measurement.program_ps, &separation) {
        (Some(interval), _) => interval,
        (None, Some(separation)) => separation.program_ps,
        (None, None) => return Err(no_program(&lengths)),
    };
    let humps = separation.map(|separation| separation.humps).unwrap_or_default();
    let path_of = |pin: usize| readings.iter().find(|reading| reading.pins.contains(&pin));
    let signals: Vec<Signal> = chosen
        .iter()
        .map(|&pin| {
            let path = path_of(pin).map_or(String::new(), |reading| reading.path.clone());
            counts(&lows.pins[pin], path, program_ps, measurement.program_ps.is_some())
        })
        .collect();
    let sum = |of: fn(&Signal) -> u64| signals.iter().map(of).sum::<u64>();
    let (programs, erases) = (sum(|s| s.programs), sum(|s| s.erases));
    let unclassified = sum(|s| s.unclassified);
    let geometry = &measurement.geometry;
    let terms = terms(&signals, &lengths, program_ps, step_ps, geometry);
    let multi_page = measurement.multi_page.unwrap_or(1.0);
    let mut measured = Measured {
        programs,
        reads: sum(|s| s.reads),
        erases,
        unclassified,
        interval_us: [program_ps.0, program_ps.1].map(|ps| ps as f64 / 1e6),
        interval_is_set: measurement.program_ps.is_some(),
        multi_page,
        volume: Volume::of(geometry, (programs, signals.len()), multi_page, &terms, measurement.host),
        host_bytes: measurement.host.map(|host| host.bytes),
        host_step_bytes: measurement.host.map(|host| host.step_bytes),
        terms,
        duration_s: (lows.duration_ps() > 0).then(|| lows.duration_ps() as f64 / 1e12),
        step_us: (step_ps > 0).then(|| step_ps as f64 / 1e6),
        recorder: measurement.recorder.map(|recorder| recorded(recorder, &lows, &chosen, program_ps)),
        left_out: left_out(&lows, &chosen),
        signals,
        humps,
        histogram_us: lengths.bins().map(|(from, to, n)| (from as f64 / 1e6, to as f64 / 1e6, n)).collect(),
        warnings,
    };
    warn(&mut measured, measurement, &lows, &chosen);
    Ok(measured)
}

/// Rejects lists of lengths, since a recorder needs times.
fn must_have_times(readings: &[Reading]) -> Result<()> {
    match readings.iter().find(|reading| reading.format == Format::Intervals) {
        None => Ok(()),
        Some(list) => Err(Error::input(
            Place::Path(list.path.clone()),
            "has lengths but no times; a recorder cannot poll it",
            "expected times; otherwise leave out --poll-us",
        )),
    }
}

/// Returns the size of a regular file.
fn file_bytes(path: &str) -> Option<u64> {
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file).map(|meta| meta.len())
}

/// Computes the expected losses of the recorder.
fn recorded(recorder: Recorder, lows: &Lows, chosen: &[usize], program_ps: (u64, u64)) -> Recorded {
    let polled = || chosen.iter().filter_map(|&pin| lows.pins[pin].polled.as_deref());
    let theories: Vec<Theory> = polled().map(|polled| polled.theory(program_ps)).collect();
    let sum = |of: fn(&Theory) -> f64| theories.iter().map(of).sum::<f64>();
    Recorded {
        period_us: recorder.period_ps as f64 / 1e6,
        quiet_s: recorder.quiet_ps as f64 / 1e12,
        programs_exact: sum(|theory| theory.programs),
        missed: sum(|theory| theory.missed),
        merged: sum(|theory| theory.merged),
        unsent: polled().map(|polled| polled.pending.lengths.count()).sum(),
    }
}

/// Estimates the possible errors of the count, in programs.
fn terms(
    signals: &[Signal],
    lengths: &Lengths,
    program_ps: (u64, u64),
    step_ps: u64,
    geometry: &Geometry,
) -> Terms {
    let by_signal: Vec<u64> = signals.iter().map(|signal| signal.programs).collect();
    let near = |edge_ps: u64| {
        lengths.between(edge_ps.saturating_sub(edge_ps / 16), edge_ps.saturating_add(edge_ps / 16))
    };
    // The length of a phase that only one poll saw is unknown. Assuming half a period, as many were missed.
    let is_short = program_ps.0 < 2 * step_ps;
    let missed = if is_short { lengths.between(program_ps.0 + 1, step_ps + step_ps / 32 + 1) } else { 0 };
    let erases = signals.iter().map(|signal| signal.erases).sum();
    Terms {
        near_ends: (near(program_ps.0) + near(program_ps.1)) as f64,
        hidden_erases: Terms::hidden_erases((by_signal.iter().sum(), by_signal.len()), erases, geometry),
        cut: signals.iter().map(|signal| signal.unclassified).sum::<u64>() as f64,
        missed: missed as f64,
        dies_share: Terms::dies_share(&by_signal, geometry.all_dies()),
    }
}

/// Returns the counts of a signal.
fn counts(pin: &Pin, path: String, program_ps: (u64, u64), by_interval: bool) -> Signal {
    let [reads, programs, erases] = match by_interval {
        true => pin.counts.classed,
        false => {
            let (from, to) = program_ps;
            let between = |from, to| pin.lengths().between(from, to);
            [between(0, from + 1), between(from + 1, to), between(to, u64::MAX)]
        }
    };
    Signal { name: pin.name.clone(), path, programs, reads, erases, unclassified: pin.cut }
}

/// Lists names of pins for a message.
fn names(lows: &Lows, pins: &[usize]) -> String {
    let shown = pins.iter().take(NAMES_MAX).map(|&pin| quote(lows.pins[pin].name.as_bytes()));
    let more =
        if pins.len() > NAMES_MAX { format!(" and {} more", pins.len() - NAMES_MAX) } else { String::new() };
    format!("{}{more}", shown.collect::<Vec<_>>().join(", "))
}

/// Lists the pins that changed and are not counted.
fn left_out(lows: &Lows, chosen: &[usize]) -> Vec<String> {
    let others = lows.pins.iter().enumerate().filter(|(pin, state)| state.changed && !chosen.contains(pin));
    others.map(|(_, pin)| pin.name.clone()).collect()
}

/// Returns whether a name is typical of Ready/Busy pins: RB, R/B#, RY/BY, ready_n, busy.
fn is_ready_busy(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase();
    let letters: String = last.chars().filter(char::is_ascii_alphabetic).collect();
    ["rb", "rbn", "rbb", "ryby", "rnb"].contains(&letters.as_str())
        || ["ready", "busy", "r/b", "ry/by"].iter().any(|part| last.contains(part))
}

/// Selects the pins to count.
fn choose(
    lows: &Lows,
    readings: &[Reading],
    signals: &[String],
    warnings: &mut Vec<String>,
) -> Result<Vec<usize>> {
    if !signals.is_empty() {
        return named(lows, readings, signals);
    }
    if lows.pins.iter().all(|pin| !pin.changed) {
        let all: Vec<usize> = (0..lows.pins.len()).collect();
        return Err(Error::input(
            Place::Path(readings[0].path.clone()),
            format!("no signal ever changes ({})", names(lows, &all)),
            "expected a capture of a pin at work",
        ));
    }
    // Each capture is judged on its own names: a pin named RB in one says nothing about Channel 0 in another.
    let (mut chosen, mut guessed, mut idle) = (Vec::new(), Vec::new(), Vec::new());
    for reading in readings {
        let changed = |&pin: &usize| lows.pins[pin].changed;
        let known = |&pin: &usize| is_ready_busy(&lows.pins[pin].name);
        let (here, still): (Vec<usize>, Vec<usize>) = reading.pins.clone().partition(changed);
        let recognised: Vec<usize> = here.iter().copied().filter(known).collect();
        idle.extend(still.into_iter().filter(known));
        if recognised.is_empty() && here.len() > 1 {
            guessed.extend(&here);
        }
        chosen.extend(if recognised.is_empty() { here } else { recognised });
    }
    if !guessed.is_empty() {
        let names = names(lows, &guessed);
        warnings.push(format!(
            "all changing signals count as Ready/Busy pins, one per die: {names}; use --signal to select"
        ));
    }
    if !idle.is_empty() {
        let names = names(lows, &idle);
        warnings.push(format!(
            "signals that never change are not counted: {names}; if their dies were idle, name all signals with \
             --signal"
        ));
    }
    Ok(chosen)
}

/// Returns the pins with these names, either complete or after the last dot.
fn named(lows: &Lows, readings: &[Reading], signals: &[String]) -> Result<Vec<usize>> {
    let mut chosen = Vec::new();
    for signal in signals {
        let is_it = |name: &str| name == signal || name.rsplit('.').next() == Some(signal);
        let matches = (0..lows.pins.len()).filter(|&pin| is_it(&lows.pins[pin].name));
        let before = chosen.len();
        chosen.extend(matches);
        if chosen.len() == before {
            let all: Vec<&str> = lows.pins.iter().map(|pin| pin.name.as_str()).collect();
            let what = format!("no signal {}", quote(signal.as_bytes()));
            let place = Place::Path(readings[0].path.clone());
            return Err(Error::input(place, what, remedy(signal, &all, "")));
        }
    }
    chosen.sort_unstable();
    chosen.dedup();
    Ok(chosen)
}

/// Returns the error of a capture without low phases to count.
fn no_low(lows: &Lows, chosen: &[usize], path: &str) -> Box<Error> {
    let place = Place::Path(path.into());
    let pending =
        |pin: usize| lows.pins[pin].polled.as_ref().map_or(0, |polled| polled.pending.lengths.count());
    let unsent: u64 = chosen.iter().map(|&pin| pending(pin)).sum();
    if unsent > 0 {
        let what = format!("the recorder never sent the {unsent} low phases that it counted");
        return Error::input(place, what, "expected a pause of --quiet-s at the end of the capture");
    }
    Error::input(
        place,
        format!("no low phase with both edges on {}", names(lows, chosen)),
        "expected a pin that is low while the chip is busy (if it is inverted, swap 0 and 1; if it is too \
         short, capture longer)",
    )
}

/// Returns the error of a capture without a phase as long as a program.
fn no_program(lengths: &Lengths) -> Box<Error> {
    let (shortest, longest) =
        lengths.bins().fold((u64::MAX, 0), |(low, high), (from, to, _)| (low.min(from), high.max(to)));
    let us = |ps: u64| ps as f64 / 1e6;
    Error::input(
        Place::Setting("--program-us".into()),
        format!(
            "low phases last from {:.0} to {:.0} us, none as long as a program ({} us to 20 ms)",
            us(shortest),
            us(longest),
            us(READ_MAX_PS)
        ),
        "set the length of programs, as in --program-us 180..1500",
    )
}

/// Warns if an interval of programs that the user set covers no hump or several.
fn warn_of_interval(measured: &mut Measured) {
    let [from_us, to_us] = measured.interval_us;
    if measured.interval_is_set {
        let is_within = |hump: &&Hump| (from_us..to_us).contains(&(hump.peak_ps as f64 / 1e6));
        // A few outliers are not a second hump.
        let within =
            measured.humps.iter().filter(|hump| is_within(hump) && 100 * hump.count >= measured.programs);
        let peaks: Vec<String> = within.map(|hump| format!("{:.0} us", hump.peak_ps as f64 / 1e6)).collect();
        if measured.programs == 0 {
            measured.warnings.push(format!("no low phase lies within --program-us {from_us}..{to_us}"));
        } else if peaks.len() > 1 {
            measured.warnings.push(format!(
                "--program-us covers {} humps, at {}: are all of them programs?",
                peaks.len(),
                peaks.join(", ")
            ));
        }
    }
}

/// Adds the warnings.
fn warn(measured: &mut Measured, measurement: &Measurement, lows: &Lows, chosen: &[usize]) {
    warn_of_interval(measured);
    let (geometry, warnings) = (&measurement.geometry, &mut measured.warnings);
    let from_us = measured.interval_us[0];
    if measurement.multi_page.is_none() && geometry.planes > 1 {
        warnings.push(format!(
            "assuming one page per program; with {} planes it may be up to {} (measure it with floatgate rb \
             multi-page)",
            geometry.planes, geometry.planes
        ));
    }
    if measured.terms.dies_share.is_none() {
        warnings.push(format!(
            "one of {} dies was measured: the interval of WA ignores differences between dies",
            geometry.all_dies()
        ));
    }
    if measured.signals.len() as u64 > geometry.all_dies() {
        warnings.push(format!(
            "{} signals, but the drive has {} dies",
            measured.signals.len(),
            geometry.all_dies()
        ));
    }
    if measured.erases == 0 && measured.programs > 0 {
        let pages =
            geometry.pages_per_block.map_or("at least 64 (unknown)".into(), |pages| pages.to_string());
        warnings.push(format!(
            "erases could not be distinguished from programs: up to one per block of {pages} pages may be among them"
        ));
    }
    let unknown: u64 = chosen.iter().map(|&pin| lows.pins[pin].unknown).sum();
    if unknown > 0 {
        warnings
            .push(format!("the level is unknown (x or z) {unknown} times; low phases there are not counted"));
    }
    if measured.step_us.is_some_and(|step_us| from_us < 2.0 * step_us) {
        let step_us = measured.step_us.unwrap_or_default();
        warnings.push(format!(
            "samples every {step_us} us are too coarse for programs from {from_us:.1} us: \
         sample at least ten times as often"
        ));
    }
    if let Some(Recorded { unsent, quiet_s, .. }) = measured.recorder
        && unsent > 0
    {
        warnings.push(format!(
            "{unsent} low phases are not counted: the pin was not quiet for {quiet_s} s after them"
        ));
    }
    let programs = measured.signals.iter().map(|signal| signal.programs);
    if let (Some(least), Some(most)) = (programs.clone().min(), programs.max())
        && (most - least) as f64 > UNEQUAL_SHARE * most as f64
    {
        warnings.push(format!("programs per die differ: {least} to {most}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_ready_busy_pins_are_known() {
        for name in ["RB", "R/B#", "top.chip0.rb_n", "RB0", "RY/BY", "nand_busy", "Ready"] {
            assert!(is_ready_busy(name), "{name}");
        }
        for name in ["D0", "CLE", "verb", "0", "Channel 3", "RE#"] {
            assert!(!is_ready_busy(name), "{name}");
        }
    }
}
