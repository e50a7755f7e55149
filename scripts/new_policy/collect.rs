//! @title@: Replace: which block it collects, in one line.
//!
//! Source: Replace: authors and venue, or floatgate.
//! Parameters: none. Cost: O(1). Memory: 20 bytes per block.

use super::{VictimPolicy, View};
use crate::index::{Index, IndexKind};
use floatgate_base::{Given, PolicyInfo, Rng, UnitId};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "@name@",
    summary: "Replace: which block it collects",
    source: "floatgate",
    params: &[],
    cost: "O(1)",
    memory: "20 bytes per block",
};

/// The policy has no parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params;

impl VictimPolicy for Params {
    fn of(_: &Given) -> Self {
        Self
    }

    // Replace: the index that the mechanism keeps for the policy, a variant of `IndexKind`.
    fn index_kind(&self) -> IndexKind {
        IndexKind::ByValid
    }

    // Replace: the choice. This one is greedy's.
    fn pick(&self, view: View<'_>, _: &mut Rng) -> Option<UnitId> {
        let Index::ByValid(rings) = view.index else { unreachable!("@name@ declares the valid-count index") };
        rings[view.domain].first().and_then(|unit| view.worth(unit))
    }
}
