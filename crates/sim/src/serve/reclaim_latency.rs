//! Response times of reads during reclaims, separate from those of others.
//!
//! A reclaim or a replication is active from its first operation until its last is complete; one in idle time also
//! between its steps. A read counts as *during* if one was active at any moment from its arrival to its completion.
//!
//! The serving code checks for reclaims when a request arrives, after recording the earlier completions. It checks
//! again when the request's operations have been issued, because these may begin a reclaim. Otherwise reclaims only
//! begin in idle time, in which no read is in flight.

use floatgate_stats::Latency;
use serde::{Deserialize, Serialize};

/// Response times of reads during reclaims and otherwise.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ReclaimLatency {
    /// Reads during a reclaim.
    pub during: Latency,
    /// Other reads.
    pub otherwise: Latency,
    /// Last time at which a reclaim was active.
    seen_ns: Option<u64>,
}

impl ReclaimLatency {
    /// Notes an active reclaim at `now_ns`.
    pub(super) fn reclaims_at(&mut self, now_ns: u64) {
        self.seen_ns = self.seen_ns.max(Some(now_ns));
    }

    /// Records a completed read; later reclaims have not been noted yet.
    pub(super) fn record(&mut self, arrival_ns: u64, done_ns: u64) {
        let during = self.seen_ns.is_some_and(|seen_ns| seen_ns >= arrival_ns);
        let of = if during { &mut self.during } else { &mut self.otherwise };
        // Seldom called; the other branch stays inlined in the path of every request.
        of.record_many(done_ns - arrival_ns, 1);
    }
}
