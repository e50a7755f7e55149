//! Cumulative counts at the ends of equal intervals of requests, in bounded memory.
//!
//! When the rows are full, the interval doubles and every other row is dropped. A run of unknown length thus keeps
//! between half and all of [`ROWS_MAX`] rows; the choice depends on nothing but the requests.
//!
//! The confidence interval, stationarity and the growth of wear are computed from these rows.

use floatgate_flash::Cause;
use serde::{Deserialize, Serialize};

/// Maximum of rows kept.
pub const ROWS_MAX: usize = 1024;
/// Requests of the first interval.
const FIRST_INTERVAL: u64 = 64;

/// Counts since counting began, at the end of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Requests served.
    pub requests: u64,
    /// Time of the last request, nanoseconds since the first counted one.
    pub time_ns: i64,
    /// Host pages written.
    pub page_writes: u64,
    /// Host pages read.
    pub page_reads: u64,
    /// Flash pages programmed by cause.
    pub programs: [u64; Cause::ALL.len()],
    /// Blocks erased by cause.
    pub erases: [u64; Cause::ALL.len()],
    /// Sum of the squares of the units' erases.
    pub erase_squares: u64,
    /// Free erase units at this moment.
    pub free_units: u64,
    /// Units reclaimed on demand and in the background, with read disturb.
    pub reclaims: [u64; 2],
    /// Timed mode: completed reads and writes.
    pub done: [u64; 2],
    /// Timed mode: the sum of their latencies, nanoseconds.
    pub latency_ns: [u128; 2],
    /// Timed mode: the longest of them since the previous row, nanoseconds.
    pub longest_ns: [u64; 2],
    /// Time for which a throttle held back page writes, nanoseconds.
    pub held_back_ns: u64,
}

impl Row {
    /// Sums the flash pages programmed for any cause.
    #[must_use]
    pub fn programs_total(&self) -> u64 {
        self.programs.iter().sum()
    }

    /// Merges the dropped previous row: all but the maxima is cumulative.
    fn absorb(&mut self, before: &Self) {
        for (longest, &other) in self.longest_ns.iter_mut().zip(&before.longest_ns) {
            *longest = other.max(*longest);
        }
    }
}

/// The rows of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Series {
    rows: Vec<Row>,
    interval: u64,
}

impl Default for Series {
    fn default() -> Self {
        Self { rows: Vec::with_capacity(ROWS_MAX + 1), interval: FIRST_INTERVAL }
    }
}

impl Series {
    /// Returns the requests that may be served before the next row is due, after `requests` of them.
    #[must_use]
    pub fn until_due(&self, requests: u64) -> u64 {
        self.interval - requests % self.interval
    }

    /// Adds the row at the end of an interval, or the last one of the run.
    pub fn push(&mut self, mut row: Row) {
        // A second row after the same request replaces the first: operations in flight have completed meanwhile.
        if let Some(last) = self.rows.pop_if(|last| last.requests == row.requests) {
            row.absorb(&last);
        }
        self.rows.push(row);
        if self.rows.len() == ROWS_MAX {
            self.interval *= 2;
            let (interval, end) = (self.interval, row.requests);
            // The last row of a run stays at any position: it holds the totals.
            let mut gone = Row::default();
            self.rows.retain_mut(|row| {
                row.absorb(&gone);
                let stays = row.requests % interval == 0 || row.requests == end;
                gone = if stays { Row::default() } else { *row };
                stays
            });
        }
    }

    /// Returns the rows in order.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::testing::Bound;

    #[test]
    fn rows_stay_bounded_and_evenly_spaced() {
        let mut series = Series::default();
        let mut requests = 0;
        let mut bound = Bound::new(100_000_000);
        while requests < 1_000_000 {
            bound.step();
            requests += series.until_due(requests);
            series.push(Row { requests, ..Row::default() });
        }
        let rows = series.rows();
        assert!((ROWS_MAX / 2 - 1..ROWS_MAX).contains(&rows.len()), "{}", rows.len());
        let step = rows[0].requests;
        assert!(rows.iter().enumerate().all(|(i, row)| row.requests == step * (i as u64 + 1)));
        series.push(Row { requests: requests + 5, ..Row::default() });
        assert_eq!(series.rows().last().unwrap().requests, requests + 5);
    }

    #[test]
    fn the_last_row_stays_where_it_fills_the_series() {
        let mut series = Series::default();
        let last = (ROWS_MAX as u64 - 1) * FIRST_INTERVAL;
        (1..ROWS_MAX as u64)
            .for_each(|i| series.push(Row { requests: i * FIRST_INTERVAL, ..Row::default() }));
        series.push(Row { requests: last + 5, ..Row::default() });
        assert_eq!(series.rows().last().unwrap().requests, last + 5);
        assert_eq!(series.rows().len(), ROWS_MAX / 2);
    }

    #[test]
    fn the_longest_latency_of_rows_that_go_stays_with_the_next() {
        let mut series = Series::default();
        // The k-th interval of 64 requests has the longest latency k mod 7 (reads), and one peak (writes).
        let longest = |k: u64| [k % 7, if k == 12_345 { 9_999_999 } else { k % 5 }];
        let intervals = 100_000;
        let mut at = 0;
        let mut bound = Bound::new(100_000_000);
        while at < intervals {
            bound.step();
            let until = at + series.until_due(at * FIRST_INTERVAL) / FIRST_INTERVAL;
            let most = |i: usize| (at + 1..=until).map(|k| longest(k)[i]).max().unwrap();
            let row =
                Row { requests: until * FIRST_INTERVAL, longest_ns: [most(0), most(1)], ..Row::default() };
            series.push(row);
            at = until;
        }
        let mut from = 0;
        for row in series.rows() {
            let to = row.requests / FIRST_INTERVAL;
            for i in 0..2 {
                let most = (from + 1..=to).map(|k| longest(k)[i]).max().unwrap();
                assert_eq!(row.longest_ns[i], most, "intervals {from} to {to}");
            }
            from = to;
        }
    }

    #[test]
    fn a_second_row_after_the_same_request_takes_the_place_of_the_first() {
        let mut series = Series::default();
        series.push(Row { requests: 64, done: [3, 0], longest_ns: [70, 5], ..Row::default() });
        series.push(Row { requests: 64, done: [4, 1], longest_ns: [60, 9], ..Row::default() });
        let both = Row { requests: 64, done: [4, 1], longest_ns: [70, 9], ..Row::default() };
        assert_eq!(series.rows(), [both]);
    }
}
