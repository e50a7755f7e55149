//! Two temperatures: the first part of the space gets its share of the requests; both parts are uniform inside.

use super::addresses::Slots;
use floatgate_base::Rng;

pub(super) struct HotCold {
    slots: u64,
    hot_slots: u64,
    hot_share: f64,
    rng: Rng,
}

impl HotCold {
    /// Creates the pattern; a part with requests has at least one slot.
    pub fn new(slots: u64, share_of_space: f64, hot_share: f64, rng: Rng) -> Self {
        let rounded = ((slots as f64 * share_of_space).round() as u64).min(slots);
        let hot_slots = match hot_share {
            s if s <= 0.0 => rounded.min(slots - 1),
            s if s >= 1.0 => rounded.max(1),
            _ => rounded.clamp(1.min(slots), slots.max(2) - 1),
        };
        Self { slots, hot_slots, hot_share, rng }
    }
}

impl Slots for HotCold {
    fn fill(&mut self, offsets: &mut Vec<u64>, n: usize, request_bytes: u64) {
        let mut rng = self.rng.clone();
        let (hot, cold, share) = (self.hot_slots, self.slots - self.hot_slots, self.hot_share);
        offsets.extend((0..n).map(|_| {
            let (first, len) = if rng.unit() < share || cold == 0 { (0, hot) } else { (hot, cold) };
            (first + rng.below(len)) * request_bytes
        }));
        self.rng = rng;
    }
}
