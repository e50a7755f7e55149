//! How long a page write is delayed: by what the epoch is predicted to write (READY, section 3.3, Eq. 4 and 5), or a step
//! more or less than before.

/// How the delay of an epoch's page writes is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delays {
    /// There is none: only the regulator holds back.
    None,
    /// From the one before by Eq. 4 and 5: [`next_delay_s`].
    Predicted,
    /// From the one before by a step up or down: [`stepped_delay_s`].
    Stepped,
}

/// What the estimator goes by; bytes are flash bytes.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// Length of the epoch, seconds.
    pub epoch_s: f64,
    /// What it is expected to write (w).
    pub demand_bytes: f64,
    /// What it may write (c).
    pub capacity_bytes: f64,
    /// Host page writes that the capacity admits (n).
    pub pages: f64,
}

/// The delay of every page write of an epoch, seconds, after one in which it was `delay_s`.
///
/// Beyond the paper: an epoch without demand needs no delay, and one that may write nothing has none to give out - its
/// regulator holds everything back - so the delay stays.
#[must_use]
pub fn next_delay_s(delay_s: f64, expected: &Expected) -> f64 {
    let Expected { epoch_s, demand_bytes: w, capacity_bytes: c, pages: n } = *expected;
    if w <= 0.0 {
        return 0.0;
    }
    if c <= 0.0 || n <= 0.0 {
        return delay_s;
    }
    if w > c {
        delay_s + epoch_s * (w / c - 1.0) / n
    } else {
        (delay_s - epoch_s * (c / w - 1.0) / n).max(0.0)
    }
}

/// The delay a step above the one before where the last epoch wrote more than the coming one may write, and a step below it
/// else. A step is the share `step` of the delay, and the first one `first_s`; what would fall below that is no delay.
///
/// Nothing is predicted: however wrong a step is, the next one mends it, and the regulator keeps to the budget meanwhile.
#[must_use]
pub fn stepped_delay_s(delay_s: f64, last_bytes: f64, capacity_bytes: f64, step: f64, first_s: f64) -> f64 {
    if last_bytes > capacity_bytes {
        return (delay_s * (1.0 + step)).max(first_s);
    }
    let less = delay_s / (1.0 + step);
    if less < first_s { 0.0 } else { less }
}

/// The delay under which a host writes the `pages` that an epoch admits, where without any it would write `pressure` times as many:
/// a page then takes `epoch_s / pages` from one to the next, of which the host itself takes the `pressure`-th part. No
/// longer than the epoch.
///
/// READY's Eq. 4 steers the delay of the epoch before by demand that was seen under it. The integrated manager predicts demand
/// without delays, so this solves READY's Eq. 5 at once.
#[must_use]
pub fn delay_for_s(epoch_s: f64, pages: f64, pressure: f64) -> f64 {
    if pages <= 0.0 {
        return epoch_s;
    }
    (epoch_s / pages * (1.0 - 1.0 / pressure)).clamp(0.0, epoch_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 100 pages in 300 s leave 3 s for each. A host that writes a page per second is delayed 2 s, one that writes a page
    /// in 3 s not at all.
    #[test]
    fn a_delay_that_admits_just_the_capacity() {
        assert_eq!(delay_for_s(300.0, 100.0, 3.0), 2.0);
        assert_eq!(delay_for_s(300.0, 100.0, 1.0), 0.0);
        assert_eq!(delay_for_s(300.0, 0.5, f64::INFINITY), 300.0);
        assert_eq!(delay_for_s(300.0, 0.0, f64::INFINITY), 300.0);
    }

    const EXPECTED: Expected =
        Expected { epoch_s: 600.0, demand_bytes: 3e6, capacity_bytes: 2e6, pages: 400.0 };

    /// From nothing to the first step, up by a quarter, and down again the same way.
    #[test]
    fn a_step_more_or_less() {
        let next = |delay_s: f64, last: f64| stepped_delay_s(delay_s, last, 10.0, 0.25, 1e-4);
        assert_eq!((next(0.0, 10.0), next(0.0, 11.0)), (0.0, 1e-4));
        assert_eq!((next(1.0, 11.0), next(1.25, 9.0)), (1.25, 1.0));
        assert_eq!((next(1e-4, 9.0), next(1.25e-4, 10.0)), (0.0, 1e-4));
    }

    /// Eq. 4 by hand: 600 s * (3/2 - 1) / 400 = 0.75 s.
    #[test]
    fn more_demand_than_capacity_raises_the_delay() {
        assert_eq!(next_delay_s(0.0, &EXPECTED), 0.75);
        assert_eq!(next_delay_s(0.25, &EXPECTED), 1.0);
    }

    /// Eq. 5 by hand: 600 s * (2/1.5 - 1) / 400 = 0.5 s.
    #[test]
    fn less_demand_lowers_it_but_not_below_nothing() {
        let expected = Expected { demand_bytes: 1.5e6, ..EXPECTED };
        assert!((next_delay_s(0.75, &expected) - 0.25).abs() < 1e-15);
        assert_eq!(next_delay_s(0.3, &expected), 0.0);
    }

    #[test]
    fn equal_demand_leaves_it_and_none_ends_it() {
        assert_eq!(next_delay_s(0.4, &Expected { demand_bytes: 2e6, ..EXPECTED }), 0.4);
        assert_eq!(next_delay_s(0.4, &Expected { demand_bytes: 0.0, ..EXPECTED }), 0.0);
        assert_eq!(next_delay_s(0.4, &Expected { capacity_bytes: 0.0, ..EXPECTED }), 0.4);
    }
}
