//! A gate's steps from period to period and from epoch to epoch, and its state.

use super::delay::{Delays, delay_for_s};
use super::epochs::{Ended, Epoch, Epochs};
use super::record::Record;
use super::regulator::token_bucket::Bucket;
use super::regulator::{Regulator, pessimistic, static_cap};
use super::setup::Setup;
use super::{Budget, Parts};
use crate::reduce::{Foreseen, Manager, Seen};
use serde::{Deserialize, Serialize};

/// State of a gate between two writes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GateState {
    /// Time of the last admission.
    pub(super) admitted_ns: u64,
    /// End of the current period.
    pub(super) period_end_ns: u64,
    /// Delay of every page write in the current epoch.
    pub(super) delay_ns: u64,
    /// Flash bytes used so far, estimated since the last [`Gate::observe`].
    pub(super) used_bytes: f64,
    /// Flash bytes up to which writes are admitted in the current period.
    pub(super) limit_bytes: f64,
    /// Flash bytes per page write.
    pub(super) page_flash_bytes: f64,
    /// Inverse of `page_flash_bytes`.
    pub(super) page_flash_inverse: f64,
    /// All delays and waits so far.
    pub(super) held_back_ns: u64,
    /// The current epoch, and the number of its period.
    pub(super) epoch: Epoch,
    pub(super) period: u64,
    /// Share of each of its periods, flash bytes.
    pub(super) share_bytes: f64,
    pub(super) epochs: Epochs,
    /// Time of the current epoch in which a writer has waited for capacity.
    pub(super) waited_ns: u64,
    /// The tokens, if the regulator is a token bucket.
    pub(super) bucket: Bucket,
    /// The integrated manager, the next report of the drive to it, and whether this epoch is without throttling.
    pub(super) manager: Option<Manager>,
    pub(super) seen: Seen,
    pub(super) free: bool,
    /// Arrival of the current request and of that at which the epoch began; time held back by then.
    pub(super) arrival_ns: u64,
    pub(super) began: (u64, u64),
}

/// Parts for the epochs that a manager throttles: the nominal cycles, and no borrowing, which would let an epoch exceed
/// its capacity (section III-B.3).
const MANAGED: Parts = Parts {
    budget: Budget::Nominal,
    plans: true,
    delays: Delays::Predicted,
    regulator: Regulator::Pessimistic,
};

/// Returns the parts of a throttle, or those of a manager.
fn parts(setup: &Setup) -> Option<Parts> {
    if setup.manager.is_some() { Some(MANAGED) } else { setup.policy.parts() }
}

/// The state of a gate and its parameters.
#[derive(Clone, Debug)]
pub(super) struct Periods {
    pub setup: Setup,
    pub parts: Option<Parts>,
    pub state: GateState,
    /// Predicted counts for the manager, where there is no drive to observe.
    pub foreseen: Option<Foreseen>,
}

impl GateState {
    /// Charges admitted page writes.
    #[inline]
    pub(super) fn spend(&mut self, pages: u64, foreseen: &mut Option<Foreseen>) {
        self.used_bytes += pages as f64 * self.page_flash_bytes;
        if let Some(foreseen) = foreseen {
            foreseen.spend(pages);
        }
    }

    /// Notes page writes that arrived at `begin_ns`, and left from `first_ns` on at even distances. Returns when the
    /// last of them left.
    #[inline]
    pub(super) fn passed(&mut self, (begin_ns, first_ns, distance_ns): (u64, u64, u64), pages: u64) -> u64 {
        let last_ns = first_ns + (pages - 1) * distance_ns;
        self.held_back_ns += first_ns - begin_ns + (pages - 1) * self.delay_ns;
        self.admitted_ns = last_ns;
        last_ns
    }

    pub(super) fn set_cost(&mut self, page_flash_bytes: f64) {
        self.page_flash_bytes = page_flash_bytes;
        self.page_flash_inverse = 1.0 / page_flash_bytes;
    }
}

impl Periods {
    pub fn new(setup: Setup, state: GateState) -> Self {
        Self { parts: parts(&setup), setup, state, foreseen: None }
    }

    /// Returns whether the regulator uses tokens.
    #[inline]
    pub fn has_bucket(&self) -> bool {
        self.parts.is_some_and(|parts| parts.regulator == Regulator::TokenBucket)
    }

    /// Updates the price of tokens after a change of the flash bytes per page.
    pub fn price_tokens(&mut self) {
        let s = &mut self.state;
        let length_ns = (s.epoch.end_ns - s.epoch.start_ns).max(1);
        s.bucket.cost(s.epoch.capacity_bytes / length_ns as f64, s.page_flash_bytes);
    }

