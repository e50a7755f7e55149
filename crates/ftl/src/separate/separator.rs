//! What every separator that looks at pages does: the contract of the slot.
//!
//! The mechanism asks for the stream of each page before it is programmed, and tells what becomes of pages and units.
//! A separator keeps in its own tables what it needs to know and the mechanism does not; they live only while it is
//! chosen. Its clock is the number of host page writes so far.
//!
//! A separator may declare queues (`queues`, `is_queued`). Units of these streams do not join the index of the victim
//! policy; they wait in the order of closing (`collect/queues.rs`), and before each choice `victim_stream` names the
//! queue that gives the victim, or leaves the choice to the victim policy. `regroup` changes what streams mean
//! (`regroup.rs`). MiDAS (`midas/`) uses all of these.

use super::foresight::Foresight;
use floatgate_base::{Given, Hints, Lpn, ParamInfo, StreamId, UnitId};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// A page that the host writes.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    /// Which one.
    pub lpn: Lpn,
    /// Whether it held data: what it held dies.
    pub update: bool,
    /// What the host says.
    pub hints: Hints,
    /// Host page writes before this one.
    pub now: u64,
}

/// A live page that leaves a unit which is being emptied.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    /// Which one.
    pub lpn: Lpn,
    /// The stream for which the unit was opened that it leaves.
    pub from: StreamId,
    /// Host page writes so far.
    pub now: u64,
}

/// A unit whose pages have all died or left, about to be erased.
#[derive(Clone, Copy, Debug)]
pub struct Reclaimed {
    /// The stream for which it was opened.
    pub stream: StreamId,
    /// Host page writes when it was opened.
    pub opened_at: u64,
    /// Host page writes so far.
    pub now: u64,
}

/// A unit that is to be collected.
#[derive(Clone, Copy, Debug)]
pub struct Chosen {
    /// The stream to which it belongs.
    pub stream: StreamId,
    /// Its valid pages.
    pub valid: u32,
    /// Host page writes when it was closed.
    pub closed_at: u64,
    /// Host page writes so far.
    pub now: u64,
}

/// What a page that the host writes will replace.
#[derive(Clone, Copy, Debug)]
pub struct Replaced {
    /// Whose page.
    pub lpn: Lpn,
    /// The stream to which the unit belongs in which it lies.
    pub stream: StreamId,
    /// Host page writes since that unit was closed; 0 while it is open.
    pub age: u64,
}

/// Where a closed unit waits for its collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Among those from which the victim policy chooses.
    Index,
    /// Among update blocks.
    Last,
    /// In the queue of a stream.
    Queue(StreamId),
}

/// What the drive holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Units that are closed.
    pub closed: u32,
    /// Of these, units in no queue all of whose pages are valid.
    pub full: u32,
    /// Logical pages that lie somewhere.
    pub mapped_pages: u64,
}

/// Streams begin to mean something else: what is to become of units that are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regroup {
    /// For each stream: to which one its closed units belong from now on.
    pub becomes: Vec<StreamId>,
    /// For each stream: how many of its closed units stay in its queue, in each domain. Those closed first leave it.
    pub keeps: Vec<u32>,
    /// The stream of those that leave.
    pub released: StreamId,
    /// Streams whose open units are closed as they are, because other pages will come into them.
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
    /// Domains that allocate and collect for themselves.
    pub domains: u32,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Of the run, for what is drawn.
    pub seed: u64,
}

impl Shape {
    /// Of a drive with this layout.
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

/// When collection takes the units of streams that are [`Separator::is_last`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UpdateBlocks {
    /// As any other.
    AsAny,
    /// After all others that are worth collecting, but at once where they hold no valid page: nothing is left to protect.
    LastUnlessDead,
    /// After all others that are worth collecting, even without a valid page.
    Last,
}

impl UpdateBlocks {
    /// The parameter that says so.
    pub const PARAM: ParamInfo = Self::param(1);

    /// The same with another default.
    #[must_use]
    pub const fn param(default: u32) -> ParamInfo {
        let summary = "when collection takes update blocks: 0 as any other, 1 last unless they are dead, 2 last in any case";
        ParamInfo::whole("update_blocks_last", summary, default, (0, 2))
    }

