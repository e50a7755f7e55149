//! Erases that wait for other dies: the pages of a superblock move anywhere, and its blocks are erased only after all
//! pages have arrived.

use serde::{Deserialize, Serialize};

/// The pending operations of one job.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Barrier {
    /// Programs on other dies that are not done.
    programs: u32,
    /// Erases that have not begun.
    erases: u32,
}

/// The barriers of all jobs; numbers are reused.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Barriers {
    barriers: Vec<Barrier>,
    free: Vec<u32>,
}

impl Barriers {
    /// Opens a new barrier and returns its number.
    pub fn open(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.barriers.push(Barrier::default());
            (self.barriers.len() - 1) as u32
        })
    }

    /// Adds a program to a barrier.
    pub fn program(&mut self, number: u32) {
        self.barriers[number as usize].programs += 1;
    }

    /// Completes a program; returns whether it was the last one.
    pub fn programmed(&mut self, number: u32) -> bool {
        let barrier = &mut self.barriers[number as usize];
        barrier.programs -= 1;
        barrier.programs == 0
    }

    /// Adds a waiting erase.
    pub fn erase(&mut self, number: u32) {
        self.barriers[number as usize].erases += 1;
    }

    /// Returns whether erases may begin.
    pub fn is_open(&self, number: u32) -> bool {
        self.barriers[number as usize].programs == 0
    }

    /// Records the start of an erase; after the last one the number is free.
    pub fn erasing(&mut self, number: u32) {
        let barrier = &mut self.barriers[number as usize];
        barrier.erases -= 1;
        if barrier.erases == 0 {
            self.free.push(number);
        }
    }
}
