//! Zipf's law over the whole space, exact and without a table of its size.
//!
//! The k-th most popular slot has probability proportional to `k^-theta`. The most popular ranks have cells of their
//! own; the others are grouped into runs whose first and last rank differ little. A draw from an alias table selects a
//! rank or a run by an envelope that is at least as large as the law. In the envelope all ranks of a run are as popular
//! as its first. The draw is accepted with the ratio of the law to the envelope and repeated otherwise, which yields
//! the law itself. Nearly all draws are accepted without computing a power.
//!
//! A random permutation scatters the ranks; popular slots are not neighbours.

use super::addresses::Slots;
use floatgate_base::Rng;
use floatgate_base::permute::Permutation;

/// Ranks with cells of their own.
const HEAD: u64 = 4096;
/// First rank of a run divided by its length, which bounds the rejections.
const RUN_PART: u64 = 64;

/// A rank or a run of ranks.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// Keeps the draw if its random number is lower.
    keep: u64,
    /// The cell otherwise.
    other: u32,
    /// Ranks in the cell.
    len: u64,
    /// First rank, from 1; for a cell of the head its slot.
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
            // One power is computed per run; rounding must not accept a draw that the law rejects.
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
    pub(super) fn draw(&self, rng: &mut Rng) -> u64 {
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
            // The rank itself decides only if the random number lies between the run's extremes.
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

/// Fills in the alias table (Vose): every cell is drawn with the probability of its weight.
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
    // The remaining cells have weight 1 except for rounding.
    for i in small.into_iter().chain(large) {
        cells[i].keep = u64::MAX;
        cells[i].other = i as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the sum of (observed - expected)^2 / expected over the ranks, as standard deviations from its mean.
    /// Ranks with an expected count below 20 are combined.
    fn misfit(slots: u64, theta: f64, draws: u64) -> f64 {
        let mut zipf = Zipf::new(slots, theta, Rng::new(9, "zipf"), &mut Rng::new(9, "places"));
        let mut rank_of = vec![0; slots as usize];
        (0..slots).for_each(|rank| rank_of[zipf.places.apply(rank) as usize] = rank as usize);
        let mut offsets = Vec::new();
        zipf.fill(&mut offsets, draws as usize, 1);
        let mut observed = vec![0u64; slots as usize];
        offsets.iter().for_each(|slot| observed[rank_of[*slot as usize]] += 1);
        let weights: Vec<f64> = (1..=slots).map(|k| libm::pow(k as f64, -theta)).collect();
        let total: f64 = weights.iter().sum();
        let (mut sum, mut cells, mut seen, mut due) = (0.0, 0.0, 0.0, 0.0);
        for (o, w) in observed.iter().zip(&weights) {
            seen += *o as f64;
            due += w / total * draws as f64;
            if due >= 20.0 {
                sum += (seen - due) * (seen - due) / due;
                cells += 1.0;
                (seen, due) = (0.0, 0.0);
            }
        }
        (sum - cells) / (2.0 * f64::max(cells, 1.0)).sqrt()
    }

    #[test]
    fn ranks_follow_the_law() {
        let cases = [
            (1, 1.0),
            (2, 0.5),
            (100, 1.0),
            (4096, 0.99),
            (4097, 1.0),
            (50_000, 0.0),
            (50_000, 0.5),
            (50_000, 0.99),
            (50_000, 1.0),
            (50_000, 1.3),
            (300_000, 0.7),
            (10_000, 3.0),
            (10_000, 20.0),
        ];
        for (slots, theta) in cases {
            let z = misfit(slots, theta, 3_000_000);
            assert!(z.abs() < 4.0, "{slots} slots, theta {theta}: {z} standard deviations");
        }
    }

    #[test]
    fn little_is_rejected_and_the_table_stays_small() {
        let zipf = Zipf::new(1 << 31, 0.99, Rng::new(1, "zipf"), &mut Rng::new(1, "places"));
        assert!(zipf.cells.len() < 5200, "{} cells", zipf.cells.len());
        assert!(zipf.cells.iter().all(|c| c.surely > 0.98 || c.len == 1));
    }
}
