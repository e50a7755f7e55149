//! The log of the last updates, and the distance in time between updates of two contexts' data.
//!
//! `ul(p, q)` is the mean, over the log's entries of p and of q, of the distance to the nearest entry of the other
//! (equation 6.3). One walk through the log per period sums all of them. At each entry the distances back to the last
//! and on to the next entry of every context are known. A step thus costs a subtraction and a comparison per context,
//! without a search. Updating the sums with each update instead would cost as much per update as the walk costs per
//! entry, and twice that for entries that leave the window. The walk never costs more, and far less if a period is
//! longer than the window.

use serde::{Deserialize, Serialize};

/// Longest window: distances fit 16 bits.
pub const WINDOW_MAX: u32 = 8192;
/// The most contexts that are compared at once, which bounds the table of their sums. Beyond it, those seen last count.
pub const COMPARED_MAX: usize = 1024;

/// Farther than any distance within a window, on either side of it.
const FAR: i16 = WINDOW_MAX as i16;

/// The contexts whose data were updated last, read from the oldest on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UpdateLog {
    entries: Vec<u32>,
    window: u32,
    /// Where the next entry goes, once the window is full.
    next: u32,
}

impl UpdateLog {
    pub fn new(window: u32) -> Self {
        Self { entries: Vec::with_capacity(window as usize), window, next: 0 }
    }

    /// Adds an update of a context's data.
    #[inline(always)]
    pub fn push(&mut self, context: u32) {
        if self.entries.len() < self.window as usize {
            self.entries.push(context);
            return;
        }
        self.entries[self.next as usize] = context;
        self.next += 1;
        if self.next == self.window {
            self.next = 0;
        }
    }

    /// Yields the entries from the oldest to the newest.
    fn entries(&self) -> impl DoubleEndedIterator<Item = u32> {
        let (newer, older) = self.entries.split_at(self.next as usize);
        older.iter().chain(newer).copied()
    }

    pub fn memory_bytes(&self) -> u64 {
        u64::from(self.window) * 4
    }
}

/// Update localities of the contexts of a window, with the memory to compute them.
#[derive(Clone, Debug, Default)]
pub struct Localities {
    /// Compared contexts, in the order of their newest entry, newest first.
    contexts: Vec<u32>,
    /// By context: its position among them, plus one; 0 if it is not compared.
    place_of: Vec<u32>,
    /// Entries of each compared context.
    counts: Vec<u32>,
    /// Sums of distances, by pair of positions; symmetric at the end.
    sums: Vec<u32>,
    /// The last few distances of each sum, and how many entries each row of them has.
    parts: Vec<u16>,
    parted: Vec<u32>,
    /// Position of each entry's context, [`NOBODY`] if it is not compared, and position of its next entry.
    entries: Vec<(u32, i16)>,
    last: Vec<i16>,
    next: Vec<i16>,
}

const NOBODY: u32 = u32::MAX;

/// Adds to each part the distance from `position` to the nearer of two others. A function of its own, for the compiler
/// to know that the slices do not overlap.
#[inline(never)]
fn add_distances(parts: &mut [u16], last: &[i16], next: &[i16], position: i16) {
    for ((part, &last), &next) in parts.iter_mut().zip(last).zip(next) {
        *part += (position - last).min(next - position) as u16;
    }
}

/// Moves parts into their sums.
fn flush_parts(sums: &mut [u32], parts: &mut [u16]) {
    for (sum, part) in sums.iter_mut().zip(parts) {
        *sum += u32::from(std::mem::take(part));
    }
}

impl Localities {
    /// Computes the localities of a log; contexts are below `contexts`.
    pub fn compute(&mut self, log: &UpdateLog, contexts: usize) {
        self.place(log, contexts);
        self.sum(log.window);
        self.fold();
        for &context in &self.contexts {
            self.place_of[context as usize] = 0;
        }
    }

