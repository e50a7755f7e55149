//! What wear-leveling needs to know and what it does to the choice of victims: only where a leveler is set.
//!
//! A victim may be passed over, or become the target of a *swap*: its job then empties and erases it, moves the pages
//! of a cold unit into it and erases that one (`migrate.rs`).

use crate::ftl::{Ftl, Setup};
use crate::index::Lists;
use crate::last::Group;
use crate::level::{LOOKS_MAX, Level, Leveler, PASSED_MAX};
use crate::units::{NOT_INDEXED, Units};
use floatgate_base::{Rng, UnitId};
use floatgate_flash::{Flash, Layout};
use serde::{Deserialize, Serialize};

/// What wear-leveling did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelCounters {
    /// Units whose data moved into a worn one.
    pub swaps: u64,
    /// Pages moved.
    pub moved_pages: u64,
    /// Victims passed over.
    pub passed_over: u64,
}

/// What is kept between two victims.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Leveling {
    /// Closed units that may give their data, the one that has been closed for longest first.
    candidates: Lists,
    pub counters: LevelCounters,
    pub rng: Rng,
    /// Erases of a domain's units; made again from the array.
    #[serde(skip)]
    erases: Vec<u64>,
}

impl Leveling {
    /// What the leveler of a fresh drive needs, if it is one that needs anything.
    pub fn of(setup: &Setup, layout: &Layout) -> Option<Self> {
        (setup.level != Level::None).then(|| Self {
            candidates: Lists::new(layout.domains(), layout.units()),
            counters: LevelCounters::default(),
            rng: Self::rng(setup),
            erases: vec![0; layout.domains() as usize],
        })
    }

    /// The stream of random numbers of a run.
    pub fn rng(setup: &Setup) -> Rng {
        Rng::new(setup.seed, "level")
    }

    /// A unit was closed.
    pub fn closed(&mut self, domain: u32, unit: UnitId) {
        self.candidates.push_back(domain, unit);
    }

    /// A closed unit is to be emptied.
    pub fn opened(&mut self, domain: u32, unit: UnitId) {
        self.candidates.remove(domain, unit);
    }

    /// A unit was erased.
    pub fn erased(&mut self, domain: u32) {
        self.erases[domain as usize] += 1;
    }

    /// Counting begins: wear is 0 again.
    pub fn restart(&mut self) {
        self.counters = LevelCounters::default();
        self.erases.fill(0);
    }

    /// Whether this is the state of a drive of such a layout.
    pub fn fits(&self, layout: &Layout) -> bool {
        self.candidates.room() == (layout.units() as usize, layout.domains() as usize)
    }

    /// The candidates of a drive whose leveler kept none so far: its closed units, the oldest first.
    fn gather(&mut self, layout: &Layout, units: &Units) {
        let mut closed: Vec<UnitId> =
            (0..layout.units()).filter(|&unit| units.meta[unit as usize].pos != NOT_INDEXED).collect();
        closed.sort_by_key(|&unit| units.closed_at[unit as usize]);
        closed.into_iter().for_each(|unit| self.closed(layout.domain_of(unit), unit));
    }

    /// Checks candidates and sums.
    ///
    /// # Errors
    /// Says what is wrong.
    pub fn audit(&self, layout: &Layout, units: &Units, erases: &[u32]) -> Result<(), String> {
        let mut held = vec![false; units.meta.len()];
        let mut sums = vec![0; layout.domains() as usize];
        for domain in 0..layout.domains() {
            for unit in self.candidates.iter(domain) {
                if std::mem::replace(&mut held[unit as usize], true) || layout.domain_of(unit) != domain {
                    return Err(format!("unit {unit} stands among the candidates of domain {domain}"));
                }
            }
        }
        for unit in 0..layout.units() {
            sums[layout.domain_of(unit) as usize] += u64::from(erases[unit as usize]);
            if held[unit as usize] != (units.meta[unit as usize].pos != NOT_INDEXED) {
                return Err(format!("unit {unit} is closed or a candidate for wear-leveling, not both"));
            }
        }
        if sums != self.erases {
            return Err(format!("erases by domain: {sums:?}, the leveler counted {:?}", self.erases));
        }
        Ok(())
    }
}

