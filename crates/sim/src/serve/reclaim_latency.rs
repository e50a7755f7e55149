//! Response times of reads while something is reclaimed, apart from those of others.
//!
//! A reclaim or a replication is under way from its first operation until its last is done; one in idle time also between
//! its steps. A read counts as *during* if that was so at any moment from its arrival to its completion. Whoever serves
//! requests looks when one arrives, after what is done by then has been recorded, and again when its operations have been
//! issued, for these may have begun a reclaim; nothing else begins one but idle time, in which no read is under way.

use floatgate_stats::Latency;
use serde::{Deserialize, Serialize};

/// Response times of reads around reclaims.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ReclaimLatency {
    /// While something was reclaimed.
    pub during: Latency,
    /// While nothing was.
    pub otherwise: Latency,
    /// When something was last seen to be reclaimed.
    seen_ns: Option<u64>,
}

impl ReclaimLatency {
    /// Something is being reclaimed at `now_ns`.
    pub(super) fn reclaims_at(&mut self, now_ns: u64) {
        self.seen_ns = self.seen_ns.max(Some(now_ns));
    }

    /// A read is done; what has begun after that has not been seen yet.
    pub(super) fn record(&mut self, arrival_ns: u64, done_ns: u64) {
        let during = self.seen_ns.is_some_and(|seen_ns| seen_ns >= arrival_ns);
        let of = if during { &mut self.during } else { &mut self.otherwise };
        // Seldom called: the other one stays inlined where every request of a run comes along.
        of.record_many(done_ns - arrival_ns, 1);
    }
}
