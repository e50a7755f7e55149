//! Load of a drive over a pass, by window, and the parts of a pass for a close-up.

use std::ops::Range;

/// Initial width of the windows of a pass.
const WIDTH_NS: u64 = 1_000_000_000;
/// Maximum of windows per pass; pairs are merged beyond it.
const WINDOWS_MAX: u64 = 1 << 16;

/// The requests of a window, and the pages that they read and write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Window {
    requests: u64,
    /// Nanoseconds of the flash for its pages, in sequence.
    work_ns: u64,
}

impl Window {
    fn add(&mut self, other: Self) {
        self.requests += other.requests;
        self.work_ns += other.work_ns;
    }
}

/// The requests of a pass and their load on the flash, by windows of its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Busy {
    width_ns: u64,
    windows: Vec<Window>,
    /// Nanoseconds of the flash to read and to program a page of the map.
    page_ns: [u64; 2],
}

/// Consecutive requests of a pass for a close-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Requests of the pass before them.
    pub before: u64,
    /// Of these, the last ones as a lead-in: served in timed mode, but not counted.
    pub lead: u64,
    /// Maximum of counted requests.
    pub requests: u64,
    /// Their start, nanoseconds since the start of the pass.
    pub from_ns: u64,
}

/// The parts of a pass for a close-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stretches {
    /// All of it.
    Whole(Stretch),
    /// The busiest part of it, and the one of the median request.
    Two {
        /// The busiest part.
        busiest: Stretch,
        /// The typical part.
        typical: Stretch,
    },
}

impl Busy {
    /// Starts a pass over pages with these times to read and to program.
    #[must_use]
    pub fn new(page_ns: [u64; 2]) -> Self {
        Self { width_ns: WIDTH_NS, windows: vec![], page_ns }
    }

    /// Adds a request at the largest stamp so far that reads and writes so many pages.
    #[inline]
    pub fn add(&mut self, last_ns: u64, [read, written]: [u64; 2]) {
        let one = Window {
            requests: 1,
            work_ns: read.saturating_mul(self.page_ns[0]) + written.saturating_mul(self.page_ns[1]),
        };
        if let Some(window) = self.windows.get_mut((last_ns / self.width_ns) as usize) {
            return window.add(one);
        }
        while last_ns / self.width_ns >= WINDOWS_MAX {
            self.windows = self.windows.chunks(2).map(sum).collect();
            self.width_ns *= 2;
        }
        let window = (last_ns / self.width_ns) as usize;
        if window >= self.windows.len() {
            self.windows.resize(window + 1, Window::default());
        }
        self.windows[window].add(one);
    }

    /// Selects parts of about `requests` requests each; a pass of at most twice as many is one part. Parts are as long
    /// as the busiest one may be; of a window with more requests, the first ones are taken.
    #[must_use]
    pub fn stretches(&self, requests: u64) -> Stretches {
        let all = sum(&self.windows);
        if all.requests <= requests.saturating_mul(2) {
            return Stretches::Whole(Stretch { before: 0, lead: 0, requests: all.requests, from_ns: 0 });
        }
        let (mut width_ns, mut parts) = (self.width_ns, self.windows.clone());
        loop {
            let wider: Vec<Window> = parts.chunks(2).map(sum).collect();
            if wider.iter().any(|part| part.requests > requests) {
                break;
            }
            (width_ns, parts) = (width_ns * 2, wider);
        }
        let stretch = |i: usize| {
            let before = sum(&parts[..i]).requests;
            let requests = parts[i].requests.min(requests);
            Stretch { before, lead: before.min(requests / 4), requests, from_ns: i as u64 * width_ns }
        };
        let (busiest, typical) = busiest_and_typical(&parts);
        Stretches::Two { busiest: stretch(busiest), typical: stretch(typical) }
    }
}

fn sum(windows: &[Window]) -> Window {
    windows.iter().fold(Window::default(), |mut sum, &window| {
        sum.add(window);
        sum
    })
}

/// Returns the part with most work, the first of several, and that of the median request, with parts sorted by work.
fn busiest_and_typical(parts: &[Window]) -> (usize, usize) {
    let mut order: Vec<usize> = (0..parts.len()).filter(|&i| parts[i].requests > 0).collect();
    order.sort_by_key(|&i| (parts[i].work_ns, std::cmp::Reverse(i)));
    let half = sum(parts).requests / 2;
    let mut so_far = 0;
    let typical = order.iter().copied().find(|&i| {
        so_far += parts[i].requests;
        so_far > half
    });
    let busiest = order.last().copied().unwrap_or_default();
    (busiest, typical.unwrap_or(busiest))
}

impl Stretch {
    /// Returns the served requests of the pass, including the lead-in.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.before - self.lead..self.before + self.requests
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a pass with these requests in each second, each of which writes one page.
    fn busy(seconds: &[u64]) -> Busy {
        let mut busy = Busy::new([50, 600]);
        for (second, &requests) in (0..).zip(seconds) {
            (0..requests).for_each(|_| busy.add(second * 1_000_000_000 + 5, [0, 1]));
        }
        busy
    }

    #[test]
    fn a_short_pass_is_looked_at_as_a_whole() {
        let whole = Stretch { before: 0, lead: 0, requests: 20, from_ns: 0 };
        assert_eq!(busy(&[5, 15]).stretches(10), Stretches::Whole(whole));
    }

    #[test]
    fn parts_are_as_long_as_the_busiest_one_may_be() {
        // In parts of two seconds: 4, 40, 8, 12. Half of the 64 requests lie in the busiest.
        let busiest = Stretch { before: 4, lead: 4, requests: 40, from_ns: 2_000_000_000 };
        let stretches = busy(&[1, 3, 20, 20, 4, 4, 6, 6]).stretches(30);
        // Parts of two seconds would have 40 requests.
        let one_s = Stretch { before: 4, lead: 4, requests: 20, from_ns: 2_000_000_000 };
        let typical = Stretch { before: 24, lead: 5, requests: 20, from_ns: 3_000_000_000 };
        assert_eq!(stretches, Stretches::Two { busiest: one_s, typical });
        let stretches = busy(&[1, 3, 20, 20, 4, 4, 6, 6, 8, 12]).stretches(40);
        let typical = Stretch { before: 64, lead: 5, requests: 20, from_ns: 8_000_000_000 };
        assert_eq!(stretches, Stretches::Two { busiest: Stretch { lead: 4, ..busiest }, typical });
    }

    #[test]
    fn a_window_with_too_many_requests_is_cut() {
        let Stretches::Two { busiest, .. } = busy(&[100, 10, 10]).stretches(16) else { panic!("two") };
        assert_eq!(busiest, Stretch { before: 0, lead: 0, requests: 16, from_ns: 0 });
    }

    /// Widths double until a long pass fits, and nothing is lost.
    #[test]
    fn a_pass_of_years_has_wide_windows() {
        let mut busy = Busy::new([50, 600]);
        (0..1000).for_each(|i| busy.add(i * 100_000_000_000_000, [1, 2]));
        assert!(busy.windows.len() <= WINDOWS_MAX as usize && busy.width_ns > WIDTH_NS);
        assert_eq!(sum(&busy.windows), Window { requests: 1000, work_ns: 1_250_000 });
    }
}
