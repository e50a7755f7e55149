//! The disturb-aware order reserves part of the buffer for the most-read pages, of all blocks or of disturbed blocks
//! only. Source: dissertation on redFTL, section 7.2.2, which names the idea but no algorithm.
//!
//! A page of a disturbed block that has been read at least twice is *kept* while the reserved part has room. If it is
//! full, the page must have been read more often than the kept page used least recently. A sweep over more pages than
//! fit therefore cannot push out the kept pages, as it does under LRU. A kept page that has moved to another block
//! since, or is hardly read any more, gives way at once. Evictions take the most recently used of the other pages.
//!
//! Reads of a logical page are counted up to 255. To follow the workload, all counts are halved whenever an average
//! page has been read [`MEAN_READS`] times, as in TinyLFU (Einziger, Friedman and Manes, ACM Transactions on Storage
//! 13(4), 2017). Memory: one byte per logical page.

use super::order::Order;
use floatgate_base::{IdVec, Lpn, memory::table};
use serde::{Deserialize, Serialize};

/// Mean reads per logical page between two halvings of the counts.
const MEAN_READS: u64 = 8;
/// A page with fewer reads left after a halving is neither kept nor preloaded.
const HOT_READS: u8 = 2;

/// The settings of the disturb-aware order beyond those of LRU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AwareConfig {
    /// Most pages to keep, fewer than the buffer holds.
    pub kept_pages: u32,
    /// Whether pages are read ahead of the host when their block becomes disturbed.
    pub preload: bool,
}

/// The kept pages and the read counts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Aware {
    /// Kept places by recency; they are not in the order of the other pages.
    pub kept: Order,
    is_kept: Vec<bool>,
    reads: IdVec<Lpn, u8>,
    /// Reads until the next halving.
    until_halved: u64,
}

impl Aware {
    pub fn new(places: u32, logical_pages: u32) -> Self {
        Self {
            kept: Order::new(places),
            is_kept: vec![false; places as usize],
            reads: table(logical_pages as usize, 0).into(),
            until_halved: MEAN_READS * u64::from(logical_pages),
        }
    }

    /// Counts a read of a page.
    pub fn count(&mut self, lpn: Lpn) {
        self.reads[lpn] = self.reads[lpn].saturating_add(1);
        self.until_halved -= 1;
        if self.until_halved == 0 {
            self.reads.iter_mut().for_each(|reads| *reads /= 2);
            self.until_halved = MEAN_READS * self.reads.len() as u64;
        }
    }

    /// Returns whether a page may be kept or preloaded.
    pub fn is_hot(&self, lpn: Lpn) -> bool {
        self.reads[lpn] >= HOT_READS
    }

    /// Returns whether a page has been read more often than another one.
    pub fn is_hotter(&self, lpn: Lpn, than: Lpn) -> bool {
        self.reads[lpn] > self.reads[than]
    }

    pub fn keeps(&self, place: u32) -> bool {
        self.is_kept[place as usize]
    }

    pub fn keep(&mut self, place: u32) {
        self.is_kept[place as usize] = true;
        self.kept.add(place);
    }

    pub fn give_up(&mut self, place: u32) {
        self.is_kept[place as usize] = false;
        self.kept.remove(place);
    }

    /// Checks the state against the size of the buffer.
    pub fn is_sound(&self, places: usize, logical_pages: usize) -> bool {
        let kept = self.is_kept.iter().filter(|&&kept| kept).count();
        self.kept.is_sound(places)
            && self.is_kept.len() == places
            && kept == self.kept.len() as usize
            && self.reads.len() == logical_pages
            && self.until_halved > 0
    }
}
