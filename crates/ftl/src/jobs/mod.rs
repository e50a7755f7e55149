//! Jobs: live pages leave one or two units, and the units are erased. Collection, wear-leveling, read reclaim and refresh
//! are all jobs; they differ in who starts them and in what [`Request`] says.
//!
//! Reading order: [`request`] (what can be asked for, by whom, in which order), [`job`] (a request that is being carried
//! out), [`waiting`] (the queue of a domain), `run` (steps), `room` (free units for them), `moves` (where pages go),
//! `job_requests` (who requests them when).
//!
//! A job has one or two sources, an order of pages, one or two targets in any domain, an erase or none, a cause and an
//! urgency; it may be stopped after any page. A host write that needs the room runs collection to its end. Idle time,
//! of which functional mode has none, steps through the jobs that wait: urgent ones, collection, proactive ones,
//! leveling; it leaves the last free units to the host. Incremental collection takes steps of jobs with host writes
//! (`incremental.rs`). Where idle time never comes, a third waiting job of leveling in a domain makes the first one run
//! at once. A swap for even wear is a collection with a job that follows: the victim, once erased, takes in the pages
//! of a cold unit, which is erased in its stead.

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
