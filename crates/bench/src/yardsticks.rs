//! The yardsticks of the engine: the machine's memory, and the flat kernel.

use crate::flat::Flat;
use crate::measure::rate;
use floatgate_base::{Rng, memory::table, prefetch::prefetch};

/// Pages written between two refills of the address buffer.
const CHUNK: usize = 4096;
/// Accesses in flight in the prefetched variant.
const AHEAD: usize = 64;

/// Measures random read-modify-writes per second on a table of 4-byte words, 10^6: in a plain loop, and with the words
/// of a whole group prefetched before use.
pub fn memory(words: u64, accesses: u64) -> (f64, f64) {
    let mut rng = Rng::new(1, "memory");
    let mut words_table = table(words as usize, 0u32);
    let mut touch = |slot: usize| words_table[slot] = words_table[slot].wrapping_add(slot as u32);
    for slot in 0..words as usize {
        touch(slot);
    }
    let plain = rate(accesses, || {
        for _ in 0..accesses {
            touch(rng.below(words) as usize);
        }
    });
    let mut group = [0usize; AHEAD];
    let prefetched = rate(accesses, || {
        for _ in 0..accesses / AHEAD as u64 {
            for slot in &mut group {
                *slot = rng.below(words) as usize;
                prefetch(&words_table, *slot);
            }
            for &slot in &group {
                words_table[slot] = words_table[slot].wrapping_add(slot as u32);
            }
        }
    });
    (plain, prefetched)
}

/// Measures programs per second of the flat kernel at steady state, 10^6, and its write amplification.
pub fn flat(blocks: u32, pages_per_block: u32, spare: f64, host_pages: u64) -> (f64, f64) {
    let pages = u64::from(blocks) * u64::from(pages_per_block);
    let logical = (pages as f64 * (1.0 - spare)) as u32;
    let mut rng = Rng::new(1, "flat");
    let mut drive = Flat::new(blocks, pages_per_block, logical, &mut rng);
    let mut lpns = vec![0u32; CHUNK];
    let mut write = |drive: &mut Flat, host_pages: u64| {
        for _ in 0..host_pages / CHUNK as u64 {
            for lpn in &mut lpns {
                *lpn = rng.below(u64::from(logical)) as u32;
            }
            drive.write(&lpns);
        }
    };
    // From a random fill, one and a half drive writes lead to the steady state.
    write(&mut drive, pages * 3 / 2);
    let before = drive.programs;
    let host_rate = rate(host_pages, || write(&mut drive, host_pages));
    let waf = (drive.programs - before) as f64 / host_pages as f64;
    (host_rate * waf, waf)
}
