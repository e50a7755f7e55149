//! Hot-cold swap: cold data move into a worn block, and the block that held them takes its share of the writes.
//!
//! Source: Agrawal et al., Design Tradeoffs for SSD Performance, USENIX ATC 2008, section 4.5, and `ssd_clean.c` of
//! their SSD extension of DiskSim. The remaining lifetime of a victim is compared with the average of its plane (pool).
//! Below `retirement_age` of it, data of the block at the head of a queue of candidates move in once the worn block is
//! erased; the candidate is erased in its stead. Otherwise, below 1 - `age_variance` of it, the block is passed over
//! with a probability that rises linearly to 1 as its remaining lifetime drops to 0.
//!
//! Where paper and code differ, or are silent:
//! - Candidates: the code scans for the block that was erased longest ago and holds a valid page; the paper has a queue
//!   of blocks beyond thresholds of remaining lifetime and age. Here every closed block joins the queue when it is
//!   closed; the head has the oldest data. A block is skipped, and joins again at the end, if it is itself worn more
//!   than the average. The same holds if it has fewer valid pages than the average block would on a full drive: nearly
//!   dead data are not cold, and greedy would soon collect the worn block again.
//! - With the code's thresholds (0.80 passes over, 0.85 swaps) blocks are passed over only when no candidate is left.
//!   The thresholds of the code are the defaults here.
//! - The code passes over within greedy's running minima, and never over the last of them. Here any victim policy
//!   selects again without the block, at most [`super::PASSED_MAX`] times; the last block is always taken.
//! - Near the end of life the average remaining lifetime is next to nothing, and a lead of one erase would move a block
//!   of data. A block that leads the average by less than `lead_share_min` of its rated cycles is therefore left alone;
//!   0 gives the rule of the paper.
//! - Pages that the candidate does not fill stay unwritten, as in the code, and count as dead until the next erase.
//!
//! Parameters: `pe_cycles`, `retirement_age`, `age_variance`, `lead_share_min`. Cost: O(1) for a victim that is not
//! worn; otherwise a few checks of the queue, and O(pages per block) in the victim index per victim passed over.
//! Memory: 8 bytes per block.

use super::{CHECKS_MAX, Leveler, Verdict, VictimView};
use crate::index::Lists;
use floatgate_base::policy::Range;
use floatgate_base::{ChosenPolicy, DomainId, IdSlice, IdVec, ParamInfo, PolicyInfo, Rng, UnitId};
use floatgate_flash::Layout;
use floatgate_nand::LeadLimit;
use serde::{Deserialize, Serialize};

/// Row of the leveler in the policy table.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "hot-cold-swap",
    summary: "cold data move into worn blocks, and the blocks that held them are recycled",
    source: "Agrawal et al., USENIX ATC 2008",
    params: &[
        ParamInfo::whole("pe_cycles", "erases that the leveler assumes for a block's life", 0, (1, u32::MAX))
            .or_of_drive("those of drive.endurance", |facts| f64::from(facts.pe_cycles)),
        ParamInfo::within(
            "retirement_age",
            "share of the average remaining lifetime below which a block gets cold data; 0 for never",
            0.85,
            Range::SHARE,
        ),
        ParamInfo::within(
            "age_variance",
            "share by which a remaining lifetime may lie below the average before the block is passed over at \
             random; 1 for never",
            0.2,
            Range::SHARE,
        ),
        ParamInfo::within(
            "lead_share_min",
            "share of pe_cycles by which a block must lead the average to be swapped or passed over",
            0.01,
            Range::SHARE,
        ),
    ],
    cost: "O(1), O(pages per block) per worn block passed over",
    memory: "8 bytes per block",
};

/// Parameters of hot-cold swap.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// Erases in a block's life.
    pub pe_cycles: u32,
    /// Share of the average remaining lifetime below which a block gets cold data.
    pub retirement_age: f64,
    /// 1 minus the share of the average remaining lifetime below which a block may be passed over.
    pub age_variance: f64,
    /// Share of `pe_cycles` below which a lead does not count.
    pub lead_share_min: f64,
}

impl Params {
    /// Returns the remaining lifetime of a block as a share of the average. None if the block is not far enough ahead
    /// of the others, or nothing remains on average.
    fn remaining(&self, erases: u32, mean_erases: f64) -> Option<f64> {
        let cycles = f64::from(self.pe_cycles);
        let average = cycles - mean_erases;
        let lead = f64::from(erases) - mean_erases;
        let is_ahead = lead > 0.0 && lead >= self.lead_share_min * cycles && average > 0.0;
        is_ahead.then(|| (cycles - f64::from(erases)).max(0.0) / average)
    }
}

impl Params {
    /// Checks whether cold data should move into a victim.
    fn retires(&self, erases: u32, mean_erases: f64) -> bool {
        self.remaining(erases, mean_erases).is_some_and(|share| share < self.retirement_age)
    }

    /// Returns the probability of passing over a victim that gets no cold data.
    fn passed_over(&self, erases: u32, mean_erases: f64) -> f64 {
        let from = 1.0 - self.age_variance;
        match self.remaining(erases, mean_erases) {
            Some(share) if share < from => 1.0 - share / from,
            _ => 0.0,
        }
    }

    /// Checks whether a unit may give its data to a worn one; an average unit of a full drive would hold `valid_min`
    /// valid pages.
    fn gives(&self, erases: u32, mean_erases: f64, valid: u32, valid_min: u32) -> bool {
        f64::from(erases) <= mean_erases && valid >= valid_min
    }
}

impl super::Params for Params {
    type State = State;

