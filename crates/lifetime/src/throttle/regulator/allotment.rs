//! Input and output of regulators.

/// Capacity of an epoch, in flash bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Allotment {
    /// Its capacity (c).
    pub capacity_bytes: f64,
    /// Spare that it may borrow from later epochs.
    pub spare_bytes: f64,
}

/// State at the beginning of an epoch.
#[derive(Clone, Copy, Debug)]
pub struct Remaining {
    /// Flash bytes that may still be written (C_r).
    pub bytes: f64,
    /// Remaining epochs of the coming one's length, itself included; at least 1.
    pub epochs: f64,
    /// Capacity per nanosecond of the last epoch that did not use the spare.
    pub unreduced_rate: Option<f64>,
    /// Length of the epoch, nanoseconds.
    pub length_ns: u64,
    /// Whether the previous epoch wrote more than its capacity.
    pub touched_spare: bool,
    /// Share of the later epochs' capacity that may be borrowed.
    pub spare_share: f64,
}
