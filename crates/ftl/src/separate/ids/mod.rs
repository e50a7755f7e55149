//! IDS: contexts whose data are updated together share a block, and repeatedly updated pages go to blocks of their own.
//!
//! A context is an update context once more than `consecutive_over` updates in a row after the first were of its own
//! data. A log keeps the last `window_updates` updates with the contexts that had written the data. Every
//! `period_updates` updates its contexts are clustered by update locality (`ids/`), and Algorithm 2 assigns update
//! groups. Contexts of the same root cluster share one. Another context joins the group of its root cluster if its own
//! original cluster was created at most `level_difference` clusters later. Pages go, when written and when moved, to
//! the block of the group of their writer if that is an update context. Pages in its update history go to a hot archive
//! block, all others to the write-once block.
//!
//! Open in the source, settled here:
//! - Figure 34's prose lets PC3 join at a difference of 2 and a threshold of 2; the test of line 13 is therefore `<=`.
//! - Line 10 creates a group once per root cluster, not once per member. A group keeps the number that the first of its
//!   members had, if no other group has taken it in this period; otherwise it gets the lowest free one. A group thus
//!   continues with its open block. Beyond `groups` groups, those created last share the group written least recently.
//! - The first call for a context only registers it (line 5). Contexts that are no longer in the log keep their group.
//! - A page is hot if its update was noted before this write; the first update of a page notes it. The history of a
//!   page is that of the last update context whose data were updated there, which bounds it to 2 bytes per page.
//! - Histories belong to contexts (section 6.2.4): a page is hot if the context that writes it is the one in whose
//!   history it is. With one history for all, 28 % of the blocks are hot archive blocks as in Figure 38 and not 11 %
//!   (`floatgate reproduce ids`), and collection takes as long.
//! - Chapter 6 speaks of "a special block called a hot archive block"; section 1.2 says that frequently updated data
//!   "from an update group" are stored separately. `archive` selects one archive for all groups or one per group. Data
//!   of update contexts without a group then share one more archive.
//! - Histories last until their context is deleted from the table, and nothing says when that is: they never expire.
//!   With `history_updates` a page leaves its history after as many updates of the drive without one of its own.
//! - A page that is written after a TRIM counts as an update. Updates of data with unknown writer do not enter the log
//!   and end a row of consecutive updates. Contexts from number `contexts` on are treated as unknown.
//! - The paper prints neither window, period nor thresholds; the defaults of window and period have the size of the
//!   paper's traces. Chapter 6 does not say whether update blocks are the last victims as in chapter 5; its Table 9
//!   says that victims are chosen greedily. They and the archive are therefore victims as any other;
//!   `update_blocks_last` makes them last.
//!
//! Source: the dissertation's chapter 6 (equations 6.1 to 6.3, Algorithm 2). Cost: two look-ups per write, one per
//! move; each period contexts * (window + contexts). Memory: 4 bytes per page, 8 more with `history_updates`, 8 per
//! context, 6 per pair of contexts in the window.

mod clusters;
mod update_log;

use super::groups::{Group, Groups, NONE, WRITE_ONCE};
use super::pds::{CONTEXTS, Context, GROUPS, PAGES_BEYOND, UNKNOWN, known};
use super::{ChosenPolicy, Moved, Separator, Shape, StreamId, UpdateBlocks, Written};
use clusters::Clusters;
use floatgate_base::memory::table;
use floatgate_base::prefetch::prefetch;
use floatgate_base::{IdVec, Lpn, ParamInfo, PolicyInfo};
use serde::{Deserialize, Serialize};
use update_log::{Localities, UpdateLog, WINDOW_MAX};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "ids",
    summary: "contexts whose data are updated together share a block, repeatedly updated pages another",
    source: "dissertation on cross-layer optimization of NAND flash storage, chapter 6 (IDS)",
    params: &[
        ParamInfo::whole(
            "consecutive_over",
            "consecutive updates beyond which a context is an update context",
            4,
            (0, u32::MAX),
        ),
        ParamInfo::whole(
            "window_updates",
            "updates in the log by which contexts are clustered",
            1024,
            (2, WINDOW_MAX),
        ),
        ParamInfo::whole("period_updates", "updates between two clusterings", 1024, (1, u32::MAX)),
        ParamInfo::whole(
            "level_difference",
            "clusters between the root and a context that may still join its group",
            2,
            (0, u32::MAX),
        ),
        ParamInfo::name(
            "archive",
            "hot archive blocks: one for all update groups, or one per group",
            ARCHIVES,
        ),
        ParamInfo::whole(
            "history_updates",
            "updates of the drive after which a page leaves its update history; 0 for never",
            0,
            (0, u32::MAX),
        ),
        GROUPS,
        CONTEXTS,
        UpdateBlocks::PARAM,
    ],
    cost: "two look-ups per write, one per move; contexts * (window + contexts) per period",
    memory: "4 bytes per page (12 with history_updates), 8 per context, 6 per pair of contexts in the window",
};