    /// Begins an epoch. Its burst is no more than later epochs bring: the last one has none.
    pub fn begin_tokens(&mut self) {
        let s = &mut self.state;
        let e = &s.epoch;
        let rate = e.capacity_bytes / (e.end_ns - e.start_ns).max(1) as f64;
        let burst_ns = self.setup.params.burst_ns.min(self.setup.target_ns - e.end_ns);
        s.bucket.begin(e.start_ns, rate, s.page_flash_bytes, burst_ns);
        // No limit that a fast path could use: each run asks the bucket.
        (s.limit_bytes, s.period_end_ns) = (f64::NEG_INFINITY, e.end_ns);
    }

    /// Returns whether the rest of a period goes to the next one of its epoch.
    #[inline]
    pub fn adds_up(&self) -> bool {
        self.parts
            .is_some_and(|parts| matches!(parts.regulator, Regulator::Pessimistic | Regulator::Optimistic))
    }

    /// Returns the time until which at least the current limit is admitted. The rest of a period goes to the next
    /// one of its epoch; under a static cap it is lost.
    #[inline]
    pub fn limit_holds_until_ns(&self) -> u64 {
        let s = &self.state;
        if self.adds_up() && s.period_end_ns < s.epoch.end_ns { s.epoch.end_ns } else { s.period_end_ns }
    }

    /// Enters the period of a time.
    pub fn leave_periods<R: Record>(&mut self, time_ns: u64, record: &mut R) {
        while time_ns >= self.state.period_end_ns {
            let (s, period_ns) = (&self.state, self.setup.params.period_ns);
            if time_ns >= s.epoch.end_ns {
                self.next_epoch(false, record);
            } else if time_ns - s.period_end_ns < period_ns {
                self.enter_period(s.period + 1, false);
            } else {
                self.enter_period((time_ns - s.epoch.start_ns) / period_ns, false);
            }
        }
    }

    /// Enters the first period with room for a page that waits from `since_ns` on, and returns its beginning.
    pub fn wait_for_room<R: Record>(&mut self, mut since_ns: u64, record: &mut R) -> u64 {
        loop {
            if let Some(period) = self.period_with_room() {
                self.enter_period(period, true);
                let room_ns = self.state.epoch.start_ns + period * self.setup.params.period_ns;
                self.state.waited_ns += room_ns.saturating_sub(since_ns);
                return room_ns;
            }
            let end_ns = self.state.epoch.end_ns;
            self.state.waited_ns += end_ns.saturating_sub(since_ns);
            since_ns = end_ns;
            self.next_epoch(true, record);
            let s = &self.state;
            if s.used_bytes + s.page_flash_bytes <= s.limit_bytes {
                return s.epoch.start_ns;
            }
        }
    }

    /// Returns the first later period of this epoch with room for a page.
    pub fn period_with_room(&self) -> Option<u64> {
        let s = &self.state;
        let Parts { regulator, .. } = self.parts.filter(|_| !s.free)?;
        let needed = s.used_bytes + s.page_flash_bytes;
        let length_ns = s.epoch.end_ns - s.epoch.start_ns;
        let period = match regulator {
            Regulator::StaticCap => {
                let share = s.share_bytes;
                if share <= 0.0 {
                    return None;
                }
                let missing = needed - s.limit_bytes;
                let mut more = if missing <= share { 1 } else { ((missing / share) as u64).max(1) };
                while static_cap::next_limit(s.limit_bytes, s.used_bytes, share, more, true) < needed {
                    more += 1;
                }
                s.period + more
            }
            Regulator::Pessimistic | Regulator::Optimistic => {
                let e = &s.epoch;
                let bytes = needed - e.used_bytes - e.carried_bytes - e.spare_bytes;
                pessimistic::first_period(e.capacity_bytes, s.share_bytes, bytes)?.max(s.period + 1)
            }
            // It has no periods.
            Regulator::TokenBucket => return None,
        };
        (period.saturating_mul(self.setup.params.period_ns) < length_ns).then_some(period)
    }

    pub fn enter_period(&mut self, period: u64, waiting: bool) {
        let Some(Parts { regulator, .. }) = self.parts else { return };
        if self.has_bucket() {
            self.begin_tokens();
            return;
        }
        let s = &mut self.state;
        let e = &s.epoch;
        if s.free {
            // Not even an unpredicted burst may use more than all coming epochs have together.
            let epochs = (self.setup.target_ns - e.start_ns) as f64 / (e.end_ns - e.start_ns) as f64;
            let left_bytes = e.used_bytes + e.carried_bytes + e.capacity_bytes * epochs;
            (s.period, s.limit_bytes, s.period_end_ns) = (period, left_bytes, e.end_ns);
            return;
        }
        let end_ns = e.start_ns.saturating_add((period + 1).saturating_mul(self.setup.params.period_ns));
        s.period_end_ns = end_ns.min(e.end_ns);
        s.limit_bytes = match regulator {
            Regulator::StaticCap => {
                let periods = period - s.period;
                static_cap::next_limit(s.limit_bytes, s.used_bytes, s.share_bytes, periods, waiting)
            }
            Regulator::Pessimistic | Regulator::Optimistic => {
                let allowed = pessimistic::allowance(e.capacity_bytes, s.share_bytes, period);
                e.used_bytes + e.carried_bytes + e.spare_bytes + allowed
            }
            Regulator::TokenBucket => unreachable!("it has no periods"),
        };
        s.period = period;
    }

