//! What a scheme would do that is not at work, told from a sample of the pages (section III-B.2: ratios are predicted from past
//! epochs, also of schemes that were off).
//!
//! Which pages are looked at follows from their content: all copies of one are, or none is, so that the share of duplicates
//! in the sample is that of all pages. A drive would take a few bits of the data for that, which cost nothing beside a
//! fingerprint; here, bits of the fingerprint stand for them. Pages drawn at random would miss most duplicates, for their
//! originals would hardly ever be in the sample. Pages of unknown content are taken at even distances.

use super::{ChunkSetup, ReduceCounters, Reduction};

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

    /// A page of the sample is compressed: the chunk that it would join.
    pub(super) fn sample_size(&mut self, chunks: &ChunkSetup, bytes: u32) {
        let Self { samples, counters, .. } = self;
        counters.compressed_pages += 1;
        samples.slots += 1;
        samples.bytes += if bytes == 0 { chunks.page_bytes } else { bytes.min(chunks.page_bytes) };
        if samples.slots == chunks.pages {
            counters.sampled_chunked += u64::from(samples.slots);
            counters.sampled_chunk_pages += u64::from(samples.bytes.div_ceil(chunks.page_bytes));
            (samples.slots, samples.bytes) = (0, 0);
        }
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
