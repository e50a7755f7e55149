//! Cost-benefit: the block with the greatest `(1 - u) * age / (2 u)`, u its share of valid pages, age in host page
//! writes since it was closed.
//!
//! Source: Kawaguchi, Nishioka and Motoda, USENIX 1995, after Rosenblum and Ousterhout, whose form has `1 + u` below
//! (a segment read whole and written in part); Kawaguchi's `2 u` counts reading and writing the valid pages.
//! For one number of valid pages the score rises with age, so the oldest block of each number holds the maximum:
//! looking at those alone is exact.
//! Parameters: none. Cost: O(pages per block). Memory: 40 bytes per block, and 4 for each number of valid pages and domain.

use super::{VictimPolicy, View};
use crate::index::{Index, IndexKind};
use floatgate_base::{Given, PolicyInfo, Rng, UnitId};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "cost-benefit",
    summary: "the block with the greatest (1 - u) age / (2 u)",
    source: "Kawaguchi et al., USENIX 1995",
    params: &[],
    cost: "O(pages per block)",
    memory: "40 bytes per block",
};

/// It has no parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params;

impl VictimPolicy for Params {
    fn of(_: &Given) -> Self {
        Self
    }

    fn index_kind(&self) -> IndexKind {
        IndexKind::OldestByValid
    }

    fn pick(&self, view: View<'_>, _: &mut Rng) -> Option<UnitId> {
        best(view, |age| age, |_| 1.0)
    }
}

/// The oldest unit of the valid count whose score, with `of_age(age)` for its age, times `weight(unit)` is greatest; a dead
/// block beats all.
pub fn best(view: View<'_>, of_age: impl Fn(f64) -> f64, weight: impl Fn(UnitId) -> f64) -> Option<UnitId> {
    let Index::Oldest(heaps) = view.index else {
        unreachable!("cost-benefit declares the oldest-by-valid index")
    };
    let pages = view.layout.pages_per_unit();
    if let Some(dead) = heaps.oldest(view.domain, 0) {
        return Some(dead);
    }
    let mut best = None;
    for valid in 1..pages {
        let Some(unit) = heaps.oldest(view.domain, valid) else { continue };
        // One is added to every age: of blocks closed just now the emptier one must win.
        let age = (view.now - view.units.closed_at[unit] + 1) as f64;
        let score = f64::from(pages - valid) * of_age(age) / (2.0 * f64::from(valid)) * weight(unit);
        if best.is_none_or(|(top, _)| score > top) {
            best = Some((score, unit));
        }
    }
    best.map(|(_, unit)| unit)
}
