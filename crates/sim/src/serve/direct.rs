//! The path of a request once the drive takes it: gate, buffer and drive, and the clock.

use super::clock::Clock;
use super::idle::Idle;
use super::pins::PinWatch;
use super::request_log::RequestLog;
use super::stop::Stop;
use crate::addressing::Placed;
use crate::buffer::Buffered;
use crate::drive::Drive;
use crate::gate::Throttled;
use crate::reading::Chunk;
use floatgate_base::{Extents, Lpn, Op};
use floatgate_flash::Timed;
use floatgate_ftl::{Failure, Stopped};
use std::ops::Range;

/// Distance in extents at which the state of a read's first page is prefetched.
const READS_AHEAD: usize = 16;

/// Clock, gate, buffer and drive of a timed run: the path of a request once the drive takes it.
pub(crate) struct Direct {
    pub drive: Drive<Timed>,
    pub buffer: Option<Buffered>,
    /// Passed by counted requests.
    pub gate: Option<Throttled>,
    pub clock: Clock,
    /// The log of requests, if any.
    pub log: Option<RequestLog>,
    /// The recorder of the Ready/Busy pins, if any.
    pub pins: Option<Box<PinWatch>>,
    pub idle: Option<Idle>,
    pub timeline: Option<(u64, u64, usize)>,
    /// Nanoseconds by which hashing, compressing and decompressing a page delay its request, if they do.
    pub engine_delays: Option<[u64; 3]>,
}

impl Direct {
    /// Serves every request on arrival.
    ///
    /// # Errors
    /// The drive cannot continue.
    pub fn arrive_at_once(&mut self, chunk: &Chunk<'_>, placed: Placed<'_>) -> Result<(), Stop> {
        if self.is_bare() {
            return self.arrive_bare(chunk, placed);
        }
        for i in chunk.range() {
            let (op, extents) = (chunk.op(i), placed.of(i - chunk.first));
            let timed = self.drive.array.back_end_mut();
            let arrival_ns = self.clock.next_arrival(timed, chunk.stamp_ns(i));
            let entry_ns = self.pass_gate(arrival_ns, (placed.extents, extents.clone()), op, 0);
            self.work_until(entry_ns).map_err(|failure| Stop::Drive(chunk.at(i), failure))?;
            self.see_context(chunk, i);
            self.look_for_reclaims(entry_ns);
            let hot = self.is_hot_read(placed.extents, extents.clone(), op);
            let timed = self.drive.array.back_end_mut();
            let number = self.clock.admit(timed, (arrival_ns, entry_ns), (op, hot));
            if let Some(pins) = &mut self.pins {
                pins.arrives(timed, arrival_ns, op, chunk.batch.bytes[i]);
            }
            if let Some(log) = &mut self.log {
                log.ended(&mut self.clock.ended);
                log.fetched(number, chunk.request(i, 0, (arrival_ns, entry_ns)), entry_ns);
            }
            self.issue(placed.extents, extents, chunk.flags(i), op)
                .map_err(|failure| Stop::Drive(chunk.at(i), failure))?;
        }
        Ok(())
    }

    /// Returns whether nothing is between a request and the drive, nothing is recorded, and nothing happens in idle
    /// time.
    fn is_bare(&self) -> bool {
        let between = self.gate.is_some() || self.buffer.is_some() || self.engine_delays.is_some();
        let onlookers = self.log.is_some() || self.pins.is_some() || self.clock.watches_reclaims();
        let idle = self.idle.is_some() || self.drive.ftl.gathers_chunks();
        !between && !onlookers && !idle
    }

