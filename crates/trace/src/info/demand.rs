//! Demand over time: requests and bytes by window, and the times between arrivals.
//!
//! Cost: two comparisons per request. Memory: at most [`WINDOWS_MAX`] windows, and [`COURSE_MAX`] of the course; they
//! double in width when the limit is exceeded.

use crate::intake::JUMP_NS;
use floatgate_base::{Op, RequestBatch};
use serde::Serialize;

/// Most windows.
const WINDOWS_MAX: usize = 4096;
/// Most windows of the course, which begin at a microsecond: a chart of a trace of any length.
const COURSE_MAX: usize = 512;
const COURSE_NS: u64 = 1000;

/// Demand over time; null if the trace has no times.
#[derive(Clone, Debug, Serialize)]
pub struct DemandInfo {
    /// The windows, of the requested width, doubled until there are at most 4096.
    #[serde(flatten)]
    pub windows: WindowsInfo,
    /// Requests in the busiest window over the mean of the trace in as much time; at least 1.
    pub requests_peak_to_mean: Option<f64>,
    /// The same for bytes read; null without reads.
    pub read_peak_to_mean: Option<f64>,
    /// The same for bytes written; null without writes.
    pub write_peak_to_mean: Option<f64>,
    /// Mean time between a request and the next, in seconds; null with a single request.
    pub interarrival_mean_s: Option<f64>,
    /// Standard deviation of these times over their mean; null if the mean is 0.
    pub interarrival_cv: Option<f64>,
    /// The same in the narrowest possible windows with at most 512 of them, for a chart.
    pub course: WindowsInfo,
}

/// Demand by window, as columns; the first window begins with the first request.
#[derive(Clone, Debug, Serialize)]
pub struct WindowsInfo {
    /// Width of a window in seconds.
    pub window_s: f64,
    /// Requests in each window.
    pub requests: Vec<u64>,
    /// Bytes read in each window.
    pub read_bytes: Vec<u64>,
    /// Bytes written in each window.
    pub write_bytes: Vec<u64>,
    /// Bytes trimmed in each window.
    pub trim_bytes: Vec<u64>,
}

/// Converts stamps to continuous times: a jump of more than 30 years means another clock.
#[derive(Default)]
pub(crate) struct Clock {
    last: Option<i64>,
    /// Wider than the stamps, whose distance may be twice the range of times.
    shift: i128,
}

