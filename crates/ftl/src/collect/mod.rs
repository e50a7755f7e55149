//! Slot `ftl.collect`: which block is collected next.
//!
//! One file and one row of `victims!` per policy; [`VictimPolicy`] is the contract. The mechanism: `candidates` holds
//! the closed units, `update_blocks` those that wait, `queues` streams that are collected in the order of closing.
//! `choice` fixes the order of the groups, and `collector` requests the job.

pub(crate) mod by_context;
mod candidates;
mod choice;
mod collector;
mod cost_age_time;
mod cost_benefit;
mod cost_benefit_sqrt;
mod d_choices;
mod fifo;
mod greedy;
mod plugin;
mod queues;
mod random;
mod timing;
mod update_blocks;
mod victim_policy;
mod windowed_greedy;

pub use by_context::ByContext;
pub(crate) use candidates::{Apart, Candidates, Garbage};
pub(crate) use choice::Choice;
pub(crate) use collector::Collector;
pub use timing::TimingCounters;
pub(crate) use timing::{Need, Timing};
pub use victim_policy::{VictimPolicy, View};

use crate::index::IndexKind;
use floatgate_base::policy::{ParamKind, Range};
use floatgate_base::{Acts, ChosenPolicy, ParamInfo, PolicyInfo, Rng, Slot, UnitId};
use floatgate_plugin::Plugin;
use floatgate_theory::Policy as Law;

/// The slot.
pub const SLOT: Slot = Slot {
    key: "ftl.collect",
    selector: "policy",
    what: "victim policy",
    summary: "Garbage collection.",
    policies: POLICIES,
    common: COMMON_PARAMS,
    acts: Acts::Always,
};

/// Names of the scopes, each with its description.
pub const SCOPES: &[(&str, &str)] = &[
    ("plane", "each plane collects its own blocks"),
    ("superblock", "the blocks of one number over all planes are filled, collected and erased together"),
];

/// How pages of victims move, by name, with descriptions.
pub const MODES: &[(&str, &str)] = &[
    ("whole-block", "a host write that finds too few free blocks waits until whole blocks are collected"),
    ("incremental", "pages move in small steps with the host's writes, to keep blocks free in time"),
];
/// The row of incremental collection in [`MODES`].
const INCREMENTAL: u8 = 1;

/// Checks whether a name of [`MODES`] means incremental collection.
#[must_use]
pub fn is_incremental(mode: &str) -> bool {
    mode == MODES[usize::from(INCREMENTAL)].0
}

/// When victims are collected, by name, with descriptions.
pub const TIMINGS: &[(&str, &str)] = &[
    ("free-blocks", "as soon as too few blocks are free"),
    (
        "by-context",
        "victims wait if program contexts will soon overwrite their data, and idle time prepares blocks for bursts",
    ),
];

/// Checks whether a name of [`TIMINGS`] means timing by program contexts.
#[must_use]
pub fn is_by_context(timing: &str) -> bool {
    timing == TIMINGS[1].0
}

/// Parameters of timing by program contexts.
pub const BY_CONTEXT_PARAMS: &[&str] =
    &["horizon_share", "dying_share", "contexts", "confident_from", "burst_gap_us", "prepared_share"];

/// Parameters that all victim policies share; the mechanism implements them.
const COMMON_PARAMS: &[ParamInfo] = &[
    ParamInfo::name("scope", "what is collected together: plane or superblock", SCOPES),
    ParamInfo::name("mode", "how pages of victims move: incremental or whole-block", MODES)
        .or_of_drive("incremental in timed mode if a plane has 16 spare blocks, otherwise whole-block", |facts| {
            f64::from(if facts.incremental { INCREMENTAL } else { 0 })
        }),
    ParamInfo::whole(
        "trigger_free_blocks",
        "collection starts when fewer blocks of a plane (superblocks) are free",
        0,
        (0, u32::MAX),
    )
    .or("one per stream, at most 2"),
    ParamInfo::whole("stop_free_blocks", "collection continues until this many are free", 0, (0, u32::MAX))
        .or("1 % of the blocks, from the trigger up to 8"),
    ParamInfo::within(
        "trigger_free_share",
        "the trigger as a share of all blocks, instead of a number",
        0.0,
        Range::SHARE_BETWEEN,
    )
    .or("none"),
    ParamInfo::within(
        "stop_free_share",
        "the stop level as a share of all blocks, instead of a number",
        0.0,
        Range::SHARE_BETWEEN,
    )
    .or("none"),
    ParamInfo::count(
        "paced_from_writes",
        "after this many counted host page writes, blocks are also collected at a pace, however many are free",
        0,
    )
    .or("never")
    .functional(),
    ParamInfo::count(
        "pace_writes",
        "with paced_from_writes: host page writes per block collected this way",
        1,
    )
    .or("the pages of a block (superblock)")
    .functional(),
    ParamInfo::within(
        "garbage_share",
        "another block is collected whenever dead pages of closed blocks exceed this share of all written pages",
        0.0,
        Range::SHARE_BETWEEN,
    )
    .or("never")
    .functional(),
    ParamInfo::name(
        "timing",
        "whether victims can wait: free-blocks, or by-context for program contexts to decide",
        TIMINGS,
    ),
    ParamInfo::within(
        "horizon_share",
        "timing by context: data expected to be overwritten within this share of the logical pages, in host page writes, \
         are dying",
        0.0,
        Range { above_least: true, ..Range::SHARE },
    )
    .or("the pages of 8 blocks of each plane (superblocks)"),
    ParamInfo::within(
        "dying_share",
        "timing by context: a victim waits if at least this share of its valid pages are dying",
        0.5,
        Range::SHARE,
    ),
    ParamInfo::whole("contexts", "timing by context: entries of the table of contexts", 1024, (1, 1 << 20)),
    ParamInfo::whole(
        "confident_from",
        "timing by context: right expectations more than wrong ones from which on a context predicts; at most 7 are counted",
        4,
        (1, 7),
    ),
    ParamInfo::within(
        "burst_gap_us",
        "timing by context, with jobs in idle time: time without requests in flight after which a burst is over, \
         microseconds",
        5_000.0,
        Range::closed(0.0, 1e8),
    )
    .timed(),
    ParamInfo::within(
        "prepared_share",
        "timing by context, with jobs in idle time: share of the spare blocks that a predicted burst lets it free at most",
        0.5,
        Range::SHARE_BETWEEN,
    )
    .timed(),
];

