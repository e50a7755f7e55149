//! redFTL+: read-resistant blocks, and hot pages on read-resistant pages, mixed with the data that is read least.
//!
//! Source: dissertation (redFTL), chapter 4. Sums are of effective disturbance. A block is reclaimed in idle time from
//! `proactive_at` of the maximum on, on demand at the maximum; the modes are those of `rrb`, the moves those of `mixing.rs`.
//! How hot a page is two 4-bit counters tell (`hotness.rs`), looked at `samples` times in a cycle of a block.
//! Cost: one sum and one counter per read; a reclaim sorts the pages of two blocks. Memory: 1 byte per page, 40 bytes per block.

use super::hotness::TwoLevel;
use super::mixing::{MixParams, Mixing, PARAMS};
use floatgate_base::{Given, ParamInfo, PolicyInfo};
use floatgate_flash::Layout;

pub(super) const INFO: PolicyInfo = PolicyInfo {
    name: "redftl-plus",
    summary: "disturbed blocks are mixed with cold ones into blocks that stand more reads, hot pages where reads disturb least",
    source: "dissertation on cross-layer optimization of NAND flash storage, chapter 4 (redFTL+)",
    params: &[
        PARAMS[0],
        PARAMS[1],
        PARAMS[2],
        ParamInfo::whole(
            "samples",
            "times that counters are looked at on the way to the maximum",
            15,
            (1, 255),
        ),
    ],
    cost: "one sum and one counter per flash read",
    memory: "1 byte per page, 40 bytes per block",
};

/// Its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params(MixParams);

impl super::Params for Params {
    type State = State;

    const PROACTIVE: bool = true;

    fn of(given: &Given) -> Self {
        Self(MixParams::of(given, given.whole("samples")))
    }

    fn state(&self, layout: &Layout) -> State {
        Mixing::new(self.0, layout)
    }
}

/// What it keeps.
pub type State = Mixing<TwoLevel>;
