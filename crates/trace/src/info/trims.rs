//! Large TRIMs: the pages that they trimmed, without a scan.
//!
//! Each is kept as a range with its number, later ones over earlier ones; a page learns of it at its next write. Cost:
//! a search among the ranges. Memory: bounded by [`Trims::is_full`].

use std::collections::BTreeMap;

/// Most ranges before they must be applied to all pages.
const RANGES_MAX: usize = 1 << 16;

/// Ranges of pages that were trimmed.
#[derive(Default)]
pub(crate) struct Trims {
    /// Device and first page; end of the range, and number of the TRIM.
    ranges: BTreeMap<(u16, u64), (u64, u32)>,
    /// TRIMs so far.
    pub number: u32,
}

impl Trims {
    /// Adds pages `from..to`.
    pub fn add(&mut self, device: u16, from: u64, to: u64) {
        self.number += 1;
        let mut overlapping = Vec::new();
        for (&(_, start), &(end, number)) in self.ranges.range((device, 0)..(device, to)).rev() {
            if end <= from {
                break;
            }
            overlapping.push((start, end, number));
        }
        for (start, end, number) in overlapping {
            self.ranges.remove(&(device, start));
            if start < from {
                self.ranges.insert((device, start), (from, number));
            }
            if end > to {
                self.ranges.insert((device, to), (end, number));
            }
        }
        self.ranges.insert((device, from), (to, self.number));
    }

    /// Returns whether the ranges should be applied to all pages and cleared.
    pub fn is_full(&self) -> bool {
        self.ranges.len() >= RANGES_MAX
    }

    /// Removes the ranges, but keeps their number.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }

    /// Calls `trim` for each page of `first..first + n` that a TRIM after number `since` covered.
    #[inline]
    pub fn apply(&self, device: u16, first: u64, n: u64, since: u32, mut trim: impl FnMut(u64)) {
        for (&(_, start), &(end, number)) in self.ranges.range((device, 0)..(device, first + n)).rev() {
            if end <= first {
                return;
            }
            if number > since {
                (start.max(first)..end.min(first + n)).for_each(&mut trim);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equals_a_list_of_pages(
            trims in prop::collection::vec((0u16..2, 0u64..200, 1u64..100), 1..60),
            since in 0u32..60,
        ) {
            let mut ranges = Trims::default();
            let mut plain = BTreeMap::new();
            for (i, &(device, from, n)) in trims.iter().enumerate() {
                ranges.add(device, from, from + n);
                (from..from + n).for_each(|page| {
                    plain.insert((device, page), i as u32 + 1);
                });
            }
            for device in 0..2 {
                for first in (0..300).step_by(4) {
                    let mut trimmed = Vec::new();
                    ranges.apply(device, first, 4, since, |page| trimmed.push(page));
                    trimmed.sort_unstable();
                    let expected: Vec<u64> = (first..first + 4)
                        .filter(|&page| plain.get(&(device, page)).is_some_and(|&number| number > since)).collect();
                    prop_assert_eq!(trimmed, expected);
                }
            }
        }
    }
}
