//! A wear-leveler from outside (`floatgate-plugin`): shows it the blocks of a domain, keeps its state as bytes, and checks
//! its answers. The data of a block that it names move as under `gap`: into the most worn free block, in idle time.
//!
//! Cost: O(log n) per block closed, emptied or moved, and the policy's own. Memory: 12 bytes per block, and its state.

use super::least_erased::LeastErased;
use super::{Books, Leveler, Verdict, VictimView};
use crate::faults::Faults;
use crate::jobs::request::DriveView;
use crate::jobs::{Request, Target, Urgency};
use crate::pool::Want;
use crate::units::Units;
use floatgate_base::{ChosenPolicy, DomainId, IdSlice, IdVec, Ppn, Rng, UnitId};
use floatgate_flash::{Cause, Layout};
use floatgate_nand::LeadLimit;
use floatgate_plugin::contract::{self, COLLECT, FAILED, NONE, PASS_OVER, Policy, Valid, Wear};
use floatgate_plugin::{Chosen, Kept, Plugin, SlotKind};
use serde::{Deserialize, Serialize};
use std::ffi::c_void;

/// Calls that are all made twice, to find out whether the policy is deterministic.
const CHECKED: u32 = 256;

/// A loaded wear-leveler with the values of its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params(Chosen);

impl Params {
    /// Returns the wear-leveler with its settings, if it is one from outside.
    pub fn loaded(settings: &ChosenPolicy) -> Option<Self> {
        Chosen::of(settings, SlotKind::Leveler).map(Self)
    }

    /// Returns the loaded wear-leveler.
    pub fn plugin(self) -> &'static Plugin {
        self.0.plugin
    }
}

impl super::Params for Params {
    type State = State;

    fn of(settings: &ChosenPolicy) -> Self {
        Self::loaded(settings).expect("the policy is loaded")
    }

    fn lead_limit(&self) -> Option<LeadLimit> {
        let lead_max = self.0.plugin.policy.lead_max?;
        // SAFETY: the values have the length that the policy expects.
        let lead = unsafe { lead_max(self.0.values.as_ptr()) };
        (lead > 0.0 && lead.is_finite()).then(|| LeadLimit::constant(lead))
    }

    fn state(&self, layout: &Layout) -> State {
        let faults = Faults::default();
        let (kept, fault) = Kept::begin(self.0, &shape(layout));
        if let Some(fault) = fault {
            faults.report(fault);
        }
        // SAFETY: the values have the length that the policy expects.
        let lead = self.0.plugin.policy.lead_max.map(|lead_max| unsafe { lead_max(self.0.values.as_ptr()) });
        if lead.is_some_and(f64::is_nan) {
            faults.report(self.0.plugin.failed("lead_max", "before the run"));
        }
        State {
            kept,
            closed: LeastErased::new(layout),
            erases: IdVec::filled(0, layout.domains()),
            requested: IdVec::filled(None, layout.domains()),
            pages_per_unit: layout.pages_per_unit(),
            moves: IdVec::filled((0, 0), layout.domains()),
            faults,
            calls: 0,
        }
    }
}

/// Describes a drive in the terms of the contract, as far as wear-levelers know it before the run.
fn shape(layout: &Layout) -> contract::Shape {
    contract::Shape {
        size: size_of::<contract::Shape>() as u32,
        logical_pages: 0,
        pages_per_block: layout.pages_per_unit(),
        blocks: layout.units(),
        domains: layout.domains(),
        page_bytes: 0,
        seed: 0,
    }
}

/// State of a wear-leveler from outside.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    kept: Kept,
    closed: LeastErased,
    /// Erases of all units of each domain.
    erases: IdVec<DomainId, u64>,
    /// The unit to be emptied, by domain.
    requested: IdVec<DomainId, Option<UnitId>>,
    pages_per_unit: u32,
    /// Host page writes at the last move of a domain, and moves since.
    moves: IdVec<DomainId, (u64, u32)>,
    #[serde(skip)]
    faults: Faults,
    #[serde(skip)]
    calls: u32,
}

/// What both views of the mechanism show.
struct Seen<'a> {
    units: &'a Units,
    layout: &'a Layout,
    erases: &'a IdSlice<UnitId, u32>,
    logical_pages: u32,
    now: u64,
    domain: DomainId,
}

impl Seen<'_> {
    fn when(&self) -> String {
        format!("for domain {} after {} host page writes", self.domain, self.now)
    }
}

impl State {
    /// Checks whether both states are of the same policy with the same parameters.
    pub fn is_like(&self, other: &Self) -> bool {
        let of = |state: &Self| Chosen { plugin: state.kept.plugin, values: state.kept.values };
        of(self) == of(other)
    }

