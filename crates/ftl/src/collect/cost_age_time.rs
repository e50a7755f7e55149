//! Cost-age-time: the cost-benefit score times `1 / (1 + erases)`, which delays the collection of worn blocks.
//!
//! Source: Chiang and Chang, Journal of Systems and Software 48 (1999): "cost-age-times" minimises cost (u / (1 - u)) x
//! 1/age x number of erases. Our reading: the reciprocal of that product, with Kawaguchi's `2 u` and one added to the
//! erases. A block never erased thus keeps a finite score. Age counts since the block was closed, or since it last lost
//! a page (`age_since`). Only the oldest block per number of valid pages is compared. A younger one could score higher
//! if it was erased less often: by at most the factor (1 + most erases) / (1 + fewest erases) of the plane. Uniform
//! writes keep that factor near 1. Cold blocks that are never collected do not matter, for they hold many valid pages.
//! In between the factor can be large. Parameters: `age_since`. Cost: O(pages per block). Memory: 40 bytes per block,
//! and 4 per number of valid pages and domain.

use super::{VictimPolicy, View, cost_benefit};
use crate::index::IndexKind;
use floatgate_base::{ChosenPolicy, PolicyInfo, Rng, UnitId};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "cost-age-time",
    summary: "cost-benefit times 1 / (1 + erases)",
    source: "Chiang and Chang, J. Systems and Software 1999",
    params: &[cost_benefit::AGE_SINCE],
    cost: "O(pages per block)",
    memory: "40 bytes per block",
};

/// Parameters of cost-age-time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params(cost_benefit::Params);

impl VictimPolicy for Params {
    fn of(settings: &ChosenPolicy) -> Self {
        Self(cost_benefit::Params::of(settings))
    }

    fn index_kind(&self) -> IndexKind {
        self.0.index_kind()
    }

    fn pick(&self, view: View<'_>, _: &mut Rng) -> Option<UnitId> {
        cost_benefit::best(view, |age| age, |unit| 1.0 / (1.0 + f64::from(view.erases[unit])))
    }
}
