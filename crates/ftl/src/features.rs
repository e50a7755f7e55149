//! What a drive needs on the path of every page, as named sets: each set is compiled for itself, so that a drive pays for
//! nothing that it has not.
//!
//! A set is built only where a benchmark says that it pays (`docs/decisions/0016-feature-sets.md`); a drive takes the
//! smallest set that has all it needs.

/// What a set has. A feature that it has not, no drive that takes it may need; one that it has is still asked for.
pub(crate) trait Features {
    /// A separator that looks at pages, update blocks included.
    const LOOKS: bool;
    /// Victims that are collected at a pace, or jobs that take steps with host writes.
    const PACED: bool;
    /// A leveler that hears of reads.
    const READS: bool;
    /// Side tables.
    const SIDES: bool;
    /// Flash pages that hold several pages of the map.
    const PACKED: bool;
    /// Groups of writes that stay in one domain.
    const GROUPS: bool;
    /// Deduplication or compression of host writes.
    const REDUCES: bool;
}

/// None of them: the page goes to the next open unit.
pub(crate) struct Plain;

impl Features for Plain {
    const LOOKS: bool = false;
    const PACED: bool = false;
    const READS: bool = false;
    const SIDES: bool = false;
    const PACKED: bool = false;
    const GROUPS: bool = false;
    const REDUCES: bool = false;
}

/// A separator that looks at pages.
pub(crate) struct Looks;

impl Features for Looks {
    const LOOKS: bool = true;
    const PACED: bool = false;
    const READS: bool = false;
    const SIDES: bool = false;
    const PACKED: bool = false;
    const GROUPS: bool = false;
    const REDUCES: bool = false;
}

/// Everything but reduction of host writes.
pub(crate) struct All;

impl Features for All {
    const LOOKS: bool = true;
    const PACED: bool = true;
    const READS: bool = true;
    const SIDES: bool = true;
    const PACKED: bool = true;
    const GROUPS: bool = true;
    const REDUCES: bool = false;
}

/// Everything.
pub(crate) struct Reduces;

impl Features for Reduces {
    const LOOKS: bool = true;
    const PACED: bool = true;
    const READS: bool = true;
    const SIDES: bool = true;
    const PACKED: bool = true;
    const GROUPS: bool = true;
    const REDUCES: bool = true;
}
