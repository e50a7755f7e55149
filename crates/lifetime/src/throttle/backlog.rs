//! Page writes that wait one behind another: what many periods admit of them, in one step.
//!
//! Where a period's share pays for several pages, a long run of page writes comes to the same in each period: the page that
//! waited is admitted when the period begins, others follow until the share is spent, and the next one waits for the rest of the
//! period. The pages per period are two neighbouring whole numbers (share over cost, rounded down and up), so a few sums say what
//! period by period would.

use super::Parts;
use super::periods::Periods;
use super::record::Record;
use super::regulator::Regulator;

/// A page write was admitted at the beginning of a period, and `pages` more are behind it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backlog {
    /// When it was admitted.
    pub room_ns: u64,
    /// From one page write's admission to the next one's arrival.
    pub gap_ns: u64,
    /// Page writes behind it.
    pub pages: u64,
}

/// What the periods admit behind the first page write.
struct Admitted {
    /// The limit of the last one, flash bytes.
    limit_bytes: f64,
    /// Pages by the end of the present period, by the end of the last but one, and in all.
    before: u64,
    between: u64,
    all: u64,
}

/// Fewer periods than these are gone through one by one.
const PERIODS_MIN: u64 = 4;

impl Periods {
    /// Admits what whole periods of this epoch take of a backlog; the last of it is the last of its period, so that the next
    /// page write waits again. Says how many; 0 where the periods have to be looked at one by one.
    pub fn admit_backlog<R: Record>(&mut self, backlog: &Backlog, record: &mut R) -> u64 {
        let Backlog { room_ns, gap_ns, pages } = *backlog;
        let Some((periods, admitted)) = self.whole_periods(pages) else { return 0 };
        let (s, period_ns) = (&mut self.state, self.setup.params.period_ns);
        let Admitted { limit_bytes, before, between, all } = admitted;
        let distance_ns = s.delay_ns.saturating_add(gap_ns);
        let most = (before + 1).max((s.share_bytes * s.page_flash_inverse) as u64 + 2);
        let end_ns = room_ns.saturating_add((periods + 1).saturating_mul(period_ns));
        // The page that waits must have arrived before its period ends.
        if most.saturating_mul(distance_ns) >= period_ns || record.is_close(room_ns, end_ns) {
            return 0;
        }
        let last_ns = room_ns + periods * period_ns + (all - between - 1) * distance_ns;
        let (few, rest) = ((between - before) / (periods - 1), (between - before) % (periods - 1));
        let mut waited_ns = 0;
        // The page behind the first period, and those behind the other ones; behind the last, none waits as yet.
        for (count, behind) in [(1, before + 1), (periods - 1 - rest, few), (rest, few + 1)] {
            let wait_ns = period_ns - behind * distance_ns;
            if count > 0 {
                record.waited_alike(room_ns, last_ns, count, (s.delay_ns, wait_ns));
                waited_ns += count * wait_ns;
            }
        }
        record.passed(room_ns, last_ns, all - periods, s.delay_ns);
        s.limit_bytes = limit_bytes;
        s.spend(all, &mut self.foreseen);
        s.held_back_ns += all * s.delay_ns + waited_ns;
        s.waited_ns += waited_ns;
        s.admitted_ns = last_ns;
        s.period += periods;
        s.period_end_ns += periods * period_ns;
        all
    }

    /// How many more whole periods of this epoch the backlog fills, where these are many and each admits two pages or more.
    fn whole_periods(&self, pages: u64) -> Option<(u64, Admitted)> {
        let s = &self.state;
        let Parts { regulator, .. } = self.parts.filter(|_| !s.free)?;
        if regulator == Regulator::TokenBucket || s.share_bytes < 2.0 * s.page_flash_bytes {
            return None;
        }
        let limit_after = |periods: u64| s.limit_in(regulator, s.period + periods, true);
        let admitted = |limit_bytes: f64| ((limit_bytes - s.used_bytes) * s.page_flash_inverse) as u64;
        let wanted = pages as f64 * s.page_flash_bytes - (s.limit_bytes - s.used_bytes);
        let whole = (s.epoch.end_ns - s.epoch.start_ns) / self.setup.params.period_ns;
        let mut periods = ((wanted / s.share_bytes) as u64).min(whole.saturating_sub(s.period + 1));
        // Rounding may promise a page too many.
        while periods >= PERIODS_MIN && admitted(limit_after(periods)) > pages {
            periods -= 1;
        }
        (periods >= PERIODS_MIN).then(|| {
            let limit_bytes = limit_after(periods);
            let (before, between) = (admitted(s.limit_bytes), admitted(limit_after(periods - 1)));
            (periods, Admitted { limit_bytes, before, between, all: admitted(limit_bytes) })
        })
    }
}
