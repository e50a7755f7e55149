//! Mean number of free pages: spare space that the drive holds without using it.

use serde::{Deserialize, Serialize};

/// Free pages averaged over host page writes, without a step per page. Between two collections each host page takes
/// exactly one, hence the sum over n writes is an arithmetic series.
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

    /// Subtracts pages that collection or preconditioning filled.
    pub fn take(&mut self, pages: u64) {
        self.now_free -= pages;
    }

    /// Adds pages that an erase freed.
    pub fn give(&mut self, pages: u64) {
        self.now_free += pages;
    }

    /// Restarts the average.
    pub fn restart(&mut self, now: u64) {
        self.advance(now);
        self.started = now;
        self.sum = 0.0;
    }

    /// Returns the mean over the host page writes since the start, or the present number before the first one.
    pub fn mean(&self, now: u64) -> f64 {
        let mut state = self.clone();
        state.advance(now);
        let n = now - self.started;
        if n == 0 { state.now_free as f64 } else { state.sum / n as f64 }
    }
}

/// Open units of streams and their unwritten pages. Between two openings or collections each host page takes exactly
/// one, as with free pages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OpenPages {
    pages: FreePages,
    units: u64,
    most: u64,
}

impl Default for OpenPages {
    fn default() -> Self {
        Self { pages: FreePages::new(0), units: 0, most: 0 }
    }
}

impl OpenPages {
    /// Adds a unit with `pages` free pages that a stream opened.
    pub fn opened(&mut self, pages: u32, now: u64) {
        self.pages.advance(now);
        self.pages.give(u64::from(pages));
        self.units += 1;
        self.most = self.most.max(self.units);
    }

    /// Removes a unit that a stream gave up with `room` pages left.
    pub fn closed(&mut self, room: u32, now: u64) {
        self.filled(u64::from(room), now);
        self.units -= 1;
    }

    /// Subtracts pages of open units that were filled with moved data.
    pub fn filled(&mut self, pages: u64, now: u64) {
        self.pages.advance(now);
        self.pages.take(pages);
    }

    /// Restarts the averages.
    pub fn restart(&mut self, now: u64) {
        self.pages.restart(now);
        self.most = self.units;
    }

    /// Returns the mean, see [`FreePages::mean`].
    pub fn mean(&self, now: u64) -> f64 {
        self.pages.mean(now)
    }

    /// Returns the most units that were held at once.
    pub fn most(&self) -> u64 {
        self.most
    }

    /// Returns the units held and the pages left in them.
    pub fn held(&self, now: u64) -> (u64, u64) {
        let mut pages = self.pages.clone();
        pages.advance(now);
        (self.units, pages.now_free)
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
