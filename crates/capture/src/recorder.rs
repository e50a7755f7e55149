//! Simulates a recorder that polls a pin, on an exact capture (sections 3.4 and 4.2).
//!
//! It polls the pin at whole multiples of its period. A low phase between two polls is missed, and phases without a
//! poll between them merge. It sends its counts whenever the pin has been high for the quiet time. Counts after the
//! last such time are lost at the end of the capture.

use crate::humps::separate;
use crate::lengths::Lengths;
use crate::level::Level;
use crate::phases::{Counts, Edges, Phase};
use crate::succession::Succession;
use serde::Serialize;

/// Settings of a polling recorder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorder {
    /// Time between two polls, picoseconds; at least 1.
    pub period_ps: u64,
    /// Time that the pin must be high before counts are sent, picoseconds; 0: counts are always sent.
    pub quiet_ps: u64,
}

/// Expected losses of a recorder if phases are independent of its polls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Theory {
    /// Low phases within the interval, in bins that no end of it cuts.
    pub programs: f64,
    /// Those between two polls: for length L, a share of max(0, 1 - L / period).
    pub missed: f64,
    /// High phases between two polls, which merge the low phases around them.
    pub merged: f64,
}

/// The phases that a recorder has seen of a pin, and the actual ones.
#[derive(Clone, Debug)]
pub(crate) struct Polled {
    period_ps: i64,
    pub quiet_ps: u64,
    level: Option<Level>,
    since_ps: i64,
    edges: Edges,
    /// Counted but not sent.
    pub pending: Counts,
    pub actual: Actual,
}

/// The actual phases of a pin.
#[derive(Clone, Debug)]
pub(crate) struct Actual {
    pub counts: Counts,
    pub succession: Succession,
}

impl Actual {
    /// Counts low phases without the short high phases that split them.
    pub fn join_pieces(&mut self) {
        self.counts.replace(&self.succession.pieces, &self.succession.joined);
    }
}

impl Polled {
    pub fn new(recorder: Recorder, min_high_ps: Option<u64>) -> Self {
        Self {
            period_ps: recorder.period_ps.clamp(1, 1 << 60) as i64,
            quiet_ps: recorder.quiet_ps,
            level: None,
            since_ps: 0,
            edges: Edges::new(),
            pending: Counts::default(),
            actual: Actual { counts: Counts::default(), succession: Succession::new(min_high_ps) },
        }
    }

    /// Counts an actual phase that ends, whether the recorder sees it or not.
    #[inline]
    pub fn truth(&mut self, phase: Option<Phase>, interval_ps: (u64, u64)) {
        let Some(phase) = phase else { return };
        self.actual.succession.add(phase, interval_ps);
        if let Phase::Low(length_ps) = phase {
            self.actual.counts.add(length_ps, interval_ps);
        }
    }

    /// Returns the first poll at `time_ps` or later.
    fn poll_from(&self, time_ps: i64) -> i64 {
        let into = time_ps.rem_euclid(self.period_ps);
        if into == 0 { time_ps } else { time_ps.saturating_add(self.period_ps - into) }
    }

    /// Sets the level of the pin; returns the phase that ended at the first poll since the previous change, if any.
    #[inline]
    pub fn change(&mut self, time_ps: i64, level: Level) -> Option<Phase> {
        let before = self.level.replace(level);
        let since_ps = std::mem::replace(&mut self.since_ps, time_ps);
        let before = before?;
        let look_ps = self.poll_from(since_ps);
        if look_ps < time_ps { self.edges.change(look_ps, before) } else { None }
    }

    /// Ends the actual phases.
    pub fn end_truth(&mut self, phase: Option<Phase>, interval_ps: (u64, u64)) {
        self.truth(phase, interval_ps);
        self.actual.succession.flush(interval_ps);
    }

    /// Ends the capture; returns the phase that ends at the last polls, and the one that is cut.
    pub fn end(&mut self, time_ps: i64) -> (Option<Phase>, Option<Phase>) {
        let last = self.level.take().and_then(|level| {
            let look_ps = self.poll_from(self.since_ps);
            if look_ps <= time_ps { self.edges.change(look_ps, level) } else { None }
        });
        (last, self.edges.end(time_ps))
    }

