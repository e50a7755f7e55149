//! Requests for jobs, and the contract of their sources.

use crate::owners::Mapping;
use crate::pool::{FreePool, Want};
use crate::units::{NO_UNIT, NOT_INDEXED, Units};
use floatgate_base::{DomainId, IdSlice, IdVec, Ppn, UnitId};
use floatgate_flash::{Cause, Layout};
use serde::{Deserialize, Serialize};

/// Urgency of a job. Waiting jobs of a domain run in this order, those of equal urgency in the order of their requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Urgency {
    /// Cannot wait: data would be lost. Runs at once, before any waiting job.
    Urgent,
    /// Collection: a host write waits for the room, or soon will. Idle time starts it when free units run low.
    Collection,
    /// Will be urgent some day. Runs in idle time; without idle time, at once.
    Proactive,
    /// Only evens out wear. As [`Urgency::Proactive`], but last.
    Leveling,
}

/// A page of a listed order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planned {
    /// The page; skipped if it is dead when its turn comes.
    pub page: Ppn,
    /// 0 for the job's first target, 1 for its second.
    pub target: u8,
}

/// The order in which the pages of the sources move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// All live pages ascending, those of the first source first; all go to the first target.
    Ascending,
    /// Only these pages of the sources, in this order.
    Listed(Box<[Planned]>),
}

/// Where pages go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// Into open units of a domain; the separator selects the stream of each page.
    Streams {
        /// The domain.
        domain: DomainId,
    },
    /// Into a unit of the job's own, opened when its first page moves. At the end of the job it is closed, and its
    /// remaining pages are lost until it is erased.
    Own {
        /// The domain that provides the free unit.
        domain: DomainId,
        /// Which of them.
        want: Want,
        /// The mode in which it is programmed; 0 for the normal one.
        mode: u8,
        /// Whether the rest of the unit is kept open for the next such job.
        kept: bool,
    },
    /// Into a unit of a block set, which stays open from one job to the next. Opened when its first page moves, unless
    /// an earlier job left it open.
    Set {
        /// The set.
        id: u32,
        /// 0 for its first unit, 1 for its second.
        side: u8,
        /// The domain that provides the free unit.
        domain: DomainId,
        /// Which of them.
        want: Want,
    },
    /// Copies go to unit tails that the read-disturb manager selects page by page. Only for a job that erases nothing;
    /// its sources stay unchanged.
    Tails,
    /// Into the unit that the preceding job has just erased; only for a job that follows another one.
    Emptied,
}

/// A request for a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The units that pages leave; the second may be `NO_UNIT`. They are closed, and in no other request.
    pub sources: [UnitId; 2],
    /// The order of pages.
    pub order: Order,
    /// Where they go; the second is used only if the order refers to it.
    pub targets: [Target; 2],
    /// Whether the sources are erased when their last page has moved. Otherwise they become closed units again, as if
    /// closed at that time.
    pub erase: bool,
    /// The cause under which its operations count.
    pub cause: Cause,
    /// When it is done.
    pub urgency: Urgency,
    /// The request that follows once the last source is erased: its pages move into that unit. A request that erases
    /// nothing has none.
    pub then: Option<Box<Request>>,
}

impl Request {
    /// Creates the request to move the live pages of `source`, a unit of `domain`, in ascending order into open units
    /// of the domain, and to erase it then.
    #[must_use]
    pub fn emptying(source: UnitId, domain: DomainId, cause: Cause, urgency: Urgency) -> Self {
        Self {
            sources: [source, NO_UNIT],
            order: Order::Ascending,
            targets: [Target::Streams { domain }; 2],
            erase: true,
            cause,
            urgency,
            then: None,
        }
    }

    /// Sends the pages into one unit of the job's own.
    #[must_use]
    pub fn into(mut self, target: Target) -> Self {
        self.targets[0] = target;
        self
    }

    /// Adds a swap: once the source is erased, the pages of `cold`, a closed unit of the same domain, move into it, and
    /// `cold` is erased in its stead.
    #[must_use]
    pub fn taking_in(mut self, cold: UnitId, domain: DomainId, cause: Cause) -> Self {
        let then = Self::emptying(cold, domain, cause, self.urgency).into(Target::Emptied);
        self.then = Some(Box::new(then));
        self
    }

    /// Yields the units whose pages move, those of following requests included.
    pub(crate) fn all_sources(&self) -> impl Iterator<Item = UnitId> + '_ {
        let requests = std::iter::successors(Some(self), |request| request.then.as_deref());
        requests.flat_map(|request| request.sources).filter(|&unit| unit != NO_UNIT)
    }

    /// Checks whether the request fits a drive of this layout.
    pub(crate) fn is_within(&self, layout: &Layout) -> bool {
        let targets = self.targets.iter().all(|target| match *target {
            Target::Streams { domain } | Target::Own { domain, .. } | Target::Set { domain, .. } => {
                domain.0 < layout.domains()
            }
            Target::Emptied | Target::Tails => true,
        });
        let planned = match &self.order {
            Order::Ascending => true,
            Order::Listed(pages) => {
                pages.iter().all(|planned| planned.page.0 < layout.pages() && planned.target < 2)
            }
        };
        let then = self.then.as_ref().is_none_or(|then| then.is_within(layout));
        self.all_sources().all(|unit| unit.0 < layout.units())
            && self.sources[0] != NO_UNIT
            && targets
            && planned
            && then
            && (self.erase || self.then.is_none())
    }
}

/// The drive as seen by sources of job requests.
pub struct DriveView<'a> {
    /// Shape of the drive.
    pub layout: &'a Layout,
    /// Valid pages of every unit, and when it was closed.
    pub units: &'a mut Units,
    /// Erases of each unit since counting began.
    pub erases: &'a IdSlice<UnitId, u32>,
    /// Host page writes so far.
    pub now: u64,
    /// Pages that the host sees.
    pub logical_pages: u32,
    pub(crate) mapping: &'a Mapping,
    pub(crate) free: &'a IdVec<DomainId, FreePool>,
}

impl DriveView<'_> {
    /// Checks whether a unit is closed, and not being emptied.
    #[must_use]
    pub fn is_closed(&self, unit: UnitId) -> bool {
        self.units.meta[unit].pos != NOT_INDEXED
    }

    /// Calls `each` with the live pages of a unit, ascending.
    pub fn each_live_page(&self, unit: UnitId, mut each: impl FnMut(Ppn)) {
        let first = self.layout.first_page(unit);
        self.mapping.for_each(first..first + self.layout.pages_per_unit(), |page, _| each(page));
    }

    /// Returns the erases of the most worn free unit of a domain, if one is free.
    #[must_use]
    pub fn most_worn_free(&self, domain: DomainId) -> Option<u32> {
        self.free[domain].most_erases()
    }
}

/// A source of job requests: collection (`collect::collector`) or wear-leveling (`level::leveling`).
///
/// The mechanism calls it when a domain may need a job: collection when free units run low, wear-leveling when it
/// signalled a need after a notification. It calls again until the answer is none; a source must not repeat a request.
/// The drive may change until the job begins. A request is dropped if one of its sources has been emptied meanwhile.
pub(crate) trait StartsJobs {
    /// Returns the next job of a domain; none if nothing is to be done there now.
    fn next_request(&mut self, drive: &mut DriveView<'_>, domain: DomainId) -> Option<Request>;
}
