//! Counts the flash pages that chunks of successive pages take.

use crate::PAGE_BYTES;
use crate::codec::{CODECS, Codecs, Sizes};
use crate::figures::{Joint, Written};
use floatgate_base::Rng;

/// Chunks of one size, filled by all pages or by those that are not duplicates.
///
/// A chunk takes the sum of its pages' compressed sizes, rounded up to whole pages. A chunk that would take as many
/// pages as it has is written plain. A random sample of the chunks is also compressed as one piece.
pub struct Lane {
    chunk_pages: u32,
    filled: u32,
    sums: Sizes,
    flash_pages: [u64; CODECS.len()],
    rng: Rng,
    sample_share: f64,
    /// The bytes of the current chunk, if it is in the sample.
    drawn: Option<Vec<u8>>,
    sampled: Sampled,
    /// Sizes of a whole chunk of zeros compressed as one piece; computed at the first such chunk.
    zeros_as_one: Option<Sizes>,
}

#[derive(Default)]
struct Sampled {
    chunks: u64,
    pages: u64,
    joint: [u64; CODECS.len()],
    by_page: [u64; CODECS.len()],
}

impl Lane {
    /// Creates an empty lane; `name` and the chunk size select its stream of random numbers.
    pub fn new(name: &str, chunk_pages: u32, sample_share: f64, seed: u64) -> Self {
        // A single page is always compressed on its own.
        let sample_share = if chunk_pages == 1 { 0.0 } else { sample_share };
        Self {
            chunk_pages,
            filled: 0,
            sums: Sizes::default(),
            flash_pages: Default::default(),
            rng: Rng::new(seed, &format!("{name} chunks of {chunk_pages}")),
            sample_share,
            drawn: None,
            sampled: Sampled::default(),
            zeros_as_one: None,
        }
    }

    /// Adds the next page, with its compressed sizes.
    pub fn push(&mut self, page: &[u8], sizes: Sizes, codecs: &mut Codecs) {
        if self.filled == 0 && self.rng.unit() < self.sample_share {
            self.drawn = Some(Vec::with_capacity(self.chunk_pages as usize * PAGE_BYTES));
        }
        if let Some(bytes) = &mut self.drawn {
            bytes.extend_from_slice(page);
        }
        for (sum, size) in self.sums.iter_mut().zip(sizes) {
            *sum += size;
        }
        self.filled += 1;
        if self.filled == self.chunk_pages {
            self.close(codecs);
        }
    }

    /// Adds `pages` pages of zeros, each with these compressed sizes, with the same result as that many calls of
    /// [`Self::push`]. A whole chunk costs one random number.
    pub fn push_zeros(&mut self, pages: u64, sizes: Sizes, codecs: &mut Codecs) {
        let mut left = pages;
        while left > 0 && (self.filled > 0 || left < u64::from(self.chunk_pages)) {
            self.push(&[0; PAGE_BYTES], sizes, codecs);
            left -= 1;
        }
        let chunks = left / u64::from(self.chunk_pages);
        let by_page = sizes.map(|size| flash_pages(size * self.chunk_pages, self.chunk_pages));
        add_times(&mut self.flash_pages, by_page, chunks);
        let drawn = match self.sample_share {
            0.0 => 0, // no later draw can succeed either
            share => (0..chunks).filter(|_| self.rng.unit() < share).count() as u64,
        };
        if drawn > 0 {
            let bytes = self.chunk_pages as usize * PAGE_BYTES;
            let sizes = *self.zeros_as_one.get_or_insert_with(|| codecs.sizes(&vec![0; bytes]));
            self.sampled.chunks += drawn;
            self.sampled.pages += drawn * u64::from(self.chunk_pages);
            let joint = sizes.map(|size| flash_pages(size, self.chunk_pages));
            add_times(&mut self.sampled.joint, joint, drawn);
            add_times(&mut self.sampled.by_page, by_page, drawn);
        }
        for _ in 0..left % u64::from(self.chunk_pages) {
            self.push(&[0; PAGE_BYTES], sizes, codecs);
        }
    }

    /// Writes the current chunk, which may be partly filled.
    pub fn close(&mut self, codecs: &mut Codecs) {
        let pages = self.filled;
        if pages == 0 {
            return;
        }
        let by_page = self.sums.map(|sum| flash_pages(sum, pages));
        add(&mut self.flash_pages, by_page);
        if let Some(bytes) = self.drawn.take() {
            self.sampled.chunks += 1;
            self.sampled.pages += u64::from(pages);
            add(&mut self.sampled.joint, codecs.sizes(&bytes).map(|size| flash_pages(size, pages)));
            add(&mut self.sampled.by_page, by_page);
        }
        self.filled = 0;
        self.sums = Sizes::default();
    }

