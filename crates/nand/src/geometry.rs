//! The shape of a drive's flash.

use floatgate_base::PAGES_MAX;

/// Channels, chips, dies, planes, blocks and pages. All counts are at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Independent buses.
    pub channels: u32,
    /// Chips on each channel.
    pub chips_per_channel: u32,
    /// Dies in each chip.
    pub dies_per_chip: u32,
    /// Planes in each die.
    pub planes_per_die: u32,
    /// Blocks in each plane.
    pub blocks_per_plane: u32,
    /// Pages in each block.
    pub pages_per_block: u32,
    /// Bytes of a page, without its spare area; a power of two from 512 to 65536.
    pub page_bytes: u32,
}

/// A fault of a geometry: its key, the fact, and what is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeometryError {
    /// Key of `[drive.geometry]`.
    pub key: &'static str,
    /// The fault.
    pub what: String,
    /// The valid values.
    pub expected: String,
}

impl Geometry {
    /// Counts the planes of the whole drive.
    #[must_use]
    pub fn planes(&self) -> u32 {
        self.channels * self.chips_per_channel * self.dies_per_chip * self.planes_per_die
    }

    /// Counts the dies of the whole drive.
    #[must_use]
    pub fn dies(&self) -> u32 {
        self.channels * self.chips_per_channel * self.dies_per_chip
    }

    /// Returns the blocks of the whole drive.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        u64::from(self.planes()) * u64::from(self.blocks_per_plane)
    }

    /// Returns the pages of the whole drive.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.blocks() * u64::from(self.pages_per_block)
    }

    /// Returns the bytes of the whole drive.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.pages() * u64::from(self.page_bytes)
    }

    /// Checks every count and the size as a whole.
    ///
    /// # Errors
    /// Names the first faulty key.
    pub fn check(&self) -> Result<(), GeometryError> {
        let fault = |key, what, expected: &str| Err(GeometryError { key, what, expected: expected.into() });
        let counts = [
            ("channels", self.channels),
            ("chips_per_channel", self.chips_per_channel),
            ("dies_per_chip", self.dies_per_chip),
            ("planes_per_die", self.planes_per_die),
            ("blocks_per_plane", self.blocks_per_plane),
            ("pages_per_block", self.pages_per_block),
        ];
        for (key, count) in counts {
            if count == 0 {
                return fault(key, format!("{key} is 0"), "expected a whole number from 1");
            }
        }
        if !self.page_bytes.is_power_of_two() || !(512..=65_536).contains(&self.page_bytes) {
            let what = format!("page_bytes is {}", self.page_bytes);
            return fault("page_bytes", what, "expected a power of two from 512 to 65536");
        }
        let pages = counts.iter().fold(1, |pages: u128, &(_, count)| pages.saturating_mul(u128::from(count)));
        if pages > u128::from(PAGES_MAX) {
            let what = format!("the drive has {pages} pages");
            return fault(
                "blocks_per_plane",
                what,
                &format!("expected at most {PAGES_MAX} (8 TiB of 4 KiB pages)"),
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Geometry = Geometry {
        channels: 2,
        chips_per_channel: 3,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane: 10,
        pages_per_block: 64,
        page_bytes: 4096,
    };

    #[test]
    fn counts_multiply() {
        assert_eq!((SMALL.planes(), SMALL.dies(), SMALL.blocks()), (12, 6, 120));
        assert_eq!((SMALL.pages(), SMALL.bytes()), (7680, 7680 * 4096));
        assert_eq!(SMALL.check(), Ok(()));
    }

    #[test]
    fn faults_name_their_key() {
        let key = |g: Geometry| g.check().unwrap_err().key;
        assert_eq!(key(Geometry { dies_per_chip: 0, ..SMALL }), "dies_per_chip");
        assert_eq!(key(Geometry { page_bytes: 4000, ..SMALL }), "page_bytes");
        assert_eq!(key(Geometry { page_bytes: 256, ..SMALL }), "page_bytes");
        assert_eq!(key(Geometry { page_bytes: 131_072, ..SMALL }), "page_bytes");
        assert_eq!(key(Geometry { blocks_per_plane: u32::MAX, ..SMALL }), "blocks_per_plane");
        // 2^132 pages: a product in 128 bits would wrap around to 0.
        let n = 1 << 22;
        let absurd = Geometry {
            channels: n,
            chips_per_channel: n,
            dies_per_chip: n,
            planes_per_die: n,
            blocks_per_plane: n,
            pages_per_block: n,
            page_bytes: 4096,
        };
        assert_eq!(key(absurd), "blocks_per_plane");
        let most = Geometry { blocks_per_plane: ((1u64 << 31) / 64 / 12 - 1) as u32, ..SMALL };
        assert_eq!(most.check(), Ok(()));
    }
}
