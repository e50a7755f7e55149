//! The delay of a page write: from the predicted demand of the epoch (READY, section 3.3, Eq. 4 and 5), or a step up or
//! down.

/// Method of computing the delay of an epoch's page writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delays {
    /// No delay: only the regulator holds back writes.
    None,
    /// From the previous delay by Eq. 4 and 5: [`next_delay_s`].
    Predicted,
    /// From the previous delay by a step up or down: [`stepped_delay_s`].
    Stepped,
    /// By a policy from outside, from predicted demand.
    Outside,
}

/// Input of the estimator; bytes are flash bytes.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// Length of the epoch, seconds.
    pub epoch_s: f64,
    /// Expected writes of the epoch (w).
    pub demand_bytes: f64,
    /// Capacity of the epoch (c).
    pub capacity_bytes: f64,
    /// Host page writes that the capacity admits (n).
    pub pages: f64,
}

/// Returns the delay of every page write of an epoch, seconds, after one with `delay_s`.
///
/// Extends the paper: an epoch without demand needs no delay. In an epoch without capacity the regulator holds
/// everything back, and the delay stays unchanged.
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

/// Returns the delay, a step up where the last epoch wrote more than the capacity of the coming one, else a step down.
/// A step is the share `step` of the delay, and the first one `first_s`; below `first_s` the delay is 0.
///
/// Nothing is predicted. The next step corrects an error of this one, and meanwhile the regulator keeps to the budget.
#[must_use]
pub fn stepped_delay_s(delay_s: f64, last_bytes: f64, capacity_bytes: f64, step: f64, first_s: f64) -> f64 {
    if last_bytes > capacity_bytes {
        return (delay_s * (1.0 + step)).max(first_s);
    }
    let less = delay_s / (1.0 + step);
    if less < first_s { 0.0 } else { less }
}

/// Returns the delay under which a host writes the `pages` that an epoch admits, if it would write `pressure` times as
/// many without delays.
///
/// Consecutive pages are then `epoch_s / pages` apart, of which the host itself takes the `pressure`-th part. The
/// result does not exceed the epoch.
///
/// READY's Eq. 4 adjusts the previous delay by the demand observed under it. The integrated manager predicts demand
/// without delays, so this function solves READY's Eq. 5 directly.
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

    /// By hand: 100 pages in 300 s leave 3 s for each. A host that writes a page per second is delayed by 2 s, one that
    /// writes a page per 3 s not at all.
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
