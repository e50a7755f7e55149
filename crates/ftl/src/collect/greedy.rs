//! Greedy: the block with the fewest valid pages.
//!
//! Source: Rosenblum and Ousterhout, SOSP 1991, section 3.5, whose simulator's "greedy" policy this is; optimal
//! under uniform writes (Hu et al., SYSTOR 2009).
//! Parameters: none. Cost: O(1). Memory: 20 bytes a block.

use super::View;
use crate::index::Index;
use floatgate_base::{PolicyInfo, UnitId};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "greedy",
    summary: "the block with the fewest valid pages",
    source: "Rosenblum and Ousterhout, SOSP 1991",
    params: &[],
    cost: "O(1)",
    memory: "20 bytes a block",
};

pub fn pick(view: View<'_>) -> Option<UnitId> {
    let Index::ByValid(rings) = view.index else { unreachable!("greedy declares the valid-count index") };
    rings[view.domain as usize].first().and_then(|unit| view.worth(unit))
}
