//! Idle time: jobs take steps between the completion of one host request and the arrival of the next.
//!
//! A step moves one page (under superblock scope one page per die) or erases the source. The next step is issued once
//! the previous one is complete and no request has arrived: a request waits for at most one page, or for one erase.
//!
//! The FTL offers `background_step`; it does not model time.

use super::clock::Clock;
use crate::drive::Drive;
use crate::plan::Background;
use floatgate_base::DomainId;
use floatgate_flash::Timed;
use floatgate_ftl::Failure;

/// Lets jobs work while the array is idle before `until_ns`, the arrival of the next request.
///
/// # Errors
/// The drive cannot continue.
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
        // Reads completed before a reclaim begins are not reads during it.
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
