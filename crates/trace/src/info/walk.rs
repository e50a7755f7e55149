//! The walk over the pages of each request: all analyses of single pages are called from here and share one table.

use super::contexts::Contexts;
use super::frequency::{self, FrequencyInfo};
use super::page_table::{Page, PageTable, TILE_BITS, TILE_PAGES};
use super::reuse::{ReuseInfo, Stacks};
use super::trims::Trims;
use super::updates::{UpdateInfo, Updates};
use floatgate_base::{Op, RequestBatch, TRACE_PAGE_BYTES};

/// Pages walked between two checks for room.
const STEP_PAGES: u64 = 256;
/// Tiles that they may touch.
const STEP_TILES: u32 = (STEP_PAGES / TILE_PAGES) as u32 + 1;
/// Larger TRIMs, in tiles, are not walked.
const TRIM_TILES_MAX: u64 = 1024;
/// Distance in requests at which memory is prefetched.
const PLACE_AHEAD: usize = 12;
const TILE_AHEAD: usize = 6;
/// Tiles of one request that are prefetched together.
const TILES_AHEAD: u64 = 4;

/// State of single pages.
pub(crate) struct Walk {
    table: PageTable,
    stacks: Stacks,
    updates: Updates,
    pub contexts: Contexts,
    trims: Trims,
    /// Number of the last large TRIM applied to each tile; shorter than the table until there was one.
    trims_known: Vec<u32>,
    page_writes: u64,
    page_reads: u64,
}

/// Updates of neighbours with equal values.
#[derive(Clone, Copy, PartialEq)]
struct Alike {
    written: u64,
    time: i64,
    context: u32,
}

impl Walk {
    /// Creates a walk that follows the pages of at most `tiles` tiles, at least 256.
    pub fn new(tiles: u32) -> Self {
        Self {
            table: PageTable::new(tiles.max(256)),
            stacks: Stacks::default(),
            updates: Updates::default(),
            contexts: Contexts::default(),
            trims: Trims::default(),
            trims_known: Vec::new(),
            page_writes: 0,
            page_reads: 0,
        }
    }

    /// Walks a batch; `times` are in nanoseconds since the first request.
    pub fn add(&mut self, batch: &RequestBatch, times: &[i64]) {
        for (i, &time) in times.iter().enumerate() {
            self.look_ahead(batch, i);
            let (device, offset, bytes) = (batch.device[i], batch.offset[i], batch.bytes[i]);
            let op = batch.op[i];
            if op == Op::Trim {
                self.trim(device, offset, bytes);
                continue;
            }
            let context = batch.context.get(i).copied().unwrap_or(0);
            let (mut page, last) = (offset / TRACE_PAGE_BYTES, (offset + (bytes - 1)) / TRACE_PAGE_BYTES);
            while page <= last {
                let n = STEP_PAGES.min(last - page + 1);
                self.make_room();
                if op == Op::Write {
                    self.write(device, page, n, time.div_euclid(1000), context);
                } else {
                    self.read(device, page, n);
                }
                page += n;
            }
        }
    }

    /// Prefetches memory for the next requests: the places of their tiles, then the tiles, then their places in the
    /// order of accesses.
    #[inline]
    fn look_ahead(&self, batch: &RequestBatch, i: usize) {
        let tiles = |i: usize| {
            let (device, offset) = (*batch.device.get(i)?, batch.offset[i]);
            let last = (offset + (batch.bytes[i] - 1)) / TRACE_PAGE_BYTES;
            Some((device, (offset / TRACE_PAGE_BYTES) >> TILE_BITS, last >> TILE_BITS))
        };
        if let Some((device, first, last)) = tiles(i + PLACE_AHEAD) {
            (first..=last.min(first + TILES_AHEAD))
                .step_by(4)
                .for_each(|t| self.table.prefetch_place(device, t));
        }
        if let Some((device, first, last)) = tiles(i + TILE_AHEAD) {
            (first..=last.min(first + TILES_AHEAD)).for_each(|tile| self.table.prefetch_tile(device, tile));
        }
    }

    /// Prefetches memory for a tile of the current request.
    #[inline]
    fn look_ahead_inside(&self, device: u16, tile: u64, last: u64) {
        if tile + 2 * TILES_AHEAD <= last && tile & 3 == 0 {
            self.table.prefetch_place(device, tile + 2 * TILES_AHEAD);
        }
        if tile + TILES_AHEAD <= last {
            self.table.prefetch_tile(device, tile + TILES_AHEAD);
        }
    }

    /// Divides pages `first..first + n`, at most [`STEP_PAGES`], by tile: number of the tile, its first and last page +
    /// 1.
    #[inline]
    fn tiles_of(first: u64, n: u64) -> impl Iterator<Item = (u64, usize, usize)> {
        let end = first + n;
        (first >> TILE_BITS..=(end - 1) >> TILE_BITS).map(move |tile| {
            let begin = tile << TILE_BITS;
            (tile, first.saturating_sub(begin) as usize, (end - begin).min(TILE_PAGES) as usize)
        })
    }

