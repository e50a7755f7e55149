//! A recorder that polls a pin, and what it would have seen of an exact capture (sections 3.4 and 4.2).
//!
//! It looks at the pin at whole multiples of its period. A low phase between two looks is missed, and phases with no look between
//! them are one; a phase of length L is missed with probability max(0, 1 - L / period).

use crate::level::Level;

/// How a recorder polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorder {
    /// Time between two looks, picoseconds; at least 1.
    pub period_ps: u64,
}

/// What a recorder has seen of a pin.
#[derive(Clone, Debug)]
pub(crate) struct Polled {
    period_ps: i64,
    level: Option<Level>,
    since_ps: i64,
}

impl Polled {
    pub fn new(recorder: Recorder) -> Self {
        Self { period_ps: recorder.period_ps.clamp(1, 1 << 60) as i64, level: None, since_ps: 0 }
    }

    /// The first look at `time_ps` or later.
    fn look_from(&self, time_ps: i64) -> i64 {
        let into = time_ps.rem_euclid(self.period_ps);
        if into == 0 { time_ps } else { time_ps.saturating_add(self.period_ps - into) }
    }

    /// The pin changes; what the looks since the change before have seen: a level, and since which look.
    #[inline]
    pub fn change(&mut self, time_ps: i64, level: Level) -> Option<Option<(i64, Level)>> {
        let before = self.level.replace(level);
        let since_ps = std::mem::replace(&mut self.since_ps, time_ps);
        let before = before?;
        let look_ps = self.look_from(since_ps);
        Some((look_ps < time_ps).then_some((look_ps, before)))
    }

    /// The capture ends.
    pub fn end(&mut self, time_ps: i64) -> Option<(i64, Level)> {
        let level = self.level.take()?;
        let look_ps = self.look_from(self.since_ps);
        (look_ps <= time_ps).then_some((look_ps, level))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lows::Lows;
    use floatgate_base::Rng;

    /// Low phases of one length at random times: the share that is missed is the one that arithmetic says.
    #[test]
    fn short_lows_are_missed_as_often_as_arithmetic_says() {
        for (length_ps, period_ps, expected) in
            [(200, 1000, 0.8), (900, 1000, 0.1), (1000, 1000, 0.0), (2500, 1000, 0.0)]
        {
            let mut lows = Lows::new(None, Some(Recorder { period_ps }));
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
            let missed = 1.0 - lows.pins[0].lengths.count() as f64 / 20_000.0;
            assert!((missed - expected).abs() < 0.01, "{length_ps} by {period_ps}: {missed}");
        }
    }

    #[test]
    fn lows_with_no_look_between_them_are_one() {
        let mut lows = Lows::new(None, Some(Recorder { period_ps: 100 }));
        let pin = lows.add_pin("rb".into());
        let changes =
            [(0, Level::High), (150, Level::Low), (310, Level::High), (390, Level::Low), (650, Level::High)];
        changes.into_iter().for_each(|(time_ps, level)| lows.change(pin, time_ps, level));
        lows.reach(1000);
        lows.end(0);
        // Looks at 200, 300, 400, 500 and 600 see it low, the one at 700 sees it high.
        assert_eq!((lows.pins[0].lengths.count(), lows.pins[0].lengths.between(480, 512)), (1, 1));
    }
}
