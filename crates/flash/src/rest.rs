//! The rest of blocks between two erases, and the number of programs that blocks endure with it.
//!
//! Time comes from the caller: nanoseconds since counting began, where a block's first interval begins, too.
//!
//! In timed mode the array knows the present time; in functional mode `sim` sets it, second by second. Before the host
//! opens a unit, the FTL asks the array whether blocks can endure more programs (`Flash::endures_more`); the law is
//! `nand`'s.

use floatgate_base::{IdSlice, IdVec, UnitId};
use floatgate_nand::Endurance;
use floatgate_nand::endurance::mean_idle_s;
use serde::{Deserialize, Serialize};

/// Bins per doubling of the time.
const SUB_BINS: usize = 16;
const SUB_BITS: u32 = SUB_BINS.ilog2();
const BINS: usize = (65 - SUB_BITS as usize) * SUB_BINS;

/// Step of the budget, as a share of the nominal one: small enough to query the model again soon.
const STEPS_OF_NOMINAL: u64 = 100;

/// The array's record of times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rest {
    now_ns: u64,
    /// Time of the last erase, by unit; 0 before the first erase.
    erased_ns: IdVec<UnitId, u64>,
    /// Intervals between two erases of a unit, by [`bin_of`].
    intervals: Vec<u64>,
    /// Page programs that the endurance model has admitted so far.
    programs_max: u64,
}

/// Returns the bin of a time: single nanoseconds up to 16, then 16 of equal width per doubling.
fn bin_of(ns: u64) -> usize {
    if ns < SUB_BINS as u64 {
        return ns as usize;
    }
    let exponent = ns.ilog2();
    let sub = (ns >> (exponent - SUB_BITS)) as usize & (SUB_BINS - 1);
    (exponent - SUB_BITS + 1) as usize * SUB_BINS + sub
}

/// Returns the smallest time of a bin, or the largest time for the bin after the last one.
fn bin_from_ns(bin: usize) -> u64 {
    if bin < SUB_BINS {
        return bin as u64;
    }
    let shift = (bin / SUB_BINS - 1) as u32;
    let from = (SUB_BINS + bin % SUB_BINS) as u128;
    u64::try_from(from << shift).unwrap_or(u64::MAX)
}

impl Rest {
    pub(crate) fn new(units: u32) -> Self {
        Self { now_ns: 0, erased_ns: IdVec::filled(0, units), intervals: vec![0; BINS], programs_max: 0 }
    }

    /// Returns whether it belongs to an array with `units` units.
    pub(crate) fn fits(&self, units: usize) -> bool {
        self.erased_ns.len() == units && self.intervals.len() == BINS
    }

    /// Restarts time and counting.
    pub(crate) fn restart(&mut self) {
        self.now_ns = 0;
        self.erased_ns.fill(0);
        self.intervals.fill(0);
        self.programs_max = 0;
    }

    /// Sets the time of further operations; time never decreases.
    #[inline]
    pub(crate) fn set_now(&mut self, now_ns: u64) {
        self.now_ns = self.now_ns.max(now_ns);
    }

    #[inline]
    pub(crate) fn erase(&mut self, unit: UnitId) {
        let before = std::mem::replace(&mut self.erased_ns[unit], self.now_ns);
        self.intervals[bin_of(self.now_ns - before)] += 1;
    }

    /// Returns whether blocks can endure more than so many page programs of a drive of `pages` pages; `wear` is the mean
    /// wear of an erase, as a share of a cycle. With recovery, the budget grows in steps towards the model's limit at
    /// the mean idle time so far.
    pub(crate) fn admits(&mut self, endurance: Endurance, (programs, wear): (u64, f64), pages: u64) -> bool {
        let nominal = pages * u64::from(endurance.pe_cycles());
        let effective = if wear == 1.0 { programs } else { (programs as f64 * wear) as u64 };
        self.programs_max = self.programs_max.max(nominal);
        if !endurance.recovers() {
            return effective < nominal;
        }
        while effective >= self.programs_max {
            let cycles = programs as f64 / pages as f64;
            let idle_s = mean_idle_s(self.now_ns as f64 / 1e9, cycles);
            let most = (endurance.cycles(idle_s) * pages as f64) as u64;
            if most <= self.programs_max {
                return false;
            }
            self.programs_max = most.min(self.programs_max + (nominal / STEPS_OF_NOMINAL).max(1));
        }
        true
    }

