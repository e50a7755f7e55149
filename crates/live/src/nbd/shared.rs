//! What all connections share: the drive, its data, the clock.
#![allow(clippy::disallowed_types, reason = "requests come in real time; the drive is handed the moments")]

use crate::drive::{Drive, Request};
use crate::store::Store;
use std::io::{self, ErrorKind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A drive with its data and its clock.
pub(super) struct Shared {
    drive: Mutex<Option<Drive>>,
    store: Store,
    began: Instant,
    /// Nanoseconds between the beginning of the journal and that of the clock.
    base_ns: u64,
}

impl Shared {
    /// Starts the clock. It goes on behind the last record, as if the machine had been off in between.
    pub fn new(drive: Drive, store: Store) -> Self {
        let base_ns = drive.last_ns();
        Self { drive: Mutex::new(Some(drive)), store, began: Instant::now(), base_ns }
    }

    /// Returns the drive; none once it has stopped.
    pub fn drive(&self) -> MutexGuard<'_, Option<Drive>> {
        self.drive.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the data.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Returns how long the clock has been running.
    pub fn uptime(&self) -> Duration {
        self.began.elapsed()
    }

    /// Lets the drive take a request; returns whether it counts.
    ///
    /// # Errors
    /// The journal cannot be written, or the drive has stopped.
    pub fn take(&self, request: Request) -> io::Result<bool> {
        let mut drive = self.drive();
        let now_ns = self.now_ns();
        drive.as_mut().ok_or_else(stopped)?.take(request, now_ns)
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

    fn now_ns(&self) -> u64 {
        self.base_ns + u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX / 2)
    }
}

fn stopped() -> io::Error {
    io::Error::new(ErrorKind::NotConnected, "the drive has stopped")
}
