//! The placement of erase units and pages on channels, chips, dies and planes.
//!
//! The FTL sees pools (domains) of erase units; a physical page is `unit * pages_per_unit + offset`. Only this file
//! distinguishes blocks and superblocks, and every mechanism and policy works in both scopes.
//! `ftl.allocation.order` permutes the levels by which planes are numbered.
//!
//! A page of the map may be smaller than a page of the flash. Only the array handles the difference: it programs a
//! flash page once it is full, serves pages of an incomplete flash page from the controller, and reads the source of
//! moves by flash page. The FTL fills one flash page per stream at a time, and pads those that a job leaves incomplete
//! (`docs/decisions/0018-mapping-units.md`).

use floatgate_base::{DomainId, FastDiv, Ppn, UnitId};
use floatgate_nand::Geometry;

/// The unit of collection and erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Each plane manages its own blocks.
    Plane,
    /// The blocks with one number on all planes form a superblock that is filled, collected and erased as one.
    Superblock,
}

/// Address of a page on the chips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// Channel.
    pub channel: u32,
    /// Chip on its channel.
    pub chip: u32,
    /// Die in its chip.
    pub die: u32,
    /// Plane in its die.
    pub plane: u32,
    /// Block in its plane.
    pub block: u32,
    /// Page in its block.
    pub page: u32,
}

/// A level of parallelism of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Channels.
    Channel,
    /// Chips (ways) of a channel.
    Chip,
    /// Dies of a chip.
    Die,
    /// Planes of a die.
    Plane,
}

/// The levels in the default order of allocation; the first varies fastest.
pub const ALLOCATION_ORDER: [Level; 4] = [Level::Channel, Level::Chip, Level::Die, Level::Plane];

/// Names of the levels; a chip on its channel is also called a way.
pub const LEVELS: &[(&str, Level)] = &[
    ("channel", Level::Channel),
    ("chip", Level::Chip),
    ("way", Level::Chip),
    ("die", Level::Die),
    ("plane", Level::Plane),
];

/// The drive as seen by the FTL: `domains` pools of `units_per_domain` erase units of `pages_per_unit` pages.
///
/// A page is a page of the map (`ftl.mapping_bytes`). A page of the flash, a *flash page*, may hold several of them;
/// the geometry then counts pages of the map, too.
///
/// A domain is a plane under plane scope and the whole drive under superblock scope. Planes are numbered in the order
/// of allocation, by default channel first, then chip, die, plane; round-robin is plain counting.
#[derive(Clone, Debug)]
pub struct Layout {
    geometry: Geometry,
    scope: Scope,
    order: [Level; 4],
    pages_per_unit: FastDiv,
    units_per_domain: FastDiv,
    domains: u32,
    /// Logarithm of the pages of the map per flash page.
    subpage_shift: u32,
    /// Channel, chip, die and plane by plane number.
    places: Vec<(u32, u32, u32, u32)>,
    /// By plane number: the chip, with those of the first channel first.
    chip_of_plane: Vec<u32>,
}

impl Layout {
    /// Creates the layout of a valid geometry.
    #[must_use]
    pub fn new(geometry: Geometry, scope: Scope) -> Self {
        let (domains, pages_per_unit) = match scope {
            Scope::Plane => (geometry.planes(), geometry.pages_per_block),
            Scope::Superblock => (1, geometry.pages_per_block * geometry.planes()),
        };
        let layout = Self {
            geometry,
            scope,
            order: ALLOCATION_ORDER,
            pages_per_unit: FastDiv::new(pages_per_unit),
            units_per_domain: FastDiv::new(geometry.blocks_per_plane),
            domains,
            subpage_shift: 0,
            places: Vec::new(),
            chip_of_plane: Vec::new(),
        };
        layout.with_order(ALLOCATION_ORDER)
    }

