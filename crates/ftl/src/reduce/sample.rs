//! What a scheme would do that is not at work, told from a sample of the pages (section III-B.2: ratios are predicted from past
//! epochs, also of schemes that were off).
//!
//! Which pages are hashed follows from their content: all copies of one are, or none is, so that the share of duplicates
//! in the sample is that of all pages. A drive would take a few bits of the data for that, which cost nothing beside a
//! fingerprint; here, bits of the fingerprint stand for them. Pages drawn at random would miss most duplicates, for their
//! originals would hardly ever be in the sample. Pages of unknown content are taken at even distances.
//!
//! Of compression whole chunks are looked at, one in so many: the pages that would gather together, until the chunk is full,
//! its time is over, or FLUSH ends it, for each stream (and domain, under static allocation) by itself. Chunks made of pages
//! that are far apart would be full where real ones are not.

use super::{ChunkSetup, ReduceCounters, Reduction, SampleChunk};

impl Reduction {
    /// Whether a page of this content is looked at.
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

    /// A page joins the chunk that would gather at a place if compression were at work.
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

    /// What gathers would be programmed now: all of it, or what the last page went into.
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
    /// Pages hashed for deduplication at work, and what it left.
    #[must_use]
    pub fn deduplicated(&self) -> (u64, u64) {
        let pages = self.hashed_pages - self.sampled_hashed;
        (pages, pages - self.duplicate_pages)
    }
}
