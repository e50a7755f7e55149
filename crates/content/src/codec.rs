//! Compressed sizes: LZ4 (block format, as in the recorder) and zstd.

use crate::{CHUNK_PAGES_MAX, PAGE_BYTES};

/// The codecs, in the order of [`Sizes`].
pub const CODECS: [&str; 2] = ["lz4", "zstd"];

/// Compressed sizes by codec.
pub type Sizes = [u32; CODECS.len()];

/// Compresses pages and chunks to learn their sizes.
pub struct Codecs {
    zstd: zstd::bulk::Compressor<'static>,
    room: Vec<u8>,
}

impl Codecs {
    /// Creates the codecs with a level of zstd that [`crate::Settings::validate`] has accepted.
    ///
    /// # Panics
    /// When zstd cannot allocate its state.
    #[must_use]
    pub fn new(zstd_level: i32) -> Self {
        let most = CHUNK_PAGES_MAX as usize * PAGE_BYTES;
        let room = zstd::zstd_safe::compress_bound(most).max(lz4::block::compress_bound(most).unwrap_or(0));
        let zstd = zstd::bulk::Compressor::new(zstd_level).expect("a level of zstd and memory");
        Self { zstd, room: vec![0; room] }
    }

    /// Compresses `data`, at most a chunk of pages. A size never exceeds that of the data, which would be written
    /// plain.
    ///
    /// # Panics
    /// When `data` is larger than the largest chunk.
    pub fn sizes(&mut self, data: &[u8]) -> Sizes {
        let lz4 = lz4_into(data, &mut self.room);
        let zstd = self.zstd.compress_to_buffer(data, &mut self.room[..]).expect("room for any chunk");
        [lz4, zstd].map(|bytes| bytes.min(data.len()) as u32)
    }
}

fn lz4_into(data: &[u8], room: &mut [u8]) -> usize {
    lz4::block::compress_to_buffer(data, None, false, room).expect("room for any chunk")
}

/// Returns the size of `data` after LZ4, at most that of the data.
///
/// # Panics
/// When `data` is larger than LZ4 accepts (2 GB).
#[must_use]
pub fn lz4_bytes(data: &[u8]) -> usize {
    let mut room = vec![0; lz4::block::compress_bound(data.len()).expect("less than 2 GB")];
    lz4_into(data, &mut room).min(data.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::Rng;

    #[test]
    fn sizes_are_those_of_the_compressed_data() {
        let mut codecs = Codecs::new(1);
        let text: Vec<u8> =
            b"a page of text, again and again; ".iter().copied().cycle().take(PAGE_BYTES).collect();
        let [lz4, zstd] = codecs.sizes(&text);
        assert_eq!(lz4 as usize, lz4::block::compress(&text, None, false).unwrap().len());
        assert_eq!(lz4 as usize, lz4_bytes(&text));
        assert_eq!(zstd as usize, zstd::bulk::compress(&text, 1).unwrap().len());
        assert!(lz4 < 100 && zstd < 100);
    }

    #[test]
    fn noise_takes_its_own_size() {
        let mut rng = Rng::new(1, "noise");
        let noise: Vec<u8> = (0..64 * PAGE_BYTES).map(|_| rng.next_u64() as u8).collect();
        let mut codecs = Codecs::new(3);
        assert_eq!(codecs.sizes(&noise), [64 * PAGE_BYTES as u32; 2]);
        assert_eq!(codecs.sizes(&noise[..PAGE_BYTES]), [PAGE_BYTES as u32; 2]);
    }
}
