//! A waiting request and its extents.

use super::request::Request;
use crate::overlaps::Entry;
use floatgate_base::{ExtentColumns, ExtentKind as Kind, Lpn};
use serde::{Deserialize, Serialize};

/// No request has this number.
pub(super) const NO_REQUEST: u64 = u64::MAX;

/// A slot for a waiting request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Slot {
    pub request: Request,
    pub extents: Vec<(Lpn, u32, Kind)>,
    /// Whether it shared a page with another request when it joined; otherwise it waits for none.
    pub shares: bool,
    pub columns: ExtentColumns,
    /// An earlier request that it must not overtake, from an earlier lookup.
    pub behind: Option<Entry>,
}

impl Slot {
    /// Returns the extents whose order matters, and whether each changes its pages. A flush concerns requests fetched
    /// before it, regardless of waiting ones.
    pub fn touched(&self) -> impl Iterator<Item = (Lpn, u32, bool)> + '_ {
        let touches = |&&(_, _, kind): &&(Lpn, u32, Kind)| kind != Kind::Flush;
        self.extents.iter().filter(touches).map(|&(lpn, pages, kind)| (lpn, pages, kind != Kind::Read))
    }

    /// Returns the request as the index of pages knows it.
    pub fn entry(&self, slot: u32) -> Entry {
        (self.request.number, slot)
    }
}