    /// Returns the number of recorded intervals of units.
    #[must_use]
    pub fn intervals(&self) -> u64 {
        self.intervals.iter().sum()
    }

    /// Returns the mean over the erased units of their mean interval, seconds; `erases` are those of each unit.
    #[must_use]
    pub fn mean_s(&self, erases: &IdSlice<UnitId, u32>) -> Option<f64> {
        // The intervals of a unit add up to the time of its last erase.
        let erased = self.erased_ns.iter().zip(erases).filter(|&(_, &n)| n > 0);
        let (sum, units) = erased.fold((0.0, 0u64), |(sum, units), (&last_ns, &n)| {
            (sum + last_ns as f64 / f64::from(n), units + 1)
        });
        (units > 0).then(|| sum / units as f64 / 1e9)
    }

    /// Returns a quantile of the intervals, seconds, interpolated within its bin; bins are 6 % wide.
    #[must_use]
    pub fn quantile_s(&self, share: f64) -> Option<f64> {
        let rank = share * self.intervals() as f64;
        let mut below = 0.0;
        for (bin, &n) in self.intervals.iter().enumerate() {
            if n > 0 && below + n as f64 >= rank {
                let (from, to) = (bin_from_ns(bin) as f64, bin_from_ns(bin + 1) as f64);
                return Some((from + (to - from) * (rank - below).max(0.0) / n as f64) / 1e9);
            }
            below += n as f64;
        }
        None
    }

