//! Outcome of a life.

use crate::SECONDS_PER_YEAR;
use crate::reduce::{Foreseen, Record as Decisions, Reduced};
use crate::throttle::{Epoch, Gate, Passed, Predictions, Record, Setup};
use floatgate_stats::Latency;

/// Distance of the rows over the first days.
const FINE_NS: u64 = 600_000_000_000;
/// Duration of the finely spaced rows.
const FINE_UNTIL_NS: u64 = 3 * 86_400_000_000_000;
/// Number of rows over the rest of the life.
const ROWS: u64 = 1400;

/// State of the life at some moment. Bytes are flash bytes since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Row {
    /// Time since the beginning.
    pub time_ns: u64,
    /// Bytes written.
    pub written_bytes: f64,
    /// Bytes that the host would have written by then without throttling, at the mean rate of a pass.
    pub demand_bytes: f64,
    /// Capacity allotted to epochs.
    pub capacity_bytes: f64,
    /// Mean delay per page write since the previous row, nanoseconds.
    pub delay_ns: f64,
    /// Mean wait per page write since the previous row, nanoseconds.
    pub wait_ns: f64,
    /// Length of the current epoch.
    pub epoch_ns: u64,
    /// Cycles that blocks endure at their rest so far.
    pub pe_cycles: f64,
    /// Mean rest so far, seconds; None before the first cycle is complete.
    pub idle_s: Option<f64>,
}

/// A part of the life, interval by interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Detail {
    /// Start of the part.
    pub from_ns: u64,
    /// Width of an interval.
    pub interval_ns: u64,
    /// Admitted page writes per interval.
    pub written_pages: Vec<u64>,
    /// Arrived page writes per interval, without the delays that arose within the part.
    pub demand_pages: Vec<u64>,
}

/// Width of the intervals of a detail.
const DETAIL_NS: u64 = 1_000_000_000;

/// Outcome of a simulated life.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Years until the drive is worn out. If it outlives the target: target times budget over use (READY's effective
    /// lifetime). None where nothing is written.
    pub years: Option<f64>,
    /// Whether it outlives the target.
    pub holds: bool,
    /// End of the simulation: the target, or the time at which the drive was worn out.
    pub end_ns: u64,
    /// Flash bytes written until the target (W_work), extrapolated at the rate so far where the life ended earlier.
    pub work_bytes: f64,
    /// Cycles that blocks endure at their rest until the target.
    pub pe_cycles: f64,
    /// Mean rest, seconds.
    pub mean_idle_s: Option<f64>,
    /// Delays and waits of page writes under the throttle.
    pub delay: Latency,
    /// Totals of the gate.
    pub passed: Passed,
    /// Epochs planned.
    pub epochs: u64,
    /// New choices of the epoch length.
    pub selections: u64,
    /// The fault of a throttle from outside, if one did.
    pub policy_fault: Option<&'static str>,
    /// Epochs limited by the bound on delays.
    pub bounded_epochs: u64,
    /// Accuracy of the predictions.
    pub predictions: Predictions,
    /// Accuracy of the predictions in the first pass.
    pub first_pass: Predictions,
    /// Passes begun.
    pub passes: u64,
    /// The course of the life.
    pub rows: Vec<Row>,
    /// The part recorded in detail.
    pub detail: Option<Detail>,
    /// Decisions of an integrated manager, if there is one.
    pub decisions: Option<Decisions>,
    /// Results of the schemes, where no drive counts them.
    pub reduced: Option<Reduced>,
}

/// Records a life, simulated with or without a drive.
#[derive(Clone, Debug)]
pub struct Book {
    setup: Setup,
    delay: Latency,
    /// Page writes with the same delay, not yet in the histogram.
    alike: (u64, u64),
    passed: Passed,
    capacity_bytes: f64,
    /// Page writes admitted after the target, which are not part of the life.
    late_pages: u64,
    next_row_ns: u64,
    rows: Vec<Row>,
    /// Delays, waits and page writes at the last row.
    at_row: (u128, u128, u64),
    worn_out_ns: Option<f64>,
    /// The time at which the life was stopped before its target.
    stopped_ns: Option<u64>,
    detail: Option<Detail>,
    /// Delays before the detail began.
    held_before_ns: Option<u64>,
    /// Accuracy of the predictions in the first pass.
    pub first_pass: Predictions,
}

impl Book {
    /// Creates an empty book; `detail_ns` are start and end of the detail.
    #[must_use]
    pub fn new(setup: &Setup, detail_ns: Option<(u64, u64)>) -> Self {
        let detail = detail_ns.map(|(from_ns, to_ns)| {
            let intervals = (to_ns - from_ns).div_ceil(DETAIL_NS) as usize;
            let zeros = vec![0; intervals];
            Detail { from_ns, interval_ns: DETAIL_NS, written_pages: zeros.clone(), demand_pages: zeros }
        });
        Self {
            setup: *setup,
            delay: Latency::default(),
            alike: (0, 0),
            passed: Passed::new(setup.target_ns),
            capacity_bytes: 0.0,
            late_pages: 0,
            next_row_ns: FINE_NS,
            rows: vec![],
            at_row: (0, 0, 0),
            worn_out_ns: None,
            stopped_ns: None,
            detail,
            held_before_ns: None,
            first_pass: Predictions::default(),
        }
    }

