//! The contract of separators that inspect pages.
//!
//! The mechanism requests the stream of each page before it is programmed, and notifies the separator of events of
//! pages and units. A separator keeps only state that the mechanism lacks, in tables of its own; they exist only while
//! it is selected. Its clock is the number of host page writes so far.
//!
//! A separator may declare queues (`queues`, `is_queued`). Units of these streams do not join the index of the victim
//! policy; they wait in the order of closing (`collect/queues.rs`). Before each choice `victim_stream` names the queue
//! that gives the victim, or leaves the choice to the victim policy. `regroup` changes the meaning of streams
//! (`regroup.rs`). MiDAS (`midas/`) uses all of these.

use super::foresight::Foresight;
use floatgate_base::{ChosenPolicy, Hints, Lpn, ParamInfo, StreamId, UnitId};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// A page that the host writes.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    /// Its number.
    pub lpn: Lpn,
    /// Whether it held data, which die now.
    pub update: bool,
    /// Hints from the host.
    pub hints: Hints,
    /// Host page writes before this one.
    pub now: u64,
}

/// A live page that leaves a unit which is being emptied.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    /// Its number.
    pub lpn: Lpn,
    /// The stream of the unit that it leaves.
    pub from: StreamId,
    /// Host page writes so far.
    pub now: u64,
}

/// A unit without live pages that is about to be erased.
#[derive(Clone, Copy, Debug)]
pub struct Reclaimed {
    /// The stream for which it was opened.
    pub stream: StreamId,
    /// Host page writes when it was opened.
    pub opened_at: u64,
    /// Host page writes so far.
    pub now: u64,
}

/// A unit that will be collected.
#[derive(Clone, Copy, Debug)]
pub struct VictimUnit {
    /// Its stream.
    pub stream: StreamId,
    /// Its valid pages.
    pub valid: u32,
    /// Host page writes when it was closed.
    pub closed_at: u64,
    /// Host page writes so far.
    pub now: u64,
}

/// Data that a host write will replace.
#[derive(Clone, Copy, Debug)]
pub struct Replaced {
    /// The logical page.
    pub lpn: Lpn,
    /// The stream of the unit that holds the data.
    pub stream: StreamId,
    /// Host page writes since that unit was closed; 0 while it is open.
    pub age: u64,
}

/// Where a closed unit waits for its collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitingPlace {
    /// In the index from which the victim policy selects.
    Index,
    /// Among update blocks.
    Last,
    /// In the queue of a stream.
    Queue(StreamId),
}

/// State of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Units that are closed.
    pub closed: u32,
    /// Of these, units in no queue all of whose pages are valid.
    pub full: u32,
    /// Logical pages that are mapped.
    pub mapped_pages: u64,
}

/// A new meaning of streams, with the treatment of existing units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regroup {
    /// By stream: the new stream of its closed units.
    pub becomes: Vec<StreamId>,
    /// By stream: how many closed units stay in its queue, per domain. Those closed first leave it.
    pub keeps: Vec<u32>,
    /// The stream of units that leave.
    pub released: StreamId,
    /// Streams whose open units are closed as they are, because other pages will enter them.
    pub closes: Vec<StreamId>,
}

/// The shape of the drive, for tables.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Pages that the host sees.
    pub logical_pages: u32,
    /// Pages of a unit.
    pub pages_per_unit: u32,
    /// Units of the drive.
    pub units: u32,
    /// Domains, which allocate and collect independently.
    pub domains: u32,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Seed of the run, for random numbers.
    pub seed: u64,
}

impl Shape {
    /// Returns the shape of a drive with this layout.
    #[must_use]
    pub fn of(layout: &Layout, logical_pages: u32, seed: u64) -> Self {
        let page_bytes = layout.geometry().page_bytes;
        Self {
            logical_pages,
            pages_per_unit: layout.pages_per_unit(),
            units: layout.units(),
            domains: layout.domains(),
            page_bytes,
            seed,
        }
    }
}

/// What a workload must carry besides addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// The program context of each request.
    Contexts,
    /// The stream or placement handle of each request.
    Streams,
    /// The same, and not the process that wrote.
    HostStreams,
    /// The predicted life of the data of each request.
    Lives,
}

/// When collection takes the units of streams that are [`Separator::is_last`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UpdateBlocks {
    /// As any other.
    AsAny,
    /// After all others that are worth collecting, but at once without a valid page: nothing is left to protect.
    LastUnlessDead,
    /// After all others that are worth collecting, even without a valid page.
    Last,
}

impl UpdateBlocks {
    /// The parameter that selects it: as any other, because a nearly full block would otherwise be emptied before an
    /// update block with few valid pages (`docs/decisions/0043-update-blocks-as-any-other.md`).
    pub const PARAM: ParamInfo = Self::param(0);

