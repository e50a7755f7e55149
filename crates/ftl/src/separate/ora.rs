//! ORA: an oracle that puts pages with similar times of death into the same block.
//!
//! The class of a page follows from the rest of its life, at each write and again at each move; one class is for pages
//! that live on. The workload is read twice: first to learn when data die. The dissertation says "blocks where data
//! with similar update times were already stored" and leaves the classes open. Here their bounds minimize wasted space.
//! Consider a class that takes lives from `a` to `b` and a share `p` of the writes. A block of it is full after `B / p`
//! writes, and is dead at most `b` later; its dead pages wait for it, on average, `b + B / (2 p)` less the mean life.
//! Summed over the classes by their shares, the second term is `B / 2` per class for any bounds, and the mean life is
//! constant. Only `sum p b` is left. The bounds that minimize it are computed exactly from the lives of all pages that
//! the workload writes, among candidates at most an eighth apart. `docs/decisions` lists the alternatives that were
//! tried. Source: dissertation, section 5.1.2. Cost: two look-ups. Memory: 4 bytes per logical page, 4 per host page
//! write of the workload.

use super::foresight::{Foresight, NEVER};
use super::{ChosenPolicy, Moved, Separator, Shape, StreamId, Written};
use floatgate_base::{Lpn, ParamInfo, PolicyInfo};
use serde::{Deserialize, Serialize};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "ora",
    summary: "oracle: pages that die at similar times share a block",
    source: "dissertation on cross-layer optimization of NAND flash storage, section 5.1.2 (ORA)",
    params: &[ParamInfo::whole(
        "streams",
        "streams: one for pages that are never replaced, the others by the rest of a life",
        8,
        (1, STREAMS_MAX),
    )],
    cost: "two look-ups",
    memory: "4 bytes per logical page, 4 per host page write of the workload",
};

/// The most streams.
pub(super) const STREAMS_MAX: u32 = 1024;

/// Lives below this have a bin each; above, half as many bins share an octave.
const FINE: u32 = 16;
/// Bins of all lives of 32 bits.
const BINS: usize = (FINE + (32 - FINE.ilog2()) * FINE / 2) as usize;

/// Returns the bin of a life.
#[inline(always)]
fn bin_of(life: u32) -> usize {
    if life < FINE {
        return life as usize;
    }
    // The four bits below the leading one, without the last.
    let octave = life.ilog2() - FINE.ilog2();
    let step = (life >> (octave + 1)) - FINE / 2;
    (FINE + octave * (FINE / 2) + step) as usize
}

/// Returns the end of a bin: the least life beyond it.
fn end_of(bin: usize) -> u64 {
    let bin = bin as u64;
    let (fine, half) = (u64::from(FINE), u64::from(FINE / 2));
    if bin < fine {
        return bin + 1;
    }
    let (octave, step) = ((bin - fine) / half, (bin - fine) % half);
    (half + step + 1) << (octave + 1)
}

/// Parameters of ORA.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    streams: u32,
}

impl Params {
    pub fn of(settings: &ChosenPolicy) -> Self {
        Self { streams: settings.whole("streams") }
    }

    pub fn streams(self) -> u32 {
        self.streams
    }
}

/// Classes by the rest of lives; the last is for pages that live on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Classes {
    /// Bounds that follow from the lives of a workload.
    Bins {
        streams: u32,
        /// Class of each bin of lives.
        class_of: Vec<StreamId>,
    },
    /// Multiples of a unit's pages, as in FK.
    Units { streams: u32, pages: u32 },
}

impl Classes {
    /// Creates classes whose bounds [`Classes::find`] computes.
    pub fn of_lives(streams: u32) -> Self {
        Self::Bins { streams, class_of: vec![StreamId(0); BINS] }
    }

    /// Creates classes in multiples of `pages`.
    pub fn of_units(streams: u32, pages: u32) -> Self {
        Self::Units { streams, pages }
    }

    /// Returns the class for the rest of a life; none if unlimited.
    #[inline(always)]
    pub fn class(&self, left: Option<u32>) -> StreamId {
        match self {
            Self::Bins { streams, class_of } => {
                left.map_or(StreamId(streams - 1), |left| class_of[bin_of(left)])
            }
            Self::Units { streams, pages } => {
                StreamId(left.map_or(streams - 1, |left| (left / pages).min(streams - 1)))
            }
        }
    }