    pub fn next_epoch<R: Record>(&mut self, waiting: bool, record: &mut R) {
        let s = &mut self.state;
        let now_ns = s.epoch.end_ns;
        let (used_bytes, page_flash_bytes) = (s.used_bytes, s.page_flash_bytes);
        let ended =
            Ended { used_bytes, page_flash_bytes, waiting, waited_ns: std::mem::take(&mut s.waited_ns) };
        // Without a throttle the life ends at the target, too; later epochs are not part of it.
        let end_ns = if now_ns < self.setup.target_ns { self.setup.target_ns } else { u64::MAX };
        let free = Epoch { start_ns: now_ns, end_ns, used_bytes, ..Epoch::default() };
        let throttled = self.parts.filter(|_| now_ns < self.setup.target_ns);
        let last = s.epoch;
        s.epoch = match throttled {
            None => free,
            Some(parts) if parts.plans => s.epochs.next((&self.setup, &parts), &s.epoch, &ended),
            Some(parts) => {
                let capacity_bytes = parts.budget.total_bytes(&self.setup, now_ns, 0.0).max(0.0);
                Epoch { capacity_bytes, ..free }
            }
        };
        if throttled.is_some() {
            self.decide(&last);
        } else {
            s.free = false;
        }
        let s = &mut self.state;
        s.delay_ns = (s.epoch.delay_s * 1e9).round() as u64;
        let periods = (s.epoch.end_ns - now_ns) as f64 / self.setup.params.period_ns as f64;
        (s.period, s.share_bytes) = (0, s.epoch.capacity_bytes / periods);
        if throttled.is_some() {
            // The first period of a static cap has a share like every other.
            s.limit_bytes = used_bytes + s.share_bytes;
            self.enter_period(0, waiting);
        } else {
            (s.limit_bytes, s.period_end_ns) = (f64::INFINITY, end_ns);
        }
        record.epoch(&self.state.epoch);
    }

    /// Returns the time of a past epoch in which the host was not held back. If later requests follow earlier ones,
    /// this is known from the time held back; else from the current backlog at the gate.
    fn undelayed_ns(&self, last: &Epoch) -> i64 {
        let s = &self.state;
        let length_ns = last.end_ns - last.start_ns;
        if self.setup.arrivals_follow {
            length_ns as i64 - (s.held_back_ns - s.began.1) as i64
        } else if s.arrival_ns < last.end_ns && !s.free {
            (s.arrival_ns - s.began.0) as i64
        } else {
            length_ns as i64
        }
    }

    /// Lets the manager, if there is one, choose the schemes of the newly planned epoch. The delay is that of Eq. 4 for
    /// the remaining demand (W''), computed anew per epoch, as are the schemes.
    fn decide(&mut self, last: &Epoch) {
        let undelayed_ns = (last.end_ns > last.start_ns).then(|| self.undelayed_ns(last));
        let s = &mut self.state;
        let (Some(setup), Some(manager)) = (&self.setup.manager, &mut s.manager) else { return };
        s.began = (s.arrival_ns, s.held_back_ns);
        if let Some(foreseen) = &self.foreseen {
            s.seen = foreseen.seen();
        }
        manager.end_epoch(setup, &s.seen, undelayed_ns);
        let span = (s.epoch.start_ns, s.epoch.end_ns);
        let decision = manager.decide(setup, span, s.epoch.capacity_bytes);
        if let Some(foreseen) = &mut self.foreseen {
            foreseen.choose(&decision);
            s.set_cost(f64::from(self.setup.page_bytes) * foreseen.cost());
        }
        let (epoch_s, capacity_bytes) = ((span.1 - span.0) as f64 / 1e9, s.epoch.capacity_bytes);
        let pages = capacity_bytes / s.page_flash_bytes;
        s.epoch.delay_s = match decision.throttle {
            true => delay_for_s(epoch_s, pages, decision.demand_bytes / capacity_bytes),
            false => 0.0,
        };
        s.free = !decision.throttle;
    }
}
