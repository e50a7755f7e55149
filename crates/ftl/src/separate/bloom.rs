//! Multiple Bloom filters: a page is hot or cold by the number of recent filters that contain it.
//!
//! The filters take turns: a write enters its page into the next filter, in turn, that does not contain it yet. After a
//! fixed number of writes one filter, in turn, is emptied; each thus covers another stretch of the past. A page's
//! weight is the sum over the filters that contain it. Weights fall in even steps from 2 for the filter emptied last to
//! 2 / V for the next to be emptied. A page is hot from a threshold on. Moved pages use the same filters. Source: Park
//! and Du, MSST 2011: V = 4 filters of 2048 bits, 2 hash functions, 512 writes between two emptyings, weights 2, 1.5,
//! 1, 0.5, threshold 4, which we take as the least hot weight. Cost: a look-up per hash function; emptying a filter
//! passes through all bits. Memory: a byte per bit position, which holds that bit of all filters.

use super::hash::places;
use super::{ChosenPolicy, Moved, Separator, Shape, StreamId, Written};
use floatgate_base::{Lpn, ParamInfo, PolicyInfo};
use serde::{Deserialize, Serialize};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "bloom",
    summary: "hot and cold pages, by several Bloom filters that are emptied in turn",
    source: "Park and Du, MSST 2011",
    params: &[
        ParamInfo::whole("filters", "filters", FILTERS, (1, 8)),
        ParamInfo::whole("filter_bits", "bits per filter", 2048, (1, 1 << 28)),
        ParamInfo::whole("hashes", "hash functions", 2, (1, 16)),
        ParamInfo::whole(
            "empty_every_writes",
            "page writes between two emptyings of a filter",
            512,
            (1, u32::MAX),
        ),
        ParamInfo::real("hot_weight", "weight from which a page is hot", 4.0, (0.0, 9.0)),
    ],
    cost: "a look-up per hash function",
    memory: "a byte per bit of a filter",
};

const FILTERS: u32 = 4;
const HOT: StreamId = StreamId(0);
const COLD: StreamId = StreamId(1);
/// Weight of the filter that was emptied last.
const WEIGHT_MAX: f64 = 2.0;

/// Parameters of multiple Bloom filters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    filters: u32,
    filter_bits: u32,
    hashes: u32,
    empty_every: u32,
    hot_weight: f64,
}

impl Params {
    pub fn of(settings: &ChosenPolicy) -> Self {
        Self {
            filters: settings.whole("filters"),
            filter_bits: settings.whole("filter_bits"),
            hashes: settings.whole("hashes"),
            empty_every: settings.whole("empty_every_writes"),
            hot_weight: settings.real("hot_weight"),
        }
    }

    pub fn streams(self) -> u32 {
        2
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    /// By position: bit v belongs to filter v.
    bits: Vec<u8>,
    filters: u32,
    hashes: u32,
    empty_every: u32,
    hot_weight: f64,
    /// Filter whose turn it is to take a page.
    turn: u32,
    /// Filter that was emptied last.
    newest: u32,
    /// Writes until the next emptying.
    left: u32,
    /// For each set of filters, one bit: whether a page in exactly these filters is hot.
    hot: [u64; 4],
}

impl State {
    pub fn new(params: &Params, _: &Shape) -> Self {
        let Params { filters, filter_bits, hashes, empty_every, hot_weight } = *params;
        let bits = vec![0; filter_bits as usize];
        let (turn, newest, left) = (0, filters - 1, empty_every);
        let mut new =
            Self { bits, filters, hashes, empty_every, hot_weight, turn, newest, left, hot: [0; 4] };
        new.weigh();
        new
    }

    /// Returns the filters that contain a page, as bits.
    #[inline(always)]
    fn knowing(&self, lpn: Lpn) -> u8 {
        places(lpn, self.hashes, self.bits.len()).fold(u8::MAX, |known, place| known & self.bits[place])
    }

    #[inline(always)]
    fn stream(&self, knowing: u8) -> StreamId {
        if self.hot[usize::from(knowing >> 6)] >> (knowing & 63) & 1 == 1 { HOT } else { COLD }
    }

    /// Computes which sets of filters make a page hot.
    fn weigh(&mut self) {
        let step = WEIGHT_MAX / f64::from(self.filters);
        // The newest was emptied last; the one after it is the next to be emptied, and so the oldest.
        let steps = |filter: u32| (filter + self.filters - self.newest - 1) % self.filters + 1;
        let mut hot = [0; 4];
        for set in 0..1u32 << self.filters {
            let steps: u32 = (0..self.filters).filter(|filter| set >> filter & 1 == 1).map(steps).sum();
            if f64::from(steps) * step >= self.hot_weight {
                hot[set as usize >> 6] |= 1 << (set & 63);
            }
        }
        self.hot = hot;
    }