    /// Returns the compared contexts.
    pub fn contexts(&self) -> &[u32] {
        &self.contexts
    }

    /// Returns the sums of distances between entries of two contexts, both ways, by pair of positions.
    pub fn sums(&self) -> &[u32] {
        &self.sums
    }

    /// Returns the entries of each context, by position.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// Returns the ul of two contexts, by position (equation 6.3).
    #[cfg(test)]
    pub fn ul(&self, p: usize, q: usize) -> f64 {
        let sum = self.sums[p * self.contexts.len() + q];
        f64::from(sum) / f64::from(self.counts[p] + self.counts[q])
    }

    /// Selects the contexts to compare, and finds the next entry of each.
    fn place(&mut self, log: &UpdateLog, contexts: usize) {
        self.place_of.resize(contexts, 0);
        self.contexts.clear();
        self.counts.clear();
        self.next.clear();
        self.entries.clear();
        let mut position = log.entries.len() as i16;
        for context in log.entries().rev() {
            position -= 1;
            let place = &mut self.place_of[context as usize];
            if *place == 0 && self.contexts.len() < COMPARED_MAX {
                self.contexts.push(context);
                self.counts.push(0);
                self.next.push(3 * FAR);
                *place = self.contexts.len() as u32;
            }
            let at = place.wrapping_sub(1);
            if at == NOBODY {
                self.entries.push((NOBODY, 0));
                continue;
            }
            self.counts[at as usize] += 1;
            let next = std::mem::replace(&mut self.next[at as usize], position);
            self.entries.push((at, next));
        }
    }

    /// Adds up the distances of each entry to every context. Every context has an entry in the window, hence the nearer
    /// of two lies within it. Several distances together fit 16 bits before they are added to the sums.
    fn sum(&mut self, window: u32) {
        let n = self.contexts.len();
        let together = u32::from(u16::MAX) / window;
        self.sums.clear();
        self.sums.resize(n * n, 0);
        self.parts.clear();
        self.parts.resize(n * n, 0);
        self.parted.clear();
        self.parted.resize(n, 0);
        self.last.clear();
        self.last.resize(n, -FAR);
        for (position, &(place, next)) in (0i16..).zip(self.entries.iter().rev()) {
            if place == NOBODY {
                continue;
            }
            let place = place as usize;
            (self.last[place], self.next[place]) = (position, next);
            let row = place * n..(place + 1) * n;
            let parts = &mut self.parts[row.clone()];
            add_distances(parts, &self.last, &self.next, position);
            self.parted[place] += 1;
            if self.parted[place] == together {
                self.parted[place] = 0;
                flush_parts(&mut self.sums[row], parts);
            }
        }
        flush_parts(&mut self.sums, &mut self.parts);
    }

    /// Adds to each sum that of the mirrored pair, tile by tile: going column by column would miss the cache at every
    /// step.
    fn fold(&mut self) {
        const TILE: usize = 32;
        let n = self.contexts.len();
        for top in (0..n).step_by(TILE) {
            for left in (top..n).step_by(TILE) {
                for i in top..n.min(top + TILE) {
                    // Separate slices of the rows from i on: no look-up below needs a bounds check of the other.
                    let (row, below) = self.sums[i * n..].split_at_mut(n);
                    let from = left.max(i + 1);
                    let columns = below[(from - i - 1).min(n - i - 1) * n..].chunks_exact_mut(n);
                    for (sum, column) in row[from.min(n)..n.min(left + TILE)].iter_mut().zip(columns) {
                        *sum += column[i];
                        column[i] = *sum;
                    }
                }
            }
        }
    }

    /// Returns the bytes for `compared` contexts in a window.
    pub fn memory_bytes(compared: u64, window: u64, contexts: u64) -> u64 {
        compared * (compared * 6 + 16) + window * 8 + contexts * 4
    }
}

#[cfg(test)]
#[path = "update_log_tests.rs"]
mod tests;
