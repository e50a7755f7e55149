//! Closed units in the order of closing.

use crate::index::Lists;
use crate::units::{NOT_INDEXED, UnitMeta, Units};
use floatgate_base::{DomainId, IdSlice, UnitId};
use serde::{Deserialize, Serialize};

/// The lists of all domains; 8 bytes per unit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CloseOrder(Lists);

impl CloseOrder {
    /// Creates empty lists.
    #[must_use]
    pub fn new(domains: u32, units_per_domain: u32) -> Self {
        Self(Lists::new(domains, domains * units_per_domain))
    }

    /// Returns the unit that was closed first.
    #[must_use]
    pub fn oldest(&self, domain: DomainId) -> Option<UnitId> {
        self.0.first(domain)
    }

    /// Returns the units closed just before and just after each, `UnitId::MAX` for none.
    #[must_use]
    pub fn links(&self) -> &[[UnitId; 2]] {
        self.0.links()
    }

    /// Inserts a unit as the youngest.
    pub fn insert(&mut self, domain: DomainId, unit: UnitId, meta: &mut IdSlice<UnitId, UnitMeta>) {
        self.0.push_back(domain, unit);
        meta[unit].pos = 0;
    }

    /// Inserts a unit that was the oldest as the oldest again.
    pub fn put_back(&mut self, domain: DomainId, unit: UnitId, meta: &mut IdSlice<UnitId, UnitMeta>) {
        self.0.push_front(domain, unit);
        meta[unit].pos = 0;
    }

    /// Removes a unit.
    pub fn remove(&mut self, domain: DomainId, unit: UnitId, meta: &mut IdSlice<UnitId, UnitMeta>) {
        self.0.remove(domain, unit);
        meta[unit].pos = NOT_INDEXED;
    }

    /// Verifies that the list runs from old to young; calls `hold` with every unit.
    ///
    /// # Errors
    /// Names the unit out of order.
    pub fn audit(
        &self,
        domain: DomainId,
        units: &Units,
        hold: &mut impl FnMut(UnitId) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut last = 0;
        for unit in self.0.iter(domain) {
            hold(unit)?;
            let closed_at = units.closed_at[unit];
            if closed_at < last {
                return Err(format!(
                    "unit {unit}, closed at {closed_at}, is out of order in the list of closed units"
                ));
            }
            last = closed_at;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::IdVec;
    use floatgate_base::testing::Bound;

    #[test]
    fn keeps_the_order_through_removals() {
        let mut meta = IdVec::filled(UnitMeta { valid: 0, pos: NOT_INDEXED }, 6);
        let mut list = CloseOrder::new(1, 6);
        for unit in [3, 1, 4, 5].map(UnitId) {
            list.insert(DomainId(0), unit, &mut meta);
        }
        list.remove(DomainId(0), UnitId(4), &mut meta);
        list.remove(DomainId(0), UnitId(3), &mut meta);
        list.insert(DomainId(0), UnitId(3), &mut meta);
        let mut left = Vec::new();
        let mut bound = Bound::new(100_000_000);
        while let Some(unit) = list.oldest(DomainId(0)) {
            bound.step();
            left.push(unit);
            list.remove(DomainId(0), unit, &mut meta);
        }
        assert_eq!(left, [1, 5, 3].map(UnitId));
    }
}
