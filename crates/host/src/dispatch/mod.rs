//! Slot `ftl.dispatch`: which host writes belong together. One file per policy, with one row of `dispatchers!` each.
//!
//! A dispatcher sees the requests of a window, as a scheduler sees those of its queue, and labels writes ([`Label`]).
//! It changes neither their order nor their times; the FTL decides what a label means for open blocks.

mod fcfs;
mod patterns;
mod pgis;
#[cfg(test)]
mod tests;
mod window;

use floatgate_base::policy::ChosenPolicy;
use floatgate_base::{Acts, Label, Misfit, Op, PolicyInfo, RequestBatch, Slot};
use serde::{Deserialize, Serialize};
use window::{Labels, Learned, Look, Windows, Writes};

/// The slot.
pub const SLOT: Slot = Slot {
    key: "ftl.dispatch",
    selector: "policy",
    what: "dispatcher",
    summary: "Which writes belong together.",
    policies: POLICIES,
    common: &[],
    acts: Acts::Always,
};

/// One row per dispatcher that labels writes: its variant and its module, which has `INFO`, `Params` and `State`.
macro_rules! dispatchers {
    ($($variant:ident: $module:ident,)*) => {
        /// All dispatchers.
        pub const POLICIES: &[PolicyInfo] = &[fcfs::INFO, $($module::INFO,)*];

        /// A dispatcher with its parameters.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Dispatch {
            /// See [`fcfs`].
            Fcfs,
            $(
                #[doc = concat!("See [`", stringify!($module), "`].")]
                $variant($module::Params),
            )*
        }

        impl Dispatch {
            /// Creates the dispatcher with these settings.
            ///
            /// # Errors
            /// Parameters that exclude each other.
            ///
            /// # Panics
            /// When the settings belong to another slot.
            pub fn of(settings: &ChosenPolicy) -> Result<Self, Misfit> {
                match settings.name() {
                    name if name == fcfs::INFO.name => Ok(Self::Fcfs),
                    $(name if name == $module::INFO.name => $module::Params::of(settings).map(Self::$variant),)*
                    name => panic!("{name} is not a dispatcher"),
                }
            }

            /// Returns the row of the dispatcher.
            #[must_use]
            pub fn info(self) -> &'static PolicyInfo {
                match self {
                    Self::Fcfs => &fcfs::INFO,
                    $(Self::$variant(_) => &$module::INFO,)*
                }
            }

            fn windows(self) -> Option<Windows> {
                match self {
                    Self::Fcfs => None,
                    $(Self::$variant(params) => Some(params.windows),)*
                }
            }
        }

        /// The state of a dispatcher.
        #[derive(Debug)]
        enum Labelling {
            $($variant(Box<$module::State>),)*
        }

        impl Labelling {
            fn of(dispatch: Dispatch) -> Option<Self> {
                match dispatch {
                    Dispatch::Fcfs => None,
                    $(Dispatch::$variant(params) => Some(Self::$variant(Box::new(params.state()))),)*
                }
            }

            fn learn(&mut self, mined: &[window::Start]) -> Learned {
                match self {
                    $(Self::$variant(state) => state.learn(mined),)*
                }
            }

            fn label(&mut self, writes: &[window::Start], labels: impl FnMut(Label)) {
                match self {
                    $(Self::$variant(state) => state.label(writes, labels),)*
                }
            }

            fn restart(&mut self) {
                match self {
                    $(Self::$variant(state) => state.restart(),)*
                }
            }
        }
    };
}

dispatchers! {
    Pgis: pgis,
    Patterns: patterns,
}

impl Dispatch {
    /// Returns whether it labels any writes.
    #[must_use]
    pub fn labels(self) -> bool {
        self != Self::Fcfs
    }

    /// Returns whether it labels groups, which the FTL places by the wear of blocks.
    #[must_use]
    pub fn makes_groups(self) -> bool {
        matches!(self, Self::Patterns(_))
    }

    /// Returns whether writes without a group go to the more worn half of the free blocks, in place of the most worn one.
    #[must_use]
    pub fn has_rest_in_upper_half(self) -> bool {
        matches!(self, Self::Patterns(params) if params.rest_in_upper_half)
    }
}

/// Counters of the dispatcher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchCounters {
    /// Windows with a served request, including the last partial one.
    pub windows: u64,
    /// Patterns of these windows.
    pub patterns: u64,
    /// Addresses of all patterns.
    pub items: u64,
    /// Windows with more patterns than the miner can list, whose patterns label no writes.
    pub windows_too_dense: u64,
    /// Write requests that were labelled.
    pub matched_requests: u64,
}

/// A dispatcher at work on the batches of a source; each batch begins at the start of a window.
#[derive(Debug)]
pub struct Dispatcher {
    labelling: Labelling,
    windows: Windows,
    writes: Writes,
    /// Results of learning from each window of the batch.
    learned: Vec<Learned>,
}

impl Dispatcher {
    /// Creates a dispatcher before the first request; none if it labels no writes.
    #[must_use]
    pub fn of(dispatch: Dispatch) -> Option<Self> {
        Some(Self {
            labelling: Labelling::of(dispatch)?,
            windows: dispatch.windows()?,
            writes: Writes::default(),
            learned: Vec::new(),
        })
    }

    /// Returns the length of a batch except the last of a pass: whole windows, at least `least` requests.
    #[must_use]
    pub fn batch_len(&self, least: usize) -> usize {
        least.next_multiple_of(self.windows.window as usize)
    }

    /// Begins a pass.
    pub fn restart(&mut self) {
        self.labelling.restart();
    }

    /// Labels the requests of the next batch.
    pub fn label(&mut self, batch: &mut RequestBatch) {
        let Self { labelling, windows, writes, learned, .. } = self;
        let Windows { window, mined, look } = *windows;
        learned.clear();
        batch.label.clear();
        let mut labels = std::mem::take(&mut batch.label);
        for first in (0..batch.len()).step_by(window as usize) {
            let range = first..batch.len().min(first + window as usize);
            writes.read(batch, range.clone(), mined as usize);
            if look == Look::Window {
                learned.push(labelling.learn(&writes.starts[..writes.mined]));
            }
            let mut next = first;
            labelling.label(&writes.starts, |label| {
                while batch.op[next] != Op::Write {
                    labels.push(Label::REST);
                    next += 1;
                }
                labels.push(label);
                next += 1;
            });
            labels.resize(range.end, Label::REST);
            if look == Look::Causal {
                learned.push(labelling.learn(&writes.starts[..writes.mined]));
            }
        }
        batch.label = labels;
    }

    /// Counts served requests of the batch: those before `to`, of which those before `from` have been counted.
    pub fn count(&self, batch: &RequestBatch, (from, to): (usize, usize), counters: &mut DispatchCounters) {
        let window = self.windows.window as usize;
        // A window counts with its first request.
        for learned in &self.learned[from.div_ceil(window)..to.div_ceil(window)] {
            counters.windows += 1;
            counters.patterns += learned.patterns;
            counters.items += learned.items;
            counters.windows_too_dense += u64::from(learned.too_many);
        }
        let labels = &batch.label[from..to];
        counters.matched_requests += labels.iter().filter(|label| label.is_apart()).count() as u64;
    }
}
