//! Static: every period admits the same, and its rest is lost (READY, section 3.1, Fig. 2b).
//!
//! A write larger than a period's share waits until the elapsed periods have paid for it.

/// Returns the total flash bytes up to which writes are admitted after `periods` more periods, from a previous
/// `limit_bytes` with `used_bytes` written. While a write waits, periods add up.
#[must_use]
pub fn next_limit(limit_bytes: f64, used_bytes: f64, share_bytes: f64, periods: u64, waiting: bool) -> f64 {
    let added = limit_bytes + share_bytes * periods as f64;
    if waiting { added } else { added.min(used_bytes + share_bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_period_leaves_is_lost() {
        assert_eq!(next_limit(100.0, 30.0, 100.0, 1, false), 130.0);
        assert_eq!(next_limit(100.0, 30.0, 100.0, 50, false), 130.0);
        // A write of 250 waits for two more periods.
        assert_eq!(next_limit(100.0, 0.0, 100.0, 2, true), 300.0);
        // More was written than admitted (collection came in a lump): the next periods pay.
        assert_eq!(next_limit(100.0, 350.0, 100.0, 1, false), 200.0);
        assert_eq!(next_limit(100.0, 350.0, 100.0, 9, false), 450.0);
    }
}
