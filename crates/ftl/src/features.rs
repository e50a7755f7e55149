//! Named sets of features on the path of every page. Each set is compiled separately; a drive pays only for features it
//! uses.
//!
//! A set exists only where a benchmark shows a benefit (`docs/decisions/0016-feature-sets.md`). A drive takes the
//! smallest set that has all features it needs.

/// The features that a set compiles in. A drive must not need a feature that its set lacks; a feature in the set is
/// still checked at run time.
pub(crate) trait Features {
    /// A separator that inspects pages, or update blocks.
    const INSPECTS: bool;
    /// Paced victims, or jobs that take steps along with host writes.
    const PACED: bool;
    /// A leveler that is notified of reads.
    const READS: bool;
    /// Side tables.
    const SIDES: bool;
    /// Flash pages that hold several logical pages.
    const PACKED: bool;
    /// Groups of writes that stay in one domain.
    const GROUPS: bool;
    /// Modes of erases.
    const SCALES: bool;
    /// Deduplication or compression of host writes.
    const REDUCES: bool;
    /// Program contexts of written pages, by which collection may be timed.
    const WRITERS: bool;
}

/// No feature: the page goes to the next open unit.
pub(crate) struct Plain;

impl Features for Plain {
    const INSPECTS: bool = false;
    const PACED: bool = false;
    const READS: bool = false;
    const SIDES: bool = false;
    const PACKED: bool = false;
    const GROUPS: bool = false;
    const SCALES: bool = false;
    const REDUCES: bool = false;
    const WRITERS: bool = false;
}

/// Only a separator that inspects pages.
pub(crate) struct Inspecting;

impl Features for Inspecting {
    const INSPECTS: bool = true;
    const PACED: bool = false;
    const READS: bool = false;
    const SIDES: bool = false;
    const PACKED: bool = false;
    const GROUPS: bool = false;
    const SCALES: bool = false;
    const REDUCES: bool = false;
    const WRITERS: bool = false;
}

/// All features except the reduction of host writes.
pub(crate) struct All;

impl Features for All {
    const INSPECTS: bool = true;
    const PACED: bool = true;
    const READS: bool = true;
    const SIDES: bool = true;
    const PACKED: bool = true;
    const GROUPS: bool = true;
    const SCALES: bool = true;
    const REDUCES: bool = false;
    const WRITERS: bool = true;
}

/// All features.
pub(crate) struct Reduces;

impl Features for Reduces {
    const INSPECTS: bool = true;
    const PACED: bool = true;
    const READS: bool = true;
    const SIDES: bool = true;
    const PACKED: bool = true;
    const GROUPS: bool = true;
    const SCALES: bool = true;
    const REDUCES: bool = true;
    const WRITERS: bool = true;
}
