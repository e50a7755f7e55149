//! Pessimistic: an epoch never writes more than its capacity (READY, section 3.4, Fig. 6 and 7a).
//!
//! Its periods share the capacity evenly; what one leaves goes to the next, and what does not fit waits for it.

use super::{Allotment, Left};

/// `c = C_r / m`.
#[must_use]
pub fn allot(left: &Left) -> Allotment {
    Allotment { capacity_bytes: (left.bytes / left.epochs).max(0.0), spare_bytes: 0.0 }
}

/// Flash bytes that an epoch may have written by the end of its period `period` (from 0) of `periods`.
#[inline]
#[must_use]
pub fn allowance(capacity_bytes: f64, period: u64, periods: f64) -> f64 {
    capacity_bytes * ((period + 1) as f64 / periods).min(1.0)
}

/// The first period by whose end `bytes` are allowed; none if the whole capacity is less.
#[must_use]
pub fn first_period(capacity_bytes: f64, bytes: f64, periods: f64) -> Option<u64> {
    if bytes > capacity_bytes {
        return None;
    }
    let mut period = ((bytes / capacity_bytes * periods) as u64).saturating_sub(1);
    while allowance(capacity_bytes, period, periods) < bytes {
        period += 1;
    }
    Some(period)
}
