//! A victim policy from outside (`floatgate-plugin`): shows it the closed blocks of a domain in the order that it
//! declares, and checks its answer.

use super::{VictimPolicy, View};
use crate::index::{Index, IndexKind};
use crate::units::NOT_INDEXED;
use floatgate_base::{ChosenPolicy, Rng, UnitId};
use floatgate_plugin::contract::{Blocks, FAILED, NONE, Node, Order, Valid};
use floatgate_plugin::{Chosen, Plugin, SlotKind};
use std::ptr::null;

/// A loaded policy with the values of its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params(Chosen);

impl Params {
    /// Returns the policy with its settings, if it is one from outside.
    pub fn loaded(settings: &ChosenPolicy) -> Option<Self> {
        Chosen::of(settings, SlotKind::Victim).map(Self)
    }

    /// Returns the loaded policy.
    pub fn plugin(self) -> &'static Plugin {
        self.0.plugin
    }

    /// Stops the run: the answer was not a block that can be collected.
    #[cold]
    fn refuse(&self, view: View<'_>, answer: u32) -> Option<UnitId> {
        let when = format!("for domain {} after {} host page writes", view.domain, view.now);
        let name = self.0.plugin.info.name;
        view.faults.report(if answer == FAILED {
            self.0.plugin.failed("pick", &when)
        } else {
            let why = match view.units.meta.get(UnitId(answer)) {
                None => "which the drive does not have",
                Some(_) if view.layout.domain_of(UnitId(answer)) != view.domain => {
                    "which is in another domain"
                }
                Some(_) => "which is not closed",
            };
            format!("policy '{name}' chose block {answer}, {why}, {when}")
        });
        None
    }
}

impl VictimPolicy for Params {
    fn of(settings: &ChosenPolicy) -> Self {
        Self::loaded(settings).expect("the policy is loaded")
    }

    fn index_kind(&self) -> IndexKind {
        match self.0.plugin.order {
            Order::Any => IndexKind::Slots,
            Order::Closing => IndexKind::CloseOrder,
            Order::Valid => IndexKind::ByValid,
            Order::ValidAndAge => IndexKind::OldestByValid,
            Order::ValidAndIdleAge => IndexKind::IdlestByValid,
        }
    }

    fn pick(&self, view: View<'_>, rng: &mut Rng) -> Option<UnitId> {
        let blocks = blocks(view, rng);
        let Some(pick) = self.0.plugin.policy.pick else { return self.refuse(view, FAILED) };
        // SAFETY: the tables live as long as the view, and their lengths are those of the contract.
        let answer = unsafe { pick(&raw const blocks, self.0.values.as_ptr()) };
        if view.faults.is_check_due() {
            // SAFETY: as above; the view is the same.
            let again = unsafe { pick(&raw const blocks, self.0.values.as_ptr()) };
            if again != answer && answer != FAILED {
                let name = self.0.plugin.info.name;
                view.faults.report(format!(
                    "policy '{name}' is not deterministic: for the same blocks pick gave {answer} at first and {again} \
                     again; it must keep nothing from call to call"
                ));
                return None;
            }
        }
        if answer == NONE {
            return None;
        }
        let is_closed = view.units.meta.get(UnitId(answer)).is_some_and(|meta| meta.pos != NOT_INDEXED)
            && view.layout.domain_of(UnitId(answer)) == view.domain;
        if is_closed { Some(UnitId(answer)) } else { self.refuse(view, answer) }
    }
}

/// Describes the closed blocks of a domain.
fn blocks(view: View<'_>, rng: &mut Rng) -> Blocks {
    let View { index, units, erases, layout, now, domain, .. } = view;
    let number = |unit: Option<UnitId>| unit.map_or(NONE, |unit| unit.0);
    let per_domain = layout.units_per_domain();
    let mut blocks = Blocks {
        size: size_of::<Blocks>() as u32,
        domain: domain.0,
        first_block: domain.0 * per_domain,
        blocks: per_domain,
        pages_per_block: layout.pages_per_unit(),
        first: NONE,
        any_len: 0,
        drive_blocks: layout.units(),
        now,
        random: 0,
        valid: units.meta.as_slice().as_ptr().cast::<Valid>(),
        erases: erases.as_slice().as_ptr().cast(),
        closed_at: units.closed_at.as_slice().as_ptr().cast(),
        links: null(),
        oldest: null(),
        nodes: null(),
        any: null(),
    };
    match index {
        Index::ByValid(rings) => blocks.first = number(rings[domain].first()),
        Index::CloseOrder(list) => {
            blocks.first = number(list.oldest(domain));
            blocks.links = list.links().as_ptr().cast();
        }
        Index::Oldest(heaps) | Index::Idlest(heaps) => {
            blocks.oldest = heaps.roots_of(domain).as_ptr().cast();
            blocks.nodes = heaps.nodes().cast::<Node>();
        }
        Index::Slots(slots) => {
            let any = slots[domain].units();
            (blocks.any, blocks.any_len) = (any.as_ptr().cast(), any.len() as u32);
            // A sample costs one draw; orders that need no chance leave the stream alone.
            blocks.random = rng.next_u64();
        }
        Index::Window { .. } => unreachable!("no order of the contract has a window"),
    }
    blocks
}