    /// Returns a histogram with four bins per doubling, from the first occupied bin to the last: the edges in seconds,
    /// one more than counts, and the counts of units. Intervals below about a second share one bin from 0.
    #[must_use]
    pub fn histogram_s(&self) -> (Vec<f64>, Vec<u64>) {
        const JOINED: usize = SUB_BINS / 4;
        const SHORT_NS: u64 = 1 << 30;
        let (short, long) = self.intervals.split_at(bin_of(SHORT_NS));
        let joined = long.chunks(JOINED).map(|bins| bins.iter().sum());
        let counts: Vec<u64> = std::iter::once(short.iter().sum()).chain(joined).collect();
        let first = counts.iter().position(|&n| n > 0).unwrap_or(0);
        let end = counts.iter().rposition(|&n| n > 0).map_or(first, |last| last + 1);
        let from_ns = |i: usize| if i == 0 { 0 } else { bin_from_ns(short.len() + (i - 1) * JOINED) };
        let edges = (first..=end).map(|i| from_ns(i) as f64 / 1e9).collect();
        (edges, counts[first..end].to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::Rng;
    use floatgate_nand::endurance::READY_TABLE2;

    #[test]
    fn bins_hold_every_time_once() {
        assert_eq!(bin_of(u64::MAX), BINS - 1);
        assert_eq!(bin_from_ns(BINS), u64::MAX);
        for bin in 0..BINS {
            let (from, to) = (bin_from_ns(bin), bin_from_ns(bin + 1));
            assert!(from < to && bin_of(from) == bin && bin_of(to - 1) == bin || bin == BINS - 1, "{bin}");
            assert!(bin < SUB_BINS || (to - from) as f64 <= from as f64 / 16.0 * 1.000_001);
        }
    }

    #[test]
    fn intervals_begin_where_counting_does() {
        let mut rest = Rest::new(3);
        assert_eq!((rest.mean_s(IdSlice::of(&[0; 3])), rest.quantile_s(0.5)), (None, None));
        // Unit 0 is erased at 10 s and 40 s, unit 1 at 5 s, unit 2 never.
        for (s, unit) in [(5, 1), (10, 0), (40, 0)] {
            rest.set_now(s * 1_000_000_000);
            rest.erase(UnitId(unit));
        }
        rest.set_now(1);
        assert_eq!(rest.now_ns, 40_000_000_000);
        // (40 / 2 + 5 / 1) / 2.
        assert_eq!(rest.mean_s(IdSlice::of(&[2, 1, 0])), Some(12.5));
        assert_eq!(rest.intervals(), 3);
        for (share, due_s) in [(0.3, 5.0), (0.6, 10.0), (1.0, 30.0)] {
            let quantile_s = rest.quantile_s(share).unwrap();
            assert!((quantile_s / due_s - 1.0f64).abs() < 1.0 / 16.0, "{quantile_s}");
        }
        let (edges, counts) = rest.histogram_s();
        assert_eq!((edges.len(), counts.iter().sum::<u64>()), (counts.len() + 1, 3));
        assert!(edges[0] <= 5.0 && edges[1] > 5.0 && edges[edges.len() - 1] > 30.0);
        // At 40 s twice: no rest at all.
        rest.erase(UnitId(0));
        let (edges, counts) = rest.histogram_s();
        assert_eq!((edges[0], counts[0], counts.iter().sum::<u64>()), (0.0, 1, 4));
        rest.restart();
        assert_eq!(rest, Rest::new(3));
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_intervals() {
        for seed in 0..20 {
            let mut rng = Rng::new(seed, "rest");
            let mut rest = Rest::new(50);
            let (mut now, mut erased, mut all) = (0u64, [0u64; 50], Vec::new());
            for _ in 0..2000 {
                let bits = 10 + rng.below(30);
                now += rng.below(1 << bits);
                let unit = rng.below(50) as usize;
                rest.set_now(now);
                rest.erase(UnitId(unit as u32));
                all.push(now - std::mem::replace(&mut erased[unit], now));
            }
            all.sort_unstable();
            for share in [0.1, 0.5, 0.9] {
                let due = all[(share * 2000.0) as usize - 1] as f64 / 1e9;
                let quantile_s = rest.quantile_s(share).unwrap();
                assert!((quantile_s / due - 1.0).abs() < 1.0 / 16.0, "seed {seed}: {quantile_s}, not {due}");
            }
        }
    }

    #[test]
    fn rest_admits_more_programs_a_hundredth_at_a_time() {
        let fixed = Endurance::Fixed { pe_cycles: 3000 };
        let mut rest = Rest::new(1);
        assert!(rest.admits(fixed, (2_999_999, 1.0), 1000) && !rest.admits(fixed, (3_000_000, 1.0), 1000));
        let model = Endurance::Recovery { pe_cycles: 3000, law: READY_TABLE2 };
        // Without time the limit is exact: 3036 cycles.
        let mut rest = Rest::new(1);
        assert!(rest.admits(model, (3_035_000, 1.0), 1000) && !rest.admits(model, (3_037_000, 1.0), 1000));
        // 8615 cycles in five years are the steady point: the drive is worn out at just that time.
        let cycle_s = 5.0 * 8760.0 * 3600.0 / 8615.0;
        let mut rest = Rest::new(1);
        let mut worn_at = None;
        for programs in (0..9_000_000).step_by(500) {
            rest.set_now((programs as f64 / 1000.0 * cycle_s * 1e9) as u64);
            if !rest.admits(model, (programs, 1.0), 1000) {
                worn_at = Some(programs);
                break;
            }
            let nominal = 3_000_000;
            assert!(rest.programs_max <= nominal.max(programs) + nominal / 100);
        }
        assert!(worn_at.is_some_and(|programs| programs.abs_diff(8_615_000) < 2000), "{worn_at:?}");
    }

    /// Erases that wear a block by half a cycle: twice as many programs, whether blocks recover or not.
    #[test]
    fn effective_wear_admits_more_programs() {
        let fixed = Endurance::Fixed { pe_cycles: 3000 };
        let mut rest = Rest::new(1);
        assert!(rest.admits(fixed, (5_999_999, 0.5), 1000) && !rest.admits(fixed, (6_000_000, 0.5), 1000));
        // At 5 hours between two erases blocks endure N effective cycles, so 2 N erases.
        let model = Endurance::Recovery { pe_cycles: 3000, law: READY_TABLE2 };
        let cycles = 2.0 * model.cycles(Some(5.0 * 3600.0));
        for (share, admitted) in [(0.999, true), (1.001, false)] {
            let mut rest = Rest::new(1);
            rest.set_now((share * cycles * 5.0 * 3600.0 * 1e9) as u64);
            let programs = (share * cycles * 1000.0) as u64;
            assert_eq!(rest.admits(model, (programs, 0.5), 1000), admitted, "{share}");
        }
        // An earlier lower wear leaves no budget behind.
        let mut rest = Rest::new(1);
        assert!(rest.admits(fixed, (3_500_000, 0.5), 1000) && !rest.admits(fixed, (3_500_000, 1.0), 1000));
    }
}