    /// Sets the number of pages per flash page, a power of two that divides the pages of a block.
    #[must_use]
    pub fn with_subpages(mut self, subpages: u32) -> Self {
        self.subpage_shift = subpages.trailing_zeros();
        self
    }

    /// Sets another order of allocation, which names each level once.
    #[must_use]
    pub fn with_order(mut self, order: [Level; 4]) -> Self {
        self.order = order;
        let g = &self.geometry;
        self.places = (0..g.planes()).map(|plane| place(g, order, plane)).collect();
        self.chip_of_plane =
            self.places.iter().map(|(channel, chip, ..)| channel * g.chips_per_channel + chip).collect();
        self
    }

    /// Returns the pages of the map per flash page.
    #[inline]
    #[must_use]
    pub fn subpages(&self) -> u32 {
        1 << self.subpage_shift
    }

    /// Returns whether several pages of the map share a flash page.
    #[inline]
    #[must_use]
    pub fn is_packed(&self) -> bool {
        self.subpage_shift > 0
    }

    /// Returns the number of the flash page that holds a page.
    #[inline]
    #[must_use]
    pub fn flash_page_of(&self, ppn: Ppn) -> u32 {
        ppn.0 >> self.subpage_shift
    }

    /// Splits a run of pages at flash page boundaries: the first page and the length of each piece.
    pub fn by_flash_page(&self, first: Ppn, pages: u32) -> impl Iterator<Item = (Ppn, u32)> + use<> {
        let (end, mask) = (first.0 + pages, self.subpages() - 1);
        let begin = move |from: u32| (from < end).then_some(from);
        let pieces = std::iter::successors(begin(first.0), move |&from| begin((from | mask) + 1));
        pieces.map(move |from| (Ppn(from), ((from | mask) + 1).min(end) - from))
    }

    /// Returns the number of pages still to be written before the flash page of `next` is full; 0 if `next` begins one.
    #[inline]
    #[must_use]
    pub fn left_of_flash_page(&self, next: Ppn) -> u32 {
        next.0.wrapping_neg() & (self.subpages() - 1)
    }

    /// Returns the underlying geometry, in pages of the map.
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Returns the scope of collection.
    #[must_use]
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// Returns the number of domains.
    #[must_use]
    pub fn domains(&self) -> u32 {
        self.domains
    }

    /// Returns the number of erase units per domain.
    #[must_use]
    pub fn units_per_domain(&self) -> u32 {
        self.units_per_domain.divisor()
    }

    /// Returns the number of erase units of the drive.
    #[must_use]
    pub fn units(&self) -> u32 {
        self.domains * self.units_per_domain()
    }

    /// Returns the pages per erase unit.
    #[inline]
    #[must_use]
    pub fn pages_per_unit(&self) -> u32 {
        self.pages_per_unit.divisor()
    }

    /// Returns the number of blocks per erase unit.
    #[must_use]
    pub fn blocks_per_unit(&self) -> u32 {
        match self.scope {
            Scope::Plane => 1,
            Scope::Superblock => self.geometry.planes(),
        }
    }

    /// Returns the number of pages of the drive.
    #[must_use]
    pub fn pages(&self) -> u32 {
        self.units() * self.pages_per_unit()
    }

    /// Returns the unit that holds a page.
    #[inline]
    #[must_use]
    pub fn unit_of(&self, ppn: Ppn) -> UnitId {
        UnitId(self.pages_per_unit.quotient(ppn.0))
    }

    /// Returns the block that holds a page, numbered over the drive; blocks of a unit are consecutive.
    #[inline]
    #[must_use]
    pub fn block_of(&self, ppn: Ppn) -> u32 {
        let unit = self.unit_of(ppn);
        match self.scope {
            Scope::Plane => unit.0,
            Scope::Superblock => {
                let planes = self.geometry.planes();
                unit.0 * planes + ((ppn - self.first_page(unit)) >> self.subpage_shift) % planes
            }
        }
    }

