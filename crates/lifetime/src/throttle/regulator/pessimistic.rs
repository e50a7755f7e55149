//! Pessimistic: an epoch never writes more than its capacity (READY, section 3.4, Fig. 6 and 7a).
//!
//! Its periods share the capacity evenly; the rest of one goes to the next, and writes that do not fit wait for it.

use super::allotment::{Allotment, Remaining};

/// Returns the allotment of an epoch, `c = C_r / m`.
#[must_use]
pub fn allot(left: &Remaining) -> Allotment {
    Allotment { capacity_bytes: (left.bytes / left.epochs).max(0.0), spare_bytes: 0.0 }
}

/// Returns the flash bytes that an epoch may have written by the end of its period `period` (from 0), with a share per
/// period.
#[inline]
#[must_use]
pub fn allowance(capacity_bytes: f64, share_bytes: f64, period: u64) -> f64 {
    (share_bytes * (period + 1) as f64).min(capacity_bytes)
}

/// Returns the first period by whose end `bytes` are allowed; None if they exceed the whole capacity.
#[must_use]
pub fn first_period(capacity_bytes: f64, share_bytes: f64, bytes: f64) -> Option<u64> {
    if bytes > capacity_bytes {
        return None;
    }
    let mut period = ((bytes / share_bytes) as u64).saturating_sub(1);
    while allowance(capacity_bytes, share_bytes, period) < bytes {
        period += 1;
    }
    Some(period)
}