    /// Computes the expected losses among lengths between the two of `interval_ps`.
    pub fn theory(&self, interval_ps: (u64, u64)) -> Theory {
        let period_ps = self.period_ps as f64;
        let unseen = |length_ps: f64| (1.0 - length_ps / period_ps).max(0.0);
        let middle =
            |(from_ps, to_ps, count): (u64, u64, u64)| (from_ps.midpoint(to_ps) as f64, count as f64);
        let within = self
            .actual
            .counts
            .lengths
            .bins()
            .filter(|&(from_ps, to_ps, _)| from_ps > interval_ps.0 && to_ps <= interval_ps.1);
        let mut theory = Theory::default();
        for (length_ps, count) in within.map(middle) {
            theory.programs += count;
            theory.missed += count * unseen(length_ps);
        }
        theory.merged = self
            .actual
            .succession
            .high
            .bins()
            .map(middle)
            .map(|(length_ps, count)| count * unseen(length_ps))
            .sum();
        theory
    }
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

impl Recorded {
    /// Counts what the recorder does not see, and computes its expected losses.
    ///
    /// The actual programs are those that the capture has without a recorder: within the interval that the user sets, or
    /// within the one that their own lengths show at a common step of `step_ps`. Where these show none, the interval
    /// that the recorder saw counts.
    pub(crate) fn of(
        recorder: Recorder,
        polled: &[&Polled],
        (set_ps, seen_ps): (Option<(u64, u64)>, (u64, u64)),
        step_ps: u64,
    ) -> Self {
        let mut lengths = Lengths::default();
        polled.iter().for_each(|polled| lengths.join(&polled.actual.counts.lengths));
        let detected = || separate(&lengths, step_ps).map(|separation| separation.program_ps);
        let program_ps = set_ps.or_else(detected).unwrap_or(seen_ps);
        let programs: u64 = match set_ps {
            Some(_) => polled.iter().map(|polled| polled.actual.counts.classed[1]).sum(),
            None => lengths.between(program_ps.0 + 1, program_ps.1),
        };
        let theories: Vec<Theory> = polled.iter().map(|polled| polled.theory(program_ps)).collect();
        let sum = |of: fn(&Theory) -> f64| theories.iter().map(of).sum::<f64>();
        Self {
            period_us: recorder.period_ps as f64 / 1e6,
            quiet_s: recorder.quiet_ps as f64 / 1e12,
            programs_exact: programs as f64,
            missed: sum(|theory| theory.missed),
            merged: sum(|theory| theory.merged),
            unsent: polled.iter().map(|polled| polled.pending.lengths.count()).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lows::Lows;
    use floatgate_base::Rng;

    /// Low phases of one length at random times: the share that is missed equals the closed form.
    #[test]
    fn short_lows_are_missed_as_often_as_arithmetic_says() {
        for (length_ps, period_ps, expected) in
            [(200, 1000, 0.8), (900, 1000, 0.1), (1000, 1000, 0.0), (2500, 1000, 0.0)]
        {
            let mut lows = Lows::new(None, Some(Recorder { period_ps, quiet_ps: 0 }));
            let pin = lows.add_pin("rb".into());
            let mut rng = Rng::new(7, "recorder");
            let mut now_ps = 0;
            lows.change(pin, now_ps, Level::High);
            for _ in 0..20_000 {
                now_ps += 3000 + rng.below(5000) as i64;
                lows.change(pin, now_ps, Level::Low);
                now_ps += length_ps;
                lows.change(pin, now_ps, Level::High);
            }
            lows.reach(now_ps + 9000);
            lows.end(0);
            let missed = 1.0 - lows.pins[0].lengths().count() as f64 / 20_000.0;
            assert!((missed - expected).abs() < 0.01, "{length_ps} by {period_ps}: {missed}");
            let theory = lows.pins[0].polled.as_ref().unwrap().theory((0, u64::MAX));
            assert_eq!((theory.programs, theory.merged), (20_000.0, 0.0));
            assert!((theory.missed / 20_000.0 - expected).abs() < 0.02, "{}", theory.missed);
        }
    }

    /// High phases shorter than the period: the number of merged low phases equals the closed form.
    #[test]
    fn lows_merge_as_often_as_arithmetic_says() {
        let mut lows = Lows::new(None, Some(Recorder { period_ps: 1000, quiet_ps: 0 }));
        let pin = lows.add_pin("rb".into());
        let (mut rng, mut now_ps) = (Rng::new(8, "recorder"), 0);
        lows.change(pin, now_ps, Level::High);
        for _ in 0..20_000 {
            now_ps += 100 + rng.below(1400) as i64;
            lows.change(pin, now_ps, Level::Low);
            now_ps += 2000 + rng.below(3000) as i64;
            lows.change(pin, now_ps, Level::High);
        }
        lows.reach(now_ps + 9000);
        lows.end(0);
        let theory = lows.pins[0].polled.as_ref().unwrap().theory((0, u64::MAX));
        let lost = 20_000.0 - lows.pins[0].lengths().count() as f64;
        assert!((theory.merged - lost).abs() < 0.02 * 20_000.0, "{} and {lost}", theory.merged);
    }

    #[test]
    fn lows_with_no_look_between_them_are_one() {
        let mut lows = Lows::new(None, Some(Recorder { period_ps: 100, quiet_ps: 0 }));
        let pin = lows.add_pin("rb".into());
        let changes =
            [(0, Level::High), (150, Level::Low), (310, Level::High), (390, Level::Low), (650, Level::High)];
        changes.into_iter().for_each(|(time_ps, level)| lows.change(pin, time_ps, level));
        lows.reach(1000);
        lows.end(0);
        // Polls at 200, 300, 400, 500 and 600 see it low, the one at 700 sees it high.
        assert_eq!((lows.pins[0].lengths().count(), lows.pins[0].lengths().between(480, 512)), (1, 1));
    }

    /// The procedure of section 4.2, step by step: counts are sent once the pin has been high for the quiet time.
    #[test]
    fn counts_are_sent_after_the_quiet_time() {
        let lows_until = |end_ps: i64| {
            let mut lows = Lows::new(Some((100, 500)), Some(Recorder { period_ps: 10, quiet_ps: 5000 }));
            let pin = lows.add_pin("rb".into());
            lows.change(pin, 0, Level::High);
            // Two programs and a read, a pause, an erase and another program.
            for (from_ps, to_ps) in [(1000, 1200), (2000, 2300), (2500, 2550), (9000, 9800), (11_000, 11_400)]
            {
                lows.change(pin, from_ps, Level::Low);
                lows.change(pin, to_ps, Level::High);
            }
            lows.reach(end_ps);
            lows.end(0);
            let pin = lows.pins.remove(0);
            (pin.counts.classed, pin.polled.unwrap().pending.classed)
        };
        assert_eq!(lows_until(16_000), ([1, 2, 0], [0, 1, 1]));
        assert_eq!(lows_until(16_400), ([1, 3, 1], [0, 0, 0]));
    }
}