/// Values of `archive` with descriptions; the first is the default.
const ARCHIVES: &[(&str, &str)] = &[
    ("shared", "one hot archive for the pages of all update groups"),
    ("per-group", "a hot archive for each update group, and one for update contexts without a group"),
];

/// Parameters of IDS.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    consecutive_over: u32,
    window: u32,
    period: u32,
    level_difference: u32,
    groups: u32,
    contexts: u32,
    archive_per_group: bool,
    history_updates: u32,
    update_blocks: UpdateBlocks,
}

impl Params {
    pub fn of(settings: &ChosenPolicy) -> Self {
        Self {
            consecutive_over: settings.whole("consecutive_over"),
            window: settings.whole("window_updates"),
            period: settings.whole("period_updates"),
            level_difference: settings.whole("level_difference"),
            groups: settings.whole("groups"),
            contexts: settings.whole("contexts"),
            archive_per_group: settings.text("archive") == ARCHIVES[1].0,
            history_updates: settings.whole("history_updates"),
            update_blocks: UpdateBlocks::of(settings),
        }
    }

    pub fn streams(self) -> u32 {
        if self.archive_per_group { 2 * (self.groups + 1) } else { self.groups + 2 }
    }
}

/// State of a program context.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct ContextState {
    group: Group,
    /// Whether enough of its data were updated in a row.
    updating: bool,
    /// Whether Algorithm 2 has registered it.
    registered: bool,
}

/// The last writer of a page, and the update context in whose history it is.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Page {
    writer: Context,
    history: Context,
}

/// Counters of IDS.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct IdsCounters {
    /// Contexts that Algorithm 2 has registered.
    registered: u32,
    /// Update contexts.
    updating: u32,
    /// The most contexts that were compared at once.
    compared: u32,
    /// Groups of the last period, including those that shared a number.
    groups: u32,
    /// Clusterings.
    periods: u64,
    /// Pages that the host wrote into the hot archive.
    hot_pages: u64,
    /// Pages that the host wrote from contexts beyond `contexts`.
    beyond: u64,
}

/// Scratch memory for clustering, empty between two periods.
#[derive(Clone, Debug, Default)]
struct Scratch {
    localities: Localities,
    clusters: Clusters,
    /// Positions of contexts, in the order of Algorithm 2.
    order: Vec<u32>,
    /// Group of each root cluster, by its number.
    group_of_root: Vec<Group>,
    /// Groups assigned in this period.
    taken: Vec<bool>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    consecutive_over: u32,
    period: u32,
    level_difference: u32,
    update_blocks: UpdateBlocks,
    archive_per_group: bool,
    history_updates: u32,
    contexts: Vec<ContextState>,
    pages: IdVec<Lpn, Page>,
    /// Number of the update that entered each page last in a history; empty if histories never expire.
    entered_at: IdVec<Lpn, u64>,
    /// Updates that entered the log so far.
    updates: u64,
    groups: Groups,
    log: UpdateLog,
    /// Updates until the next clustering.
    left: u32,
    /// Context of the last update, and the number of updates before it in a row of the same.
    row: (Context, u32),
    counters: IdsCounters,
    #[serde(skip)]
    scratch: Scratch,
}

impl State {
    pub fn new(params: &Params, shape: &Shape) -> Self {
        let Params { consecutive_over, window, period, level_difference, groups, contexts, .. } = *params;
        let expiring_pages = if params.history_updates > 0 { shape.logical_pages } else { 0 };
        Self {
            consecutive_over,
            period,
            level_difference,
            update_blocks: params.update_blocks,
            archive_per_group: params.archive_per_group,
            history_updates: params.history_updates,
            contexts: vec![ContextState::default(); contexts as usize],
            pages: table(shape.logical_pages as usize, Page::default()).into(),
            entered_at: table(expiring_pages as usize, 0).into(),
            updates: 0,
            groups: Groups::new(groups),
            log: UpdateLog::new(window),
            left: period,
            row: (UNKNOWN, 0),
            counters: IdsCounters::default(),
            scratch: Scratch::default(),
        }
    }

    /// Returns the stream of the hot archive of a group.
    #[inline(always)]
    fn archive(&self, group: Group) -> StreamId {
        StreamId(self.groups.most() + 1 + if self.archive_per_group { group } else { NONE })
    }

    /// Returns the stream for data of `context` on a page with this history.
    #[inline(always)]
    fn stream(&self, lpn: Lpn, context: Context, history: Context) -> StreamId {
        let ContextState { group, updating, .. } = self.contexts[context as usize];
        let hot = history == context && self.remembers(lpn);
        let of_update_context = if hot { self.archive(group) } else { StreamId(group) };
        if updating { of_update_context } else { WRITE_ONCE }
    }

    /// Checks whether a page that entered a history is still in it.
    #[inline(always)]
    fn remembers(&self, lpn: Lpn) -> bool {
        self.history_updates == 0 || self.updates - self.entered_at[lpn] <= u64::from(self.history_updates)
    }

