//! The side tables of a drive, by kind.

use super::SideTable;
use crate::metadata::MapLog;
use floatgate_base::SideKind;
use serde::{Deserialize, Serialize};

/// One row per side table: its kind, its field and its type. A table that is not made costs nothing.
macro_rules! side_tables {
    ($($kind:ident: $field:ident: $table:ty,)*) => {
        /// The side tables of a drive.
        #[derive(Clone, Debug, Default, Serialize, Deserialize)]
        pub(crate) struct Sides {
            $(pub $field: Option<Box<$table>>,)*
            /// Changes that the drive must keep on flash, if it keeps its map there.
            pub log: Option<Box<MapLog>>,
        }

        impl Sides {
            /// Returns the table of a kind, if the drive has one.
            #[inline(always)]
            pub fn get(&self, kind: SideKind) -> Option<&dyn SideTable> {
                match kind {
                    $(SideKind::$kind => self.$field.as_deref().map(|table| table as _),)*
                }
            }

            /// Returns the table of a kind for changes, if the drive has one.
            #[inline(always)]
            pub fn get_mut(&mut self, kind: SideKind) -> Option<&mut dyn SideTable> {
                match kind {
                    $(SideKind::$kind => self.$field.as_deref_mut().map(|table| table as _),)*
                }
            }
        }
    };
}

side_tables! {
    Shared: shared: crate::owners::Shared,
    Packed: packed: crate::owners::Packed,
    Replicated: replicated: crate::owners::Replicas,
}

impl Sides {
    /// All kinds.
    const KINDS: [SideKind; 3] = [SideKind::Shared, SideKind::Packed, SideKind::Replicated];

    /// Checks whether the drive has any side table or logs changes; otherwise no other function here is called.
    #[inline(always)]
    pub fn any(&self) -> bool {
        self.shared.is_some() || self.packed.is_some() || self.replicated.is_some() || self.log.is_some()
    }

    /// Yields the side tables of the drive.
    pub fn tables(&self) -> impl Iterator<Item = (SideKind, &dyn SideTable)> {
        Self::KINDS.into_iter().filter_map(|kind| Some((kind, self.get(kind)?)))
    }
}
