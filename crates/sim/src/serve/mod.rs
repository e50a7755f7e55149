//! The last stages, gate, buffer and drive, in one owner per way of serving: [`functional`] counts operations, [`in_time`]
//! lets them take time.

pub mod around;
pub mod clock;
mod functional;
pub mod hot_reads;
mod idle;
mod in_time;
pub mod pins;
mod queued;
pub mod request_log;
mod serving;
mod stop;
mod timely;
mod together;

pub(crate) use functional::InOrder;
pub(crate) use in_time::InTime;
pub(crate) use queued::Waiting;
pub(crate) use serving::{Kept, Serving, with_drive};
pub(crate) use stop::Stop;
pub(crate) use timely::Timely;