    /// Returns the first fault of the policy.
    pub fn fault(&self) -> Option<&'static str> {
        self.faults.first()
    }

    /// Describes the blocks of a domain.
    fn wear(&self, seen: &Seen<'_>) -> Wear {
        let closed = self.closed.units_of(seen.domain);
        let per_domain = seen.layout.units_per_domain();
        Wear {
            size: size_of::<Wear>() as u32,
            domain: seen.domain.0,
            first_block: seen.domain.0 * per_domain,
            blocks: per_domain,
            pages_per_block: seen.layout.pages_per_unit(),
            drive_blocks: seen.layout.units(),
            logical_pages: seen.logical_pages,
            least_erased: self.closed.first(seen.domain).map_or(NONE, |(_, unit)| unit.0),
            most_worn_free: NONE,
            may_pass: 0,
            closed_len: closed.len() as u32,
            reserved: 0,
            now: seen.now,
            random: 0,
            mean_erases: self.erases[seen.domain] as f64 / f64::from(per_domain),
            valid: seen.units.meta.as_slice().as_ptr().cast::<Valid>(),
            erases: seen.erases.as_slice().as_ptr().cast(),
            closed_at: seen.units.closed_at.as_slice().as_ptr().cast(),
            closed: closed.as_ptr().cast(),
        }
    }

    /// Checks whether a number is that of a closed unit of the domain. Victims that were passed over are closed, too,
    /// though the victim policy no longer sees them.
    fn is_closed(&self, number: u32, seen: &Seen<'_>) -> bool {
        let unit = UnitId(number);
        number < seen.layout.units() && seen.layout.domain_of(unit) == seen.domain && self.closed.holds(unit)
    }

    /// Makes a call; the first ones are made twice, from the same state.
    fn call(&mut self, function: &str, when: &dyn Fn() -> String, each: impl Fn(&mut Kept) -> u32) -> u32 {
        let before = (self.calls < CHECKED).then(|| self.kept.clone());
        self.calls = self.calls.saturating_add(1);
        let answer = each(&mut self.kept);
        if answer == FAILED {
            self.faults.report(self.kept.plugin.failed(function, &when()));
        } else if before.is_some_and(|before| !self.kept.repeats(&before, answer, &each)) {
            let name = self.kept.plugin.info.name;
            self.faults.report(format!(
                "policy '{name}' is not deterministic: {function} gave another answer or another state again, {}; all \
                 that it remembers must lie in its state",
                when()
            ));
        }
        answer
    }

    /// Makes a call that returns nothing else than whether it failed.
    fn note(
        &mut self,
        function: &str,
        of: UnitId,
        call: impl Fn(&Policy, *const f64, *mut c_void) -> Option<u32>,
    ) {
        let (plugin, values) = (self.kept.plugin, self.kept.values_at());
        if call(&plugin.policy, values, self.kept.at()) == Some(FAILED) {
            self.faults.report(plugin.failed(function, &format!("for block {of}")));
        }
    }

    /// Counts a move, of which a domain may have as many as it has blocks while the host writes nothing: a policy that
    /// always names a block would never come to an end.
    fn may_request(&mut self, domain: DomainId, seen: &Seen<'_>) -> bool {
        let (since, moves) = &mut self.moves[domain];
        if *since != seen.now {
            (*since, *moves) = (seen.now, 0);
        }
        *moves += 1;
        if *moves <= seen.layout.units_per_domain() {
            return true;
        }
        let (name, when) = (self.kept.plugin.info.name, seen.when());
        self.faults.report(format!(
            "policy '{name}' named a block in job {moves} times though the host wrote nothing meanwhile, {when}; expected \
             NONE once nothing is left to move"
        ));
        false
    }

    #[cold]
    fn refuse(&self, function: &str, answer: u32, seen: &Seen<'_>) {
        let (name, when) = (self.kept.plugin.info.name, seen.when());
        self.faults.report(format!(
            "policy '{name}' named block {answer} in {function}, which is no closed block of the domain, {when}"
        ));
    }

    /// Tells the policy that all erases have changed at once.
    fn recounted(&mut self, erases: &IdSlice<UnitId, u32>) {
        let (at, count) = (erases.as_slice().as_ptr().cast::<u32>(), erases.len() as u32);
        self.note("recounted", UnitId(0), |policy, values, state| {
            // SAFETY: the table has so many entries; the policy began with this state and these values.
            policy.recounted.map(|call| unsafe { call(at, count, values, state) })
        });
    }
}

impl Leveler for State {
    fn closed(&mut self, domain: DomainId, unit: UnitId) {
        self.closed.insert(domain, unit);
        self.note("closed", unit, |policy, values, state| {
            // SAFETY: the policy began with this state and these values.
            policy.closed.map(|call| unsafe { call(domain.0, unit.0, values, state) })
        });
    }

    fn emptying(&mut self, domain: DomainId, unit: UnitId) {
        self.closed.remove(domain, unit);
        self.note("emptying", unit, |policy, values, state| {
            // SAFETY: as in `closed`.
            policy.emptying.map(|call| unsafe { call(domain.0, unit.0, values, state) })
        });
    }

