//! Slot `ftl.separate`: which stream, and so which open unit, a page write joins. One file and one row of `separators!`
//! per policy.
//!
//! `none` and `host-gc` inspect no pages and cost nothing. All others are [`Separator`]s: they inspect each page that
//! is written or moved, through [`Separation`]. Users cannot select `labelled`: a drive under a dispatcher uses it to
//! separate labelled pages.

mod bloom;
mod by_stream;
mod dac;
mod eti;
mod fadac;
mod fk;
pub mod foresight;
mod groups;
mod hash;
mod host_gc;
mod host_streams;
mod ids;
pub(crate) mod labelled;
mod last_writes;
mod midas;
mod multi_queue;
mod multilog;
mod none;
mod ora;
mod pds;
mod plugin;
mod predicted;
mod requests;
mod separation;
mod separator;
mod sepbit;
mod sfr;
mod sfs;
mod size;
mod two_level_lru;
mod variant;
mod warcip;

pub use floatgate_base::{ChosenPolicy, Hints, StreamId};
pub use foresight::{Foreseer, Foresight};
pub use labelled::Params as Labelled;
pub use separation::{Separation, StreamCounters};
pub use separator::{
    Moved, Needs, Occupancy, Reclaimed, Regroup, Replaced, Separator, Shape, UpdateBlocks, VictimUnit,
    WaitingPlace, Written,
};

use crate::pool::Want;
use floatgate_base::{Acts, PolicyInfo, Slot};
use floatgate_plugin::Plugin;
use serde::{Deserialize, Serialize};

/// The slot.
pub const SLOT: Slot = Slot {
    key: "ftl.separate",
    selector: "policy",
    what: "separator",
    summary: "Choice of the open block that a write joins.",
    policies: POLICIES,
    common: &[],
    acts: Acts::Always,
};

/// The most units that collection keeps free for moves: a page whose stream has no free unit joins another's.
const RESERVE_MAX: u32 = 2;

/// One row per separator that inspects pages: its variant and its module, which has `INFO`, `Params` and `State`.
macro_rules! separators {
    (chosen { $($chosen:ident: $row:ident,)* } implied { $($implied:ident: $other:ident,)* }) => {
        /// All separators that users can select.
        pub const POLICIES: &[PolicyInfo] = &[none::INFO, host_gc::INFO, $($row::INFO,)*];

        impl Separate {
            /// Creates the separator with its settings.
            ///
            /// # Panics
            /// When it is of another slot.
            #[must_use]
            pub fn of(settings: &ChosenPolicy) -> Self {
                match settings.name() {
                    name if name == none::INFO.name => Self::None,
                    name if name == host_gc::INFO.name => Self::HostGc,
                    $(name if name == $row::INFO.name => Self::$chosen($row::Params::of(settings)),)*
                    name => match plugin::Params::loaded(settings) {
                        Some(Ok(params)) => Self::Plugin(params),
                        // `check` has refused it.
                        _ => panic!("{name} is not a separator"),
                    },
                }
            }
        }

        page_separators! { $($chosen: $row,)* $($implied: $other,)* }
    };
}

/// Common code of all separators that inspect pages, selectable or not.
macro_rules! page_separators {
    ($($variant:ident: $module:ident,)*) => {

        /// A separator with its parameters.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Separate {
            /// See [`none`].
            None,
            /// See [`host_gc`].
            HostGc,
            $(
                #[doc = concat!("See [`", stringify!($module), "`].")]
                $variant($module::Params),
            )*
        }

        impl Separate {
            /// Returns the row of its module.
            fn own_row(self) -> &'static PolicyInfo {
                match self {
                    Self::None => &none::INFO,
                    Self::HostGc => &host_gc::INFO,
                    $(Self::$variant(_) => &$module::INFO,)*
                }
            }

            /// Returns the number of streams, which are numbered from 0.
            #[must_use]
            pub fn streams(self) -> u32 {
                match self {
                    Self::None => none::STREAMS,
                    Self::HostGc => host_gc::STREAMS,
                    $(Self::$variant(params) => params.streams(),)*
                }
            }
        }

        /// The state of a separator that inspects pages.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        enum SeparatorState {
            $($variant(Box<$module::State>),)*
        }

        impl SeparatorState {
            /// Creates the state for a new drive; none for separators that inspect no pages.
            fn of(separate: Separate, shape: &Shape) -> Option<Self> {
                match separate {
                    Separate::None | Separate::HostGc => None,
                    $(Separate::$variant(params) => {
                        Some(Self::$variant(Box::new($module::State::new(&params, shape))))
                    })*
                }
            }
        }

        impl SeparatorState {
            /// Checks whether it is the state of this separator.
            fn is_of(&self, separate: Separate) -> bool {
                match (self, separate) {
                    $((Self::$variant(_), Separate::$variant(_)) => true,)*
                    _ => false,
                }
            }
        }

        /// Runs `$body` with `$state` bound to the state of the separator, in code made for its type.
        macro_rules! with_separator {
            ($separator:expr, $state:ident => $body:expr) => {
                match $separator {
                    $($crate::separate::SeparatorState::$variant($state) => $body,)*
                }
            };
        }
        use with_separator;
    };
}