    #[cold]
    fn empty_oldest(&mut self) {
        self.left = self.empty_every;
        self.newest = (self.newest + 1) % self.filters;
        let keep = !(1u8 << self.newest);
        self.bits.iter_mut().for_each(|bits| *bits &= keep);
        self.weigh();
    }
}

impl Separator for State {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        let mut knowing = self.knowing(page.lpn);
        let lacking =
            (0..self.filters).map(|i| (self.turn + i) % self.filters).find(|f| knowing >> f & 1 == 0);
        if let Some(filter) = lacking {
            let bit = 1 << filter;
            for place in places(page.lpn, self.hashes, self.bits.len()) {
                self.bits[place] |= bit;
            }
            knowing |= bit;
            self.turn = (filter + 1) % self.filters;
        }
        let stream = self.stream(knowing);
        self.left -= 1;
        if self.left == 0 {
            self.empty_oldest();
        }
        stream
    }

    #[inline(always)]
    fn move_stream(&self, page: &Moved) -> StreamId {
        self.stream(self.knowing(page.lpn))
    }

    fn memory_bytes(&self) -> u64 {
        self.bits.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_shape;
    use super::*;
    use floatgate_base::Rng;

    fn state(filters: u32, empty_every: u32, hot_weight: f64) -> State {
        let params = Params { filters, filter_bits: 1 << 20, hashes: 2, empty_every, hot_weight };
        State::new(&params, &test_shape(100))
    }

    fn write(state: &mut State, lpn: u32) -> StreamId {
        state.write(&Written { lpn: Lpn(lpn), update: true, hints: Default::default(), now: 0 })
    }

    #[test]
    fn writes_fill_the_filters_in_turn_and_time_empties_them() {
        let mut state = state(4, 5, 4.0);
        // At first filter 3 counts as the newest, so the weights of 0 to 3 are 0.5, 1, 1.5 and 2.
        let streams: Vec<_> = (0..5).map(|_| write(&mut state, 7)).collect();
        assert_eq!(streams, [COLD, COLD, COLD, HOT, HOT], "weights 0.5, 1.5, 3, 5, 5");
        // Filter 0 was emptied and weighs 2 now, 1 to 3 weigh 0.5, 1 and 1.5.
        let moved = |state: &State| state.move_stream(&Moved { lpn: Lpn(7), from: HOT, now: 0 });
        assert_eq!((state.knowing(Lpn(7)), moved(&state)), (0b1110, COLD), "weight 3");
        assert_eq!((write(&mut state, 7), state.knowing(Lpn(7))), (HOT, 0b1111));
        // 4 writes of other pages empty filter 1: page 7 is left in 2, 3 and 0, with weights 0.5, 1 and 1.5.
        (20..24).for_each(|lpn| assert_eq!(write(&mut state, lpn), COLD));
        assert_eq!((state.knowing(Lpn(7)), moved(&state)), (0b1101, COLD));
        // Filters 2, 3 and 0 are emptied in the same way.
        (30..45).for_each(|lpn| assert_eq!(write(&mut state, lpn), COLD));
        assert_eq!(state.knowing(Lpn(7)), 0);
    }

    /// Compares with sets of pages instead of filters: with this many bits no two pages collide.
    #[test]
    fn agrees_with_sets_and_summed_weights() {
        for seed in 0..20 {
            let mut rng = Rng::new(seed, "bloom test");
            let filters = 1 + rng.below(8) as u32;
            let (every, hot_weight) = (1 + rng.below(40) as u32, rng.below(10) as f64 / 2.0);
            let mut state = state(filters, every, hot_weight);
            // Known pages of each filter, and when it was emptied.
            let mut sets: Vec<(Vec<u32>, i64)> = (0..filters).map(|f| (vec![], i64::from(f) - 100)).collect();
            let mut turn = 0;
            for step in 0..1500i64 {
                let range = 1 + rng.below(30);
                let lpn = rng.below(range) as u32;
                for _ in 0..filters {
                    let set = &mut sets[turn].0;
                    turn = (turn + 1) % filters as usize;
                    if !set.contains(&lpn) {
                        set.push(lpn);
                        break;
                    }
                }
                let mut by_age = sets.clone();
                by_age.sort_by_key(|&(_, emptied)| emptied);
                let steps = by_age.iter().enumerate().filter(|(_, (set, _))| set.contains(&lpn));
                let weight: f64 = steps.map(|(rank, _)| 2.0 * (rank + 1) as f64 / f64::from(filters)).sum();
                if (weight - hot_weight).abs() > 1e-9 {
                    let expected = if weight > hot_weight { HOT } else { COLD };
                    assert_eq!(write(&mut state, lpn), expected, "seed {seed} step {step}");
                } else {
                    write(&mut state, lpn);
                }
                if (step + 1) % i64::from(every) == 0 {
                    let oldest = sets.iter_mut().min_by_key(|(_, emptied)| *emptied).unwrap();
                    *oldest = (vec![], step);
                }
            }
        }
    }
}