    /// Counts the arrival of a run; only called within the detail.
    pub fn demanded(&mut self, arrival_ns: u64, pages: u64) {
        let held_ns = (self.passed.delay_ns + self.passed.wait_ns) as u64;
        let Some(detail) = &mut self.detail else { return };
        if arrival_ns < detail.from_ns {
            return;
        }
        let before_ns = *self.held_before_ns.get_or_insert(held_ns);
        let at = (arrival_ns - (held_ns - before_ns)).saturating_sub(detail.from_ns) / detail.interval_ns;
        if let Some(count) = detail.demand_pages.get_mut(at as usize) {
            *count += pages;
        }
    }

    /// Returns the totals of the gate so far.
    #[must_use]
    pub fn passed(&self) -> &Passed {
        &self.passed
    }

    /// Writes a row if one is due; called after every passage of the gate.
    #[inline]
    pub fn look(&mut self, gate: &Gate) {
        if gate.admitted_ns() >= self.next_row_ns {
            self.row(gate, gate.admitted_ns().min(self.setup.target_ns));
        }
    }

    /// Reports whether the average block has used up its cycles.
    #[must_use]
    pub fn is_worn_out(&self) -> bool {
        self.worn_out_ns.is_some()
    }

    /// Ends the life before its target.
    pub fn stop(&mut self, now_ns: u64) {
        self.stopped_ns = Some(now_ns);
    }

    /// Returns the flash bytes written in the life, without those admitted after the target.
    fn written_bytes(&self, gate: &Gate) -> f64 {
        gate.used_bytes() - self.late_pages as f64 * gate.page_flash_bytes()
    }

    #[cold]
    fn row(&mut self, gate: &Gate, time_ns: u64) {
        let physical = self.setup.physical_bytes as f64;
        let written_bytes = self.written_bytes(gate);
        let cycles = written_bytes / physical;
        let idle_s = self.setup.mean_idle_s(time_ns, cycles);
        let pe_cycles = self.setup.endurance.cycles(idle_s);
        let Passed { delay_ns, wait_ns, page_writes, epoch_ns, .. } = self.passed;
        let (delay, wait, pages) = self.at_row;
        let new = (page_writes - pages).max(1) as f64;
        let row = Row {
            time_ns,
            written_bytes,
            demand_bytes: 0.0,
            capacity_bytes: self.capacity_bytes,
            delay_ns: (delay_ns - delay) as f64 / new,
            wait_ns: (wait_ns - wait) as f64 / new,
            epoch_ns,
            pe_cycles,
            idle_s,
        };
        self.note_wear(&row, cycles);
        self.rows.push(row);
        self.at_row = (delay_ns, wait_ns, page_writes);
        let step_ns =
            if time_ns < FINE_UNTIL_NS { FINE_NS } else { (self.setup.target_ns / ROWS).max(FINE_NS) };
        self.next_row_ns = (time_ns / step_ns + 1).saturating_mul(step_ns);
    }

    /// Notes when the writes reached the endurance of the blocks, by interpolation between two rows.
    fn note_wear(&mut self, row: &Row, cycles: f64) {
        let over = |cycles: f64, stands: f64| cycles + self.setup.cycles_used - stands;
        let now = over(cycles, row.pe_cycles);
        if self.worn_out_ns.is_some() || now <= 0.0 {
            return;
        }
        let (time_ns, before) = self.rows.last().map_or(
            (0.0, over(0.0, self.setup.endurance.cycles(self.setup.mean_idle_s(0, 0.0)))),
            |last| {
                (
                    last.time_ns as f64,
                    over(last.written_bytes / self.setup.physical_bytes as f64, last.pe_cycles),
                )
            },
        );
        let share = if before < 0.0 { -before / (now - before) } else { 0.0 };
        self.worn_out_ns = Some(time_ns + (row.time_ns as f64 - time_ns) * share);
    }

    fn flush(&mut self) {
        let (held_ns, count) = std::mem::take(&mut self.alike);
        self.delay.record_many(held_ns, count);
    }

