//! Write amplification in bytes: flash bytes programmed per byte that the host writes, by cause.
//!
//! `waf` counts flash pages per page that the host touches; it does not show that a small write takes a whole page.
//! Endurance (TBW, DWPD, years) follows from bytes, and drive makers define write amplification in bytes (JESD218,
//! section 3).

use crate::by_cause::by_cause;
use floatgate_flash::{Cause, Counters};
use floatgate_stats::WafEstimate;
use serde_json::{Value, json};

/// Flash bytes per host byte.
pub(crate) struct Amplification<'a> {
    /// Flash operations.
    pub flash: &'a Counters,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Pages that the host wrote, including those written in part.
    pub page_writes: u64,
    /// Bytes that the host wrote.
    pub write_bytes: u64,
}

impl Amplification<'_> {
    fn of_pages(&self, pages: f64) -> Option<f64> {
        (self.write_bytes > 0).then(|| pages * f64::from(self.page_bytes) / self.write_bytes as f64)
    }

    /// Returns bytes programmed over bytes written; None if the host wrote nothing.
    pub fn total(&self) -> Option<f64> {
        self.of_pages(self.flash.programs_total() as f64)
    }

    /// Returns the 95 % interval of [`Amplification::total`]. The host's bytes per page are known without error; the
    /// interval of pages therefore holds in bytes.
    pub fn interval(&self, pages: &WafEstimate) -> Option<[f64; 2]> {
        let (low, high) = pages.interval?;
        let in_bytes = |waf: f64| self.of_pages(waf * self.page_writes as f64);
        Some([in_bytes(low)?, in_bytes(high)?])
    }

    /// Returns the total by cause of the programs; null without host writes. The sum of `host` and `partial` exceeds 1
    /// because pages are programmed whole; it is below 1 if a buffer merged writes.
    pub fn parts(&self) -> Value {
        let Some(total) = self.total() else { return Value::Null };
        let part = |cause: Cause| self.of_pages(self.flash.programs[cause as usize] as f64);
        json!(by_cause(&Cause::ALL, |cause| part(cause).unwrap_or_default(), total))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_writes_take_whole_pages() {
        // Two writes of 4 KiB into pages of 16 KiB, one of a whole page, three pages moved: 6 pages for 24 KiB.
        let mut flash = Counters::default();
        flash.programs[Cause::Host as usize] = 1;
        flash.programs[Cause::Partial as usize] = 2;
        flash.programs[Cause::Gc as usize] = 3;
        let made = Amplification { flash: &flash, page_bytes: 16_384, page_writes: 3, write_bytes: 24_576 };
        assert_eq!(made.total(), Some(4.0));
        let waf = WafEstimate {
            waf: Some(2.0),
            interval: Some((1.5, 2.5)),
            stationary: None,
            transient_requests: None,
        };
        assert_eq!(made.interval(&waf), Some([3.0, 5.0]));
        let parts = made.parts();
        assert_eq!(
            (&parts["partial"], &parts["gc"], &parts["total"]),
            (&json!(4.0 / 3.0), &json!(2.0), &json!(4.0))
        );
        let nothing = Amplification { write_bytes: 0, ..made };
        assert_eq!((nothing.total(), nothing.interval(&waf), nothing.parts()), (None, None, Value::Null));
    }
}
