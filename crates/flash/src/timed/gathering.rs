//! Flash pages and chunks that are not full yet, and what their programs will wait for.

use super::queue::Far;
use floatgate_base::{IdVec, Ppn, UnitId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the flash pages that are not full yet wait for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Gathering {
    /// By unit: reads whose data belong into its flash page.
    pub reads: IdVec<UnitId, Vec<Far>>,
    /// Flash pages that the present step of a job has read, ascending, with their reads. Empty between steps.
    #[serde(skip)]
    pub fetched: Vec<(u32, Far)>,
    /// Reads whose data belong into chunks that gather, by the number of the chunk.
    pub chunks: BTreeMap<u32, Vec<Far>>,
    /// Reads of the chunks that the present step of a job packs anew, by first page. Empty between steps.
    #[serde(skip)]
    pub unpacked: Vec<(Ppn, Far)>,
}

impl Gathering {
    pub fn new(units: u32) -> Self {
        Self { reads: IdVec::filled(Vec::new(), units), ..Self::default() }
    }

    /// Whether it is of an array with as many units.
    pub fn is_like(&self, other: &Self) -> bool {
        self.reads.len() == other.reads.len()
    }
}
