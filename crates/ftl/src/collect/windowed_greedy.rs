//! Windowed greedy: the block with the fewest valid pages among the `window` blocks that were closed first.
//!
//! Source: Hu, Eleftheriou, Haas, Iliadis and Pletka, SYSTOR 2009. A window of 1 is FIFO, one of all blocks is
//! greedy.
//! Parameters: `window`, in each plane (or in superblocks). Cost: O(1) for the choice. Memory: 28 bytes a block.

use super::View;
use crate::index::Index;
use floatgate_base::{ParamInfo, PolicyInfo, UnitId};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "windowed-greedy",
    summary: "the block with the fewest valid pages among the oldest ones",
    source: "Hu et al., SYSTOR 2009",
    params: &[ParamInfo::new("window", "oldest blocks considered, in each plane; default 1024")],
    cost: "O(1)",
    memory: "28 bytes a block",
};

pub fn pick(view: View<'_>) -> Option<UnitId> {
    let Index::Window { rings, .. } = view.index else {
        unreachable!("windowed greedy declares the window index")
    };
    // A window of valid blocks only must still move on, as FIFO does, so nothing is refused here.
    rings[view.domain as usize].first()
}
