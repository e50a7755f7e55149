//! Replicas: logical pages that lie on two physical pages, of which the second is read (redFTL's replica mapping table).
//!
//! The original is the live page, which moves and dies as any other. The replica stands in the tail of another unit, where it
//! counts as dead: it needs no place when its unit is emptied. It dies when its original does, or with its unit; then its
//! logical page is a plain one again.

use super::SideTable;
use floatgate_base::{IdVec, Lpn, Ppn, UnitId};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// What became of replicas since counting began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplicaCounters {
    /// Made.
    pub made: u64,
    /// Died because the host wrote the page anew, or gave it up.
    pub died_by_update: u64,
    /// Died because their unit was erased.
    pub died_by_erase: u64,
    /// Took their original's place.
    pub promoted: u64,
}

/// An entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Replica {
    pub lpn: Lpn,
    pub original: Ppn,
    pub replica: Ppn,
}

const FREE: Replica = Replica { lpn: Lpn::MAX, original: Ppn::MAX, replica: Ppn::MAX };

/// The replica mapping table.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Replicas {
    entries: Vec<Replica>,
    /// Entries that may be used again.
    free: Vec<u32>,
    /// By unit, entries whose replica was made there; those that died since are skipped.
    made_in: IdVec<UnitId, Vec<u32>>,
    pub counters: ReplicaCounters,
}

impl Replicas {
    /// No page has a replica.
    pub fn new(layout: &Layout) -> Self {
        Self { made_in: IdVec::filled(Vec::new(), layout.units()), ..Self::default() }
    }

    /// A page gets a replica; the entry, of which the map is yet to be told.
    pub fn add(&mut self, layout: &Layout, replica: Replica) -> u32 {
        let entry = self.free.pop().unwrap_or_else(|| {
            self.entries.push(FREE);
            self.entries.len() as u32 - 1
        });
        self.entries[entry as usize] = replica;
        let made = &mut self.made_in[layout.unit_of(replica.replica)];
        if !made.contains(&entry) {
            made.push(entry);
        }
        self.counters.made += 1;
        entry
    }

    /// An entry that is in use.
    #[inline(always)]
    pub fn get(&self, entry: u32) -> Replica {
        self.entries[entry as usize]
    }

    /// All entries in use.
    pub fn iter(&self) -> impl Iterator<Item = (u32, Replica)> + '_ {
        (0..).zip(self.entries.iter().copied()).filter(|(_, replica)| *replica != FREE)
    }

    /// Replicas that a unit holds.
    pub fn held_by<'a>(
        &'a self,
        layout: &'a Layout,
        unit: UnitId,
    ) -> impl Iterator<Item = (u32, Replica)> + 'a {
        let made = self.made_in.get(unit).into_iter().flatten();
        let held = made.map(|&entry| (entry, self.entries[entry as usize]));
        held.filter(move |(_, replica)| *replica != FREE && layout.unit_of(replica.replica) == unit)
    }

    /// A replica is given up: its logical page is to be a plain one.
    pub fn remove(&mut self, entry: u32) -> Replica {
        self.free.push(entry);
        std::mem::replace(&mut self.entries[entry as usize], FREE)
    }

    /// The host wrote the page anew, or gave it up; where the original lies.
    pub fn release(&mut self, entry: u32) -> Ppn {
        self.counters.died_by_update += 1;
        self.remove(entry).original
    }

    /// A unit was erased.
    pub fn erased(&mut self, unit: UnitId) {
        if let Some(made) = self.made_in.get_mut(unit) {
            made.clear();
        }
    }

    /// Bytes of the table.
    pub fn memory_bytes(&self) -> u64 {
        (self.entries.len() * size_of::<Replica>()) as u64
    }

    /// Whether the table can be one of a drive of such a layout.
    pub fn fits(&self, layout: &Layout) -> bool {
        let entries = self.entries.len() as u32;
        self.made_in.len() == layout.units() as usize
            && self.made_in.iter().flatten().chain(&self.free).all(|&entry| entry < entries)
            && self.iter().all(|(_, replica)| replica.replica.0 < layout.pages())
    }
}

impl SideTable for Replicas {
    fn pages_of(&self, entry: u32, _: Lpn, each: &mut dyn FnMut(Ppn)) {
        each(self.entries[entry as usize].replica);
    }

    fn relink(&mut self, entry: u32, from: Ppn, to: Ppn) {
        let replica = &mut self.entries[entry as usize];
        debug_assert_eq!(replica.original, from);
        replica.original = to;
    }

    fn each_page(&self, each: &mut dyn FnMut(u32, Ppn)) {
        self.iter().for_each(|(entry, replica)| each(entry, replica.original));
    }

    fn reads_live_pages(&self) -> bool {
        false
    }

    fn audit(&self, entry: u32, logical_pages: u32) -> Result<(), String> {
        let due = u32::from(self.entries[entry as usize] != FREE);
        if logical_pages == due {
            return Ok(());
        }
        Err(format!("{logical_pages} logical pages name replica {entry}, {due} should"))
    }

    fn entries(&self) -> u32 {
        self.entries.len() as u32
    }
}
