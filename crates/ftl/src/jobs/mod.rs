//! Jobs: live pages leave one or two units, and the units are erased.
//!
//! Collection, wear-leveling, read reclaim and refresh are all jobs. They differ in what starts them and in the fields
//! of their [`Request`].
//!
//! Reading order: [`request`] (the contents, sources and order of requests), [`job`] (a request in progress),
//! [`waiting`] (the queue of a domain). Then `run` (steps), `room` (free units for jobs), `moves` (where pages go),
//! `job_requests` (when jobs are requested).
//!
//! A job has one or two sources, an order of pages, one or two targets in any domain, an optional erase, a cause and an
//! urgency. It may be interrupted after any page. A host write that needs the room runs collection to its end. Idle
//! time, which functional mode does not have, steps through the waiting jobs: urgent ones, collection, proactive ones,
//! leveling. It leaves the last free units to the host. Incremental collection takes steps of jobs with host writes
//! (`incremental.rs`). If idle time never comes, a third waiting leveling job in a domain makes the first one run at
//! once. A swap for even wear is a collection with a job that follows: the erased victim takes in the pages of a cold
//! unit, which is erased in its stead.

pub mod job;
mod job_requests;
#[cfg(test)]
mod job_tests;
mod moves;
pub mod request;
mod room;
mod run;
pub(crate) mod waiting;

pub use job::{Job, Step};
pub(crate) use moves::Opened;
pub use request::{Order, Planned, Request, Target, Urgency};
