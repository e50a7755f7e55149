//! Erases that wait for other dies: the pages of a superblock move anywhere, and none of its blocks is erased before all
//! of them have arrived.

use serde::{Deserialize, Serialize};

/// What one job has under way.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Barrier {
    /// Programs on other dies that are not done.
    programs: u32,
    /// Erases that have not begun.
    erases: u32,
}

/// The barriers of all jobs; numbers are used again.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Barriers {
    barriers: Vec<Barrier>,
    free: Vec<u32>,
}

impl Barriers {
    /// A new barrier.
    pub fn open(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.barriers.push(Barrier::default());
            (self.barriers.len() - 1) as u32
        })
    }

    /// A program joins.
    pub fn program(&mut self, number: u32) {
        self.barriers[number as usize].programs += 1;
    }

    /// A program is done; whether it was the last one.
    pub fn programmed(&mut self, number: u32) -> bool {
        let barrier = &mut self.barriers[number as usize];
        barrier.programs -= 1;
        barrier.programs == 0
    }

    /// An erase waits.
    pub fn erase(&mut self, number: u32) {
        self.barriers[number as usize].erases += 1;
    }

    /// Whether erases may begin.
    pub fn is_open(&self, number: u32) -> bool {
        self.barriers[number as usize].programs == 0
    }

    /// An erase begins; after the last one the number is free.
    pub fn erasing(&mut self, number: u32) {
        let barrier = &mut self.barriers[number as usize];
        barrier.erases -= 1;
        if barrier.erases == 0 {
            self.free.push(number);
        }
    }
}