    /// Computes the bounds from the lives of all writes; returns how many end, and how many do not.
    pub fn find(&mut self, all: impl Iterator<Item = Option<u32>>) -> (u64, u64) {
        let (mut lives, mut lasting) = (vec![0; BINS], 0);
        for life in all {
            match life {
                Some(life) => lives[bin_of(life)] += 1,
                None => lasting += 1,
            }
        }
        if let Self::Bins { streams, class_of } = self {
            *class_of = best_classes(&lives, (*streams).max(2) - 1);
        }
        (lives.iter().sum(), lasting)
    }

    /// Returns the bytes of its table.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Bins { class_of, .. } => class_of.len() as u64 * 4,
            Self::Units { .. } => 0,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    classes: Classes,
    /// Writes of the workload that are replaced, and those that are not.
    mortal: u64,
    lasting: u64,
    future: Foresight,
}

impl State {
    pub fn new(params: &Params, _: &Shape) -> Self {
        let classes = Classes::of_lives(params.streams);
        Self { classes, mortal: 0, lasting: 0, future: Foresight::default() }
    }
}

impl Separator for State {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        let left = self.future.write(page.lpn, page.now);
        self.classes.class(left)
    }

    #[inline(always)]
    fn move_stream(&self, page: &Moved) -> StreamId {
        self.classes.class(self.future.left(page.lpn, page.now))
    }

    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        self.future.prefetch(lpn);
    }

    fn foresight(&self) -> Option<&Foresight> {
        Some(&self.future)
    }

    fn future(&mut self) -> Option<&mut Foresight> {
        Some(&mut self.future)
    }

    fn foreseen(&mut self) {
        let life = |(number, &dies): (u32, &u32)| (dies != NEVER).then(|| dies - number);
        (self.mortal, self.lasting) = self.classes.find((0..).zip(self.future.next()).map(life));
    }

    fn memory_bytes(&self) -> u64 {
        self.future.memory_bytes() + self.classes.bytes()
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        vec![("replaced_writes", self.mortal as f64), ("lasting_writes", self.lasting as f64)]
    }
}

/// Combines neighbouring bins into up to `classes` classes with the least sum, over all lives, of the end of their
/// class.
fn best_classes(lives: &[u64], classes: u32) -> Vec<StreamId> {
    let used = lives.iter().rposition(|&n| n > 0).map_or(0, |last| last + 1);
    let classes = (classes as usize).min(used);
    let mut class_of = vec![StreamId(classes.saturating_sub(1) as u32); lives.len()];
    if classes < 2 {
        return class_of;
    }
    let mut below = vec![0u128; used + 1];
    (0..used).for_each(|bin| below[bin + 1] = below[bin] + u128::from(lives[bin]));
    // Cost of bins `from..to` as one class.
    let cost = |from: usize, to: usize| (below[to] - below[from]) * u128::from(end_of(to - 1));
    // Least cost of the bins below `to` in a number of classes, and where the last of these begins.
    let mut least: Vec<u128> = (0..=used).map(|to| if to == 0 { 0 } else { cost(0, to) }).collect();
    let mut begins: Vec<Vec<usize>> = Vec::with_capacity(classes);
    for done in 1..classes {
        let mut begin = vec![0; used + 1];
        let mut next = least.clone();
        for to in done + 1..=used {
            let all = (done..to).map(|from| (least[from] + cost(from, to), from));
            (next[to], begin[to]) = all.min().expect("there is a bin for each class");
        }
        least = next;
        begins.push(begin);
    }
    let mut to = used;
    for (class, begin) in begins.iter().enumerate().rev() {
        class_of[begin[to]..to].fill(StreamId(class as u32 + 1));
        to = begin[to];
    }
    class_of[..to].fill(StreamId(0));
    class_of
}

#[cfg(test)]
mod tests {
    use super::super::Hints;
    use super::*;
    use floatgate_base::Rng;

    fn state(streams: u32, next: Vec<u32>) -> State {
        let shape =
            Shape { logical_pages: 64, pages_per_unit: 4, units: 8, domains: 1, page_bytes: 4096, seed: 0 };
        let mut state = State::new(&Params { streams }, &shape);
        *state.future().unwrap() = Foresight::new(next, vec![NEVER; 64].into());
        state.future().unwrap().begin_at(0);
        state.foreseen();
        state
    }

