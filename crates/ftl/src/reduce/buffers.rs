//! Scratch memory of steps that write or move chunks, reused from one step to the next; its contents do not outlive a
//! step.

use crate::owners::Slot;
use floatgate_base::Ppn;
use floatgate_flash::Part;

/// A slot with where its content lies.
pub(crate) type Held = (Part, Slot);

/// Scratch memory for writing a chunk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Laying {
    /// The slots that are written together.
    pub held: Vec<Held>,
    /// The parts that they consist of.
    pub parts: Vec<Part>,
}

/// Groups of chunks that are combined, none of them full yet. Empty between two steps of a job, except for its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    /// By free slots.
    pub open: Vec<Vec<Vec<Held>>>,
    /// Empty groups for reuse.
    spare: Vec<Vec<Held>>,
}

impl Groups {
    /// Adds the live slots of a chunk to the fullest group with room for all of them; returns the group if it is full
    /// now.
    pub fn add(&mut self, slots: &[Held], slots_max: usize) -> Option<Vec<Held>> {
        if self.open.len() < slots_max {
            self.open.resize_with(slots_max, Vec::new);
        }
        let fitting = (slots.len()..slots_max).find_map(|free| self.open[free].pop());
        let mut group = fitting.or_else(|| self.spare.pop()).unwrap_or_default();
        group.extend_from_slice(slots);
        match slots_max - group.len() {
            0 => Some(group),
            free => {
                self.open[free].push(group);
                None
            }
        }
    }

    /// Takes back a group that was written.
    pub fn give_back(&mut self, mut group: Vec<Held>) {
        group.clear();
        self.spare.push(group);
    }
}

/// Scratch memory for job steps that move chunks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repacking {
    pub chunks: Vec<u32>,
    pub sources: Vec<(Ppn, u32)>,
    pub held: Vec<Held>,
    pub groups: Groups,
}
