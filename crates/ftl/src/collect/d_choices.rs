//! d-choices: of `choices` closed blocks drawn at random (with replacement), the one with the fewest valid pages.
//!
//! Source: Van Houdt, SIGMETRICS 2013. One choice is `random`, very many are `greedy`.
//! Parameters: `choices`. Cost: O(choices). Memory: 20 bytes a block.

use super::View;
use crate::index::Index;
use floatgate_base::{ParamInfo, PolicyInfo, Rng, UnitId};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "d-choices",
    summary: "the block with the fewest valid pages among a few drawn at random",
    source: "Van Houdt, SIGMETRICS 2013",
    params: &[ParamInfo::new("choices", "blocks drawn for each victim; default 10")],
    cost: "O(choices)",
    memory: "20 bytes a block",
};

pub fn pick(view: View<'_>, choices: u32, rng: &mut Rng) -> Option<UnitId> {
    let Index::Slots(slots) = view.index else { unreachable!("d-choices declares the slot index") };
    let units = slots[view.domain as usize].units();
    if units.is_empty() {
        return None;
    }
    (0..choices).map(|_| units[rng.below(units.len() as u64) as usize]).min_by_key(|&unit| view.valid(unit))
}
