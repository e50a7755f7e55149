//! PDS: program contexts whose data are updated at similar times share a block.
//!
//! Each update counts for the context that had written the data which now die (Algorithm 1). A context with
//! `dominates_from` updates gets an update group, that is a block of its own. A context below this that has been
//! counted before can join the group of the preceding update. It does if its page is the next one after that update's
//! and the update has a group. Pages go, when written and when moved, to the block of the group of their writer;
//! without one, to the write-once block. In the paper update blocks are the last to be collected
//! (`update_blocks_last`); here they are victims as any other by default, for on a full drive the paper's rule copies
//! several times as much (`docs/decisions/0043-update-blocks-as-any-other.md`).
//!
//! Open in the source, settled here: a page that is written after a TRIM counts as an update of its old data (the
//! writer is still known). An update of data with unknown writer counts for no context, and the next update cannot join
//! its group. With `groups` groups in use, further contexts that dominate share the group written least recently.
//! Contexts from number `contexts` on are treated as unknown.
//!
//! Source: dissertation (PDS), chapter 5 (Algorithm 1; Figure 31 sweeps the threshold from 1 to 16 and more). Cost: two
//! look-ups per write, one per move. Memory: 2 bytes per page, 8 per context.

use super::groups::{Group, Groups, NONE, WRITE_ONCE};
use super::{ChosenPolicy, Moved, Separator, Shape, StreamId, UpdateBlocks, Written};
use floatgate_base::memory::table;
use floatgate_base::prefetch::prefetch;
use floatgate_base::{IdVec, Lpn, ParamInfo, PolicyInfo};
use serde::{Deserialize, Serialize};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "pds",
    summary: "program contexts whose data are updated at similar times share a block",
    source: "dissertation on cross-layer optimization of NAND flash storage, chapter 5 (PDS)",
    params: &[
        ParamInfo::whole(
            "dominates_from",
            "updates of a context's data from which it has an update group",
            16,
            (1, u32::MAX),
        ),
        GROUPS,
        CONTEXTS,
        UpdateBlocks::PARAM,
    ],
    cost: "two look-ups per write, one per move",
    memory: "2 bytes per page, 8 per context",
};

pub(super) const GROUPS: ParamInfo = ParamInfo::whole(
    "groups",
    "the most update groups; more share the one written least recently",
    8,
    (1, 1024),
);
pub(super) const CONTEXTS: ParamInfo = ParamInfo::whole(
    "contexts",
    "program contexts distinguished; from this number on they count as unknown",
    1 << 16,
    (2, 1 << 16),
);

/// Name of the metric: pages that the host wrote from contexts beyond `contexts`.
pub(super) const PAGES_BEYOND: &str = "pages_of_contexts_beyond";

/// Number of the unknown context.
pub(super) const UNKNOWN: Context = 0;

/// Number of a program context; small, because tables by page hold it and are read at random.
pub(super) type Context = u16;

/// Returns the number to store for a context, or [`UNKNOWN`] beyond `contexts`.
#[inline(always)]
pub(super) fn known(context: u32, contexts: usize) -> Context {
    // Numbers below `contexts` fit.
    if (context as usize) < contexts { context as Context } else { UNKNOWN }
}

/// Parameters of PDS.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    dominates_from: u32,
    groups: u32,
    contexts: u32,
    update_blocks: UpdateBlocks,
}

impl Params {
    pub fn of(settings: &ChosenPolicy) -> Self {
        Self {
            dominates_from: settings.whole("dominates_from"),
            groups: settings.whole("groups"),
            contexts: settings.whole("contexts"),
            update_blocks: UpdateBlocks::of(settings),
        }
    }

    pub fn streams(self) -> u32 {
        self.groups + 1
    }
}

/// State of a program context.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct ContextState {
    /// Updates of data that it had written.
    updates: u32,
    group: Group,
}

