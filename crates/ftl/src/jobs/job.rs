//! A job and its progress.

use super::request::{Order, Request};
use crate::units::{Frontier, NO_UNIT, NOT_INDEXED, Units};
use floatgate_base::UnitId;
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing happened: a move would take a free unit that must be left.
    Stalled,
    /// Pages moved or a source was erased, and more remains to do.
    Moved,
    /// The job is done.
    Done,
}

/// A request that waits or is in progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    pub(crate) request: Request,
    /// For a job that has not begun: when each source was closed. If this has changed, the unit holds other content.
    pub(crate) closed_at: [u64; 2],
    /// Whether the sources have left the closed units.
    pub(crate) begun: bool,
    /// Index of the present source; those before it are emptied.
    pub(crate) source: u8,
    /// Progress within the present source. For an ascending order, the pages before this one are done; for a listed
    /// order, this many entries are.
    pub(crate) next: u32,
    /// Units of the job's own that it fills.
    pub(crate) targets: [Frontier; 2],
    /// Free units of a domain that the job must leave to the host, however many moves that puts off.
    pub(crate) leave_free: u32,
    /// Under incremental collection, the pages at hand in the domain by which the job must be done, without the source
    /// that it erases then. Set at its first step; negative if the target can hardly be met.
    pub(crate) floor: Option<i64>,
}

impl Job {
    /// Creates a waiting job; its sources stay closed units, and may be collected before it begins.
    ///
    /// # Panics
    /// If another request follows one that erases nothing.
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

    /// Creates a job whose sources have already left the closed units.
    #[must_use]
    pub fn begun(request: Request, layout: &Layout) -> Self {
        let next = match request.order {
            Order::Ascending => layout.first_page(request.sources[0]).0,
            Order::Listed(_) => 0,
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

    /// Returns the unit that is being emptied.
    #[must_use]
    pub fn source(&self) -> UnitId {
        self.request.sources[usize::from(self.source)]
    }

    /// Yields the units that the job holds and has yet to empty.
    pub(crate) fn held(&self) -> impl Iterator<Item = UnitId> + '_ {
        let emptied = if self.begun { usize::from(self.source) } else { usize::MAX };
        self.request.all_sources().skip(emptied)
    }

    /// Yields the job's own units that it fills.
    pub fn targets(&self) -> impl Iterator<Item = &Frontier> {
        self.targets.iter().filter(|target| target.unit != NO_UNIT)
    }

    /// Checks whether its sources still hold the content they held at the request.
    pub(crate) fn is_current(&self, units: &Units) -> bool {
        let sources = self.request.sources.iter().zip(self.closed_at);
        let mut real = sources.filter(|(unit, _)| **unit != NO_UNIT);
        let current = real.all(|(&unit, closed_at)| {
            units.meta[unit].pos != NOT_INDEXED && units.closed_at[unit] == closed_at
        });
        let then = self.request.all_sources().all(|unit| units.meta[unit].pos != NOT_INDEXED);
        current && then
    }

    /// Checks whether the job fits a drive of this layout.
    pub(crate) fn is_within(&self, layout: &Layout) -> bool {
        let (units, pages) = (layout.units(), layout.pages());
        let position = match &self.request.order {
            Order::Ascending => self.next <= pages,
            Order::Listed(planned) => self.next as usize <= planned.len(),
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
