//! Requests on record: one row for each that ended, handed out in chunks.

use floatgate_base::Result;
use floatgate_host::Request;

/// Rows handed out at once, about.
pub const ROWS: usize = 1 << 16;

/// Requests in the order of their completion, in columns.
#[derive(Clone, Debug, Default)]
pub struct RequestRows {
    /// The requests.
    pub requests: Vec<Request>,
    /// When the drive fetched each, nanoseconds since the first counted request arrived.
    pub fetched_ns: Vec<u64>,
    /// When each was done.
    pub completed_ns: Vec<u64>,
}

/// What takes the rows.
pub trait RequestSink: Send {
    /// Takes rows; `devices` names the devices met so far.
    ///
    /// # Errors
    /// When they cannot be kept: the run stops with this error.
    fn take(&mut self, rows: &RequestRows, devices: &[String]) -> Result<()>;

    /// The run starts over: nothing of what was handed out counts.
    ///
    /// # Errors
    /// When that cannot be done: the run stops with this error.
    fn restart(&mut self) -> Result<()>;
}

/// A log of requests.
pub struct RequestLog {
    sink: Box<dyn RequestSink>,
    /// By number of the request under way, with when it was fetched.
    underway: Vec<Option<(Request, u64)>>,
    rows: RequestRows,
}

impl RequestLog {
    /// An empty log.
    #[must_use]
    pub fn new(sink: Box<dyn RequestSink>) -> Self {
        Self { sink, underway: Vec::new(), rows: RequestRows::default() }
    }

    /// The drive fetched a request, which is under way as `number`.
    pub fn fetched(&mut self, number: u32, request: Request, now_ns: u64) {
        if self.underway.len() <= number as usize {
            self.underway.resize(number as usize + 1, None);
        }
        self.underway[number as usize] = Some((request, now_ns));
    }

    /// Takes note of requests that are done.
    pub fn ended(&mut self, ended: &mut Vec<(u32, u64)>) {
        for (number, completed_ns) in ended.drain(..) {
            if let Some((request, fetched_ns)) = self.underway[number as usize].take() {
                self.rows.requests.push(request);
                self.rows.fetched_ns.push(fetched_ns);
                self.rows.completed_ns.push(completed_ns);
            }
        }
    }

    /// Hands out what there is, if that is at least `rows` rows.
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

    /// Forgets all.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn restart(&mut self) -> Result<()> {
        self.underway.clear();
        self.rows = RequestRows::default();
        self.sink.restart()
    }
}
