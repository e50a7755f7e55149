//! Jobs: live pages leave one or two units, and the units are erased. Collection, wear-leveling, read reclaim and refresh
//! are all jobs; they differ in who starts them and in what [`Request`] says.
//!
//! Reading order: [`request`] (what can be asked for, by whom, in which order), [`job`] (a request that is being carried
//! out), [`waiting`] (the queue of a domain), `run` (steps), `room` (free units for them), `moves` (where pages go), `asked`
//! (who asks for them when).

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
