//! Where logical pages lie, and to whom physical pages belong.

mod live;
mod mapping;
#[cfg(test)]
mod sharing_tests;
mod side_table;

pub(crate) use live::Live;
pub(crate) use mapping::Mapping;
pub(crate) use side_table::Sides;
