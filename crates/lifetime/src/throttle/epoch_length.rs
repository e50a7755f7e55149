//! Choice of the epoch length in unit windows, and when to repeat it (READY, section 3.5, Fig. 9, Eq. 6).
//!
//! The paper does not define Eq. 6 for windows without writes. Here two such windows do not differ, and one without
//! writes differs from one with writes by 1 (100 %) in either order. Otherwise a trace with a quiet night would rule
//! out every length that resolves the night.

use super::history::History;
use serde::{Deserialize, Serialize};

/// Returns the difference of Eq. 6, `|after - before| / before`, with 1 where demand begins.
#[must_use]
pub fn difference(before: u64, after: u64) -> f64 {
    match (before, after) {
        (0, 0) => 0.0,
        (0, _) => 1.0,
        _ => after.abs_diff(before) as f64 / before as f64,
    }
}

/// Returns the number of unit windows whose sums differ least from one epoch to the next, on average; the smallest of
/// equal ones. None where no length has `pairs_min` pairs.
///
/// Epochs are counted from the oldest window on, as in Fig. 9. Cost: a step per pair of each length, `n ln n` for n
/// windows.
#[must_use]
pub fn select(history: &History, pairs_min: u32) -> Option<u32> {
    let mut sums = Vec::with_capacity(history.len() + 1);
    sums.push(0);
    for pages in history.iter() {
        sums.push(sums[sums.len() - 1] + pages);
    }
    let windows = history.len();
    let mut best: Option<(f64, u32)> = None;
    for k in 1..=windows / 2 {
        let pairs = windows / k - 1;
        if pairs < pairs_min.max(1) as usize {
            break;
        }
        let demand = |i: usize| sums[(i + 1) * k] - sums[i * k];
        let mean = (0..pairs).map(|i| difference(demand(i), demand(i + 1))).sum::<f64>() / pairs as f64;
        if best.is_none_or(|(least, _)| mean < least) {
            best = Some((mean, k as u32));
        }
    }
    best.map(|(_, k)| k)
}

/// Accuracy of the predictions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Predictions {
    /// Epochs whose demand was compared with that of the previous one.
    pub compared: u64,
    /// Of these, epochs with an error below the limit.
    pub right: u64,
}

/// Detects wrong predictions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trigger {
    /// Unit windows per epoch.
    windows: u32,
    /// Windows completed since the last comparison.
    since: u32,
    wrong_in_a_row: u32,
    /// The last comparisons since the length was chosen, the latest in the lowest bit; 1 means a wrong prediction.
    recent: u16,
    recent_count: u32,
    predictions: Predictions,
}

impl Trigger {
    /// Creates a trigger for epochs of `windows` windows.
    #[must_use]
    pub fn new(windows: u32) -> Self {
        Self {
            windows,
            since: 0,
            wrong_in_a_row: 0,
            recent: 0,
            recent_count: 0,
            predictions: Predictions::default(),
        }
    }

    /// Restarts after a choice of the epoch length, changed or not.
    pub fn restart(&mut self, windows: u32) {
        *self = Self { predictions: self.predictions, ..Self::new(windows) };
    }

    /// Notes a completed window. After each whole epoch of windows, compares it with the previous epoch.
    pub fn turned(&mut self, history: &History, error_max: f64) {
        self.since += 1;
        let k = self.windows as usize;
        if self.since < self.windows || history.len() < 2 * k {
            return;
        }
        self.since = 0;
        let right = difference(history.sum(k, k), history.sum(0, k)) < error_max;
        self.predictions.compared += 1;
        self.predictions.right += u64::from(right);
        self.wrong_in_a_row = if right { 0 } else { self.wrong_in_a_row + 1 };
        self.recent = self.recent << 1 | u16::from(!right);
        self.recent_count = (self.recent_count + 1).min(u16::BITS);
    }

    /// Returns whether to choose the length again: after `errors_in_a_row` consecutive wrong predictions (READY,
    /// section 3.5), or if `wrong_share` of the last 16 were wrong.
    ///
    /// The first rule alone never acts on demand that repeats with a period of several epochs and is steady for some of
    /// them, however wrong the others are.
    #[must_use]
    pub fn is_due(&self, errors_in_a_row: u32, wrong_share: f64) -> bool {
        let many = self.recent_count == u16::BITS
            && f64::from(self.recent.count_ones()) >= wrong_share * f64::from(u16::BITS);
        self.wrong_in_a_row >= errors_in_a_row || many
    }