/// Counters of contexts.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct PdsCounters {
    /// Contexts whose data were updated.
    updated: u32,
    /// Contexts that got a group of their own.
    dominating: u32,
    /// Contexts that dominate but share a group.
    sharing: u32,
    /// Contexts that joined a group by a sequential update.
    sequential: u32,
    /// Pages that the host wrote from contexts beyond `contexts`.
    beyond: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    dominates_from: u32,
    contexts: Vec<ContextState>,
    /// The last writer of each page.
    writer: IdVec<Lpn, Context>,
    groups: Groups,
    counters: PdsCounters,
    /// Page and group of the last update.
    previous: (Lpn, Group),
    update_blocks: UpdateBlocks,
}

impl State {
    pub fn new(params: &Params, shape: &Shape) -> Self {
        let Params { dominates_from, groups, contexts, update_blocks } = *params;
        Self {
            dominates_from,
            contexts: vec![ContextState::default(); contexts as usize],
            writer: table(shape.logical_pages as usize, UNKNOWN).into(),
            groups: Groups::new(groups),
            counters: PdsCounters::default(),
            previous: (Lpn(0), NONE),
            update_blocks,
        }
    }

    /// Counts an update of data of `writer` in page `lpn` (Algorithm 1).
    #[inline(always)]
    fn updated(&mut self, writer: Context, lpn: Lpn) {
        let before = std::mem::replace(&mut self.previous.0, lpn);
        let follows = before.0.wrapping_add(1) == lpn.0;
        if writer == UNKNOWN {
            self.previous.1 = NONE;
            return;
        }
        let context = &mut self.contexts[writer as usize];
        context.updates = context.updates.saturating_add(1);
        if context.group == NONE {
            self.group(writer, follows);
        }
        self.previous.1 = self.contexts[writer as usize].group;
    }

    /// Finds a group for a context without one.
    fn group(&mut self, writer: Context, follows: bool) {
        let context = &mut self.contexts[writer as usize];
        if context.updates == 1 {
            // The first update only enters it in the table.
            self.counters.updated += 1;
        } else if context.updates >= self.dominates_from {
            context.group = if self.counters.dominating < self.groups.most() {
                self.counters.dominating += 1;
                self.counters.dominating
            } else {
                self.counters.sharing += 1;
                self.groups.least_recent()
            };
        } else if follows && self.previous.1 != NONE {
            context.group = self.previous.1;
            self.counters.sequential += 1;
        }
    }
}

impl Separator for State {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        let context = known(page.hints.context, self.contexts.len());
        self.counters.beyond += u64::from(context == UNKNOWN && page.hints.context != 0);
        let writer = std::mem::replace(&mut self.writer[page.lpn], context);
        if page.update || writer != UNKNOWN {
            self.updated(writer, page.lpn);
        }
        let group = self.contexts[context as usize].group;
        self.groups.written(group, page.now);
        StreamId(group)
    }

    #[inline(always)]
    fn move_stream(&self, page: &Moved) -> StreamId {
        StreamId(self.contexts[self.writer[page.lpn] as usize].group)
    }

    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        prefetch(self.writer.as_slice(), lpn.index());
    }

    fn update_blocks(&self) -> UpdateBlocks {
        self.update_blocks
    }

    fn is_last(&self, stream: StreamId) -> bool {
        stream != WRITE_ONCE
    }

    fn contexts(&self) -> Vec<(u32, StreamId)> {
        let all = (0..).zip(&self.contexts);
        all.filter(|(_, context)| context.group != NONE)
            .map(|(number, context)| (number, StreamId(context.group)))
            .collect()
    }

    fn memory_bytes(&self) -> u64 {
        self.writer.len() as u64 * 2 + self.contexts.len() as u64 * 8 + self.groups.memory_bytes()
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("contexts_updated", self.counters.updated.into()),
            ("contexts_dominating", (self.counters.dominating + self.counters.sharing).into()),
            ("contexts_sequential", self.counters.sequential.into()),
            ("groups", self.counters.dominating.into()),
            (PAGES_BEYOND, self.counters.beyond as f64),
        ]
    }
}

#[cfg(test)]
#[path = "pds_tests.rs"]
mod tests;
