//! Interfaces of address patterns.

/// An address pattern in slots: addresses of requests divided by their size.
pub(super) trait Slots: Send {
    /// Appends the byte offsets of the next `n` requests.
    fn fill(&mut self, offsets: &mut Vec<u64>, n: usize, request_bytes: u64);
}

/// A pattern of requests that differ in size.
pub(super) trait Extents: Send {
    /// Appends the byte offsets and the sizes of the next `n` requests.
    fn fill(&mut self, offsets: &mut Vec<u64>, bytes: &mut Vec<u64>, n: usize);
}
