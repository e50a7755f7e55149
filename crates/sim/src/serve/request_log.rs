//! Log of requests: one row per completed request, handed out in chunks.

use floatgate_base::Result;
use floatgate_host::Request;

/// Approximate number of rows per chunk.
pub const ROWS: usize = 1 << 16;

/// Requests in the order of their completion, in columns.
#[derive(Clone, Debug, Default)]
pub struct RequestRows {
    /// The requests.
    pub requests: Vec<Request>,
    /// Time of the fetch by the drive, nanoseconds since the arrival of the first counted request.
    pub fetched_ns: Vec<u64>,
    /// Time of completion.
    pub completed_ns: Vec<u64>,
}

/// A sink of rows.
pub trait RequestSink: Send {
    /// Takes rows; `devices` names the devices so far.
    ///
    /// # Errors
    /// The sink cannot keep them: the run stops with this error.
    fn take(&mut self, rows: &RequestRows, devices: &[String]) -> Result<()>;

    /// Restarts the log with the run: discards all rows handed out so far.
    ///
    /// # Errors
    /// The sink cannot restart: the run stops with this error.
    fn restart(&mut self) -> Result<()>;
}

/// A log of requests.
pub struct RequestLog {
    sink: Box<dyn RequestSink>,
    /// By number of the request in flight, with the time of its fetch.
    underway: Vec<Option<(Request, u64)>>,
    rows: RequestRows,
}

impl RequestLog {
    /// Creates an empty log.
    #[must_use]
    pub fn new(sink: Box<dyn RequestSink>) -> Self {
        Self { sink, underway: Vec::new(), rows: RequestRows::default() }
    }

    /// Notes a fetched request, in flight as `number`.
    pub fn fetched(&mut self, number: u32, request: Request, now_ns: u64) {
        if self.underway.len() <= number as usize {
            self.underway.resize(number as usize + 1, None);
        }
        self.underway[number as usize] = Some((request, now_ns));
    }

    /// Adds completed requests.
    pub fn ended(&mut self, ended: &mut Vec<(u32, u64)>) {
        for (number, completed_ns) in ended.drain(..) {
            // One that was under way when the run was resumed is not known here.
            let known = self.underway.get_mut(number as usize).and_then(Option::take);
            if let Some((request, fetched_ns)) = known {
                self.rows.requests.push(request);
                self.rows.fetched_ns.push(fetched_ns);
                self.rows.completed_ns.push(completed_ns);
            }
        }
    }

    /// Returns whether it holds rows.
    #[must_use]
    pub fn has_rows(&self) -> bool {
        !self.rows.requests.is_empty()
    }

    /// Hands out the rows, if there are at least `rows`.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn hand_out(&mut self, rows: usize, devices: &[String]) -> Result<()> {
        if self.rows.requests.len() < rows.max(1) {
            return Ok(());
        }
        self.sink.take(&self.rows, devices)?;
        self.rows.requests.clear();
        self.rows.fetched_ns.clear();
        self.rows.completed_ns.clear();
        Ok(())
    }

    /// Discards all rows.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn restart(&mut self) -> Result<()> {
        self.underway.clear();
        self.rows = RequestRows::default();
        self.sink.restart()
    }
}
