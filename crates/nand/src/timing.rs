//! Nominal times of the flash operations.

/// Times of one die's operations and the speed of a channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// Array time of a page read, microseconds.
    pub read_us: f64,
    /// Array time of a page program, microseconds.
    pub program_us: f64,
    /// Array time of a block erase, microseconds.
    pub erase_us: f64,
    /// Transfer rate of a channel, 10^6 bytes a second.
    pub channel_mb_per_s: f64,
}

impl Timing {
    /// Time to carry one page over a channel, microseconds.
    #[must_use]
    pub fn transfer_us(&self, page_bytes: u32) -> f64 {
        f64::from(page_bytes) / self.channel_mb_per_s
    }
}