    fn write(&mut self, device: u16, first: u64, n: u64, us: i64, context: u32) {
        let shift = self.table.shift;
        let time = Page::time(us);
        let mut number = self.page_writes;
        self.page_writes += n;
        let none = Alike { written: 0, time: 0, context: 0 };
        let (mut alike, mut count) = (none, 0u64);
        let last = (first + n - 1) >> TILE_BITS;
        for (tile, from, to) in Self::tiles_of(first, n) {
            self.look_ahead_inside(device, tile, last);
            if !self.table.follows(device, tile) {
                number += (to - from) as u64;
                continue;
            }
            let at = self.table.find_or_add(device, tile);
            if self.trims.number > 0 {
                self.learn_trims(device, tile, at);
            }
            for page in &mut self.table.tile(at).0[from..to] {
                number += 1;
                self.stacks.all.access(&mut page.accessed, shift);
                // Distances, not numbers: pages written one after the other both times have the same distance.
                let written = page.written();
                let this = if written == 0 {
                    none
                } else {
                    Alike { written: number - written, time: us - page.written_us(), context: page.context }
                };
                if this != alike {
                    note(&mut self.updates, &mut self.contexts, alike, count << shift);
                    (alike, count) = (this, 0);
                }
                count += 1;
                page.writes = page.writes.saturating_add(1);
                page.context = context;
                page.write(number, time);
            }
        }
        note(&mut self.updates, &mut self.contexts, alike, count << shift);
        self.stacks.all.flush(shift);
    }

    fn read(&mut self, device: u16, first: u64, n: u64) {
        let shift = self.table.shift;
        self.page_reads += n;
        let last = (first + n - 1) >> TILE_BITS;
        for (tile, from, to) in Self::tiles_of(first, n) {
            self.look_ahead_inside(device, tile, last);
            if self.table.follows(device, tile) {
                let at = self.table.find_or_add(device, tile);
                for page in &mut self.table.tile(at).0[from..to] {
                    self.stacks.all.access(&mut page.accessed, shift);
                    self.stacks.reads.access(&mut page.read, shift);
                    page.reads = page.reads.saturating_add(1);
                }
            }
        }
        self.stacks.all.flush(shift);
        self.stacks.reads.flush(shift);
    }

    /// Ensures that [`STEP_PAGES`] pages can be walked.
    #[inline]
    fn make_room(&mut self) {
        if !self.table.has_room(STEP_TILES) {
            self.thin();
        }
        if !self.stacks.all.order.has_room(STEP_PAGES as u32) {
            self.stacks.all.order.renumber(self.table.pages_mut().map(|page| &mut page.accessed));
        }
        if !self.stacks.reads.order.has_room(STEP_PAGES as u32) {
            self.stacks.reads.order.renumber(self.table.pages_mut().map(|page| &mut page.read));
        }
    }

    #[cold]
    fn thin(&mut self) {
        self.settle_trims();
        while !self.table.has_room(STEP_TILES) {
            self.table.halve(|page| self.stacks.forget(page));
        }
    }

    /// Removes the data of the pages that a TRIM covers entirely.
    fn trim(&mut self, device: u16, offset: u64, bytes: u64) {
        let (first, end) = (offset.div_ceil(TRACE_PAGE_BYTES), (offset + bytes) / TRACE_PAGE_BYTES);
        if first >= end {
            return;
        }
        let tiles = ((end - 1) >> TILE_BITS) - (first >> TILE_BITS) + 1;
        if tiles > TRIM_TILES_MAX {
            self.trims.add(device, first, end);
            if self.trims.is_full() {
                self.settle_trims();
            }
            return;
        }
        for (tile, from, to) in Self::tiles_of(first, end - first) {
            if let Some(at) = self.table.find(device, tile) {
                self.table.tile(at).0[from..to].iter_mut().for_each(Page::trim);
            }
        }
    }

    /// Applies the large TRIMs since the last call to a tile.
    #[inline]
    fn learn_trims(&mut self, device: u16, tile: u64, at: u32) {
        let i = at as usize;
        if i >= self.trims_known.len() {
            self.trims_known.resize(self.table.len() as usize, 0);
        }
        if self.trims_known[i] != self.trims.number {
            let since = std::mem::replace(&mut self.trims_known[i], self.trims.number);
            let (first, pages) = (tile << TILE_BITS, &mut self.table.tile(at).0);
            self.trims.apply(device, first, TILE_PAGES, since, |page| pages[(page - first) as usize].trim());
        }
    }

    /// Applies all large TRIMs to all tiles.
    #[cold]
    fn settle_trims(&mut self) {
        if self.trims.number > 0 {
            let tiles: Vec<(u16, u64, u32)> = self.table.tiles().collect();
            tiles.into_iter().for_each(|(device, tile, at)| self.learn_trims(device, tile, at));
            self.trims.clear();
        }
    }

    pub fn describe_updates(&self, has_times: bool) -> UpdateInfo {
        self.updates.describe(self.page_writes, has_times, self.table.shift)
    }

    pub fn describe_reuse(&self, footprint_pages: u64) -> ReuseInfo {
        let accesses = self.page_writes + self.page_reads;
        self.stacks.describe(accesses, self.page_reads, footprint_pages, self.table.shift)
    }

    pub fn describe_frequency(&self) -> FrequencyInfo {
        let shift = self.shift();
        FrequencyInfo {
            sampled_share: 1.0 / (1u64 << shift) as f64,
            written: frequency::describe(self.table.pages().map(|page| page.writes), shift),
            read: frequency::describe(self.table.pages().map(|page| page.reads), shift),
        }
    }

    /// Returns the shift: one tile in `2^shift` is followed.
    pub fn shift(&self) -> u32 {
        self.table.shift
    }
}

/// Counts page writes with equal values.
#[inline]
fn note(updates: &mut Updates, contexts: &mut Contexts, alike: Alike, n: u64) {
    if n == 0 {
        return;
    }
    if alike.written == 0 {
        updates.first += n;
    } else {
        updates.add(alike.written, alike.time, n);
        contexts.update(alike.context, alike.written, n);
    }
}
