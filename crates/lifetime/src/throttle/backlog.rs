//! Queued page writes, handled period by period.
//!
//! A waiting run of page writes behaves alike in every period that has room for a page. The waiting page is admitted when
//! the period begins, others follow until the share is spent, and the next one waits for the rest of the period. The
//! pages per period are one of two neighbouring whole numbers, and so are the waits; equal ones are recorded together.
//! Where the share of a period pays for less than a page, periods without room are skipped.

use super::Parts;
use super::periods::{GateState, Periods};
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
        let [first, second] = &mut self.alike;
        let (is_first, is_second) = (first.0 == wait_ns, second.0 == wait_ns);
        // Both lengths alternate unpredictably; counting without a branch is faster.
        first.1 += u64::from(is_first);
        second.1 += u64::from(is_second & !is_first);
        if !(is_first | is_second) {
            self.tell(1, room_ns, record);
            self.alike = [(wait_ns, 1), self.alike[0]];
        }
    }

    fn tell<R: Record>(&mut self, slot: usize, last_ns: u64, record: &mut R) {
        let (wait_ns, count) = std::mem::take(&mut self.alike[slot]);
        if count > 0 {
            record.waited_alike(self.first_ns, last_ns, count, (self.delay_ns, wait_ns));
        }
    }
}

/// Whole pages that the room of a period holds, and their cost.
///
/// Neighbouring periods hold one of two neighbouring numbers. Selecting between these keeps conversions of floating
/// point, and branches that cannot be predicted, out of the chain from one period to the next; the result is the same.
struct Room {
    /// The lower number, and the cost of it and of one page more.
    pages: u64,
    pages_f64: f64,
    bytes: [f64; 2],
}

impl Room {
    fn of(pages: u64, page_flash_bytes: f64) -> Self {
        let cost = |pages: u64| pages as f64 * page_flash_bytes;
        Self { pages, pages_f64: pages as f64, bytes: [cost(pages), cost(pages.saturating_add(1))] }
    }

    /// Rounds a room of so many `pages` down. Returns its pages and their cost.
    #[inline]
    fn whole(&mut self, pages: f64, page_flash_bytes: f64) -> (u64, f64) {
        if pages < self.pages_f64 {
            // The room may be negative; the cast makes that 0.
            *self = Self::of(pages as u64, page_flash_bytes);
        } else if pages >= self.pages_f64 + 2.0 {
            *self = Self::of((pages as u64).saturating_sub(1), page_flash_bytes);
        }
        let more = pages >= self.pages_f64 + 1.0;
        (self.pages + u64::from(more), if more { self.bytes[1] } else { self.bytes[0] })
    }
}

/// The current period and what is used by now.
#[derive(Clone, Copy)]
struct Now {
    used_bytes: f64,
    limit_bytes: f64,
    period: u64,
    end_ns: u64,
}

