//! Where logical pages lie, and who owns physical pages.

mod at_rest;
mod live;
mod mapping;
mod mapping_audit;
mod packed;
mod replicas;
mod shared;
mod side_table;
mod sides;

pub(crate) use at_rest::AtRest;
pub(crate) use live::Live;
pub(crate) use mapping::Mapping;
pub use packed::SLOTS_MAX;
pub(crate) use packed::{Packed, Slot};
pub use replicas::ReplicaCounters;
pub(crate) use replicas::{Replica, Replicas};
pub(crate) use shared::Shared;
pub(crate) use side_table::SideTable;
pub(crate) use sides::Sides;
