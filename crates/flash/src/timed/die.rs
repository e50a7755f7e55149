//! The state of a die between two events.

use super::queue::{Job, Kind, Queue};
use crate::Class;
use serde::{Deserialize, Serialize};

/// The current work of a die's array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Stage {
    /// None.
    Idle,
    /// Reading; the data leave afterwards.
    Reading,
    /// The data of its read leave, page by page.
    Sending,
    /// A read whose data wait for the register that the previous read still occupies.
    Holding,
    /// The read of a move; then the data go out and in, or stay, and are programmed.
    CopyReading,
    /// Data coming in, then programming; or erasing.
    Working,
    /// About to be suspended.
    Suspending,
}

/// Operations in the array: the first ones under way in the queue of their class.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Active {
    pub stage: Stage,
    pub class: Class,
    pub kind: Kind,
    pub job: Job,
    /// Number of operations, one per plane.
    pub n: u32,
}

/// The current work of the cache register.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum Register {
    /// None.
    Free,
    /// Pages of a read that leave; `ready_ns` is when the array had them.
    Out { class: Class, left: u32, ready_ns: u64 },
    /// Pages of a program that have arrived, or will at `ready_ns`.
    In { class: Class, n: u32, job: Job, ready_ns: u64, program_ns: u64 },
}

/// A program or erase that waits for reads.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Suspended {
    pub active: Active,
    /// Remaining array time.
    pub remaining_ns: u64,
    pub since_ns: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Die {
    /// The channel of the die.
    pub channel: u32,
    pub queues: [Queue; 3],
    pub active: Active,
    /// Time of the array's next event; `u64::MAX` for none.
    pub array_at: u64,
    /// Start of the array work of the current stage.
    pub array_from: u64,
    /// Start of the current piece of work.
    pub started_ns: u64,
    pub register: Register,
    /// Time of the register's next event; `u64::MAX` for none.
    pub register_at: u64,
    pub suspended: Option<Suspended>,
    /// Reads that have overtaken the current program or erase.
    pub reads_passed: u32,
    /// Time spent on foreground and background jobs, up to the current piece.
    pub jobs_ns: [u64; 2],
    /// Whether another die waits for an operation of this one.
    pub awaited: bool,
    /// Moves of the current row that follow the present one without interruption.
    pub ahead: u32,
    /// Whether its jobs hold the channel (`hold.rs`).
    pub holds: bool,
}

impl Die {
    pub fn new(channel: u32) -> Self {
        let active =
            Active { stage: Stage::Idle, class: Class::Read, kind: Kind::Read, job: Job::Host, n: 0 };
        Self {
            channel,
            // Moves wait in the background queue.
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
            holds: false,
        }
    }

    /// Returns the time spent on foreground and background jobs until `now`.
    #[inline(always)]
    pub fn jobs_until(&self, now: u64) -> [u64; 2] {
        // Without an index that is computed the times stay in registers.
        let current = if self.active.stage == Stage::Idle { Job::Host } else { self.active.job };
        let spent = now.wrapping_sub(self.started_ns);
        let of = |job| if current == job { spent } else { 0 };
        [self.jobs_ns[0] + of(Job::Foreground), self.jobs_ns[1] + of(Job::Background)]
    }
}
