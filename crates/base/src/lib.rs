//! Identifiers, units, errors, random numbers and request batches: the base of all other crates.
//!
//! This crate has no notion of flash, traces or configuration files.

pub mod batch;
pub mod columns;
pub mod counted;
pub mod error;
pub mod extents;
pub mod fastdiv;
pub mod ids;
pub mod label;
pub mod memory;
pub mod names;
pub mod owner;
pub mod param;
pub mod permute;
pub mod policy;
pub mod prefetch;
pub mod rng;
pub mod testing;
pub mod units;

pub use batch::{ContentColumns, Op, OptionalColumns, RequestBatch};
pub use columns::{Content, ExtentColumns, Hints, PageColumns, Part, PerPage, Wanted};
pub use error::{Error, Kind, Place, Result};
pub use extents::{Extents, Kind as ExtentKind};
pub use fastdiv::FastDiv;
pub use ids::{DomainId, Id, IdSlice, IdVec, Lpn, Ppn, StreamId, UnitId};
pub use label::Label;
pub use owner::{MapWord, Owner, SideKind};
pub use policy::{Acts, ChosenPolicy, Misfit, ParamInfo, PolicyInfo, Setting, Slot};
pub use rng::Rng;

/// Most physical pages of a drive; the top bit of a map word refers to a side table.
pub const PAGES_MAX: u64 = (1 << 31) - 1;
/// Size in bytes of the page in which traces are measured (footprint, rewrite share).
pub const TRACE_PAGE_BYTES: u64 = 4096;
