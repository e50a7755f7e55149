//! A run between two steps: what it has counted so far, for an onlooker who watches it live.

use crate::gate::{Throttled, Throttling};
use crate::serve::{Serving, with_drive};
use crate::simulation::{Simulation, Stages};
use floatgate_base::Result;
use floatgate_flash::{Counters, Flash};
use floatgate_ftl::reclaim::ReclaimFigures;
use floatgate_host::HostCounters;
use floatgate_stats::Latency;

/// Counts of a run so far.
#[derive(Clone, Debug)]
pub struct Glance<'a> {
    /// Counted requests.
    pub requests: u64,
    /// Requests and pages of the host.
    pub host: HostCounters,
    /// Operations of the flash.
    pub flash: &'a Counters,
    /// Free erase units.
    pub free_units: u64,
    /// Erases by unit.
    pub erases: &'a [u32],
    /// Latencies of completed reads and writes; in timed mode.
    pub latencies: Option<&'a [Latency; 2]>,
    /// The array's time, nanoseconds since counting began; in timed mode.
    pub now_ns: Option<u64>,
    /// Requests under way in the drive; in timed mode.
    pub outstanding: Option<usize>,
    /// Counts of read disturb, if reads disturb.
    pub reclaim: Option<ReclaimFigures>,
    /// Totals of the throttle, if there is one.
    pub throttling: Option<Throttling>,
}

impl Simulation {
    /// Returns the fault that a policy from outside made, if one did.
    #[must_use]
    pub fn policy_fault(&self) -> Option<&'static str> {
        self.stages.serving.policy_fault()
    }

    /// Returns what the run has counted so far.
    #[must_use]
    pub fn glance(&self) -> Glance<'_> {
        let Stages { addressing, serving, book } = &self.stages;
        let (free_units, erases, reclaim) = with_drive!(serving, drive => {
            (drive.ftl.free_units(), drive.array.counts().erase_counts().as_slice(), drive.ftl.reclaimed())
        });
        let timed = serving.timed().map(|timed| &timed.direct);
        Glance {
            requests: book.counted,
            host: addressing.total(),
            flash: serving.counters(),
            free_units,
            erases,
            latencies: timed.map(|direct| direct.clock.latencies()),
            now_ns: timed.map(|direct| direct.drive.array.back_end().present_ns()),
            outstanding: timed.map(|direct| direct.clock.outstanding()),
            reclaim,
            throttling: serving.gate().map(Throttled::figures),
        }
    }

    /// Returns the requests counted so far.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.stages.book.counted
    }

    /// Lets time pass in timed mode until `now_ns` after the first counted request, never beyond the next one: the drive
    /// fetches waiting requests, and those done by then go to the log.
    ///
    /// # Errors
    /// The drive cannot continue, or the log cannot be written.
    pub fn pass_time(&mut self, now_ns: u64) -> Result<()> {
        let devices = self.reading.source().devices();
        let Serving::Timed(serving) = &mut self.stages.serving else { return Ok(()) };
        match serving.pass_time(now_ns, devices) {
            Ok(()) => Ok(()),
            Err(stop) => Err(self.stopped(stop)),
        }
    }

    /// Returns the time of the next event of the drive in timed mode, nanoseconds since counting began: 0 if a request is
    /// done and not in the log, none while nothing is under way.
    #[must_use]
    pub fn next_event_ns(&self) -> Option<u64> {
        let direct = &self.stages.serving.timed()?.direct;
        if direct.has_done() {
            return Some(0);
        }
        let next_ns = direct.drive.array.back_end().next_event_ns();
        (next_ns < u64::MAX).then_some(next_ns)
    }
}
