//! Cost-benefit: the block with the greatest `(1 - u) * age / (2 u)`, where u is its share of valid pages and age
//! counts host page writes since it was closed, or since it last lost a page (`age_since`).
//!
//! Source: Kawaguchi, Nishioka and Motoda, USENIX 1995, after Rosenblum and Ousterhout, whose form has `1 + u` below (a
//! segment read whole and written in part); Kawaguchi's `2 u` counts reading and writing the valid pages. Its age is
//! the time since a block of the segment was last invalidated; evaluations of log-structured stores take the time since
//! it was closed (SepBIT, FAST 2022), which is the default. Among blocks with the same number of valid pages the score
//! rises with age. Comparing the oldest block per number is therefore exact. Parameters: `age_since`. Cost: O(pages per
//! block). Memory: 40 bytes per block, and 4 per number of valid pages and domain.

use super::{VictimPolicy, View};
use crate::index::{Index, IndexKind};
use floatgate_base::{ChosenPolicy, ParamInfo, PolicyInfo, Rng, UnitId};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "cost-benefit",
    summary: "the block with the greatest (1 - u) age / (2 u)",
    source: "Kawaguchi et al., USENIX 1995",
    params: &[AGE_SINCE],
    cost: "O(pages per block)",
    memory: "40 bytes per block",
};

/// The events from which the age of a block can count, with descriptions.
const AGES: &[(&str, &str)] = &[("closed", "since it was closed"), ("changed", "since it last lost a page")];

/// The parameter that selects the event.
pub const AGE_SINCE: ParamInfo =
    ParamInfo::name("age_since", "event from which the age of a block counts: closed or changed", AGES);

/// Parameters of all policies that weigh valid pages against age.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    since_changed: bool,
}

impl VictimPolicy for Params {
    fn of(settings: &ChosenPolicy) -> Self {
        Self { since_changed: settings.text(AGE_SINCE.name) == AGES[1].0 }
    }

    fn index_kind(&self) -> IndexKind {
        if self.since_changed { IndexKind::IdlestByValid } else { IndexKind::OldestByValid }
    }

    fn pick(&self, view: View<'_>, _: &mut Rng) -> Option<UnitId> {
        best(view, |age| age, |_| 1.0)
    }
}

/// Returns the unit with the greatest score: that of its valid count, times `of_age(age)`, times `weight(unit)`. A dead
/// block wins over all others.
pub fn best(view: View<'_>, of_age: impl Fn(f64) -> f64, weight: impl Fn(UnitId) -> f64) -> Option<UnitId> {
    let (Index::Oldest(heaps) | Index::Idlest(heaps)) = view.index else {
        unreachable!("cost-benefit declares an index by valid pages and age")
    };
    let pages = view.layout.pages_per_unit();
    if let Some(dead) = heaps.oldest(view.domain, 0) {
        return Some(dead);
    }
    let mut best = None;
    for valid in 1..pages {
        let Some(unit) = heaps.oldest(view.domain, valid) else { continue };
        // Add one to each age: of blocks closed just now the emptier one must win.
        let age = (view.now - heaps.aged_from(unit) + 1) as f64;
        let score = f64::from(pages - valid) * of_age(age) / (2.0 * f64::from(valid)) * weight(unit);
        if best.is_none_or(|(top, _)| score > top) {
            best = Some((score, unit));
        }
    }
    best.map(|(_, unit)| unit)
}
