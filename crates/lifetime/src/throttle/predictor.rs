//! Prediction of the coming epoch's writes: as much as in the previous one (READY, section 3.2).
//!
//! The input is the bytes actually written under throttling, in flash bytes. The delay rises and falls in steps (Eq. 4
//! and 5); with the unthrottled demand of the host it would rise again and again for the same demand.
//!
//! If the coming epoch has another length, the prediction is the bytes written in the last stretch of that length.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Maximum of epoch ends in memory.
const MARKS_MAX: usize = 4096;

/// The history of writes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Predictor {
    /// Ends of epochs, nanoseconds, with the flash bytes used until then.
    marks: VecDeque<(u64, f64)>,
}

impl Predictor {
    /// Marks the end of an epoch, or the start of the first.
    pub fn mark(&mut self, now_ns: u64, used_bytes: f64) {
        if self.marks.len() == MARKS_MAX {
            self.marks.pop_front();
        }
        self.marks.push_back((now_ns, used_bytes));
    }

    /// Predicts the flash bytes of an epoch of `length_ns` from the latest mark on: those of the last `length_ns`.
    /// Within a partly covered epoch, writes count as spread evenly; a history that is too short is scaled in
    /// proportion. None before the first epoch has ended.
    #[must_use]
    pub fn predict(&self, length_ns: u64) -> Option<f64> {
        let &(now_ns, used) = self.marks.back()?;
        let mut later = (now_ns, used);
        let from_ns = now_ns.saturating_sub(length_ns);
        for &earlier in self.marks.iter().rev().skip(1) {
            if earlier.0 <= from_ns && later.0 > earlier.0 && now_ns - earlier.0 >= length_ns {
                let share = (from_ns - earlier.0) as f64 / (later.0 - earlier.0) as f64;
                return Some(used - (earlier.1 + (later.1 - earlier.1) * share));
            }
            later = earlier;
        }
        let known_ns = now_ns - later.0;
        (known_ns > 0).then(|| (used - later.1) * (length_ns as f64 / known_ns as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_epoch_is_the_prediction() {
        let mut predictor = Predictor::default();
        assert_eq!(predictor.predict(10), None);
        predictor.mark(0, 0.0);
        assert_eq!(predictor.predict(10), None);
        predictor.mark(10, 5.0);
        predictor.mark(20, 17.0);
        assert_eq!(predictor.predict(10), Some(12.0));
    }

    #[test]
    fn other_lengths_take_what_was_written_in_as_much_time() {
        let mut predictor = Predictor::default();
        for mark in [(0, 0.0), (10, 5.0), (30, 17.0)] {
            predictor.mark(mark.0, mark.1);
        }
        assert_eq!(predictor.predict(20), Some(12.0));
        assert_eq!(predictor.predict(10), Some(6.0));
        // Half of the first epoch.
        assert_eq!(predictor.predict(25), Some(14.5));
        assert_eq!(predictor.predict(30), Some(17.0));
        // The history ends here: 17 in 30.
        assert_eq!(predictor.predict(60), Some(34.0));
    }
}
