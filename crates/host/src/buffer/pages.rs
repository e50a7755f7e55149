//! Converts bytes to pages and their sectors.

use floatgate_base::{Extents, Lpn};

/// Granularity at which the buffer tracks its content.
pub const SECTOR_BYTES: u64 = 512;

/// The part of a page that a request touches, as bits of sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub lpn: Lpn,
    /// Sectors touched, in part or whole.
    pub touched: u128,
    /// Sectors covered entirely.
    pub covered: u128,
}

/// Returns a mask of the lowest `n` bits.
#[inline]
pub(super) fn low(n: u64) -> u128 {
    if n >= 128 { u128::MAX } else { (1 << n) - 1 }
}

/// Returns the sectors of a page that its bytes `from..to` touch.
#[inline]
pub(super) fn touch(lpn: Lpn, from: u64, to: u64) -> Part {
    let bits = |from: u64, to: u64| if from < to { low(to) & !low(from) } else { 0 };
    Part {
        lpn,
        touched: bits(from / SECTOR_BYTES, to.div_ceil(SECTOR_BYTES)),
        covered: bits(from.div_ceil(SECTOR_BYTES), to / SECTOR_BYTES),
    }
}

/// Iterates over the pages of an extent with edges, in order.
#[inline]
pub(super) fn parts(extents: &Extents, i: usize, page_bytes: u64) -> impl Iterator<Item = Part> {
    let (first, last) = (extents.lpn[i], extents.lpn[i] + (extents.pages[i] - 1));
    let (from, to) = extents.columns.edges[i];
    Lpn::each(first..last + 1).map(move |lpn| {
        let from = if lpn == first { u64::from(from) } else { 0 };
        touch(lpn, from, if lpn == last { u64::from(to) } else { page_bytes })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::ExtentKind;

    #[test]
    fn sectors_in_part_and_whole() {
        let of = |lpn, pages, edges, page_bytes| {
            let mut extents = Extents::default();
            extents.push(Lpn(lpn), pages, ExtentKind::Read);
            extents.columns.edges.push(edges);
            parts(&extents, 0, page_bytes).map(|p| (p.lpn.0, p.touched, p.covered)).collect::<Vec<_>>()
        };
        assert_eq!(of(0, 1, (0, 4096), 4096), [(0, 0xff, 0xff)]);
        assert_eq!(of(0, 1, (512, 1024), 4096), [(0, 2, 2)]);
        assert_eq!(of(0, 1, (511, 513), 4096), [(0, 3, 0)]);
        assert_eq!(of(7, 2, (3584, 512), 4096), [(7, 0x80, 0x80), (8, 1, 1)]);
        assert_eq!(of(0, 3, (4095, 1), 4096), [(0, 0x80, 0), (1, 0xff, 0xff), (2, 1, 0)]);
        assert_eq!(of(1, 1, (0, 65536), 65536), [(1, u128::MAX, u128::MAX)]);
    }
}
