//! FIFO: the block that was closed first, however many of its pages are valid.
//!
//! Source: the circular log of Rosenblum and Ousterhout, SOSP 1991; closed form in Desnoyers, SYSTOR 2012.
//! Parameters: none. Cost: O(1). Memory: 24 bytes per block.

use super::{VictimPolicy, View};
use crate::index::{Index, IndexKind};
use floatgate_base::{ChosenPolicy, PolicyInfo, Rng, UnitId};
use floatgate_theory::Policy as Law;

pub const INFO: PolicyInfo = PolicyInfo {
    name: "fifo",
    summary: "the block that was closed first",
    source: "Rosenblum and Ousterhout, SOSP 1991; Desnoyers, SYSTOR 2012",
    params: &[],
    cost: "O(1)",
    memory: "24 bytes per block",
};

/// FIFO has no parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params;

impl VictimPolicy for Params {
    fn of(_: &ChosenPolicy) -> Self {
        Self
    }

    fn index_kind(&self) -> IndexKind {
        IndexKind::CloseOrder
    }

    fn pick(&self, view: View<'_>, _: &mut Rng) -> Option<UnitId> {
        let Index::CloseOrder(list) = view.index else { unreachable!("fifo declares the close-order index") };
        list.oldest(view.domain)
    }

    fn law(&self) -> Option<Law> {
        Some(Law::Fifo)
    }
}
