//! Programs that wait for reads at several dies.

use super::die::Die;
use super::queue::{Due, Far, Op};
use serde::{Deserialize, Serialize};

/// Replaces the class of another die: the operation waits for the reads of a join, whose number replaces the die.
pub(super) const JOIN: u8 = u8::MAX;

/// The reads for which programs wait, by number; numbers are reused.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Joins {
    joins: Vec<Vec<Far>>,
    free: Vec<u32>,
}

impl Joins {
    /// Makes an operation wait for all of these reads.
    pub fn open(&mut self, reads: &[Far], op: &mut Op) {
        let number = self.free.pop().unwrap_or_else(|| {
            self.joins.push(Vec::new());
            (self.joins.len() - 1) as u32
        });
        self.joins[number as usize].extend_from_slice(reads);
        (op.far_die, op.far_class, op.far) = (number, JOIN, Due::of(1, 0));
    }

    /// Returns the die of a read that is still pending; none if all are done.
    pub fn pending(&self, number: u32, dies: &[Die]) -> Option<usize> {
        let is_pending = |far: &&Far| far.ticket > dies[far.die as usize].queues[usize::from(far.class)].done;
        self.joins[number as usize].iter().find(is_pending).map(|far| far.die as usize)
    }

    /// Returns whether no operation waits for a join.
    #[cfg(test)]
    pub fn is_idle(&self) -> bool {
        self.free.len() == self.joins.len()
    }

    /// Releases the number of a join when its operation starts.
    pub fn close(&mut self, number: u32) {
        self.joins[number as usize].clear();
        self.free.push(number);
    }
}
