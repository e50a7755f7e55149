//! Data at rest: data that lie where they were first written, in order. Most of a large drive is such data.
//!
//! Neither direction of the map stores them: where all of them lie follows from where a few of them do. Filling a drive
//! thus takes neither time nor memory for them; pages that move later are then stored in the map.
//!
//! The pages of a stretch (as many as a unit of each domain holds) form a row: one unit of each domain, filled in turn,
//! one flash page at a time.

use floatgate_base::{FastDiv, IdVec, Lpn, Ppn, UnitId};
use floatgate_flash::Layout;

/// A stretch or a unit in no row, or a position of a row without unit.
const NONE: u32 = u32::MAX;

/// The rows.
#[derive(Clone, Debug)]
pub(crate) struct AtRest {
    domains: FastDiv,
    pages_per_unit: u32,
    subpage_shift: u32,
    pages_per_stretch: FastDiv,
    /// Row by stretch.
    row_of: Vec<u32>,
    /// Stretch by row.
    stretch_of: Vec<u32>,
    /// Units by row and domain.
    units: Vec<u32>,
    /// Position in `units` by unit.
    place_of: IdVec<UnitId, u32>,
}

impl AtRest {
    /// Creates rows without units for these stretches of a drive with `logical_pages`.
    pub fn new(layout: &Layout, logical_pages: u32, stretches: &[u32]) -> Self {
        let pages = layout.pages_per_unit() * layout.domains();
        let mut row_of = vec![NONE; logical_pages.div_ceil(pages) as usize];
        (0..).zip(stretches).for_each(|(row, &stretch)| row_of[stretch as usize] = row);
        Self {
            domains: FastDiv::new(layout.domains()),
            pages_per_unit: layout.pages_per_unit(),
            subpage_shift: layout.subpages().trailing_zeros(),
            pages_per_stretch: FastDiv::new(pages),
            row_of,
            stretch_of: stretches.to_vec(),
            units: vec![NONE; stretches.len() * layout.domains() as usize],
            place_of: vec![NONE; layout.units() as usize].into(),
        }
    }

    /// Adds a unit of a domain to a row.
    pub fn add(&mut self, row: u32, domain: u32, unit: UnitId) {
        let place = row * self.domains.divisor() + domain;
        self.units[place as usize] = unit.0;
        self.place_of[unit] = place;
    }

    /// Finds a page that was not written since; none if it is in no row.
    pub fn ppn_of(&self, lpn: Lpn) -> Option<Ppn> {
        let stretch = self.pages_per_stretch.quotient(lpn.0);
        let row = self.row_of[stretch as usize];
        if row == NONE {
            return None;
        }
        let in_stretch = lpn.0 - stretch * self.pages_per_stretch.divisor();
        let flash_page = in_stretch >> self.subpage_shift;
        let turn = self.domains.quotient(flash_page);
        let domain = flash_page - turn * self.domains.divisor();
        let unit = self.units[(row * self.domains.divisor() + domain) as usize];
        let in_flash_page = in_stretch & ((1 << self.subpage_shift) - 1);
        (unit != NONE).then(|| Ppn(unit * self.pages_per_unit + (turn << self.subpage_shift) + in_flash_page))
    }

    /// Returns the logical page at a position of a row, unless it has moved; none if this is no such position.
    pub fn lpn_of(&self, ppn: Ppn) -> Option<Lpn> {
        let unit = UnitId(ppn.0 / self.pages_per_unit);
        let place = self.place_of[unit];
        if place == NONE {
            return None;
        }
        let (row, in_unit) = (self.domains.quotient(place), ppn.0 - unit.0 * self.pages_per_unit);
        let domain = place - row * self.domains.divisor();
        let flash_page = (in_unit >> self.subpage_shift) * self.domains.divisor() + domain;
        let in_flash_page = in_unit & ((1 << self.subpage_shift) - 1);
        let first = self.stretch_of[row as usize] * self.pages_per_stretch.divisor();
        Some(Lpn(first + (flash_page << self.subpage_shift) + in_flash_page))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::Rng;
    use floatgate_flash::Scope;
    use floatgate_nand::Geometry;

    /// Both directions agree, each page of a row has a position of its own, and consecutive flash pages go to the
    /// domains in turn.
    #[test]
    fn rows_hold_their_pages_once_each_in_turn() {
        for case in 0..200 {
            let mut rng = Rng::new(case, "rows at rest");
            let mut up_to = |n| 1 + rng.below(n) as u32;
            let subpages = 1 << (up_to(3) - 1);
            let geometry = Geometry {
                channels: up_to(3),
                chips_per_channel: up_to(2),
                dies_per_chip: up_to(2),
                planes_per_die: up_to(2),
                blocks_per_plane: 4 + up_to(10),
                pages_per_block: subpages * up_to(9),
                page_bytes: 4096,
            };
            let scope = if case % 2 == 0 { Scope::Plane } else { Scope::Superblock };
            let layout = Layout::new(geometry, scope).with_subpages(subpages);
            let pages = layout.pages_per_unit() * layout.domains();
            let logical = pages * 3 + up_to(u64::from(pages)) - 1;
            let mut at_rest = AtRest::new(&layout, logical, &[0, 2]);
            let units_per_domain = layout.units() / layout.domains();
            let unit = |row: u32, domain: u32| UnitId(domain * units_per_domain + 1 + 2 * row);
            for (row, domain) in (0..2).flat_map(|row| (0..layout.domains()).map(move |domain| (row, domain)))
            {
                at_rest.add(row, domain, unit(row, domain));
            }
            for lpn in Lpn::each(Lpn(0)..Lpn(logical)) {
                let stretch = lpn.0 / pages;
                let ppn = at_rest.ppn_of(lpn);
                assert_eq!(ppn.is_some(), [0, 2].contains(&stretch), "case {case}: {lpn}");
                let Some(ppn) = ppn else { continue };
                assert_eq!(at_rest.lpn_of(ppn), Some(lpn), "case {case}");
                let flash_page = lpn.0 % pages / subpages;
                let domain = flash_page % layout.domains();
                assert_eq!(layout.unit_of(ppn), unit(stretch / 2, domain), "case {case}: {lpn}");
                assert_eq!(
                    (ppn - layout.first_page(layout.unit_of(ppn))) / subpages,
                    flash_page / layout.domains(),
                    "case {case}: {lpn}"
                );
            }
            let held = Ppn::each(Ppn(0)..Ppn(layout.pages())).filter(|&ppn| at_rest.lpn_of(ppn).is_some());
            assert_eq!(held.count() as u32, 2 * pages, "case {case}");
        }
    }
}
