//! The first stage: requests come from the source, batch by batch and pass by pass.
//!
//! Information needed before the first request is read ahead: the devices and their ends ([`ends`]), the future for
//! separators that know it ([`foresight`]), and the amount that a pass writes ([`survey`]).

pub mod busy;
pub(crate) mod chunk;
mod dispatching;
pub mod distinct_pages;
pub(crate) mod ends;
pub(crate) mod foresight;
pub(crate) mod open;
pub mod pass;
pub mod rate;
pub(crate) mod reader;
pub(crate) mod survey;

pub(crate) use chunk::{Chunk, Counting, RequestAt};
pub use open::open_source;
pub(crate) use reader::{Reading, SavedReading, Span};
