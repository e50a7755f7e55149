//! Measures write amplification from captures, in one call.

use crate::choice::{choose, left_out, names};
use crate::doubts::{SLC_MIN_PS, doubts};
use crate::humps::{Hump, READ_MAX_PS, Separation, separate};
use crate::known::{Doubt, Known};
use crate::lengths::Lengths;
use crate::lows::{Lows, Pin};
use crate::options::{Format, ReadOptions};
use crate::read::{Reading, read};
use crate::recorder::{Recorded, Recorder};
use crate::succession::GLITCH_MAX_PS;
use crate::units::gcd;
use crate::volume::{Geometry, HostBytes, PAGES_PER_DIE_MIN, Terms, Volume};
use floatgate_base::{Error, Place, Result};
use serde::Serialize;

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
    /// High phases below this length are glitches; detected if absent.
    pub min_high_ps: Option<u64>,
    /// Dies behind each pin; one if absent, unless the lengths show more.
    pub dies_per_signal: Option<u32>,
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

/// The ends of the captures: a file that was cut ends while dies are busy, or with its last edge.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ends {
    /// Signals that are low when their capture begins.
    pub begin_low: u64,
    /// Signals that are low when their capture ends.
    pub end_low: u64,
    /// Latest time at which a capture begins; none for lists of lengths.
    pub begin_s: Option<f64>,
    /// Time from the last edge of any signal to the end of the captures; none without an edge.
    pub tail_s: Option<f64>,
}

impl Ends {
    fn of(lows: &Lows, chosen: &[usize]) -> Self {
        let pins = || chosen.iter().map(|&pin| &lows.pins[pin]);
        Self {
            begin_low: pins().filter(|pin| pin.begins_low).count() as u64,
            end_low: pins().filter(|pin| pin.ends_low).count() as u64,
            begin_s: lows.begin_ps().map(|ps| ps as f64 / 1e12),
            tail_s: pins().filter_map(|pin| pin.tail_ps).min().map(|ps| ps as f64 / 1e12),
        }
    }
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
    /// Reasons to doubt the count, with their bounds in programs.
    pub doubts: Vec<Doubt>,
    /// Codes of the reasons for which there is no estimate of write amplification.
    pub withheld: Vec<&'static str>,
    /// Length of the longest capture; none for lists of lengths.
    pub duration_s: Option<f64>,
    /// The ends of the captures.
    pub ends: Ends,
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
    let mut lows =
        Lows::new(measurement.program_ps, measurement.recorder).with_min_high(measurement.min_high_ps);
    lows = lows.with_wanted(&measurement.signals);
    let mut readings = Vec::new();
    let sizes: Vec<Option<u64>> = measurement.paths.iter().map(|path| file_bytes(path)).collect();
    let total = sizes.iter().copied().sum::<Option<u64>>();
    for (number, path) in measurement.paths.iter().enumerate() {
        let before: u64 = sizes[..number].iter().flatten().sum();
        readings.push(read(path, &measurement.read, &mut lows, &mut |taken| watch(before + taken, total))?);
    }
    if readings.iter().all(|reading| reading.format == Format::Saleae && reading.pins.is_empty()) {
        let reading = &readings[0];
        let place = Place::Path(reading.path.clone());
        return Err(Error::input(place, "has analog samples only", "expected digital channels"));
    }
    if measurement.recorder.is_some() {
        must_have_times(&readings)?;
    }
    let mut warnings = std::mem::take(&mut lows.notes);
    let chosen = choose(&lows, &readings, &measurement.signals, &mut warnings)?;
    join_glitches(&mut lows, &chosen, measurement.min_high_ps, &mut warnings);
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
    let path_of = |pin: usize| readings.iter().find(|reading| reading.pins.contains(&pin));
    let signals: Vec<Signal> = chosen
        .iter()
        .map(|&pin| {
            let path = path_of(pin).map_or(String::new(), |reading| reading.path.clone());
            counts(&lows.pins[pin], path, program_ps, measurement.program_ps.is_some())
        })
        .collect();
    let counted = Counted { lows: &lows, chosen: &chosen, lengths, separation, program_ps, step_ps };
    let mut measured = counted.measured(measurement, signals, warnings);
    warn(&mut measured, measurement, &lows, &chosen);
    Ok(measured)
}

