//! The drive as a manager sees it.

use super::sums::Sums;
use super::tails::Tails;
use crate::owners::Mapping;
use crate::units::{NOT_INDEXED, Units};
use floatgate_base::{Ppn, Rng, UnitId};
use floatgate_flash::Layout;
use floatgate_nand::Disturb;

/// The drive, read-only except for the manager's random stream.
pub struct DisturbView<'a> {
    /// Shape of the drive.
    pub layout: &'a Layout,
    /// The model of read disturb.
    pub disturb: &'a Disturb,
    pub(super) units: &'a Units,
    pub(super) mapping: &'a Mapping,
    pub(super) sums: &'a Sums,
    pub(super) tails: &'a Tails,
    /// In a request, the free units of the domain beyond those at which its collection begins.
    pub spare_units: u32,
    /// Random numbers of the run.
    pub rng: &'a mut Rng,
}

impl DisturbView<'_> {
    /// Returns the mode that follows that of a unit.
    #[must_use]
    pub fn mode_after(&self, unit: UnitId) -> u8 {
        (self.sums.mode_of(unit) + 1).min(self.disturb.last_mode())
    }

    /// Returns the live pages of a unit, ascending.
    #[must_use]
    pub fn live_pages(&self, unit: UnitId) -> Vec<Ppn> {
        let first = self.layout.first_page(unit);
        let mut pages = Vec::new();
        self.mapping.for_each(first..first + self.layout.pages_per_unit(), |ppn, _| pages.push(ppn));
        pages
    }

    /// Returns the largest sum of a unit's blocks, thousandths of a read.
    #[must_use]
    pub fn sum_of(&self, unit: UnitId) -> u32 {
        self.sums.of_unit(unit)
    }

    /// Checks whether a unit is closed, and not being emptied.
    #[must_use]
    pub fn is_closed(&self, unit: UnitId) -> bool {
        self.units.meta[unit].pos != NOT_INDEXED
    }

    /// Returns the pages left for replicas in a unit.
    #[must_use]
    pub fn tail_room(&self, unit: UnitId) -> u32 {
        self.tails.room(unit)
    }

    /// Checks whether a unit holds replicas that are read.
    #[must_use]
    pub fn holds_replicas(&self, unit: UnitId) -> bool {
        self.mapping.replicas().is_some_and(|replicas| replicas.held_by(self.layout, unit).next().is_some())
    }

    /// Returns the type of a page.
    #[must_use]
    pub fn type_of(&self, ppn: Ppn) -> u32 {
        self.layout.page_in_block(ppn) % self.disturb.types
    }
}
