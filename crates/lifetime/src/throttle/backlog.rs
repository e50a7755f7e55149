//! Queued page writes, handled period by period.
//!
//! Where the share of each period pays for a page or more, a waiting run of page writes behaves alike in every period.
//! The waiting page is admitted when the period begins, others follow until the share is spent, and the next one waits
//! for the rest of the period. The pages per period are one of two neighbouring whole numbers, and so are the waits.
//! Equal ones are recorded together.

use super::Parts;
use super::periods::Periods;
use super::record::Record;
use super::regulator::{Regulator, pessimistic};

/// Page writes of which the first does not fit into the current period.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backlog {
    /// Time at which the first is due: after its delay.
    pub due_ns: u64,
    /// Delay of the page writes.
    pub delay_ns: u64,
    /// Time from one page write's admission to the next one's arrival.
    pub gap_ns: u64,
    /// Number of page writes, including the first.
    pub pages: u64,
}

/// Waits of few distinct lengths; delays are the same.
struct Waits {
    first_ns: u64,
    delay_ns: u64,
    /// Lengths and their counts.
    alike: [(u64, u64); 2],
    sum_ns: u64,
}

impl Waits {
    #[inline]
    fn add<R: Record>(&mut self, wait_ns: u64, room_ns: u64, record: &mut R) {
        self.sum_ns += wait_ns;
        if self.alike[0].0 != wait_ns {
            self.alike.swap(0, 1);
            if self.alike[0].0 != wait_ns {
                self.tell(0, room_ns, record);
                self.alike[0].0 = wait_ns;
            }
        }
        self.alike[0].1 += 1;
    }

    fn tell<R: Record>(&mut self, slot: usize, last_ns: u64, record: &mut R) {
        let (wait_ns, count) = std::mem::take(&mut self.alike[slot]);
        if count > 0 {
            record.waited_alike(self.first_ns, last_ns, count, (self.delay_ns, wait_ns));
        }
    }
}

impl Periods {
    /// Admits the page writes of a backlog that fit into the next whole periods of this epoch, and returns their
    /// number. Returns 0 for periods that need single steps: they end the epoch, pay for no page, or end before their
    /// pages have arrived.
    pub fn admit_backlog<R: Record>(&mut self, backlog: Backlog, record: &mut R) -> u64 {
        let (s, period_ns) = (&mut self.state, self.setup.params.period_ns);
        let Some(Parts { regulator, .. }) = self.parts.filter(|_| !s.free) else { return 0 };
        let Backlog { mut due_ns, gap_ns, pages, .. } = backlog;
        let e = &s.epoch;
        // Each period admits a page or more.
        let latest_ns = s.period_end_ns.saturating_add(pages.saturating_mul(period_ns)).min(e.end_ns);
        if regulator == Regulator::TokenBucket || record.is_close(due_ns, latest_ns) {
            return 0;
        }
        let distance_ns = s.delay_ns.saturating_add(gap_ns);
        let before_bytes = e.used_bytes + e.carried_bytes + e.spare_bytes;
        let mut waits = Waits { first_ns: due_ns, delay_ns: s.delay_ns, alike: [(0, 0); 2], sum_ns: 0 };
        let (mut left, mut periods) = (pages, 0);
        while left > 0 {
            let (room_ns, end_ns) = (s.period_end_ns, s.period_end_ns.saturating_add(period_ns));
            let limit_bytes = match regulator {
                Regulator::StaticCap => s.limit_bytes + s.share_bytes,
                _ => before_bytes + pessimistic::allowance(e.capacity_bytes, s.share_bytes, s.period + 1),
            };
            let room = ((limit_bytes - s.used_bytes) * s.page_flash_inverse) as u64;
            let count = room.min(left);
            let next_ns = room_ns.saturating_add(count.saturating_mul(distance_ns));
            if count == 0 || end_ns > e.end_ns || next_ns >= end_ns {
                break;
            }
            let wait_ns = room_ns - due_ns;
            if periods == 0 {
                record.waited(room_ns, backlog.delay_ns, wait_ns);
                waits.sum_ns = wait_ns;
            } else {
                waits.add(wait_ns, room_ns, record);
            }
            s.used_bytes += count as f64 * s.page_flash_bytes;
            (s.limit_bytes, s.period, s.period_end_ns) = (limit_bytes, s.period + 1, end_ns);
            (due_ns, left, periods) = (next_ns, left - count, periods + 1);
        }
        if periods == 0 {
            return 0;
        }
        let (all, last_ns) = (pages - left, due_ns - distance_ns);
        for slot in [0, 1] {
            waits.tell(slot, last_ns, record);
        }
        if all > periods {
            record.passed(waits.first_ns, last_ns, all - periods, s.delay_ns);
        }
        if let Some(foreseen) = &mut self.foreseen {
            foreseen.spend(all);
        }
        s.held_back_ns += backlog.delay_ns + (all - 1) * s.delay_ns + waits.sum_ns;
        s.waited_ns += waits.sum_ns;
        s.admitted_ns = last_ns;
        all
    }
}
