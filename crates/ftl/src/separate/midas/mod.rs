//! MiDAS: a chain of groups whose number and sizes follow from how long data live.
//!
//! Host pages go into group 1, hot ones into a hot group in front of it (`hot`). Valid pages of a victim go into the
//! next group; those of the last one stay in it. All groups but the last are queues. The first group that exceeds its
//! size gives its oldest unit as the victim. If no group does, the victim policy selects among the units of the last
//! one (`chain`). Sizes come from a model. Over an epoch a sample of pages provides the distribution of update
//! intervals (`uid`). From it a Markov chain predicts the valid share of each group's victims (`mcam`), and a search
//! finds the configuration of the least write amplification (`gcs`). It is applied unless the drive already does
//! better. A group that turns out to hold more valid pages than predicted is merged with those behind it until the next
//! epoch (`watch`). Source: Oh, Kim, Han, Kim, Lee, Noh, FAST 2024, and the authors' two programs, the simulator
//! (sungkyun123/MiDAS-Simulation, which takes precedence) and the prototype (dgist-datalab/MiDAS).
//!
//! Our choices: sizes are units per domain; a *segment* of the model is a unit in each domain. An epoch begins with the
//! first write that replaces data. The search runs at once, before the next victim is selected, and not in a parallel
//! thread. The chain has at most five groups besides the hot one, as the prototype begins with (their search continues
//! to nine), because each keeps a unit open in every plane. Open units of groups that vanish are closed as they are.
//! Cost: two look-ups per write; the search takes some milliseconds per epoch and hundred blocks of a plane. Memory: 9
//! bits per page, 4 bytes per page of the sample, 8 per interval, 10 per block.

mod chain;
mod gcs;
mod hot;
mod mcam;
mod uid;
mod watch;

use super::{
    ChosenPolicy, Moved, Occupancy, Regroup, Replaced, Separator, Shape, StreamId, VictimUnit, Written,
};
use chain::Chain;
use floatgate_base::{Lpn, ParamInfo, PolicyInfo};
use gcs::{Bounds, GroupPlan};
use hot::HotFilter;
use mcam::{Hot, Load};
use serde::{Deserialize, Serialize};
use uid::Uid;
use watch::Watch;

pub const INFO: PolicyInfo = PolicyInfo {
    name: "midas",
    summary: "a chain of groups whose number and sizes a model of update intervals chooses",
    source: "Oh et al., FAST 2024",
    params: &[
        ParamInfo::whole("groups", "the most groups, not counting the hot one", 5, (2, 62)),
        ParamInfo::whole(
            "merged_groups",
            "groups that pages pass through while no configuration is known",
            4,
            (1, 62),
        ),
        ParamInfo::flag("hot_group", "whether hot pages have a group before the others", true),
        ParamInfo::whole("sample_every", "one page in this many is in the sample", 100, (1, 1 << 20))
            .or("100, fewer on drives of less than 2,000,000 pages to sample 20,000"),
        ParamInfo::real(
            "epoch_drive_writes",
            "length of an epoch in writes of the whole drive",
            4.0,
            (0.1, 64.0),
        ),
        ParamInfo::whole("intervals", "intervals of the distribution per block of each plane", 4, (1, 64)),
        ParamInfo::real(
            "mismatch",
            "share of a victim's pages by which the valid ones may exceed the prediction",
            0.1,
            (0.01, 1.0),
        ),
    ],
    cost: "two look-ups; a search per epoch",
    memory: "9 bits per page, 4 bytes per page of the sample, 10 per block",
};

/// Least number of pages in the sample, if the drive has as many.
const SAMPLE: u32 = 20_000;
const SAMPLE_EVERY: u32 = 100;
/// Full units of the last group beyond `JUST_FILLED` of all segments stand still, if they are at least `STILL_FROM` of
/// them.
const JUST_FILLED: f64 = 0.05;
const STILL_FROM: f64 = 0.2;

/// Parameters of MiDAS.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    groups: u32,
    merged_groups: u32,
    hot_group: bool,
    sample_every: Option<u32>,
    epoch_drive_writes: f64,
    intervals: u32,
    mismatch: f64,
}

