//! FIFO: the block that was closed first, however many of its pages are valid.
//!
//! Source: the circular log of Rosenblum and Ousterhout, SOSP 1991; closed form in Desnoyers, SYSTOR 2012.
//! Parameters: none. Cost: O(1). Memory: 24 bytes a block.

use super::View;
use crate::index::Index;
use floatgate_base::{PolicyInfo, UnitId};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "fifo",
    summary: "the block that was closed first",
    source: "Rosenblum and Ousterhout, SOSP 1991; Desnoyers, SYSTOR 2012",
    params: &[],
    cost: "O(1)",
    memory: "24 bytes a block",
};

pub fn pick(view: View<'_>) -> Option<UnitId> {
    let Index::CloseOrder(list) = view.index else { unreachable!("fifo declares the close-order index") };
    list.oldest(view.domain)
}
