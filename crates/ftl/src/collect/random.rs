//! Random: any closed block with equal chance.
//!
//! Source: the baseline of Van Houdt, SIGMETRICS 2013; its write amplification under uniform writes is 1/S_f.
//! Parameters: none. Cost: O(1). Memory: 20 bytes per block.

use super::{VictimPolicy, View};
use crate::index::{Index, IndexKind};
use floatgate_base::{ChosenPolicy, PolicyInfo, Rng, UnitId};
use floatgate_theory::Policy as Law;

pub const INFO: PolicyInfo = PolicyInfo {
    name: "random",
    summary: "any closed block with equal chance",
    source: "Van Houdt, SIGMETRICS 2013",
    params: &[],
    cost: "O(1)",
    memory: "20 bytes per block",
};

/// Random has no parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params;

impl VictimPolicy for Params {
    fn of(_: &ChosenPolicy) -> Self {
        Self
    }

    fn index_kind(&self) -> IndexKind {
        IndexKind::Slots
    }

    fn pick(&self, view: View<'_>, rng: &mut Rng) -> Option<UnitId> {
        let Index::Slots(slots) = view.index else { unreachable!("random declares the slot index") };
        let units = slots[view.domain].units();
        (!units.is_empty()).then(|| units[rng.below(units.len() as u64) as usize])
    }

    fn law(&self) -> Option<Law> {
        Some(Law::Random)
    }
}
