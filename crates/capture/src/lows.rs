//! Collects the low phases of pins from changes in order of time.

use crate::lengths::Lengths;
use crate::level::Level;
use crate::names::{has_name, is_ready_busy};
use crate::phases::{Counts, Edges, Phase};
use crate::recorder::{Polled, Recorder};
use crate::succession::Succession;
use crate::units::gcd;

/// Most names of signals without a pin to keep.
const PASSED_OVER_MAX: usize = 1000;

/// A pin, which is low while its chip reads, programs or erases.
#[derive(Clone, Debug)]
pub struct Pin {
    /// Its name in the capture.
    pub name: String,
    /// Low phases with both edges in the capture.
    pub(crate) counts: Counts,
    /// Low phases with a missing edge: cut at the ends of the capture, or by an unknown level.
    pub cut: u64,
    /// Number of changes to an unknown level.
    pub unknown: u64,
    /// Number of changes to a released level.
    pub released: u64,
    /// Whether the values of the column are levels.
    pub(crate) is_digital: bool,
    /// Whether the level ever differed from the first one.
    pub changed: bool,
    /// Whether it is low when its capture begins.
    pub begins_low: bool,
    /// Whether it is low when its capture ends.
    pub ends_low: bool,
    /// Time from its last edge to the end of its capture; none without an edge, or after an unknown level.
    pub(crate) tail_ps: Option<u64>,
    edges: Edges,
    pub(crate) polled: Option<Box<Polled>>,
    pub(crate) succession: Box<Succession>,
}

impl Pin {
    fn new(name: String, recorder: Option<Recorder>, min_high_ps: Option<u64>) -> Self {
        Self {
            name,
            counts: Counts::default(),
            cut: 0,
            unknown: 0,
            released: 0,
            is_digital: true,
            changed: false,
            begins_low: false,
            ends_low: false,
            tail_ps: None,
            edges: Edges::new(),
            polled: recorder.map(|recorder| Box::new(Polled::new(recorder, min_high_ps))),
            succession: Box::new(Succession::new(min_high_ps)),
        }
    }

    /// Returns the lengths of the low phases with both edges.
    #[must_use]
    pub fn lengths(&self) -> &Lengths {
        &self.counts.lengths
    }

    /// Sets the level of the pin from `time_ps`.
    #[inline]
    fn change(&mut self, time_ps: i64, level: Level, interval_ps: (u64, u64)) {
        let level = if level == Level::Released {
            self.released += 1;
            Level::High
        } else {
            level
        };
        if self.edges.level() == Some(level) {
            return;
        }
        self.changed |= self.edges.level().is_some();
        self.begins_low |= self.edges.level().is_none() && level == Level::Low;
        if level == Level::Unknown {
            self.unknown += 1;
            if self.edges.level().is_some() {
                self.succession.unknown_from(time_ps);
            }
        } else {
            self.succession.known_from(time_ps);
        }
        let phase = self.edges.change(time_ps, level);
        match &mut self.polled {
            None => {
                if let Some(phase) = phase {
                    self.succession.add(phase, interval_ps);
                }
                match phase {
                    Some(Phase::Low(length_ps)) => self.counts.add(length_ps, interval_ps),
                    Some(Phase::Cut) => self.cut += 1,
                    _ => {}
                }
            }
            Some(polled) => {
                polled.truth(phase, interval_ps);
                let seen = polled.change(time_ps, level);
                self.count(seen, interval_ps);
            }
        }
    }

    /// Counts a phase as the recorder saw it.
    fn count(&mut self, seen: Option<Phase>, interval_ps: (u64, u64)) {
        let Some(polled) = &mut self.polled else { return };
        if let Some(phase) = seen {
            self.succession.add(phase, interval_ps);
        }
        match seen {
            Some(Phase::Low(length_ps)) => polled.pending.add(length_ps, interval_ps),
            Some(Phase::High(length_ps)) if length_ps >= polled.quiet_ps => {
                self.counts.take(&mut polled.pending)
            }
            Some(Phase::Cut) => self.cut += 1,
            _ => {}
        }
    }

