//! Hash: a page is hot or cold by a counting table of hashed addresses.
//!
//! Each write increments the counters that several hash functions select for its page; a page is hot while all of them
//! reach the threshold. After a fixed number of writes all counters are halved. Moved pages use the same table. Source:
//! Hsieh, Kuo, Chang, ACM TOS 2(1), 2006. The dissertation's HASH (section 5.1.3) does not print its parameters; the
//! defaults are those of the source. They are two functions, 4096 counters of 4 bits, hot from 4 on (one of the two
//! upper bits is set), halved once per as many writes as counters. Cost: a look-up per function. Memory: a byte per
//! counter.

use super::{ChosenPolicy, Moved, Separator, Shape, StreamId, Written};
use floatgate_base::{Lpn, ParamInfo, PolicyInfo};
use serde::{Deserialize, Serialize};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "hash",
    summary: "hot and cold pages, by a counting table of hashed addresses that is halved periodically",
    source: "Hsieh, Kuo, Chang, ACM TOS 2006",
    params: &[
        ParamInfo::whole("counters", "counters of the table", 4096, (1, 1 << 28)),
        ParamInfo::whole("hashes", "hash functions", 2, (1, 16)),
        ParamInfo::whole("hot_from", "count from which a page is hot", 4, (1, 15)),
        ParamInfo::whole("halve_every_writes", "page writes between two halvings", 4096, (1, u32::MAX)),
    ],
    cost: "a look-up per hash function",
    memory: "a byte per counter",
};

const HOT: StreamId = StreamId(0);
const COLD: StreamId = StreamId(1);
/// Counters have 4 bits.
const COUNT_MAX: u8 = 15;

/// Parameters of HASH.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    counters: u32,
    hashes: u32,
    hot_from: u8,
    halve_every: u32,
}

impl Params {
    pub fn of(settings: &ChosenPolicy) -> Self {
        Self {
            counters: settings.whole("counters"),
            hashes: settings.whole("hashes"),
            hot_from: settings.whole("hot_from") as u8,
            halve_every: settings.whole("halve_every_writes"),
        }
    }

    pub fn streams(self) -> u32 {
        2
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    table: Vec<u8>,
    hashes: u32,
    hot_from: u8,
    halve_every: u32,
    /// Writes until the next halving.
    left: u32,
}

/// Yields the positions of a page in a table: two mixed halves, combined linearly (Kirsch and Mitzenmacher, ESA 2006).
#[inline(always)]
pub(super) fn places(lpn: Lpn, hashes: u32, size: usize) -> impl Iterator<Item = usize> {
    // The finalizer of SplitMix64.
    let mut x = u64::from(lpn.0).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^= x >> 31;
    let (first, step, size) = (x >> 32, x & 0xffff_ffff | 1, size as u64);
    // Multiply-shift over 32 bits: no division.
    (0..u64::from(hashes))
        .map(move |i| (((first.wrapping_add(i.wrapping_mul(step)) & 0xffff_ffff) * size) >> 32) as usize)
}

impl State {
    pub fn new(params: &Params, _: &Shape) -> Self {
        let Params { counters, hashes, hot_from, halve_every } = *params;
        Self { table: vec![0; counters as usize], hashes, hot_from, halve_every, left: halve_every }
    }

    #[inline(always)]
    fn stream(&self, lpn: Lpn) -> StreamId {
        // Check all counters, hot or not: that costs less than an unpredictable branch.
        let places = places(lpn, self.hashes, self.table.len());
        let hot = places.fold(true, |hot, place| hot & (self.table[place] >= self.hot_from));
        if hot { HOT } else { COLD }
    }
}

impl Separator for State {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        for place in places(page.lpn, self.hashes, self.table.len()) {
            let count = &mut self.table[place];
            *count = (*count + 1).min(COUNT_MAX);
        }
        // After the increments: two functions may share a counter.
        let stream = self.stream(page.lpn);
        self.left -= 1;
        if self.left == 0 {
            self.left = self.halve_every;
            self.table.iter_mut().for_each(|count| *count >>= 1);
        }
        stream
    }

    #[inline(always)]
    fn move_stream(&self, page: &Moved) -> StreamId {
        self.stream(page.lpn)
    }

    fn memory_bytes(&self) -> u64 {
        self.table.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::Hints;
    use super::*;

    fn state(counters: u32, hot_from: u8, halve_every: u32) -> State {
        let shape =
            Shape { logical_pages: 100, pages_per_unit: 4, units: 8, domains: 1, page_bytes: 4096, seed: 0 };
        State::new(&Params { counters, hashes: 2, hot_from, halve_every }, &shape)
    }

    fn write(state: &mut State, lpn: u32) -> StreamId {
        state.write(&Written { lpn: Lpn(lpn), update: true, hints: Hints::default(), now: 0 })
    }

    #[test]
    fn a_page_is_hot_from_its_nth_write_until_counts_are_halved() {
        let mut state = state(1 << 20, 4, 6);
        let streams: Vec<_> = (0..6).map(|_| write(&mut state, 7)).collect();
        assert_eq!(streams, [COLD, COLD, COLD, HOT, HOT, HOT]);
        // 6 became 3 after the sixth write.
        assert_eq!(state.move_stream(&Moved { lpn: Lpn(7), from: HOT, now: 6 }), COLD);
        assert_eq!(write(&mut state, 7), HOT);
        assert_eq!(state.move_stream(&Moved { lpn: Lpn(8), from: HOT, now: 6 }), COLD);
    }

    #[test]
    fn counts_stay_within_four_bits() {
        let mut state = state(16, 15, 1000);
        for _ in 0..600 {
            write(&mut state, 7);
        }
        assert!(state.table.iter().all(|&count| count <= COUNT_MAX));
        assert_eq!(write(&mut state, 7), HOT);
    }
}
