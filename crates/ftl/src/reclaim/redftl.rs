//! redFTL: frequently read pages get replicas on healthy blocks before their block must be reclaimed.
//!
//! Source: dissertation (redFTL), chapter 3. When a block's reads reach `create_at` of the maximum, its hot pages get
//! replicas. They are those read more than `hot_factor` times as often as a page of the block on average (section
//! 3.4.2), or a random half of the live ones if no page is. Each replica goes to the tail of another block
//! (`healthy.rs`) and serves the reads from then on. The original stays, or collection would take its block for a good
//! victim. When a block that holds replicas reaches `migrate_at`, they take the place of their originals. A block that
//! reaches the maximum nevertheless moves to two blocks, page by page in the order of reads (section 3.3.1, Figure 9).
//!
//! Two choices that the text leaves open are parameters. `replicas_in`: section 3.5 says that replicas require blocks and
//! that collection grows with them; with `closed-then-free` a free block takes replicas once no closed one does.
//! `replicas_at_once`: section 3.3.2 spreads migrations over a longer time; with 1, a read of the block makes one replica.
//!
//! `rate`: read literally, the rate of a block is that of all its reads, which hardly any page exceeds; the default
//! divides it by the live pages. Cost: 12 bytes per read. Memory: 12 bytes per page and 12 bytes per replica.

use super::baseline::AT;
use super::healthy::Healthy;
use super::manager::{Action, Manager, Reached};
use super::rates::Rates;
use super::sums::Counting;
use super::view::DisturbView;
use crate::jobs::request::Planned;
use crate::jobs::{Order, Request, Target, Urgency};
use crate::pool::Want;
use floatgate_base::policy::Range;
use floatgate_base::{ChosenPolicy, DomainId, ParamInfo, PolicyInfo, Ppn, UnitId};
use floatgate_flash::{Cause, Layout};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const SHARE: Range = Range { above_least: true, ..Range::SHARE };

pub(super) const INFO: PolicyInfo = PolicyInfo {
    name: "redftl",
    summary: "frequently read pages get replicas on other blocks in time",
    source: "dissertation on cross-layer optimization of NAND flash storage, chapter 3 (redFTL)",
    params: &[
        AT,
        ParamInfo::within(
            "create_at",
            "share of the maximum at which a block's hot pages get replicas",
            0.7,
            SHARE,
        ),
        ParamInfo::within(
            "migrate_at",
            "share of the maximum at which the replicas that a block holds replace their originals",
            0.9,
            SHARE,
        ),
        ParamInfo::within(
            "hot_factor",
            "a page is hot if its rate is this multiple of its block's (alpha)",
            2.0,
            Range::ABOVE_0,
        ),
        ParamInfo::name("rate", "the rate of a block", RATES),
        ParamInfo::whole(
            "replica_pages",
            "pages at the end of each block reserved for replicas",
            15,
            (1, 4096),
        ),
        ParamInfo::name("replicas_in", "blocks that take replicas", HOLDERS),
        ParamInfo::whole(
            "replicas_at_once",
            "most pages of a block that get replicas at one time, the next ones at its next read; 0 for all",
            0,
            (0, 4096),
        ),
    ],
    cost: "12 bytes per read",
    memory: "12 bytes per page, 12 bytes per replica",
};

const RATES: &[(&str, &str)] = &[("per-page", "its reads over its live pages"), ("block", "all its reads")];
const HOLDERS: &[(&str, &str)] = &[
    ("closed", "closed blocks, at their end"),
    ("closed-then-free", "free blocks once no closed one takes any; collection makes room for them"),
];

/// Parameters of redFTL.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Params {
    at: f64,
    create_at: f64,
    migrate_at: f64,
    hot_factor: f64,
    per_page: bool,
    /// See [`Manager::tail_pages`].
    pub replica_pages: u32,
    in_free: bool,
    at_once: u32,
}

impl super::Params for Params {
    type State = State;

    const PROACTIVE: bool = true;

    fn of(settings: &ChosenPolicy) -> Self {
        Self {
            at: settings.real("at"),
            create_at: settings.real("create_at"),
            migrate_at: settings.real("migrate_at"),
            hot_factor: settings.real("hot_factor"),
            per_page: settings.text("rate") == RATES[0].0,
            replica_pages: settings.whole("replica_pages"),
            in_free: settings.text("replicas_in") == HOLDERS[1].0,
            at_once: settings.whole("replicas_at_once"),
        }
    }

    fn reclaims_at(&self, _: bool) -> f64 {
        self.at
    }

    fn state(&self, layout: &Layout) -> State {
        State {
            params: *self,
            rates: Rates::new(layout),
            healthy: Healthy::new(layout),
            waiting: BTreeMap::new(),
        }
    }
}

/// State of redFTL.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    params: Params,
    rates: Rates,
    healthy: Healthy,
    /// Hot pages whose replicas are yet to be made, by unit, in their order.
    waiting: BTreeMap<UnitId, Vec<Ppn>>,
}

