//! The disturb-aware order (dissertation on redFTL, section 7.2.2, which names the idea and no algorithm): part of the buffer is
//! set aside for the pages that are read most, of all blocks or of those that have been disturbed by so much.
//!
//! A page of a disturbed block that is read at least twice is *kept* while there is room among the kept ones. Then it has to
//! have been read more often than the kept page used least recently: a sweep over more pages than fit does not push out what
//! is there, as it does under LRU. A kept page that has moved to another block since, or is hardly read any more, gives way at
//! once. What gives way is the most recently
//! used page of the others, from which pages are evicted.
//!
//! Reads of a logical page are counted up to 255. All counts are halved after so many reads of pages that an average page has
//! been read [`MEAN_READS`] times, so that they follow the workload (as TinyLFU does: Einziger, Friedman and Manes, ACM
//! Transactions on Storage 13(4), 2017). Memory: a byte per logical page.

use super::order::Order;
use floatgate_base::{IdVec, Lpn, memory::table};
use serde::{Deserialize, Serialize};

/// Mean reads of a logical page between two halvings of the counts.
const MEAN_READS: u64 = 8;
/// A page of which less is left after the counts were halved is neither kept nor preloaded.
const HOT_READS: u8 = 2;

/// How the disturb-aware order differs from the least recently used page first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AwareConfig {
    /// Pages kept at most, fewer than the buffer holds.
    pub kept_pages: u32,
    /// Whether pages are read ahead of the host when their block becomes a disturbed one.
    pub preload: bool,
}

/// What is kept, and how often pages were read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Aware {
    /// Kept places by their use; they are in no other order of use.
    pub kept: Order,
    is_kept: Vec<bool>,
    reads: IdVec<Lpn, u8>,
    /// Reads until the counts are halved.
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

    /// A page is read.
    pub fn count(&mut self, lpn: Lpn) {
        self.reads[lpn] = self.reads[lpn].saturating_add(1);
        self.until_halved -= 1;
        if self.until_halved == 0 {
            self.reads.iter_mut().for_each(|reads| *reads /= 2);
            self.until_halved = MEAN_READS * self.reads.len() as u64;
        }
    }

    /// Whether a page may be kept or preloaded.
    pub fn is_hot(&self, lpn: Lpn) -> bool {
        self.reads[lpn] >= HOT_READS
    }

    /// Whether a page was read more often than another one.
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

    /// Whether it belongs to a buffer of such a size.
    pub fn is_sound(&self, places: usize, logical_pages: usize) -> bool {
        let kept = self.is_kept.iter().filter(|&&kept| kept).count();
        self.kept.is_sound(places)
            && self.is_kept.len() == places
            && kept == self.kept.len() as usize
            && self.reads.len() == logical_pages
            && self.until_halved > 0
    }
}
