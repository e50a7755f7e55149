//! Cost-benefit with the root of age: the block with the greatest `(1 - u) / u * sqrt(age)`, where u is its share of
//! valid pages. Age counts host page writes since it was closed, or since it last lost a page (`age_since`).
//!
//! Source: Wang et al., FAST 2022, whose evaluation of separators, SepBIT and all others, collects by this form. As in
//! the classic form, comparing the oldest block per number of valid pages is exact. Parameters: `age_since`. Cost:
//! O(pages per block). Memory: 40 bytes per block, and 4 per number of valid pages and domain.

use super::{VictimPolicy, View, cost_benefit};
use crate::index::IndexKind;
use floatgate_base::{ChosenPolicy, PolicyInfo, Rng, UnitId};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "cost-benefit-sqrt",
    summary: "the block with the greatest (1 - u) sqrt(age) / u",
    source: "Wang et al., FAST 2022",
    params: &[cost_benefit::AGE_SINCE],
    cost: "O(pages per block)",
    memory: "40 bytes per block",
};

/// Parameters of cost-benefit with the root of age.
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
        cost_benefit::best(view, f64::sqrt, |_| 1.0)
    }
}
