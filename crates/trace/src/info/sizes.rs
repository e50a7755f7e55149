//! Sizes of requests by operation, and the alignment of their first bytes.
//!
//! Cost: one addition per request for whole sectors up to 1 MiB, a look-up for others. At most [`OTHERS_MAX`] other
//! sizes are distinguished; later ones are counted by power of two.

use floatgate_base::{Op, RequestBatch};
use rustc_hash::FxHashMap;
use serde::Serialize;

const SECTOR: u64 = 512;
/// Whole sectors up to 1 MiB have a counter each.
const SECTORS: usize = 2048;
const OTHERS_MAX: usize = 4096;
/// Most sizes that the histogram lists one by one.
const LISTED_MAX: usize = 128;
/// Alignments: less than a sector, then powers of two from 512 bytes to 1 MiB.
const ALIGNMENTS: usize = 13;

/// Sizes of the requests of one operation.
#[derive(Clone, Debug, Serialize)]
pub struct OpSizes {
    /// Number of distinct sizes; null if there are too many to distinguish.
    pub distinct: Option<u64>,
    /// Smallest, in bytes.
    pub min: u64,
    /// 10 % quantile in bytes.
    pub p10: u64,
    /// 25 % quantile in bytes.
    pub p25: u64,
    /// Median in bytes.
    pub p50: u64,
    /// 75 % quantile in bytes.
    pub p75: u64,
    /// 90 % quantile in bytes.
    pub p90: u64,
    /// 99 % quantile in bytes.
    pub p99: u64,
    /// Largest, in bytes.
    pub max: u64,
    /// Number of requests by size.
    pub histogram: SizeHistogram,
}

/// Requests by size, as columns.
#[derive(Clone, Debug, Serialize)]
pub struct SizeHistogram {
    /// Whether each row is one size (`from` = `to`); else each spans a power of two up to below the next.
    pub exact: bool,
    /// Smallest size of the row in bytes.
    pub from: Vec<u64>,
    /// Largest size of the row in bytes.
    pub to: Vec<u64>,
    /// Requests.
    pub count: Vec<u64>,
}

/// Sizes by operation; null if the trace has no such request.
#[derive(Clone, Debug, Serialize)]
pub struct SizesInfo {
    /// Reads.
    pub read: Option<OpSizes>,
    /// Writes.
    pub write: Option<OpSizes>,
    /// TRIMs.
    pub trim: Option<OpSizes>,
}

/// Requests by the largest power of two that divides their first byte's address, as columns.
#[derive(Clone, Debug, Serialize)]
pub struct AlignmentInfo {
    /// The power of two: 1 stands for all below 512, 1048576 for all from there on (and for address 0).
    pub offset_multiple_of: Vec<u64>,
    /// Reads.
    pub reads: Vec<u64>,
    /// Writes.
    pub writes: Vec<u64>,
    /// TRIMs.
    pub trims: Vec<u64>,
}

/// Counters of one pass over the trace.
pub(crate) struct Sizes {
    ops: [Counts; 3],
    alignment: [[u64; ALIGNMENTS]; 3],
}

impl Default for Sizes {
    fn default() -> Self {
        Self { ops: std::array::from_fn(|_| Counts::default()), alignment: [[0; ALIGNMENTS]; 3] }
    }
}

struct Counts {
    sectors: Vec<u64>,
    others: FxHashMap<u64, u64>,
    /// Sizes after `others` was full, by power of two.
    late: [u64; 64],
    others_max: usize,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            sectors: vec![0; SECTORS + 1],
            others: FxHashMap::default(),
            late: [0; 64],
            others_max: OTHERS_MAX,
        }
    }
}

impl Sizes {
    pub fn add(&mut self, batch: &RequestBatch) {
        for ((&op, &offset), &bytes) in batch.op.iter().zip(&batch.offset).zip(&batch.bytes) {
            // A zero at 1 MiB ends the count there; below a sector all are one class.
            let zeros = (offset | 1 << 20).trailing_zeros();
            self.alignment[op as usize][zeros.saturating_sub(8) as usize] += 1;
            let counts = &mut self.ops[op as usize];
            if bytes % SECTOR == 0 && bytes <= SECTORS as u64 * SECTOR {
                counts.sectors[(bytes / SECTOR) as usize] += 1;
            } else {
                counts.add_other(bytes);
            }
        }
    }

    pub fn describe(&self) -> (SizesInfo, AlignmentInfo) {
        let [read, write, trim] = [Op::Read, Op::Write, Op::Trim].map(|op| self.ops[op as usize].describe());
        let [reads, writes, trims] = self.alignment.map(|counts| counts.to_vec());
        let powers = (0..ALIGNMENTS).map(|i| if i == 0 { 1 } else { 1 << (i + 8) });
        (
            SizesInfo { read, write, trim },
            AlignmentInfo { offset_multiple_of: powers.collect(), reads, writes, trims },
        )
    }
}

impl Counts {
    fn add_other(&mut self, bytes: u64) {
        if let Some(n) = self.others.get_mut(&bytes) {
            *n += 1;
        } else if self.others.len() < self.others_max {
            self.others.insert(bytes, 1);
        } else {
            self.late[bytes.ilog2() as usize] += 1;
        }
    }

