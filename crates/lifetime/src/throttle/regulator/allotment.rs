//! What regulators decide about, and what they decide.

/// What an epoch may write, in flash bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Allotment {
    /// Its capacity (c).
    pub capacity_bytes: f64,
    /// What it may borrow from the epochs to come.
    pub spare_bytes: f64,
}

/// What a regulator knows when an epoch begins.
#[derive(Clone, Copy, Debug)]
pub struct Left {
    /// Flash bytes that may still be written (C_r).
    pub bytes: f64,
    /// Epochs of the coming one's length that are left, itself included; at least 1.
    pub epochs: f64,
    /// Capacity a nanosecond of the last epoch that left the spare alone.
    pub unreduced_rate: Option<f64>,
    /// Length of the epoch, nanoseconds.
    pub length_ns: u64,
    /// Whether the epoch before wrote more than its capacity.
    pub touched_spare: bool,
    /// Share of the later epochs' capacity that may be borrowed.
    pub spare_share: f64,
}