    fn erased(&mut self, domain: DomainId, unit: UnitId, erases: u32) -> bool {
        self.closed.erased(unit, erases);
        self.erases[domain] += 1;
        self.note("erased", unit, |policy, values, state| {
            // SAFETY: as in `closed`.
            policy.erased.map(|call| unsafe { call(unit.0, erases, values, state) })
        });
        self.kept.plugin.policy.job.is_some() && self.closed.first(domain).is_some()
    }

    fn needs_reads(&self) -> bool {
        self.kept.plugin.policy.read.is_some()
    }

    fn read(&mut self, _: DomainId, unit: UnitId, page: Ppn) -> bool {
        let number = page.0 % self.pages_per_unit;
        self.note("read", unit, |policy, values, state| {
            // SAFETY: as in `closed`.
            policy.read.map(|call| unsafe { call(unit.0, number, values, state) })
        });
        false
    }

    fn review(
        &mut self,
        drive: VictimView<'_>,
        victim: UnitId,
        _: f64,
        may_pass: bool,
        rng: &mut Rng,
    ) -> Verdict {
        let Some(review) = self.kept.plugin.policy.review else { return Verdict::Collect };
        let VictimView { units, layout, erases, logical_pages, now, domain } = drive;
        let seen = Seen { units, layout, erases, logical_pages, now, domain };
        let wear = Wear { may_pass: may_pass.into(), random: rng.next_u64(), ..self.wear(&seen) };
        let answer = self.call("review", &|| seen.when(), |kept| {
            // SAFETY: the tables live as long as the view; the policy began with this state and these values.
            unsafe { review(&raw const wear, victim.0, kept.values_at(), kept.at()) }
        });
        match answer {
            COLLECT | FAILED => Verdict::Collect,
            PASS_OVER if may_pass => Verdict::PassOver,
            PASS_OVER => Verdict::Collect,
            _ if answer != victim.0 && self.is_closed(answer, &seen) => Verdict::Swap(UnitId(answer)),
            _ => {
                self.refuse("review", answer, &seen);
                Verdict::Collect
            }
        }
    }

    fn next_request(
        &mut self,
        drive: &mut DriveView<'_>,
        domain: DomainId,
        _: &mut Books<'_>,
    ) -> Option<Request> {
        let job = self.kept.plugin.policy.job?;
        let (layout, erases) = (drive.layout, drive.erases);
        let (logical_pages, now) = (drive.logical_pages, drive.now);
        let most_worn_free = drive.most_worn_free(domain).unwrap_or(NONE);
        let seen = Seen { units: &*drive.units, layout, erases, logical_pages, now, domain };
        let wear = Wear { most_worn_free, ..self.wear(&seen) };
        let answer = self.call("job", &|| seen.when(), |kept| {
            // SAFETY: as in `review`.
            unsafe { job(&raw const wear, kept.values_at(), kept.at()) }
        });
        if answer == NONE || answer == FAILED || most_worn_free == NONE {
            return None;
        }
        if !self.is_closed(answer, &seen) {
            self.refuse("job", answer, &seen);
            return None;
        }
        let urgency = if self.requested[domain].is_none() {
            if !self.may_request(domain, &seen) {
                return None;
            }
            Urgency::Leveling
        } else {
            if self.requested[domain] != Some(UnitId(answer)) {
                return None;
            }
            let urgent = self.kept.plugin.policy.urgent?;
            let due = self.call("urgent", &|| seen.when(), |kept| {
                // SAFETY: as in `review`.
                unsafe { urgent(&raw const wear, answer, kept.values_at(), kept.at()) }
            });
            if due != 1 {
                return None;
            }
            Urgency::Urgent
        };
        let unit = UnitId(answer);
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
        let differs = self.closed.learn_wear(erases);
        let per_domain = erases.len() / self.erases.len();
        let by_domain = erases.as_slice().chunks(per_domain);
        self.erases = by_domain.map(|erases| erases.iter().map(|&n| u64::from(n)).sum()).collect();
        // A drive that goes on has the counts that the policy knows.
        if differs {
            self.recounted(erases);
        }
    }

    fn restart(&mut self) {
        self.closed.restart();
        self.erases.fill(0);
        let none = IdVec::filled(0, self.closed.units());
        self.recounted(&none);
    }

    fn fits(&self, layout: &Layout) -> bool {
        self.kept.plugin.kind == SlotKind::Leveler
            && self.kept.fits(&shape(layout))
            && self.pages_per_unit == layout.pages_per_unit()
            && self.closed.fits(layout)
            && [self.erases.len(), self.requested.len(), self.moves.len()] == [layout.domains() as usize; 3]
    }

    fn audit(&self, layout: &Layout, closed: &IdSlice<UnitId, bool>) -> Result<(), String> {
        self.closed.audit(layout, closed)
    }
}
