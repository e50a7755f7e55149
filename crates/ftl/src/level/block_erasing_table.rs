//! The block erasing table of static wear-leveling: which blocks were erased in this round.
//!
//! One flag covers `per_flag` consecutive units of one domain; consecutive flags belong to different domains. Emptied
//! blocks thus come from all planes alike. Going plane by plane instead, a leveler that moves data to other planes
//! would overfill one of them before the next had its turn. A flag is set when one of its units is erased, or turns out
//! to be free or open: such units hold no cold data. `ecnt` erases of the round over `fcnt` set flags measure the
//! unevenness. Jobs may wait; a flag whose units will be emptied is marked as requested. It counts as set in the test
//! for the next one, which avoids repeated requests.

use floatgate_base::{DomainId, UnitId};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// The action due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// None, or only actions in progress.
    Nothing,
    /// All flags were set: a round has begun.
    Round,
    /// The units of this flag are to be emptied.
    Flag(u32),
}

/// The table with its counters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BlockErasingTable {
    set: Vec<u64>,
    requested: Vec<u64>,
    flags: u32,
    per_flag: u32,
    domains: u32,
    units_per_domain: u32,
    ecnt: u64,
    fcnt: u32,
    requested_count: u32,
    findex: u32,
}

fn bit(flag: u32) -> (usize, u64) {
    ((flag / 64) as usize, 1 << (flag % 64))
}

impl BlockErasingTable {
    /// Creates a table with no flag set.
    pub fn new(layout: &Layout, per_flag: u32) -> Self {
        let units_per_domain = layout.units_per_domain();
        let flags_per_domain = units_per_domain.div_ceil(per_flag);
        let flags = flags_per_domain * layout.domains();
        let words = flags.div_ceil(64) as usize;
        Self {
            set: vec![0; words],
            requested: vec![0; words],
            flags,
            per_flag,
            domains: layout.domains(),
            units_per_domain,
            ecnt: 0,
            fcnt: 0,
            requested_count: 0,
            findex: 0,
        }
    }

    /// Returns the bytes of a drive's table, one bit per flag.
    pub fn memory_bytes(flags: u64) -> u64 {
        flags.div_ceil(8)
    }

    fn flag_of(&self, domain: DomainId, unit: UnitId) -> u32 {
        let within = unit.0 - domain.0 * self.units_per_domain;
        within / self.per_flag * self.domains + domain.0
    }

    /// Returns the domain of a flag's units, and those units.
    pub fn units_of(&self, flag: u32) -> (DomainId, impl Iterator<Item = UnitId> + use<>) {
        let domain = flag % self.domains;
        let first = flag / self.domains * self.per_flag;
        let end = (first + self.per_flag).min(self.units_per_domain);
        let base = domain * self.units_per_domain;
        (DomainId(domain), UnitId::each(UnitId(base + first)..UnitId(base + end)))
    }

    /// Checks whether erases are so uneven that the units of another flag must be emptied.
    fn is_due(&self, threshold: f64) -> bool {
        self.fcnt > 0 && self.ecnt as f64 >= threshold * f64::from(self.fcnt + self.requested_count)
    }

    fn withdraw(&mut self, flag: u32) {
        let (word, mask) = bit(flag);
        if self.requested[word] & mask != 0 {
            self.requested[word] &= !mask;
            self.requested_count -= 1;
        }
    }

    fn raise(&mut self, flag: u32) {
        let (word, mask) = bit(flag);
        if self.set[word] & mask == 0 {
            self.set[word] |= mask;
            self.fcnt += 1;
        }
        self.withdraw(flag);
    }

    /// Records the erase of a unit and returns whether an action is due.
    pub fn erased(&mut self, domain: DomainId, unit: UnitId, threshold: f64) -> bool {
        self.ecnt += 1;
        self.raise(self.flag_of(domain, unit));
        self.is_due(threshold)
    }

    /// Allows another request for the flag of a unit whose request was dropped.
    pub fn dropped(&mut self, domain: DomainId, unit: UnitId) {
        self.withdraw(self.flag_of(domain, unit));
    }

    /// Returns the first flag from `findex` on, cyclically, that is neither set nor requested.
    fn next_clear(&self) -> Option<u32> {
        let words = self.set.len() as u32;
        let start = self.findex / 64;
        // The word of `findex` is visited twice: first from that bit on, last up to it.
        for step in 0..=words {
            let word = (start + step) % words;
            let mut clear = !(self.set[word as usize] | self.requested[word as usize]);
            if step == 0 {
                clear &= u64::MAX << (self.findex % 64);
            }
            if word == words - 1 && !self.flags.is_multiple_of(64) {
                clear &= (1 << (self.flags % 64)) - 1;
            }
            if clear != 0 {
                return Some(word * 64 + clear.trailing_zeros());
            }
        }
        None
    }

