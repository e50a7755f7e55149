//! A throttle from outside (`floatgate-plugin`): it states the delay of each epoch's page writes. Budget and regulator
//! are READY's, as it chooses, so the target is met whatever delays it states.
//!
//! Cost: a call per epoch. Memory: its state.

use floatgate_base::ChosenPolicy;
use floatgate_plugin::contract::{self, Epoch};
use floatgate_plugin::{Chosen, Kept, Plugin, SlotKind};
use serde::{Deserialize, Serialize};

/// Calls that are all made twice, to find out whether the policy is deterministic.
const CHECKED: u32 = 256;

/// A loaded throttle with the values of its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params(Chosen);

impl Params {
    /// Returns the throttle with its settings, if it is one from outside.
    pub(super) fn loaded(settings: &ChosenPolicy) -> Option<Self> {
        Chosen::of(settings, SlotKind::Throttle).map(Self)
    }

    /// Returns the loaded throttle.
    pub(super) fn plugin(self) -> &'static Plugin {
        self.0.plugin
    }
}

/// Describes a drive in the terms of the contract, as far as a throttle knows it.
fn shape(page_bytes: u32) -> contract::Shape {
    contract::Shape {
        size: size_of::<contract::Shape>() as u32,
        logical_pages: 0,
        pages_per_block: 0,
        blocks: 0,
        domains: 0,
        page_bytes,
        seed: 0,
    }
}

/// A throttle from outside in one life.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Outside {
    kept: Kept,
    #[serde(skip)]
    calls: u32,
    #[serde(skip)]
    fault: Option<&'static str>,
}

impl Outside {
    /// Begins a life.
    pub fn new(params: Params, page_bytes: u32) -> Self {
        let (kept, fault) = Kept::begin(params.0, &shape(page_bytes));
        let mut state = Self { kept, calls: 0, fault: None };
        if let Some(fault) = fault {
            state.report(fault);
        }
        state
    }

    /// Keeps the first fault. Its text stays for the life of the process: a life has one at most.
    #[cold]
    fn report(&mut self, fault: String) {
        self.fault.get_or_insert_with(|| fault.leak());
    }

    /// Checks whether this is a state of this throttle.
    pub fn fits(&self, Params(chosen): Params, page_bytes: u32) -> bool {
        let Kept { plugin, values, .. } = self.kept;
        Chosen { plugin, values } == chosen && self.kept.fits(&shape(page_bytes))
    }

    /// Returns the first fault.
    pub fn fault(&self) -> Option<&'static str> {
        self.fault
    }

    /// Returns the delay of an epoch's page writes, seconds; 0 after a fault.
    pub fn delay_s(&mut self, epoch: &Epoch) -> f64 {
        let Some(delay) = self.kept.plugin.policy.delay else { return 0.0 };
        let call = |kept: &mut Kept| {
            // SAFETY: the epoch lives through the call; the policy began with this state and these values.
            unsafe { delay(&raw const *epoch, kept.values_at(), kept.at()) }
        };
        let before = (self.calls < CHECKED).then(|| self.kept.clone());
        self.calls = self.calls.saturating_add(1);
        let answer = call(&mut self.kept);
        let when = || format!("for epoch {}, {:.0} s into the life", epoch.number, epoch.start_s);
        if !(answer >= 0.0 && answer.is_finite()) {
            let plugin = self.kept.plugin;
            self.report(if answer.is_nan() {
                plugin.failed("delay", &when())
            } else {
                format!("policy '{}' stated a delay of {answer} s, {}", plugin.info.name, when())
            });
            return 0.0;
        }
        if let Some(mut again) = before
            && (call(&mut again).to_bits() != answer.to_bits() || again.lines() != self.kept.lines())
        {
            let name = self.kept.plugin.info.name;
            self.report(format!(
                "policy '{name}' is not deterministic: delay gave another answer or another state again, {}; all that it \
                 remembers must lie in its state",
                when()
            ));
        }
        answer
    }
}
