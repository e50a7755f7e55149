//! The gate: every host page write passes it in order of arrival, and leaves it when the throttle admits it.
//!
//! A page write is delayed by its epoch's delay. If it does not fit into the current period, it then waits for the
//! first period that has room. Reads pass between two writes and are never held back themselves. The gate keeps the
//! budget by an estimate (a page costs its bytes times write amplification) that [`Gate::observe`] corrects.
//!
//! Cost: a few comparisons per run of pages within a period; a few operations per period with writes, and per backlog
//! of waiting page writes.

use super::Predictions;
use super::backlog::Backlog;
use super::epochs::{Epoch, Epochs};
use super::periods::{GateState, Periods};
use super::record::Record;
use super::regulator::Regulator;
use super::regulator::token_bucket::{Bucket, Patience};
use super::setup::{Setup, View};
use crate::reduce::{ByChoice, Foreseen, Manager, Seen};

/// The limit of a gate while page writes pass, without its steps from period to period.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// A limit that the one at the first page write does not fall below, flash bytes.
    pub limit_bytes: f64,
    /// Its growth from one page write to the next.
    pub page_bytes: f64,
    /// About how many page writes leave within the epoch.
    pub pages: u64,
}

/// A throttle at work.
#[derive(Clone, Debug)]
pub struct Gate {
    periods: Periods,
}

impl Gate {
    /// Creates a gate at the beginning of a life. `waf` is the expected write amplification until it is measured.
    #[must_use]
    pub fn new(setup: Setup, waf: f64) -> Self {
        let state = GateState {
            admitted_ns: 0,
            period_end_ns: 0,
            delay_ns: 0,
            used_bytes: 0.0,
            limit_bytes: 0.0,
            page_flash_bytes: f64::from(setup.page_bytes) * waf,
            page_flash_inverse: 1.0 / (f64::from(setup.page_bytes) * waf),
            held_back_ns: 0,
            epoch: Epoch::default(),
            period: 0,
            share_bytes: 0.0,
            epochs: Epochs::new(&setup),
            waited_ns: 0,
            bucket: Bucket::default(),
            manager: setup.manager.map(|_| Manager::default()),
            seen: Seen::default(),
            free: false,
            arrival_ns: 0,
            began: (0, 0),
        };
        Self { periods: Periods::new(setup, state) }
    }

    /// Continues from the state of another gate.
    #[must_use]
    pub fn resume(setup: Setup, state: GateState) -> Self {
        Self { periods: Periods::new(setup, state) }
    }