    /// Notes an update of data of `writer`.
    #[inline(always)]
    fn updated(&mut self, writer: Context) {
        if writer != self.row.0 {
            self.row = (writer, 0);
        } else {
            self.row.1 = self.row.1.saturating_add(1);
        }
        if writer == UNKNOWN {
            return;
        }
        let context = &mut self.contexts[writer as usize];
        if !context.updating && self.row.1 > self.consecutive_over {
            context.updating = true;
            self.counters.updating += 1;
        }
        self.updates += 1;
        self.log.push(writer.into());
        self.left -= 1;
        if self.left == 0 {
            self.left = self.period;
            self.regroup();
        }
    }

    /// Clusters the contexts of the log and assigns update groups (Algorithm 2).
    #[inline(never)]
    fn regroup(&mut self) {
        let Scratch { localities, clusters, order, group_of_root, taken } = &mut self.scratch;
        localities.compute(&self.log, self.contexts.len());
        let contexts = localities.contexts();
        self.counters.periods += 1;
        self.counters.compared = self.counters.compared.max(contexts.len() as u32);
        self.counters.groups = 0;
        let clusters = clusters.of(localities);
        // Root clusters first, in the order of creation: a context's root is older than its original cluster.
        order.clear();
        order.extend(0..clusters.len() as u32);
        order.sort_unstable_by_key(|&place| (clusters[place as usize].0, place));
        group_of_root.clear();
        group_of_root.resize(clusters.len() + 1, NONE);
        taken.clear();
        taken.resize(self.groups.most() as usize + 1, false);
        for &place in &*order {
            let (original, root) = clusters[place as usize];
            let context = &mut self.contexts[contexts[place as usize] as usize];
            if !context.registered {
                context.registered = true;
                self.counters.registered += 1;
                continue;
            }
            let group = &mut group_of_root[root as usize];
            if original == root {
                if *group == NONE {
                    self.counters.groups += 1;
                    *group = number(context.group, taken, &self.groups);
                }
                context.group = *group;
            } else if original - root <= self.level_difference && *group != NONE {
                context.group = *group;
            }
        }
    }
}

/// Returns the number of a new group that has a member from group `before`.
fn number(before: Group, taken: &mut [bool], groups: &Groups) -> Group {
    let free = |group: &Group| !taken[*group as usize];
    let own = Some(before).filter(|group| *group != NONE && free(group));
    let Some(group) = own.or_else(|| (1..=groups.most()).find(free)) else { return groups.least_recent() };
    taken[group as usize] = true;
    group
}

impl Separator for State {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        let context = known(page.hints.context, self.contexts.len());
        self.counters.beyond += u64::from(context == UNKNOWN && page.hints.context != 0);
        let at = page.lpn;
        let Page { writer, history } = self.pages[at];
        self.pages[at].writer = context;
        let update = page.update || writer != UNKNOWN;
        if update {
            self.updated(writer);
        }
        let stream = self.stream(at, context, history);
        if update && self.contexts[writer as usize].updating {
            self.pages[at].history = writer;
            if self.history_updates > 0 {
                self.entered_at[at] = self.updates;
            }
        }
        if stream.0 > self.groups.most() {
            self.counters.hot_pages += 1;
        } else {
            self.groups.written(stream.0, page.now);
        }
        stream
    }

    #[inline(always)]
    fn move_stream(&self, page: &Moved) -> StreamId {
        let Page { writer, history } = self.pages[page.lpn];
        self.stream(page.lpn, writer, history)
    }

    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        prefetch(self.pages.as_slice(), lpn.index());
    }

    fn update_blocks(&self) -> UpdateBlocks {
        self.update_blocks
    }

    fn is_last(&self, stream: StreamId) -> bool {
        stream != WRITE_ONCE
    }

    fn contexts(&self) -> Vec<(u32, StreamId)> {
        let all = (0..).zip(&self.contexts);
        all.filter(|(_, context)| context.updating && context.group != NONE)
            .map(|(number, context)| (number, StreamId(context.group)))
            .collect()
    }

    fn memory_bytes(&self) -> u64 {
        let (compared, contexts) = (u64::from(self.counters.compared), self.contexts.len() as u64);
        let pages = self.pages.len() as u64 * 4 + self.entered_at.len() as u64 * 8;
        let tables = pages + contexts * 8 + self.groups.memory_bytes();
        let log = self.log.memory_bytes();
        tables
            + log
            + Localities::memory_bytes(compared, log / 4, contexts)
            + Clusters::memory_bytes(compared)
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("contexts_registered", self.counters.registered.into()),
            ("contexts_updating", self.counters.updating.into()),
            ("contexts_compared_most", self.counters.compared.into()),
            ("groups", self.counters.groups.into()),
            ("periods", self.counters.periods as f64),
            ("hot_pages", self.counters.hot_pages as f64),
            (PAGES_BEYOND, self.counters.beyond as f64),
            ("archive_stream", self.archive(NONE).0.into()),
        ]
    }
}

#[cfg(test)]
#[path = "ids_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "model_tests.rs"]
mod model_tests;
