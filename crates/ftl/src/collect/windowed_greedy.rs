//! Windowed greedy: the block with the fewest valid pages among the `window` blocks that were closed first.
//!
//! Source: Hu, Eleftheriou, Haas, Iliadis and Pletka, SYSTOR 2009. A window of 1 is FIFO, one of all blocks is
//! greedy.
//! Parameters: `window`, in each plane (or in superblocks). Cost: O(1) for the choice. Memory: 28 bytes per block.

use super::{VictimPolicy, View};
use crate::index::{Index, IndexKind};
use floatgate_base::{ChosenPolicy, ParamInfo, PolicyInfo, Rng, UnitId};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "windowed-greedy",
    summary: "the block with the fewest valid pages among the oldest ones",
    source: "Hu et al., SYSTOR 2009",
    params: &[ParamInfo::whole("window", "oldest blocks considered, in each plane", 1024, (1, u32::MAX))],
    cost: "O(1)",
    memory: "28 bytes per block",
};

/// Parameters of windowed greedy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Number of oldest blocks considered, in each domain.
    window: u32,
}

impl VictimPolicy for Params {
    fn of(settings: &ChosenPolicy) -> Self {
        Self { window: settings.whole("window") }
    }

    fn index_kind(&self) -> IndexKind {
        IndexKind::ByValidInWindow { window: self.window }
    }

    fn pick(&self, view: View<'_>, _: &mut Rng) -> Option<UnitId> {
        let Index::Window { rings, .. } = view.index else {
            unreachable!("windowed greedy declares the window index")
        };
        // A window of full blocks must still move on, as FIFO does; nothing is rejected here.
        rings[view.domain].first()
    }
}
