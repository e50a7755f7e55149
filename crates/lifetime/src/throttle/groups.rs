//! Page writes that follow one another at even distances and pass in small groups.
//!
//! Under regulators that add up periods, the gate admits at once what fits into the limit of the present period. A
//! host that is delayed to about the capacity writes one such group after another, each of a few pages. This file does
//! the same steps with integers, in fewer cycles, and to the same last digit.
//!
//! Bytes are counted in units in the last place of the bytes used. As long as these stay within a power of two, a
//! group adds the same whole number of units each time. The limit follows a line, from which rounding moves it by at
//! most two units; a group that would be decided by so little is left to the gate.

use super::periods::Periods;
use super::record::Record;

/// Least number of groups that take longer one by one.
const GROUPS_MIN: u64 = 8;

/// The bits of a number that hold its power of two.
const POWER: u64 = 0x7ff << 52;
/// Fractions of a unit.
const FRACTIONS: f64 = 16_384.0;
/// Units by which limit and thresholds may be off.
const NEAR: i64 = 4 << 14;
/// Most units of a group; keeps all sums within 64 bits.
const UNITS_MAX: f64 = 1e14;
/// Most periods at once; keeps the sum of rounded fractions below a unit.
const PERIODS_MAX: u64 = 1 << 14;

/// Least cost of a page in units; below it, most groups would be left to the gate.
const UNITS_MIN: f64 = 1e3;

/// A group of so many page writes.
#[derive(Clone, Copy)]
struct Group {
    /// Units that it adds to the bytes used.
    units: f64,
    /// Fractions by which it reduces the room, after the shares of the whole periods that it takes.
    less: i64,
    /// Rest of its time in the last period, nanoseconds.
    rest_ns: i64,
}

/// Groups of one of three neighbouring numbers of pages.
struct Groups {
    fewest: u64,
    sizes: [Group; 3],
    /// Room from which on a group has each of the numbers, and one page more; in fractions, as the share of a period.
    bounds: [i64; 4],
    share: i64,
    period_ns: i64,
    /// Most groups, and page writes after which no group begins.
    most: u64,
    within: u64,
}

/// Returns -1 if `at` has reached `bound`, else 0: a choice without a branch.
#[inline]
fn reached(at: i64, bound: i64) -> i64 {
    (bound - 1 - at) >> 63
}

impl Periods {
    /// Charges the first of `pages` page writes, group by group, and returns their number. The first leaves at
    /// `first_ns`, in the current period, and each other one `distance_ns` later; `in_limit` of them fit into the limit.
    /// Stops before a page that may have to wait, before the last group, and near the end of the epoch.
    pub fn admit_groups<R: Record>(
        &mut self,
        (first_ns, distance_ns, pages): (u64, u64, u64),
        in_limit: u64,
        record: &R,
    ) -> u64 {
        let s = &self.state;
        let is_long = in_limit > 0 && pages / GROUPS_MIN > in_limit;
        if !is_long || !self.adds_up() || s.free || record.is_close(first_ns, s.epoch.end_ns) {
            return 0;
        }
        let unit = f64::from_bits(s.used_bytes.to_bits() & POWER) * f64::EPSILON;
        let Some(groups) = self.groups((first_ns, distance_ns, pages), in_limit, unit) else { return 0 };
        let room = fractions(s.limit_bytes - s.used_bytes, unit);
        let [all, middles, larges] =
            groups.pass(room, self.setup.params.period_ns - (s.period_end_ns - first_ns));
        let [small, middle, large] = groups.sizes.map(|size| size.units);
        let units =
            (all - middles) as f64 * small + (middles - larges) as f64 * middle + larges as f64 * large;
        self.state.used_bytes += units * unit;
        let passed = groups.fewest * all + middles + larges;
        if let Some(foreseen) = &mut self.foreseen {
            foreseen.spend(passed);
        }
        passed
    }

