//! Cost-benefit with the root of age: the block with the greatest `(1 - u) / u * sqrt(age)`, u its share of valid pages,
//! age in host page writes since it was closed.
//!
//! Source: Wang et al., FAST 2022, whose evaluation of separators, SepBIT and all others, collects by this form.
//! For one number of valid pages the score rises with age, as in the classic form: looking at the oldest block of each
//! number is exact.
//! Parameters: none. Cost: O(pages per block). Memory: 40 bytes a block, and 4 for each number of valid pages and domain.

use super::{View, cost_benefit};
use floatgate_base::{PolicyInfo, UnitId};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "cost-benefit-sqrt",
    summary: "the block with the greatest (1 - u) sqrt(age) / u",
    source: "Wang et al., FAST 2022",
    params: &[],
    cost: "O(pages per block)",
    memory: "40 bytes a block",
};

pub fn pick(view: View<'_>) -> Option<UnitId> {
    cost_benefit::best(view, f64::sqrt, |_| 1.0)
}
