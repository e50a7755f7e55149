//! Closed units in no order, for sampling.

use crate::units::{NOT_INDEXED, UnitMeta};
use floatgate_base::{IdSlice, UnitId};
use serde::{Deserialize, Serialize};

/// The closed units of one domain, densely packed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Slots {
    units: Vec<UnitId>,
}

impl Slots {
    /// Creates an empty pool with room for `units`.
    #[must_use]
    pub fn new(units: u32) -> Self {
        Self { units: Vec::with_capacity(units as usize) }
    }

    /// Returns the units.
    #[must_use]
    pub fn units(&self) -> &[UnitId] {
        &self.units
    }

    /// Inserts a unit.
    pub fn insert(&mut self, unit: UnitId, meta: &mut IdSlice<UnitId, UnitMeta>) {
        meta[unit].pos = self.units.len() as u32;
        self.units.push(unit);
    }

    /// Verifies that each unit knows its slot; calls `hold` with every unit.
    ///
    /// # Errors
    /// Names the unit with a wrong slot.
    pub fn audit(
        &self,
        meta: &IdSlice<UnitId, UnitMeta>,
        hold: &mut impl FnMut(UnitId) -> Result<(), String>,
    ) -> Result<(), String> {
        for (slot, &unit) in (0..).zip(&self.units) {
            hold(unit)?;
            if meta[unit].pos != slot {
                return Err(format!("unit {unit} is in slot {slot}, but its record says {}", meta[unit].pos));
            }
        }
        Ok(())
    }

    /// Removes a unit.
    pub fn remove(&mut self, unit: UnitId, meta: &mut IdSlice<UnitId, UnitMeta>) {
        let at = meta[unit].pos;
        self.units.swap_remove(at as usize);
        if let Some(&moved) = self.units.get(at as usize) {
            meta[moved].pos = at;
        }
        meta[unit].pos = NOT_INDEXED;
    }
}
