//! Transposes words of four bytes: all lowest bytes of a chunk first, then all second bytes, third bytes and highest
//! bytes. The upper bytes of page numbers hardly differ, so they compress well side by side.

/// Words of a chunk.
pub(crate) const WORDS: usize = super::CHUNK / 4;

/// Lays the words out byte by byte; `out` is replaced.
pub(crate) fn shuffle(words: &[u32], out: &mut Vec<u8>) {
    out.clear();
    out.resize(4 * words.len(), 0);
    let n = words.len();
    for plane in 0..4 {
        for (byte, word) in out[plane * n..][..n].iter_mut().zip(words) {
            *byte = (word >> (8 * plane)) as u8;
        }
    }
}

/// Reverses [`shuffle`]; `bytes` holds four for each word.
pub(crate) fn unshuffle(bytes: &[u8], words: &mut [u32]) {
    let n = words.len();
    let planes: [&[u8]; 4] = std::array::from_fn(|plane| &bytes[plane * n..][..n]);
    for (i, word) in words.iter_mut().enumerate() {
        *word = u32::from_le_bytes(std::array::from_fn(|plane| planes[plane][i]));
    }
}
