//! Demand by unit window, without the delays of throttling (READY, section 3.5, Fig. 8).
//!
//! A window counts the host page writes that would have arrived in it without delays: its time is the time of arrival
//! less all delays so far.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The complete windows, and the current one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct History {
    width_ns: u64,
    windows_max: usize,
    /// Page writes by complete window, the oldest first.
    windows: VecDeque<u64>,
    /// End of the current window.
    end_ns: u64,
    pages: u64,
}

impl History {
    /// Starts empty, at time 0.
    #[must_use]
    pub fn new(width_ns: u64, windows_max: u32) -> Self {
        let windows_max = windows_max.max(2) as usize;
        Self {
            width_ns,
            windows_max,
            windows: VecDeque::with_capacity(windows_max),
            end_ns: width_ns,
            pages: 0,
        }
    }

    /// Returns whether a time is after the current window.
    #[inline]
    #[must_use]
    pub fn is_past(&self, time_ns: u64) -> bool {
        time_ns >= self.end_ns
    }

    /// Adds page writes that arrive in the current window.
    #[inline]
    pub fn add(&mut self, pages: u64) {
        self.pages += pages;
    }

    /// Returns the end of the current window.
    #[must_use]
    pub fn end_ns(&self) -> u64 {
        self.end_ns
    }

    /// Completes the current window.
    pub fn turn(&mut self) {
        if self.windows.len() == self.windows_max {
            self.windows.pop_front();
        }
        self.windows.push_back(std::mem::take(&mut self.pages));
        self.end_ns = self.end_ns.saturating_add(self.width_ns);
    }

    /// Counts the complete windows in memory.
    #[must_use]
    pub fn len(&self) -> usize {
        self.windows.len()
    }

    /// Sums the page writes of `windows` windows, before the last `skip` ones.
    #[must_use]
    pub fn sum(&self, skip: usize, windows: usize) -> u64 {
        self.windows.iter().rev().skip(skip).take(windows).sum()
    }

    /// Returns the page writes of the busiest complete window; 0 without one.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.iter().max().unwrap_or(0)
    }

    /// Iterates over the complete windows, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.windows.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_kept_up_to_their_number() {
        let mut history = History::new(10, 3);
        for pages in [5, 0, 7, 9] {
            assert!(!history.is_past(history.end_ns - 1));
            history.add(pages);
            history.turn();
        }
        assert_eq!(history.iter().collect::<Vec<_>>(), [0, 7, 9]);
        assert_eq!((history.len(), history.end_ns), (3, 50));
        history.add(11);
        assert_eq!(history.most(), 9);
        assert_eq!((history.sum(0, 2), history.sum(1, 2), history.sum(0, 9)), (16, 7, 16));
    }
}
