//! Adaptive: no leveling while blocks are young; as they age, leveling at ever smaller differences of erases.
//!
//! Source: Liao, Zhang, Li and Xiao, Adaptive Wear-Leveling in Flash-Based Memory, IEEE Computer Architecture Letters
//! 2015: "several wear-thresholds in different periods"; data do not migrate "until the erasure counts of some hot
//! blocks hit a threshold"; fewer erases in all, and even erases late in life. The paper states neither thresholds nor
//! periods. Reading:
//! - The rule applies to each victim. A block is left alone until it has been erased `quiet_share` of
//!   `pe_cycles` times.
//! - From then on it is compared with the least erased closed block of its plane. If it is ahead by more than the
//!   threshold of the period, cold data of that block (`cold.rs`) move into it once it is erased. That block is then
//!   erased in its stead.
//! - Life has `periods` periods of equal length, by the mean erases of the plane. The threshold is `spread_share` of
//!   `pe_cycles` in the first one. It falls by equal steps to one step in the last, and never below one erase.
//!
//! Parameters: `pe_cycles`, `quiet_share`, `spread_share`, `cold_drive_writes`, `periods`. Cost: O(1) per victim, O(log
//! n) per block closed or emptied, with n blocks in a domain. Memory: 12 bytes per block.

use super::cold::{COLD_DRIVE_WRITES, is_cold};
use super::least_erased::LeastErased;
use super::{Leveler, Verdict, VictimView};
use floatgate_base::policy::Range;
use floatgate_base::{ChosenPolicy, DomainId, IdSlice, ParamInfo, PolicyInfo, Rng, UnitId};
use floatgate_flash::Layout;
use floatgate_nand::LeadLimit;
use serde::{Deserialize, Serialize};

/// Row of the leveler in the policy table.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "adaptive",
    summary: "cold data move into worn blocks, later in life at smaller differences of erases",
    source: "Liao et al., IEEE Computer Architecture Letters 2015",
    params: &[
        ParamInfo::whole("pe_cycles", "erases that the leveler assumes for a block's life", 0, (1, u32::MAX))
            .or_of_drive("those of drive.endurance", |facts| f64::from(facts.pe_cycles)),
        ParamInfo::within(
            "quiet_share",
            "share of pe_cycles that a block must have endured before leveling moves data into it",
            0.1,
            Range::SHARE,
        ),
        ParamInfo::within(
            "spread_share",
            "share of pe_cycles by which a block may be ahead of the least erased one in the first period",
            0.1,
            Range::SHARE,
        ),
        COLD_DRIVE_WRITES,
        ParamInfo::whole("periods", "periods of life, each allowing a smaller difference", 10, (1, 1000)),
    ],
    cost: "O(log blocks)",
    memory: "12 bytes per block",
};

/// Parameters of adaptive leveling.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// Erases in a block's life.
    pub pe_cycles: u32,
    /// Share of `pe_cycles` before which a block is left alone.
    pub quiet_share: f64,
    /// Share of `pe_cycles` that blocks may differ by in the first period.
    pub spread_share: f64,
    /// Drive writes that data must outlive to be cold.
    pub cold_drive_writes: f64,
    /// Periods per block life.
    pub periods: u32,
}

impl Params {
    /// Returns the erases by which a block may be ahead of the least erased one.
    fn threshold(&self, mean_erases: f64) -> f64 {
        let (cycles, periods) = (f64::from(self.pe_cycles), f64::from(self.periods));
        let period = (mean_erases / cycles * periods).floor().clamp(0.0, periods - 1.0);
        (self.spread_share * cycles * (periods - period) / periods).max(1.0)
    }

    fn retires(&self, erases: u32, least: u32, mean_erases: f64) -> bool {
        let ahead = f64::from(erases.saturating_sub(least));
        f64::from(erases) >= self.quiet_share * f64::from(self.pe_cycles)
            && ahead > self.threshold(mean_erases)
    }
}

impl super::Params for Params {
    type State = State;

    fn of(settings: &ChosenPolicy) -> Self {
        Self {
            pe_cycles: settings.whole("pe_cycles"),
            quiet_share: settings.real("quiet_share"),
            spread_share: settings.real("spread_share"),
            cold_drive_writes: settings.real("cold_drive_writes"),
            periods: settings.whole("periods"),
        }
    }

    fn state(&self, layout: &Layout) -> State {
        State { params: *self, closed: LeastErased::new(layout) }
    }

    /// A bound on the lead over the least erased block also bounds the lead over the mean.
    fn lead_limit(&self) -> Option<LeadLimit> {
        let pe_cycles = f64::from(self.pe_cycles);
        let least_erases = (self.spread_share * pe_cycles / f64::from(self.periods)).max(1.0);
        Some(LeadLimit { pe_cycles, of_remaining: self.spread_share, least_erases })
    }
}

/// State of adaptive leveling.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    params: Params,
    closed: LeastErased,
}

impl Leveler for State {
    fn closed(&mut self, domain: DomainId, unit: UnitId) {
        self.closed.insert(domain, unit);
    }

    fn emptying(&mut self, domain: DomainId, unit: UnitId) {
        self.closed.remove(domain, unit);
    }

    fn erased(&mut self, _: DomainId, unit: UnitId, erases: u32) -> bool {
        self.closed.erased(unit, erases);
        false
    }

    fn review(
        &mut self,
        drive: VictimView<'_>,
        victim: UnitId,
        mean_erases: f64,
        _: bool,
        _: &mut Rng,
    ) -> Verdict {
        match self.closed.first(drive.domain) {
            Some((least, cold))
                if cold != victim
                    && drive.units.meta[cold].valid > 0
                    && is_cold(
                        drive.units,
                        cold,
                        drive.now,
                        drive.logical_pages,
                        self.params.cold_drive_writes,
                    )
                    && self.params.retires(drive.erases[victim], least, mean_erases) =>
            {
                Verdict::Swap(cold)
            }
            _ => Verdict::Collect,
        }
    }

    fn learn_wear(&mut self, erases: &IdSlice<UnitId, u32>) {
        self.closed.learn_wear(erases);
    }

    fn restart(&mut self) {
        self.closed.restart();
    }

    fn fits(&self, layout: &Layout) -> bool {
        self.closed.fits(layout)
    }

    fn audit(&self, layout: &Layout, closed: &IdSlice<UnitId, bool>) -> Result<(), String> {
        self.closed.audit(layout, closed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_falls_from_period_to_period() {
        let params = Params {
            pe_cycles: 1000,
            quiet_share: 0.1,
            spread_share: 0.1,
            cold_drive_writes: 1.0,
            periods: 10,
        };
        assert_eq!(
            [0.0, 99.0, 100.0, 450.0, 999.0, 2000.0].map(|mean| params.threshold(mean)),
            [100.0, 100.0, 90.0, 60.0, 10.0, 10.0]
        );
        // Young blocks are left alone, however far ahead.
        let early = Params { spread_share: 0.01, ..params };
        assert!(!early.retires(99, 0, 5.0) && early.retires(100, 0, 5.0));
        assert!(!params.retires(160, 60, 99.0) && params.retires(161, 60, 99.0));
        assert!(params.retires(161, 60, 450.0) && !params.retires(120, 60, 450.0));
        // The threshold never falls below one erase.
        let none = Params { spread_share: 0.0, quiet_share: 0.0, ..params };
        assert!(!none.retires(1, 0, 0.0) && none.retires(2, 0, 0.0));
    }
}
