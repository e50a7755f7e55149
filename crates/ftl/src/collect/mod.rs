//! Slot `ftl.collect`: which block is collected next. One file a policy, one row of [`POLICIES`] each.

mod cost_age_time;
mod cost_benefit;
mod cost_benefit_sqrt;
mod d_choices;
mod fifo;
mod greedy;
mod random;
mod windowed_greedy;

use crate::index::{Index, IndexKind};
use crate::units::Units;
use floatgate_base::{ParamInfo, PolicyInfo, Rng, UnitId};
use floatgate_flash::Layout;

/// All victim policies.
pub const POLICIES: &[PolicyInfo] = &[
    greedy::INFO,
    fifo::INFO,
    random::INFO,
    d_choices::INFO,
    windowed_greedy::INFO,
    cost_benefit::INFO,
    cost_benefit_sqrt::INFO,
    cost_age_time::INFO,
];

/// Parameters that every victim policy shares.
pub const COMMON_PARAMS: &[ParamInfo] = &[
    ParamInfo::new("scope", "what is collected together: plane (default) or superblock"),
    ParamInfo::new(
        "trigger_free_blocks",
        "collection starts when fewer blocks of a plane (superblocks) are free; default: one a stream",
    ),
    ParamInfo::new(
        "stop_free_blocks",
        "collection goes on until so many are free; default: 1 % of the blocks, from the trigger up to 8",
    ),
    ParamInfo::new("trigger_free_share", "the trigger as a share of all blocks, instead of a number"),
    ParamInfo::new("stop_free_share", "the stop level as a share of all blocks, instead of a number"),
    ParamInfo::new(
        "paced_from_writes",
        "functional: after so many counted host page writes, blocks are collected at a pace too, however many are \
         free; default: never",
    ),
    ParamInfo::new(
        "pace_writes",
        "host page writes for each block that is collected so; default: the pages of a block (superblock)",
    ),
];

/// What a policy sees when it chooses: the index that it declared, and the units' state.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The index of the declared kind.
    pub index: &'a Index,
    /// Valid counts and times of closing.
    pub units: &'a Units,
    /// Erases of every unit.
    pub erases: &'a [u32],
    /// Shape of the drive.
    pub layout: &'a Layout,
    /// Host page writes so far.
    pub now: u64,
    /// Domain to choose in.
    pub domain: u32,
}

impl View<'_> {
    /// Valid pages of a unit.
    #[must_use]
    pub fn valid(&self, unit: UnitId) -> u32 {
        self.units.meta[unit as usize].valid
    }

    /// `Some(unit)` unless collecting it would gain nothing.
    fn worth(&self, unit: UnitId) -> Option<UnitId> {
        (self.valid(unit) < self.layout.pages_per_unit()).then_some(unit)
    }
}

/// A victim policy with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// See [`greedy`].
    Greedy,
    /// See [`fifo`].
    Fifo,
    /// See [`random`].
    Random,
    /// See [`d_choices`].
    DChoices {
        /// Blocks sampled.
        choices: u32,
    },
    /// See [`windowed_greedy`].
    WindowedGreedy {
        /// Oldest blocks among which it is greedy, in each domain.
        window: u32,
    },
    /// See [`cost_benefit`].
    CostBenefit,
    /// See [`cost_benefit_sqrt`].
    CostBenefitSqrt,
    /// See [`cost_age_time`].
    CostAgeTime,
}

impl Victim {
    /// The index that the mechanism must keep for this policy.
    #[must_use]
    pub fn index_kind(self) -> IndexKind {
        match self {
            Self::Greedy => IndexKind::ByValid,
            Self::Fifo => IndexKind::CloseOrder,
            Self::Random | Self::DChoices { .. } => IndexKind::Slots,
            Self::WindowedGreedy { window } => IndexKind::ByValidInWindow { window },
            Self::CostBenefit | Self::CostBenefitSqrt | Self::CostAgeTime => IndexKind::OldestByValid,
        }
    }

    /// Chooses a closed unit of the view's domain; none if there is none that is worth collecting.
    #[must_use]
    pub fn pick(self, view: View<'_>, rng: &mut Rng) -> Option<UnitId> {
        match self {
            Self::Greedy => greedy::pick(view),
            Self::Fifo => fifo::pick(view),
            Self::Random => random::pick(view, rng),
            Self::DChoices { choices } => d_choices::pick(view, choices, rng),
            Self::WindowedGreedy { .. } => windowed_greedy::pick(view),
            Self::CostBenefit => cost_benefit::pick(view),
            Self::CostBenefitSqrt => cost_benefit_sqrt::pick(view),
            Self::CostAgeTime => cost_age_time::pick(view),
        }
    }
}