    /// Returns the action due now, and sets the flags of units without data on the way. A returned flag is marked as
    /// requested.
    pub fn next(&mut self, threshold: f64, has_data: impl Fn(UnitId) -> bool) -> Due {
        while self.is_due(threshold) {
            if self.fcnt == self.flags {
                self.restart();
                return Due::Round;
            }
            let Some(flag) = self.next_clear() else { return Due::Nothing };
            self.findex = flag;
            if self.units_of(flag).1.any(&has_data) {
                let (word, mask) = bit(flag);
                self.requested[word] |= mask;
                self.requested_count += 1;
                return Due::Flag(flag);
            }
            self.raise(flag);
        }
        Due::Nothing
    }

    /// Begins a round.
    pub fn restart(&mut self) {
        self.set.fill(0);
        self.requested.fill(0);
        (self.ecnt, self.fcnt, self.requested_count, self.findex) = (0, 0, 0, 0);
    }

    /// Checks whether the table fits a drive of this layout.
    pub fn fits(&self, layout: &Layout) -> bool {
        let empty = Self::new(layout, self.per_flag.max(1));
        self.per_flag > 0
            && (self.flags, self.domains, self.units_per_domain)
                == (empty.flags, empty.domains, empty.units_per_domain)
            && [&self.set, &self.requested].iter().all(|words| words.len() == empty.set.len())
            && self.findex < self.flags
    }

    /// Checks the counts against the flags.
    ///
    /// # Errors
    /// Describes the discrepancy.
    pub fn audit(&self) -> Result<(), String> {
        let ones = |words: &[u64]| words.iter().map(|word| word.count_ones()).sum::<u32>();
        if (ones(&self.set), ones(&self.requested)) != (self.fcnt, self.requested_count) {
            let counted = (self.fcnt, self.requested_count);
            let counts = (ones(&self.set), ones(&self.requested));
            return Err(format!("flags set and requested: {counts:?}, recorded {counted:?}"));
        }
        if self.set.iter().zip(&self.requested).any(|(set, requested)| set & requested != 0) {
            return Err("a flag is set and still requested".into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::Rng;
    use floatgate_base::testing::Bound;
    use floatgate_flash::Scope;
    use floatgate_nand::Geometry;

    fn layout(planes: u32, blocks_per_plane: u32) -> Layout {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: planes,
            blocks_per_plane,
            pages_per_block: 4,
            page_bytes: 4096,
        };
        Layout::new(geometry, Scope::Plane)
    }

    fn is_set(table: &BlockErasingTable, flag: u32) -> bool {
        let (word, mask) = bit(flag);
        table.set[word] & mask != 0
    }

    #[test]
    fn a_flag_covers_units_of_one_domain() {
        let table = BlockErasingTable::new(&layout(2, 7), 3);
        assert_eq!(table.flags, 6);
        let units =
            |flag| (table.units_of(flag).0.0, table.units_of(flag).1.map(|u| u.0).collect::<Vec<_>>());
        assert_eq!(units(1), (1, vec![7, 8, 9]));
        assert_eq!(units(4), (0, vec![6]));
        assert_eq!(table.flag_of(DomainId(1), UnitId(13)), 5);
    }

    /// Compares the search with a table of booleans that is searched flag by flag.
    #[test]
    fn the_search_finds_what_a_walk_finds() {
        for seed in 0..50 {
            let mut rng = Rng::new(seed, "bet test");
            let blocks = 1 + rng.below(150) as u32;
            let mut table = BlockErasingTable::new(&layout(1, blocks), 1);
            let (mut ecnt, mut findex) = (0, 0);
            let (mut set, mut requested) = (vec![false; blocks as usize], vec![false; blocks as usize]);
            for _ in 0..2000 {
                let unit = rng.below(u64::from(blocks)) as u32;
                ecnt += 1;
                (set[unit as usize], requested[unit as usize]) = (true, false);
                table.erased(DomainId(0), UnitId(unit), 2.0);
                let has_data = |unit: UnitId| !unit.0.is_multiple_of(3);
                let mut bound = Bound::new(100_000_000);
                let expected = loop {
                    bound.step();
                    let fcnt = set.iter().filter(|&&s| s).count();
                    let pending = fcnt + requested.iter().filter(|&&a| a).count();
                    if (ecnt as f64) < 2.0 * pending as f64 {
                        break Due::Nothing;
                    }
                    if fcnt == set.len() {
                        (ecnt, findex) = (0, 0);
                        set.fill(false);
                        break Due::Round;
                    }
                    let order = (findex..blocks).chain(0..findex);
                    let mut clear = order.filter(|&flag| !set[flag as usize] && !requested[flag as usize]);
                    let Some(flag) = clear.next() else { break Due::Nothing };
                    findex = flag;
                    if has_data(UnitId(flag)) {
                        requested[flag as usize] = true;
                        break Due::Flag(flag);
                    }
                    set[flag as usize] = true;
                };
                assert_eq!(table.next(2.0, has_data), expected, "seed {seed}");
                table.audit().unwrap();
                assert!((0..blocks).all(|flag| is_set(&table, flag) == set[flag as usize]));
            }
        }
    }
}
