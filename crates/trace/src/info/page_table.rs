//! State of each page of 4 KiB, in bounded memory.
//!
//! Pages are grouped into tiles of four neighbours. When there are more tiles than fit, every other one, selected by a
//! fixed hash of its address, is dropped for good (Waldspurger et al., "Efficient MRC construction with SHARDS", FAST
//! '15). The rest is a sample of the address space, and each of its pages stands for `2^shift` pages.
//!
//! Cost: a look-up in a hash table for each tile that a request touches; neighbouring tiles lie in one cache line of
//! it. Memory: 128 bytes per tile and 32 to 64 for its place in the table.

use floatgate_base::memory::table;
use floatgate_base::prefetch::prefetch;

/// Pages per tile, as a power of two.
pub(crate) const TILE_BITS: u32 = 2;
pub(crate) const TILE_PAGES: u64 = 1 << TILE_BITS;
/// Tiles per chunk of memory, as a power of two: chunks never move.
const CHUNK_BITS: u32 = 15;
/// Marks an empty place.
const NONE: u32 = u32::MAX;
const MASK_48: u64 = (1 << 48) - 1;
/// Times are relative to this many microseconds before the first request.
const TIME_BIAS: i64 = 1 << 47;

/// State of one page.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(crate) struct Page {
    /// Number of writes, even in part.
    pub writes: u32,
    /// Number of reads, even in part.
    pub reads: u32,
    /// Places in the order of accesses and in that of reads; 0 without any.
    pub accessed: u32,
    pub read: u32,
    /// Context of the last write.
    pub context: u32,
    /// Last write: two numbers of 48 bits in parts.
    number_low: u32,
    time_low: u32,
    high: u32,
}

impl Page {
    /// Returns the number of the last page write to it, from 1; 0 without data.
    #[inline]
    pub fn written(&self) -> u64 {
        u64::from(self.high >> 16) << 32 | u64::from(self.number_low)
    }

    /// Returns the time of the last write to it in microseconds since the first request.
    #[inline]
    pub fn written_us(&self) -> i64 {
        (u64::from(self.high & 0xffff) << 32 | u64::from(self.time_low)) as i64 - TIME_BIAS
    }

    /// Records a write: its number, and its time as returned by [`Page::time`].
    #[inline]
    pub fn write(&mut self, number: u64, time: u64) {
        let number = number & MASK_48;
        self.number_low = number as u32;
        self.time_low = time as u32;
        self.high = ((number >> 32) as u32) << 16 | (time >> 32) as u32;
    }

    /// Removes the data of the page.
    #[inline]
    pub fn trim(&mut self) {
        self.write(0, 0);
    }

    /// Converts a time for storage; it saturates at 4.4 years.
    #[inline]
    pub fn time(us: i64) -> u64 {
        us.clamp(-TIME_BIAS, TIME_BIAS - 1).wrapping_add(TIME_BIAS) as u64
    }
}

/// Four neighbouring pages.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(128))]
pub(crate) struct Tile(pub [Page; TILE_PAGES as usize]);

/// Location of a tile.
#[derive(Clone, Copy)]
struct Slot {
    tile: u64,
    at: u32,
    device: u16,
}

const EMPTY: Slot = Slot { tile: 0, at: NONE, device: 0 };

/// The pages that are followed.
pub(crate) struct PageTable {
    slots: Vec<Slot>,
    chunks: Vec<Vec<Tile>>,
    len: u32,
    max: u32,
    /// One tile in `2^shift` is followed.
    pub shift: u32,
}

