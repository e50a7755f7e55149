//! Numbers of the protocol that several files need.

/// Longest read or write, as the handshake tells clients.
pub const TRANSFER_MAX: u32 = 32 << 20;
/// Size that requests should have, and of which offsets should be multiples.
pub const BLOCK_PREFERRED: u32 = 4096;

/// Error numbers of replies.
pub(super) mod errno {
    pub const PERMISSION: u32 = 1;
    pub const IO: u32 = 5;
    pub const INVALID: u32 = 22;
    pub const NO_SPACE: u32 = 28;
    pub const OVERFLOW: u32 = 75;
}

/// Flags of a transmission: has flags, flush, FUA, TRIM, write zeroes, several connections.
pub(super) const TRANSMISSION_FLAGS: u16 = 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 8;
