//! How many pages are free on average: the spare space that the host does not have but the drive cannot use either.

use serde::{Deserialize, Serialize};

/// Free pages averaged over host page writes, without a step per page: between two collections each host page
/// takes exactly one, so the sum over n writes is that of a falling line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FreePages {
    now_free: u64,
    since: u64,
    started: u64,
    sum: f64,
}

impl FreePages {
    pub fn new(pages: u32) -> Self {
        Self { now_free: u64::from(pages), since: 0, started: 0, sum: 0.0 }
    }

    /// Accounts for the host pages written up to `now`.
    pub fn advance(&mut self, now: u64) {
        let n = (now - self.since) as f64;
        self.sum += n * self.now_free as f64 - n * (n - 1.0) / 2.0;
        self.now_free -= now - self.since;
        self.since = now;
    }

    /// Collection or preconditioning filled pages.
    pub fn take(&mut self, pages: u64) {
        self.now_free -= pages;
    }

    /// An erase freed pages.
    pub fn give(&mut self, pages: u64) {
        self.now_free += pages;
    }

    /// Starts the average afresh.
    pub fn restart(&mut self, now: u64) {
        self.advance(now);
        self.started = now;
        self.sum = 0.0;
    }

    /// Mean over the host page writes since the start; the present number before the first one.
    pub fn mean(&self, now: u64) -> f64 {
        let mut state = self.clone();
        state.advance(now);
        let n = now - self.started;
        if n == 0 { state.now_free as f64 } else { state.sum / n as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_that_of_every_single_write() {
        let mut free = FreePages::new(100);
        let (mut level, mut levels) = (100u64, Vec::new());
        for now in 1..=40 {
            levels.push(level);
            level -= 1;
            if now % 7 == 0 {
                free.advance(now);
                free.take(3);
                free.give(8);
                level += 5;
            }
            if now == 10 {
                free.restart(now);
                levels.clear();
            }
        }
        assert_eq!(free.mean(40), levels.iter().sum::<u64>() as f64 / 30.0);
    }
}
