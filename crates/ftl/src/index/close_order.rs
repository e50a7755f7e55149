//! Closed units in the order in which they were closed: an intrusive list.

use crate::units::{NOT_INDEXED, UnitMeta, Units};
use floatgate_base::UnitId;
use serde::{Deserialize, Serialize};

const NIL: u32 = u32::MAX;

/// The lists of all domains; 8 bytes a unit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CloseOrder {
    links: Vec<(u32, u32)>,
    ends: Vec<(u32, u32)>,
}

impl CloseOrder {
    /// Empty lists.
    #[must_use]
    pub fn new(domains: u32, units_per_domain: u32) -> Self {
        Self {
            links: vec![(NIL, NIL); (domains * units_per_domain) as usize],
            ends: vec![(NIL, NIL); domains as usize],
        }
    }

    /// The unit that was closed first.
    #[must_use]
    pub fn oldest(&self, domain: u32) -> Option<UnitId> {
        let head = self.ends[domain as usize].0;
        (head != NIL).then_some(head)
    }

    /// Takes in a unit as the youngest.
    pub fn insert(&mut self, domain: u32, unit: UnitId, meta: &mut [UnitMeta]) {
        let (head, tail) = self.ends[domain as usize];
        self.links[unit as usize] = (tail, NIL);
        if tail == NIL {
            self.ends[domain as usize] = (unit, unit);
        } else {
            self.links[tail as usize].1 = unit;
            self.ends[domain as usize] = (head, unit);
        }
        meta[unit as usize].pos = 0;
    }

    /// Checks that the list runs from old to young; `hold` is told every unit.
    ///
    /// # Errors
    /// Says which unit is out of order.
    pub fn audit(
        &self,
        domain: u32,
        units: &Units,
        hold: &mut impl FnMut(UnitId) -> Result<(), String>,
    ) -> Result<(), String> {
        let (mut unit, mut before, mut last) = (self.ends[domain as usize].0, NIL, 0);
        while unit != NIL {
            hold(unit)?;
            let closed_at = units.closed_at[unit as usize];
            if closed_at < last || self.links[unit as usize].0 != before {
                return Err(format!(
                    "unit {unit}, closed at {closed_at}, stands out of order in the list of closed units"
                ));
            }
            (before, last) = (unit, closed_at);
            unit = self.links[unit as usize].1;
        }
        Ok(())
    }

    /// Takes out a unit.
    pub fn remove(&mut self, domain: u32, unit: UnitId, meta: &mut [UnitMeta]) {
        let (prev, next) = self.links[unit as usize];
        let ends = &mut self.ends[domain as usize];
        match prev {
            NIL => ends.0 = next,
            p => self.links[p as usize].1 = next,
        }
        match next {
            NIL => ends.1 = prev,
            n => self.links[n as usize].0 = prev,
        }
        meta[unit as usize].pos = NOT_INDEXED;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_order_through_removals() {
        let mut meta = vec![UnitMeta { valid: 0, pos: NOT_INDEXED }; 6];
        let mut list = CloseOrder::new(1, 6);
        for unit in [3, 1, 4, 5] {
            list.insert(0, unit, &mut meta);
        }
        list.remove(0, 4, &mut meta);
        list.remove(0, 3, &mut meta);
        list.insert(0, 3, &mut meta);
        let mut left = Vec::new();
        while let Some(unit) = list.oldest(0) {
            left.push(unit);
            list.remove(0, unit, &mut meta);
        }
        assert_eq!(left, [1, 5, 3]);
    }
}