    /// Returns the number of a page's flash page in its block.
    #[inline]
    #[must_use]
    pub fn page_in_block(&self, ppn: Ppn) -> u32 {
        let flash_page = (ppn - self.first_page(self.unit_of(ppn))) >> self.subpage_shift;
        match self.scope {
            Scope::Plane => flash_page,
            Scope::Superblock => flash_page / self.geometry.planes(),
        }
    }

    /// Returns the number of a page's block in its plane.
    #[inline]
    #[must_use]
    pub fn block_in_plane(&self, ppn: Ppn) -> u32 {
        let unit = self.unit_of(ppn);
        match self.scope {
            Scope::Plane => self.units_per_domain.remainder(unit.0),
            Scope::Superblock => unit.0,
        }
    }

    /// Returns the domain that holds a unit.
    #[inline]
    #[must_use]
    pub fn domain_of(&self, unit: UnitId) -> DomainId {
        DomainId(self.units_per_domain.quotient(unit.0))
    }

    /// Returns the next domain in turn.
    #[inline]
    #[must_use]
    pub fn domain_after(&self, domain: DomainId) -> DomainId {
        DomainId(if domain.0 + 1 == self.domains { 0 } else { domain.0 + 1 })
    }

    /// Returns the first page of a unit.
    #[inline]
    #[must_use]
    pub fn first_page(&self, unit: UnitId) -> Ppn {
        Ppn(unit.0 * self.pages_per_unit())
    }

    /// Returns the address of a page's flash page on the chips. Flash pages of a superblock are striped over the planes
    /// in allocation order.
    #[must_use]
    pub fn address(&self, ppn: Ppn) -> Address {
        let (channel, chip, die, plane) = self.place_of_plane(self.plane_number(ppn));
        Address { channel, chip, die, plane, block: self.block_in_plane(ppn), page: self.page_in_block(ppn) }
    }

    /// Returns the plane number of a page, in the order of allocation.
    #[inline(always)]
    fn plane_number(&self, ppn: Ppn) -> u32 {
        let unit = self.unit_of(ppn);
        match self.scope {
            Scope::Plane => self.domain_of(unit).0,
            Scope::Superblock => {
                ((ppn - self.first_page(unit)) >> self.subpage_shift) % self.geometry.planes()
            }
        }
    }

    /// Returns the chip of a page; chips of the first channel come first.
    #[inline]
    #[must_use]
    pub fn chip_of(&self, ppn: Ppn) -> u32 {
        self.chip_of_plane[self.plane_number(ppn) as usize]
    }

    /// Returns channel, chip, die and plane of a plane number in the order of allocation.
    #[inline]
    #[must_use]
    pub fn place_of_plane(&self, plane_number: u32) -> (u32, u32, u32, u32) {
        self.places[plane_number as usize]
    }

    /// Returns the die of a plane number in the order of allocation. Dies are numbered with the channel as the lowest
    /// part, then the chip.
    #[must_use]
    pub fn die_of_plane(&self, plane_number: u32) -> u32 {
        let g = &self.geometry;
        let (channel, chip, die, _) = self.place_of_plane(plane_number);
        (die * g.chips_per_channel + chip) * g.channels + channel
    }
}

