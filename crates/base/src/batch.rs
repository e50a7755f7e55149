//! Requests travel in batches of columns, never as one object each.

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Op {
    /// Read `bytes` from `offset`.
    Read = 0,
    /// Write `bytes` to `offset`.
    Write = 1,
    /// The host no longer needs these bytes (TRIM, discard, deallocate).
    Trim = 2,
}

/// A batch of requests in order of arrival; all columns have the same length.
#[derive(Clone, Debug, Default)]
pub struct RequestBatch {
    /// Arrival in nanoseconds since the first request of the trace; may go backwards.
    pub time_ns: Vec<i64>,
    /// Index into the source's table of devices.
    pub device: Vec<u16>,
    /// Kind of request.
    pub op: Vec<Op>,
    /// First byte addressed.
    pub offset: Vec<u64>,
    /// Bytes addressed; never 0.
    pub bytes: Vec<u64>,
}

impl RequestBatch {
    /// Requests that a source puts into one batch when the caller asks for no other number.
    pub const DEFAULT_LEN: usize = 4096;

    /// An empty batch with room for `n` requests.
    #[must_use]
    pub fn with_capacity(n: usize) -> Self {
        Self {
            time_ns: Vec::with_capacity(n),
            device: Vec::with_capacity(n),
            op: Vec::with_capacity(n),
            offset: Vec::with_capacity(n),
            bytes: Vec::with_capacity(n),
        }
    }

    /// Number of requests.
    #[must_use]
    pub fn len(&self) -> usize {
        self.op.len()
    }

    /// Whether the batch holds no request.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.op.is_empty()
    }

    /// Forgets all requests and keeps the memory.
    pub fn clear(&mut self) {
        self.time_ns.clear();
        self.device.clear();
        self.op.clear();
        self.offset.clear();
        self.bytes.clear();
    }

    /// Appends one request.
    #[inline]
    pub fn push(&mut self, time_ns: i64, device: u16, op: Op, offset: u64, bytes: u64) {
        self.time_ns.push(time_ns);
        self.device.push(device);
        self.op.push(op);
        self.offset.push(offset);
        self.bytes.push(bytes);
    }
}
