//! Serving in timed mode: requests one by one, each at its arrival.
//!
//! A single queue without a limit is not modelled: its requests go straight from their arrival to the drive. Requests
//! of all other queues wait in `queued.rs`.

use super::clock::Clock;
use super::direct::Direct;
use super::hot_reads::HotReadWatch;
use super::idle::Idle;
use super::pins::PinWatch;
use super::queued::Waiting;
use super::request_log::{ROWS, RequestLog};
use super::stop::{Stop, lost};
use super::time_slices::{find_runs, serve_slices};
use crate::addressing::Placed;
use crate::buffer::Buffered;
use crate::drive::Drive;
use crate::gate::Throttled;
use crate::plan::{Arrival, Plan};
use crate::reading::Chunk;
use floatgate_base::Error;
use floatgate_flash::Timed;
use floatgate_flash::timed::Timeline;
use floatgate_stats::{Latency, Row};

/// Half of the clock's range: a single chunk of requests must not overflow it.
const CLOCK_MAX_NS: u64 = 1 << 62;

/// A timed run from the host's queues on.
pub(crate) struct TimedServing {
    pub direct: Direct,
    /// The queues, if requests may have to wait for a fetch.
    pub waiting: Option<Waiting>,
}

impl TimedServing {
    /// Creates the stages of an empty drive.
    pub fn new(plan: &Plan, arrival: Arrival, gate: Option<Throttled>) -> Self {
        Self::of(plan, arrival, gate, Drive::new(plan))
    }

    /// Creates the stages of this drive.
    pub fn of(plan: &Plan, arrival: Arrival, gate: Option<Throttled>, mut drive: Drive<Timed>) -> Self {
        let waiting = (!plan.queues.is_plain()).then(|| Waiting::new(plan, arrival));
        let queues = if waiting.is_some() { plan.queues.queues() } else { 0 };
        let chips = plan.drive.geometry.channels * plan.drive.geometry.chips_per_channel;
        let hot = HotReadWatch::new(plan.ftl.setup.logical_pages, chips);
        let mut clock = Clock::new(arrival, queues, gate.is_some(), hot);
        if plan.drive.disturb.is_some() {
            drive.array.back_end_mut().watch_reclaims();
            clock.watch_reclaims();
        }
        let direct = Direct {
            drive,
            buffer: Buffered::of(plan),
            clock,
            gate,
            log: None,
            pins: None,
            idle: Idle::of(plan),
            timeline: plan.timeline,
            engine_delays: plan.engine_delays(),
        };
        Self { direct, waiting }
    }

    /// Logs requests.
    pub fn log_to(&mut self, log: RequestLog) {
        self.direct.clock.logged = true;
        self.direct.log = Some(log);
    }

    /// Records the Ready/Busy pins; of a drive that counts already, from now on.
    pub fn listen(&mut self, pins: Box<PinWatch>, counts: bool) {
        if counts {
            pins.begin(self.direct.drive.array.back_end_mut());
        }
        self.direct.pins = Some(pins);
    }

    /// Begins counting: from here on operations take time.
    ///
    /// # Errors
    /// The drive cannot continue.
    pub fn start_counting(&mut self) -> Result<(), Stop> {
        let Direct { drive, buffer, timeline, engine_delays, pins, .. } = &mut self.direct;
        buffer.as_mut().map_or(Ok(()), |buffer| buffer.flush_all(drive)).map_err(Stop::Flush)?;
        drive.reset_counts();
        let timed = drive.array.back_end_mut();
        timed.start();
        if let Some((from_ns, to_ns, spans_max)) = *timeline {
            timed.record(Timeline::new(from_ns, to_ns, spans_max));
        }
        if let Some(pins) = pins {
            pins.begin(timed);
        }
        if engine_delays.is_some() {
            timed.keep_links();
        }
        if let Some(buffer) = buffer {
            buffer.reset_counts();
            timed.keep_links();
        }
        Ok(())
    }

    /// Serves the requests of a chunk; those of the warm-up without time.
    ///
    /// # Errors
    /// The drive cannot continue, a request is lost, or the log cannot be written.
    pub fn serve(&mut self, chunk: &Chunk<'_>, placed: Placed<'_>, devices: &[String]) -> Result<(), Stop> {
        let Self { direct, waiting } = self;
        if chunk.counting.is_none() {
            let mut runs = Vec::with_capacity(1);
            find_runs(chunk, &mut runs);
            return serve_slices(&mut direct.drive, &mut direct.buffer, chunk, (placed, 0), &mut runs);
        }
        match waiting {
            Some(waiting) => waiting.arrive(direct, chunk, placed, devices)?,
            None => direct.arrive_at_once(chunk, placed)?,
        }
        direct.hand_out_log(ROWS, devices)?;
        direct.hand_out_pins()?;
        if direct.clock.latest_ns() > CLOCK_MAX_NS {
            let expected = "expected shorter operations, fewer requests, or time stamps closer together";
            return Err(Error::run("the clock has run for more than 146 years", expected).into());
        }
        Ok(())
    }

    /// Lets time pass until `now_ns`: waiting requests are fetched, and completed ones and low phases handed out.
    ///
    /// # Errors
    /// As [`TimedServing::serve`].
    pub fn pass_time(&mut self, now_ns: u64, devices: &[String]) -> Result<(), Stop> {
        let Self { direct, waiting } = self;
        let is_waiting = match waiting {
            Some(waiting) => waiting.pass(direct, now_ns, devices)?,
            None => false,
        };
        if !is_waiting {
            direct.work_until(now_ns).map_err(Stop::Flush)?;
        }
        direct.clock.collect_until(direct.drive.array.back_end_mut(), now_ns);
        direct.hand_out_log(1, devices)?;
        direct.hand_out_pins()?;
        Ok(())
    }

    /// Fetches waiting requests, completes all in flight, and flushes the buffer.
    ///
    /// # Errors
    /// As [`TimedServing::serve`].
    pub fn finish(&mut self, devices: &[String]) -> Result<(), Stop> {
        let Self { direct, waiting } = self;
        let left = match waiting {
            Some(waiting) => waiting.finish(direct, devices)?,
            None => 0,
        };
        let missing = direct.clock.finish(direct.drive.array.back_end_mut()) + left;
        if missing > 0 {
            return Err(lost(missing).into());
        }
        direct.hand_out_log(1, devices)?;
        direct.flush_buffer().map_err(Stop::Flush)?;
        let timed = direct.drive.array.back_end_mut();
        Ok(direct.pins.as_mut().map_or(Ok(()), |pins| pins.end(timed))?)
    }

    /// Completes a row: waiting requests have arrived, but have not reached the flash.
    pub fn complete(&mut self, row: &mut Row) {
        let (waiting_reads, waiting_writes) = self.waiting.as_ref().map_or((0, 0), Waiting::pages);
        let clock = &mut self.direct.clock;
        row.time_ns = i64::try_from(clock.now_ns()).unwrap_or(i64::MAX);
        row.page_reads -= waiting_reads;
        row.page_writes -= waiting_writes;
        row.longest_ns = clock.take_longest_ns();
        row.done = clock.latencies().each_ref().map(Latency::count);
        row.latency_ns = clock.latencies().each_ref().map(Latency::sum_ns);
    }
}
