//! A die between two events.

use super::queue::{Job, Kind, Queue};
use crate::Class;
use serde::{Deserialize, Serialize};

/// What the array of a die is busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Stage {
    /// Nothing.
    Idle,
    /// Reading; the data leave then.
    Reading,
    /// The data of its read leave, page by page.
    Sending,
    /// A read whose data wait for the register that the read before still occupies.
    Holding,
    /// The read of a move; the data go out and in, or stay, and are programmed.
    CopyReading,
    /// Data coming in, then programming; or erasing.
    Working,
    /// On the way to be suspended.
    Suspending,
}

/// Operations that the array works on: the first ones under way in the queue of their class.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Active {
    pub stage: Stage,
    pub class: Class,
    pub kind: Kind,
    pub job: Job,
    /// Operations, one a plane.
    pub n: u32,
}

/// What the cache register is busy with.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum Register {
    /// Nothing.
    Free,
    /// Pages of a read that leave; `ready_ns` is when the array had them.
    Out { class: Class, left: u32, ready_ns: u64 },
    /// Pages of a program that have come, or will have come at `ready_ns`.
    In { class: Class, n: u32, job: Job, ready_ns: u64, program_ns: u64 },
}

/// A program or erase that waits for reads.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Suspended {
    pub active: Active,
    /// Array time left.
    pub remaining_ns: u64,
    pub since_ns: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Die {
    /// The channel that it is on.
    pub channel: u32,
    pub queues: [Queue; 3],
    pub active: Active,
    /// When the array next wants attention; `u64::MAX` for never.
    pub array_at: u64,
    /// When the present stage's array work began or begins.
    pub array_from: u64,
    /// When the present piece of work began.
    pub started_ns: u64,
    pub register: Register,
    /// When the register next wants attention; `u64::MAX` for never.
    pub register_at: u64,
    pub suspended: Option<Suspended>,
    /// Reads that have passed the program or erase under way.
    pub reads_passed: u32,
    /// Time spent on foreground and background jobs, up to the present piece.
    pub jobs_ns: [u64; 2],
    /// Whether some other die waits for an operation of this one.
    pub awaited: bool,
    /// Moves of the row under way that follow the present one without anything between.
    pub ahead: u32,
}

impl Die {
    pub fn new(channel: u32) -> Self {
        let active =
            Active { stage: Stage::Idle, class: Class::Read, kind: Kind::Read, job: Job::Host, n: 0 };
        Self {
            channel,
            // Moves wait in the background.
            queues: [Queue::default(), Queue::default(), Queue::with_rows()],
            active,
            array_at: u64::MAX,
            array_from: 0,
            started_ns: 0,
            register: Register::Free,
            register_at: u64::MAX,
            suspended: None,
            reads_passed: 0,
            jobs_ns: [0; 2],
            awaited: false,
            ahead: 0,
        }
    }

    /// Time spent on foreground and background jobs until `now`.
    #[inline(always)]
    pub fn jobs_until(&self, now: u64) -> [u64; 2] {
        let mut jobs = self.jobs_ns;
        if self.active.job != Job::Host && self.active.stage != Stage::Idle {
            jobs[self.active.job as usize - 1] += now - self.started_ns;
        }
        jobs
    }
}
