//! The hot group: which pages are written into it.
//!
//! Each page has a two-bit counter. It goes up when the host updates a page in the hot group, or in a unit of group 1
//! no older than the threshold. It goes down when the page lies in an older unit of group 1, when collection moves the
//! page out of group 1, and by two when collection moves it out of the hot group. Pages at 3 are hot. The threshold is
//! the mean age of the hot group's victims, averaged with its last value. It grows by half at most when they are twice
//! as old, and is renewed after as many updates as its value. Its first value is the number of pages of the drive.
//! Source: the public simulator of MiDAS's authors (`hf.cpp`); their prototype does not count updates of pages in the
//! hot group. They begin after the drive was written once; here the first victims decide, because a drive may begin
//! full. Cost: one look-up. Memory: one byte per page.

use super::mcam::Hot;
use crate::separate::{Replaced, StreamId, VictimUnit};
use floatgate_base::memory::table;
use floatgate_base::prefetch::prefetch;
use floatgate_base::{IdVec, Lpn};
use serde::{Deserialize, Serialize};

/// Count from which a page is hot, and the highest count.
const HOT_FROM: u8 = 3;
/// Measurements that are averaged.
const KEPT: usize = 10;
/// A group matches the model if its valid share is at most the one and its traffic at least the other.
const VALID_MOST: f64 = 0.1;
const TRAFFIC_LEAST: f64 = 0.15;

/// The hot group between two renewals of the threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Measured {
    /// Share of the host's writes.
    traffic: f64,
    /// Pages that it holds.
    pages: f64,
    /// Share of valid pages in its victims.
    valid: f64,
}

/// The filter of hot pages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HotFilter {
    counters: IdVec<Lpn, u8>,
    threshold: f64,
    /// Updates until the threshold is renewed.
    left: i64,
    /// Victims of the hot group since then: their number, the sum of their ages, and the sum of their valid shares.
    victims: (u64, u64, f64),
    /// Pages written since then, and how many of them were hot.
    written: (u64, u64),
    measurements: Vec<Measured>,
}

impl HotFilter {
    /// The stream of hot pages, and that of all others.
    pub const HOT: StreamId = StreamId(0);
    pub const FIRST: StreamId = StreamId(1);

    pub fn new(logical_pages: u32) -> Self {
        Self {
            counters: table(logical_pages as usize, 0).into(),
            threshold: f64::from(logical_pages),
            left: i64::from(logical_pages),
            victims: (0, 0, 0.0),
            written: (0, 0),
            measurements: Vec::new(),
        }
    }

    /// Counts a host write of a page that is mapped.
    #[inline(always)]
    pub fn replaces(&mut self, page: &Replaced) {
        self.left -= 1;
        if self.left <= 0 && self.victims.0 > 0 {
            self.renew();
        }
        let counter = &mut self.counters[page.lpn];
        match page.stream {
            Self::HOT => *counter = (*counter + 1).min(HOT_FROM),
            Self::FIRST if page.age as f64 <= self.threshold => *counter = (*counter + 1).min(HOT_FROM),
            Self::FIRST => *counter = counter.saturating_sub(1),
            _ => {}
        }
    }

    /// Returns the stream of a page that the host writes.
    #[inline(always)]
    pub fn write(&mut self, lpn: Lpn) -> StreamId {
        let is_hot = self.counters[lpn] >= HOT_FROM;
        self.written.0 += 1;
        self.written.1 += u64::from(is_hot);
        if is_hot { Self::HOT } else { Self::FIRST }
    }

    /// Counts a move of a page.
    #[inline(always)]
    pub fn moved(&mut self, lpn: Lpn, from: StreamId) {
        let less = match from {
            Self::HOT => 2,
            Self::FIRST => 1,
            _ => return,
        };
        self.counters[lpn] = self.counters[lpn].saturating_sub(less);
    }

    /// Counts a victim of the hot group.
    pub fn chosen(&mut self, unit: &VictimUnit, valid: f64) {
        self.victims.0 += 1;
        self.victims.1 += unit.now - unit.closed_at;
        self.victims.2 += valid;
    }

    #[cold]
    fn renew(&mut self) {
        let victims = self.victims.0 as f64;
        let age = self.victims.1 as f64 / victims;
        let traffic = self.written.1 as f64 / self.written.0.max(1) as f64;
        if traffic > 0.0 {
            if self.measurements.len() == KEPT {
                self.measurements.remove(0);
            }
            // Size: inflow times residence time.
            self.measurements.push(Measured {
                traffic,
                pages: traffic * age,
                valid: self.victims.2 / victims,
            });
        }
        self.threshold = if age >= 2.0 * self.threshold {
            1.5 * self.threshold
        } else {
            f64::midpoint(age, self.threshold)
        };
        self.left = self.threshold as i64;
        self.victims = (0, 0, 0.0);
        self.written = (0, 0);
    }