/// Computes channel, chip, die and plane of a plane number: its digits, the first level of the order the lowest.
fn place(g: &Geometry, order: [Level; 4], plane_number: u32) -> (u32, u32, u32, u32) {
    let (mut rest, mut at) = (plane_number, [0; 4]);
    for level in order {
        let count = [g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die][level as usize];
        (at[level as usize], rest) = (rest % count, rest / count);
    }
    (at[0], at[1], at[2], at[3])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const GEOMETRY: Geometry = Geometry {
        channels: 2,
        chips_per_channel: 3,
        dies_per_chip: 2,
        planes_per_die: 2,
        blocks_per_plane: 5,
        pages_per_block: 6,
        page_bytes: 4096,
    };

    #[test]
    fn every_page_has_its_own_address() {
        let reversed = [Level::Plane, Level::Die, Level::Chip, Level::Channel];
        let cases = [ALLOCATION_ORDER, reversed].map(|o| [(Scope::Plane, o), (Scope::Superblock, o)]);
        for (scope, order) in cases.into_iter().flatten() {
            let layout = Layout::new(GEOMETRY, scope).with_order(order);
            assert_eq!(u64::from(layout.pages()), GEOMETRY.pages());
            let seen: BTreeSet<_> = Ppn::all(layout.pages())
                .map(|ppn| {
                    let a = layout.address(ppn);
                    assert!(
                        a.channel < 2 && a.chip < 3 && a.die < 2 && a.plane < 2 && a.block < 5 && a.page < 6
                    );
                    assert_eq!(layout.chip_of(ppn), a.channel * 3 + a.chip);
                    (a.channel, a.chip, a.die, a.plane, a.block, a.page)
                })
                .collect();
            assert_eq!(seen.len() as u64, GEOMETRY.pages());
        }
    }

    #[test]
    fn allocation_order_is_channel_chip_die_plane() {
        let layout = Layout::new(GEOMETRY, Scope::Superblock);
        let at = |ppn| {
            let a = layout.address(Ppn(ppn));
            (a.channel, a.chip, a.die, a.plane)
        };
        assert_eq!(
            [at(0), at(1), at(2), at(6), at(12)],
            [(0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)]
        );
        let layout = layout.with_order([Level::Plane, Level::Chip, Level::Channel, Level::Die]);
        assert_eq!(
            [0, 1, 2, 6, 12].map(|n| layout.place_of_plane(n)),
            [(0, 0, 0, 0), (0, 0, 0, 1), (0, 1, 0, 0), (1, 0, 0, 0), (0, 0, 1, 0)]
        );
        // Die 1 of chip 2 on channel 1, with two channels and three chips.
        assert_eq!(layout.place_of_plane(22), (1, 2, 1, 0));
        assert_eq!(layout.die_of_plane(22), (3 + 2) * 2 + 1);
    }

    #[test]
    fn a_number_of_a_block_stands_for_one_place() {
        for (scope, subpages) in [(Scope::Plane, 1), (Scope::Superblock, 1), (Scope::Superblock, 2)] {
            let layout = Layout::new(GEOMETRY, scope).with_subpages(subpages);
            let mut places = std::collections::BTreeMap::new();
            for ppn in Ppn::all(layout.pages()) {
                let a = layout.address(ppn);
                let place = (a.channel, a.chip, a.die, a.plane, a.block);
                assert_eq!(*places.entry(layout.block_of(ppn)).or_insert(place), place);
                assert_eq!(layout.block_of(ppn) / layout.blocks_per_unit(), layout.unit_of(ppn).0);
            }
            let numbers: Vec<u32> = places.keys().copied().collect();
            assert_eq!(numbers, (0..layout.units() * layout.blocks_per_unit()).collect::<Vec<_>>());
            assert_eq!(places.values().collect::<BTreeSet<_>>().len(), numbers.len());
        }
    }

    #[test]
    fn pieces_end_where_flash_pages_do() {
        let layout = Layout::new(GEOMETRY, Scope::Plane).with_subpages(4);
        let pieces = |first, pages| -> Vec<_> {
            layout.by_flash_page(Ppn(first), pages).map(|(ppn, n)| (ppn.0, n)).collect()
        };
        assert_eq!(pieces(8, 8), [(8, 4), (12, 4)]);
        assert_eq!(pieces(5, 9), [(5, 3), (8, 4), (12, 2)]);
        assert_eq!(pieces(6, 1), [(6, 1)]);
        assert_eq!(pieces(7, 2), [(7, 1), (8, 1)]);
        assert_eq!(pieces(4, 0), []);
    }
}
