//! The integrated lifetime manager at work (section III-B): its history of past epochs, and its prediction of the next.
//!
//! Demand is that of the host without delays: its pages over the time in which it was not held back. It is converted to
//! flash bytes by the recent write amplification without the effect of reduction. Demand and ratios are weighted means
//! over the last epochs; the newest has the largest weight. Pages and times are summed before the division, because the
//! quotient of an epoch that was held back most of the time would be meaningless.

use super::decision::{Decision, Effect, decide};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Maximum of rows in the record; pairs of rows are merged beyond it.
const ROWS_MAX: usize = 256;

/// Parameters of a manager.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ManagerSetup {
    /// Length of an epoch, nanoseconds (section IV: 5 minutes).
    pub epoch_ns: u64,
    /// Epochs remembered (section III-B.1: 10); weights fall from that number to 1.
    pub epochs: u32,
    /// Share of the pages sampled for an inactive scheme.
    pub sample_share: f64,
    /// Energy of a fingerprint / that of a page program.
    pub hash_cost: f64,
    /// Energy of compressing a page / that of a page program.
    pub compress_cost: f64,
    /// Bytes per mapping unit.
    pub page_bytes: u32,
}

/// Pages that entered a scheme and pages left to be programmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SchemePages {
    /// Pages that entered the scheme.
    pub pages: f64,
    /// Pages that the scheme left.
    pub left: f64,
}

/// Counts of a scheme: at work, and on samples while inactive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SchemeSeen {
    /// At work.
    pub at_work: SchemePages,
    /// On samples.
    pub sampled: SchemePages,
}

/// Counts of the drive since counting began. Without a drive they are predictions, which may contain fractions of
/// pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// Host page writes.
    pub host_pages: f64,
    /// Pages programmed for the host.
    pub host_programs: f64,
    /// Pages programmed for any cause.
    pub programs: f64,
    /// Deduplication.
    pub dedup: SchemeSeen,
    /// Compression.
    pub compress: SchemeSeen,
}

/// Counts of a past epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Past {
    /// Time in which the host was not held back, nanoseconds. Negative if an admitted write had waited longer than the
    /// epoch.
    undelayed_ns: i64,
    seen: Seen,
}

/// Decisions over some epochs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Start of the first epoch, nanoseconds.
    pub from_ns: u64,
    /// End of the last epoch, nanoseconds.
    pub to_ns: u64,
    /// Epochs.
    pub epochs: u64,
    /// Of these, epochs with deduplication, compression and throttling.
    pub on: [u64; 3],
    /// Demand (W) and capacity (C), summed over the epochs, flash bytes.
    pub demand_bytes: f64,
    /// Capacity (C), summed likewise.
    pub capacity_bytes: f64,
    /// Expected written ratios of deduplication and compression (D), summed.
    pub ratios: [f64; 2],
}

impl Row {
    fn absorb(&mut self, later: &Self) {
        self.to_ns = later.to_ns;
        self.epochs += later.epochs;
        self.on.iter_mut().zip(later.on).for_each(|(on, more)| *on += more);
        self.demand_bytes += later.demand_bytes;
        self.capacity_bytes += later.capacity_bytes;
        self.ratios.iter_mut().zip(later.ratios).for_each(|(sum, more)| *sum += more);
    }
}

/// Decisions over a life.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Decided epochs, by choice: none, deduplication, compression, both.
    pub by_choice: [u64; 4],
    /// Of these, epochs with throttling.
    pub throttled: u64,
    /// The decisions over time.
    pub rows: Vec<Row>,
    /// Epochs per row.
    per_row: u64,
}

impl Record {
    fn push(&mut self, row: Row) {
        self.by_choice[usize::from(row.on[0] > 0) + 2 * usize::from(row.on[1] > 0)] += 1;
        self.throttled += row.on[2];
        self.per_row = self.per_row.max(1);
        match self.rows.last_mut() {
            Some(last) if last.epochs < self.per_row => last.absorb(&row),
            _ => self.rows.push(row),
        }
        if self.rows.len() > ROWS_MAX {
            self.per_row *= 2;
            let pairs = self.rows.chunks(2).map(|pair| {
                let mut row = pair[0];
                pair[1..].iter().for_each(|later| row.absorb(later));
                row
            });
            self.rows = pairs.collect();
        }
    }
}

/// The manager.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manager {
    /// Past epochs, newest first.
    past: VecDeque<Past>,
    /// Counts at the beginning of the current epoch.
    before: Seen,
    decision: Decision,
    record: Record,
}

