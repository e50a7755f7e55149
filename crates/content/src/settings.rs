//! Settings of a measurement.

use floatgate_base::{Error, Place, Result};

/// Most pages per chunk.
pub const CHUNK_PAGES_MAX: u32 = 64;

/// The settings of a measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Level of zstd, 1 to 22.
    pub zstd_level: i32,
    /// Chunk sizes in pages, ascending and distinct.
    pub chunks: Vec<u32>,
    /// Share of the chunks that are also compressed as one piece.
    pub sample_share: f64,
    /// Seed for the choice of these chunks.
    pub seed: u64,
    /// Number of bits of a fingerprint to use: 64, fewer only to force collisions.
    pub fingerprint_bits: u32,
    /// Whether to keep fingerprint and LZ4 size of every page, 10 bytes each.
    pub keep_pages: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            zstd_level: 1,
            chunks: vec![1, 2, 4, 8],
            sample_share: 1.0 / 64.0,
            seed: 1,
            fingerprint_bits: 64,
            keep_pages: false,
        }
    }
}

impl Settings {
    /// Checks the settings.
    ///
    /// # Errors
    /// Names the command-line option and the valid values.
    pub fn validate(&self) -> Result<()> {
        let refuse = |option: &str, what: String, expected: &str| {
            Err(Error::input(Place::Setting(option.into()), what, expected))
        };
        if !(1..=22).contains(&self.zstd_level) {
            let what = format!("{} is not a zstd level", self.zstd_level);
            return refuse("--zstd-level", what, "expected a level from 1 to 22");
        }
        if self.chunks.is_empty() {
            return refuse("--chunks", "no chunk size".into(), "expected sizes such as 1,2,4,8");
        }
        if let Some(size) = self.chunks.iter().find(|size| !(1..=CHUNK_PAGES_MAX).contains(*size)) {
            let what = format!("a chunk of {size} pages is out of range");
            return refuse("--chunks", what, "expected sizes from 1 to 64 pages");
        }
        if !self.chunks.is_sorted_by(|a, b| a < b) {
            return refuse("--chunks", "the same chunk size twice".into(), "expected each size once");
        }
        if !(0.0..=1.0).contains(&self.sample_share) {
            let what = format!("{} is not a share", self.sample_share);
            return refuse("--sample-share", what, "expected a share from 0 to 1");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_refused() {
        let refused = |settings: Settings| settings.validate().unwrap_err().to_string();
        let default = Settings::default;
        assert!(default().validate().is_ok());
        assert!(refused(Settings { zstd_level: 0, ..default() }).contains("--zstd-level"));
        for chunks in [vec![], vec![0, 4], vec![65], vec![4, 4]] {
            assert!(refused(Settings { chunks, ..default() }).contains("--chunks"));
        }
        for sample_share in [f64::NAN, -0.1, 1.1] {
            assert!(refused(Settings { sample_share, ..default() }).contains("--sample-share"));
        }
    }
}
