//! What the mechanism knows of each erase unit, and the pool of free ones.

use floatgate_base::{Ppn, UnitId};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize, Serializer};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// `pos` of a unit that no index holds: free, open, or being collected.
pub const NOT_INDEXED: u32 = u32::MAX;

/// The two words that losing a page touches, side by side.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct UnitMeta {
    /// Valid pages. An open unit counts its unwritten pages as valid, so that programming need not touch it.
    pub valid: u32,
    /// Place in the victim index.
    pub pos: u32,
}

/// Per-unit state of the whole drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Units {
    /// Valid count and index place.
    pub meta: Vec<UnitMeta>,
    /// Host page writes so far when the unit was closed.
    pub closed_at: Vec<u64>,
    /// Closed units with a dead page, by domain, update blocks that wait left out: whether collection can gain anything.
    pub worthwhile: Vec<u32>,
}

impl Units {
    /// All units free and empty.
    #[must_use]
    pub fn new(layout: &Layout) -> Self {
        let n = layout.units() as usize;
        Self {
            meta: vec![UnitMeta { valid: 0, pos: NOT_INDEXED }; n],
            closed_at: vec![0; n],
            worthwhile: vec![0; layout.domains() as usize],
        }
    }
}

/// A unit being filled. An unopened frontier has `next == end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frontier {
    /// The page to be programmed next.
    pub next: Ppn,
    /// One past the unit's last page.
    pub end: Ppn,
    /// The unit, or `NO_UNIT`.
    pub unit: UnitId,
}

/// `Frontier::unit` before anything was opened.
pub const NO_UNIT: UnitId = UnitId::MAX;

impl Frontier {
    /// Nothing open.
    pub const CLOSED: Self = Self { next: 0, end: 0, unit: NO_UNIT };

    /// Pages left to program.
    #[inline]
    #[must_use]
    pub fn room(&self) -> u32 {
        self.end - self.next
    }
}

/// Which free unit is opened next (`ftl.free_block`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FreeChoice {
    /// The one with the fewest erases: dynamic wear-leveling.
    LeastErased,
    /// The one that has been free for longest.
    Fifo,
}

/// Names of the free-block choices with what they do.
pub const FREE_CHOICES: &[(&str, &str)] = &[
    ("least-erased", "open the free block with the fewest erases (dynamic wear-leveling)"),
    ("fifo", "open the block that has been free for longest"),
];

/// The free units of one domain.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FreePool {
    choice: FreeChoice,
    #[serde(serialize_with = "in_order")]
    heap: BinaryHeap<Reverse<(u64, UnitId)>>,
    freed: u64,
}

/// Writes a heap out in the order in which it is used up, whatever way it took: equal pools give equal bytes.
fn in_order<S: Serializer>(heap: &BinaryHeap<Reverse<(u64, UnitId)>>, to: S) -> Result<S::Ok, S::Error> {
    let mut units: Vec<_> = heap.iter().collect();
    units.sort_unstable_by(|a, b| b.cmp(a));
    to.collect_seq(units)
}

impl FreePool {
    /// All given units free, never erased.
    #[must_use]
    pub fn new(choice: FreeChoice, units: std::ops::Range<UnitId>) -> Self {
        let mut pool = Self { choice, heap: BinaryHeap::with_capacity(units.len()), freed: 0 };
        for unit in units {
            pool.put(unit, 0);
        }
        pool
    }

    /// Free units.
    #[inline]
    #[must_use]
    pub fn len(&self) -> u32 {
        self.heap.len() as u32
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Takes the next unit to open.
    pub fn take(&mut self) -> Option<UnitId> {
        self.heap.pop().map(|Reverse((_, unit))| unit)
    }

    /// Returns an erased unit.
    pub fn put(&mut self, unit: UnitId, erases: u32) {
        let key = match self.choice {
            FreeChoice::LeastErased => u64::from(erases),
            FreeChoice::Fifo => self.freed,
        };
        self.freed += 1;
        self.heap.push(Reverse((key, unit)));
    }

    /// The free units, in no order.
    pub fn iter(&self) -> impl Iterator<Item = UnitId> + '_ {
        self.heap.iter().map(|&Reverse((_, unit))| unit)
    }

    /// Wear counts from 0 again; the order in which units were freed stays.
    pub fn forget_wear(&mut self) {
        if self.choice == FreeChoice::LeastErased {
            for unit in self.take_all() {
                self.put(unit, 0);
            }
        }
    }

    /// Takes all units out, ascending; for preconditioning, not for the hot path.
    pub fn take_all(&mut self) -> Vec<UnitId> {
        let mut units: Vec<UnitId> = self.iter().collect();
        units.sort_unstable();
        self.heap.clear();
        units
    }
}