impl Manager {
    /// Ends an epoch in which the host was not held back for `undelayed_ns`; None before the first one.
    pub fn end_epoch(&mut self, setup: &ManagerSetup, seen: &Seen, undelayed_ns: Option<i64>) {
        let of_epoch = since(seen, &self.before);
        // An epoch in which one write waited all the time gives no information.
        if let Some(undelayed_ns) = undelayed_ns.filter(|&ns| ns > 0 || of_epoch.host_pages > 0.0) {
            self.past.push_front(Past { undelayed_ns, seen: of_epoch });
            self.past.truncate(setup.epochs as usize);
        }
        self.before = *seen;
    }

    /// Decides for the epoch from `from_ns` to `to_ns`, with a capacity of `capacity_bytes` of flash.
    pub fn decide(
        &mut self,
        setup: &ManagerSetup,
        (from_ns, to_ns): (u64, u64),
        capacity_bytes: f64,
    ) -> Decision {
        let demand_bytes = self.demand_bytes(setup) * (to_ns - from_ns) as f64 / setup.epoch_ns as f64;
        let [dedup, compress] = self.effects(setup);
        self.decision = decide(demand_bytes, capacity_bytes, &dedup, &compress);
        let on = [self.decision.dedup, self.decision.compress, self.decision.throttle].map(u64::from);
        let ratios = [dedup.written_ratio, compress.written_ratio];
        self.record.push(Row { from_ns, to_ns, epochs: 1, on, demand_bytes, capacity_bytes, ratios });
        self.decision
    }

    /// Returns the last decision.
    #[must_use]
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// Returns the decisions so far.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Iterates over the past epochs with their weights.
    fn weighted<'a>(&'a self, setup: &ManagerSetup) -> impl Iterator<Item = (f64, &'a Past)> {
        let epochs = setup.epochs;
        self.past.iter().zip(0..).map(move |(past, age)| (f64::from(epochs - age), past))
    }

    /// Predicts the demand of the next epoch, W, in flash bytes.
    #[must_use]
    pub fn demand_bytes(&self, setup: &ManagerSetup) -> f64 {
        let sum = |of: fn(&Past) -> f64| -> f64 {
            self.weighted(setup).map(|(weight, past)| weight * of(past)).sum()
        };
        let pages = sum(|past| past.seen.host_pages);
        // A host that was held back all the time would have written an unknown multiple.
        let undelayed_ns = sum(|past| past.undelayed_ns as f64).max(setup.epoch_ns as f64 / 1000.0);
        let programs: f64 = self.past.iter().map(|past| past.seen.programs).sum();
        let host: f64 = self.past.iter().map(|past| past.seen.host_programs).sum();
        let amplification = if host > 0.0 { programs / host } else { 1.0 };
        let epoch_pages = pages / undelayed_ns * setup.epoch_ns as f64;
        epoch_pages * f64::from(setup.page_bytes) * amplification
    }

    /// Predicts the effects of deduplication and compression.
    #[must_use]
    pub fn effects(&self, setup: &ManagerSetup) -> [Effect; 2] {
        let of = |scheme: fn(&Seen) -> SchemeSeen, cost: f64| {
            let (mut pages, mut left) = (0.0, 0.0);
            for (weight, past) in self.weighted(setup) {
                let SchemeSeen { at_work, sampled } = scheme(&past.seen);
                // A sample represents all pages.
                for (counts, scale) in [(at_work, 1.0), (sampled, 1.0 / setup.sample_share)] {
                    pages += weight * scale * counts.pages;
                    left += weight * scale * counts.left;
                }
            }
            if pages > 0.0 { Effect::of(left / pages, cost) } else { Effect::unknown(cost) }
        };
        [of(|seen| seen.dedup, setup.hash_cost), of(|seen| seen.compress, setup.compress_cost)]
    }
}

/// Returns the difference of two counts.
fn since(now: &Seen, before: &Seen) -> Seen {
    let left = |now: SchemePages, before: SchemePages| SchemePages {
        pages: now.pages - before.pages,
        left: now.left - before.left,
    };
    let scheme = |now: SchemeSeen, before: SchemeSeen| SchemeSeen {
        at_work: left(now.at_work, before.at_work),
        sampled: left(now.sampled, before.sampled),
    };
    Seen {
        host_pages: now.host_pages - before.host_pages,
        host_programs: now.host_programs - before.host_programs,
        programs: now.programs - before.programs,
        dedup: scheme(now.dedup, before.dedup),
        compress: scheme(now.compress, before.compress),
    }
}

/// The paper's settings, for tests.
#[cfg(test)]
pub(super) const SETUP: ManagerSetup = ManagerSetup {
    epoch_ns: 300_000_000_000,
    epochs: 10,
    sample_share: 0.01,
    hash_cost: 0.0145,
    compress_cost: 0.132,
    page_bytes: 4096,
};