    fn of(settings: &ChosenPolicy) -> Self {
        Self {
            pe_cycles: settings.whole("pe_cycles"),
            retirement_age: settings.real("retirement_age"),
            age_variance: settings.real("age_variance"),
            lead_share_min: settings.real("lead_share_min"),
        }
    }

    fn state(&self, layout: &Layout) -> State {
        State { params: *self, candidates: Lists::new(layout.domains(), layout.units()) }
    }

    fn lead_limit(&self) -> Option<LeadLimit> {
        let pe_cycles = f64::from(self.pe_cycles);
        (self.retirement_age > 0.0).then_some(LeadLimit {
            pe_cycles,
            of_remaining: 1.0 - self.retirement_age,
            least_erases: self.lead_share_min * pe_cycles,
        })
    }
}

/// State of hot-cold swap between two victims.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    params: Params,
    /// Closed units that may give their data, the one closed longest ago first.
    candidates: Lists,
}

impl State {
    /// Returns a unit whose data are cold enough for a worn one; rejected units queue up again.
    fn cold(&mut self, drive: VictimView<'_>, victim: UnitId, mean_erases: f64) -> Option<UnitId> {
        let (logical, pages) = (u64::from(drive.logical_pages), u64::from(drive.layout.pages()));
        let valid_min = (logical * u64::from(drive.layout.pages_per_unit())).div_ceil(pages) as u32;
        for _ in 0..CHECKS_MAX {
            let unit = self.candidates.first(drive.domain)?;
            let (erases, valid) = (drive.erases[unit], drive.units.meta[unit].valid);
            if unit != victim && self.params.gives(erases, mean_erases, valid, valid_min) {
                return Some(unit);
            }
            self.candidates.remove(drive.domain, unit);
            self.candidates.push_back(drive.domain, unit);
        }
        None
    }
}

impl Leveler for State {
    fn closed(&mut self, domain: DomainId, unit: UnitId) {
        self.candidates.push_back(domain, unit);
    }

    fn emptying(&mut self, domain: DomainId, unit: UnitId) {
        self.candidates.remove(domain, unit);
    }

    fn review(
        &mut self,
        drive: VictimView<'_>,
        victim: UnitId,
        mean_erases: f64,
        may_pass: bool,
        rng: &mut Rng,
    ) -> Verdict {
        let erases = drive.erases[victim];
        if self.params.retires(erases, mean_erases)
            && let Some(cold) = self.cold(drive, victim, mean_erases)
        {
            return Verdict::Swap(cold);
        }
        let passed_over = self.params.passed_over(erases, mean_erases);
        if may_pass && passed_over > 0.0 && rng.unit() < passed_over {
            Verdict::PassOver
        } else {
            Verdict::Collect
        }
    }

    fn fits(&self, layout: &Layout) -> bool {
        self.candidates.room() == (layout.units() as usize, layout.domains() as usize)
    }

    fn audit(&self, layout: &Layout, closed: &IdSlice<UnitId, bool>) -> Result<(), String> {
        let mut held = IdVec::filled(false, layout.units());
        for domain in DomainId::all(layout.domains()) {
            for unit in self.candidates.iter(domain) {
                if std::mem::replace(&mut held[unit], true) || layout.domain_of(unit) != domain {
                    return Err(format!("unit {unit} is among the candidates of domain {domain}"));
                }
            }
        }
        match held.iter().zip(closed).position(|(held, closed)| held != closed) {
            Some(unit) => Err(format!("unit {unit} is closed or a candidate for wear-leveling, not both")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPER: Params =
        Params { pe_cycles: 1000, retirement_age: 0.85, age_variance: 0.2, lead_share_min: 0.0 };

    #[test]
    fn a_block_is_judged_by_its_remaining_lifetime() {
        // 500 of 1000 remain on average: 425 are 0.85 of it, 400 are 0.8.
        assert!(!PAPER.retires(575, 500.0));
        assert!(PAPER.retires(576, 500.0));
        assert_eq!(PAPER.passed_over(600, 500.0), 0.0);
        // 300 remain: 0.6 of the average, 3/4 of the threshold.
        assert!((PAPER.passed_over(700, 500.0) - 0.25).abs() < 1e-12);
        assert_eq!(PAPER.passed_over(1000, 500.0), 1.0);
        assert_eq!(PAPER.passed_over(1100, 500.0), 1.0);
        // At the beginning a lead of 150 erases is needed, near the end of life one of 2.
        assert!(!PAPER.retires(150, 0.0) && PAPER.retires(151, 0.0));
        assert!(!PAPER.retires(991, 990.0) && PAPER.retires(992, 990.0));
        assert!(!PAPER.retires(2000, 1000.0));
    }

    #[test]
    fn a_small_lead_does_not_count() {
        let level = Params { lead_share_min: 0.01, ..PAPER };
        assert!(!level.retires(999, 990.0) && level.retires(1000, 990.0));
        assert_eq!(level.passed_over(999, 990.0), 0.0);
        assert!(level.retires(576, 500.0));
    }

    #[test]
    fn switches() {
        let level = Params { retirement_age: 0.0, age_variance: 1.0, ..PAPER };
        for erases in 0..1200 {
            assert!(!level.retires(erases, 100.0));
            assert_eq!(level.passed_over(erases, 100.0), 0.0);
        }
    }

    #[test]
    fn cold_data_come_from_blocks_less_worn_than_the_average() {
        assert!(PAPER.gives(500, 500.0, 30, 30));
        assert!(!PAPER.gives(501, 500.0, 30, 30));
        assert!(!PAPER.gives(500, 500.0, 29, 30));
    }
}