    /// Returns the group's averages since the last call, for the model. A group that matches the model has no fixed
    /// size. None if too much of it is valid for a model.
    pub fn measured(&mut self, segment_pages: f64) -> Option<Hot> {
        let measurements = std::mem::take(&mut self.measurements);
        if measurements.is_empty() {
            return Some(Hot::Measured { traffic: 0.01, size: 1.0, valid: 0.05 });
        }
        let mean =
            |of: fn(&Measured) -> f64| measurements.iter().map(of).sum::<f64>() / measurements.len() as f64;
        let (traffic, valid) = (mean(|m| m.traffic), mean(|m| m.valid));
        // One of them is open.
        let size = (mean(|m| m.pages) / segment_pages + 1.5).floor();
        if valid > if size > 1.0 { 0.18 } else { 0.3 } {
            return None;
        }
        Some(if valid > VALID_MOST || traffic < TRAFFIC_LEAST {
            Hot::Measured { traffic, size, valid }
        } else {
            Hot::Foretold { until: 0 }
        })
    }

    #[inline(always)]
    pub fn prefetch(&self, lpn: Lpn) {
        prefetch(self.counters.as_slice(), lpn.index());
    }

    pub fn memory_bytes(&self) -> u64 {
        self.counters.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaces(filter: &mut HotFilter, lpn: u32, stream: u32, age: u64) {
        filter.replaces(&Replaced { lpn: Lpn(lpn), stream: StreamId(stream), age });
    }

    #[test]
    fn pages_are_hot_after_three_quick_updates() {
        let mut filter = HotFilter::new(100);
        let streams: Vec<_> = (0..5)
            .map(|_| {
                let stream = filter.write(Lpn(7));
                replaces(&mut filter, 7, 1, 100);
                stream
            })
            .collect();
        let [hot, first] = [HotFilter::HOT, HotFilter::FIRST];
        assert_eq!(streams, [first, first, first, hot, hot]);
        replaces(&mut filter, 7, 1, 101);
        assert_eq!(filter.write(Lpn(7)), first, "it lived beyond the threshold");
        replaces(&mut filter, 7, 0, 1000);
        assert_eq!(filter.write(Lpn(7)), hot, "in the hot group age does not matter");
        replaces(&mut filter, 7, 3, 0);
        assert_eq!(filter.write(Lpn(7)), hot, "further groups tell nothing");
        filter.moved(Lpn(7), StreamId(2));
        filter.moved(Lpn(7), first);
        assert_eq!(filter.counters[Lpn(7)], 2);
        filter.moved(Lpn(7), hot);
        filter.moved(Lpn(7), hot);
        assert_eq!(filter.counters[Lpn(7)], 0);
    }

    fn victim(filter: &mut HotFilter, age: u64, valid: f64) {
        let unit = VictimUnit { stream: HotFilter::HOT, valid: 0, closed_at: 50, now: 50 + age };
        filter.chosen(&unit, valid);
    }

    #[test]
    fn the_threshold_follows_the_ages_of_victims() {
        let mut filter = HotFilter::new(100);
        (0..200).for_each(|_| replaces(&mut filter, 1, 5, 0));
        assert_eq!(filter.threshold, 100.0, "no victim yet");
        victim(&mut filter, 40, 0.0);
        victim(&mut filter, 80, 0.1);
        replaces(&mut filter, 1, 5, 0);
        assert_eq!((filter.threshold, filter.left), (80.0, 80), "the mean of 60 and 100");
        victim(&mut filter, 1000, 0.0);
        (0..80).for_each(|_| replaces(&mut filter, 1, 5, 0));
        assert_eq!(filter.threshold, 120.0, "half as much more at most");
    }

    #[test]
    fn what_is_measured_decides_whether_the_size_is_free() {
        let mut filter = HotFilter::new(100);
        let mut round = |hot: u32, valid: f64| {
            (0..hot).for_each(|_| (0..3).for_each(|_| replaces(&mut filter, 1, 0, 0)));
            (0..hot).for_each(|_| _ = filter.write(Lpn(1)));
            (hot..20).for_each(|_| _ = filter.write(Lpn(2)));
            let age = filter.threshold as u64;
            victim(&mut filter, age, valid);
            filter.left = 0;
            replaces(&mut filter, 2, 5, 0);
            filter.measured(10.0)
        };
        assert_eq!(round(10, 0.05), Some(Hot::Foretold { until: 0 }));
        // A tenth of the writes, for 100 writes each: 10 pages, one segment, and the open one.
        assert_eq!(round(2, 0.05), Some(Hot::Measured { traffic: 0.1, size: 2.0, valid: 0.05 }));
        assert_eq!(round(10, 0.15), Some(Hot::Measured { traffic: 0.5, size: 6.0, valid: 0.15 }));
        assert_eq!(round(10, 0.2), None, "too much is valid");
        assert_eq!(filter.measured(10.0), Some(Hot::Measured { traffic: 0.01, size: 1.0, valid: 0.05 }));
    }
}
