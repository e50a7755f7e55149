//! The step from one epoch to the next: predict, allot, delay (READY, Fig. 3).

use super::delay::{Delays, Expected, next_delay_s, stepped_delay_s};
use super::epoch_length::{Predictions, Trigger, select};
use super::history::History;
use super::plugin::Outside;
use super::predictor::Predictor;
use super::regulator::{Allotment, Remaining};
use super::setup::Setup;
use super::{Params, Parts, Throttle};
use floatgate_plugin::contract;
use serde::{Deserialize, Serialize};

/// A planned epoch. Bytes are flash bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// Start, nanoseconds.
    pub start_ns: u64,
    /// End, nanoseconds.
    pub end_ns: u64,
    /// Capacity of the epoch.
    pub capacity_bytes: f64,
    /// Spare that it may borrow.
    pub spare_bytes: f64,
    /// Rest of the previous epoch, kept for a waiting write larger than an epoch's capacity.
    pub carried_bytes: f64,
    /// Flash bytes used at its start.
    pub used_bytes: f64,
    /// Delay of every page write, seconds.
    pub delay_s: f64,
}

/// State at the end of an epoch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    /// Flash bytes used so far.
    pub used_bytes: f64,
    /// Flash bytes per page write.
    pub page_flash_bytes: f64,
    /// Whether a write did not fit into it.
    pub waiting: bool,
    /// Time for which a writer waited in it.
    pub waited_ns: u64,
}

/// State kept between epochs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Epochs {
    /// Demand without delays.
    pub(super) demand: History,
    trigger: Trigger,
    predictor: Predictor,
    /// Length of the next epoch, except at the end of the life.
    length_ns: u64,
    /// Capacity per nanosecond of the last epoch that did not use the spare.
    unreduced_rate: Option<f64>,
    delay_s: f64,
    /// Demand of all epochs so far, flash bytes: bytes written over the share of the time without a waiting writer.
    demand_bytes: f64,
    /// Epochs planned, and those whose delay was limited by its bound.
    planned: u64,
    bounded: u64,
    /// New choices of the epoch length.
    selections: u64,
    /// The throttle, if it comes from outside.
    outside: Option<Outside>,
}

impl Epochs {
    /// Starts a life.
    #[must_use]
    pub fn new(setup: &Setup) -> Self {
        let params = &setup.params;
        let length_ns = params.fixed_epoch_ns.unwrap_or(params.unit_window_ns);
        let windows = (length_ns / params.unit_window_ns).clamp(1, u64::from(u32::MAX)) as u32;
        Self {
            demand: History::new(params.unit_window_ns, params.history_windows),
            trigger: Trigger::new(windows),
            predictor: Predictor::default(),
            length_ns,
            unreduced_rate: None,
            delay_s: 0.0,
            demand_bytes: 0.0,
            planned: 0,
            bounded: 0,
            selections: 0,
            outside: match setup.policy {
                Throttle::Plugin(params) => Some(Outside::new(params, setup.page_bytes)),
                _ => None,
            },
        }
    }

    /// Completes a window of demand.
    pub(super) fn turn(&mut self, setup: &Setup) {
        self.demand.turn();
        self.trigger.turned(&self.demand, setup.params.error_max);
    }

