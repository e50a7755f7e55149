//! Slot `lifetime.reduce`: writes that need no page of their own. One file per policy, one row of `reducers!` each. The
//! FTL applies the choices of a policy.

mod both;
mod compress;
mod decision;
mod dedup;
mod foreseen;
mod integrated;
mod manager;
mod params;
mod rows;

pub use decision::{Decision, Effect, decide};
pub use foreseen::{ByChoice, CHOICES, Foreseen, Reduced};
pub use manager::{Manager, ManagerSetup, Record, Row, SchemePages, SchemeSeen, Seen};
pub use params::{Chunks, Dedup, Engine, Integrated, Params};

use floatgate_base::{Acts, ChosenPolicy, PolicyInfo, Slot};

/// The slot.
pub const SLOT: Slot = Slot {
    key: "lifetime.reduce",
    selector: "policy",
    what: "reducer",
    summary: "Deduplication and compression of writes.",
    policies: POLICIES,
    common: &[],
    acts: Acts::Always,
};

const NONE: PolicyInfo = PolicyInfo::plain("none", "every host page write is programmed");

/// One row per reducer: its variant and its module, which has `INFO`.
macro_rules! reducers {
    ($($variant:ident: $module:ident,)*) => {
        /// All reducers.
        pub const POLICIES: &[PolicyInfo] = &[NONE, $($module::INFO,)*];

        /// A reducer.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Reducer {
            /// Every host page write is programmed.
            None,
            $(
                #[doc = concat!("See [`", stringify!($module), "`].")]
                $variant,
            )*
        }

        impl Reducer {
            /// All of them, in the order of the table.
            pub const ALL: &[Self] = &[Self::None, $(Self::$variant,)*];

            /// Returns the description of the reducer.
            #[must_use]
            pub fn info(self) -> &'static PolicyInfo {
                match self {
                    Self::None => &NONE,
                    $(Self::$variant => &$module::INFO,)*
                }
            }
        }
    };
}

reducers! {
    Dedup: dedup,
    Compress: compress,
    Both: both,
    Integrated: integrated,
}

impl Reducer {
    /// Returns the configured reducer; its parameters are [`Params`].
    ///
    /// # Panics
    /// The settings belong to another slot.
    #[must_use]
    pub fn of(settings: &ChosenPolicy) -> Self {
        let policy = Self::ALL.iter().find(|reducer| reducer.info().name == settings.name());
        *policy.unwrap_or_else(|| panic!("{} is not a reducer", settings.name()))
    }
}
