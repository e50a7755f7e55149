//! Lengths of low phases on a logarithmic scale.

/// Bins of a doubling: lengths in one differ by at most 1/32.
const PER_DOUBLING: u32 = 32;

/// How many low phases had which length. Edges of bins are whole picoseconds, so that counts between two edges are exact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lengths {
    bins: Vec<u64>,
}

/// The bin of a length.
fn bin_of(length_ps: u64) -> usize {
    if length_ps < u64::from(PER_DOUBLING) {
        return length_ps as usize;
    }
    let doublings = length_ps.ilog2() - PER_DOUBLING.ilog2();
    (doublings * PER_DOUBLING) as usize + (length_ps >> doublings) as usize
}

/// The least length of a bin.
pub(crate) fn edge_of(bin: usize) -> u64 {
    let (bin, per) = (bin as u64, u64::from(PER_DOUBLING));
    if bin < 2 * per {
        return bin;
    }
    let doublings = bin / per - 1;
    // Behind the last bin there is no length.
    u128::from(per + bin % per)
        .checked_shl(doublings as u32)
        .map_or(u64::MAX, |edge| u64::try_from(edge).unwrap_or(u64::MAX))
}

impl Lengths {
    /// A low phase of this length ended.
    #[inline]
    pub fn add(&mut self, length_ps: u64) {
        let bin = bin_of(length_ps);
        if bin >= self.bins.len() {
            self.bins.resize(bin + 1, 0);
        }
        self.bins[bin] += 1;
    }

    /// Takes in those of another pin.
    pub fn join(&mut self, other: &Self) {
        if other.bins.len() > self.bins.len() {
            self.bins.resize(other.bins.len(), 0);
        }
        self.bins.iter_mut().zip(&other.bins).for_each(|(ours, theirs)| *ours += theirs);
    }

    /// Low phases in all.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.bins.iter().sum()
    }

    /// Bins that hold any, as [`Lengths::bins`], with their numbers in front; a doubling has 32.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (usize, u64, u64, u64)> + '_ {
        let held = self.bins.iter().enumerate().filter(|&(_, &count)| count > 0);
        held.map(|(bin, &count)| (bin, edge_of(bin), edge_of(bin + 1), count))
    }

    /// Bins that hold any: the least length, the least length of the bin behind, and how many.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let held = self.bins.iter().enumerate().filter(|&(_, &count)| count > 0);
        held.map(|(bin, &count)| (edge_of(bin), edge_of(bin + 1), count))
    }

    /// Low phases in bins from the one of `from_ps` up to, and without, that of `to_ps`.
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
