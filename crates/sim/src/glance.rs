//! A run between two steps: what it has counted so far, for an onlooker who watches it live.

use crate::serve::{Serving, with_drive};
use crate::simulation::{Simulation, Stages};
use floatgate_base::{Error, Result};
use floatgate_flash::{Counters, Flash};
use floatgate_host::HostCounters;
use floatgate_stats::Latency;

/// Counts of a run so far.
#[derive(Clone, Copy, Debug)]
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
}

impl Simulation {
    /// Returns what the run has counted so far.
    #[must_use]
    pub fn glance(&self) -> Glance<'_> {
        let Stages { addressing, serving, book } = &self.stages;
        let (free_units, erases) = with_drive!(serving, drive => {
            (drive.ftl.free_units(), drive.array.counts().erase_counts().as_slice())
        });
        Glance {
            requests: book.counted,
            host: addressing.total(),
            flash: serving.counters(),
            free_units,
            erases,
            latencies: serving.timed().map(|timed| timed.direct.clock.latencies()),
        }
    }

    /// Lets time pass in timed mode until `now_ns` after the first counted request; requests that are done by then go to
    /// the log.
    ///
    /// # Errors
    /// The drive cannot continue, or the log cannot be written.
    pub fn pass_time(&mut self, now_ns: u64) -> Result<()> {
        let devices = self.reading.source().devices();
        let Serving::Timed(serving) = &mut self.stages.serving else { return Ok(()) };
        let direct = &mut serving.direct;
        if direct.work_until(now_ns).is_err() {
            return Err(Error::run(
                "the drive has no free block for work in idle time",
                "expected more spare space",
            ));
        }
        direct.clock.collect_until(direct.drive.array.back_end_mut(), now_ns);
        direct.hand_out_log(1, devices)
    }
}
