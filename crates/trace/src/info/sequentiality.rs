//! Sequentiality: the share of requests that continue earlier ones.
//!
//! A request of a device is *sequential* if it begins where that device's previous request of the same operation ended.
//! It is *near-sequential* if it begins where any of the last [`RECENT`] of them ended, which detects several
//! interleaved streams. A run is a chain of sequential requests.
//!
//! Cost: one comparison for a sequential request, [`RECENT`] for another. Memory: 432 bytes per device and operation.

use super::log_histogram::{Distribution, LogHistogram};
use floatgate_base::{Op, RequestBatch};
use serde::Serialize;

/// Number of recent requests.
const RECENT: usize = 32;
/// No request begins at the last byte of the address space and ends after it.
const NOWHERE: u64 = u64::MAX;

/// Sequentiality of one operation.
#[derive(Clone, Debug, Serialize)]
pub struct OpSequentiality {
    /// Share of the requests that begin where the previous one ended.
    pub sequential_share: f64,
    /// Share of the requests that begin where one of the last 32 ended; includes the sequential ones.
    pub near_sequential_share: f64,
    /// Runs: chains of sequential requests, including single requests.
    pub runs: u64,
    /// Mean length of a run in bytes.
    pub run_mean_bytes: f64,
    /// Lengths of runs in bytes.
    pub run_bytes: Distribution<u64>,
}

/// Sequentiality by operation; null if the trace has no such request.
#[derive(Clone, Debug, Serialize)]
pub struct SequentialityInfo {
    /// Reads.
    pub read: Option<OpSequentiality>,
    /// Writes.
    pub write: Option<OpSequentiality>,
}

/// Recent requests of one device and operation.
#[derive(Clone)]
struct Lane {
    end: u64,
    run: u64,
    next: usize,
    /// Low halves of the sector numbers in `ends`: half the memory to search.
    low: [u32; RECENT],
    ends: [u64; RECENT],
}

impl Lane {
    const EMPTY: Self =
        Self { end: NOWHERE, run: 0, next: 0, low: [low(NOWHERE); RECENT], ends: [NOWHERE; RECENT] };
}

#[inline]
const fn low(end: u64) -> u32 {
    (end >> 9) as u32
}

#[derive(Default)]
struct Totals {
    requests: u64,
    sequential: u64,
    near: u64,
    bytes: u64,
    runs: LogHistogram,
}

/// Counters of one pass over the trace.
#[derive(Default)]
pub(crate) struct Sequentiality {
    lanes: Vec<[Lane; 2]>,
    totals: [Totals; 2],
}

impl Sequentiality {
    pub fn add(&mut self, batch: &RequestBatch) {
        let devices = batch.device.iter().max().map_or(0, |&d| usize::from(d) + 1);
        if devices > self.lanes.len() {
            self.lanes.resize(devices, [Lane::EMPTY; 2]);
        }
        let columns = batch.device.iter().zip(&batch.op).zip(batch.offset.iter().zip(&batch.bytes));
        for ((&device, &op), (&offset, &bytes)) in columns {
            if op == Op::Trim {
                continue;
            }
            let lane = &mut self.lanes[usize::from(device)][op as usize];
            let totals = &mut self.totals[op as usize];
            totals.requests += 1;
            totals.bytes += bytes;
            if offset == lane.end {
                totals.sequential += 1;
                lane.run += bytes;
            } else {
                if lane.run > 0 {
                    totals.runs.add(lane.run, 1);
                }
                lane.run = bytes;
                totals.near += u64::from(lane.ended_at(offset));
            }
            lane.push(offset + bytes);
        }
    }

    pub fn describe(&self) -> SequentialityInfo {
        let [read, write] = [Op::Read, Op::Write].map(|op| {
            let totals = &self.totals[op as usize];
            let mut runs = totals.runs.clone();
            self.lanes.iter().map(|l| l[op as usize].run).filter(|&r| r > 0).for_each(|r| runs.add(r, 1));
            (totals.requests > 0).then(|| OpSequentiality {
                sequential_share: totals.sequential as f64 / totals.requests as f64,
                near_sequential_share: (totals.sequential + totals.near) as f64 / totals.requests as f64,
                runs: runs.total(),
                run_mean_bytes: totals.bytes as f64 / runs.total() as f64,
                run_bytes: runs.describe(|bytes| bytes.round() as u64),
            })
        });
        SequentialityInfo { read, write }
    }
}