    /// Plans the epoch that begins at the end of `last`.
    pub(super) fn next(&mut self, (setup, parts): (&Setup, &Parts), last: &Epoch, ended: &Ended) -> Epoch {
        let Ended { used_bytes, page_flash_bytes, waiting, .. } = *ended;
        let now_ns = last.end_ns;
        let left_ns = setup.target_ns - now_ns;
        let physical = setup.physical_bytes as f64;
        let total = parts.budget.total_bytes(setup, now_ns, used_bytes / physical);
        let left_bytes = (total - used_bytes).max(0.0);
        let spent = used_bytes - last.used_bytes;
        self.demand_bytes += if setup.params.regains { self.demand_of(setup, last, ended) } else { spent };
        self.predictor.mark(now_ns, self.demand_bytes);
        let touched = self.planned > 0 && spent > last.capacity_bytes + last.carried_bytes;
        let Params { fixed_epoch_ns, errors_in_a_row, wrong_share, .. } = setup.params;
        if fixed_epoch_ns.is_none() && self.trigger.is_due(errors_in_a_row, wrong_share) {
            self.choose_length(setup, left_bytes / left_ns as f64, page_flash_bytes);
        }
        let length_ns = self.length_ns.min(left_ns);
        let left = Remaining {
            bytes: left_bytes,
            epochs: left_ns as f64 / length_ns as f64,
            unreduced_rate: self.unreduced_rate,
            length_ns,
            touched_spare: touched,
            spare_share: setup.params.spare_share,
        };
        let mut allotment = parts.regulator.allot(&left);
        let end_ns = now_ns + length_ns;
        let wanted = used_bytes + allotment.capacity_bytes + allotment.spare_bytes;
        let bounded = parts.budget.bounded(setup, end_ns, wanted);
        reduce(&mut allotment, wanted - bounded);
        if !touched {
            self.unreduced_rate = Some(allotment.capacity_bytes / length_ns as f64);
        }
        if self.planned > 0 {
            self.delay((setup, parts), (last, ended), &allotment, (length_ns, left_bytes));
        }
        self.planned += 1;
        // Only needed for a write larger than an epoch's capacity; never more than the rest.
        let unspent = (last.capacity_bytes + last.carried_bytes - spent).max(0.0);
        let room = if bounded < wanted { 0.0 } else { (left_bytes + used_bytes - wanted).max(0.0) };
        Epoch {
            start_ns: now_ns,
            end_ns,
            capacity_bytes: allotment.capacity_bytes,
            spare_bytes: allotment.spare_bytes,
            carried_bytes: if waiting { unspent.min(room) } else { 0.0 },
            used_bytes,
            delay_s: self.delay_s,
        }
    }

    /// Estimates the bytes that the host would have written in an epoch if no writer had waited for capacity: bytes
    /// written over the share of the time without a waiting writer.
    ///
    /// A burst that waits for the rest of an epoch leaves hardly any such time; the largest window without delays is
    /// therefore the upper bound. If a writer waited all the time, only the capacity is known to be in demand.
    fn demand_of(&self, setup: &Setup, epoch: &Epoch, ended: &Ended) -> f64 {
        let spent = ended.used_bytes - epoch.used_bytes;
        let length_ns = epoch.end_ns - epoch.start_ns;
        if ended.waited_ns == 0 || length_ns == 0 {
            return spent;
        }
        let free_ns = length_ns.saturating_sub(ended.waited_ns);
        if free_ns == 0 || spent <= 0.0 {
            return spent.max(epoch.capacity_bytes);
        }
        let windows = length_ns as f64 / setup.params.unit_window_ns as f64;
        let most = self.demand.most() as f64 * ended.page_flash_bytes * windows;
        (spent * (length_ns as f64 / free_ns as f64)).min(most.max(spent))
    }

    /// Computes the delay of the coming epoch's page writes.
    fn delay(
        &mut self,
        (setup, parts): (&Setup, &Parts),
        (last, ended): (&Epoch, &Ended),
        allotment: &Allotment,
        (length_ns, left_bytes): (u64, f64),
    ) {
        let Params { step, first_step_ns, max_delay_ns, .. } = setup.params;
        let spent = ended.used_bytes - last.used_bytes;
        let per_length = length_ns as f64 / (last.end_ns - last.start_ns) as f64;
        let Allotment { capacity_bytes, .. } = *allotment;
        let wanted_s = match parts.delays {
            Delays::None => 0.0,
            Delays::Predicted => next_delay_s(
                self.delay_s,
                &Expected {
                    epoch_s: length_ns as f64 / 1e9,
                    demand_bytes: self.predictor.predict(length_ns).unwrap_or(0.0),
                    capacity_bytes,
                    pages: capacity_bytes / ended.page_flash_bytes,
                },
            ),
            Delays::Stepped => {
                let first_s = first_step_ns as f64 / 1e9;
                stepped_delay_s(self.delay_s, spent * per_length, capacity_bytes, step, first_s)
            }
            Delays::Outside => {
                let seen = self.seen(setup, (last, ended), allotment, (length_ns, left_bytes));
                self.outside.as_mut().map_or(0.0, |outside| outside.delay_s(&seen))
            }
        };
        let most_s = max_delay_ns.map_or(f64::INFINITY, |ns| ns as f64 / 1e9);
        self.bounded += u64::from(wanted_s > most_s);
        self.delay_s = wanted_s.min(most_s);
    }