    /// Serves like [`Direct::arrive_at_once`] in that case. Checking all conditions per request takes about 30 of the
    /// 1,300 instructions of a read.
    fn arrive_bare(&mut self, chunk: &Chunk<'_>, placed: Placed<'_>) -> Result<(), Stop> {
        for i in chunk.range() {
            let (op, extents) = (chunk.op(i), placed.of(i - chunk.first));
            let timed = self.drive.array.back_end_mut();
            let arrival_ns = self.clock.next_arrival(timed, chunk.stamp_ns(i));
            let hot = self.is_hot_read(placed.extents, extents.clone(), op);
            let timed = self.drive.array.back_end_mut();
            self.clock.admit(timed, (arrival_ns, arrival_ns), (op, hot));
            self.drive
                .serve(placed.extents, extents)
                .map_err(|stop| Stop::Drive(chunk.at(i), stop.failure))?;
            let timed = self.drive.array.back_end_mut();
            timed.issued();
            self.clock.collect(timed);
        }
        Ok(())
    }

    /// Notes whether a reclaim is active when a request arrives at `now_ns`. Earlier completions are recorded first.
    #[inline(always)]
    pub fn look_for_reclaims(&mut self, now_ns: u64) {
        if self.clock.watches_reclaims() {
            self.see_reclaims(now_ns);
        }
    }

    #[cold]
    fn see_reclaims(&mut self, now_ns: u64) {
        let timed = self.drive.array.back_end_mut();
        self.clock.collect_until(timed, now_ns);
        timed.advance(now_ns);
        if timed.reclaims() || self.drive.ftl.reclaims_by_steps() {
            self.clock.reclaims_at(now_ns);
        }
    }

    /// Lets an arriving request with the extents in `range` pass the gate; returns when it leaves. `waiting` page
    /// writes that passed before wait in the queues.
    #[inline(always)]
    pub fn pass_gate(
        &mut self,
        arrival_ns: u64,
        passing: (&Extents, Range<usize>),
        op: Op,
        waiting: u64,
    ) -> u64 {
        let Some(gate) = &mut self.gate else { return arrival_ns };
        let before_ns = gate.gate().held_back_ns();
        let left_ns = gate.pass(arrival_ns, passing, op, &self.drive, waiting);
        if let Some(schemes) = gate.schemes() {
            self.drive.ftl.set_schemes(schemes);
        }
        self.clock.delay(gate.gate().held_back_ns() - before_ns);
        left_ns
    }

    /// Lets jobs work while the array is idle before `until_ns`.
    ///
    /// # Errors
    /// The drive cannot continue.
    #[inline(always)]
    pub fn work_until(&mut self, until_ns: u64) -> Result<(), Failure> {
        if self.drive.ftl.gathers_chunks() {
            self.program_chunks_until(until_ns)?;
        }
        match &mut self.idle {
            Some(idle) => idle.work_until(&mut self.drive, &mut self.clock, until_ns),
            None => Ok(()),
        }
    }

    /// Notes the context of arriving request `i`, by which idle time may be predicted.
    #[inline(always)]
    pub fn see_context(&mut self, chunk: &Chunk<'_>, i: usize) {
        if let Some(idle) = &mut self.idle {
            idle.sees(chunk.batch.context.get(i).copied().unwrap_or(0));
        }
    }

    /// Programs chunks that have gathered long enough before `until_ns`, each when it is due; no request waits for
    /// them. If time has advanced to a completion, they are due at that time at the earliest.
    #[cold]
    fn program_chunks_until(&mut self, until_ns: u64) -> Result<(), Failure> {
        while let Some(due_ns) = self.drive.ftl.chunk_due_ns().filter(|&due_ns| due_ns <= until_ns) {
            let timed = self.drive.array.back_end_mut();
            let now_ns = due_ns.max(timed.present_ns());
            timed.advance(now_ns);
            self.drive.tell_time(now_ns)?;
        }
        self.drive.tell_time(until_ns)
    }

    /// Prefetches the state of a page that a request will start with soon.
    #[inline(always)]
    pub fn prefetch(&mut self, lpn: Lpn) {
        self.drive.ftl.prefetch(lpn);
        self.clock.hot_reads_mut().prefetch(lpn);
        if let Some(buffer) = &self.buffer {
            buffer.prefetch(lpn);
        }
    }

