//! Start addresses of requests: number of accesses, and membership in patterns.

use super::strongest::Key;
use floatgate_base::Op;
use rustc_hash::FxHashMap;
use serde::Serialize;

/// Most addresses that are followed.
const ADDRESSES_MAX: usize = 1 << 22;
/// Fewest writes of a frequent address (the paper: "flushed not less than 4 times").
const FREQUENT_WRITES: u32 = 4;
/// Rows of addresses by their number of accesses; the last row covers this many or more.
const TIMES: usize = 4;

/// State of one address.
#[derive(Clone, Copy, Debug, Default)]
struct Address {
    reads: u32,
    writes: u32,
    in_pattern: bool,
}

/// The addresses of a trace; beyond a limit, a sample of them by their hash.
#[derive(Debug)]
pub(super) struct Addresses {
    seen: FxHashMap<Key, Address>,
    most: usize,
    /// Addresses are followed if their hash begins with so many zeros.
    zeros: u32,
}

impl Default for Addresses {
    fn default() -> Self {
        Self::with_most(ADDRESSES_MAX)
    }
}

impl Addresses {
    /// Creates counters that follow at most `most` addresses.
    pub fn with_most(most: usize) -> Self {
        Self { seen: FxHashMap::default(), most, zeros: 0 }
    }

    /// Counts a read or a write.
    pub fn access(&mut self, key: Key, op: Op) {
        if self.zeros > 0 && hash(key).leading_zeros() < self.zeros {
            return;
        }
        let address = self.seen.entry(key).or_default();
        let count = if op == Op::Read { &mut address.reads } else { &mut address.writes };
        *count = count.saturating_add(1);
        while self.seen.len() > self.most {
            self.zeros += 1;
            let zeros = self.zeros;
            self.seen.retain(|&key, _| hash(key).leading_zeros() >= zeros);
        }
    }

    /// Marks an address as part of a pattern.
    pub fn in_pattern(&mut self, key: Key) {
        if let Some(address) = self.seen.get_mut(&key) {
            address.in_pattern = true;
        }
    }

    pub fn describe(&self) -> AddressFigures {
        let count =
            |is: &dyn Fn(&Address) -> bool| self.seen.values().filter(|address| is(address)).count() as u64;
        let often = |address: &Address| address.writes >= FREQUENT_WRITES;
        let (written, in_patterns) = (count(&|a| a.writes > 0), count(&|a| a.in_pattern));
        let (frequent, together) = (count(&often), count(&|a| often(a) && a.in_pattern));
        let accesses = self.by_times(|a| a.reads.saturating_add(a.writes));
        let reads = self.by_times(|a| a.reads);
        AddressFigures {
            sampled_share: (0.5f64).powi(self.zeros as i32),
            accessed: self.seen.len() as u64,
            written,
            in_patterns,
            accessed_over_4_share: accesses.share(TIMES),
            read_once_share: reads.share(0),
            frequent: FrequentFigures {
                writes_min: FREQUENT_WRITES,
                addresses: frequent,
                in_patterns: together,
                share: share(together, frequent),
            },
            accesses,
            reads,
        }
    }

    fn by_times(&self, times: impl Fn(&Address) -> u32) -> Times {
        let mut addresses = vec![0; TIMES + 1];
        for times in self.seen.values().map(times).filter(|&times| times > 0) {
            addresses[(times as usize - 1).min(TIMES)] += 1;
        }
        Times { from: (1..=TIMES as u32 + 1).collect(), addresses }
    }
}

/// Hashes an address over all bits.
fn hash((device, offset): Key) -> u64 {
    let mixed = (offset ^ u64::from(device) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// Returns a share of a whole, unless the whole is 0.
pub(super) fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Distinct start addresses of reads and writes; the counts are those of the sample, if sampled.
#[derive(Clone, Debug, Serialize)]
pub struct AddressFigures {
    /// Share of the addresses that were followed; 1 means all.
    pub sampled_share: f64,
    /// Addresses read or written.
    pub accessed: u64,
    /// Addresses written.
    pub written: u64,
    /// Addresses in any pattern.
    pub in_patterns: u64,
    /// Figure 2(a): share of the addresses that are read or written more than 4 times.
    pub accessed_over_4_share: Option<f64>,
    /// Figure 2(c): share of the addresses read that are read once.
    pub read_once_share: Option<f64>,
    /// Figure 2(b).
    pub frequent: FrequentFigures,
    /// Figure 2(a): addresses by how often they are read or written.
    pub accesses: Times,
    /// Figure 2(c): addresses by how often they are read.
    pub reads: Times,
}

/// Frequently written addresses.
#[derive(Clone, Debug, Serialize)]
pub struct FrequentFigures {
    /// Fewest writes of these addresses.
    pub writes_min: u32,
    /// Their number.
    pub addresses: u64,
    /// Number of them in any pattern.
    pub in_patterns: u64,
    /// Share of those in patterns.
    pub share: Option<f64>,
}

/// Addresses by their number of operations.
#[derive(Clone, Debug, Serialize)]
pub struct Times {
    /// Number of operations; the last entry covers this many or more.
    pub from: Vec<u32>,
    /// Addresses.
    pub addresses: Vec<u64>,
}

impl Times {
    fn share(&self, entry: usize) -> Option<f64> {
        share(self.addresses[entry], self.addresses.iter().sum())
    }
}
