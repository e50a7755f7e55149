//! Replicas: logical pages that lie on two physical pages, of which the second is read (redFTL's replica mapping
//! table).
//!
//! The original is the live page, which moves and dies as any other. The replica is in the tail of another unit and
//! counts as dead: it is not moved when that unit is emptied. It dies with its original or with its unit; its logical
//! page is then a plain one again.

use super::SideTable;
use floatgate_base::{IdVec, Lpn, Ppn, UnitId};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// Counters of replicas since counting began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplicaCounters {
    /// Made.
    pub made: u64,
    /// Died because the host rewrote or trimmed the page.
    pub died_by_update: u64,
    /// Died because their unit was erased.
    pub died_by_erase: u64,
    /// Took their original's place.
    pub promoted: u64,
}

/// An entry of the table.
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
    /// Entries free for reuse.
    free: Vec<u32>,
    /// Entries by unit that received the replica; those that died since are skipped.
    made_in: IdVec<UnitId, Vec<u32>>,
    pub counters: ReplicaCounters,
}

impl Replicas {
    /// Creates an empty table.
    pub fn new(layout: &Layout) -> Self {
        Self { made_in: IdVec::filled(Vec::new(), layout.units()), ..Self::default() }
    }

    /// Adds a replica and returns the entry, which the caller must enter in the map.
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

    /// Returns an entry in use.
    #[inline(always)]
    pub fn get(&self, entry: u32) -> Replica {
        self.entries[entry as usize]
    }

    /// Yields all entries in use.
    pub fn iter(&self) -> impl Iterator<Item = (u32, Replica)> + '_ {
        (0..).zip(self.entries.iter().copied()).filter(|(_, replica)| *replica != FREE)
    }

    /// Yields the replicas that a unit holds.
    pub fn held_by<'a>(
        &'a self,
        layout: &'a Layout,
        unit: UnitId,
    ) -> impl Iterator<Item = (u32, Replica)> + 'a {
        let made = self.made_in.get(unit).into_iter().flatten();
        let held = made.map(|&entry| (entry, self.entries[entry as usize]));
        held.filter(move |(_, replica)| *replica != FREE && layout.unit_of(replica.replica) == unit)
    }

    /// Removes a replica; the caller makes its logical page a plain one.
    pub fn remove(&mut self, entry: u32) -> Replica {
        self.free.push(entry);
        std::mem::replace(&mut self.entries[entry as usize], FREE)
    }

    /// Removes a replica whose page the host rewrote or trimmed; returns where the original lies.
    pub fn release(&mut self, entry: u32) -> Ppn {
        self.counters.died_by_update += 1;
        self.remove(entry).original
    }

    /// Forgets the entries of an erased unit.
    pub fn erased(&mut self, unit: UnitId) {
        if let Some(made) = self.made_in.get_mut(unit) {
            made.clear();
        }
    }

    /// Returns the bytes of the table.
    pub fn memory_bytes(&self) -> u64 {
        (self.entries.len() * size_of::<Replica>()) as u64
    }

    /// Checks whether the table fits a drive of this layout.
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