    /// Returns the pages written with a codec, relative to all host pages.
    pub fn written(&self, codec: usize, host_pages: u64) -> Written {
        let share = |part: u64, of: u64| part as f64 / of as f64;
        let sampled = &self.sampled;
        Written {
            flash_pages: self.flash_pages[codec],
            written_ratio: share(self.flash_pages[codec], host_pages),
            joint: (sampled.chunks > 0).then(|| Joint {
                sampled_chunks: sampled.chunks,
                sampled_pages: sampled.pages,
                chunk_ratio: share(sampled.joint[codec], sampled.pages),
                chunk_ratio_by_page: share(sampled.by_page[codec], sampled.pages),
            }),
        }
    }
}

fn add(to: &mut [u64; CODECS.len()], more: Sizes) {
    add_times(to, more, 1);
}

fn add_times(to: &mut [u64; CODECS.len()], more: Sizes, times: u64) {
    for (sum, one) in to.iter_mut().zip(more) {
        *sum += u64::from(one) * times;
    }
}

/// Rounds bytes up to whole pages, at most `pages`, the number before compression.
fn flash_pages(bytes: u32, pages: u32) -> u32 {
    bytes.div_ceil(PAGE_BYTES as u32).min(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: u32 = PAGE_BYTES as u32;

    fn written(chunk_pages: u32, sizes: &[u32]) -> u64 {
        let mut codecs = Codecs::new(1);
        let mut lane = Lane::new("test", chunk_pages, 0.0, 1);
        for size in sizes {
            lane.push(&[0; PAGE_BYTES], [*size, PLAIN], &mut codecs);
        }
        lane.close(&mut codecs);
        assert_eq!(lane.written(1, 1).flash_pages, sizes.len() as u64);
        lane.written(0, 1).flash_pages
    }

    #[test]
    fn chunks_are_rounded_up_to_pages() {
        assert_eq!(written(4, &[1024; 4]), 1);
        assert_eq!(written(4, &[1024, 1024, 1024, 1025]), 2);
        assert_eq!(written(4, &[PLAIN, PLAIN, PLAIN, 1]), 4); // as many pages as the chunk has: written plain
        assert_eq!(written(4, &[PLAIN, PLAIN, 2048, 2048]), 3);
        assert_eq!(written(1, &[1; 3]), 3); // a chunk of one page never shrinks
        assert_eq!(written(4, &[1024; 6]), 2); // the last chunk is partly filled
        assert_eq!(written(8, &[2048; 8]), 4);
    }

    #[test]
    fn zeros_at_once_are_zeros_one_by_one() {
        let mut codecs = Codecs::new(1);
        let zeros = codecs.sizes(&[0; PAGE_BYTES]);
        for (chunk_pages, share) in [(1, 0.5), (2, 0.5), (4, 0.0), (8, 0.3), (64, 1.0)] {
            let mut lanes = [0, 1].map(|_| Lane::new("test", chunk_pages, share, 7));
            let [at_once, one_by_one] = &mut lanes;
            for pages in [0, 1, 3, 200, 64, 5, 1000, 2, 128] {
                let noise = [pages as u8 | 1; PAGE_BYTES];
                let sizes = codecs.sizes(&noise);
                at_once.push(&noise, sizes, &mut codecs);
                one_by_one.push(&noise, sizes, &mut codecs);
                at_once.push_zeros(pages, zeros, &mut codecs);
                (0..pages).for_each(|_| one_by_one.push(&[0; PAGE_BYTES], zeros, &mut codecs));
            }
            lanes.iter_mut().for_each(|lane| lane.close(&mut codecs));
            for codec in 0..CODECS.len() {
                assert_eq!(
                    lanes[0].written(codec, 1412),
                    lanes[1].written(codec, 1412),
                    "{chunk_pages} pages"
                );
            }
        }
    }

    #[test]
    fn sampled_chunks_are_compressed_as_one() {
        let mut codecs = Codecs::new(1);
        let mut lane = Lane::new("test", 4, 1.0, 1);
        let mut rng = Rng::new(5, "noise");
        let noise: Vec<u8> = (0..PAGE_BYTES).map(|_| rng.next_u64() as u8).collect();
        // Four copies of the same noise: no single page shrinks, the four together do.
        for _ in 0..8 {
            lane.push(&noise, codecs.sizes(&noise), &mut codecs);
        }
        for codec in 0..2 {
            let joint = lane.written(codec, 8).joint.unwrap();
            assert_eq!((joint.sampled_chunks, joint.sampled_pages), (2, 8));
            assert_eq!((joint.chunk_ratio, joint.chunk_ratio_by_page), (0.5, 1.0));
            assert_eq!(lane.written(codec, 8).written_ratio, 1.0);
        }
    }
}