impl Params {
    pub fn of(settings: &ChosenPolicy) -> Self {
        Self {
            groups: settings.whole("groups"),
            merged_groups: settings.whole("merged_groups"),
            hot_group: settings.find_flag("hot_group").unwrap_or(true),
            sample_every: settings.find_whole("sample_every").map(|every| every as u32),
            epoch_drive_writes: settings.real("epoch_drive_writes"),
            intervals: settings.whole("intervals"),
            mismatch: settings.real("mismatch"),
        }
    }

    pub fn streams(self) -> u32 {
        self.groups + 1
    }

    /// Checks whether pages may be hot.
    #[inline(always)]
    pub fn has_hot_group(self) -> bool {
        self.hot_group
    }
}

/// Counters of MiDAS.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct MidasCounters {
    epochs: u64,
    applied: u64,
    merged: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    chain: Chain,
    hot: Option<HotFilter>,
    uid: Uid,
    watch: Watch,
    groups: u32,
    domains: u32,
    pages_per_unit: u32,
    /// The group from which on groups are to be merged, before the next victim.
    irregular: Option<StreamId>,
    /// Whether an irregular group was in the first half of the chain in this epoch, and for how many epochs in a row.
    early: bool,
    early_epochs: u32,
    foretold_waf: Option<f64>,
    counts: MidasCounters,
}

impl State {
    pub fn new(params: &Params, shape: &Shape) -> Self {
        let segment = shape.pages_per_unit.saturating_mul(shape.domains);
        let every = params.sample_every.unwrap_or((shape.logical_pages / SAMPLE).clamp(1, SAMPLE_EVERY));
        let window = (params.epoch_drive_writes * f64::from(shape.logical_pages)) as u64;
        Self {
            chain: Chain::new(params.groups, params.merged_groups),
            hot: params.hot_group.then(|| HotFilter::new(shape.logical_pages)),
            uid: Uid::new(shape.logical_pages, every, window, (segment / params.intervals).max(1)),
            watch: Watch::new(params.streams(), shape.logical_pages, shape.pages_per_unit, params.mismatch),
            groups: params.groups,
            domains: shape.domains,
            pages_per_unit: shape.pages_per_unit,
            irregular: None,
            early: false,
            early_epochs: 0,
            foretold_waf: None,
            counts: MidasCounters::default(),
        }
    }

    /// Returns the pages of a unit in each domain.
    fn segment_pages(&self) -> f64 {
        f64::from(self.pages_per_unit) * f64::from(self.domains)
    }

    /// Returns the best configuration by the data of the epoch; none if these suffice for none.
    fn plan(&mut self, held: &Occupancy) -> Option<GroupPlan> {
        let segment_pages = self.segment_pages();
        let hot = match &mut self.hot {
            Some(hot) => hot.measured(segment_pages)?,
            None => Hot::None,
        };
        let distribution = self.uid.distribution(segment_pages);
        // Sizes include an open unit for each group in use, beside the closed ones; at least two.
        let segments = held.closed / self.domains + 2;
        let full = f64::from(held.full) / f64::from(self.domains);
        let still = full - JUST_FILLED * f64::from(segments);
        let load = Load {
            valid: held.mapped_pages as f64 / segment_pages,
            still: if still < STILL_FROM * f64::from(segments) { 0.0 } else { still },
            margin: f64::from(segments.div_ceil(40)),
        };
        gcs::select(&distribution, &load, &Bounds { segments, groups: self.groups, hot })
    }

