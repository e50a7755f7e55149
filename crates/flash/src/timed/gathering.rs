//! Incomplete flash pages and chunks, and the reads for which their programs will wait.

use super::queue::Far;
use floatgate_base::{IdVec, Ppn, UnitId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The reads for which incomplete flash pages wait.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Gathering {
    /// By unit: reads whose data belong to its flash page.
    pub reads: IdVec<UnitId, Vec<Far>>,
    /// Flash pages that the current step of a job has read, ascending, with their reads. Empty between steps.
    #[serde(skip)]
    pub fetched: Vec<(u32, Far)>,
    /// Reads whose data belong to gathering chunks, by the number of the chunk.
    pub chunks: BTreeMap<u32, Vec<Far>>,
    /// Reads of the chunks that the current step of a job repacks, by first page. Empty between steps.
    #[serde(skip)]
    pub unpacked: Vec<(Ppn, Far)>,
}

impl Gathering {
    pub fn new(units: u32) -> Self {
        Self { reads: IdVec::filled(Vec::new(), units), ..Self::default() }
    }

    /// Returns whether it belongs to an array with as many units.
    pub fn is_like(&self, other: &Self) -> bool {
        self.reads.len() == other.reads.len()
    }
}
