//! The last host write of each page, for separators that classify by age.
//!
//! Ages are kept modulo 2^32 page writes (16 TiB of 4 KiB pages): an older page passes for a younger one, which merely
//! misjudges its heat. Pages that held data before the first write count as written at the beginning. Memory: 4 bytes
//! per page.

use floatgate_base::memory::table;
use floatgate_base::prefetch::prefetch;
use floatgate_base::{IdVec, Lpn};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LastWrites {
    at: IdVec<Lpn, u32>,
}

impl LastWrites {
    pub fn new(pages: u32) -> Self {
        Self { at: table(pages as usize, 0).into() }
    }

    /// Returns the host page writes since the page was written.
    #[inline(always)]
    pub fn age(&self, lpn: Lpn, now: u64) -> u32 {
        (now as u32).wrapping_sub(self.at[lpn])
    }

    /// Notes a write of the page and returns its age until then.
    #[inline(always)]
    pub fn renew(&mut self, lpn: Lpn, now: u64) -> u32 {
        let before = std::mem::replace(&mut self.at[lpn], now as u32);
        (now as u32).wrapping_sub(before)
    }

    #[inline(always)]
    pub fn prefetch(&self, lpn: Lpn) {
        prefetch(self.at.as_slice(), lpn.index());
    }

    pub fn bytes(&self) -> u64 {
        self.at.len() as u64 * 4
    }
}