    /// Ends an epoch.
    fn next_epoch(&mut self, held: &Occupancy) -> Option<Regroup> {
        self.counts.epochs += 1;
        let plan = self.plan(held);
        let Some(plan) = plan else {
            // The epoch was too short for a prediction.
            self.uid.restart(true);
            return None;
        };
        let better = self.watch.waf().is_none_or(|waf| waf >= plan.prediction.waf);
        let applies = better && plan.sizes.len() > 1;
        self.early_epochs = if std::mem::take(&mut self.early) {
            self.early_epochs + 1
        } else if applies {
            0
        } else {
            self.early_epochs
        };
        self.uid.restart(applies && self.early_epochs >= 2);
        self.watch.forget();
        if !applies {
            return None;
        }
        self.counts.applied += 1;
        self.foretold_waf = Some(plan.prediction.waf);
        let sizes = [&[plan.hot_segments()][..], &plan.sizes].concat();
        self.watch.expect([&[0.0][..], &plan.prediction.valid].concat());
        Some(self.chain.apply(&sizes))
    }

    /// Merges groups from one on after a wrong prediction.
    fn merge(&mut self, from: StreamId) -> Option<Regroup> {
        let groups = self.chain.last().0;
        let regroup = self.chain.merge(from)?;
        self.early |= from.0 <= groups / 2;
        self.counts.merged += 1;
        Some(regroup)
    }
}

impl Separator for State {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        self.uid.write(page.lpn, page.update);
        self.watch.written();
        match &mut self.hot {
            Some(hot) => hot.write(page.lpn),
            None => HotFilter::FIRST,
        }
    }

    #[inline(always)]
    fn move_stream(&self, page: &Moved) -> StreamId {
        self.chain.next(page.from)
    }

    #[inline(always)]
    fn side_stream(&self, from: StreamId) -> StreamId {
        // A queue would move pages that never die around forever.
        self.chain.next(from)
    }

    #[inline(always)]
    fn moved(&mut self, page: &Moved, _stream: StreamId) {
        if let Some(hot) = &mut self.hot {
            hot.moved(page.lpn, page.from);
        }
    }

    fn trimmed(&mut self, lpn: Lpn, _now: u64) {
        self.uid.trimmed(lpn);
    }

    #[inline(always)]
    fn replaces(&mut self, page: &Replaced) {
        if let Some(hot) = &mut self.hot {
            hot.replaces(page);
        }
    }

    fn chosen(&mut self, unit: &VictimUnit) {
        let valid = self.watch.valid_share(unit);
        if let (HotFilter::HOT, Some(hot)) = (unit.stream, &mut self.hot) {
            hot.chosen(unit, valid);
        }
        let used = (self.chain.last(), self.hot.is_some());
        if self.watch.chosen(unit, used, self.uid.window_pages()) {
            // The last group alone may be merged already: then one more.
            let last = self.chain.last();
            let from = if self.chain.is_merged() && unit.stream >= last { last.0 - 1 } else { unit.stream.0 };
            self.irregular = Some(StreamId(from));
        } else if self.watch.is_due(unit.now) {
            // The last group is compared, too, unless it is merged.
            let end = self.chain.last().0 + u32::from(!self.chain.is_merged());
            self.irregular = self.watch.compare(end);
        }
    }

    fn queues(&self) -> bool {
        true
    }

    fn is_queued(&self, stream: StreamId) -> bool {
        self.chain.is_queued(stream)
    }

    fn victim_stream(&self, closed: &[u32]) -> Option<StreamId> {
        self.chain.oversized(closed)
    }

    fn wants_regroup(&self) -> bool {
        self.irregular.is_some() || self.uid.is_full()
    }

    fn regroup(&mut self, held: &Occupancy) -> Option<Regroup> {
        match self.irregular.take() {
            Some(from) => self.merge(from),
            None => self.next_epoch(held),
        }
    }

    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        if let Some(hot) = &self.hot {
            hot.prefetch(lpn);
        }
    }

    fn memory_bytes(&self) -> u64 {
        self.uid.memory_bytes() + self.hot.as_ref().map_or(0, HotFilter::memory_bytes)
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        let mut figures = vec![
            ("epochs", self.counts.epochs as f64),
            ("applied", self.counts.applied as f64),
            ("merged", self.counts.merged as f64),
            ("last_group", f64::from(self.chain.last().0)),
        ];
        figures.extend(self.foretold_waf.map(|waf| ("foretold_waf", waf)));
        figures
    }
}