/// Counts low phases that glitches split as one: those that the user defines, or a hump of very short high phases.
fn join_glitches(lows: &mut Lows, chosen: &[usize], set_ps: Option<u64>, warnings: &mut Vec<String>) {
    let (mut split, mut whole) = (0, 0);
    for &pin in chosen {
        let pin = &mut lows.pins[pin];
        if set_ps.is_some() || pin.succession.has_glitches() {
            split += pin.succession.pieces.lengths.count();
            whole += pin.succession.joined.lengths.count();
            pin.join_pieces();
        }
        if let Some(polled) = &mut pin.polled
            && (set_ps.is_some() || polled.actual.succession.has_glitches())
        {
            polled.actual.join_pieces();
        }
    }
    if split > whole {
        let below_us = set_ps.unwrap_or(GLITCH_MAX_PS) as f64 / 1e6;
        warnings.push(format!(
            "{} high phases shorter than {below_us} us count as glitches within a low phase; another limit is set by \
             --min-high-us",
            split - whole
        ));
    }
}

/// What was read, and how low phases are classed.
struct Counted<'a> {
    lows: &'a Lows,
    chosen: &'a [usize],
    lengths: Lengths,
    separation: Option<Separation>,
    program_ps: (u64, u64),
    step_ps: u64,
}

impl Counted<'_> {
    /// Computes the results.
    fn measured(
        self,
        measurement: &Measurement,
        signals: Vec<Signal>,
        mut warnings: Vec<String>,
    ) -> Measured {
        let sum = |of: fn(&Signal) -> u64| signals.iter().map(of).sum::<u64>();
        let (programs, reads, erases) = (sum(|s| s.programs), sum(|s| s.reads), sum(|s| s.erases));
        let unclassified = sum(|s| s.unclassified);
        let (geometry, lows, step_ps) = (&measurement.geometry, self.lows, self.step_ps);
        let dies = signals.len() * measurement.dies_per_signal.unwrap_or(1).max(1) as usize;
        let cut_by = |parts: &Separation| parts.is_cut_by(self.program_ps.1, &self.lengths, erases);
        // The longer part of a hump is programs and erases, as the shorter part is.
        let mixed = if self.separation.as_ref().is_some_and(cut_by) { erases } else { 0 };
        let mut terms = terms((&signals, mixed), &self.lengths, self.program_ps, step_ps, (geometry, dies));
        let (doubts, withheld) = self.doubts(measurement, programs);
        // If reads may be programs, the shortest programs are shorter than the interval says.
        let are_short = doubts.iter().any(|doubt| doubt.code == "slc_programs");
        let shortest_ps = if are_short { SLC_MIN_PS.min(self.program_ps.0) } else { self.program_ps.0 };
        warnings.extend(host_beyond_capture(measurement, shortest_ps, lows.duration_ps()));
        let doubtful = (doubts.iter().map(|d| d.less).sum(), doubts.iter().map(|d| d.more).sum());
        let multi_page = measurement.multi_page.unwrap_or(1.0);
        let counted = (programs, dies);
        let volume_of =
            |terms: &Terms| Volume::of(geometry, counted, multi_page, (terms, doubtful), measurement.host);
        if terms.dies_share.is_none() {
            terms.one_die_share = volume_of(&terms).wa.map(|wa| Terms::one_die_share(wa, geometry));
        }
        let mut volume = volume_of(&terms);
        volume.wa = volume.wa.filter(|_| withheld.is_empty());
        Measured {
            programs,
            reads,
            erases,
            unclassified,
            interval_us: [self.program_ps.0, self.program_ps.1].map(|ps| ps as f64 / 1e6),
            interval_is_set: measurement.program_ps.is_some(),
            multi_page,
            volume,
            host_bytes: measurement.host.map(|host| host.bytes),
            host_step_bytes: measurement.host.map(|host| host.step_bytes),
            terms,
            doubts,
            withheld,
            duration_s: (lows.duration_ps() > 0).then(|| lows.duration_ps() as f64 / 1e12),
            ends: Ends::of(lows, self.chosen),
            step_us: (step_ps > 0).then(|| step_ps as f64 / 1e6),
            recorder: measurement.recorder.map(|recorder| {
                let polled: Vec<_> =
                    self.chosen.iter().filter_map(|&pin| lows.pins[pin].polled.as_deref()).collect();
                let seen_ps = (measurement.program_ps, self.program_ps);
                Recorded::of(recorder, &polled, seen_ps, lows.step_ps())
            }),
            left_out: left_out(lows, self.chosen),
            signals,
            humps: self.separation.map(|separation| separation.humps).unwrap_or_default(),
            histogram_us: self
                .lengths
                .bins()
                .map(|(from, to, n)| (from as f64 / 1e6, to as f64 / 1e6, n))
                .collect(),
            warnings,
        }
    }

    /// Finds the reasons to doubt the count.
    fn doubts(&self, measurement: &Measurement, programs: u64) -> (Vec<Doubt>, Vec<&'static str>) {
        let join = |of: fn(&Pin) -> &Lengths| {
            let mut all = Lengths::default();
            self.chosen.iter().for_each(|&pin| all.join(of(&self.lows.pins[pin])));
            all
        };
        // Other times, such as the end of the capture, need not be times of samples.
        let phases_ps = self.chosen.iter().map(|&pin| self.lows.pins[pin].succession.step_ps).fold(0, gcd);
        doubts(&Known {
            low: &self.lengths,
            high: &join(|pin| &pin.succession.high),
            sums_around_reads: &join(|pin| &pin.succession.sums_around_reads),
            sums_adjacent: &join(|pin| &pin.succession.sums_adjacent),
            beside_reads: &join(|pin| &pin.succession.beside_reads),
            after_reads: &join(|pin| &pin.succession.after_reads),
            high_after_busy: &join(|pin| &pin.succession.high_after_busy),
            high_between_programs: &join(|pin| &pin.succession.high_between_programs),
            lost_ps: self.chosen.iter().map(|&pin| self.lows.pins[pin].succession.lost_ps).sum(),
            program_ps: self.program_ps,
            separation: self.separation.as_ref(),
            is_set: measurement.program_ps.is_some(),
            step_ps: self.step_ps.max(phases_ps),
            is_sampled: measurement.recorder.is_some() || self.lows.is_sampled(),
            programs,
            signals: self.chosen.len() as u64,
            dies_per_signal: measurement.dies_per_signal,
            geometry: &measurement.geometry,
            duration_ps: self.lows.duration_ps(),
        })
    }
}

