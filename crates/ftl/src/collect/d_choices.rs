//! d-choices: of `choices` closed blocks drawn at random (with replacement), the one with the fewest valid pages.
//!
//! Source: Van Houdt, SIGMETRICS 2013. One choice is `random`, very many are `greedy`.
//! Parameters: `choices`. Cost: O(choices). Memory: 20 bytes per block.

use super::{VictimPolicy, View};
use crate::index::{Index, IndexKind};
use floatgate_base::{ChosenPolicy, ParamInfo, PolicyInfo, Rng, UnitId};
use floatgate_theory::Policy as Law;

pub const INFO: PolicyInfo = PolicyInfo {
    name: "d-choices",
    summary: "the block with the fewest valid pages among a few drawn at random",
    source: "Van Houdt, SIGMETRICS 2013",
    params: &[ParamInfo::whole("choices", "blocks drawn per victim", 10, (1, CHOICES_MAX))],
    cost: "O(choices)",
    memory: "20 bytes per block",
};

/// Most blocks that may be drawn per victim; with more, greedy gives the same result faster.
const CHOICES_MAX: u32 = 65_536;

/// Parameters of d-choices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Blocks drawn.
    choices: u32,
}

impl VictimPolicy for Params {
    fn of(settings: &ChosenPolicy) -> Self {
        Self { choices: settings.whole("choices") }
    }

    fn index_kind(&self) -> IndexKind {
        IndexKind::Slots
    }

    fn pick(&self, view: View<'_>, rng: &mut Rng) -> Option<UnitId> {
        let Index::Slots(slots) = view.index else { unreachable!("d-choices declares the slot index") };
        let units = slots[view.domain].units();
        if units.is_empty() {
            return None;
        }
        (0..self.choices)
            .map(|_| units[rng.below(units.len() as u64) as usize])
            .min_by_key(|&unit| view.valid(unit))
    }

    fn law(&self) -> Option<Law> {
        Some(Law::DChoices(self.choices))
    }
}