    /// Returns the groups of a run of page writes; None if their bytes are no whole numbers of units that stay the same.
    fn groups(
        &self,
        (first_ns, distance_ns, pages): (u64, u64, u64),
        in_limit: u64,
        unit: f64,
    ) -> Option<Groups> {
        let (s, e, period_ns) = (&self.state, &self.state.epoch, self.setup.params.period_ns);
        let fewest = in_limit.saturating_sub(1).max(1);
        // The last period of an epoch may be a shorter one.
        let until_ns = e.end_ns.saturating_sub(period_ns);
        let in_epoch = until_ns.saturating_sub(first_ns) / distance_ns.max(1);
        let within = pages.min(in_epoch).checked_sub(fewest + 3)?;
        let periods_per_page = distance_ns / period_ns + 1;
        let after_bytes = s.used_bytes + (pages + fewest + 4) as f64 * s.page_flash_bytes;
        let before_bytes = e.used_bytes + e.carried_bytes + e.spare_bytes;
        let page_bytes = s.page_flash_bytes + s.share_bytes * periods_per_page as f64;
        let is_even = s.used_bytes > 0.0
            && after_bytes < 2.0 * unit / f64::EPSILON
            && e.capacity_bytes <= before_bytes
            && s.page_flash_bytes > UNITS_MIN * unit
            && (fewest + 4) as f64 * page_bytes < UNITS_MAX * unit;
        if !is_even {
            return None;
        }
        let share = fractions(s.share_bytes, unit);
        let sizes = [0, 1, 2].map(|more| {
            let (bytes, span_ns) =
                ((fewest + more) as f64 * s.page_flash_bytes, (fewest + more) * distance_ns);
            let units = (bytes / unit).round();
            let less = units as i64 * FRACTIONS as i64 - (span_ns / period_ns) as i64 * share;
            Group { units, less, rest_ns: (span_ns % period_ns) as i64 }
        });
        // Rounding of what lies halfway between two units depends on the bytes used.
        let is_halfway = |more: u64| {
            let units = (fewest + more) as f64 * s.page_flash_bytes / unit;
            (units.fract() - 0.5).abs() < 1e-3
        };
        (!(0..3).any(is_halfway)).then(|| Groups {
            fewest,
            sizes,
            bounds: [0, 1, 2, 3].map(|more| fractions((fewest + more) as f64 * s.page_flash_bytes, unit)),
            share,
            period_ns: period_ns as i64,
            most: PERIODS_MAX / ((fewest + 2) * periods_per_page + 1),
            within,
        })
    }
}

/// Counts bytes in fractions of a unit.
fn fractions(bytes: f64, unit: f64) -> i64 {
    (bytes / unit * FRACTIONS) as i64
}

impl Groups {
    /// Lets groups pass from a room and a time of the period on. Counts all of them, those of at least the middle
    /// number, and those of the largest.
    fn pass(&self, mut room: i64, phase_ns: u64) -> [u64; 3] {
        let Self { fewest, sizes: [small, middle, large], bounds, share, period_ns, .. } = *self;
        let (low, width) = (bounds[0] + NEAR, bounds[3] - bounds[0] - 2 * NEAR);
        let mut phase_ns = phase_ns as i64;
        let (mut all, mut middles, mut larges) = (0, 0, 0);
        while all < self.most && fewest * all + middles + larges <= self.within {
            let is_near = |bound: i64| (room - bound + NEAR) as u64 <= 2 * NEAR as u64;
            if is_near(bounds[1]) | is_near(bounds[2]) | ((room - low) as u64 >= width as u64) {
                break;
            }
            let (is_middle, is_large) = (reached(room, bounds[1]), reached(room, bounds[2]));
            all += 1;
            middles += is_middle.unsigned_abs();
            larges += is_large.unsigned_abs();
            phase_ns += small.rest_ns
                + (is_middle & (middle.rest_ns - small.rest_ns))
                + (is_large & (large.rest_ns - middle.rest_ns));
            let is_over = reached(phase_ns, period_ns);
            phase_ns -= is_over & period_ns;
            room += (is_over & share)
                - small.less
                - (is_middle & (middle.less - small.less))
                - (is_large & (large.less - middle.less));
        }
        [all, middles, larges]
    }
}

#[cfg(test)]
mod tests {
    use super::Periods;
    use crate::throttle::{Epoch, Gate, Params, Record, Setup, Throttle};
    use floatgate_base::Rng;
    use floatgate_base::testing::Bound;
    use floatgate_nand::Endurance;

    /// Page writes and their delays, records of them, and those that waited.
    #[derive(Default)]
    struct Tally {
        passed: (u64, u64),
        records: u64,
        waits: u64,
        /// Whether groups are recorded one by one.
        close: bool,
    }

