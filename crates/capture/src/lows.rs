//! Low phases of pins, from changes in order of time.

use crate::lengths::Lengths;
use crate::level::Level;
use crate::recorder::{Polled, Recorder};

/// When a low phase began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Since {
    /// The pin is not low.
    NotLow,
    /// At a falling edge.
    Edge(i64),
    /// Before the capture, or while the level was unknown.
    Before,
}

/// A pin, which is low while its chip reads, programs or erases.
#[derive(Clone, Debug)]
pub struct Pin {
    /// What the capture calls it.
    pub name: String,
    /// Low phases of which both edges were seen, by length.
    pub lengths: Lengths,
    /// Of these, the ones below the interval that was given, within it and above it.
    pub classed: [u64; 3],
    /// Low phases of which an edge is missing: cut at the ends of the capture, or by a level that is unknown.
    pub cut: u64,
    /// Changes to a level that is unknown.
    pub unknown: u64,
    /// Whether a level other than the first was ever seen.
    pub changed: bool,
    level: Option<Level>,
    since: Since,
    polled: Option<Polled>,
}

impl Pin {
    fn new(name: String, recorder: Option<Recorder>) -> Self {
        Self {
            name,
            lengths: Lengths::default(),
            classed: [0; 3],
            cut: 0,
            unknown: 0,
            changed: false,
            level: None,
            since: Since::NotLow,
            polled: recorder.map(Polled::new),
        }
    }

    /// A low phase of this length ended.
    #[inline]
    fn add(&mut self, length_ps: u64, interval_ps: (u64, u64)) {
        self.lengths.add(length_ps);
        let class = usize::from(length_ps > interval_ps.0) + usize::from(length_ps >= interval_ps.1);
        self.classed[class] += 1;
    }

    /// The pin is at a level from `time_ps` on.
    #[inline]
    fn change(&mut self, time_ps: i64, level: Level, interval_ps: (u64, u64)) {
        let before = self.level.replace(level);
        if before == Some(level) {
            return;
        }
        self.changed |= before.is_some();
        self.unknown += u64::from(level == Level::Unknown);
        let now = match (level, before) {
            (Level::Low, Some(Level::High)) => Since::Edge(time_ps),
            (Level::Low, _) => Since::Before,
            _ => Since::NotLow,
        };
        match (std::mem::replace(&mut self.since, now), level) {
            (Since::NotLow, _) => {}
            (Since::Edge(from_ps), Level::High) => self.add(time_ps.abs_diff(from_ps), interval_ps),
            _ => self.cut += 1,
        }
    }
}

/// What is heard of all pins of a capture, or of several.
#[derive(Clone, Debug)]
pub struct Lows {
    /// The pins.
    pub pins: Vec<Pin>,
    interval_ps: (u64, u64),
    recorder: Option<Recorder>,
    first_ps: Option<i64>,
    last_ps: i64,
    duration_ps: u64,
    step_ps: u64,
}

impl Lows {
    /// Before any capture. Low phases longer than the first and shorter than the second length of `interval_ps` are counted
    /// apart; a recorder stands between the pins and the counts.
    #[must_use]
    pub fn new(interval_ps: Option<(u64, u64)>, recorder: Option<Recorder>) -> Self {
        Self {
            pins: Vec::new(),
            interval_ps: interval_ps.unwrap_or((0, u64::MAX)),
            recorder,
            first_ps: None,
            last_ps: 0,
            duration_ps: 0,
            step_ps: 0,
        }
    }

    /// A pin of the capture that begins; by which number it is known from here on.
    pub fn add_pin(&mut self, name: String) -> usize {
        self.pins.push(Pin::new(name, self.recorder));
        self.pins.len() - 1
    }

    /// A pin is at a level from `time_ps` on, which is not before that of the change told last.
    #[inline]
    pub fn change(&mut self, pin: usize, time_ps: i64, level: Level) {
        if time_ps != self.last_ps || self.first_ps.is_none() {
            self.reach(time_ps);
        }
        let interval_ps = self.interval_ps;
        let pin = &mut self.pins[pin];
        match &mut pin.polled {
            None => pin.change(time_ps, level, interval_ps),
            Some(polled) => {
                let seen = polled.change(time_ps, level);
                seen.into_iter().flatten().for_each(|(at_ps, level)| pin.change(at_ps, level, interval_ps));
            }
        }
    }

    /// A low phase of which only the length is known.
    pub fn add_low(&mut self, pin: usize, length_ps: u64) {
        let interval_ps = self.interval_ps;
        let pin = &mut self.pins[pin];
        pin.add(length_ps, interval_ps);
        pin.changed = true;
    }

    /// The capture lasts until `time_ps` at least, which is not before the time told last.
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

    /// A capture is over: pins from `first` on are its own.
    pub fn end(&mut self, first: usize) {
        let (last_ps, interval_ps) = (self.last_ps, self.interval_ps);
        for pin in &mut self.pins[first..] {
            if let Some(polled) = &mut pin.polled
                && let Some((at_ps, level)) = polled.end(last_ps)
            {
                pin.change(at_ps, level, interval_ps);
            }
            pin.cut += u64::from(std::mem::replace(&mut pin.since, Since::NotLow) != Since::NotLow);
        }
        if let Some(first_ps) = self.first_ps.take() {
            self.duration_ps = self.duration_ps.max(self.last_ps.abs_diff(first_ps));
        }
        self.last_ps = 0;
    }

    /// How long the longest capture lasted.
    #[must_use]
    pub fn duration_ps(&self) -> u64 {
        self.duration_ps
    }

    /// What all times are multiples of: the sampling period, or a part of it; 0 where there were no two times.
    #[must_use]
    pub fn step_ps(&self) -> u64 {
        self.step_ps
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
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
        assert_eq!((pin.lengths.count(), pin.lengths.between(15, 16), pin.cut), (2, 1, 1));
        // A low phase as long as the interval's lower end lies below it.
        assert_eq!(pin.classed, [1, 1, 0]);
    }

    #[test]
    fn lows_without_an_edge_are_cut() {
        // The capture begins low; a level that is unknown hides both edges of another.
        let pin = pin_after(&[(0, Level::Low), (10, Level::High)]);
        assert_eq!((pin.lengths.count(), pin.cut), (0, 1));
        let changes =
            [(0, Level::High), (5, Level::Low), (9, Level::Unknown), (12, Level::Low), (20, Level::High)];
        let pin = pin_after(&changes);
        assert_eq!((pin.lengths.count(), pin.cut, pin.unknown), (0, 2, 1));
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
