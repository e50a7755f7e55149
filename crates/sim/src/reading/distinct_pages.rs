//! The pages that a workload writes, each counted once, in memory that grows with the parts of the drive that it writes.

/// Pages per chunk of the table: a bit each.
const CHUNK: usize = 4096;

/// A set of pages by device, of which only the size matters.
#[derive(Clone, Debug, Default)]
pub struct DistinctPages {
    /// Pages of the drive; larger addresses wrap, as they do on it.
    pages: u64,
    /// Number of each chunk of each device, plus one; 0 without a page.
    numbers: Vec<Vec<u32>>,
    chunks: Vec<[u64; CHUNK / 64]>,
    count: u64,
}

impl DistinctPages {
    /// Creates the empty set for a drive of so many pages.
    #[must_use]
    pub fn new(pages: u64) -> Self {
        Self { pages: pages.max(1), ..Self::default() }
    }

    /// Adds pages of a device.
    pub fn add(&mut self, device: u16, first: u64, pages: u64) {
        for page in 0..pages.min(self.pages) {
            self.mark(device.into(), (first % self.pages + page) % self.pages);
        }
    }

    fn mark(&mut self, device: usize, page: u64) {
        let (chunk, bit) = ((page / CHUNK as u64) as usize, (page % CHUNK as u64) as usize);
        if device >= self.numbers.len() {
            self.numbers.resize(device + 1, vec![]);
        }
        let numbers = &mut self.numbers[device];
        if chunk >= numbers.len() {
            numbers.resize(chunk + 1, 0);
        }
        if numbers[chunk] == 0 {
            self.chunks.push([0; CHUNK / 64]);
            numbers[chunk] = self.chunks.len() as u32;
        }
        let word = &mut self.chunks[numbers[chunk] as usize - 1][bit / 64];
        self.count += u64::from(*word >> (bit % 64) & 1 == 0);
        *word |= 1 << (bit % 64);
    }

    /// Counts the pages.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::Rng;
    use std::collections::BTreeSet;

    #[test]
    fn counts_each_page_of_each_device_once() {
        for case in 0..50 {
            let mut rng = Rng::new(case, "distinct pages");
            let pages = 1 + rng.below(30_000);
            let (mut distinct, mut seen) = (DistinctPages::new(pages), BTreeSet::new());
            for _ in 0..200 {
                let (device, first, count) = (rng.below(3) as u16, rng.below(2 * pages), rng.below(200));
                distinct.add(device, first, count);
                seen.extend((first..first + count).map(|page| (device, page % pages)));
                assert_eq!(distinct.count(), seen.len() as u64, "case {case}");
            }
        }
    }

    #[test]
    fn a_request_without_end_is_the_whole_drive() {
        let mut distinct = DistinctPages::new(5000);
        distinct.add(0, u64::MAX - 1, u64::MAX);
        assert_eq!(distinct.count(), 5000);
    }
}