    /// Returns whether a request that the drive takes now reads a frequently read page; notes that page's chip.
    #[inline(always)]
    pub fn is_hot_read(&mut self, extents: &Extents, range: Range<usize>, op: Op) -> bool {
        if op != Op::Read || range.is_empty() {
            return false;
        }
        if let Some(&soon) = extents.lpn.get(range.start + READS_AHEAD) {
            self.clock.hot_reads_mut().prefetch(soon);
        }
        let lpn = extents.lpn[range.start];
        let hot = self.clock.hot_reads_mut().see(lpn);
        if hot && let Some(chip) = self.drive.ftl.chip_of(lpn) {
            self.clock.hot_reads_mut().hot.by_chip[chip as usize] += 1;
        }
        hot
    }

    /// Issues the operations of the last admitted request, whose extents are those in `range`, through the buffer if
    /// there is one.
    ///
    /// # Errors
    /// The drive cannot continue.
    #[inline(always)]
    pub fn issue(
        &mut self,
        extents: &Extents,
        range: Range<usize>,
        request_flags: u8,
        op: Op,
    ) -> Result<(), Failure> {
        let served = match &mut self.buffer {
            None if self.engine_delays.is_some() => self.serve_delayed(extents, range, op),
            None => self.drive.serve(extents, range),
            Some(buffer) => {
                let class = u8::from(op != Op::Read);
                buffer.serve_timed(&mut self.drive, (extents, range), request_flags, class)
            }
        };
        served.map_err(|stop| stop.failure)?;
        let timed = self.drive.array.back_end_mut();
        timed.issued();
        self.clock.collect(timed);
        if self.clock.watches_reclaims() {
            self.see_issued();
        }
        Ok(())
    }

    /// Serves a request whose pages are hashed, compressed or decompressed, which takes time. Writes behind a buffer
    /// complete before that.
    #[cold]
    fn serve_delayed(&mut self, extents: &Extents, range: Range<usize>, op: Op) -> Result<(), Stopped> {
        let before = self.drive.ftl.engine_pages();
        self.drive.serve(extents, range)?;
        let pages = self.drive.ftl.engine_pages();
        let delays = self.engine_delays.unwrap_or_default();
        let delay_ns = (0..3).map(|engine| (pages[engine] - before[engine]) * delays[engine]).sum();
        self.drive.array.back_end_mut().shape_request(delay_ns, u8::from(op != Op::Read));
        Ok(())
    }

    /// Hands out the log's rows, if there are at least so many.
    ///
    /// # Errors
    /// Those of the log.
    pub fn hand_out_log(&mut self, rows: usize, devices: &[String]) -> floatgate_base::Result<()> {
        match &mut self.log {
            None => Ok(()),
            Some(log) => {
                log.ended(&mut self.clock.ended);
                log.hand_out(rows, devices)
            }
        }
    }

    /// Returns whether a request is done that the log has not handed out.
    pub fn has_done(&self) -> bool {
        let is_logged = self.log.as_ref().is_some_and(RequestLog::has_rows);
        is_logged || !self.clock.ended.is_empty() || self.drive.array.back_end().has_done()
    }

    /// Hands out the phases of the pins, if they are recorded.
    ///
    /// # Errors
    /// The sink cannot keep them.
    pub fn hand_out_pins(&mut self) -> floatgate_base::Result<()> {
        let timed = self.drive.array.back_end_mut();
        self.pins.as_mut().map_or(Ok(()), |pins| pins.hand_out(timed))
    }

    /// Checks for a reclaim that the issued operations of a request may have begun.
    #[cold]
    fn see_issued(&mut self) {
        if self.drive.array.back_end_mut().reclaims() {
            self.clock.reclaims_at(self.clock.latest_ns());
        }
    }

    /// Flushes dirty pages of the buffer, and waits for the end.
    ///
    /// # Errors
    /// The drive cannot continue.
    pub fn flush_buffer(&mut self) -> Result<(), Failure> {
        match &mut self.buffer {
            None => Ok(()),
            Some(buffer) => buffer.flush_all_timed(&mut self.drive, self.clock.now_ns()),
        }
    }
}