    impl Record for Tally {
        fn passed(&mut self, _: u64, _: u64, count: u64, delay_ns: u64) {
            self.passed = (self.passed.0 + count, self.passed.1 + count * delay_ns);
            self.records += 1;
        }
        fn waited(&mut self, _: u64, _: u64, _: u64) {
            self.waits += 1;
        }
        fn waited_alike(&mut self, _: u64, _: u64, count: u64, _: (u64, u64)) {
            self.waits += count;
        }
        fn is_close(&self, _: u64, _: u64) -> bool {
            self.close
        }
        fn epoch(&mut self, _: &Epoch) {}
    }

    /// Counts the page writes that pass in groups, and compares the bytes used with single groups to the last bit.
    fn in_groups(gate: &Gate, setup: Setup, arrival_ns: u64, gap_ns: u64, pages: u64) -> u64 {
        let mut periods = Periods::new(setup, gate.state().clone());
        let delay_ns = gate.delay_ns();
        let (mut first_ns, distance_ns) = (arrival_ns.max(gate.admitted_ns()) + delay_ns, delay_ns + gap_ns);
        periods.leave_periods(first_ns, &mut ());
        if periods.state.delay_ns != delay_ns {
            return 0;
        }
        let in_limit = |periods: &Periods| {
            let s = &periods.state;
            ((s.limit_bytes - s.used_bytes) * s.page_flash_inverse) as u64
        };
        let mut single = periods.clone();
        let count = periods.admit_groups((first_ns, distance_ns, pages), in_limit(&periods), &());
        let (mut passed, mut bound) = (0, Bound::new(1_000_000));
        while passed < count {
            bound.step();
            single.leave_periods(first_ns, &mut ());
            let group = in_limit(&single);
            assert!(0 < group && group < pages - passed, "{group} of {pages}");
            single.state.spend(group, &mut None);
            passed += group;
            first_ns += group * distance_ns;
        }
        assert_eq!((passed, single.state.used_bytes.to_bits()), (count, periods.state.used_bytes.to_bits()));
        count
    }

    /// A host that is delayed to about the capacity, in runs of page writes.
    #[test]
    fn groups_pass_as_they_do_one_by_one() {
        let (mut grouped, mut together) = (0, 0);
        for seed in 0..100 {
            let mut rng = Rng::new(seed, "groups");
            let policies = [Throttle::Dynamic, Throttle::ReadyPessimistic, Throttle::Incremental];
            let target_ns = (10 + rng.below(60)) * 3_600_000_000_000 + rng.below(2) * 123_456_789;
            let physical_bytes = (1 + rng.below(40)) << 20;
            let setup = Setup::ready(policies[rng.below(3) as usize], physical_bytes, target_ns);
            let endurance = Endurance::Fixed { pe_cycles: 10 + rng.below(300) as u32 };
            let max_delay_ns = (rng.below(2) == 0).then_some(10_000_000_000);
            let params = Params { max_delay_ns, ..Params::default() };
            let setup = Setup { endurance, params, arrivals_follow: true, ..setup };
            let waf = 1.0 + 2.0 * rng.unit();
            let (pause_ns, gap_ns) =
                (rng.below(3) * rng.below(1_000_000_000), rng.below(3) * rng.below(3_000_000));
            let (mut gate, mut stamp_ns) = (Gate::new(setup, waf), 0);
            for _ in 0..1000 {
                if gate.admitted_ns() >= target_ns {
                    break;
                }
                let pages = 1 + rng.below(3000);
                let arrival_ns = stamp_ns + gate.held_back_ns();
                grouped += in_groups(&gate, setup, arrival_ns, gap_ns, pages);
                let mut single = Gate::resume(setup, gate.state().clone());
                let (mut a, mut b) = (Tally::default(), Tally { close: true, ..Tally::default() });
                let end_ns = gate.admit(arrival_ns, gap_ns, pages, &mut a);
                let single_ns = single.admit(arrival_ns, gap_ns, pages, &mut b);
                // Those that wait for many periods are charged together, too.
                if a.waits == 0 || b.waits == 0 {
                    assert_eq!((end_ns, a.passed), (single_ns, b.passed), "seed {seed}");
                    assert_eq!(gate.held_back_ns(), single.held_back_ns(), "seed {seed}");
                    assert_eq!(gate.used_bytes().to_bits(), single.used_bytes().to_bits(), "seed {seed}");
                    together += u64::from(a.records < b.records);
                }
                stamp_ns += pages * gap_ns + pause_ns;
            }
        }
        println!("{grouped} page writes in groups, {together} runs without waits");
        assert!(grouped > 100_000 && together > 100, "{grouped}, {together}");
    }
}