#[cfg(test)]
mod tests {
    use super::*;

    const EPOCH_NS: i64 = SETUP.epoch_ns as i64;

    fn seen(host_pages: u64, programs: u64, host_programs: u64) -> Seen {
        let [host_pages, programs, host_programs] = [host_pages, programs, host_programs].map(|n| n as f64);
        Seen { host_pages, programs, host_programs, ..Seen::default() }
    }

    /// By hand: epochs of 100 and then 200 pages weigh 9 and 10, which predicts 152.6; all programs are 1.5 of those
    /// for the host.
    #[test]
    fn demand_is_a_weighted_mean_in_flash_bytes() {
        let mut manager = Manager::default();
        assert_eq!(manager.demand_bytes(&SETUP), 0.0);
        manager.end_epoch(&SETUP, &seen(100, 150, 100), Some(EPOCH_NS));
        assert_eq!(manager.demand_bytes(&SETUP), 100.0 * 4096.0 * 1.5);
        manager.end_epoch(&SETUP, &seen(300, 450, 300), Some(EPOCH_NS));
        let pages = (10.0 * 200.0 + 9.0 * 100.0) / 19.0;
        assert!((manager.demand_bytes(&SETUP) - pages * 4096.0 * 1.5).abs() < 1e-6);
        // Half of the next epoch was held back: the host would have written twice as much.
        manager.end_epoch(&SETUP, &seen(400, 600, 400), Some(EPOCH_NS / 2));
        let pages = (10.0 * 100.0 + 9.0 * 200.0 + 8.0 * 100.0) / (10.0 * 0.5 + 9.0 + 8.0);
        assert!((manager.demand_bytes(&SETUP) - pages * 4096.0 * 1.5).abs() < 1e-6);
        // Epochs older than ten are forgotten.
        for n in 0..12 {
            manager.end_epoch(
                &SETUP,
                &seen(400 + 10 * (n + 1), 600 + 10 * (n + 1), 400 + 10 * (n + 1)),
                Some(EPOCH_NS),
            );
        }
        assert!((manager.demand_bytes(&SETUP) - 10.0 * 4096.0).abs() < 1e-6);
    }

    #[test]
    fn a_sample_stands_for_all() {
        let mut manager = Manager::default();
        let [dedup, compress] = manager.effects(&SETUP);
        assert!(dedup.written_ratio == 1.0 && (compress.energy_ratio - 1.132).abs() < 1e-12);
        let mut now = seen(1000, 1000, 1000);
        now.dedup.sampled = SchemePages { pages: 10.0, left: 5.0 };
        now.compress.at_work = SchemePages { pages: 800.0, left: 400.0 };
        manager.end_epoch(&SETUP, &now, Some(EPOCH_NS));
        let [dedup, compress] = manager.effects(&SETUP);
        assert!(dedup.written_ratio == 0.5 && (dedup.energy_ratio - 0.5145).abs() < 1e-12);
        assert_eq!(compress.written_ratio, 0.5);
        // 1,000 pages at work beside a sample of 10 out of another 1,000.
        now.host_pages += 1000.0;
        now.dedup.at_work = SchemePages { pages: 1000.0, left: 1000.0 };
        manager.end_epoch(&SETUP, &now, Some(EPOCH_NS));
        let [dedup, _] = manager.effects(&SETUP);
        assert!(
            (dedup.written_ratio - (10.0 * 1000.0 + 9.0 * 500.0) / (10.0 * 1000.0 + 9.0 * 1000.0)).abs()
                < 1e-12
        );
    }

    #[test]
    fn the_record_stays_small_and_loses_nothing() {
        let mut manager = Manager::default();
        for n in 0..5000u64 {
            let span = (n * SETUP.epoch_ns, (n + 1) * SETUP.epoch_ns);
            manager.end_epoch(&SETUP, &seen(n * 10, n * 10, n * 10), (n > 0).then_some(EPOCH_NS));
            manager.decide(&SETUP, span, if n % 2 == 0 { 1e9 } else { 1.0 });
        }
        let record = manager.record();
        assert!(record.rows.len() <= ROWS_MAX);
        assert_eq!(record.rows.iter().map(|row| row.epochs).sum::<u64>(), 5000);
        assert_eq!(record.by_choice.iter().sum::<u64>(), 5000);
        assert_eq!(record.rows.iter().map(|row| row.on[2]).sum::<u64>(), record.throttled);
        let ends = record.rows.windows(2).all(|pair| pair[0].to_ns == pair[1].from_ns);
        assert!(ends && record.throttled == 2500, "{} throttled", record.throttled);
    }
}