impl Lane {
    #[inline]
    fn ended_at(&self, offset: u64) -> bool {
        let wanted = low(offset);
        // Without a branch per element, the compiler compares several at a time.
        let maybe = self.low.iter().fold(false, |any, &l| any | (l == wanted));
        maybe && self.ends.contains(&offset)
    }

    #[inline]
    fn push(&mut self, end: u64) {
        self.end = end;
        self.low[self.next] = low(end);
        self.ends[self.next] = end;
        self.next = (self.next + 1) % RECENT;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sequentiality(requests: &[(u16, Op, u64, u64)]) -> SequentialityInfo {
        let mut out = Sequentiality::default();
        for chunk in requests.chunks(3) {
            let mut batch = RequestBatch::default();
            chunk.iter().for_each(|&(device, op, offset, bytes)| batch.push(0, device, op, offset, bytes));
            out.add(&batch);
        }
        out.describe()
    }

    #[test]
    fn two_streams_taking_turns_are_near_sequential() {
        let turns = |i: u64| (0, Op::Write, ((i % 2) << 30) + (i / 2) * 4096, 4096);
        let info = sequentiality(&(0..100).map(turns).collect::<Vec<_>>());
        let write = info.write.unwrap();
        assert!(info.read.is_none());
        assert_eq!((write.sequential_share, write.near_sequential_share), (0.0, 0.98));
        assert_eq!((write.runs, write.run_mean_bytes, write.run_bytes.p50), (100, 4096.0, Some(4096)));
    }

    #[test]
    fn operations_and_devices_do_not_break_each_others_runs() {
        let of = |i: u64| match i % 4 {
            0 => (0, Op::Write, i * 100, 400),
            1 => (0, Op::Read, 7 << 30, 512),
            2 => (1, Op::Write, 5 << 30, 512),
            _ => (0, Op::Trim, i * 100, 1 << 50),
        };
        let info = sequentiality(&(0..40).map(of).collect::<Vec<_>>());
        let (read, write) = (info.read.unwrap(), info.write.unwrap());
        assert_eq!((read.sequential_share, read.runs), (0.0, 10));
        assert_eq!((write.sequential_share, write.runs), (0.45, 11));
        assert_eq!(write.run_mean_bytes, (4000.0 + 5120.0) / 11.0);
    }

    proptest! {
        #[test]
        fn equals_a_search_of_the_whole_past(
            requests in prop::collection::vec((0u16..2, 0u8..2, 0u64..40, 1u64..4), 1..300),
        ) {
            let requests: Vec<_> = requests.iter()
                .map(|&(d, op, at, n)| (d, [Op::Read, Op::Write][usize::from(op)], at * 300, n * 300)).collect();
            let info = sequentiality(&requests);
            for (op, figures) in [(Op::Read, info.read), (Op::Write, info.write)] {
                let (mut all, mut strict, mut near, mut runs) = (0u64, 0u64, 0u64, 0u64);
                for (i, &(device, is, offset, _)) in requests.iter().enumerate() {
                    let past = requests[..i].iter().rev().filter(|r| r.0 == device && r.1 == op);
                    let ends: Vec<u64> = past.take(32).map(|r| r.2 + r.3).collect();
                    if is == op {
                        all += 1;
                        strict += u64::from(ends.first() == Some(&offset));
                        near += u64::from(ends.contains(&offset));
                        runs += u64::from(ends.first() != Some(&offset));
                    }
                }
                prop_assert_eq!(figures.is_some(), all > 0);
                if let Some(figures) = figures {
                    prop_assert_eq!(figures.sequential_share, strict as f64 / all as f64);
                    prop_assert_eq!(figures.near_sequential_share, near as f64 / all as f64);
                    prop_assert_eq!(figures.runs, runs);
                }
            }
        }
    }
}
