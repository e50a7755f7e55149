//! What all connections share: the drive, its data, the clock.
#![allow(clippy::disallowed_types, reason = "requests come in real time; the drive is handed the moments")]

use super::output::Sender;
use super::pace::{Completions, Pace};
use crate::drive::{Drive, Request};
use crate::store::Store;
use floatgate_stats::Latency;
use std::io::{self, ErrorKind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Time between two looks at an idle drive.
const IDLE: Duration = Duration::from_millis(20);

/// A drive with its data and its clock.
pub(super) struct Shared {
    drive: Mutex<Option<Drive>>,
    store: Store,
    /// Where replies wait for the drive, if they do.
    pace: Option<Pace>,
    began: Instant,
    /// Nanoseconds between the beginning of the journal and that of the clock.
    base_ns: u64,
}

impl Shared {
    /// Starts the clock. It goes on behind the last record, as if the machine had been off in between.
    pub fn new(drive: Drive, store: Store, completions: Option<Completions>) -> Self {
        let base_ns = drive.last_ns();
        let pace = completions.map(Pace::new);
        Self { drive: Mutex::new(Some(drive)), store, pace, began: Instant::now(), base_ns }
    }

    /// Returns the drive; none once it has stopped.
    pub fn drive(&self) -> MutexGuard<'_, Option<Drive>> {
        self.drive.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the data.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Returns whether replies wait for the drive.
    pub fn is_paced(&self) -> bool {
        self.pace.is_some()
    }

    /// Returns how long the clock has been running.
    pub fn uptime(&self) -> Duration {
        self.began.elapsed()
    }

    /// Returns how long after the drive was done replies have left, if they wait for it.
    pub fn late(&self) -> Option<Latency> {
        self.pace.as_ref().map(Pace::late)
    }

    /// Lets the drive take a request; returns its number if it counts.
    ///
    /// # Errors
    /// The journal cannot be written, or the drive has stopped.
    pub fn take(&self, request: Request) -> io::Result<Option<u64>> {
        let mut guard = self.drive();
        let now_ns = self.now_ns();
        let drive = guard.as_mut().ok_or_else(stopped)?;
        let number = drive.take(request, now_ns)?;
        let Some(pace) = &self.pace else { return Ok(number) };
        match drive.ended() {
            Some(_) => pace.release(),
            None => pace.wake_by(drive.next_event_ns().unwrap_or(u64::MAX)),
        }
        let first_ns = drive.first_ns().unwrap_or(0);
        drop(guard);
        // The drive has worked up to this request: what it has done by then need not wait for the other thread.
        pace.deliver(first_ns, || self.now_ns());
        Ok(number)
    }

    /// Sends a reply once the drive is done with its request, if replies wait for the drive.
    pub fn reply(&self, number: u64, reply: Vec<u8>, to: &Sender) {
        match &self.pace {
            Some(pace) => pace.reply(number, reply, to, self.now_ns()),
            None => to.send(reply),
        }
    }

    /// Keeps all data written before, and the records of them.
    ///
    /// # Errors
    /// A file cannot be written, or the drive has stopped.
    pub fn flush(&self) -> io::Result<()> {
        self.store.flush()?;
        let mut drive = self.drive();
        let now_ns = self.now_ns();
        drive.as_mut().ok_or_else(stopped)?.flush(now_ns)
    }

    /// Hands the drive to an onlooker once it has worked until now; none once it has stopped.
    pub fn look<T>(&self, look: impl FnOnce(&Drive) -> T) -> Option<T> {
        let mut drive = self.drive();
        let now_ns = self.now_ns();
        drive.as_mut().map(|drive| {
            drive.pass_time(now_ns);
            look(drive)
        })
    }

    /// Follows the drive, and sends replies when it is done with their requests, until `ends`.
    pub fn keep_pace(&self, ends: impl Fn() -> bool) {
        let Some(pace) = &self.pace else { return };
        wake_on_time();
        while !ends() {
            let mut guard = self.drive();
            let Some(drive) = guard.as_mut() else { return };
            drive.pass_time(self.now_ns());
            let (ended, next_ns) = (drive.ended().is_some(), drive.next_event_ns());
            let first_ns = drive.first_ns().unwrap_or(0);
            let planned_ns = next_ns.unwrap_or(u64::MAX);
            pace.plan(planned_ns);
            drop(guard);
            pace.deliver(first_ns, || self.now_ns());
            if ended {
                pace.release();
            }
            let left = Duration::from_nanos(planned_ns.saturating_sub(self.now_ns()));
            pace.wait(left.min(IDLE));
        }
        pace.release();
    }

    fn now_ns(&self) -> u64 {
        self.base_ns + u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX / 2)
    }
}

/// Lets waits of this thread end on time: by default the kernel adds up to 50 us.
fn wake_on_time() {
    // SAFETY: a system call without pointers, on this thread alone.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_000 as libc::c_ulong, 0, 0, 0) };
}

fn stopped() -> io::Error {
    io::Error::new(ErrorKind::NotConnected, "the drive has stopped")
}