    /// Describes the coming epoch to a throttle from outside.
    fn seen(
        &self,
        setup: &Setup,
        (last, ended): (&Epoch, &Ended),
        allotment: &Allotment,
        (length_ns, left_bytes): (u64, f64),
    ) -> contract::Epoch {
        contract::Epoch {
            size: size_of::<contract::Epoch>() as u32,
            reserved: 0,
            number: self.planned,
            start_s: last.end_ns as f64 / 1e9,
            length_s: length_ns as f64 / 1e9,
            target_s: setup.target_ns as f64 / 1e9,
            left_bytes,
            capacity_bytes: allotment.capacity_bytes,
            spare_bytes: allotment.spare_bytes,
            demand_bytes: self.predictor.predict(length_ns).unwrap_or(-1.0),
            page_write_bytes: ended.page_flash_bytes,
            last_bytes: ended.used_bytes - last.used_bytes,
            last_capacity_bytes: last.capacity_bytes,
            last_length_s: (last.end_ns - last.start_ns) as f64 / 1e9,
            last_waited_s: ended.waited_ns as f64 / 1e9,
            last_delay_s: self.delay_s,
        }
    }

    /// Checks whether the state of a throttle from outside is one of the throttle that is set.
    pub(super) fn fits(&self, setup: &Setup) -> bool {
        match (&self.outside, setup.policy) {
            (None, Throttle::Plugin(_)) => false,
            (Some(outside), Throttle::Plugin(params)) => outside.fits(params, setup.page_bytes),
            (outside, _) => outside.is_none(),
        }
    }

    /// Returns the fault that a throttle from outside made, if one did.
    #[must_use]
    pub fn fault(&self) -> Option<&'static str> {
        self.outside.as_ref()?.fault()
    }

    /// Chooses the epoch length. With throttling the writes of an epoch take longer; the epoch is extended in
    /// proportion (end of section 3.5): by demand without delays over capacity of the chosen length.
    fn choose_length(&mut self, setup: &Setup, bytes_per_ns: f64, page_flash_bytes: f64) {
        let Some(windows) = select(&self.demand, setup.params.pairs_min) else { return };
        self.trigger.restart(windows);
        self.selections += 1;
        let plain_ns = setup.params.unit_window_ns.saturating_mul(u64::from(windows));
        let demand = self.demand.sum(0, windows as usize) as f64 * page_flash_bytes;
        let capacity = bytes_per_ns * plain_ns as f64;
        let stretch = if capacity > 0.0 { (demand / capacity).max(1.0) } else { 1.0 };
        let period_ns = setup.params.period_ns;
        let periods = (plain_ns as f64 * stretch / period_ns as f64).min(u32::MAX as f64 * 1e3) as u64;
        self.length_ns = (periods + 1).saturating_mul(period_ns).min(setup.target_ns);
        if stretch == 1.0 {
            self.length_ns = plain_ns;
        }
    }

    /// Returns the accuracy of the predictions so far.
    #[must_use]
    pub fn predictions(&self) -> Predictions {
        self.trigger.predictions()
    }

    /// Returns the epochs planned so far, and the new choices of their length.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        (self.planned, self.selections)
    }

    /// Returns the epochs whose delay was limited by its bound ([`Params::max_delay_ns`]).
    #[must_use]
    pub fn bounded(&self) -> u64 {
        self.bounded
    }
}

/// Removes `excess_bytes` from an allotment: from the spare first.
fn reduce(allotment: &mut Allotment, excess_bytes: f64) {
    let excess = excess_bytes.max(0.0);
    let from_spare = excess.min(allotment.spare_bytes);
    allotment.spare_bytes -= from_spare;
    allotment.capacity_bytes = (allotment.capacity_bytes - (excess - from_spare)).max(0.0);
}