    /// Checks whether the state is one of this throttle: one from outside goes by the bytes that it stated.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.periods.state.epochs.fits(&self.periods.setup)
    }

    /// Uses predicted counts where no drive is observed; manager and cost of page writes follow them.
    pub fn foresee(&mut self, foreseen: Foreseen) {
        self.periods.foreseen = Some(foreseen);
    }

    /// Sets the shares left of the coming page writes, by choice of schemes; for a gate with predicted counts.
    #[inline]
    pub fn expect(&mut self, left: ByChoice) {
        if let Some(foreseen) = &mut self.periods.foreseen {
            foreseen.expect(left);
            self.periods.state.set_cost(f64::from(self.periods.setup.page_bytes) * foreseen.cost());
        }
    }

    /// Returns the predicted counts for the manager, where there is no drive.
    #[must_use]
    pub fn foreseen(&self) -> Option<&Foreseen> {
        self.periods.foreseen.as_ref()
    }

    /// Returns the state needed to resume.
    #[must_use]
    pub fn state(&self) -> &GateState {
        &self.periods.state
    }

    /// Corrects the estimate by the programmed bytes. A static cap allots shares of a period by write amplification
    /// alone: with collection in lumps, a share would be lost before a lump and paid for after it.
    pub fn observe(&mut self, view: &View) {
        if self.periods.parts.is_some_and(|parts| parts.regulator == Regulator::StaticCap) {
            self.periods.state.limit_bytes += view.programmed_bytes - self.periods.state.used_bytes;
        }
        self.periods.state.seen = view.seen.unwrap_or_default();
        self.periods.state.used_bytes = view.programmed_bytes;
        self.periods.state.set_cost(f64::from(self.periods.setup.page_bytes) * view.waf);
        if self.periods.has_bucket() {
            self.periods.price_tokens();
        }
    }

    /// Returns all delays and waits so far, nanoseconds: arrival `shifted` moves the time stamps by it.
    #[must_use]
    pub fn held_back_ns(&self) -> u64 {
        self.periods.state.held_back_ns
    }

    /// Returns the current delay of every page write, nanoseconds.
    #[must_use]
    pub fn delay_ns(&self) -> u64 {
        self.periods.state.delay_ns
    }

    /// Returns when the last page write was admitted.
    #[must_use]
    pub fn admitted_ns(&self) -> u64 {
        self.periods.state.admitted_ns
    }

    /// Returns the end of the period in which the last page write was admitted; until then, estimates need no
    /// correction.
    #[must_use]
    pub fn period_end_ns(&self) -> u64 {
        self.periods.state.period_end_ns
    }

    /// Returns the flash bytes used so far, by the gate's estimate.
    #[must_use]
    pub fn used_bytes(&self) -> f64 {
        self.periods.state.used_bytes
    }

    /// Returns the current flash bytes per page write.
    #[must_use]
    pub fn page_flash_bytes(&self) -> f64 {
        self.periods.state.page_flash_bytes
    }

    /// Returns the current epoch.
    #[must_use]
    pub fn epoch(&self) -> &Epoch {
        &self.periods.state.epoch
    }

    /// Returns the integrated manager with its decisions, if there is one.
    #[must_use]
    pub fn manager(&self) -> Option<&Manager> {
        self.periods.state.manager.as_ref()
    }

    /// Returns the accuracy of the predictions so far.
    #[must_use]
    pub fn predictions(&self) -> Predictions {
        self.periods.state.epochs.predictions()
    }

    /// Returns the fault that a throttle from outside made, if one did.
    #[must_use]
    pub fn policy_fault(&self) -> Option<&'static str> {
        self.periods.state.epochs.fault()
    }

    /// Returns the epochs planned, and the new choices of their length.
    #[must_use]
    pub fn epochs(&self) -> (u64, u64) {
        self.periods.state.epochs.counts()
    }

    /// Returns the epochs whose delay was limited by its bound.
    #[must_use]
    pub fn bounded_epochs(&self) -> u64 {
        self.periods.state.epochs.bounded()
    }

    /// Returns whether `pages` page writes that arrive at `arrival_ns` would leave within the current period and its
    /// limit. If not, call [`Gate::observe`] before they are admitted.
    #[must_use]
    pub fn stays(&self, arrival_ns: u64, pages: u64) -> bool {
        let s = &self.periods.state;
        let last_ns = arrival_ns.max(s.admitted_ns).saturating_add(pages.saturating_mul(s.delay_ns));
        let cost = pages as f64 * s.page_flash_bytes;
        // Tokens have no limit with an estimate; they are corrected per epoch.
        let in_limit = self.periods.has_bucket() || s.used_bytes + cost <= s.limit_bytes;
        last_ns < s.period_end_ns && in_limit
    }

    /// Estimates how many page writes [`Gate::stays`] accepts, if they arrive at `arrival_ns` and every `gap_ns` from
    /// then on.
    #[must_use]
    pub fn staying(&self, (arrival_ns, gap_ns): (u64, u64)) -> u64 {
        let s = &self.periods.state;
        let left_ns =
            s.period_end_ns.saturating_sub(arrival_ns.max(s.admitted_ns).saturating_add(s.delay_ns + 1));
        let in_period = left_ns.checked_div(s.delay_ns.saturating_add(gap_ns));
        let in_period = in_period.map_or(u64::MAX, |later| later.saturating_add(1));
        // The rest of the limit may be negative; the cast makes that 0.
        let in_limit = ((s.limit_bytes - s.used_bytes) * s.page_flash_inverse) as u64;
        if self.periods.has_bucket() { in_period } else { in_period.min(in_limit) }
    }

    /// Counts the page writes that leave before the last period reachable in the current epoch, if none has to wait.
    ///
    /// They arrive at `arrival_ns` and every `gap_ns` after the previous one was admitted. Returns 0 where unused
    /// capacity of a period is lost.
    #[must_use]
    pub fn within_epoch(&self, (arrival_ns, gap_ns): (u64, u64), pages: u64) -> u64 {
        let (s, period_ns) = (&self.periods.state, self.periods.setup.params.period_ns);
        let first_ns = arrival_ns.max(s.admitted_ns).saturating_add(s.delay_ns);
        let until_ns = self.periods.limit_holds_until_ns();
        if until_ns == s.period_end_ns || first_ns >= until_ns || pages == 0 {
            return 0;
        }
        let distance_ns = s.delay_ns.saturating_add(gap_ns);
        let last_ns = first_ns.saturating_add((pages - 1).saturating_mul(distance_ns)).min(until_ns - 1);
        let period_start_ns = last_ns - (last_ns - s.epoch.start_ns) % period_ns;
        match period_start_ns.checked_sub(first_ns + 1) {
            None => 0,
            Some(span_ns) => span_ns.checked_div(distance_ns).map_or(pages, |later| pages.min(later + 1)),
        }
    }

    /// Returns how the limit grows while `pages` page writes pass that arrive at `arrival_ns` and every `gap_ns` after
    /// the previous one was admitted. None where unused capacity of a period is lost, and where an epoch or a window of
    /// demand ends before or among them.
    #[must_use]
    pub fn way(&self, (arrival_ns, gap_ns): (u64, u64), pages: u64) -> Option<Way> {
        let (s, e) = (&self.periods.state, &self.periods.state.epoch);
        let first_ns = arrival_ns.max(s.admitted_ns).saturating_add(s.delay_ns);
        let undelayed_ns = arrival_ns.saturating_sub(s.held_back_ns);
        let is_past = s.epochs.demand.is_past(undelayed_ns.saturating_add(pages.saturating_mul(gap_ns)));
        if !self.periods.adds_up() || s.free || first_ns >= e.end_ns || is_past {
            return None;
        }
        let distance_ns = s.delay_ns.saturating_add(gap_ns) as f64;
        let rate = s.share_bytes / self.periods.setup.params.period_ns as f64;
        let before_bytes = e.used_bytes + e.carried_bytes + e.spare_bytes;
        Some(Way {
            limit_bytes: before_bytes + rate * (first_ns - e.start_ns) as f64,
            page_bytes: rate * distance_ns,
            pages: (((e.end_ns - first_ns) as f64 / distance_ns) as u64).saturating_add(1),
        })
    }

    /// Lets page writes of the current epoch and window pass like [`Gate::admit`], where none has to wait.
    pub fn pass<R: Record>(&mut self, arrival_ns: u64, gap_ns: u64, pages: u64, record: &mut R) -> u64 {
        let s = &mut self.periods.state;
        let first_ns = arrival_ns.max(s.admitted_ns).saturating_add(s.delay_ns);
        let last_ns = first_ns + (pages - 1) * (s.delay_ns + gap_ns);
        s.arrival_ns = s.arrival_ns.max(arrival_ns);
        s.epochs.demand.add(pages);
        s.spend(pages, &mut self.periods.foreseen);
        s.held_back_ns += pages * s.delay_ns;
        s.admitted_ns = last_ns;
        record.passed(first_ns, last_ns, pages, s.delay_ns);
        self.periods.leave_periods(last_ns, record);
        last_ns
    }

    /// Returns the total flash bytes up to which page writes are admitted in the current period.
    #[must_use]
    pub fn limit_bytes(&self) -> f64 {
        self.periods.state.limit_bytes
    }

    /// Lets `pages` page writes pass. The first arrives at `arrival_ns`, each other one `gap_ns` after the previous one
    /// was admitted. Returns the time at which the last is admitted.
    #[inline]
    pub fn admit<R: Record>(&mut self, arrival_ns: u64, gap_ns: u64, pages: u64, record: &mut R) -> u64 {
        let s = &mut self.periods.state;
        let begin_ns = arrival_ns.max(s.admitted_ns);
        s.arrival_ns = s.arrival_ns.max(arrival_ns);
        if pages == 0 {
            return begin_ns;
        }
        let held_back_ns = if self.periods.setup.arrivals_follow { s.held_back_ns } else { 0 };
        let undelayed_ns = arrival_ns.saturating_sub(held_back_ns);
        if s.epochs.demand.is_past(undelayed_ns.saturating_add((pages - 1).saturating_mul(gap_ns))) {
            return self.admit_by_window(arrival_ns, undelayed_ns, gap_ns, pages, record);
        }
        s.epochs.demand.add(pages);
        let first_ns = begin_ns.saturating_add(s.delay_ns);
        let last_ns = first_ns.saturating_add((pages - 1).saturating_mul(s.delay_ns.saturating_add(gap_ns)));
        let cost = pages as f64 * s.page_flash_bytes;
        if last_ns < s.period_end_ns && s.used_bytes + cost <= s.limit_bytes {
            s.spend(pages, &mut self.periods.foreseen);
            s.admitted_ns = last_ns;
            // In open arrival a write also waits for those before it; that is not additional demand.
            s.held_back_ns += pages * s.delay_ns;
            record.passed(first_ns, last_ns, pages, s.delay_ns);
            return last_ns;
        }
        self.admit_slowly(begin_ns, gap_ns, pages, record)
    }

    /// Lets many page writes pass at once if none of them may have to wait and all fall into the current epoch and
    /// window: `pages` that arrive spread over `span_ns` from `arrival_ns` on. Returns the time by which they and the
    /// span are over; None if they need single steps.
    pub fn admit_all<R: Record>(
        &mut self,
        arrival_ns: u64,
        span_ns: u64,
        pages: u64,
        record: &mut R,
    ) -> Option<u64> {
        let s = &mut self.periods.state;
        let undelayed_ns = arrival_ns.saturating_sub(s.held_back_ns);
        let held_ns = pages.saturating_mul(s.delay_ns);
        let end_ns = arrival_ns.saturating_add(span_ns).saturating_add(held_ns);
        let cost = pages as f64 * s.page_flash_bytes;
        // A static cap discards the unused share of a period, so it must process each period.
        let is_static = self.periods.parts.is_some_and(|parts| parts.regulator == Regulator::StaticCap);
        let fits = arrival_ns >= s.epoch.start_ns
            && end_ns < if is_static { s.period_end_ns } else { s.epoch.end_ns }
            && s.used_bytes + cost <= s.limit_bytes
            && !s.epochs.demand.is_past(undelayed_ns.saturating_add(span_ns));
        if !(fits && self.periods.setup.arrivals_follow) {
            return None;
        }
        s.epochs.demand.add(pages);
        if pages > 0 {
            s.spend(pages, &mut self.periods.foreseen);
            s.admitted_ns = end_ns;
            s.held_back_ns += held_ns;
            record.passed(arrival_ns + s.delay_ns, end_ns, pages, s.delay_ns);
        }
        Some(end_ns)
    }

    /// Lets those pages pass first that arrive in the current window of demand.
    #[cold]
    fn admit_by_window<R: Record>(
        &mut self,
        arrival_ns: u64,
        undelayed_ns: u64,
        gap_ns: u64,
        pages: u64,
        record: &mut R,
    ) -> u64 {
        let window = &self.periods.state.epochs.demand;
        if window.is_past(undelayed_ns) {
            while self.periods.state.epochs.demand.is_past(undelayed_ns) {
                self.periods.state.epochs.turn(&self.periods.setup);
            }
            return self.admit(arrival_ns, gap_ns, pages, record);
        }
        // The last page arrives after the window, so there is a gap.
        let inside = (window.end_ns() - 1 - undelayed_ns) / gap_ns + 1;
        let last_ns = self.admit(arrival_ns, gap_ns, inside, record);
        self.admit(last_ns.saturating_add(gap_ns), gap_ns, pages - inside, record)
    }

    fn admit_slowly<R: Record>(
        &mut self,
        mut begin_ns: u64,
        gap_ns: u64,
        mut pages: u64,
        record: &mut R,
    ) -> u64 {
        loop {
            self.periods.leave_periods(begin_ns, record);
            if self.periods.has_bucket() {
                return self.admit_by_token(begin_ns, gap_ns, pages, record);
            }
            let delay_ns = self.periods.state.delay_ns;
            // After the target nothing is held back, and no delay extends beyond it.
            let first_ns = begin_ns.saturating_add(delay_ns).min(self.periods.setup.target_ns.max(begin_ns));
            self.periods.leave_periods(first_ns, record);
            let until_ns = self.periods.limit_holds_until_ns();
            let s = &mut self.periods.state;
            let distance_ns = delay_ns.saturating_add(gap_ns);
            let last_ns = first_ns.saturating_add((pages - 1).saturating_mul(distance_ns));
            let cost = pages as f64 * s.page_flash_bytes;
            let held_ns = first_ns - begin_ns;
            if last_ns < until_ns && s.used_bytes + cost <= s.limit_bytes && s.delay_ns == delay_ns {
                s.spend(pages, &mut self.periods.foreseen);
                s.held_back_ns += held_ns + (pages - 1) * delay_ns;
                s.admitted_ns = last_ns;
                record.passed(first_ns, last_ns, pages, held_ns);
                self.periods.leave_periods(last_ns, record);
                return last_ns;
            }
            // The rest of the limit may be negative; the cast makes that 0, as intended.
            let in_limit = (((s.limit_bytes - s.used_bytes) * s.page_flash_inverse) as u64).min(pages);
            let (is_current, run) = (s.delay_ns == delay_ns, (first_ns, distance_ns, pages));
            let grouped = if is_current { self.periods.admit_groups(run, in_limit, record) } else { 0 };
            let mut count = if grouped > 0 {
                grouped
            } else if !is_current {
                in_limit.min(1)
            } else if in_limit < 2
                || first_ns.saturating_add((in_limit - 1).saturating_mul(distance_ns)) < until_ns
            {
                in_limit
            } else {
                in_limit.min((until_ns - 1 - first_ns) / distance_ns + 1)
            };
            if count > 0 {
                let s = &mut self.periods.state;
                s.spend(count - grouped, &mut self.periods.foreseen);
                let last_ns = s.passed((begin_ns, first_ns, distance_ns), count);
                record.passed(first_ns, last_ns, count, held_ns);
            } else {
                let backlog = Backlog { due_ns: first_ns, delay_ns: held_ns, gap_ns, pages };
                count = self.periods.admit_backlog(backlog, record);
            }
            if count == 0 {
                let room_ns = self.periods.wait_for_room(first_ns, record);
                let s = &mut self.periods.state;
                s.spend(1, &mut self.periods.foreseen);
                s.held_back_ns += room_ns - begin_ns;
                s.admitted_ns = room_ns;
                record.waited(room_ns, held_ns, room_ns - first_ns);
                count = 1;
            }
            pages -= count;
            if pages == 0 {
                return self.periods.state.admitted_ns;
            }
            begin_ns = self.periods.state.admitted_ns.saturating_add(gap_ns);
        }
    }

    /// Lets page writes pass when they get tokens, or after their longest wait.
    fn admit_by_token<R: Record>(
        &mut self,
        mut begin_ns: u64,
        gap_ns: u64,
        mut pages: u64,
        record: &mut R,
    ) -> u64 {
        let params = &self.periods.setup.params;
        let patience = Patience { p99_ns: params.p99_ns, max_ns: params.max_delay_ns.unwrap_or(u64::MAX) };
        loop {
            self.periods.leave_periods(begin_ns, record);
            let s = &mut self.periods.state;
            let end_ns = s.epoch.end_ns;
            // Counts page writes at this distance within the epoch, the first at a time within it.
            let within = |at_ns: u64, distance_ns: u64| {
                let later = (end_ns - 1 - at_ns).checked_div(distance_ns);
                later.map_or(pages, |later| pages.min(later.saturating_add(1)))
            };
            // After the target the gate has no limit.
            let free = s.limit_bytes == f64::INFINITY;
            let in_epoch = within(begin_ns, gap_ns);
            let ready = if free { in_epoch } else { s.bucket.ready(begin_ns, gap_ns, in_epoch) };
            if ready > 0 {
                s.bucket.pass(begin_ns, gap_ns, ready);
                s.spend(ready, &mut self.periods.foreseen);
                s.admitted_ns = begin_ns + (ready - 1) * gap_ns;
                record.passed(begin_ns, s.admitted_ns, ready, 0);
                pages -= ready;
            } else {
                let (alike, wait_ns) = s.bucket.waits(begin_ns, gap_ns, pages, &patience);
                let wait_ns = wait_ns.min(self.periods.setup.target_ns - begin_ns);
                let (room_ns, distance_ns) = (begin_ns + wait_ns, wait_ns.saturating_add(gap_ns));
                let count = if room_ns < end_ns { alike.min(within(room_ns, distance_ns)) } else { 1 };
                self.periods.leave_periods(room_ns, record);
                let s = &mut self.periods.state;
                s.bucket.pass(room_ns, distance_ns, count);
                s.spend(count, &mut self.periods.foreseen);
                s.held_back_ns += wait_ns * count;
                s.admitted_ns = room_ns + (count - 1) * distance_ns;
                record.waited_alike(room_ns, s.admitted_ns, count, (0, wait_ns));
                pages -= count;
            }
            if pages == 0 {
                return self.periods.state.admitted_ns;
            }
            begin_ns = self.periods.state.admitted_ns.saturating_add(gap_ns);
        }
    }
}
