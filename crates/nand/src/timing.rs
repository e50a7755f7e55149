//! Nominal times of the flash operations.

/// Maximum of page types that share a wordline: LSB, CSB, MSB, and a fourth of QLC.
pub const PAGE_TYPES_MAX: usize = 4;

/// Times of one die's operations and the speed of a channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// Array time of a page read, microseconds, by page type; entries beyond `page_types` are meaningless.
    pub read_us: [f64; PAGE_TYPES_MAX],
    /// Array time of a page program, microseconds, by page type.
    pub program_us: [f64; PAGE_TYPES_MAX],
    /// Types of pages: page `p` of a block is of type `p % page_types`.
    pub page_types: u32,
    /// Largest relative deviation of a program's time, drawn uniformly.
    pub program_spread: f64,
    /// Array time of a block erase, microseconds.
    pub erase_us: f64,
    /// Largest relative deviation of an erase's time, drawn uniformly.
    pub erase_spread: f64,
    /// Time of command and address on the channel before every array operation, microseconds.
    pub command_us: f64,
    /// Transfer rate of a channel, 10^6 bytes per second.
    pub channel_mb_per_s: f64,
}

impl Timing {
    /// Returns the time to carry one page over a channel, microseconds.
    #[must_use]
    pub fn transfer_us(&self, page_bytes: u32) -> f64 {
        f64::from(page_bytes) / self.channel_mb_per_s
    }

    /// Returns the mean array time of a page read, microseconds.
    #[must_use]
    pub fn mean_read_us(&self) -> f64 {
        self.mean(&self.read_us)
    }

    /// Returns the mean array time of a page program, microseconds.
    #[must_use]
    pub fn mean_program_us(&self) -> f64 {
        self.mean(&self.program_us)
    }

    fn mean(&self, by_type: &[f64; PAGE_TYPES_MAX]) -> f64 {
        by_type.iter().take(self.page_types as usize).sum::<f64>() / f64::from(self.page_types)
    }
}