#[inline]
fn mix(value: u64) -> u64 {
    let mixed = value.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// Returns the hash that selects the sample.
#[inline]
fn sample_hash(device: u16, tile: u64) -> u64 {
    let mixed = mix(tile ^ u64::from(device) << 50);
    mix(mixed ^ mixed >> 29)
}

impl PageTable {
    /// Creates a table of at most `max` tiles.
    pub fn new(max: u32) -> Self {
        Self { slots: vec![EMPTY; 1 << 12], chunks: Vec::new(), len: 0, max, shift: 0 }
    }

    /// Returns the number of tiles.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Returns whether `more` tiles fit.
    #[inline]
    pub fn has_room(&self, more: u32) -> bool {
        self.len + more <= self.max
    }

    /// Returns whether a tile belongs to the sample.
    #[inline]
    pub fn follows(&self, device: u16, tile: u64) -> bool {
        self.shift == 0 || sample_hash(device, tile) >> (64 - self.shift) == 0
    }

    /// Returns the initial place of a tile; neighbours share a line of the table.
    #[inline]
    fn home(&self, device: u16, tile: u64) -> usize {
        let lines = self.slots.len().trailing_zeros() - 2;
        let line = mix((tile >> 2) ^ u64::from(device) << 48) >> (64 - lines);
        (line << 2 | tile & 3) as usize
    }

    #[inline]
    fn place(&self, device: u16, tile: u64) -> (usize, u32) {
        let mask = self.slots.len() - 1;
        let mut at = self.home(device, tile);
        loop {
            let slot = &self.slots[at];
            if slot.at == NONE || (slot.tile == tile && slot.device == device) {
                return (at, slot.at);
            }
            at = (at + 1) & mask;
        }
    }

    /// Returns the number of a tile, if it is in the table.
    #[inline]
    pub fn find(&self, device: u16, tile: u64) -> Option<u32> {
        let (_, at) = self.place(device, tile);
        (at != NONE).then_some(at)
    }

    /// Returns the number of a tile, and adds it to the table if necessary.
    #[inline]
    pub fn find_or_add(&mut self, device: u16, tile: u64) -> u32 {
        let (slot, at) = self.place(device, tile);
        if at == NONE { self.add(slot, device, tile) } else { at }
    }

    fn add(&mut self, slot: usize, device: u16, tile: u64) -> u32 {
        let at = self.len;
        self.slots[slot] = Slot { tile, at, device };
        if (at >> CHUNK_BITS) as usize == self.chunks.len() {
            // A small trace does not need a whole chunk of memory; the system grants it on access.
            self.chunks.push(table(1 << CHUNK_BITS, Tile::default()));
        }
        *self.tile(at) = Tile::default();
        self.len += 1;
        if self.len as usize * 2 > self.slots.len() {
            let slots = std::mem::take(&mut self.slots);
            self.slots = table(slots.len() * 2, EMPTY);
            self.fill(slots.into_iter().filter(|slot| slot.at != NONE));
        }
        at
    }

    fn fill(&mut self, slots: impl Iterator<Item = Slot>) {
        for slot in slots {
            let (at, _) = self.place(slot.device, slot.tile);
            self.slots[at] = slot;
        }
    }

    /// Returns a tile by its number.
    #[inline]
    pub fn tile(&mut self, at: u32) -> &mut Tile {
        &mut self.chunks[(at >> CHUNK_BITS) as usize][at as usize & ((1 << CHUNK_BITS) - 1)]
    }

    /// Prefetches the place of a tile.
    #[inline]
    pub fn prefetch_place(&self, device: u16, tile: u64) {
        prefetch(&self.slots, self.home(device, tile));
    }

    /// Prefetches a tile whose place is in the cache.
    #[inline]
    pub fn prefetch_tile(&self, device: u16, tile: u64) {
        let slot = &self.slots[self.home(device, tile)];
        if slot.at != NONE {
            let chunk = &self.chunks[(slot.at >> CHUNK_BITS) as usize];
            let tile = &chunk[slot.at as usize & ((1 << CHUNK_BITS) - 1)].0;
            // Both of its cache lines.
            prefetch(tile, 0);
            prefetch(tile, 2);
        }
    }

    /// Lists all tiles: device, number of the tile, its place in the table.
    pub fn tiles(&self) -> impl Iterator<Item = (u16, u64, u32)> + '_ {
        self.slots.iter().filter(|slot| slot.at != NONE).map(|slot| (slot.device, slot.tile, slot.at))
    }

    /// Lists all pages, in the order of the first access to their tiles.
    pub fn pages(&self) -> impl Iterator<Item = &Page> + '_ {
        self.chunks.iter().flatten().take(self.len as usize).flat_map(|tile| &tile.0)
    }

    /// Lists all pages for modification.
    pub fn pages_mut(&mut self) -> impl Iterator<Item = &mut Page> + '_ {
        self.chunks.iter_mut().flatten().take(self.len as usize).flat_map(|tile| &mut tile.0)
    }

    /// Drops half of the tiles that are followed, and calls `drop` for each page that is dropped.
    pub fn halve(&mut self, mut drop: impl FnMut(&Page)) {
        self.shift += 1;
        let mut slots: Vec<Slot> = self.slots.iter().filter(|slot| slot.at != NONE).copied().collect();
        slots.sort_unstable_by_key(|slot| slot.at);
        self.slots.fill(EMPTY);
        let mut kept = Vec::with_capacity(slots.len() / 2);
        for mut slot in slots {
            let tile = *self.tile(slot.at);
            if self.follows(slot.device, slot.tile) {
                // Remaining tiles move to the front, in their order.
                slot.at = kept.len() as u32;
                *self.tile(slot.at) = tile;
                kept.push(slot);
            } else {
                tile.0.iter().for_each(&mut drop);
            }
        }
        self.len = kept.len() as u32;
        self.fill(kept.into_iter());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_page_keeps_numbers_of_48_bits_and_times_before_the_first() {
        let mut page = Page { context: 7, ..Page::default() };
        for (number, us) in [(1, 0), (1 << 40 | 5, -3), (MASK_48, 1 << 46), (9, -(1 << 47))] {
            page.write(number, Page::time(us));
            assert_eq!((page.written(), page.written_us()), (number, us));
        }
        page.write(1, Page::time(i64::MAX));
        assert_eq!(page.written_us(), (1 << 47) - 1);
        page.trim();
        assert_eq!((page.written(), page.context), (0, 7));
        assert_eq!((size_of::<Page>(), size_of::<Tile>(), size_of::<Slot>()), (32, 128, 16));
    }

    #[test]
    fn addresses_up_to_the_last_and_all_devices_are_distinguished() {
        let mut table = PageTable::new(1 << 20);
        let tiles = [0, 1, 2, (1 << 50) - 1, 1 << 49];
        for device in [0u16, 1, u16::MAX] {
            for tile in tiles {
                let at = table.find_or_add(device, tile);
                table.tile(at).0[3].writes = u32::from(device).wrapping_add(tile as u32);
            }
        }
        assert_eq!(table.len(), 15);
        for device in [0u16, 1, u16::MAX] {
            for tile in tiles {
                let at = table.find(device, tile).unwrap();
                assert_eq!(table.tile(at).0[3].writes, u32::from(device).wrapping_add(tile as u32));
            }
        }
        assert_eq!(table.find(2, 0), None);
    }

    #[test]
    fn halving_forgets_about_half_of_any_pattern() {
        for stride in [1, 2, 4, 64, 1 << 20] {
            let mut table = PageTable::new(1 << 20);
            (0..20_000u64).for_each(|i| {
                table.find_or_add(0, i * stride);
            });
            let mut dropped = 0;
            table.halve(|_| dropped += 1);
            table.halve(|_| dropped += 1);
            assert_eq!(dropped / 4 + table.len(), 20_000);
            // A quarter of 20,000 with a standard deviation of 61; the limit is five of them.
            assert!(table.len().abs_diff(5000) < 306, "{stride} {}", table.len());
        }
    }

    proptest! {
        #[test]
        fn equals_a_plain_map(accesses in prop::collection::vec((0u16..3, 0u64..3000), 1..6000), halve_at in 0usize..6000) {
            let mut table = PageTable::new(1 << 20);
            let mut plain: BTreeMap<(u16, u64), u32> = BTreeMap::new();
            for (i, &(device, tile)) in accesses.iter().enumerate() {
                if i == halve_at {
                    table.halve(|_| {});
                    plain.retain(|&(device, tile), _| sample_hash(device, tile) >> 63 == 0);
                }
                if table.follows(device, tile) {
                    let at = table.find_or_add(device, tile);
                    table.tile(at).0[1].writes += 1;
                    *plain.entry((device, tile)).or_default() += 1;
                }
            }
            prop_assert_eq!(table.len() as usize, plain.len());
            let listed: BTreeMap<(u16, u64), u32> = table.tiles().collect::<Vec<_>>().into_iter()
                .map(|(device, tile, at)| ((device, tile), table.tile(at).0[1].writes)).collect();
            prop_assert_eq!(listed, plain);
        }
    }
}
