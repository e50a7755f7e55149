//! The table `[sets]` of a twin.

use floatgate_trace::generate::twin::Sets;
use serde::{Deserialize, Serialize};

/// Sets of places that are written together again and again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SetsFile {
    /// Share of the writes that are members of a set; all keys of writes but the sizes are of the others.
    pub share: f64,
    /// Members of a set, with weights.
    pub addresses: Vec<(u64, f64)>,
    /// Sets in a pass.
    pub count: u64,
    /// Sets that are visited in turns at a time.
    pub active: u64,
    /// Visits to a set until another takes its place, with weights.
    pub visits: Vec<(u64, f64)>,
    /// Share of the members that a visit writes.
    pub member_share: f64,
    /// Share of the members of a visit that change places.
    pub moved_share: f64,
}

impl Default for SetsFile {
    fn default() -> Self {
        Self {
            share: 0.0,
            addresses: vec![],
            count: 1,
            active: 1,
            visits: vec![],
            member_share: 1.0,
            moved_share: 0.0,
        }
    }
}

impl SetsFile {
    pub(super) fn is_none(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn sets(&self) -> Sets {
        if self.is_none() {
            return Sets::default();
        }
        let (addresses, visits) = (self.addresses.clone(), self.visits.clone());
        let Self { share, count, active, member_share, moved_share, .. } = *self;
        Sets { share, addresses, count, active, visits, member_share, moved_share }
    }
}
