//! Memory of steps that lay chunks down or move them, kept from one to the next; nothing in it outlives a step.

use crate::owners::Slot;
use floatgate_base::Ppn;
use floatgate_flash::Part;

/// A slot with where its content lies.
pub(crate) type Held = (Part, Slot);

/// Memory of laying a chunk down.
#[derive(Clone, Debug, Default)]
pub(crate) struct Laying {
    /// The slots that are laid down at once.
    pub held: Vec<Held>,
    /// The parts that they are.
    pub parts: Vec<Part>,
}

/// Chunks that are put together, of which none is full yet. Empty between two steps of a job, but for its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    /// By free slots.
    pub open: Vec<Vec<Vec<Held>>>,
    /// Empty ones, to be used again.
    spare: Vec<Vec<Held>>,
}

impl Groups {
    /// The live slots of a chunk join the fullest group that has room for all of them; the group, if it is full now.
    pub fn add(&mut self, slots: &[Held], slots_max: usize) -> Option<Vec<Held>> {
        if self.open.len() < slots_max {
            self.open.resize_with(slots_max, Vec::new);
        }
        let found = (slots.len()..slots_max).find_map(|free| self.open[free].pop());
        let mut group = found.or_else(|| self.spare.pop()).unwrap_or_default();
        group.extend_from_slice(slots);
        match slots_max - group.len() {
            0 => Some(group),
            free => {
                self.open[free].push(group);
                None
            }
        }
    }

    /// A group has been laid down.
    pub fn give_back(&mut self, mut group: Vec<Held>) {
        group.clear();
        self.spare.push(group);
    }
}

/// Memory of the steps of jobs that move chunks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repacking {
    pub chunks: Vec<u32>,
    pub sources: Vec<(Ppn, u32)>,
    pub held: Vec<Held>,
    pub groups: Groups,
}
