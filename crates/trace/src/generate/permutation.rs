//! Every address once in random order, then again in another one: random writes without repetition, as fio makes them
//! unless `norandommap` is set.
//!
//! A page is replaced once per pass, so its data live for one pass on average and two at most; under `uniform` some live
//! for many. Write amplification is far lower for it. No table: a pass is a permutation of the slots, computed as it goes.

use super::addresses::Slots;
use floatgate_base::Rng;
use floatgate_base::permute::Permutation;

pub(super) struct Permuted {
    slots: u64,
    next: u64,
    pass: Permutation,
    rng: Rng,
}

impl Permuted {
    pub fn new(slots: u64, mut rng: Rng) -> Self {
        let pass = Permutation::new(slots, &mut rng);
        Self { slots, next: 0, pass, rng }
    }
}

impl Slots for Permuted {
    fn fill(&mut self, offsets: &mut Vec<u64>, n: usize, request_bytes: u64) {
        let mut left = n as u64;
        while left > 0 {
            let run = left.min(self.slots - self.next);
            let pass = &self.pass;
            offsets.extend((self.next..self.next + run).map(|place| pass.apply(place) * request_bytes));
            self.next += run;
            left -= run;
            if self.next == self.slots {
                self.pass = Permutation::new(self.slots, &mut self.rng);
                self.next = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(slots: u64, sizes: &[usize]) -> Vec<u64> {
        let mut permuted = Permuted::new(slots, Rng::new(1, "workload address"));
        let mut made = Vec::new();
        sizes.iter().for_each(|&n| permuted.fill(&mut made, n, 4096));
        made
    }

    #[test]
    fn each_pass_has_every_slot_once_and_another_order() {
        let made = offsets(1000, &[3000]);
        let passes: Vec<&[u64]> = made.chunks(1000).collect();
        for pass in &passes {
            let mut sorted = pass.to_vec();
            sorted.sort_unstable();
            assert!(sorted.iter().enumerate().all(|(slot, &offset)| offset == slot as u64 * 4096));
        }
        assert!(passes[0] != passes[1] && passes[1] != passes[2]);
        // In random order hardly any slot keeps its place.
        let kept = passes[0].iter().zip(passes[1]).filter(|(one, other)| one == other).count();
        assert!(kept < 10, "{kept}");
    }

    #[test]
    fn the_size_of_batches_changes_nothing() {
        assert_eq!(offsets(37, &[100]), offsets(37, &[1, 36, 1, 40, 22]));
        assert_eq!(offsets(1, &[3]), [0, 0, 0]);
    }
}
