//! Estimates the effect of an inactive scheme from a sample of the pages (section III-B.2: ratios are predicted from
//! past epochs, also of schemes that were off).
//!
//! The content decides whether a page is hashed: all copies of one content are, or none is. The share of duplicates in
//! the sample thus equals that of all pages. A drive would use a few bits of the data, which cost nothing beside a
//! fingerprint; here, bits of the fingerprint stand for them. Pages drawn at random would miss most duplicates, for
//! their originals would hardly ever be in the sample. Pages of unknown content are sampled at even distances.
//!
//! For compression, whole chunks are sampled at a fixed rate: pages that would gather together until the chunk is full,
//! its time is over, or FLUSH ends it. Each stream (and domain, under static allocation) gathers separately. Chunks
//! made of pages that are far apart would be full where real ones are not.

use super::{ChunkSetup, ReduceCounters, Reduction, SampleChunk};

impl Reduction {
    /// Checks whether a page of this content is sampled.
    #[inline(always)]
    pub(super) fn is_sampled(&mut self, fingerprint: u64) -> bool {
        let below = self.setup.samples_below;
        if below == 0 {
            return false;
        }
        if fingerprint == 0 {
            let (sum, over) = self.samples.unknown.overflowing_add(below);
            self.samples.unknown = sum;
            return over;
        }
        // The index spreads fingerprints by their upper bits; these are others.
        let mixed = (fingerprint ^ fingerprint >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed.rotate_left(32).wrapping_mul(0x94d0_49bb_1331_11eb) < below
    }

    /// Adds a page to the chunk that would gather at a slot if compression were active.
    pub(super) fn sample_page(&mut self, chunks: &ChunkSetup, place: usize, bytes: u32) {
        let Self { samples, counters, now_ns, .. } = self;
        let Some(chunk) = samples.gathering.get_mut(place) else { return };
        samples.last = place;
        let is_over = |timeout_ns: u64| *now_ns >= chunk.since_ns.saturating_add(timeout_ns);
        if chunks.timeout_ns.is_some_and(is_over) {
            chunk.end(chunks.page_bytes, counters);
        }
        if chunk.slots == 0 {
            (samples.chunks, chunk.is_sampled) = samples.chunks.overflowing_add(self.setup.samples_below);
            chunk.since_ns = *now_ns;
        }
        chunk.slots += 1;
        if chunk.is_sampled {
            counters.compressed_pages += 1;
            chunk.bytes += if bytes == 0 { chunks.page_bytes } else { bytes.min(chunks.page_bytes) };
        }
        if chunk.slots == chunks.pages {
            chunk.end(chunks.page_bytes, counters);
        }
    }

    /// Ends the sampled chunks: all of them, or the one of the last page.
    pub(super) fn end_samples(&mut self, all: bool) {
        let Some(chunks) = self.setup.chunks else { return };
        let last = self.samples.last;
        for (place, chunk) in self.samples.gathering.iter_mut().enumerate() {
            if all || place == last {
                chunk.end(chunks.page_bytes, &mut self.counters);
            }
        }
    }
}

impl SampleChunk {
    fn end(&mut self, page_bytes: u32, counters: &mut ReduceCounters) {
        if self.slots > 0 && self.is_sampled {
            counters.sampled_chunked += u64::from(self.slots);
            counters.sampled_chunk_pages += u64::from(self.bytes.div_ceil(page_bytes));
        }
        (self.slots, self.bytes) = (0, 0);
    }
}

impl ReduceCounters {
    /// Returns the pages hashed for active deduplication, and those that were new.
    #[must_use]
    pub fn deduplicated(&self) -> (u64, u64) {
        let pages = self.hashed_pages - self.sampled_hashed;
        (pages, pages - self.duplicate_pages)
    }
}
