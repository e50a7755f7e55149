//! The enterprise endurance workload of JESD219: three zones of the space, a fixed mix of sizes, all random.
//!
//! Half of the requests go to the first 5 % of the space, 30 % to the next 15 %, 20 % to the rest. Requests of 4 KiB
//! and more begin at multiples of 4 KiB, shorter ones at multiples of 512 B (our reading: the mix has sizes in steps of
//! 512 B). No request leaves its zone.

use super::addresses::Extents;
use super::refuse::setting;
use super::sizes::Sizes;
use floatgate_base::{Result, Rng};

/// Share of the requests and share of the space of each zone, in the order of addresses.
pub const ZONES: [(f64, f64); 3] = [(0.5, 0.05), (0.3, 0.15), (0.2, 0.8)];

/// Request sizes in bytes with their weights, percent; their mean is 7,818.24 bytes.
pub const SIZES: [(u64, f64); 12] = [
    (512, 4.0),
    (1024, 1.0),
    (1536, 1.0),
    (2048, 1.0),
    (2560, 1.0),
    (3072, 1.0),
    (3584, 1.0),
    (4096, 67.0),
    (8192, 10.0),
    (16384, 7.0),
    (32768, 3.0),
    (65536, 3.0),
];

/// Default share of reads.
pub const READ_SHARE: f64 = 0.4;

const PAGE: u64 = 4096;
const SECTOR: u64 = 512;
const LARGEST: u64 = 65536;

/// Returns the ends of the zones, in whole pages.
fn zone_ends(logical_bytes: u64) -> [u64; 3] {
    let end = |share: f64| (logical_bytes as f64 * share / PAGE as f64).round() as u64 * PAGE;
    [end(ZONES[0].1), end(ZONES[0].1 + ZONES[1].1), logical_bytes / PAGE * PAGE]
}

/// Rejects a space whose first zone does not hold the largest request.
pub(super) fn validate(logical_bytes: u64) -> Result<()> {
    if zone_ends(logical_bytes)[0] >= LARGEST {
        return Ok(());
    }
    let what = format!("a space of {logical_bytes} bytes is too small for jesd219");
    Err(setting("pattern", what, "expected at least 1310720 bytes: 64 KiB must fit into its first 5 %"))
}

pub(super) struct Jesd219 {
    sizes: Sizes,
    ends: [u64; 3],
    rng: Rng,
    size_rng: Rng,
}

impl Jesd219 {
    pub fn new(logical_bytes: u64, rng: Rng, size_rng: Rng) -> Self {
        Self { sizes: Sizes::new(&SIZES), ends: zone_ends(logical_bytes), rng, size_rng }
    }
}

impl Extents for Jesd219 {
    fn fill(&mut self, offsets: &mut Vec<u64>, bytes: &mut Vec<u64>, n: usize) {
        let first = bytes.len();
        let (mut rng, mut size_rng) = (self.rng.clone(), self.size_rng.clone());
        bytes.extend((0..n).map(|_| self.sizes.draw(&mut size_rng)));
        let ends = self.ends;
        offsets.extend(bytes[first..].iter().map(|&size| {
            let (from, to) = match rng.unit() {
                u if u < ZONES[0].0 => (0, ends[0]),
                u if u < ZONES[0].0 + ZONES[1].0 => (ends[0], ends[1]),
                _ => (ends[1], ends[2]),
            };
            let align = if size < PAGE { SECTOR } else { PAGE };
            from + rng.below((to - from - size) / align + 1) * align
        }));
        (self.rng, self.size_rng) = (rng, size_rng);
    }
}
