//! A job between two steps.

use super::request::{Order, Request};
use crate::units::{Frontier, NO_UNIT, NOT_INDEXED, Units};
use floatgate_base::UnitId;
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// What a step has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing: a move would take a free unit that must be left.
    Stalled,
    /// Pages have moved or a source was erased, more is to do.
    Moved,
    /// The job is done.
    Done,
}

/// A request that waits or is being carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    pub(crate) request: Request,
    /// When each source was closed, of a job that has not begun: it is another unit's content if that has changed.
    pub(crate) closed_at: [u64; 2],
    /// Whether the sources have left the closed units.
    pub(crate) begun: bool,
    /// The source at hand: those before it are emptied.
    pub(crate) source: u8,
    /// Of an ascending order, pages of the source at hand before this one have been looked at; of a given one, so many
    /// pages have.
    pub(crate) next: u32,
    /// Units of the job's own that it fills.
    pub(crate) targets: [Frontier; 2],
    /// Free units of a domain that the job must leave to the host, however many moves that puts off.
    pub(crate) leave_free: u32,
    /// Under incremental collection, what its domain has at hand when the job must be done, but for the source that it
    /// erases then; known from its first step on. Below 0 where that can hardly be met.
    pub(crate) floor: Option<i64>,
}

impl Job {
    /// One that waits; its sources stay closed units, and may be collected before it begins.
    ///
    /// # Panics
    /// If something is to follow a request that erases nothing.
    #[must_use]
    pub fn waiting(request: Request, units: &Units) -> Self {
        assert!(request.erase || request.then.is_none(), "nothing can follow a job that erases nothing");
        let closed_at = request.sources.map(|unit| units.closed_at.get(unit).copied().unwrap_or(0));
        Self {
            request,
            closed_at,
            begun: false,
            source: 0,
            next: 0,
            targets: [Frontier::CLOSED; 2],
            leave_free: 0,
            floor: None,
        }
    }

    /// One whose sources have left the closed units already.
    #[must_use]
    pub fn begun(request: Request, layout: &Layout) -> Self {
        let next = match request.order {
            Order::Ascending => layout.first_page(request.sources[0]).0,
            Order::Given(_) => 0,
        };
        Self {
            request,
            closed_at: [0; 2],
            begun: true,
            source: 0,
            next,
            targets: [Frontier::CLOSED; 2],
            leave_free: 0,
            floor: None,
        }
    }

    /// The unit that is being emptied.
    #[must_use]
    pub fn source(&self) -> UnitId {
        self.request.sources[usize::from(self.source)]
    }

    /// Units that the job holds and that are yet to be emptied.
    pub(crate) fn held(&self) -> impl Iterator<Item = UnitId> + '_ {
        let emptied = if self.begun { usize::from(self.source) } else { usize::MAX };
        self.request.all_sources().skip(emptied)
    }

    /// The units of its own that the job fills.
    pub fn targets(&self) -> impl Iterator<Item = &Frontier> {
        self.targets.iter().filter(|target| target.unit != NO_UNIT)
    }

    /// Whether its sources are still the units that were meant.
    pub(crate) fn is_current(&self, units: &Units) -> bool {
        let sources = self.request.sources.iter().zip(self.closed_at);
        let mut real = sources.filter(|(unit, _)| **unit != NO_UNIT);
        let current = real.all(|(&unit, closed_at)| {
            units.meta[unit].pos != NOT_INDEXED && units.closed_at[unit] == closed_at
        });
        let then = self.request.all_sources().all(|unit| units.meta[unit].pos != NOT_INDEXED);
        current && then
    }

    /// Whether the job can be one of a drive of such a layout.
    pub(crate) fn is_within(&self, layout: &Layout) -> bool {
        let (units, pages) = (layout.units(), layout.pages());
        let position = match &self.request.order {
            Order::Ascending => self.next <= pages,
            Order::Given(planned) => self.next as usize <= planned.len(),
        };
        let open = |target: &Frontier| {
            target.next <= target.end
                && target.end.0 <= pages
                && (target.unit == NO_UNIT || target.unit.0 < units)
        };
        self.request.is_within(layout)
            && self.source < 2
            && (!self.begun || self.source() != NO_UNIT)
            && position
            && self.targets.iter().all(open)
    }
}
