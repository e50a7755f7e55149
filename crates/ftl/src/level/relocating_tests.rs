//! A leveler for the tests of its contract: a unit that was read a fixed number of times is emptied into a unit of
//! another domain.

use super::{Books, Leveler, Params as _};
use crate::jobs::request::DriveView;
use crate::jobs::{Request, Target, Urgency};
use crate::pool::Want;
use crate::units::NOT_INDEXED;
use floatgate_base::{ChosenPolicy, DomainId, IdVec, ParamInfo, PolicyInfo, Ppn, UnitId};
use floatgate_flash::{Cause, Layout};
use serde::{Deserialize, Serialize};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "relocating",
    summary: "units that are read often move",
    source: "a test",
    params: &[
        ParamInfo::whole("reads", "reads of a unit before it moves", 10, (1, u32::MAX)),
        ParamInfo::whole("urgent", "1 for at once, 0 for idle time", 1, (0, 1)),
    ],
    cost: "O(1)",
    memory: "4 bytes per block",
};

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Params {
    pub reads: u32,
    pub urgent: bool,
}

impl super::Params for Params {
    type State = State;

    fn of(settings: &ChosenPolicy) -> Self {
        Self { reads: settings.whole("reads"), urgent: settings.whole("urgent") == 1 }
    }

    fn state(&self, layout: &Layout) -> State {
        State { params: *self, reads: IdVec::filled(0, layout.units()), due: Vec::new() }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    params: Params,
    /// Reads of each unit since its last erase.
    reads: IdVec<UnitId, u32>,
    /// Units whose reads have reached the limit.
    due: Vec<UnitId>,
}

impl Leveler for State {
    fn erased(&mut self, _: DomainId, unit: UnitId, _: u32) -> bool {
        self.reads[unit] = 0;
        self.due.retain(|&due| due != unit);
        false
    }

    fn needs_reads(&self) -> bool {
        true
    }

    fn read(&mut self, _: DomainId, unit: UnitId, _: Ppn) -> bool {
        let reads = &mut self.reads[unit];
        *reads += 1;
        if *reads == self.params.reads {
            self.due.push(unit);
        }
        *reads >= self.params.reads
    }

    fn next_request(
        &mut self,
        drive: &mut DriveView<'_>,
        domain: DomainId,
        _: &mut Books<'_>,
    ) -> Option<Request> {
        let is_closed = |unit: UnitId| drive.units.meta[unit].pos != NOT_INDEXED;
        let at =
            self.due.iter().position(|&unit| drive.layout.domain_of(unit) == domain && is_closed(unit))?;
        let unit = self.due.remove(at);
        let urgency = if self.params.urgent { Urgency::Urgent } else { Urgency::Proactive };
        let other = DomainId((domain.0 + 1) % drive.layout.domains());
        let target = Target::Own { domain: other, want: Want::MostWorn, mode: 1, kept: false };
        Some(Request::emptying(unit, domain, Cause::Level, urgency).into(target))
    }

    fn fits(&self, layout: &Layout) -> bool {
        self.reads.len() == layout.units() as usize
    }
}

#[test]
fn its_parameters_come_from_its_row() {
    let settings = super::SLOT.with("relocating", &[("reads", 3.0)]);
    assert_eq!(Params::of(&settings), Params { reads: 3, urgent: true });
}
