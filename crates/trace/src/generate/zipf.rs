//! Zipf's law over the whole space, exact and without a table of its size.
//!
//! The k-th most popular slot has probability proportional to `k^-theta`. The most popular ranks stand for
//! themselves; the others are grouped into runs whose first and last rank differ by little. One draw from an alias
//! table picks a rank or a run by an envelope that is at least as large as the law (a run counts as if all its ranks
//! were as popular as its first); the draw is kept with the ratio of the law to the envelope and repeated otherwise,
//! which gives the law itself. Nearly all draws are kept without computing a power.
//!
//! Ranks are scattered by a random permutation, so that popular slots are no neighbours.

use super::Slots;
use floatgate_base::Rng;
use floatgate_base::permute::Permutation;

/// Ranks that stand for themselves.
const HEAD: u64 = 4096;
/// A run is this part of its first rank long, which bounds what is rejected.
const RUN_PART: u64 = 64;

/// A rank or a run of ranks.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// Keeps the draw if its random number lies below.
    keep: u64,
    /// The cell otherwise.
    other: u32,
    /// Ranks in the cell.
    len: u64,
    /// First rank, from 1; of a cell of the head the slot that it goes to.
    first: u64,
    /// Lowest ratio of the law to the envelope in the cell.
    surely: f64,
}

pub(super) struct Zipf {
    cells: Vec<Cell>,
    theta: f64,
    places: Permutation,
    rng: Rng,
}

impl Zipf {
    pub fn new(slots: u64, theta: f64, rng: Rng, places: &mut Rng) -> Self {
        let places = Permutation::new(slots, places);
        let mut cells = Vec::new();
        let mut weights = Vec::new();
        let mut first = 1u64;
        while first <= slots {
            let len = if first <= HEAD { 1 } else { first / RUN_PART };
            let len = len.min(slots - first + 1);
            weights.push(len as f64 * libm::pow(first as f64, -theta));
            // One power is computed a run; rounding must not accept what the law refuses.
            let last = (first + len - 1) as f64;
            let surely = libm::pow(first as f64 / last, theta) * (1.0 - 1e-12);
            let head = len == 1;
            let target = if head { places.apply(first - 1) } else { first };
            cells.push(Cell { keep: 0, other: 0, len, first: target, surely });
            first += len;
        }
        alias(&mut cells, &weights);
        Self { cells, theta, places, rng }
    }

    #[inline]
    fn draw(&self, rng: &mut Rng) -> u64 {
        let cells = self.cells.len() as u64;
        loop {
            let at = rng.below(cells) as usize;
            let mut cell = &self.cells[at];
            if rng.next_u64() >= cell.keep {
                cell = &self.cells[cell.other as usize];
            }
            if cell.len == 1 {
                return cell.first;
            }
            let rank = cell.first + rng.below(cell.len);
            let u = rng.unit();
            // Only where the random number lies between the run's extremes does the rank itself decide.
            if u < cell.surely || u < libm::pow(cell.first as f64 / rank as f64, self.theta) {
                return self.places.apply(rank - 1);
            }
        }
    }
}

impl Slots for Zipf {
    fn fill(&mut self, offsets: &mut Vec<u64>, n: usize, request_bytes: u64) {
        let mut rng = self.rng.clone();
        offsets.extend((0..n).map(|_| self.draw(&mut rng) * request_bytes));
        self.rng = rng;
    }
}

/// Fills in the alias table (Vose): every cell is drawn with the probability that its weight says.
fn alias(cells: &mut [Cell], weights: &[f64]) {
    let n = weights.len() as f64;
    let total: f64 = weights.iter().sum();
    let mut scaled: Vec<f64> = weights.iter().map(|w| w * n / total).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..cells.len()).partition(|&i| scaled[i] < 1.0);
    while let (Some(&lower), Some(&upper)) = (small.last(), large.last()) {
        small.pop();
        cells[lower].keep = (scaled[lower] * (1u128 << 64) as f64) as u64;
        cells[lower].other = upper as u32;
        scaled[upper] -= 1.0 - scaled[lower];
        if scaled[upper] < 1.0 {
            large.pop();
            small.push(upper);
        }
    }
    // What is left has weight 1 but for rounding.
    for i in small.into_iter().chain(large) {
        cells[i].keep = u64::MAX;
        cells[i].other = i as u32;
    }
}