    /// Returns the accuracy of the predictions so far.
    #[must_use]
    pub fn predictions(&self) -> Predictions {
        self.predictions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(windows: &[u64]) -> History {
        let mut history = History::new(1, 4096);
        for &pages in windows {
            history.add(pages);
            history.turn();
        }
        history
    }

    /// Fig. 9: windows of 3 and 6 MB in turn. With k = 1, r(0,1) = 1.0 and r(1,2) = 0.5, r(2,3) = 1.0; with k = 2 the
    /// epochs are equal.
    #[test]
    fn the_example_of_figure_9() {
        assert_eq!(difference(3, 6), 1.0);
        assert_eq!(difference(6, 3), 0.5);
        assert_eq!(select(&of(&[3, 6, 3, 6]), 1), Some(2));
        // k = 1: (1 + 0 + 1) / 3; k = 2: |10 - 8| / 8.
        assert_eq!(select(&of(&[4, 4, 4, 6]), 1), Some(1));
        // Means 0.75 and 0.25 of k = 1 and 2 by hand: |1 - 4| / 4, |4 - 1| / 1 ... the smaller mean wins.
        assert_eq!(select(&of(&[4, 1, 4, 2]), 1), Some(2));
    }

    #[test]
    fn ties_take_the_smallest_and_pairs_are_asked_for() {
        assert_eq!(select(&of(&[7; 12]), 1), Some(1));
        assert_eq!(select(&of(&[7]), 1), None);
        assert_eq!(select(&of(&[]), 1), None);
        let day: Vec<u64> = (0..4).flat_map(|_| [1, 2, 4, 8, 16, 32]).collect();
        assert_eq!(select(&of(&day), 1), Some(6));
        assert_eq!(select(&of(&day), 3), Some(6));
        // Six windows have no four pairs in 24; of those that have, the longer ones differ less here.
        assert_ne!(select(&of(&day), 4), Some(6));
        assert_eq!(select(&of(&day), 24), None);
    }

    #[test]
    fn windows_without_writes_do_not_rule_a_length_out() {
        assert_eq!((difference(0, 0), difference(0, 5), difference(5, 0)), (0.0, 1.0, 1.0));
        assert_eq!(select(&of(&[0, 9, 0, 9, 0, 9]), 1), Some(2));
        assert_eq!(select(&of(&[0; 8]), 1), Some(1));
    }

    #[test]
    fn three_wrong_predictions_one_after_the_other_ask_for_another_length() {
        let mut history = History::new(1, 16);
        let mut trigger = Trigger::new(1);
        let mut feed = |pages: u64| {
            history.add(pages);
            history.turn();
            trigger.turned(&history, 0.25);
            (trigger.is_due(3, 1.0), trigger.predictions())
        };
        // 0.25 is not below 0.25: wrong.
        let due: Vec<bool> = [8, 10, 5, 5, 10, 20, 40].into_iter().map(|pages| feed(pages).0).collect();
        assert_eq!(due, [false, false, false, false, false, false, true]);
        assert_eq!(feed(40).1, Predictions { compared: 7, right: 2 });
    }

    /// Two steady hours, then one of twice the demand: every third and fourth comparison is wrong, never three in a
    /// row.
    #[test]
    fn a_strict_cycle_is_noticed_by_the_share_of_wrong_predictions() {
        let mut history = History::new(1, 64);
        let mut trigger = Trigger::new(1);
        let mut due = [None, None];
        for window in 0..40 {
            history.add(if window % 3 == 2 { 10 } else { 5 });
            history.turn();
            trigger.turned(&history, 0.25);
            for (first, share) in due.iter_mut().zip([1.0, 0.25]) {
                if first.is_none() && trigger.is_due(3, share) {
                    *first = Some(window);
                }
            }
        }
        // The seventeenth window makes the sixteenth comparison.
        assert_eq!(due, [None, Some(16)]);
        assert_eq!(select(&history, 1), Some(3));
        trigger.restart(3);
        assert!(!trigger.is_due(3, 0.25));
    }

    #[test]
    fn epochs_of_several_windows_are_compared_whole() {
        let mut history = History::new(1, 16);
        let mut trigger = Trigger::new(2);
        for pages in [1, 9, 9, 1, 5, 5, 5, 9] {
            history.add(pages);
            history.turn();
            trigger.turned(&history, 0.25);
        }
        // 10, 10, 10, 14: two right, one off by 0.4.
        assert_eq!(trigger.predictions(), Predictions { compared: 3, right: 2 });
        assert_eq!(trigger.wrong_in_a_row, 1);
    }

    /// A slow model that computes the sums of every pair from scratch.
    #[test]
    fn the_choice_is_that_of_a_naive_search() {
        for seed in 0..300 {
            let mut rng = floatgate_base::Rng::new(seed, "epochs");
            let n = rng.below(40) as usize;
            let windows: Vec<u64> = (0..n).map(|_| [0, 1, 5, 20][rng.below(4) as usize]).collect();
            let pairs_min = 1 + rng.below(3) as u32;
            let mut best = (f64::INFINITY, None);
            for k in 1..=n {
                let sums: Vec<u64> = windows.chunks_exact(k).map(|c| c.iter().sum()).collect();
                if sums.len() < 2 || sums.len() - 1 < pairs_min as usize {
                    continue;
                }
                let mean =
                    sums.windows(2).map(|p| difference(p[0], p[1])).sum::<f64>() / (sums.len() - 1) as f64;
                if mean < best.0 {
                    best = (mean, Some(k as u32));
                }
            }
            assert_eq!(select(&of(&windows), pairs_min), best.1, "seed {seed}: {windows:?}");
        }
    }
}
