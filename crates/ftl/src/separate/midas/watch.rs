//! Compares the groups with the prediction, and measures write amplification.
//!
//! After a configuration was applied, the watch waits until each group has been collected. It then averages the valid
//! share of each group's victims over a part of an epoch and compares. A group whose valid share exceeds the prediction
//! by `mismatch` is irregular. The model does not hold for it and the groups behind, which are therefore merged.
//! Victims with fewer valid pages do no harm (the simulator's rule; the authors' prototype takes both for irregular).
//! The write amplification of the last drive write decides whether a new configuration is worth it. Endless collection
//! without a host write is a sign of irregularity, too, and acts at once. The limit is 25 victims per unit that they
//! gain (as in the simulator; the prototype has 100).

use crate::separate::{StreamId, VictimUnit};
use serde::{Deserialize, Serialize};

/// Victims in a row per unit gained that are too many.
const ENDLESS: u64 = 25;
/// Part of an epoch over which groups are compared.
const COMPARED: f64 = 0.3;

/// Stage of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    /// Nothing to compare.
    Idle,
    /// Some groups have yet to be collected.
    Waits,
    /// Compares until this many host page writes.
    Compares { until: u64 },
}

/// State of the watch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Watch {
    /// Host pages and valid pages of victims since the last drive write, and the write amplification before.
    host_pages: u64,
    moved_pages: u64,
    drive_pages: u64,
    waf: Option<f64>,
    stage: Stage,
    /// By stream: predicted valid shares; the sum of those of victims, and their number.
    foretold: Vec<f64>,
    observed: Vec<(f64, u64)>,
    /// Victims since the last host write: time, number, and their dead pages.
    row: (u64, u64, u64),
    mismatch: f64,
    pages_per_unit: u32,
}

impl Watch {
    pub fn new(streams: u32, drive_pages: u32, pages_per_unit: u32, mismatch: f64) -> Self {
        Self {
            host_pages: 0,
            moved_pages: 0,
            drive_pages: u64::from(drive_pages),
            waf: None,
            stage: Stage::Idle,
            foretold: Vec::new(),
            observed: vec![(0.0, 0); streams as usize],
            row: (0, 0, 0),
            mismatch,
            pages_per_unit,
        }
    }

    /// Returns the write amplification over the last whole drive write.
    pub fn waf(&self) -> Option<f64> {
        self.waf
    }

    /// Counts a host page write.
    #[inline(always)]
    pub fn written(&mut self) {
        self.host_pages += 1;
        if self.host_pages == self.drive_pages {
            self.waf = Some(1.0 + self.moved_pages as f64 / self.host_pages as f64);
            (self.host_pages, self.moved_pages) = (0, 0);
        }
    }

    /// Counts a victim while groups up to `last` are in use, and the hot group if `hot`. Returns whether collection has
    /// become endless.
    pub fn chosen(&mut self, unit: &VictimUnit, (last, hot): (StreamId, bool), epoch_pages: u64) -> bool {
        self.moved_pages += u64::from(unit.valid);
        let valid = self.valid_share(unit);
        let observed = &mut self.observed[unit.stream.index()];
        *observed = (observed.0 + valid, observed.1 + 1);
        let used = usize::from(!hot)..=last.index();
        if self.stage == Stage::Waits && self.observed[used].iter().all(|observed| observed.1 > 0) {
            self.observed.fill((0.0, 0));
            self.stage = Stage::Compares { until: unit.now + (COMPARED * epoch_pages as f64) as u64 };
        }
        if self.row.0 != unit.now {
            self.row = (unit.now, 0, 0);
        }
        self.row.1 += 1;
        self.row.2 += u64::from(self.pages_per_unit - unit.valid);
        let endless = self.row.1 > ENDLESS * (1 + self.row.2 / u64::from(self.pages_per_unit));
        if endless {
            self.row = (unit.now, 0, 0);
        }
        endless
    }

    /// Returns the share of valid pages in a victim.
    pub fn valid_share(&self, unit: &VictimUnit) -> f64 {
        f64::from(unit.valid) / f64::from(self.pages_per_unit)
    }

    /// Begins to watch an applied configuration with this prediction by stream.
    pub fn expect(&mut self, foretold: Vec<f64>) {
        self.foretold = foretold;
        self.observed.fill((0.0, 0));
        self.stage = Stage::Waits;
    }

    /// Ends the comparison.
    pub fn forget(&mut self) {
        self.stage = Stage::Idle;
    }

    /// Checks whether a comparison is due.
    pub fn is_due(&self, now: u64) -> bool {
        matches!(self.stage, Stage::Compares { until } if now >= until)
    }

    /// Returns the first irregular group from 1 on and before `end`.
    pub fn compare(&mut self, end: u32) -> Option<StreamId> {
        self.stage = Stage::Idle;
        let wrong = |stream: &StreamId| {
            let (sum, victims) = self.observed[stream.index()];
            victims > 0 && sum / victims as f64 - self.foretold[stream.index()] >= self.mismatch
        };
        (1..end.min(self.foretold.len() as u32)).map(StreamId).find(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch() -> Watch {
        Watch::new(4, 100, 10, 0.1)
    }

    fn choose(watch: &mut Watch, stream: u32, valid: u32, now: u64) -> bool {
        let unit = VictimUnit { stream: StreamId(stream), valid, closed_at: 0, now };
        watch.chosen(&unit, (StreamId(2), true), 1000)
    }

    #[test]
    fn groups_are_compared_once_all_were_collected() {
        let mut watch = watch();
        watch.expect(vec![0.0, 0.5, 0.5]);
        choose(&mut watch, 0, 9, 10);
        choose(&mut watch, 1, 9, 20);
        assert!(!watch.is_due(10_000), "the last group was not collected");
        choose(&mut watch, 2, 9, 30);
        assert_eq!(watch.stage, Stage::Compares { until: 330 });
        // Earlier victims do not count.
        choose(&mut watch, 1, 5, 40);
        choose(&mut watch, 1, 6, 50);
        choose(&mut watch, 2, 0, 60);
        assert_eq!((watch.is_due(329), watch.is_due(330)), (false, true));
        assert_eq!(watch.compare(3), None, "0.55, and fewer than foretold");
        watch.stage = Stage::Compares { until: 0 };
        choose(&mut watch, 1, 8, 70);
        assert_eq!(watch.compare(3), Some(StreamId(1)), "0.63");
        assert_eq!((watch.is_due(10_000), watch.compare(1)), (false, None));
    }

    #[test]
    fn collection_without_end_is_noticed() {
        let mut watch = watch();
        assert!((0..25).all(|_| !choose(&mut watch, 1, 10, 5)));
        assert!(choose(&mut watch, 1, 10, 5), "the 26th that gains nothing");
        assert!((0..25).all(|_| !choose(&mut watch, 1, 10, 5)), "it begins anew");
        assert!(!choose(&mut watch, 1, 10, 6), "the host wrote");
        // With a tenth each they gain a unit every ten: 25 victims more each time.
        assert!((0..500).all(|_| !choose(&mut watch, 1, 9, 7)));
    }

    #[test]
    fn write_amplification_is_that_of_the_last_drive_write() {
        let mut watch = watch();
        (0..5).for_each(|_| _ = choose(&mut watch, 1, 10, 0));
        (0..99).for_each(|_| watch.written());
        assert_eq!(watch.waf(), None);
        watch.written();
        assert_eq!(watch.waf(), Some(1.5));
        (0..100).for_each(|_| watch.written());
        assert_eq!(watch.waf(), Some(1.0));
    }
}
