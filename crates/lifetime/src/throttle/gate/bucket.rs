//! Admission where the regulator is a token bucket: it has no periods, so its epochs are the only ones that are left.

use super::{Gate, Record};
use crate::throttle::regulator::Regulator;
use crate::throttle::regulator::token_bucket::Patience;

impl Gate {
    /// Whether there are tokens at all.
    #[inline]
    pub(super) fn has_bucket(&self) -> bool {
        self.parts.is_some_and(|parts| parts.regulator == Regulator::TokenBucket)
    }

    /// A page costs another number of flash bytes from now on.
    pub(super) fn price_tokens(&mut self) {
        let s = &mut self.state;
        let length_ns = (s.epoch.end_ns - s.epoch.start_ns).max(1);
        s.bucket.cost(s.epoch.capacity_bytes / length_ns as f64, s.page_flash_bytes);
    }

    /// An epoch begins. Its burst is no more than later epochs bring: the last one has none.
    pub(super) fn begin_tokens(&mut self) {
        let s = &mut self.state;
        let e = &s.epoch;
        let rate = e.capacity_bytes / (e.end_ns - e.start_ns).max(1) as f64;
        let burst_ns = self.setup.params.burst_ns.min(self.setup.target_ns - e.end_ns);
        s.bucket.begin(e.start_ns, rate, s.page_flash_bytes, burst_ns);
        // No limit that a fast path could pass by: each run asks the bucket.
        (s.limit_bytes, s.period_end_ns) = (f64::NEG_INFINITY, e.end_ns);
    }

    /// Lets page writes pass as they find tokens, or have waited as long as they may.
    pub(super) fn admit_by_token<R: Record>(
        &mut self,
        mut begin_ns: u64,
        gap_ns: u64,
        mut pages: u64,
        record: &mut R,
    ) -> u64 {
        let params = &self.setup.params;
        let patience = Patience { p99_ns: params.p99_ns, max_ns: params.max_delay_ns.unwrap_or(u64::MAX) };
        loop {
            self.leave_periods(begin_ns, record);
            let s = &mut self.state;
            let in_epoch = match (s.epoch.end_ns - 1 - begin_ns).checked_div(gap_ns) {
                Some(later) => pages.min(later.saturating_add(1)),
                None => pages,
            };
            // After the target the gate has no limit.
            let free = s.limit_bytes == f64::INFINITY;
            let ready = if free { in_epoch } else { s.bucket.ready(begin_ns, gap_ns, in_epoch) };
            if ready > 0 {
                s.bucket.pass(begin_ns, gap_ns, ready);
                s.spend(ready, &mut self.foreseen);
                s.admitted_ns = begin_ns + (ready - 1) * gap_ns;
                record.passed(begin_ns, s.admitted_ns, ready, 0);
                pages -= ready;
            } else {
                let wait_ns = s.bucket.wait_ns(begin_ns, &patience);
                let left_ns = self.setup.target_ns - begin_ns;
                let room_ns = begin_ns + wait_ns.min(left_ns);
                self.leave_periods(room_ns, record);
                let s = &mut self.state;
                s.bucket.pass(room_ns, 0, 1);
                s.spend(1, &mut self.foreseen);
                s.held_back_ns += room_ns - begin_ns;
                s.admitted_ns = room_ns;
                record.waited(room_ns, 0, room_ns - begin_ns);
                pages -= 1;
            }
            if pages == 0 {
                return self.state.admitted_ns;
            }
            begin_ns = self.state.admitted_ns.saturating_add(gap_ns);
        }
    }
}