separators! {
    chosen {
        Hash: hash,
        HostStreams: host_streams,
        TwoLevelLru: two_level_lru,
        Size: size,
        Bloom: bloom,
        Dac: dac,
        SepBit: sepbit,
        Fadac: fadac,
        Warcip: warcip,
        MultiLog: multilog,
        Eti: eti,
        Sfr: sfr,
        Pds: pds,
        Ids: ids,
        Ora: ora,
        Fk: fk,
        Sfs: sfs,
        MultiQueue: multi_queue,
        Midas: midas,
        Predicted: predicted,
    }
    implied {
        Labelled: labelled,
        Plugin: plugin,
    }
}

impl Separate {
    /// Returns the user's choice in this slot; `Labelled` is implied by a choice in another slot.
    #[must_use]
    pub fn chosen(self) -> Self {
        match self {
            Self::Labelled(Labelled { moved_apart: false, .. }) => Self::None,
            Self::Labelled(Labelled { moved_apart: true, .. }) => Self::HostGc,
            chosen => chosen,
        }
    }

    /// Returns its row of the policy table.
    #[must_use]
    pub fn info(self) -> &'static PolicyInfo {
        match self {
            Self::Plugin(params) => params.plugin().info,
            own => own.own_row(),
        }
    }

    /// Returns the separator from outside, if it is one.
    #[must_use]
    pub fn plugin(self) -> Option<&'static Plugin> {
        if let Self::Plugin(params) = self { Some(params.plugin()) } else { None }
    }

    /// Checks the settings of a separator from outside.
    ///
    /// # Errors
    /// It states no valid number of streams.
    pub fn check(settings: &ChosenPolicy) -> Result<(), floatgate_plugin::Refused> {
        plugin::Params::loaded(settings).transpose().map(|_| ())
    }

    /// Checks whether it inspects pages, which requires a [`Separation`].
    #[must_use]
    pub fn inspects_pages(self) -> bool {
        !matches!(self, Self::None | Self::HostGc)
    }

    /// Returns all that it requires of a workload.
    #[must_use]
    pub fn needs(self) -> Vec<Needs> {
        match self {
            Self::HostStreams(_) => vec![Needs::Streams],
            Self::Pds(_) | Self::Ids(_) => vec![Needs::Contexts],
            Self::Predicted(params) if params.goes_by_column() => vec![Needs::Lives],
            Self::Plugin(params) => params.needs().collect(),
            _ => vec![],
        }
    }

    /// Checks whether it needs the future, for which the workload is read before the run.
    #[must_use]
    pub fn foresees(self) -> bool {
        match self {
            Self::Ora(_) | Self::Fk(_) => true,
            Self::Predicted(params) => params.reads_ahead(),
            _ => false,
        }
    }

    /// Checks whether it is notified where pages lie ([`Separator::placed`]).
    #[inline(always)]
    pub(crate) fn needs_units(self) -> bool {
        matches!(self, Self::Sfs(_))
    }

    /// Checks whether it is notified of replaced data ([`Separator::replaces`]).
    #[inline(always)]
    pub(crate) fn needs_replaced(self) -> bool {
        matches!(self, Self::Midas(params) if params.has_hot_group())
    }

    /// Selects the free unit that a stream opens.
    pub(crate) fn want(self, stream: StreamId) -> Want {
        match self {
            Self::Labelled(params) => params.want(stream),
            _ => Want::Next,
        }
    }

    /// Checks whether host pages of a stream stay in the domain that their label names.
    pub(crate) fn keeps_in_domain(self, stream: StreamId) -> bool {
        match self {
            Self::Labelled(params) => params.keeps_in_domain(stream),
            _ => false,
        }
    }

    /// Returns the units of a domain that collection keeps free for moves.
    #[must_use]
    pub fn reserve(self) -> u32 {
        self.streams().min(RESERVE_MAX)
    }

    /// Returns the streams of host and of moved pages, for a separator that inspects no pages.
    #[inline(always)]
    pub(crate) fn fixed_streams(self) -> (StreamId, StreamId) {
        match self {
            Self::HostGc => (host_gc::HOST, host_gc::MOVED),
            _ => (none::STREAM, none::STREAM),
        }
    }
}

/// Builds a small drive with `logical_pages`.
#[cfg(test)]
pub(crate) fn test_shape(logical_pages: u32) -> Shape {
    Shape { logical_pages, pages_per_unit: 4, units: 8, domains: 1, page_bytes: 4096, seed: 0 }
}
