//! Reclaim by mixing: the pages of a disturbed block and of the least-read one of its domain move to two blocks. Hot
//! ones go to pages whose reads disturb least (redFTL+, section 4.3.3).
//!
//! Pages are sorted in memory first, since a block is programmed in page order.
//!
//! The text calls the partner the least disturbed block of the chip, and a free block is not disturbed at all. In this
//! reading (`mix = "coldest-or-empty"`) the pages of one block are split over two blocks, half of them in each. It takes
//! a free block for each reclaim, and does so while more are free than collection needs.

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
use floatgate_base::{ChosenPolicy, DomainId, ParamInfo, Ppn, UnitId};
use floatgate_flash::{Cause, Layout};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// Parameters of all managers that mix.
pub(super) const PARAMS: [ParamInfo; 3] = [
    PROACTIVE_AT,
    ParamInfo::name("mix", "what a reclaimed block is mixed with", MIXES).shared(),
    ParamInfo::name("order", "where its pages go", ORDERS).shared(),
];

const MIXES: &[(&str, &str)] = &[
    ("coldest", "the least-read block of its plane"),
    ("nothing", "none: it moves to one block"),
    (
        "coldest-or-empty",
        "an empty block while spare ones are free: it moves to two; else the least-read one",
    ),
];
const ORDERS: &[(&str, &str)] =
    &[("by-type", "hot ones to page types that disturb least"), ("as-they-are", "ascending")];

/// What a reclaimed block is mixed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Mix {
    Coldest,
    Nothing,
    ColdestOrEmpty,
}

/// Values of these parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MixParams {
    proactive_at: f64,
    mix: Mix,
    sorts: bool,
    /// Sample points of counters per cycle.
    samples: u32,
}

impl MixParams {
    pub(super) fn reclaims_at(&self, at_once: bool) -> f64 {
        if at_once { self.proactive_at } else { 1.0 }
    }

    pub(super) fn of(settings: &ChosenPolicy, samples: u32) -> Self {
        Self {
            proactive_at: settings.real("proactive_at"),
            mix: match settings.text("mix") {
                name if name == MIXES[0].0 => Mix::Coldest,
                name if name == MIXES[1].0 => Mix::Nothing,
                _ => Mix::ColdestOrEmpty,
            },
            sorts: settings.text("order") == ORDERS[0].0,
            samples,
        }
    }
}

/// State of a manager that mixes.
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

    /// Returns the `i`-th sample point.
    fn sample_point(&self, i: u32, max: u32) -> u32 {
        let point = u64::from(i) * u64::from(max);
        u32::try_from(point.div_ceil(u64::from(self.params.samples))).unwrap_or(u32::MAX)
    }

    fn proactive_point(&self, max: u32) -> u32 {
        (self.params.proactive_at * f64::from(max)) as u32
    }

    /// Returns the pages of two units in the order in which they move.
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

/// Units that the pages of two sources, or of a source and an empty unit, move to.
const TARGETS: u32 = 2;

/// A page of one of the targets.
struct TargetPage {
    /// The disturbance of a read there in the normal mode.
    weight: u32,
    /// Number of the page in its unit.
    page: u32,
    target: u8,
}

/// Returns the first places of the targets, one per page.
fn places(drive: &DisturbView<'_>, pages: u32, targets: u8) -> Vec<TargetPage> {
    let of = |i: u32| {
        let (page, target) = (i / u32::from(targets), (i % u32::from(targets)) as u8);
        // Page types are the same in every unit.
        let weight = drive.disturb.weight(0, drive.type_of(Ppn(page)));
        TargetPage { weight, page, target }
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
        let empty = self.params.mix == Mix::ColdestOrEmpty && drive.spare_units >= TARGETS;
        let mixes = self.params.mix != Mix::Nothing && !empty;
        let cold = if mixes { self.coldest.find(drive, unit) } else { None };
        let targets = if cold.is_some() || empty { TARGETS as u8 } else { 1 };
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