/// One row per policy: its variant and its module, which has `INFO` and `Params`, a [`VictimPolicy`].
macro_rules! victims {
    ($($variant:ident: $module:ident,)*) => {
        /// All victim policies.
        pub const POLICIES: &[PolicyInfo] = &[$($module::INFO,)*];

        /// A victim policy with its parameters.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Victim {
            $(
                #[doc = concat!("See [`", stringify!($module), "`].")]
                $variant($module::Params),
            )*
            /// See [`plugin`].
            Plugin(plugin::Params),
        }

        impl Victim {
            /// Creates the policy with its settings.
            ///
            /// # Panics
            /// When it is of another slot.
            #[must_use]
            pub fn of(settings: &ChosenPolicy) -> Self {
                match settings.name() {
                    $(name if name == $module::INFO.name => Self::$variant($module::Params::of(settings)),)*
                    name => plugin::Params::loaded(settings)
                        .map_or_else(|| panic!("{name} is not a victim policy"), Self::Plugin),
                }
            }

            /// See [`VictimPolicy::index_kind`].
            #[must_use]
            pub fn index_kind(self) -> IndexKind {
                match self {
                    $(Self::$variant(policy) => policy.index_kind(),)*
                    Self::Plugin(policy) => policy.index_kind(),
                }
            }

            /// See [`VictimPolicy::pick`].
            #[must_use]
            pub fn pick(self, view: View<'_>, rng: &mut Rng) -> Option<UnitId> {
                match self {
                    $(Self::$variant(policy) => policy.pick(view, rng),)*
                    Self::Plugin(policy) => policy.pick(view, rng),
                }
            }

            /// See [`VictimPolicy::law`].
            #[must_use]
            pub fn law(self) -> Option<Law> {
                match self {
                    $(Self::$variant(policy) => policy.law(),)*
                    Self::Plugin(policy) => policy.law(),
                }
            }
        }
    };
}

victims! {
    Greedy: greedy,
    Fifo: fifo,
    Random: random,
    DChoices: d_choices,
    WindowedGreedy: windowed_greedy,
    CostBenefit: cost_benefit,
    CostBenefitSqrt: cost_benefit_sqrt,
    CostAgeTime: cost_age_time,
}

impl Victim {
    /// Checks whether it is a policy from outside.
    #[must_use]
    pub fn is_plugin(self) -> bool {
        matches!(self, Self::Plugin(_))
    }

    /// Returns the policy from outside, if it is one.
    #[must_use]
    pub fn plugin(self) -> Option<&'static Plugin> {
        if let Self::Plugin(params) = self { Some(params.plugin()) } else { None }
    }

    /// Returns the named policy with default parameters.
    ///
    /// # Panics
    /// When no policy has this name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self::of(&SLOT.with(name, &[]))
    }

    /// Returns the policies that keep an index of this kind, written as in an experiment.
    #[must_use]
    pub fn with_index(kind: IndexKind) -> Vec<String> {
        let keeps = |name: &str, values: &[_]| Self::of(&SLOT.with(name, values)).index_kind() == kind;
        let mut policies = Vec::new();
        for info in SLOT.all() {
            let Some(window) = kind.window() else {
                if keeps(info.name, &[]) {
                    policies.push(format!("\"{}\"", info.name));
                    continue;
                }
                // Otherwise a name that a parameter takes may select the kind.
                for param in info.params {
                    let ParamKind::Name(names) = param.kind else { continue };
                    let asks = |row: &usize| keeps(info.name, &[(param.name, *row as f64)]);
                    let rows = (0..names.len()).filter(asks);
                    policies.extend(
                        rows.map(|row| {
                            format!("\"{}\" with {} = \"{}\"", info.name, param.name, names[row].0)
                        }),
                    );
                }
                continue;
            };
            // The window is the value of one of its parameters.
            let takes = |param: &&ParamInfo| {
                matches!(param.kind, ParamKind::Whole { .. }) && param.takes(&param.setting(window.into()))
            };
            let params = info.params.iter().filter(takes);
            let params = params.filter(|param| keeps(info.name, &[(param.name, window.into())]));
            policies.extend(params.map(|param| format!("\"{}\" with {} = {window}", info.name, param.name)));
        }
        policies
    }
}