    /// Computes the outcome of a life with so many passes begun, in which the host would have written `demand_rate`
    /// flash bytes per nanosecond.
    #[must_use]
    pub fn outcome(mut self, gate: &Gate, passes: u64, demand_rate: f64) -> Outcome {
        self.flush();
        let target_ns = self.setup.target_ns;
        let end_ns = self.stopped_ns.map_or(target_ns, |stopped_ns| stopped_ns.min(target_ns));
        if self.rows.last().is_some_and(|last| last.time_ns == end_ns) {
            self.rows.pop();
        }
        self.row(gate, end_ns);
        for row in &mut self.rows {
            row.demand_bytes = demand_rate * row.time_ns as f64;
        }
        let work_bytes = self.written_bytes(gate) * (target_ns as f64 / end_ns as f64);
        let physical = self.setup.physical_bytes as f64;
        let last = self.rows[self.rows.len() - 1];
        let target_years = target_ns as f64 / 1e9 / SECONDS_PER_YEAR;
        let budget = physical * (last.pe_cycles - self.setup.cycles_used);
        // A tolerance of 0.1 %: the last page may be one too many.
        let worn_ns = self.worn_out_ns.filter(|&ns| ns < target_ns as f64 * 0.999);
        let years = match worn_ns {
            Some(ns) => Some(ns / 1e9 / SECONDS_PER_YEAR),
            None => (work_bytes > 0.0).then(|| target_years * budget / work_bytes),
        };
        let (epochs, selections) = gate.epochs();
        Outcome {
            years,
            holds: worn_ns.is_none(),
            end_ns,
            work_bytes,
            pe_cycles: last.pe_cycles,
            mean_idle_s: last.idle_s,
            delay: self.delay,
            passed: self.passed,
            epochs,
            selections,
            policy_fault: gate.policy_fault(),
            bounded_epochs: gate.bounded_epochs(),
            predictions: gate.predictions(),
            first_pass: self.first_pass,
            passes,
            rows: self.rows,
            detail: self.detail,
            decisions: gate.manager().map(|manager| manager.record().clone()),
            reduced: gate.foreseen().map(Foreseen::reduced),
        }
    }
}

/// Counts how many page writes at even distances are admitted at `from_ns` or later.
fn late(first_ns: u64, last_ns: u64, count: u64, from_ns: u64) -> u64 {
    match (last_ns - first_ns) / (count - 1).max(1) {
        _ if first_ns >= from_ns => count,
        // All at the same time, and none late.
        0 => 0,
        gap_ns => count - ((from_ns - 1 - first_ns) / gap_ns + 1).min(count),
    }
}

impl Record for Book {
    #[inline]
    fn passed(&mut self, first_ns: u64, last_ns: u64, count: u64, delay_ns: u64) {
        if self.alike.0 != delay_ns {
            self.flush();
            self.alike.0 = delay_ns;
        }
        self.alike.1 += count;
        self.passed.passed(first_ns, last_ns, count, delay_ns);
        if last_ns >= self.setup.target_ns {
            self.late_pages += late(first_ns, last_ns, count, self.setup.target_ns);
        }
        if let Some(detail) = &mut self.detail {
            detail.spread(first_ns, last_ns, count);
        }
    }

    fn waited(&mut self, time_ns: u64, delay_ns: u64, wait_ns: u64) {
        self.passed.waited(time_ns, delay_ns, wait_ns);
        self.late_pages += u64::from(time_ns >= self.setup.target_ns);
        self.delay.record_many(delay_ns.saturating_add(wait_ns), 1);
        if let Some(detail) = &mut self.detail {
            detail.spread(time_ns, time_ns, 1);
        }
    }

    fn waited_alike(&mut self, first_ns: u64, last_ns: u64, count: u64, held_ns: (u64, u64)) {
        self.passed.waited_alike(first_ns, last_ns, count, held_ns);
        if last_ns >= self.setup.target_ns {
            self.late_pages += late(first_ns, last_ns, count, self.setup.target_ns);
        }
        self.delay.record_many(held_ns.0.saturating_add(held_ns.1), count);
        if let Some(detail) = &mut self.detail {
            detail.spread(first_ns, last_ns, count);
        }
    }

    fn is_close(&self, from_ns: u64, to_ns: u64) -> bool {
        self.detail.as_ref().is_some_and(|detail| detail.overlaps(from_ns, to_ns))
    }

    fn epoch(&mut self, epoch: &Epoch) {
        self.passed.epoch(epoch);
        self.capacity_bytes += epoch.capacity_bytes;
    }
}

impl Detail {
    fn end_ns(&self) -> u64 {
        self.from_ns + self.interval_ns * self.written_pages.len() as u64
    }

    fn overlaps(&self, from_ns: u64, to_ns: u64) -> bool {
        to_ns >= self.from_ns && from_ns < self.end_ns()
    }

    /// Counts page writes at even distances.
    fn spread(&mut self, first_ns: u64, last_ns: u64, count: u64) {
        let end_ns = self.end_ns();
        if !self.overlaps(first_ns, last_ns) {
            return;
        }
        let gap_ns = (last_ns - first_ns) / (count - 1).max(1);
        let mut at_ns = first_ns;
        for _ in 0..count {
            if (self.from_ns..end_ns).contains(&at_ns) {
                self.written_pages[((at_ns - self.from_ns) / self.interval_ns) as usize] += 1;
            }
            at_ns += gap_ns;
        }
    }
}