impl State {
    /// Returns the pages of a unit that get replicas now; the others wait for its next reads.
    fn next_replicas(&mut self, unit: UnitId, mut pages: Vec<Ppn>) -> Action {
        let most = self.params.at_once as usize;
        if most == 0 || pages.len() <= most {
            return Action::Replicate(pages);
        }
        let later = pages.split_off(most);
        self.waiting.insert(unit, later);
        Action::Replicate(pages)
    }

    /// Returns the pages of a unit that get replicas: the hot ones, or a random half of the live ones.
    fn hot_pages(&self, drive: &mut DisturbView<'_>, unit: UnitId) -> Vec<Ppn> {
        let mut live = drive.live_pages(unit);
        let mut of_unit = self.rates.of_unit(drive.layout, unit);
        if self.params.per_page {
            of_unit /= live.len().max(1) as f64;
        }
        let least = self.params.hot_factor * of_unit;
        let hot: Vec<_> = live.iter().copied().filter(|&ppn| self.rates.of_page(ppn) > least).collect();
        if !hot.is_empty() {
            return hot;
        }
        for i in (1..live.len()).rev() {
            live.swap(i, drive.rng.below(i as u64 + 1) as usize);
        }
        live.truncate(live.len() / 2);
        live.sort_unstable();
        live
    }
}

impl Manager for State {
    fn counting(&self) -> Counting {
        Counting::Reads
    }

    fn at(&self) -> f64 {
        self.params.at
    }

    fn next_watch(&self, sum: u32, max: u32) -> u32 {
        let points = [self.params.create_at, self.params.migrate_at].map(|at| (at * f64::from(max)) as u32);
        points.into_iter().filter(|&point| point > sum).min().unwrap_or(u32::MAX)
    }

    fn reached(&mut self, drive: &mut DisturbView<'_>, reached: Reached) -> Action {
        let [create, migrate] =
            [self.params.create_at, self.params.migrate_at].map(|at| (at * f64::from(reached.max)) as u32);
        if reached.sum >= migrate && drive.holds_replicas(reached.unit) {
            Action::Promote
        } else if reached.point <= create {
            let pages = self.hot_pages(drive, reached.unit);
            self.next_replicas(reached.unit, pages)
        } else if let Some(pages) = self.waiting.remove(&reached.unit) {
            self.next_replicas(reached.unit, pages)
        } else {
            Action::None
        }
    }

    fn continues(&self, unit: UnitId) -> bool {
        self.waiting.contains_key(&unit)
    }

    fn opens_holders(&self) -> bool {
        self.params.in_free
    }

    fn take_params(&mut self, from: &Self) {
        self.params = from.params;
    }

    fn request(&mut self, drive: &mut DisturbView<'_>, unit: UnitId, urgency: Urgency) -> Request {
        let domain = drive.layout.domain_of(unit);
        let mut pages = drive.live_pages(unit);
        pages.sort_by_key(|&ppn| std::cmp::Reverse(self.rates.reads_of(ppn)));
        let dealt = pages.into_iter().zip([0, 1].into_iter().cycle());
        let planned: Vec<_> = dealt.map(|(page, target)| Planned { page, target }).collect();
        let target = Target::Own { domain, want: Want::Next, mode: 0, kept: true };
        Request {
            order: Order::Listed(planned.into()),
            targets: [target; 2],
            ..Request::emptying(unit, domain, Cause::Reclaim, urgency)
        }
    }

    #[inline(always)]
    fn read(&mut self, ppn: Ppn) {
        self.rates.read(ppn);
    }

    #[inline(always)]
    fn prefetch(&self, ppn: Ppn) {
        self.rates.prefetch(ppn);
    }

    fn closed(&mut self, _: DomainId, unit: UnitId) {
        self.healthy.closed(unit);
    }

    fn erased(&mut self, layout: &Layout, unit: UnitId) {
        self.rates.erased(layout, unit);
        self.waiting.remove(&unit);
    }

    fn tail_pages(&self) -> u32 {
        self.params.replica_pages
    }

    fn holder(&mut self, drive: &mut DisturbView<'_>, source: UnitId) -> Option<UnitId> {
        let sum_max = (self.params.create_at * f64::from(drive.disturb.max)) as u32;
        self.healthy.take(drive, source, sum_max)
    }

    fn memory_bytes(&self) -> u64 {
        let waiting: usize = self.waiting.values().map(|pages| pages.len() * size_of::<Ppn>()).sum();
        self.rates.memory_bytes() + self.healthy.memory_bytes() + waiting as u64
    }

    fn fits(&self, layout: &Layout) -> bool {
        let of_unit = |(unit, pages): (&UnitId, &Vec<Ppn>)| {
            unit.0 < layout.units()
                && pages.iter().all(|&ppn| ppn.0 < layout.pages() && layout.unit_of(ppn) == *unit)
        };
        self.rates.fits(layout) && self.healthy.fits(layout) && self.waiting.iter().all(of_unit)
    }
}
