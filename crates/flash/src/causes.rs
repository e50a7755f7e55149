//! The causes of flash operations, and the counters by cause.
//!
//! A cause is a row of the table below, which determines counters, results, series, colours and legends.

use crate::Class;
use floatgate_nand::disturb::MODES_MAX;
use serde::{Deserialize, Serialize};

/// The properties of a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CauseInfo {
    /// The cause.
    pub cause: Cause,
    /// The name in results.
    pub name: &'static str,
    /// The name in prose.
    pub label: &'static str,
    /// Priority class of its programs at a die. Its moves and erases are always background work.
    pub class: Class,
    /// Whether it erases blocks.
    pub erases: bool,
    /// Its position in sentences, stacks and legends.
    pub place: u8,
    /// The colour in charts, `#rrggbb`; distinct under common colour vision deficiencies.
    pub color: &'static str,
    /// The pattern drawn over the colour, for charts in black and white; empty for a plain fill. The report defines the
    /// patterns (`python/floatgate/pages/causes.py`).
    pub pattern: &'static str,
}

macro_rules! causes {
    ($($(#[$doc:meta])* $cause:ident: $name:literal, $label:literal, $class:ident, erases: $erases:literal,
        place: $place:literal, $color:literal, $pattern:literal;)*) => {
        /// Cause of a flash operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[repr(u8)]
        pub enum Cause {
            $($(#[$doc])* $cause,)*
        }

        /// The table.
        const TABLE: &[CauseInfo] = &[$(CauseInfo {
            cause: Cause::$cause,
            name: $name,
            label: $label,
            class: Class::$class,
            erases: $erases,
            place: $place,
            color: $color,
            pattern: $pattern,
        },)*];

        impl Cause {
            /// Returns the priority class of its programs at a die.
            #[inline(always)]
            #[must_use]
            pub fn class(self) -> Class {
                match self {
                    $(Self::$cause => Class::$class,)*
                }
            }
        }
    };
}

// New rows go to the end: snapshots and timelines contain the numbers of causes.
causes! {
    /// A host request for whole pages.
    Host: "host", "host", Write, erases: false, place: 0, "#0072b2", "";
    /// The read-modify-write of a host write to part of a page.
    Partial: "partial", "partial pages", Write, erases: false, place: 2, "#009e73", "dots";
    /// Garbage collection.
    Gc: "gc", "garbage collection", Background, erases: true, place: 1, "#d55e00", "diagonal";
    /// Wear-leveling beyond the choice of free blocks.
    Level: "level", "wear leveling", Background, erases: true, place: 3, "#cc79a7", "cross";
    /// Flash pages programmed before they are full.
    Padding: "padding", "padding", Write, erases: false, place: 6, "#999999", "upright";
    /// Read reclaim: moves data out of a block before reads have disturbed it too much.
    Reclaim: "reclaim", "read reclaim", Background, erases: true, place: 4, "#56b4e9", "back";
    /// Copies of frequently read pages on other blocks.
    Replica: "replica", "replicas", Background, erases: false, place: 5, "#b8860b", "rings";
    /// Collection repacks the valid pages of compressed chunks.
    Repack: "repack", "repacking", Background, erases: false, place: 7, "#4b0082", "level";
    /// The map on flash and the journal of its changes.
    Metadata: "metadata", "metadata", Write, erases: false, place: 8, "#f0e442", "grid";
}

impl Cause {
    /// All causes in the order of the counters.
    pub const ALL: [Self; TABLE.len()] = {
        let mut all = [Self::Host; TABLE.len()];
        let mut i = 0;
        while i < all.len() {
            all[i] = TABLE[i].cause;
            i += 1;
        }
        all
    };
    /// The causes that erase blocks.
    pub const ERASING: [Self; erasing()] = {
        let mut some = [Self::Host; erasing()];
        let (mut i, mut n) = (0, 0);
        while i < TABLE.len() {
            if TABLE[i].erases {
                some[n] = TABLE[i].cause;
                n += 1;
            }
            i += 1;
        }
        some
    };

    /// Returns the row of the cause.
    #[must_use]
    pub fn info(self) -> &'static CauseInfo {
        &TABLE[self as usize]
    }

    /// Returns the name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.info().name
    }
}

/// Counts the causes that erase.
const fn erasing() -> usize {
    let (mut i, mut n) = (0, 0);
    while i < TABLE.len() {
        n += TABLE[i].erases as usize;
        i += 1;
    }
    n
}

/// Operations by cause, indexed by `Cause as usize`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Pages written.
    pub programs: [u64; Cause::ALL.len()],
    /// If several pages share a flash page: flash pages programmed, by the cause of the page that filled them.
    pub packed: Option<[u64; Cause::ALL.len()]>,
    /// Flash pages programmed in blocks of modes other than 0, by mode (from 1) and cause.
    pub in_modes: [[u64; Cause::ALL.len()]; MODES_MAX - 1],
    /// Flash pages read.
    pub reads: [u64; Cause::ALL.len()],
    /// Blocks erased.
    pub erases: [u64; Cause::ALL.len()],
    /// Host reads of pages that were never written; they need no flash read.
    pub unmapped_reads: u64,
    /// Reads of pages whose flash page was not yet full; they need no flash read.
    pub gathered_reads: u64,
}