    /// Ends the capture at `time_ps`.
    fn end(&mut self, time_ps: i64, interval_ps: (u64, u64)) {
        self.ends_low = self.edges.level() == Some(Level::Low);
        self.tail_ps = self.edges.last_edge_ps().map(|edge_ps| time_ps.abs_diff(edge_ps));
        let phase = self.edges.end(time_ps);
        match &mut self.polled {
            None => self.cut += u64::from(phase == Some(Phase::Cut)),
            Some(polled) => {
                polled.end_truth(phase, interval_ps);
                let (last, seen) = polled.end(time_ps);
                self.count(last, interval_ps);
                self.count(seen, interval_ps);
            }
        }
        self.succession.flush(interval_ps);
    }

    /// Counts low phases without the short high phases that split them.
    pub(crate) fn join_pieces(&mut self) {
        let Self { counts, succession, .. } = self;
        counts.replace(&succession.pieces, &succession.joined);
    }
}

/// The low phases of all pins of one or several captures.
#[derive(Clone, Debug)]
pub struct Lows {
    /// The pins.
    pub pins: Vec<Pin>,
    /// What the readers report.
    pub notes: Vec<String>,
    /// Names of signals without a pin, for a message.
    pub(crate) passed_over: Vec<String>,
    wanted: Vec<String>,
    interval_ps: (u64, u64),
    recorder: Option<Recorder>,
    min_high_ps: Option<u64>,
    first_ps: Option<i64>,
    last_ps: i64,
    /// Latest time at which a capture begins.
    begin_ps: Option<i64>,
    duration_ps: u64,
    step_ps: u64,
    period_ps: u64,
}

impl Lows {
    /// Creates the state before any capture. The two lengths of `interval_ps` separate the counts: below, between and
    /// above. `recorder` filters the phases to be counted.
    #[must_use]
    pub fn new(interval_ps: Option<(u64, u64)>, recorder: Option<Recorder>) -> Self {
        Self {
            pins: Vec::new(),
            notes: Vec::new(),
            passed_over: Vec::new(),
            wanted: Vec::new(),
            interval_ps: interval_ps.unwrap_or((0, u64::MAX)),
            recorder,
            min_high_ps: None,
            first_ps: None,
            last_ps: 0,
            begin_ps: None,
            duration_ps: 0,
            step_ps: 0,
            period_ps: 0,
        }
    }

    /// Takes high phases below `min_high_ps` for glitches; by default those that cannot be time for a command.
    #[must_use]
    pub fn with_min_high(self, min_high_ps: Option<u64>) -> Self {
        Self { min_high_ps, ..self }
    }

    /// Sets the names that the user selects; none selects the names of Ready/Busy pins.
    #[must_use]
    pub fn with_wanted(self, wanted: &[String]) -> Self {
        Self { wanted: wanted.to_vec(), ..self }
    }

    /// Returns whether a signal is selected by its name.
    pub(crate) fn is_wanted(&self, name: &str) -> bool {
        match &self.wanted[..] {
            [] => is_ready_busy(name),
            wanted => wanted.iter().any(|wanted| has_name(name, wanted)),
        }
    }

