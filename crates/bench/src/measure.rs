//! Shared by all measurements: the drives, the clock, and the median.

use floatgate_experiment::meter::thread_cpu_s;
use floatgate_flash::{Layout, Scope};
use floatgate_nand::Geometry;

/// Pages per block of the measured drives.
pub(crate) const PAGES_PER_BLOCK: u32 = 256;
/// Their spare factor.
pub(crate) const SPARE: f64 = 0.07;
/// Bytes of their pages.
pub(crate) const PAGE_BYTES: u32 = 4096;
/// Rounds per median.
pub(crate) const ROUNDS: usize = 3;

/// Returns a drive of one plane with so many blocks, and its logical pages.
pub(crate) fn plane(blocks: u32) -> (Layout, u32) {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: blocks,
        pages_per_block: PAGES_PER_BLOCK,
        page_bytes: PAGE_BYTES,
    };
    let logical_pages = (f64::from(blocks * PAGES_PER_BLOCK) * (1.0 - SPARE)) as u32;
    (Layout::new(geometry, Scope::Plane), logical_pages)
}

/// Measures millions per CPU second.
pub(crate) fn rate(count: u64, work: impl FnOnce()) -> f64 {
    let start = thread_cpu_s();
    work();
    count as f64 / (thread_cpu_s() - start) / 1e6
}

/// Collects the results of all rounds.
pub(crate) fn rounds<T>(mut round: impl FnMut() -> T) -> Vec<T> {
    (0..ROUNDS).map(|_| round()).collect()
}

/// Returns the median; the upper one of an even number.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
