//! Request sizes: a weighted list, drawn from an alias table, and lists for laws with a prescribed mean.

use floatgate_base::Rng;

/// Sizes in bytes with their weights.
pub type Weighted = Vec<(u64, f64)>;

/// Draws sizes with probabilities according to their weights, in constant time.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    cells: Vec<Cell>,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    /// Keeps the draw if its random number is lower.
    keep: u64,
    own: u64,
    other: u64,
}

impl Sizes {
    /// Builds the alias table. `list` must not be empty, and its weights must be positive.
    pub fn new(list: &[(u64, f64)]) -> Self {
        let scale = list.len() as f64 / list.iter().map(|(_, w)| w).sum::<f64>();
        let mut left: Vec<f64> = list.iter().map(|(_, w)| w * scale).collect();
        let mut cells: Vec<Cell> =
            list.iter().map(|&(bytes, _)| Cell { keep: u64::MAX, own: bytes, other: bytes }).collect();
        // Vose: a heavy cell fills up a light one. The remaining cells have weight 1 except for rounding.
        let (mut light, mut heavy): (Vec<usize>, Vec<usize>) = (0..list.len()).partition(|&i| left[i] < 1.0);
        while let (Some(&lower), Some(&upper)) = (light.last(), heavy.last()) {
            light.pop();
            cells[lower].keep = (left[lower] * (1u128 << 64) as f64) as u64;
            cells[lower].other = list[upper].0;
            left[upper] -= 1.0 - left[lower];
            if left[upper] < 1.0 {
                heavy.pop();
                light.push(upper);
            }
        }
        Self { cells }
    }

    /// Returns the size that [`Sizes::draw`] returns for these random bits.
    #[inline]
    pub fn of(&self, bits: u64) -> u64 {
        let scaled = u128::from(bits) * self.cells.len() as u128;
        let cell = self.cells[(scaled >> 64) as usize];
        if (scaled as u64) < cell.keep { cell.own } else { cell.other }
    }

    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        if let [only] = self.cells[..] {
            return only.own;
        }
        let cell = self.cells[rng.below(self.cells.len() as u64) as usize];
        if rng.next_u64() < cell.keep { cell.own } else { cell.other }
    }
}

/// Returns the mean of a weighted list.
#[must_use]
pub fn mean(list: &[(u64, f64)]) -> f64 {
    let weight: f64 = list.iter().map(|(_, w)| w).sum();
    list.iter().map(|&(bytes, w)| bytes as f64 * w).sum::<f64>() / weight
}

/// Multiplies the weights of a list by `exp(c * size)`, with c chosen for the wanted mean. Of all lists with this mean,
/// the result is the nearest to `list` (in relative entropy). Returns none if no weights have this mean.
#[must_use]
pub fn with_mean(list: &[(u64, f64)], wanted: f64) -> Option<Weighted> {
    let smallest = list.iter().map(|(b, _)| *b).min()? as f64;
    let largest = list.iter().map(|(b, _)| *b).max()? as f64;
    if largest - smallest < 1e-9 {
        return ((wanted - smallest).abs() < 1e-6 * smallest).then(|| list.to_vec());
    }
    if !(wanted > smallest && wanted < largest) {
        return None;
    }
    let tilted = |c: f64| -> Weighted {
        // Counted from the end that the tilt favours, which prevents overflow of the weights.
        let origin = if c > 0.0 { largest } else { smallest };
        let tilt = |b: u64| libm::exp(c * (b as f64 - origin) / (largest - smallest));
        list.iter().map(|&(b, w)| (b, w * tilt(b))).collect()
    };
    let (mut low, mut high) = (-1e5, 1e5);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break; // neighbours
        }
        if mean(&tilted(middle)) < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    let list: Weighted = tilted(0.5 * (low + high)).into_iter().filter(|(_, w)| *w > 1e-300).collect();
    Some(list)
}

/// Returns the multiples of `step` from `smallest` to `largest` with the weights of a clipped lognormal law, whose
/// median is chosen for the wanted mean. Returns none if no median gives it.
#[must_use]
pub fn lognormal(wanted: f64, sigma: f64, smallest: u64, largest: u64, step: u64) -> Option<Weighted> {
    let sizes: Vec<u64> = (smallest.div_ceil(step)..=largest / step).map(|k| k * step).collect();
    let (first, last) = (*sizes.first()? as f64, *sizes.last()? as f64);
    if sizes.len() == 1 || !(wanted > first && wanted < last) {
        return (sizes.len() == 1 && (wanted - first).abs() < 1e-6 * first).then(|| vec![(sizes[0], 1.0)]);
    }
    let half = step as f64 / 2.0;
    let below = |bytes: f64, mu: f64| {
        let z = (libm::log(bytes) - mu) / sigma;
        0.5 * libm::erfc(-z / std::f64::consts::SQRT_2)
    };
    let list = |mu: f64| -> Weighted {
        // A size ends where the next one begins.
        let mut begins = below((first - half).max(half / 1024.0), mu);
        let weight = |&b: &u64| {
            let ends = below(b as f64 + half, mu);
            (b, ends - std::mem::replace(&mut begins, ends))
        };
        sizes.iter().map(weight).collect()
    };
    let reach = 8.0 * sigma;
    let (mut low, mut high) = (libm::log(first) - reach, libm::log(last) + reach);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break; // neighbours
        }
        if mean(&list(middle)) < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    let list: Weighted = list(0.5 * (low + high)).into_iter().filter(|(_, w)| *w > 1e-300).collect();
    ((mean(&list) - wanted).abs() < 1e-3 * wanted).then_some(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_follow_the_weights() {
        let list = [(512, 1.0), (1024, 3.0), (4096, 0.5), (8192, 5.5)];
        let sizes = Sizes::new(&list);
        let mut rng = Rng::new(5, "sizes");
        let mut seen = [0u32; 4];
        for _ in 0..1_000_000 {
            let bytes = sizes.draw(&mut rng);
            seen[list.iter().position(|(b, _)| *b == bytes).unwrap()] += 1;
        }
        let square: f64 =
            list.iter().zip(seen).map(|((_, w), n)| (f64::from(n) - w * 1e5).powi(2) / (w * 1e5)).sum();
        // Three degrees of freedom: 16.3 is exceeded once in a thousand.
        assert!(square < 16.3, "{square}: {seen:?}");
        assert_eq!(Sizes::new(&[(7, 2.0)]).draw(&mut rng), 7);
    }

    #[test]
    fn a_wanted_mean_is_met() {
        let list = [(512, 1.0), (4096, 1.0), (16384, 0.2)];
        for wanted in [600.0, 2300.0, 4096.0, 12_000.0] {
            let actual = mean(&with_mean(&list, wanted).unwrap());
            assert!((actual - wanted).abs() < 1e-6 * wanted, "{actual} for {wanted}");
        }
        assert_eq!(with_mean(&list, 512.0), None);
        assert_eq!(with_mean(&list, 20_000.0), None);
        for (wanted, sigma) in [(8192.0, 0.3), (39_936.0, 1.2), (139_878.0, 1.5), (1500.0, 2.0)] {
            let actual = mean(&lognormal(wanted, sigma, 512, 1 << 20, 512).unwrap());
            assert!((actual - wanted).abs() < 1e-3 * wanted, "{actual} for {wanted}");
        }
        assert_eq!(lognormal(100.0, 1.0, 512, 4096, 512), None);
        assert_eq!(lognormal(4096.0, 1.0, 4096, 4096, 512), Some(vec![(4096, 1.0)]));
    }
}