    /// Returns the parameter with another default.
    #[must_use]
    pub const fn param(default: u32) -> ParamInfo {
        let summary = "when collection takes update blocks: 0 as any other, 1 last unless they are dead, 2 last in any \
                       case; 1 and 2 may copy several times as much on a full drive";
        ParamInfo::whole("update_blocks_last", summary, default, (0, 2))
    }

    /// Returns the choice of [`UpdateBlocks::PARAM`].
    #[must_use]
    pub fn of(settings: &ChosenPolicy) -> Self {
        match settings.whole(Self::PARAM.name) {
            0 => Self::AsAny,
            1 => Self::LastUnlessDead,
            _ => Self::Last,
        }
    }
}

/// A separator with its state.
pub trait Separator {
    /// Returns the stream of a page that the host writes now. Called once per page, in order.
    fn write(&mut self, page: &Written) -> StreamId;

    /// Returns the stream of a page if it moves now. May be called more than once before [`Separator::moved`].
    fn move_stream(&self, page: &Moved) -> StreamId;

    /// Returns the stream of data of a side table that leave a unit of `from`; such data have no single page to
    /// inspect.
    #[inline(always)]
    fn side_stream(&self, from: StreamId) -> StreamId {
        from
    }

    /// Notes that a page moves to `stream`.
    #[inline(always)]
    fn moved(&mut self, _page: &Moved, _stream: StreamId) {}

    /// Notes that the host trims a page that held data.
    #[inline(always)]
    fn trimmed(&mut self, _lpn: Lpn, _now: u64) {}

    /// Notes the unit in which a page was placed. Called only for separators that need units.
    #[inline(always)]
    fn placed(&mut self, _lpn: Lpn, _unit: UnitId) {}

    /// Notes that a unit is opened, or will take in the pages of another: it is empty.
    #[inline(always)]
    fn opened(&mut self, _unit: UnitId) {}

    /// Notes that a unit is about to be erased.
    #[inline(always)]
    fn reclaimed(&mut self, _unit: &Reclaimed) {}

    /// Prefetches what the write of a page will touch.
    #[inline(always)]
    fn prefetch(&self, _lpn: Lpn) {}

    /// Returns when collection takes units of streams that are [`Separator::is_last`]; called once.
    fn update_blocks(&self) -> UpdateBlocks {
        UpdateBlocks::AsAny
    }

    /// Checks whether units of a stream are update blocks, which collection should take last. Called when they are
    /// full.
    fn is_last(&self, _stream: StreamId) -> bool {
        false
    }

    /// Checks whether closed units of streams may wait in queues; called once. Excludes update blocks.
    fn queues(&self) -> bool {
        false
    }

    /// Checks whether closed units of a stream wait in its queue, to be collected in the order of closing. Called when
    /// they are full.
    fn is_queued(&self, _stream: StreamId) -> bool {
        false
    }

    /// Returns the stream whose queue gives the next victim of a domain, from the closed units of each queued stream.
    /// None leaves the choice among all others to the victim policy.
    fn victim_stream(&self, _closed: &[u32]) -> Option<StreamId> {
        None
    }

    /// Notes that a unit will be collected.
    fn chosen(&mut self, _unit: &VictimUnit) {}

    /// Notes the data that the host's next page replaces, before [`Separator::write`]. Called only for separators that
    /// need it.
    #[inline(always)]
    fn replaces(&mut self, _page: &Replaced) {}

    /// Checks whether [`Separator::regroup`] should be called before the next victim is selected.
    fn wants_regroup(&self) -> bool {
        false
    }

    /// Returns the new meaning of streams, if it changes; from now on the separator uses the new streams.
    fn regroup(&mut self, _held: &Occupancy) -> Option<Regroup> {
        None
    }

    /// Returns the contexts whose pages have a stream of their own, with that stream, in the order of their numbers.
    fn contexts(&self) -> Vec<(u32, StreamId)> {
        Vec::new()
    }

    /// Returns an oracle's knowledge of the future.
    fn foresight(&self) -> Option<&Foresight> {
        None
    }

    /// Returns an oracle's knowledge of the future for changes.
    fn future(&mut self) -> Option<&mut Foresight> {
        None
    }

    /// Notes that the knowledge of the future is complete.
    fn foreseen(&mut self) {}

    /// Returns the name and hash of a separator from outside.
    fn code(&self) -> Option<String> {
        None
    }

    /// Checks whether a state from a file is one of a drive of this shape, for separators whose code could not cope.
    fn fits(&self, _shape: &Shape) -> bool {
        true
    }

    /// Returns the fault that stops the run, if the separator made one.
    #[inline(always)]
    fn fault(&self) -> Option<&'static str> {
        None
    }

    /// Returns the bytes of its tables.
    fn memory_bytes(&self) -> u64;

    /// Returns metrics of its own for the result, by name.
    fn figures(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}
