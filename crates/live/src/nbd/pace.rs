//! Replies that leave when the simulated drive is done with their requests.
//!
//! A request's number meets its reply here: whichever of completion and reply comes second sends it.

use super::output::Sender;
use floatgate_base::Result;
use floatgate_sim::{RequestRows, RequestSink};
use floatgate_stats::Latency;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Numbers and times of requests that are done, as the drive's log hands them out.
#[derive(Clone, Default)]
pub struct Completions(Arc<Mutex<Vec<(u64, u64)>>>);

impl Completions {
    fn locked(&self) -> MutexGuard<'_, Vec<(u64, u64)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RequestSink for Completions {
    fn take(&mut self, rows: &RequestRows, _devices: &[String]) -> Result<()> {
        let numbers = rows.requests.iter().map(|request| request.number);
        self.locked().extend(numbers.zip(rows.completed_ns.iter().copied()));
        Ok(())
    }

    fn restart(&mut self) -> Result<()> {
        self.locked().clear();
        Ok(())
    }
}

/// What is known of a request before both its completion and its reply are.
enum Half {
    /// When the drive was done, after the journal began.
    Done(u64),
    Reply(Vec<u8>, Sender),
}

/// Requests under way, and the thread that waits for the drive.
pub(super) struct Pace {
    completions: Completions,
    halves: Mutex<Halves>,
    wakes: Mutex<Wake>,
    wake: Condvar,
}

#[derive(Default)]
struct Halves {
    by_number: BTreeMap<u64, Half>,
    /// The drive completes nothing any more: replies leave at once.
    released: bool,
    /// How long after their completion replies left.
    late: Latency,
}

#[derive(Default)]
struct Wake {
    /// When the waiting thread looks at the drive again.
    planned_ns: u64,
    /// Something has happened since it looked.
    sooner: bool,
}

impl Pace {
    pub fn new(completions: Completions) -> Self {
        Self { completions, halves: Mutex::default(), wakes: Mutex::default(), wake: Condvar::new() }
    }

    /// Sends the reply of a request once it is done, or at once if it is, `now_ns` after the journal began.
    pub fn reply(&self, number: u64, reply: Vec<u8>, to: &Sender, now_ns: u64) {
        let mut halves = locked(&self.halves);
        match halves.by_number.remove(&number) {
            Some(Half::Done(done_ns)) => halves.late.record(now_ns.saturating_sub(done_ns)),
            _ if halves.released => {}
            _ => {
                halves.by_number.insert(number, Half::Reply(reply, to.clone()));
                return;
            }
        }
        drop(halves);
        to.send(reply);
    }

    /// Sends the replies of the requests that are done. The drive's first request came `first_ns` after the journal began;
    /// `now_ns` returns the time since then.
    pub fn deliver(&self, first_ns: u64, now_ns: impl Fn() -> u64) {
        let done = std::mem::take(&mut *self.completions.locked());
        if done.is_empty() {
            return;
        }
        let mut due = Vec::with_capacity(done.len());
        let mut halves = locked(&self.halves);
        for (number, done_ns) in done {
            let done_ns = first_ns + done_ns;
            match halves.by_number.remove(&number) {
                Some(Half::Reply(reply, to)) => due.push((reply, to, done_ns)),
                _ => drop(halves.by_number.insert(number, Half::Done(done_ns))),
            }
        }
        drop(halves);
        let mut late_ns = Vec::with_capacity(due.len());
        for (reply, to, done_ns) in due {
            late_ns.push(now_ns().saturating_sub(done_ns));
            to.send(reply);
        }
        let mut halves = locked(&self.halves);
        late_ns.into_iter().for_each(|one| halves.late.record(one));
    }

    /// Sends all replies: the drive is at its end, and completes nothing any more.
    pub fn release(&self) {
        let mut halves = locked(&self.halves);
        halves.released = true;
        for half in std::mem::take(&mut halves.by_number).into_values() {
            if let Half::Reply(reply, to) = half {
                to.send(reply);
            }
        }
    }

    /// Returns how long after their completion replies left.
    pub fn late(&self) -> Latency {
        locked(&self.halves).late.clone()
    }

    /// Wakes the waiting thread if the drive's next event comes before it would look.
    pub fn wake_by(&self, event_ns: u64) {
        let mut wakes = locked(&self.wakes);
        if event_ns < wakes.planned_ns {
            wakes.sooner = true;
            self.wake.notify_one();
        }
    }

    /// Plans the next look: events before `planned_ns` wake the thread from now on.
    pub fn plan(&self, planned_ns: u64) {
        let mut wakes = locked(&self.wakes);
        (wakes.planned_ns, wakes.sooner) = (planned_ns, false);
    }

    /// Lets time pass, unless something has happened since the plan.
    pub fn wait(&self, time: Duration) {
        let wakes = locked(&self.wakes);
        if !wakes.sooner {
            let _ = self.wake.wait_timeout(wakes, time);
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
