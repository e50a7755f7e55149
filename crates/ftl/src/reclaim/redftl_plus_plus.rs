//! redFTL++: redFTL+ with exact read counts per page, to measure what its small counters cost.
//!
//! Source: dissertation (redFTL), section 4.4. Memory: 4 bytes per page, 40 bytes per block.

use super::hotness::Exact;
use super::mixing::{MixParams, Mixing, PARAMS};
use floatgate_base::{ChosenPolicy, PolicyInfo};
use floatgate_flash::Layout;

pub(super) const INFO: PolicyInfo = PolicyInfo {
    name: "redftl-plus-plus",
    summary: "redftl-plus with exact read counts per page",
    source: "dissertation on cross-layer optimization of NAND flash storage, section 4.4 (redFTL++)",
    params: &PARAMS,
    cost: "one sum and one counter per flash read",
    memory: "4 bytes per page, 40 bytes per block",
};

/// Parameters of redFTL++.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params(MixParams);

impl super::Params for Params {
    type State = State;

    const PROACTIVE: bool = true;

    fn of(settings: &ChosenPolicy) -> Self {
        Self(MixParams::of(settings, 1))
    }

    fn reclaims_at(&self, at_once: bool) -> f64 {
        self.0.reclaims_at(at_once)
    }

    fn state(&self, layout: &Layout) -> State {
        Mixing::new(self.0, layout)
    }
}

/// State of redFTL++.
pub type State = Mixing<Exact>;