impl Periods {
    /// Admits the page writes of a backlog that fit into the next whole periods of this epoch, and returns their
    /// number. Returns 0 for periods that need single steps: they end the epoch, or end before their pages have arrived.
    pub fn admit_backlog<R: Record>(&mut self, backlog: Backlog, record: &mut R) -> u64 {
        let period_ns = self.setup.params.period_ns;
        let Some(Parts { regulator, .. }) = self.parts.filter(|_| !self.state.free) else { return 0 };
        let Backlog { mut due_ns, gap_ns, pages, .. } = backlog;
        if regulator == Regulator::TokenBucket || record.is_close(due_ns, self.latest_ns(pages)) {
            return 0;
        }
        let (s, e) = (&self.state, self.state.epoch);
        let distance_ns = s.delay_ns.saturating_add(gap_ns);
        let before_bytes = e.used_bytes + e.carried_bytes + e.spare_bytes;
        let (cost, inverse, share_bytes) = (s.page_flash_bytes, s.page_flash_inverse, s.share_bytes);
        let mut waits = Waits { first_ns: due_ns, delay_ns: s.delay_ns, alike: [(0, 0); 2], sum_ns: 0 };
        // In registers: the state in memory would be on the chain from one period to the next.
        let mut now = s.now();
        let mut room = Room::of(0, cost);
        let (mut left, mut waited) = (pages, 0);
        while left > 0 {
            let end_ns = now.end_ns.saturating_add(period_ns);
            let limit_bytes = match regulator {
                Regulator::StaticCap => now.limit_bytes + share_bytes,
                _ => before_bytes + pessimistic::allowance(e.capacity_bytes, share_bytes, now.period + 1),
            };
            let (mut count, mut bytes) = room.whole((limit_bytes - now.used_bytes) * inverse, cost);
            if count > left {
                (count, bytes) = (left, left as f64 * cost);
            }
            let mut room_ns = now.end_ns;
            let next_ns = room_ns.saturating_add(count.saturating_mul(distance_ns));
            if end_ns > e.end_ns || next_ns >= end_ns {
                break;
            }
            if count > 0 {
                let used_bytes = now.used_bytes + bytes;
                now = Now { used_bytes, limit_bytes, period: now.period + 1, end_ns };
            } else {
                self.state.set_now(now);
                let Some(later_ns) = self.skip_to_room(left, distance_ns) else { break };
                (now, room_ns, count) = (self.state.now(), later_ns, 1);
            }
            let wait_ns = room_ns - due_ns;
            if waited == 0 {
                record.waited(room_ns, backlog.delay_ns, wait_ns);
                waits.sum_ns = wait_ns;
            } else {
                waits.add(wait_ns, room_ns, record);
            }
            due_ns = room_ns.saturating_add(count.saturating_mul(distance_ns));
            (left, waited) = (left - count, waited + 1);
        }
        self.state.set_now(now);
        if waited == 0 {
            return 0;
        }
        let (all, last_ns) = (pages - left, due_ns - distance_ns);
        for slot in [0, 1] {
            waits.tell(slot, last_ns, record);
        }
        let s = &mut self.state;
        if all > waited {
            record.passed(waits.first_ns, last_ns, all - waited, s.delay_ns);
        }
        if let Some(foreseen) = &mut self.foreseen {
            foreseen.spend(all);
        }
        s.held_back_ns += backlog.delay_ns + (all - 1) * s.delay_ns + waits.sum_ns;
        s.waited_ns += waits.sum_ns;
        s.admitted_ns = last_ns;
        all
    }

    /// Returns a time by which `pages` waiting page writes have passed, or the end of the epoch.
    fn latest_ns(&self, pages: u64) -> u64 {
        let s = &self.state;
        let periods_per_page = (s.page_flash_bytes / s.share_bytes).max(0.0) as u64;
        let periods = pages.saturating_mul(periods_per_page.saturating_add(2));
        let latest_ns = s.period_end_ns.saturating_add(periods.saturating_mul(self.setup.params.period_ns));
        latest_ns.min(s.epoch.end_ns)
    }

    /// Enters the first period with room for a page where the next one has none, charges the page, and returns the
    /// period's beginning. None, and nothing changed, where single steps are needed: at the end of the epoch, and where
    /// rounding leaves room before the page or after it.
    fn skip_to_room(&mut self, left: u64, distance_ns: u64) -> Option<u64> {
        let (period_ns, s) = (self.setup.params.period_ns, &self.state);
        if s.has_room_for_one_of(left) {
            return None;
        }
        let period = self.period_with_room()?;
        let room_ns = s.epoch.start_ns + period * period_ns;
        let end_ns = room_ns.saturating_add(period_ns);
        if end_ns > s.epoch.end_ns || room_ns.saturating_add(distance_ns) >= end_ns {
            return None;
        }
        let before = s.now();
        self.enter_period(period, true);
        let s = &mut self.state;
        s.used_bytes += s.page_flash_bytes;
        if left > 1 && s.has_room_for_one_of(left - 1) {
            s.set_now(before);
            return None;
        }
        Some(room_ns)
    }
}

impl GateState {
    fn now(&self) -> Now {
        let Self { used_bytes, limit_bytes, period, period_end_ns: end_ns, .. } = *self;
        Now { used_bytes, limit_bytes, period, end_ns }
    }

    fn set_now(&mut self, now: Now) {
        (self.used_bytes, self.limit_bytes) = (now.used_bytes, now.limit_bytes);
        (self.period, self.period_end_ns) = (now.period, now.end_ns);
    }

    /// Returns whether the current period has room for at least one of so many page writes.
    fn has_room_for_one_of(&self, pages: u64) -> bool {
        (self.limit_bytes - self.used_bytes) * self.page_flash_inverse >= 1.0
            || self.used_bytes + pages as f64 * self.page_flash_bytes <= self.limit_bytes
    }
}