    fn describe(&self) -> Option<OpSizes> {
        let sectors = self.sectors.iter().enumerate().map(|(i, &n)| (i as u64 * SECTOR, n));
        let late = self.late.iter().enumerate().map(|(i, &n)| (1 << i, n));
        let others = self.others.iter().map(|(&bytes, &n)| (bytes, n));
        let mut rows: Vec<(u64, u64)> = sectors.chain(others).chain(late).filter(|&(_, n)| n > 0).collect();
        rows.sort_unstable();
        let exact = self.late.iter().all(|&n| n == 0);
        let total: u64 = rows.iter().map(|&(_, n)| n).sum();
        let at = |q: f64| {
            let rank = (q * total as f64).ceil() as u64;
            let mut up_to = 0;
            let row = rows.iter().find(|&&(_, n)| {
                up_to += n;
                up_to >= rank
            });
            row.map_or(0, |&(bytes, _)| bytes)
        };
        Some(OpSizes {
            distinct: exact.then_some(rows.len() as u64),
            min: rows.first()?.0,
            p10: at(0.1),
            p25: at(0.25),
            p50: at(0.5),
            p75: at(0.75),
            p90: at(0.9),
            p99: at(0.99),
            max: rows.last()?.0,
            histogram: histogram(&rows, exact && rows.len() <= LISTED_MAX),
        })
    }
}

/// Returns the rows unchanged, or combined by power of two.
fn histogram(rows: &[(u64, u64)], exact: bool) -> SizeHistogram {
    if exact {
        let sizes: Vec<u64> = rows.iter().map(|row| row.0).collect();
        return SizeHistogram {
            exact,
            from: sizes.clone(),
            to: sizes,
            count: rows.iter().map(|row| row.1).collect(),
        };
    }
    let mut classes = [0; 64];
    rows.iter().for_each(|&(bytes, n)| classes[bytes.ilog2() as usize] += n);
    let used: Vec<usize> = (0..64).filter(|&i| classes[i] > 0).collect();
    SizeHistogram {
        exact,
        from: used.iter().map(|&i| 1 << i).collect(),
        to: used.iter().map(|&i| u64::MAX >> (63 - i)).collect(),
        count: used.iter().map(|&i| classes[i]).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sizes(requests: &[(Op, u64, u64)]) -> Sizes {
        let mut batch = RequestBatch::default();
        requests.iter().for_each(|&(op, offset, bytes)| batch.push(0, 0, op, offset, bytes));
        let mut sizes = Sizes::default();
        sizes.add(&batch);
        sizes
    }

    #[test]
    fn few_sizes_are_listed_one_by_one() {
        let (info, alignment) = sizes(&[
            (Op::Write, 0, 4096),
            (Op::Write, 4096, 4096),
            (Op::Write, 512, 100),
            (Op::Write, 1, 2 << 20),
            (Op::Trim, 3 << 20, 1 << 60),
        ])
        .describe();
        assert!(info.read.is_none());
        let write = info.write.unwrap();
        assert_eq!((write.distinct, write.min, write.p50, write.max), (Some(3), 100, 4096, 2 << 20));
        assert!(write.histogram.exact);
        assert_eq!(write.histogram.from, [100, 4096, 2 << 20]);
        assert_eq!(write.histogram.count, [1, 2, 1]);
        assert_eq!(info.trim.unwrap().p99, 1 << 60);
        assert_eq!(alignment.offset_multiple_of[..3], [1, 512, 1024]);
        assert_eq!(alignment.writes, [1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(alignment.trims[12], 1);
    }

    #[test]
    fn many_sizes_are_joined_by_power_of_two() {
        let (info, _) = sizes(&(1..=1000).map(|i| (Op::Read, 0, i)).collect::<Vec<_>>()).describe();
        let read = info.read.unwrap();
        assert_eq!(
            (read.distinct, read.p10, read.p50, read.p99, read.max),
            (Some(1000), 100, 500, 990, 1000)
        );
        assert!(!read.histogram.exact);
        assert_eq!(read.histogram.from, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]);
        assert_eq!(read.histogram.to[9], 1023);
        assert_eq!(read.histogram.count, [1, 2, 4, 8, 16, 32, 64, 128, 256, 489]);
    }

    #[test]
    fn sizes_beyond_the_limit_still_count() {
        let mut counts = Counts { others_max: 2, ..Counts::default() };
        [1, 3, 1, 5, 6, 7].iter().for_each(|&bytes| counts.add_other(bytes));
        let sizes = counts.describe().unwrap();
        assert_eq!((sizes.distinct, sizes.min), (None, 1));
        assert_eq!(sizes.histogram.from, [1, 2, 4]);
        assert_eq!(sizes.histogram.count, [2, 1, 3]);
    }

    proptest! {
        #[test]
        fn quantiles_equal_those_of_the_sorted_list(mut bytes in prop::collection::vec(1u64..3_000_000, 1..200)) {
            let (info, _) = sizes(&bytes.iter().map(|&b| (Op::Write, 0, b)).collect::<Vec<_>>()).describe();
            bytes.sort_unstable();
            let at = |q: f64| bytes[(q * bytes.len() as f64).ceil() as usize - 1];
            let write = info.write.unwrap();
            prop_assert_eq!([write.p10, write.p50, write.p99], [at(0.1), at(0.5), at(0.99)]);
            prop_assert_eq!(write.histogram.count.iter().sum::<u64>(), bytes.len() as u64);
        }
    }
}