/// What is to become of a victim.
enum Verdict {
    /// It is collected.
    Collect,
    /// It is collected, and the data of this unit move in.
    Swap(UnitId),
    /// Another one is chosen.
    PassOver,
}

impl Ftl {
    /// What wear-leveling did since counting began.
    #[must_use]
    pub fn leveled(&self) -> LevelCounters {
        self.leveling.as_ref().map_or_else(LevelCounters::default, |leveling| leveling.counters)
    }

    /// Learns from an array that was restored how often its units were erased, and from the drive, if another leveler
    /// or none was in use before, which units are closed.
    pub fn learn_wear(&mut self, erases: &[u32]) {
        if let Some(leveling) = &mut self.leveling {
            leveling.erases = vec![0; self.layout.domains() as usize];
            for (unit, &n) in (0..).zip(erases) {
                leveling.erases[self.layout.domain_of(unit) as usize] += u64::from(n);
            }
        }
    }

    /// Takes over what a snapshot kept for wear-leveling, as far as this drive's leveler needs it; false if it is of
    /// another drive.
    pub(crate) fn adopt(&mut self, saved: Option<Leveling>) -> bool {
        let Some(mut leveling) = Leveling::of(&self.setup, &self.layout) else { return true };
        match saved {
            Some(saved) if !saved.fits(&self.layout) => return false,
            Some(saved) => leveling = Leveling { erases: leveling.erases, ..saved },
            None => leveling.gather(&self.layout, &self.units),
        }
        self.leveling = Some(leveling);
        true
    }

    /// The unit to collect next in a domain, and the one whose data move in once it is erased; none if nothing is to be
    /// gained. Both are still in the index.
    pub(crate) fn choose<F: Flash>(&mut self, flash: &F, domain: u32) -> Option<(UnitId, Option<UnitId>)> {
        let (mut group, mut victim) = self.first_choice(flash, domain)?;
        if self.setup.level == Level::None {
            return Some((victim, None));
        }
        let mut passed = [(Group::Others, 0, None); PASSED_MAX];
        let mut count = 0;
        let cold = loop {
            match self.judge(flash.erase_counts(), domain, victim, count < PASSED_MAX) {
                Verdict::Collect => break None,
                Verdict::Swap(cold) => break Some(cold),
                Verdict::PassOver => {
                    passed[count] = (group, victim, self.set_aside(domain, group, victim));
                    count += 1;
                    match self.next_choice(flash, domain, group) {
                        Some(next) => (group, victim) = next,
                        None => break None,
                    }
                }
            }
        };
        for &(group, unit, replaced_by) in passed[..count].iter().rev() {
            self.put_back(domain, group, unit, replaced_by);
        }
        Some((victim, cold))
    }

    fn judge(&mut self, erases: &[u32], domain: u32, victim: UnitId, may_pass: bool) -> Verdict {
        let policy = self.setup.level;
        let Some(leveling) = &mut self.leveling else { return Verdict::Collect };
        let mean = leveling.erases[domain as usize] as f64 / f64::from(self.layout.units_per_domain());
        let own = erases[victim as usize];
        if policy.retires(own, mean) {
            let (logical, pages) = (u64::from(self.setup.logical_pages), u64::from(self.layout.pages()));
            let valid_min = (logical * u64::from(self.layout.pages_per_unit())).div_ceil(pages) as u32;
            for _ in 0..LOOKS_MAX {
                let Some(unit) = leveling.candidates.first(domain) else { break };
                let valid = self.units.meta[unit as usize].valid;
                if unit != victim && policy.gives(erases[unit as usize], mean, valid, valid_min) {
                    return Verdict::Swap(unit);
                }
                leveling.candidates.remove(domain, unit);
                leveling.candidates.push_back(domain, unit);
            }
        }
        let passed_over = policy.passed_over(own, mean);
        if may_pass && passed_over > 0.0 && leveling.rng.unit() < passed_over {
            leveling.counters.passed_over += 1;
            return Verdict::PassOver;
        }
        Verdict::Collect
    }
}
