//! Idle time: jobs take their steps between the end of one host request and the arrival of the next.
//!
//! A step moves one page (under superblock scope one page a die) or erases the source, and the next one is issued when
//! the step before is done and still no request has arrived: so a request waits for one page at most, or for one erase.

use crate::device::Simulation;
use floatgate_ftl::Failure;

impl Simulation {
    /// Lets jobs work while the array is idle before `until_ns`, when the next request arrives.
    ///
    /// # Errors
    /// When the drive cannot go on.
    pub(crate) fn work_until(&mut self, until_ns: u64) -> Result<(), Failure> {
        let (Some(background), Some(timed)) = (self.plan.background, self.array.timed_mut()) else {
            return Ok(());
        };
        if !self.ftl.wants_background() {
            return Ok(());
        }
        while timed.host_is_busy() && timed.next_ns() < until_ns {
            timed.advance(timed.next_ns());
        }
        if timed.host_is_busy() {
            return Ok(());
        }
        let mut now_ns = timed.idle_from_ns().saturating_add(background.idle_ns);
        while now_ns < until_ns {
            let mut working = false;
            for domain in 0..self.ftl.domains() {
                let Some(timed) = self.array.timed_mut() else { return Ok(()) };
                timed.advance(now_ns);
                if !timed.job_is_idle(domain) {
                    working = true;
                } else if self.ftl.wants_background_in(domain) {
                    working |= self.array.background_step(&mut self.ftl, domain)?;
                }
            }
            let Some(timed) = self.array.timed() else { return Ok(()) };
            if !working {
                return Ok(());
            }
            now_ns = timed.next_ns();
        }
        Ok(())
    }
}