    fn write(state: &mut State, lpn: u32, now: u64) -> StreamId {
        state.write(&Written { lpn: Lpn(lpn), update: false, hints: Hints::default(), now })
    }

    #[test]
    fn bins_follow_one_another() {
        assert_eq!([bin_of(0), bin_of(15), bin_of(16), bin_of(17), bin_of(18)], [0, 15, 16, 16, 17]);
        assert_eq!((bin_of(u32::MAX), end_of(BINS - 1)), (BINS - 1, 1 << 32));
        for bin in 1..BINS {
            let first = end_of(bin - 1) as u32;
            assert_eq!((bin_of(first - 1), bin_of(first)), (bin - 1, bin), "{bin}");
            assert!(end_of(bin) - u64::from(first) <= u64::from(first / 8).max(1), "{bin}");
        }
    }

    /// As in Figure 24: eight requests, four of which are updated at about one time, four at about another.
    #[test]
    fn near_update_times_share_a_block() {
        let mut next = vec![50, 89, 51, 87, 52, 90, 49, 88];
        next.resize(60, NEVER);
        let mut state = state(3, next);
        let streams: Vec<_> = (0..8).map(|i| write(&mut state, i, u64::from(i))).collect();
        assert_eq!(streams, [0, 1, 0, 1, 0, 1, 0, 1].map(StreamId));
        assert_eq!(write(&mut state, 9, 8), StreamId(2));
        // A page that is moved later has less of its life left.
        assert_eq!(state.move_stream(&Moved { lpn: Lpn(1), from: StreamId(1), now: 60 }), StreamId(0));
        assert_eq!(state.move_stream(&Moved { lpn: Lpn(9), from: StreamId(2), now: 60 }), StreamId(2));
        assert_eq!(state.figures(), [("replaced_writes", 8.0), ("lasting_writes", 52.0)]);
    }

    /// Compares with all ways to divide the bins.
    #[test]
    fn classes_cost_least() {
        fn least(lives: &[u64], classes: u32) -> u128 {
            let one = u128::from(lives.iter().sum::<u64>()) * u128::from(end_of(lives.len() - 1));
            if classes == 1 {
                return one;
            }
            let cut = |at: usize| {
                let rest: u64 = lives[at..].iter().sum();
                u128::from(rest) * u128::from(end_of(lives.len() - 1)) + least(&lives[..at], classes - 1)
            };
            (1..lives.len()).map(cut).min().map_or(one, |cut| cut.min(one))
        }
        for seed in 0..200 {
            let mut rng = Rng::new(seed, "lives");
            let bins = 1 + rng.below(12) as usize;
            let lives: Vec<u64> = (0..bins).map(|_| rng.below(4) * rng.below(100)).collect();
            let classes = 1 + rng.below(4) as u32;
            let class_of = best_classes(&lives, classes);
            assert!(
                class_of.is_sorted() && class_of.iter().all(|&class| class < StreamId(classes)),
                "seed {seed}"
            );
            let Some(used) = lives.iter().rposition(|&n| n > 0) else { continue };
            let end = |class| end_of((0..=used).rfind(|&bin| class_of[bin] == class).unwrap());
            let cost: u128 = (0..=used).map(|i| u128::from(lives[i]) * u128::from(end(class_of[i]))).sum();
            assert_eq!(cost, least(&lives[..=used], classes), "seed {seed}: {lives:?}, {class_of:?}");
        }
    }

    /// One stream takes all; two separate dying from staying data; a workload that replaces nothing has one class.
    #[test]
    fn few_streams_and_few_lives() {
        let mut one = state(1, vec![3, NEVER, NEVER, NEVER]);
        assert_eq!((write(&mut one, 0, 0), write(&mut one, 1, 1)), (StreamId(0), StreamId(0)));
        let mut two = state(2, vec![3, NEVER, NEVER, NEVER]);
        assert_eq!((write(&mut two, 0, 0), write(&mut two, 1, 1)), (StreamId(0), StreamId(1)));
        let mut none = state(5, vec![NEVER; 4]);
        assert_eq!(write(&mut none, 0, 0), StreamId(4));
    }
}
