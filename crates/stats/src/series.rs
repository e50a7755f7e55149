//! Cumulative counts at the ends of equal intervals of requests, in bounded memory.
//!
//! The interval doubles, and every other row goes, whenever the rows are full: a run of unknown length keeps
//! between half and all of [`ROWS_MAX`] rows, and which ones does not depend on anything but the requests.

/// Rows kept at most.
pub const ROWS_MAX: usize = 1024;
/// Requests of the first interval.
const FIRST_INTERVAL: u64 = 64;

/// Counts since counting began, at the end of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    pub programs: [u64; 3],
    /// Blocks erased by cause.
    pub erases: [u64; 3],
    /// Free erase units at this moment.
    pub free_units: u64,
}

impl Row {
    /// Flash pages programmed for any cause.
    #[must_use]
    pub fn programs_total(&self) -> u64 {
        self.programs.iter().sum()
    }
}

/// The rows of a run.
#[derive(Clone, Debug)]
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
    /// Requests that may be served before the next row is due, after `requests` of them.
    #[must_use]
    pub fn until_due(&self, requests: u64) -> u64 {
        self.interval - requests % self.interval
    }

    /// Takes the row at the end of an interval, or the last one of the run.
    pub fn push(&mut self, row: Row) {
        if self.rows.last().is_some_and(|last| last.requests == row.requests) {
            return;
        }
        self.rows.push(row);
        if self.rows.len() == ROWS_MAX {
            self.interval *= 2;
            let (interval, end) = (self.interval, row.requests);
            // The last row of a run stays wherever it falls: it holds the totals.
            self.rows.retain(|row| row.requests % interval == 0 || row.requests == end);
        }
    }

    /// The rows in order.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stay_bounded_and_evenly_spaced() {
        let mut series = Series::default();
        let mut requests = 0;
        while requests < 1_000_000 {
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
}
