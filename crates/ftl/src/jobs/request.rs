//! What a job is to do, and the contract of those who start jobs.

use crate::owners::Mapping;
use crate::pool::{FreePool, Want};
use crate::units::{NO_UNIT, NOT_INDEXED, Units};
use floatgate_base::{DomainId, IdSlice, IdVec, Ppn, UnitId};
use floatgate_flash::{Cause, Layout};
use serde::{Deserialize, Serialize};

/// How urgent a job is. Jobs that wait in a domain are carried out in this order, those of equal urgency in the order in
/// which they were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Urgency {
    /// It cannot wait: data would be lost. It is carried out at once, whatever else waits.
    Urgent,
    /// Collection: a host write waits for the room, or soon will. Idle time starts it where free units run low.
    Collection,
    /// It will be urgent some day. Idle time does it; without idle time it is carried out at once.
    Proactive,
    /// For the sake of even wear. As [`Urgency::Proactive`], but last.
    Leveling,
}

/// A page in a given order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planned {
    /// The page; it is skipped if it has died when its turn comes.
    pub page: Ppn,
    /// 0 for the job's first target, 1 for its second.
    pub target: u8,
}

/// In which order the pages of the sources move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// All live pages ascending, those of the first source first; all go to the first target.
    Ascending,
    /// These pages of the sources, and only these, in this order.
    Given(Box<[Planned]>),
}

/// Where pages go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// Into the open units of a domain that the separator names, page by page.
    Streams {
        /// The domain.
        domain: DomainId,
    },
    /// Into a unit of the job's own, opened when its first page moves. Once the job is done it stands among the closed
    /// units, and pages left in it are lost until it is erased.
    Own {
        /// The domain whose free units it comes from.
        domain: DomainId,
        /// Which of them.
        want: Want,
        /// The mode in which it is programmed; 0 for the ordinary one.
        mode: u8,
        /// Whether what is left of it is kept open for the next such job, rather than lost.
        kept: bool,
    },
    /// Into a unit of a block set that stays open from one job to the next; opened when its first page moves, unless a job
    /// before has left it open.
    Set {
        /// The set.
        id: u32,
        /// 0 for its first unit, 1 for its second.
        side: u8,
        /// The domain whose free units it comes from.
        domain: DomainId,
        /// Which of them.
        want: Want,
    },
    /// Copies go to the tails of the units that the read-disturb manager names, page by page; only of a job that erases
    /// nothing. Its sources stay what they are.
    Tails,
    /// Into the unit that the job before has just erased; only of a job that follows another one.
    Emptied,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The units that pages leave; the second may be `NO_UNIT`. They are closed, and in no other request.
    pub sources: [UnitId; 2],
    /// In which order.
    pub order: Order,
    /// Where they go; the second is only looked at where the order names it.
    pub targets: [Target; 2],
    /// Whether the sources are erased when no page of them is left; else they stand among the closed units again, as if
    /// they had been closed then.
    pub erase: bool,
    /// As what its operations count.
    pub cause: Cause,
    /// When it is done.
    pub urgency: Urgency,
    /// What follows once the last source is erased: into that unit, instead of giving it back. A request that erases
    /// nothing has none.
    pub then: Option<Box<Request>>,
}

impl Request {
    /// Moves the live pages of `source`, a unit of `domain`, in ascending order into open units of the domain, then erases
    /// it.
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

    /// The same into one unit of the job's own.
    #[must_use]
    pub fn into(mut self, target: Target) -> Self {
        self.targets[0] = target;
        self
    }

    /// Lets the pages of `cold`, a closed unit of the same domain, move into the source once that is erased, and `cold` be
    /// erased in its stead.
    #[must_use]
    pub fn taking_in(mut self, cold: UnitId, domain: DomainId, cause: Cause) -> Self {
        let then = Self::emptying(cold, domain, cause, self.urgency).into(Target::Emptied);
        self.then = Some(Box::new(then));
        self
    }

    /// The units whose pages move, those of what follows included.
    pub(crate) fn all_sources(&self) -> impl Iterator<Item = UnitId> + '_ {
        let requests = std::iter::successors(Some(self), |request| request.then.as_deref());
        requests.flat_map(|request| request.sources).filter(|&unit| unit != NO_UNIT)
    }

    /// Whether the request can be one of a drive of such a layout.
    pub(crate) fn is_within(&self, layout: &Layout) -> bool {
        let targets = self.targets.iter().all(|target| match *target {
            Target::Streams { domain } | Target::Own { domain, .. } | Target::Set { domain, .. } => {
                domain.0 < layout.domains()
            }
            Target::Emptied | Target::Tails => true,
        });
        let planned = match &self.order {
            Order::Ascending => true,
            Order::Given(pages) => {
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

/// What starters of jobs see of the drive.
pub struct DriveView<'a> {
    /// Shape of the drive.
    pub layout: &'a Layout,
    /// Valid pages of every unit, and when it was closed.
    pub units: &'a mut Units,
    /// Erases of every unit since counting began.
    pub erases: &'a IdSlice<UnitId, u32>,
    /// Host page writes so far.
    pub now: u64,
    /// Pages that the host sees.
    pub logical_pages: u32,
    pub(crate) mapping: &'a Mapping,
    pub(crate) free: &'a IdVec<DomainId, FreePool>,
}

impl DriveView<'_> {
    /// Whether a unit is closed, and not being emptied.
    #[must_use]
    pub fn is_closed(&self, unit: UnitId) -> bool {
        self.units.meta[unit].pos != NOT_INDEXED
    }

    /// Calls `each` with the live pages of a unit, ascending.
    pub fn each_live_page(&self, unit: UnitId, mut each: impl FnMut(Ppn)) {
        let first = self.layout.first_page(unit);
        self.mapping.for_each(first..first + self.layout.pages_per_unit(), |page, _| each(page));
    }

    /// Erases of the most worn free unit of a domain, if one is free.
    #[must_use]
    pub fn most_worn_free(&self, domain: DomainId) -> Option<u32> {
        self.free[domain].most_erases()
    }
}

/// Who starts jobs: collection (`collect::collector`) and wear-leveling (`level::leveling`) do.
///
/// The mechanism asks when a domain may need one: collection when free units run low, wear-leveling when it said that it
/// wants to be asked after what it heard. It asks again until the answer is none, so a starter that has asked for a job
/// must not ask for the same one again. Everything that a request says may change until the job begins; a request one of
/// whose sources has been emptied meanwhile is dropped.
pub(crate) trait StartsJobs {
    /// The next job of a domain; none if nothing is to be done there now.
    fn wanted(&mut self, drive: &mut DriveView<'_>, domain: DomainId) -> Option<Request>;
}
