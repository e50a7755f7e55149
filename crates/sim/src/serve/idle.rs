//! Idle time: jobs take their steps between the end of one host request and the arrival of the next.
//!
//! A step moves one page (under superblock scope one page a die) or erases the source, and the next one is issued when
//! the step before is done and still no request has arrived: so a request waits for one page at most, or for one erase.
//!
//! The FTL offers `background_step` and has no time of its own.

use super::clock::Clock;
use crate::drive::Drive;
use crate::plan::Background;
use floatgate_base::DomainId;
use floatgate_flash::Timed;
use floatgate_ftl::Failure;

/// Lets jobs work while the array is idle before `until_ns`, when the next request arrives.
///
/// # Errors
/// When the drive cannot go on.
pub(super) fn work_until(
    drive: &mut Drive<Timed>,
    clock: &mut Clock,
    background: Background,
    until_ns: u64,
) -> Result<(), Failure> {
    if !drive.ftl.wants_background() {
        return Ok(());
    }
    let timed = drive.array.back_end_mut();
    while timed.host_is_busy() && timed.next_ns() < until_ns {
        timed.advance(timed.next_ns());
    }
    if timed.host_is_busy() {
        return Ok(());
    }
    let idle_from_ns = timed.idle_from_ns();
    if clock.watches_reclaims() {
        // What is done before a reclaim begins is no read during it.
        clock.collect_until(timed, idle_from_ns.min(until_ns));
    }
    let mut now_ns = idle_from_ns.saturating_add(background.idle_ns);
    while now_ns < until_ns {
        let mut working = false;
        for domain in DomainId::all(drive.ftl.domains()) {
            let timed = drive.array.back_end_mut();
            timed.advance(now_ns);
            if !timed.job_is_idle(domain) {
                working = true;
            } else if drive.ftl.wants_background_in(domain) {
                working |= drive.background_step(domain)?;
            }
        }
        if !working {
            return Ok(());
        }
        now_ns = drive.array.back_end().next_ns();
    }
    Ok(())
}
