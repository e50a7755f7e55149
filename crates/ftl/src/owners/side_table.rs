//! What every side table does: the contract behind map words that are no plain page numbers.
//!
//! A side table has entries. An entry stands for one or more logical pages (those whose map word names it) and lies on one
//! or more physical pages (those whose owner it is). Only the table knows which; the mechanism asks, and tells it what
//! becomes of pages. Whoever makes an entry (`Mapping::place`, `Mapping::set`) sees to it that both directions agree.
//!
//! A page that belongs to an entry stays in its stream when it moves: it has no single logical page that a separator
//! could be asked about.

use floatgate_base::{Lpn, Ppn, SideKind};
use serde::{Deserialize, Serialize};

/// A side table with its entries.
pub(crate) trait SideTable {
    /// Calls `each` with the physical pages that a read of `lpn`, which belongs to the entry, reads.
    fn pages_of(&self, entry: u32, lpn: Lpn, each: &mut dyn FnMut(Ppn));

    /// A page of the entry moved.
    fn relink(&mut self, entry: u32, from: Ppn, to: Ppn);

    /// A logical page belongs to the entry no more: it was written elsewhere, or trimmed. Calls `dead` with each physical
    /// page that nobody needs from now on.
    fn release(&mut self, entry: u32, lpn: Lpn, dead: &mut dyn FnMut(Ppn));

    /// Calls `each` with every entry and every physical page that belongs to it: what is live, after a snapshot.
    fn each_page(&self, each: &mut dyn FnMut(u32, Ppn));

    /// Checks an entry, given how many logical pages name it in the map.
    ///
    /// # Errors
    /// Says what is wrong.
    fn audit(&self, entry: u32, logical_pages: u32) -> Result<(), String>;

    /// One past the highest entry ever made.
    fn entries(&self) -> u32;
}

/// One row a side table: its kind, its field and its type. A row costs nothing where the table is not made.
macro_rules! side_tables {
    ($($(#[$on:meta])* $kind:ident: $field:ident: $table:ty,)*) => {
        /// The side tables of a drive.
        #[derive(Clone, Debug, Default, Serialize, Deserialize)]
        pub(crate) struct Sides {
            $($(#[$on])* pub $field: Option<Box<$table>>,)*
        }

        impl Sides {
            /// The table of a kind, where there is one.
            #[inline(always)]
            pub fn get(&self, kind: SideKind) -> Option<&dyn SideTable> {
                match kind {
                    $($(#[$on])* SideKind::$kind => self.$field.as_deref().map(|table| table as _),)*
                    #[allow(unreachable_patterns)]
                    _ => None,
                }
            }

            /// The same, to be changed.
            #[inline(always)]
            pub fn get_mut(&mut self, kind: SideKind) -> Option<&mut dyn SideTable> {
                match kind {
                    $($(#[$on])* SideKind::$kind => self.$field.as_deref_mut().map(|table| table as _),)*
                    #[allow(unreachable_patterns)]
                    _ => None,
                }
            }
        }
    };
}

side_tables! {
    #[cfg(test)]
    Shared: shared: crate::owners::sharing_tests::Sharing,
}

impl Sides {
    /// All kinds.
    const KINDS: [SideKind; 3] = [SideKind::Shared, SideKind::Packed, SideKind::Replicated];

    /// Whether there is any table: nothing else here is called otherwise. Without a row it is never so, which the
    /// compiler knows.
    #[inline(always)]
    pub fn any(&self) -> bool {
        Self::KINDS.iter().any(|&kind| self.get(kind).is_some())
    }

    /// The tables that there are.
    pub fn tables(&self) -> impl Iterator<Item = (SideKind, &dyn SideTable)> {
        Self::KINDS.into_iter().filter_map(|kind| Some((kind, self.get(kind)?)))
    }
}
