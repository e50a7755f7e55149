//! Slot `ftl.metadata`: how the drive keeps its map on flash.
//!
//! A map in DRAM is lost with the power. Drives therefore log its changes in a journal and write the pages of the map
//! themselves from time to time; these programs come on top of those of data and their collection. [`MapLog`] decides
//! when which page is due, `persist` writes it.
//!
//! The metadata are logical pages behind those of the host: first the pages of the map, then the journal as a ring.
//! They lie among the host's data and are collected like these. The table that finds them is small; programs for it
//! are not counted.

mod map_log;
mod persist;

pub(crate) use map_log::MapLog;

use floatgate_base::{Acts, ChosenPolicy, Lpn, ParamInfo, PolicyInfo, Slot};
use serde::{Deserialize, Serialize};

/// The slot.
pub const SLOT: Slot = Slot {
    key: "ftl.metadata",
    selector: "policy",
    what: "way to keep the map on flash",
    summary: "How the map is kept on flash.",
    policies: &[
        PolicyInfo::plain("none", "the map costs no programs, as if a power loss could not hurt it"),
        JOURNAL,
    ],
    common: &[],
    acts: Acts::Always,
};

const JOURNAL: PolicyInfo = PolicyInfo {
    params: &[
        ParamInfo::whole(
            "map_entry_bytes",
            "bytes of an entry of the map; a page of the map holds as many entries as fit",
            4,
            (1, 64),
        ),
        ParamInfo::whole("updates_per_page", "changes of the map by the host that fill a page of the journal", 512, (1, 65_536))
            .or("as many as fit at 8 bytes"),
        ParamInfo::whole(
            "journal_pages",
            "pages of the journal; a page of the map is written before the journal's record of its changes is overwritten",
            2,
            (1, 1 << 26),
        )
        .or("a thousandth of the logical pages, at least 2"),
    ],
    cost: "O(1) per change of the map",
    memory: "a bit per page of the map, 16 bytes per changed one",
    ..PolicyInfo::plain("journal", "changes are logged in a ring of pages; changed pages of the map are written in time")
};

/// Bytes of a change in the journal by default: a logical page and its place.
const UPDATE_BYTES: u32 = 8;
/// The journal has one page for so many logical pages by default.
const LOGICAL_PER_JOURNAL_PAGE: u32 = 1000;

/// The journal and the map on flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// Logical pages of the host; those of the metadata follow.
    pub logical_pages: u32,
    /// Entries in a page of the map.
    pub entries_per_page: u32,
    /// Changes by the host that fill a page of the journal.
    pub updates_per_page: u32,
    /// Pages of the journal.
    pub journal_pages: u32,
}

impl Metadata {
    /// Creates it from the settings of a drive whose pages have `page_bytes`; none for policy `none`.
    #[must_use]
    pub fn of(settings: &ChosenPolicy, logical_pages: u32, page_bytes: u32) -> Option<Self> {
        if settings.name() != JOURNAL.name {
            return None;
        }
        let set = |name: &str| settings.find_whole(name).map(|value| value as u32);
        Some(Self {
            logical_pages,
            entries_per_page: (page_bytes / settings.whole("map_entry_bytes")).max(1),
            updates_per_page: set("updates_per_page").unwrap_or((page_bytes / UPDATE_BYTES).max(1)),
            journal_pages: set("journal_pages").unwrap_or((logical_pages / LOGICAL_PER_JOURNAL_PAGE).max(2)),
        })
    }

    /// Returns the pages of the map of the host's pages.
    #[must_use]
    pub fn map_pages(&self) -> u32 {
        self.logical_pages.div_ceil(self.entries_per_page)
    }

    /// Returns the logical pages of all metadata.
    #[must_use]
    pub fn pages(&self) -> u64 {
        u64::from(self.map_pages()) + u64::from(self.journal_pages)
    }

    /// Returns the logical page of a page of the map.
    pub(crate) fn map_page(&self, page: u32) -> Lpn {
        Lpn(self.logical_pages + page)
    }

    /// Returns the logical page in which a page of the journal lies, the journal's pages counted from its first one.
    pub(crate) fn journal_page(&self, number: u64) -> Lpn {
        Lpn(self.logical_pages + self.map_pages() + (number % u64::from(self.journal_pages)) as u32)
    }
}

/// Counters of metadata since counting began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetadataCounters {
    /// Changes of the map by host writes and trims.
    pub updates: u64,
    /// Changes of the map by moves of the host's pages.
    pub moves: u64,
    /// Pages of the journal programmed.
    pub journal_pages: u64,
    /// Of these, before they were full, because the host flushed.
    pub flushed_pages: u64,
    /// Pages of the map programmed.
    pub map_pages: u64,
}