impl Clock {
    /// Appends the times in nanoseconds since the first request; like stamps, they may decrease slightly.
    pub fn times(&mut self, stamps: &[i64], out: &mut Vec<i64>) {
        for &stamp in stamps {
            match self.last {
                None => self.shift = -i128::from(stamp),
                Some(last) if stamp.abs_diff(last) > JUMP_NS => {
                    self.shift += i128::from(last) - i128::from(stamp);
                }
                Some(_) => {}
            }
            self.last = Some(stamp);
            let time = i128::from(stamp) + self.shift;
            out.push(time.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64);
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Window {
    requests: u64,
    bytes: [u64; 3],
}

/// Sums by window.
struct Windows {
    width_ns: u64,
    max: usize,
    windows: Vec<Window>,
    /// Start and number of the last request's window.
    begin: u64,
    at: usize,
}

impl Windows {
    fn new(width_ns: u64, max: usize) -> Self {
        Self { width_ns, max, windows: vec![Window::default()], begin: 0, at: 0 }
    }

    #[inline]
    fn add(&mut self, time: u64, op: Op, bytes: u64) {
        if time.wrapping_sub(self.begin) >= self.width_ns {
            self.turn_to(time);
        }
        let window = &mut self.windows[self.at];
        window.requests += 1;
        window.bytes[op as usize] = window.bytes[op as usize].saturating_add(bytes);
    }

    fn turn_to(&mut self, time: u64) {
        while time / self.width_ns >= self.max as u64 {
            self.widen();
        }
        self.at = (time / self.width_ns) as usize;
        self.begin = self.at as u64 * self.width_ns;
        if self.at >= self.windows.len() {
            self.windows.resize(self.at + 1, Window::default());
        }
    }

    fn widen(&mut self) {
        self.width_ns *= 2;
        let joined = self.windows.chunks(2).map(|pair| {
            pair.iter().fold(Window::default(), |sum, w| Window {
                requests: sum.requests + w.requests,
                bytes: std::array::from_fn(|op| sum.bytes[op].saturating_add(w.bytes[op])),
            })
        });
        self.windows = joined.collect();
    }

    fn describe(&self) -> WindowsInfo {
        let bytes = |op: Op| self.windows.iter().map(|w| w.bytes[op as usize]).collect();
        WindowsInfo {
            window_s: self.width_ns as f64 / 1e9,
            requests: self.windows.iter().map(|w| w.requests).collect(),
            read_bytes: bytes(Op::Read),
            write_bytes: bytes(Op::Write),
            trim_bytes: bytes(Op::Trim),
        }
    }
}

/// Counters of one pass over the trace.
pub(crate) struct Demand {
    windows: Windows,
    course: Windows,
    last: i64,
    /// The latest time of a request.
    end_ns: u64,
    gaps: u64,
    gap_sum: f64,
    gap_squares: f64,
}

impl Demand {
    /// Creates the counters with windows of `window_s` seconds, at least a microsecond.
    pub fn new(window_s: f64) -> Self {
        Self {
            windows: Windows::new(((window_s * 1e9) as u64).clamp(1000, 1 << 62), WINDOWS_MAX),
            course: Windows::new(COURSE_NS, COURSE_MAX),
            last: 0,
            end_ns: 0,
            gaps: 0,
            gap_sum: 0.0,
            gap_squares: 0.0,
        }
    }

    /// Counts a batch; `times` are those of [`Clock::times`].
    pub fn add(&mut self, batch: &RequestBatch, times: &[i64]) {
        for ((&time, &op), &bytes) in times.iter().zip(&batch.op).zip(&batch.bytes) {
            let gap = time.saturating_sub(self.last).max(0) as f64;
            self.last = time;
            self.gaps += 1;
            self.gap_sum += gap;
            self.gap_squares += gap * gap;
            // Times before the first request count as its time.
            let time = time.max(0) as u64;
            self.end_ns = self.end_ns.max(time);
            self.windows.add(time, op, bytes);
            self.course.add(time, op, bytes);
        }
    }

    pub fn describe(&self) -> DemandInfo {
        let windows = self.windows.describe();
        // The first request has no predecessor: its gap is 0 and does not count.
        let gaps = self.gaps.saturating_sub(1) as f64;
        let mean = (gaps > 0.0).then(|| self.gap_sum / gaps);
        let cv = mean.filter(|&mean| mean > 0.0).map(|mean| {
            let variance = (self.gap_squares / gaps - mean * mean).max(0.0);
            variance.sqrt() / mean
        });
        // The last window is only as long as the trace.
        let widths = self.end_ns as f64 / self.windows.width_ns as f64;
        let peak_to_mean = |values: &[u64]| peak_to_mean(values, widths);
        DemandInfo {
            requests_peak_to_mean: peak_to_mean(&windows.requests),
            read_peak_to_mean: peak_to_mean(&windows.read_bytes),
            write_peak_to_mean: peak_to_mean(&windows.write_bytes),
            windows,
            interarrival_mean_s: mean.map(|mean| mean / 1e9),
            interarrival_cv: cv,
            course: self.course.describe(),
        }
    }
}

/// Returns the highest value over the mean per width of a window in a trace of so many widths.
///
/// It is at least 1: a window that lies elsewhere would have the mean.
fn peak_to_mean(values: &[u64], widths: f64) -> Option<f64> {
    let sum: f64 = values.iter().map(|&v| v as f64).sum();
    let peak = *values.iter().max()?;
    (peak > 0).then(|| (peak as f64 * widths / sum).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: i64 = 1_000_000_000;

    fn demand(window_s: f64, stamps: &[i64]) -> DemandInfo {
        let (mut demand, mut clock) = (Demand::new(window_s), Clock::default());
        for stamps in stamps.chunks(3) {
            let (mut batch, mut times) = (RequestBatch::default(), Vec::new());
            stamps.iter().for_each(|&stamp| batch.push(stamp, 0, Op::Write, 0, 512));
            clock.times(stamps, &mut times);
            demand.add(&batch, &times);
        }
        demand.describe()
    }

    #[test]
    fn windows_begin_with_the_first_request() {
        let info = demand(600.0, &[0, 599 * SECOND, 600 * SECOND, 500 * SECOND, 1800 * SECOND]);
        assert_eq!((info.windows.window_s, info.windows.requests.clone()), (600.0, vec![3, 1, 0, 1]));
        assert_eq!(info.windows.write_bytes, [1536, 512, 0, 512]);
        // 3 requests against 5 in three widths of a window: the last one has just begun.
        assert_eq!(info.requests_peak_to_mean, Some(1.8));
        assert_eq!(info.read_peak_to_mean, None);
        // A decrease counts as no gap: 599, 1, 0 and 1300 s.
        assert_eq!(info.interarrival_mean_s, Some(475.0));
        let squares = (599.0f64.powi(2) + 1.0 + 1300.0f64.powi(2)) / 4.0 - 475.0f64.powi(2);
        assert!((info.interarrival_cv.unwrap() - squares.sqrt() / 475.0).abs() < 1e-12);
    }

    #[test]
    fn an_even_load_has_no_peak() {
        let every = |gap_s: i64, n: i64| (0..n).map(|i| i * gap_s * SECOND).collect::<Vec<_>>();
        let info = demand(600.0, &every(1, 2028));
        assert_eq!(info.windows.requests, [600, 600, 600, 228]);
        assert!((info.write_peak_to_mean.unwrap() - 1.0).abs() < 1e-3);
        assert_eq!(demand(600.0, &every(1, 10)).requests_peak_to_mean, Some(1.0));
    }

    #[test]
    fn windows_double_when_there_are_too_many() {
        let info = demand(600.0, &[0, 600 * SECOND, 600 * 4096 * SECOND, 600 * 8191 * SECOND, 0]);
        assert_eq!((info.windows.window_s, info.windows.requests.len()), (1200.0, 4096));
        assert_eq!(
            (info.windows.requests[0], info.windows.requests[2048], info.windows.requests[4095]),
            (3, 1, 1)
        );
        assert_eq!(demand(1e-9, &[0, i64::MAX - 1]).windows.requests.iter().sum::<u64>(), 2);
    }

    #[test]
    fn another_clock_does_not_stretch_time() {
        let century = 100 * 31_557_600 * SECOND;
        let info = demand(
            600.0,
            &[0, century, century + SECOND, 2 * SECOND, 3 * SECOND, -century, i64::MIN, i64::MAX],
        );
        assert_eq!((info.windows.window_s, info.windows.requests), (600.0, vec![8]));
        assert!((info.interarrival_mean_s.unwrap() - 2.0 / 7.0).abs() < 1e-15);
    }

    #[test]
    fn one_request_has_no_next() {
        let info = demand(600.0, &[77]);
        assert_eq!(
            (info.windows.requests, info.interarrival_mean_s, info.interarrival_cv),
            (vec![1], None, None)
        );
        assert_eq!(demand(600.0, &[5, 5]).interarrival_cv, None);
    }

    proptest! {
        #[test]
        fn every_request_counts_in_its_window(stamps in prop::collection::vec(0i64..1 << 50, 1..100)) {
            let info = demand(600.0, &stamps);
            let mut plain = vec![0; info.windows.requests.len()];
            for &stamp in &stamps {
                let at = (stamp - stamps[0]).max(0) as f64 / 1e9 / info.windows.window_s;
                plain[at as usize] += 1;
            }
            prop_assert_eq!(&info.windows.requests, &plain);
            prop_assert_eq!(info.course.requests.iter().sum::<u64>(), stamps.len() as u64);
            prop_assert!(info.course.requests.len() <= COURSE_MAX);
            prop_assert!(plain.len() <= WINDOWS_MAX && plain.len() * 2 > plain.iter().rposition(|&n| n > 0).unwrap());
        }
    }
}
