//! Runs independent pieces of work on all cores, with progress; results are in the order of the input.

use crate::options::Progress;
use floatgate_base::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Resolution of the progress of a piece.
const PARTS: u64 = 1000;
/// Time between two reports.
const PERIOD: Duration = Duration::from_millis(200);

/// Reports the progress of a piece of work.
pub struct Ticker<'a> {
    done: &'a AtomicU64,
    stopped: &'a AtomicBool,
}

impl Ticker<'_> {
    /// Sets the finished share of the piece, from 0 to 1.
    ///
    /// # Errors
    /// The work is to stop.
    pub fn tick(&self, share: f64) -> Result<()> {
        self.done.store((share.clamp(0.0, 1.0) * PARTS as f64) as u64, Ordering::Relaxed);
        if self.stopped.load(Ordering::Relaxed) {
            Err(Error::run("stopped from outside", ""))
        } else {
            Ok(())
        }
    }
}

/// Runs `work` for each item. The first error, in the order of the items, stops everything.
///
/// # Errors
/// The errors of `work`, or of `progress`.
pub fn each<T: Sync, R: Send>(
    items: &[T],
    phase: &'static str,
    progress: &mut dyn FnMut(Progress) -> Result<()>,
    work: impl Fn(&T, &Ticker<'_>) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let done: Vec<AtomicU64> = items.iter().map(|_| AtomicU64::new(0)).collect();
    let results: Vec<Mutex<Option<Result<R>>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let mut outside = Ok(());
    std::thread::scope(|scope| {
        let (ended, wait) = channel();
        for _ in 0..workers {
            let ended = ended.clone();
            scope.spawn({
                let (next, stopped, done, results, work) = (&next, &stopped, &done, &results, &work);
                move || {
                    loop {
                        let i = next.fetch_add(1, Ordering::Relaxed);
                        let Some(item) = items.get(i).filter(|_| !stopped.load(Ordering::Relaxed)) else {
                            break;
                        };
                        let result = work(item, &Ticker { done: &done[i], stopped });
                        done[i].store(PARTS, Ordering::Relaxed);
                        // Work that ends after the first failure may have ended because of it.
                        if result.is_ok() || !stopped.swap(true, Ordering::Relaxed) {
                            *results[i].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
                        }
                    }
                    let _ = ended.send(());
                }
            });
        }
        drop(ended);
        while wait.recv_timeout(PERIOD) != Err(RecvTimeoutError::Disconnected) {
            let sum = done.iter().map(|done| done.load(Ordering::Relaxed)).sum();
            let all = items.len() as u64 * PARTS;
            if outside.is_ok() {
                outside = progress(Progress { done: sum, total: Some(all), phase });
                stopped.fetch_or(outside.is_err(), Ordering::Relaxed);
            }
        }
    });
    outside?;
    let ended = results.into_iter().filter_map(|r| r.into_inner().unwrap_or_else(PoisonError::into_inner));
    ended.collect()
}
