//! Where logical pages lie, and to whom physical pages belong.

mod live;
mod mapping;
mod replicas;
#[cfg(test)]
mod sharing_tests;
mod side_table;
mod sides;

pub(crate) use live::Live;
pub(crate) use mapping::Mapping;
pub use replicas::ReplicaCounters;
pub(crate) use replicas::{Replica, Replicas};
pub(crate) use side_table::SideTable;
pub(crate) use sides::Sides;