impl Counters {
    /// Creates counters at zero; `is_packed` if several pages share a flash page.
    #[must_use]
    pub fn new(is_packed: bool) -> Self {
        Self { packed: is_packed.then(Default::default), ..Self::default() }
    }

    /// Counts the flash pages programmed for a cause.
    #[must_use]
    pub fn flash_programs(&self, cause: Cause) -> u64 {
        self.packed.as_ref().unwrap_or(&self.programs)[cause as usize]
    }

    /// Counts the flash pages programmed for any cause.
    #[must_use]
    pub fn flash_programs_total(&self) -> u64 {
        self.packed.as_ref().unwrap_or(&self.programs).iter().sum()
    }

    /// Counts flash pages programmed in a mode.
    #[inline(always)]
    pub(crate) fn programmed_in(&mut self, mode: u8, cause: Cause, flash_pages: u64) {
        if let Some(row) = self.in_modes.get_mut(usize::from(mode).wrapping_sub(1)) {
            row[cause as usize] += flash_pages;
        }
    }

    /// Counts the pages programmed for any cause.
    #[must_use]
    pub fn programs_total(&self) -> u64 {
        self.programs.iter().sum()
    }

    /// Counts the pages programmed for host writes.
    #[must_use]
    pub fn programs_for_host(&self) -> u64 {
        [Cause::Host, Cause::Partial].iter().map(|&cause| self.programs[cause as usize]).sum()
    }

    /// Counts the flash pages carried over a channel: out for a read, in for a program, both for a copy. A flash page
    /// of which only some pages leave counts as one.
    #[must_use]
    pub fn transfers(&self, cause: Cause) -> u64 {
        self.reads[cause as usize] + self.flash_programs(cause)
    }

    /// Counts the blocks erased for any cause.
    #[must_use]
    pub fn erases_total(&self) -> u64 {
        self.erases.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn everything_follows_the_table() {
        assert_eq!(Cause::ALL.map(|cause| cause.info()).as_slice(), TABLE.iter().collect::<Vec<_>>());
        for (i, info) in TABLE.iter().enumerate() {
            assert_eq!(
                (info.cause as usize, info.cause.class(), info.cause.name()),
                (i, info.class, info.name)
            );
            assert_eq!(Cause::ERASING.contains(&info.cause), info.erases);
        }
        assert!(Cause::ERASING.is_sorted_by_key(|&cause| cause as usize));
        let Counters {
            programs,
            packed: _,
            in_modes: _,
            reads,
            erases,
            unmapped_reads: _,
            gathered_reads: _,
        } = Counters::default();
        assert_eq!([programs.len(), reads.len(), erases.len()], [TABLE.len(); 3]);
    }

    #[test]
    fn causes_are_distinct() {
        let looks: [fn(&CauseInfo) -> &str; 4] = [|i| i.name, |i| i.label, |i| i.color, |i| i.pattern];
        for look in looks {
            assert_eq!(TABLE.iter().map(look).collect::<BTreeSet<_>>().len(), TABLE.len());
        }
        let mut places: Vec<_> = TABLE.iter().map(|info| usize::from(info.place)).collect();
        places.sort_unstable();
        assert!(places.into_iter().eq(0..TABLE.len()));
        for info in TABLE {
            let digits = info.color.strip_prefix('#').expect("a colour begins with #");
            assert!(digits.len() == 6 && u32::from_str_radix(digits, 16).is_ok(), "{}", info.color);
            // The name is part of keys of results and columns of series.
            assert!(info.name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') && info.name != "total");
        }
    }

    #[test]
    fn what_erases_waits_in_the_background() {
        for info in TABLE {
            assert!(!info.erases || info.class == Class::Background, "{}", info.name);
        }
        assert_eq!([Cause::Host, Cause::Partial].map(Cause::class), [Class::Write; 2]);
    }
}