/// Checks whether all dies can program the host's bytes within the capture, with programs of `shortest_ps` on all planes.
fn host_beyond_capture(measurement: &Measurement, shortest_ps: u64, duration_ps: u64) -> Option<String> {
    let geometry = &measurement.geometry;
    let bytes = measurement.host?.bytes as f64;
    let at_once = geometry.all_dies() as f64 * f64::from(geometry.planes) * geometry.page_bytes as f64;
    let most = at_once * (duration_ps as f64 / shortest_ps.max(1) as f64 + 1.0);
    if duration_ps == 0 || bytes <= most {
        return None;
    }
    let seconds = duration_ps as f64 / 1e12;
    Some(format!(
        "impossible: {bytes:.0} bytes of the host in a capture of {seconds:.3} s; {} dies of {} planes program at \
         most {most:.0} bytes in that time, with programs of {:.1} us; host bytes and capture must span the same time",
        geometry.all_dies(),
        geometry.planes,
        shortest_ps as f64 / 1e6
    ))
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

/// Estimates the possible errors of the count, in programs. `mixed` of the erases may be programs.
fn terms(
    (signals, mixed): (&[Signal], u64),
    lengths: &Lengths,
    program_ps: (u64, u64),
    step_ps: u64,
    (geometry, dies): (&Geometry, usize),
) -> Terms {
    let by_signal: Vec<u64> = signals.iter().map(|signal| signal.programs).collect();
    let near = |edge_ps: u64| {
        lengths.between(edge_ps.saturating_sub(edge_ps / 16), edge_ps.saturating_add(edge_ps / 16))
    };
    // The length of a phase that only one poll saw is unknown. Assuming half a period, as many were missed.
    let is_short = program_ps.0 < 2 * step_ps;
    let missed = if is_short { lengths.between(program_ps.0 + 1, step_ps + step_ps / 32 + 1) } else { 0 };
    let erases = signals.iter().map(|signal| signal.erases).sum::<u64>() - mixed;
    let programs = by_signal.iter().sum::<u64>() + mixed;
    Terms {
        near_ends: (near(program_ps.0) + near(program_ps.1)) as f64,
        hidden_erases: Terms::hidden_erases((programs, by_signal.len()), erases, geometry),
        cut: signals.iter().map(|signal| signal.unclassified).sum::<u64>() as f64,
        missed: missed as f64,
        dies_share: Terms::dies_share(&by_signal, dies as u64, geometry.all_dies()),
        one_die_share: Some(0.0),
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

/// Returns microseconds with two digits, as bins of 2 to 3 % support.
fn about_us(ps: u64) -> f64 {
    let us = ps as f64 / 1e6;
    let unit = (0..9).map(|power| libm::pow(10.0, f64::from(power))).rfind(|unit| us >= 10.0 * unit);
    let unit = unit.unwrap_or(1.0);
    (us / unit).round() * unit
}

/// Describes the lengths of a hump, from the middle of its first bin to that of its last.
fn range(hump: &Hump) -> String {
    let (from_us, to_us) =
        (about_us(hump.from_ps + hump.from_ps / 64), about_us(hump.to_ps - hump.to_ps / 64));
    match from_us < to_us {
        true => format!("{from_us} to {to_us} us (median {})", about_us(hump.median_ps)),
        false => format!("{from_us} us"),
    }
}

/// Warns if an interval of programs that the user set covers no hump or several.
fn warn_of_interval(measured: &mut Measured) {
    let [from_us, to_us] = measured.interval_us;
    if measured.interval_is_set {
        let is_within = |hump: &&Hump| (from_us..to_us).contains(&(hump.median_ps as f64 / 1e6));
        // A few outliers are not a second hump.
        let within =
            measured.humps.iter().filter(|hump| is_within(hump) && 100 * hump.count >= measured.programs);
        let ranges: Vec<String> = within.map(range).collect();
        if measured.programs == 0 {
            measured.warnings.push(format!("no low phase lies within --program-us {from_us}..{to_us}"));
        } else if ranges.len() > 1 {
            measured.warnings.push(format!(
                "--program-us covers {} humps, about {}: are all of them programs?",
                ranges.len(),
                ranges.join(", ")
            ));
        }
    }
}

/// Says by how much the only measured die of several may differ, and which number of pages per die is assumed for that.
fn one_die(share: Option<f64>, geometry: &Geometry) -> String {
    let dies = geometry.all_dies();
    let Some(share) = share.filter(|&share| share > 0.0) else {
        return format!("one of {dies} dies was measured: it counts for all");
    };
    let assumed = match geometry.pages_per_die() {
        Some(_) => String::new(),
        None => format!(
            " if dies have {PAGES_PER_DIE_MIN} pages, which is assumed, and by less if they have more (set \
             --blocks-per-plane and --pages-per-block)"
        ),
    };
    format!(
        "one of {dies} dies was measured: it may differ from the mean of all by {:.2} %{assumed}; to narrow that, probe \
         more dies",
        100.0 * share
    )
}

/// Says that erases may be among the programs: none is longer, or the limit of programs cuts a hump of lengths.
fn hidden_erases(limit_us: f64, (longer, humps): (u64, &[Hump]), geometry: &Geometry) -> String {
    let pages = geometry.pages_per_block.map_or("at least 64 (unknown)".into(), |pages| pages.to_string());
    let among = format!("up to one per block of {pages} pages may be among them");
    let cut = humps.iter().find(|hump| hump.is_cut_by((limit_us * 1e6).round() as u64));
    match cut.filter(|_| longer > 0) {
        Some(hump) => format!(
            "the limit of {limit_us} us lies within a hump of lengths, about {}: the longer part is no count of erases; \
             erases could not be distinguished from programs, and {among}",
            range(hump)
        ),
        None => format!("erases could not be distinguished from programs: {among}"),
    }
}

/// Adds the warnings.
fn warn(measured: &mut Measured, measurement: &Measurement, lows: &Lows, chosen: &[usize]) {
    warn_of_interval(measured);
    measured.warnings.extend(measured.doubts.iter().map(|doubt| doubt.text.clone()));
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
        warnings.push(one_die(measured.terms.one_die_share, geometry));
    }
    if measured.signals.len() as u64 > geometry.all_dies() {
        warnings.push(format!(
            "{} signals, but the drive has {} dies",
            measured.signals.len(),
            geometry.all_dies()
        ));
    }
    if measured.terms.hidden_erases > 0.0 {
        warnings.push(hidden_erases(measured.interval_us[1], (measured.erases, &measured.humps), geometry));
    }
    let released: u64 = chosen.iter().map(|&pin| lows.pins[pin].released).sum();
    if released > 0 {
        warnings.push(format!(
            "the level is z {released} times: an open-drain pin that is not pulled low counts as ready"
        ));
    }
    let unknown: u64 = chosen.iter().map(|&pin| lows.pins[pin].unknown).sum();
    if unknown > 0 {
        warnings.push(format!("the level is unknown (x) {unknown} times; low phases there are not counted"));
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
