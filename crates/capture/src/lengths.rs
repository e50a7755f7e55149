//! Histograms of the lengths of low phases on a logarithmic scale.

/// Bins per doubling: lengths in one bin differ by at most 1/32.
const PER_DOUBLING: u32 = 32;

/// A histogram of low phases by length. Bin edges are whole picoseconds, which makes counts between two edges exact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lengths {
    bins: Vec<u64>,
}

/// Returns the bin of a length.
fn bin_of(length_ps: u64) -> usize {
    if length_ps < u64::from(PER_DOUBLING) {
        return length_ps as usize;
    }
    let doublings = length_ps.ilog2() - PER_DOUBLING.ilog2();
    (doublings * PER_DOUBLING) as usize + (length_ps >> doublings) as usize
}

/// Returns the least length of a bin.
pub(crate) fn edge_of(bin: usize) -> u64 {
    let (bin, per) = (bin as u64, u64::from(PER_DOUBLING));
    if bin < 2 * per {
        return bin;
    }
    let doublings = bin / per - 1;
    // No length lies beyond the last bin.
    u128::from(per + bin % per)
        .checked_shl(doublings as u32)
        .map_or(u64::MAX, |edge| u64::try_from(edge).unwrap_or(u64::MAX))
}

impl Lengths {
    /// Counts a low phase of this length.
    #[inline]
    pub fn add(&mut self, length_ps: u64) {
        let bin = bin_of(length_ps);
        if bin >= self.bins.len() {
            self.bins.resize(bin + 1, 0);
        }
        self.bins[bin] += 1;
    }

    /// Adds the counts of another pin.
    pub fn join(&mut self, other: &Self) {
        if other.bins.len() > self.bins.len() {
            self.bins.resize(other.bins.len(), 0);
        }
        self.bins.iter_mut().zip(&other.bins).for_each(|(ours, theirs)| *ours += theirs);
    }

    /// Removes low phases that are counted here.
    pub(crate) fn remove(&mut self, other: &Self) {
        self.bins.iter_mut().zip(&other.bins).for_each(|(ours, theirs)| *ours = ours.saturating_sub(*theirs));
    }

    /// Returns the number of all low phases.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.bins.iter().sum()
    }

    /// Lists the occupied bins as [`Lengths::bins`] does, each with its number first; a doubling has 32.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (usize, u64, u64, u64)> + '_ {
        let held = self.bins.iter().enumerate().filter(|&(_, &count)| count > 0);
        held.map(|(bin, &count)| (bin, edge_of(bin), edge_of(bin + 1), count))
    }

    /// Lists the occupied bins: the least length, the least length of the next bin, and the count.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let held = self.bins.iter().enumerate().filter(|&(_, &count)| count > 0);
        held.map(|(bin, &count)| (edge_of(bin), edge_of(bin + 1), count))
    }

    /// Counts the low phases from the bin of `from_ps` up to the bin of `to_ps`, exclusive.
    #[must_use]
    pub fn between(&self, from_ps: u64, to_ps: u64) -> u64 {
        let (from, to) = (bin_of(from_ps), bin_of(to_ps).min(self.bins.len()));
        self.bins.get(from..to).map_or(0, |bins| bins.iter().sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::Rng;

    #[test]
    fn bins_follow_one_another_and_hold_their_lengths() {
        for bin in 0..1800 {
            assert!(edge_of(bin) < edge_of(bin + 1), "{bin}");
            assert_eq!((bin_of(edge_of(bin)), bin_of(edge_of(bin + 1) - 1)), (bin, bin));
        }
        let mut rng = Rng::new(1, "lengths");
        for _ in 0..10_000 {
            let bits = 1 + rng.below(62);
            let length = rng.below(1 << bits);
            let bin = bin_of(length);
            assert!((edge_of(bin)..edge_of(bin + 1)).contains(&length), "{length}");
            assert!(edge_of(bin + 1) - edge_of(bin) <= 1 + edge_of(bin) / 32, "{length}");
        }
    }

    #[test]
    fn counts_between_edges_are_exact() {
        let mut lengths = Lengths::default();
        [5, 100, 100, 2_000_000].into_iter().for_each(|length| lengths.add(length));
        assert_eq!(lengths.count(), 4);
        assert_eq!(lengths.between(0, 100), 1);
        assert_eq!(lengths.between(100, 2_000_000), 2);
        assert_eq!(lengths.between(100, 3_000_000), 3);
        let mut other = lengths.clone();
        other.join(&lengths);
        assert_eq!(other.count(), 8);
    }
}
