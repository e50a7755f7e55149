//! Slot `ftl.level`: when and how wear is evened out beyond the choice of free blocks. One file a policy, one row of
//! `levelers!` each; [`Leveler`] is the contract.

pub mod hot_cold_swap;
mod leveler;
mod none;

pub use hot_cold_swap::Params as HotColdSwap;
pub use leveler::Leveler;

use floatgate_base::{Given, PolicyInfo, Slot};

/// The slot.
pub const SLOT: Slot = Slot {
    key: "ftl.level",
    selector: "policy",
    what: "wear-leveler",
    summary: "Wear-leveling.",
    policies: POLICIES,
    common: &[],
};

/// Victims that may be passed over for one that is taken.
pub const PASSED_MAX: usize = 8;
/// Units at the head of the queue that are looked at for one swap.
pub const LOOKS_MAX: usize = 8;

/// One row a leveler that does anything: its variant and its module, which has `INFO` and `Params`, a [`Leveler`].
macro_rules! levelers {
    ($($variant:ident: $module:ident,)*) => {
        /// All wear-levelers.
        pub const POLICIES: &[PolicyInfo] = &[none::INFO, $($module::INFO,)*];

        /// A wear-leveler with its parameters.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Level {
            /// See [`none`].
            None,
            $(
                #[doc = concat!("See [`", stringify!($module), "`].")]
                $variant($module::Params),
            )*
        }

        /// Nothing is asked of [`Level::None`]: there is no queue then.
        impl Leveler for Level {
            /// # Panics
            /// When it is of another slot.
            fn of(given: &Given) -> Self {
                match given.name() {
                    name if name == none::INFO.name => Self::None,
                    $(name if name == $module::INFO.name => Self::$variant($module::Params::of(given)),)*
                    name => panic!("{name} is no wear-leveler"),
                }
            }

            fn retires(&self, erases: u32, mean_erases: f64) -> bool {
                match self {
                    Self::None => false,
                    $(Self::$variant(policy) => policy.retires(erases, mean_erases),)*
                }
            }

            fn gives(&self, erases: u32, mean_erases: f64, valid: u32, valid_min: u32) -> bool {
                match self {
                    Self::None => false,
                    $(Self::$variant(policy) => policy.gives(erases, mean_erases, valid, valid_min),)*
                }
            }

            fn passed_over(&self, erases: u32, mean_erases: f64) -> f64 {
                match self {
                    Self::None => 0.0,
                    $(Self::$variant(policy) => policy.passed_over(erases, mean_erases),)*
                }
            }
        }
    };
}

levelers! {
    HotColdSwap: hot_cold_swap,
}
