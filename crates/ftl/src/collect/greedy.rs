//! Greedy: the block with the fewest valid pages.
//!
//! Source: Rosenblum and Ousterhout, SOSP 1991, section 3.5, whose simulator's "greedy" policy this is; optimal
//! under uniform writes (Hu et al., SYSTOR 2009).
//! Parameters: none. Cost: O(1). Memory: 20 bytes per block.

use super::{VictimPolicy, View};
use crate::index::{Index, IndexKind};
use floatgate_base::{ChosenPolicy, PolicyInfo, Rng, UnitId};
use floatgate_theory::Policy as Law;

pub const INFO: PolicyInfo = PolicyInfo {
    name: "greedy",
    summary: "the block with the fewest valid pages",
    source: "Rosenblum and Ousterhout, SOSP 1991",
    params: &[],
    cost: "O(1)",
    memory: "20 bytes per block",
};

/// Greedy has no parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params;

impl VictimPolicy for Params {
    fn of(_: &ChosenPolicy) -> Self {
        Self
    }

    fn index_kind(&self) -> IndexKind {
        IndexKind::ByValid
    }

    fn pick(&self, view: View<'_>, _: &mut Rng) -> Option<UnitId> {
        let Index::ByValid(rings) = view.index else { unreachable!("greedy declares the valid-count index") };
        rings[view.domain].first().and_then(|unit| view.worth(unit))
    }

    fn law(&self) -> Option<Law> {
        Some(Law::Greedy)
    }
}
