//! Gap: if erase counts lie too far apart, the data of the least erased block move into the most worn free one.
//!
//! Source: the static wear-leveling of the papers on redFTL: it acts when the largest and the smallest erase count of
//! the blocks differ by more than 40. Readings:
//! - Counts are compared within a domain (a plane, or the drive of superblocks), whose blocks share their writes.
//! - The smallest is that of the closed blocks: free and open ones take the host's next writes anyway.
//! - The least erased block is left alone until its data are cold (`cold.rs`). A block is opened because it is the
//!   least erased one. If its fresh data moved at once, they would soon die and the worn block would be collected
//!   again. Moving only blocks with many valid pages instead would leave the others in front, and end all moves.
//! - A move that still waits for idle time when the difference reaches twice the gap runs at once.
//! - Data move only if the free block that takes them in is ahead by more than the gap itself; a single worn closed
//!   block would keep the difference large whatever moves. Each move thus retires one worn block, and moves end.
//!
//! Parameters: `gap_erases`, `cold_drive_writes`. Cost: O(log n) per block closed, emptied or moved, with n blocks in a
//! domain. Memory: 12 bytes per block.

use super::cold::{COLD_DRIVE_WRITES, is_cold};
use super::least_erased::LeastErased;
use super::{Books, Leveler};
use crate::jobs::request::DriveView;
use crate::jobs::{Request, Target, Urgency};
use crate::pool::Want;
use floatgate_base::{ChosenPolicy, DomainId, IdSlice, IdVec, ParamInfo, PolicyInfo, UnitId};
use floatgate_flash::{Cause, Layout};
use floatgate_nand::LeadLimit;
use serde::{Deserialize, Serialize};

/// Row of the leveler in the policy table.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "gap",
    summary: "the least erased block's data move into the most worn free block if erase counts are far apart",
    source: "redFTL's static wear-leveling",
    params: &[
        ParamInfo::whole(
            "gap_erases",
            "erases by which a plane's (the drive's) most and least erased blocks may differ",
            40,
            (1, u32::MAX),
        ),
        COLD_DRIVE_WRITES,
    ],
    cost: "O(log blocks)",
    memory: "12 bytes per block",
};

/// Parameters of gap.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// Erases by which the blocks of a domain may differ.
    pub gap_erases: u32,
    /// Drive writes that data must outlive to be cold.
    pub cold_drive_writes: f64,
}

impl super::Params for Params {
    type State = State;

    fn of(settings: &ChosenPolicy) -> Self {
        Self {
            gap_erases: settings.whole("gap_erases"),
            cold_drive_writes: settings.real("cold_drive_writes"),
        }
    }

    fn state(&self, layout: &Layout) -> State {
        State {
            params: *self,
            closed: LeastErased::new(layout),
            most: IdVec::filled(0, layout.domains()),
            requested: IdVec::filled(None, layout.domains()),
        }
    }

    /// A bound on the lead over the least erased block also bounds the lead over the mean.
    fn lead_limit(&self) -> Option<LeadLimit> {
        Some(LeadLimit::constant(f64::from(self.gap_erases)))
    }
}

/// State of gap.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    params: Params,
    closed: LeastErased,
    /// The largest erase count of each domain.
    most: IdVec<DomainId, u32>,
    /// The unit to be emptied, by domain.
    requested: IdVec<DomainId, Option<UnitId>>,
}

impl State {
    /// Returns the urgency of a move, if one is due. A job that waits too long for idle time is requested again.
    fn urgency(&self, domain: DomainId, erases: u32, least: u32) -> Option<Urgency> {
        let (gap, limit) = (erases.saturating_sub(least), self.params.gap_erases);
        match self.requested[domain] {
            None if gap > limit => Some(Urgency::Leveling),
            Some(_) if gap > limit.saturating_mul(2) => Some(Urgency::Urgent),
            _ => None,
        }
    }
}

impl Leveler for State {
    fn closed(&mut self, domain: DomainId, unit: UnitId) {
        self.closed.insert(domain, unit);
    }

    fn emptying(&mut self, domain: DomainId, unit: UnitId) {
        self.closed.remove(domain, unit);
    }

    fn erased(&mut self, domain: DomainId, unit: UnitId, erases: u32) -> bool {
        self.closed.erased(unit, erases);
        self.most[domain] = self.most[domain].max(erases);
        let least = self.closed.first(domain);
        least.is_some_and(|(least, _)| self.urgency(domain, self.most[domain], least).is_some())
    }

    fn next_request(
        &mut self,
        drive: &mut DriveView<'_>,
        domain: DomainId,
        _: &mut Books<'_>,
    ) -> Option<Request> {
        let (least, unit) = self.closed.first(domain)?;
        if !is_cold(drive.units, unit, drive.now, drive.logical_pages, self.params.cold_drive_writes) {
            return None;
        }
        let worn = drive.most_worn_free(domain)?;
        let urgency = self.urgency(domain, worn, least)?;
        self.requested[domain] = Some(unit);
        let target = Target::Own { domain, want: Want::MostWorn, mode: 0, kept: false };
        Some(Request::emptying(unit, domain, Cause::Level, urgency).into(target))
    }

    fn job_ended(&mut self, domain: DomainId, unit: UnitId, _: bool) {
        if self.requested[domain] == Some(unit) {
            self.requested[domain] = None;
        }
    }

    fn learn_wear(&mut self, erases: &IdSlice<UnitId, u32>) {
        self.closed.learn_wear(erases);
        let per_domain = erases.len() / self.most.len();
        let by_domain = erases.as_slice().chunks(per_domain);
        self.most = by_domain.map(|erases| erases.iter().copied().max().unwrap_or(0)).collect();
    }

    fn restart(&mut self) {
        self.closed.restart();
        self.most.fill(0);
    }

    fn fits(&self, layout: &Layout) -> bool {
        self.closed.fits(layout) && [self.most.len(), self.requested.len()] == [layout.domains() as usize; 2]
    }

    fn audit(&self, layout: &Layout, closed: &IdSlice<UnitId, bool>) -> Result<(), String> {
        self.closed.audit(layout, closed)
    }
}
