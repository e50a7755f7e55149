//! Reclaim by mixing: the pages of a disturbed block and of the least-read one of its domain move to two blocks, hot ones to
//! pages whose reads disturb least (redFTL+, section 4.3.3).
//!
//! Pages are sorted in memory first: a block is programmed in the order of its pages whatever goes there.

use super::coldest::Coldest;
use super::hotness::Hotness;
use super::manager::{Action, Manager, Reached};
use super::rrb::PROACTIVE_AT;
use super::sums::Counting;
use super::view::DisturbView;
use crate::jobs::request::Planned;
use crate::jobs::{Order, Request, Target, Urgency};
use crate::pool::Want;
use crate::units::NO_UNIT;
use floatgate_base::{DomainId, Given, ParamInfo, Ppn, UnitId};
use floatgate_flash::{Cause, Layout};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// What all such managers take.
pub(super) const PARAMS: [ParamInfo; 3] = [
    PROACTIVE_AT,
    ParamInfo::name("mix", "what a reclaimed block is mixed with", MIXES).shared(),
    ParamInfo::name("order", "where its pages go", ORDERS).shared(),
];

const MIXES: &[(&str, &str)] =
    &[("coldest", "the least-read block of its plane"), ("nothing", "none: it moves to one block")];
const ORDERS: &[(&str, &str)] =
    &[("by-type", "hot ones to page types that disturb least"), ("as-they-are", "ascending")];

/// Their parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MixParams {
    proactive_at: f64,
    mixes: bool,
    sorts: bool,
    /// Points of a cycle at which counters are looked at.
    samples: u32,
}

impl MixParams {
    pub(super) fn of(given: &Given, samples: u32) -> Self {
        Self {
            proactive_at: given.real("proactive_at"),
            mixes: given.text("mix") == MIXES[0].0,
            sorts: given.text("order") == ORDERS[0].0,
            samples,
        }
    }
}

/// What such a manager keeps.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Mixing<H> {
    params: MixParams,
    hotness: H,
    coldest: Coldest,
}

impl<H: Hotness> Mixing<H> {
    pub(super) fn new(params: MixParams, layout: &Layout) -> Self {
        Self { params, hotness: H::new(layout), coldest: Coldest::new(layout) }
    }

    /// The `i`-th point at which counters are looked at.
    fn sample_point(&self, i: u32, max: u32) -> u32 {
        let point = u64::from(i) * u64::from(max);
        u32::try_from(point.div_ceil(u64::from(self.params.samples))).unwrap_or(u32::MAX)
    }

    fn proactive_point(&self, max: u32) -> u32 {
        (self.params.proactive_at * f64::from(max)) as u32
    }

    /// The pages of two units in the order in which they move.
    fn plan(&self, drive: &DisturbView<'_>, units: [UnitId; 2], targets: u8) -> Vec<Planned> {
        let mut pages: Vec<Ppn> =
            units.into_iter().filter(|&u| u != NO_UNIT).flat_map(|unit| drive.live_pages(unit)).collect();
        let mut places = places(drive, pages.len() as u32, targets);
        if self.params.sorts {
            pages.sort_by_key(|&ppn| Reverse(self.hotness.of(ppn)));
            places.sort_by_key(|place| (place.weight, place.page, place.target));
        }
        let mut planned: Vec<_> = places.into_iter().zip(pages).collect();
        planned.sort_by_key(|(place, _)| (place.page, place.target));
        planned.into_iter().map(|(place, page)| Planned { page, target: place.target }).collect()
    }
}

/// A place in one of the targets.
struct Place {
    /// What a read there disturbs in the ordinary mode.
    weight: u32,
    /// Number of the page in its unit.
    page: u32,
    target: u8,
}

/// The first places of the targets, as many as there are pages.
fn places(drive: &DisturbView<'_>, pages: u32, targets: u8) -> Vec<Place> {
    let of = |i: u32| {
        let (page, target) = (i / u32::from(targets), (i % u32::from(targets)) as u8);
        // Pages have the same type in every unit.
        let weight = drive.disturb.weight(0, drive.type_of(Ppn(page)));
        Place { weight, page, target }
    };
    (0..pages).map(of).collect()
}

impl<H: Hotness> Manager for Mixing<H> {
    fn counting(&self) -> Counting {
        Counting::Effective
    }

    fn next_watch(&self, sum: u32, max: u32) -> u32 {
        let passed = u64::from(sum) * u64::from(self.params.samples) / u64::from(max);
        let sample = self.sample_point(passed as u32 + 1, max);
        let proactive = Some(self.proactive_point(max)).filter(|&point| point > sum);
        proactive.map_or(sample, |point| point.min(sample))
    }

    fn reached(&mut self, drive: &mut DisturbView<'_>, reached: Reached) -> Action {
        let passed = |sum: u32| u64::from(sum) * u64::from(self.params.samples) / u64::from(reached.max);
        if passed(reached.sum) > passed(reached.point - 1) {
            let first = drive.layout.first_page(reached.unit);
            let pages = Ppn::each(first..first + drive.layout.pages_per_unit());
            let layout = drive.layout;
            self.hotness.sample(pages.filter(|&ppn| layout.block_of(ppn) == reached.block));
        }
        let proactive = self.proactive_point(reached.max);
        if reached.sum >= proactive { Action::Reclaim } else { Action::None }
    }

    fn take_params(&mut self, from: &Self) {
        self.params = from.params;
    }

    fn request(&mut self, drive: &mut DisturbView<'_>, unit: UnitId, urgency: Urgency) -> Request {
        let domain = drive.layout.domain_of(unit);
        let cold = if self.params.mixes { self.coldest.find(drive, unit) } else { None };
        let targets = if cold.is_some() { 2 } else { 1 };
        let sources = [unit, cold.unwrap_or(NO_UNIT)];
        let target = Target::Own { domain, want: Want::Next, mode: drive.mode_after(unit), kept: false };
        Request {
            sources,
            order: Order::Listed(self.plan(drive, sources, targets).into()),
            targets: [target; 2],
            ..Request::emptying(unit, domain, Cause::Reclaim, urgency)
        }
    }

    #[inline(always)]
    fn read(&mut self, ppn: Ppn) {
        self.hotness.read(ppn);
    }

    #[inline(always)]
    fn prefetch(&self, ppn: Ppn) {
        self.hotness.prefetch(ppn);
    }

    fn closed(&mut self, domain: DomainId, unit: UnitId) {
        self.coldest.insert(domain, unit);
    }

    fn emptying(&mut self, domain: DomainId, unit: UnitId) {
        self.coldest.remove(domain, unit);
    }

    fn erased(&mut self, layout: &Layout, unit: UnitId) {
        self.hotness.erased(layout, unit);
    }

    fn memory_bytes(&self) -> u64 {
        self.hotness.memory_bytes() + self.coldest.memory_bytes()
    }

    fn fits(&self, layout: &Layout) -> bool {
        self.hotness.fits(layout) && self.coldest.fits(layout)
    }
}