    /// What [`UpdateBlocks::PARAM`] says.
    #[must_use]
    pub fn of(given: &Given) -> Self {
        match given.whole(Self::PARAM.name) {
            0 => Self::AsAny,
            1 => Self::LastUnlessDead,
            _ => Self::Last,
        }
    }
}

/// A separator with its state.
pub trait Separator {
    /// The stream of a page that the host writes now. Called once for each, in order.
    fn write(&mut self, page: &Written) -> StreamId;

    /// The stream of a page that is to be moved, if it is moved now. May be asked more than once before
    /// [`Separator::moved`] is called.
    fn move_stream(&self, page: &Moved) -> StreamId;

    /// The stream of what leaves a unit of `from` and belongs to a side table: it has no page of its own to ask for.
    #[inline(always)]
    fn side_stream(&self, from: StreamId) -> StreamId {
        from
    }

    /// The page moves, to `stream`.
    #[inline(always)]
    fn moved(&mut self, _page: &Moved, _stream: StreamId) {}

    /// The host gives up a page that held data.
    #[inline(always)]
    fn trimmed(&mut self, _lpn: Lpn, _now: u64) {}

    /// A page that it was asked for lies in a unit now. Told of separators alone that mind units.
    #[inline(always)]
    fn placed(&mut self, _lpn: Lpn, _unit: UnitId) {}

    /// A unit is opened, or is to take in the pages of another: it holds nothing yet.
    #[inline(always)]
    fn opened(&mut self, _unit: UnitId) {}

    /// A unit is about to be erased.
    #[inline(always)]
    fn reclaimed(&mut self, _unit: &Reclaimed) {}

    /// Asks for what the write of a page will touch.
    #[inline(always)]
    fn prefetch(&self, _lpn: Lpn) {}

    /// When collection takes units of streams that are [`Separator::is_last`]; asked once.
    fn update_blocks(&self) -> UpdateBlocks {
        UpdateBlocks::AsAny
    }

    /// Whether units of a stream are update blocks: the last that collection should take. Asked when they are full.
    fn is_last(&self, _stream: StreamId) -> bool {
        false
    }

    /// Whether closed units of streams may wait in queues; asked once. Not beside update blocks.
    fn queues(&self) -> bool {
        false
    }

    /// Whether closed units of a stream wait in its queue: they are collected in the order of closing. Asked when they are full.
    fn is_queued(&self, _stream: StreamId) -> bool {
        false
    }

    /// From whose queue the next victim of a domain is taken, where so many units are closed of each stream that is queued;
    /// none for what the victim policy names among all others.
    fn victim_stream(&self, _closed: &[u32]) -> Option<StreamId> {
        None
    }

    /// A unit is to be collected.
    fn chosen(&mut self, _unit: &Chosen) {}

    /// What the host's next page replaces. Told of separators alone that mind it, before [`Separator::write`].
    #[inline(always)]
    fn replaces(&mut self, _page: &Replaced) {}

    /// Whether it wants to be asked by [`Separator::regroup`] before the next victim is chosen.
    fn wants_regroup(&self) -> bool {
        false
    }

    /// What streams begin to mean, if anything changes; from now on it speaks of streams as they will be.
    fn regroup(&mut self, _held: &Held) -> Option<Regroup> {
        None
    }

    /// Contexts whose pages have a stream of their own choosing now, with that stream, in the order of their numbers.
    fn contexts(&self) -> Vec<(u32, StreamId)> {
        Vec::new()
    }

    /// What a separator that knows the future knows.
    fn foresight(&self) -> Option<&Foresight> {
        None
    }

    /// Where it keeps that.
    fn future(&mut self) -> Option<&mut Foresight> {
        None
    }

    /// What it knows of the future is complete.
    fn foreseen(&mut self) {}

    /// Bytes of its tables.
    fn memory_bytes(&self) -> u64;

    /// What it found, by name, for the result: counts and levels of its own.
    fn figures(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}
