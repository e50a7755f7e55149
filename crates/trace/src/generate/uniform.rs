//! Every address equally likely, each draw independent.

use super::addresses::Slots;
use floatgate_base::Rng;

pub(super) struct Uniform {
    slots: u64,
    rng: Rng,
}

impl Uniform {
    pub fn new(slots: u64, rng: Rng) -> Self {
        Self { slots, rng }
    }
}

impl Slots for Uniform {
    fn fill(&mut self, offsets: &mut Vec<u64>, n: usize, request_bytes: u64) {
        // A copy of the generator's state stays in registers for the whole batch.
        let mut rng = self.rng.clone();
        let slots = self.slots;
        offsets.extend((0..n).map(|_| rng.below(slots) * request_bytes));
        self.rng = rng;
    }
}