    /// Returns whether the user selects signals by their names.
    pub(crate) fn has_selection(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// Remembers the name of a signal that gets no pin.
    pub(crate) fn pass_over(&mut self, name: String) {
        if self.passed_over.len() < PASSED_OVER_MAX {
            self.passed_over.push(name);
        }
    }

    /// Adds a pin of the current capture, and returns its number.
    pub fn add_pin(&mut self, name: String) -> usize {
        self.pins.push(Pin::new(name, self.recorder, self.min_high_ps));
        self.pins.len() - 1
    }

    /// Sets the level of a pin from `time_ps`, which must not lie before the previous change.
    #[inline]
    pub fn change(&mut self, pin: usize, time_ps: i64, level: Level) {
        if time_ps != self.last_ps || self.first_ps.is_none() {
            self.reach(time_ps);
        }
        let interval_ps = self.interval_ps;
        self.pins[pin].change(time_ps, level, interval_ps);
    }

    /// Counts a low phase of which only the length is known.
    pub fn add_low(&mut self, pin: usize, length_ps: u64) {
        let interval_ps = self.interval_ps;
        let pin = &mut self.pins[pin];
        pin.counts.add(length_ps, interval_ps);
        pin.changed = true;
    }

    /// Extends the capture to at least `time_ps`, which must not lie before the last reported time.
    #[inline]
    pub fn reach(&mut self, time_ps: i64) {
        match self.first_ps {
            None => self.first_ps = Some(time_ps),
            Some(_) => {
                let delta_ps = time_ps.abs_diff(self.last_ps);
                if self.step_ps == 0 || !delta_ps.is_multiple_of(self.step_ps) {
                    self.step_ps = gcd(self.step_ps, delta_ps);
                }
            }
        }
        self.last_ps = time_ps;
    }

    /// Sets the period of the samples of a capture. Times in whole picoseconds alone do not reveal most rates.
    pub fn sampled(&mut self, period_ps: f64) {
        self.period_ps = self.period_ps.max(period_ps.round() as u64);
    }

    /// Ends a capture, whose pins are those from `first`.
    pub fn end(&mut self, first: usize) {
        let (last_ps, interval_ps) = (self.last_ps, self.interval_ps);
        self.pins[first..].iter_mut().for_each(|pin| pin.end(last_ps, interval_ps));
        if let Some(first_ps) = self.first_ps.take() {
            self.begin_ps = self.begin_ps.max(Some(first_ps));
            self.duration_ps = self.duration_ps.max(self.last_ps.abs_diff(first_ps));
        }
        self.last_ps = 0;
    }

    /// Returns the latest time at which a capture begins; none for lists of lengths.
    #[must_use]
    pub fn begin_ps(&self) -> Option<i64> {
        self.begin_ps
    }

    /// Returns the duration of the longest capture.
    #[must_use]
    pub fn duration_ps(&self) -> u64 {
        self.duration_ps
    }

    /// Returns whether a capture states the period of its samples.
    pub(crate) fn is_sampled(&self) -> bool {
        self.period_ps > 0
    }

    /// Returns the common divisor of all times: the sampling period, or a part of it; 0 with fewer than two times.
    #[must_use]
    pub fn step_ps(&self) -> u64 {
        self.step_ps.max(self.period_ps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pin_after(changes: &[(i64, Level)]) -> Pin {
        let mut lows = Lows::new(Some((10, 20)), None);
        let pin = lows.add_pin("rb".into());
        changes.iter().for_each(|&(time_ps, level)| lows.change(pin, time_ps, level));
        lows.end(0);
        lows.pins.remove(0)
    }

    #[test]
    fn lows_between_two_edges_count() {
        use Level::{High, Low};
        let pin =
            pin_after(&[(0, High), (10, Low), (25, High), (25, High), (30, Low), (40, High), (50, Low)]);
        assert_eq!((pin.counts.lengths.count(), pin.counts.lengths.between(15, 16), pin.cut), (2, 1, 1));
        // A low phase as long as the interval's lower end counts as below it.
        assert_eq!(pin.counts.classed, [1, 1, 0]);
    }

    #[test]
    fn lows_without_an_edge_are_cut() {
        // The capture begins low; an unknown level hides both edges of another phase.
        let pin = pin_after(&[(0, Level::Low), (10, Level::High)]);
        assert_eq!((pin.counts.lengths.count(), pin.cut), (0, 1));
        let changes =
            [(0, Level::High), (5, Level::Low), (9, Level::Unknown), (12, Level::Low), (20, Level::High)];
        let pin = pin_after(&changes);
        assert_eq!((pin.counts.lengths.count(), pin.cut, pin.unknown), (0, 2, 1));
    }

    #[test]
    fn ends_of_a_capture_are_low_or_quiet() {
        use Level::{High, Low};
        let ends = |changes: &[(i64, Level)]| {
            let pin = pin_after(changes);
            (pin.begins_low, pin.ends_low, pin.tail_ps)
        };
        assert_eq!(ends(&[(0, High), (10, Low), (25, High), (40, High)]), (false, false, Some(15)));
        assert_eq!(ends(&[(0, Low), (10, High), (25, Low)]), (true, true, Some(0)));
        assert_eq!(ends(&[(0, High), (9, High)]), (false, false, None));
    }

    #[test]
    fn times_have_a_common_step() {
        let mut lows = Lows::new(None, None);
        let pin = lows.add_pin("rb".into());
        for time_ps in [7, 7, 31, 61, 121] {
            lows.change(pin, time_ps, Level::High);
        }
        assert_eq!(lows.step_ps(), 6);
        lows.end(0);
        assert_eq!(lows.duration_ps(), 114);
    }
}
