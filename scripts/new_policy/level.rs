//! @title@: Replace: how it levels wear, in one line.
//!
//! Source: Replace: authors and venue, or floatgate.
//! Parameters: `lead_erases`. Cost: O(log n) per block closed, emptied or erased. Memory: 12 bytes per block.

use super::least_erased::LeastErased;
use super::{Leveler, Verdict, VictimView};
use floatgate_base::{DomainId, Given, IdSlice, ParamInfo, PolicyInfo, Rng, UnitId};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// Row of the leveler in the policy table.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "@name@",
    summary: "Replace: how it levels wear",
    source: "floatgate",
    params: &[ParamInfo::whole(
        "lead_erases",
        "Replace: erases by which a victim must be ahead of the average",
        20,
        (1, u32::MAX),
    )],
    cost: "O(log blocks)",
    memory: "12 bytes per block",
};

/// Parameters of the leveler.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Params {
    lead_erases: u32,
}

impl super::Params for Params {
    type State = State;

    fn of(settings: &Given) -> Self {
        Self { lead_erases: settings.whole("lead_erases") }
    }

    fn state(&self, layout: &Layout) -> State {
        State { params: *self, closed: LeastErased::new(layout) }
    }
}

/// State of the leveler, stored in snapshots.
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

    // Replace: the decision on a victim. Here the data of the least erased block move into one that is far ahead.
    fn review(&mut self, drive: VictimView<'_>, victim: UnitId, mean_erases: f64, _: bool, _: &mut Rng) -> Verdict {
        let lead = f64::from(drive.erases[victim]) - mean_erases;
        match self.closed.first(drive.domain) {
            Some((_, unit)) if lead > f64::from(self.params.lead_erases) && unit != victim => Verdict::Swap(unit),
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
