//! Fingerprints of pages: the first 8 bytes, little endian, of BLAKE2b with an 8-byte digest, as in the recorder.

use crate::PAGE_BYTES;
use blake2b_simd::many::{HashManyJob, hash_many};
use blake2b_simd::{Hash, Params};

/// Pages hashed side by side, in the vector lanes of the processor.
const TOGETHER: usize = 8;

/// Computes fingerprints.
pub struct Fingerprints {
    params: Params,
    mask: u64,
}

impl Fingerprints {
    /// Creates the function with the lowest `bits` bits of fingerprints; 64 are all.
    #[must_use]
    pub fn new(bits: u32) -> Self {
        let mut params = Params::new();
        params.hash_length(8);
        Self { params, mask: u64::MAX >> (64 - bits.clamp(1, 64)) }
    }

    /// Computes the fingerprint of any bytes.
    #[must_use]
    pub fn of(&self, data: &[u8]) -> u64 {
        self.cut(&self.params.hash(data))
    }

    /// Replaces `to` by the fingerprints of the pages of `data`, in their order.
    pub fn of_pages(&self, data: &[u8], to: &mut Vec<u64>) {
        to.clear();
        for group in data.chunks(TOGETHER * PAGE_BYTES) {
            if group.len() < TOGETHER * PAGE_BYTES {
                to.extend(group.chunks(PAGE_BYTES).map(|page| self.of(page)));
                continue;
            }
            let mut jobs: [HashManyJob; TOGETHER] = std::array::from_fn(|n| {
                HashManyJob::new(&self.params, &group[n * PAGE_BYTES..(n + 1) * PAGE_BYTES])
            });
            hash_many(jobs.iter_mut());
            to.extend(jobs.iter().map(|job| self.cut(&job.to_hash())));
        }
    }

    fn cut(&self, hash: &Hash) -> u64 {
        let bytes = hash.as_bytes().try_into().expect("a digest of 8 bytes");
        u64::from_le_bytes(bytes) & self.mask
    }
}

/// Computes the fingerprint of any bytes.
#[must_use]
pub fn fingerprint(data: &[u8]) -> u64 {
    Fingerprints::new(64).of(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_what_others_compute() {
        // The value of Python's hashlib.blake2b(data, digest_size=8).
        assert_eq!(fingerprint(b""), u64::from_le_bytes(0xe4a6_a057_7479_b2b4_u64.to_be_bytes()));
        assert_eq!(fingerprint(b"abc"), u64::from_le_bytes(0xd8bb_14d8_33d5_9559_u64.to_be_bytes()));
    }

    #[test]
    fn pages_side_by_side_and_alone_agree() {
        let data: Vec<u8> = (0..19 * PAGE_BYTES).map(|n| (n * n / 7) as u8).collect();
        for bits in [64, 5] {
            let prints = Fingerprints::new(bits);
            let mut together = vec![7];
            prints.of_pages(&data, &mut together);
            let alone: Vec<u64> = data.chunks(PAGE_BYTES).map(|page| prints.of(page)).collect();
            assert_eq!(together, alone);
            assert!(bits == 64 || alone.iter().all(|print| *print < 32));
        }
    }
}
