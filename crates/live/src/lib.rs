//! A live drive: requests come from outside while they happen, one by one, instead of from a trace.
//!
//! | file | what it has |
//! |---|---|
//! | [`drive`] | the simulation with its feed and its journal: takes requests, stops, goes on |
//! | [`feed`] | the source of the simulation, which holds the requests of the moment |
//! | [`journal`] | every request in a file, which is a trace, too (`trace/src/formats/live.rs`) |
//! | [`pins`] | the latest low phases of the Ready/Busy pins |
//! | [`store`] | the data of the drive, in a sparse file; a volatile cache for power cuts |
//! | [`nbd`] | the server: handshake, requests, connections |
//!
//! Must not know: configuration files, Python, HTTP. Only the server has a clock; a drive is handed the time.

pub mod drive;
pub mod feed;
pub mod journal;
pub mod nbd;
pub mod pins;
pub mod store;

pub use drive::{Drive, Onlookers, Request};
pub use nbd::{Completions, Export, Places, Served, Server};
pub use pins::Pins;
pub use store::Store;
