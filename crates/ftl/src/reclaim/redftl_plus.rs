//! redFTL+: read-resistant blocks, and hot pages on read-resistant pages, mixed with the least-read data.
//!
//! Source: dissertation (redFTL), chapter 4. Sums are of effective disturbance. A block is reclaimed in idle time from
//! `proactive_at` of the maximum on, on demand at the maximum. The modes are those of `rrb`, the moves those of
//! `mixing.rs`. Two 4-bit counters measure how hot a page is (`hotness.rs`); they are sampled `samples` times in a
//! cycle of a block. Cost: one sum and one counter per read; a reclaim sorts the pages of two blocks. Memory: 1 byte
//! per page, 40 bytes per block.

use super::hotness::TwoLevel;
use super::mixing::{MixParams, Mixing, PARAMS};
use floatgate_base::{ChosenPolicy, ParamInfo, PolicyInfo};
use floatgate_flash::Layout;

pub(super) const INFO: PolicyInfo = PolicyInfo {
    name: "redftl-plus",
    summary: "disturbed blocks are mixed with cold ones into blocks that endure more reads, hot pages where reads disturb least",
    source: "dissertation on cross-layer optimization of NAND flash storage, chapter 4 (redFTL+)",
    params: &[
        PARAMS[0],
        PARAMS[1],
        PARAMS[2],
        ParamInfo::whole(
            "samples",
            "number of times that counters are sampled up to the maximum",
            15,
            (1, 255),
        ),
    ],
    cost: "one sum and one counter per flash read",
    memory: "1 byte per page, 40 bytes per block",
};

/// Parameters of redFTL+.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params(MixParams);

impl super::Params for Params {
    type State = State;

    const PROACTIVE: bool = true;

    fn of(settings: &ChosenPolicy) -> Self {
        Self(MixParams::of(settings, settings.whole("samples")))
    }

    fn reclaims_at(&self, at_once: bool) -> f64 {
        self.0.reclaims_at(at_once)
    }

    fn state(&self, layout: &Layout) -> State {
        Mixing::new(self.0, layout)
    }
}

/// State of redFTL+.
pub type State = Mixing<TwoLevel>;
