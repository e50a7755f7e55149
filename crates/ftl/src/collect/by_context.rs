//! Timing of collection by program context (`ftl.collect.timing = "by-context"`): which victims can wait because their
//! data will soon be overwritten, and how many pages the next burst will write.
//!
//! Source: dissertation on cross-layer optimization of NAND flash storage, section 7.2.3, which wants both and gives no
//! algorithm. A table in bounded memory learns per context, with host page writes as the clock:
//!
//! - *Life*: how long data written by the context live. A death within `horizon` of the expected time raises the
//!   confidence, any other death lowers it. So does a page that is copied although it should be dead for longer than
//!   that. A page of a confident context is *dying* while its age is within `horizon` of the expected life. A victim is
//!   passed over if at least `dying_share` of its valid pages are dying.
//! - *Burst*: how many pages the host writes in a burst that the context begins, and with which context the next burst
//!   begins after one that ends with it. The confidence of an amount rises with amounts from half to twice of it; that
//!   of the next context rises when it comes again.
//!
//! Counters of confidence saturate, as in the program-counter predictors of disks (Gniady, Butt and Hu, OSDI 2004).
//! Cost: a look-up per host page write and per overwritten page, one per valid page of a victim. Memory: 40 bytes per
//! entry.

use serde::{Deserialize, Serialize};

/// Ends of a counter of confidence.
const CONFIDENCE_MAX: u8 = 7;
/// Share of a difference by which an estimate moves.
const WEIGHT: u64 = 4;
/// Knuth's multiplicative constant for 32 bits.
const SPREAD: u32 = 0x9E37_79B1;

/// Settings of the policy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ByContext {
    /// Host page writes within which data that are expected to be overwritten are dying; at least 1.
    pub horizon: u32,
    /// Share of dying pages from which on a victim is passed over.
    pub dying_share: f64,
    /// Entries of the table, at least 1.
    pub contexts: u32,
    /// Confidence from which on a context predicts.
    pub confident_from: u8,
    /// The most units of a domain that are prepared for a burst.
    pub prepared_units_max: u32,
}

/// What is known of a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    /// 0 for an unused entry.
    context: u32,
    /// Expected age at which its data are overwritten, and the confidence in it.
    life: (u32, u8),
    /// Expected pages of a burst that it begins.
    burst: (u64, u8),
    /// The context that begins the burst after one that ends with this context.
    next: (u32, u8),
}

/// The present burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Burst {
    pages: u64,
    /// First and last context of it; 0 without one.
    first: u32,
    last: u32,
}

/// The table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ContextTable {
    settings: ByContext,
    table: Vec<Entry>,
    /// Entries that another context replaced.
    replaced: u64,
    burst: Burst,
    /// The context with which the last burst ended; 0 without one.
    ended: u32,
}

fn raise(confidence: &mut u8) {
    *confidence = (*confidence + 1).min(CONFIDENCE_MAX);
}

fn lower(confidence: &mut u8) {
    *confidence = confidence.saturating_sub(1);
}

/// Moves an estimate towards what was observed; the first observation is the estimate.
fn estimate(before: u64, observed: u64) -> u64 {
    match before {
        0 => observed,
        _ if observed >= before => before + (observed - before) / WEIGHT,
        _ => before - (before - observed) / WEIGHT,
    }
}

impl ContextTable {
    /// Creates an empty table.
    pub fn new(settings: ByContext) -> Self {
        Self {
            settings,
            table: vec![Entry::default(); settings.contexts as usize],
            replaced: 0,
            burst: Burst::default(),
            ended: 0,
        }
    }

    /// Returns the settings.
    pub fn settings(&self) -> &ByContext {
        &self.settings
    }

    /// Checks whether a restored table has the size of its settings, and counters within their ends.
    pub fn is_sound(&self) -> bool {
        let confident = |entry: &Entry| [entry.life.1, entry.burst.1, entry.next.1];
        let sound = self.table.iter().flat_map(confident).all(|confidence| confidence <= CONFIDENCE_MAX);
        sound && self.table.len() == self.settings.contexts as usize
    }

    /// Learns that a page written by `context` was overwritten or trimmed at this age. Returns whether the death was
    /// predicted, and if so, whether it came in time.
    pub fn dies(&mut self, context: u32, age: u32) -> Option<bool> {
        let ByContext { horizon, confident_from, .. } = self.settings;
        let (expected, confidence) = &mut self.own(context).life;
        let predicted = *confidence >= confident_from;
        let in_time = *expected == 0 || age.abs_diff(*expected) <= horizon;
        if in_time {
            raise(confidence)
        } else {
            lower(confidence)
        }
        *expected = estimate((*expected).into(), age.into()) as u32;
        predicted.then_some(in_time)
    }

    /// Learns that a page written by `context` is copied at this age. Returns whether it should be dead.
    pub fn lives_on(&mut self, context: u32, age: u32) -> bool {
        let horizon = self.settings.horizon;
        let Some(entry) = self.find(context) else { return false };
        let (expected, confidence) = &mut self.table[entry].life;
        let overdue = *confidence > 0 && age > expected.saturating_add(horizon);
        if overdue {
            lower(confidence);
        }
        overdue
    }

    /// Decides whether a page of this age, written by `context`, will be overwritten within the horizon.
    pub fn is_dying(&self, context: u32, age: u32) -> bool {
        let Some(entry) = self.find(context) else { return false };
        let (expected, confidence) = self.table[entry].life;
        confidence >= self.settings.confident_from && age.abs_diff(expected) <= self.settings.horizon
    }

    /// Decides whether a victim can wait: `dying` of its `valid` pages will be overwritten within the horizon.
    pub fn passes_over(&self, dying: u32, valid: u32) -> bool {
        dying > 0 && f64::from(dying) >= self.settings.dying_share * f64::from(valid)
    }

    /// Notes a page that the host writes; 0 without a context.
    #[inline]
    pub fn writes(&mut self, context: u32) {
        let burst = &mut self.burst;
        burst.pages += 1;
        if context != 0 {
            if burst.first == 0 {
                burst.first = context;
            }
            burst.last = context;
        }
    }

    /// Learns from a burst that is over, and returns its pages; 0 if the host wrote none since the last one.
    pub fn burst_ends(&mut self) -> u64 {
        let Burst { pages, first, last } = std::mem::take(&mut self.burst);
        if pages == 0 {
            return 0;
        }
        if first != 0 {
            let (expected, confidence) = &mut self.own(first).burst;
            let near = pages <= expected.saturating_mul(2) && *expected <= pages.saturating_mul(2);
            if *expected == 0 || near {
                raise(confidence)
            } else {
                lower(confidence)
            }
            *expected = estimate(*expected, pages);
        }
        if self.ended != 0 && first != 0 {
            let (next, confidence) = &mut self.own(self.ended).next;
            match () {
                () if *next == first => raise(confidence),
                () if *confidence > 0 => lower(confidence),
                () => (*next, *confidence) = (first, 1),
            }
        }
        self.ended = last;
        pages
    }

    /// Predicts after a burst how many pages the host will write in the next one.
    pub fn next_burst(&self) -> Option<u64> {
        let confident_from = self.settings.confident_from;
        let sure = |(value, confidence): (u64, u8)| (confidence >= confident_from).then_some(value);
        let (next, confidence) = self.table[self.find(self.ended)?].next;
        let next = sure((next.into(), confidence))? as u32;
        sure(self.table[self.find(next)?].burst)
    }

    /// Returns the number of entries in use, and how often one replaced another.
    pub fn entries(&self) -> (u64, u64) {
        (self.table.iter().filter(|entry| entry.context != 0).count() as u64, self.replaced)
    }

    /// Returns the only entry in which a context may stand.
    fn place(&self, context: u32) -> usize {
        ((u64::from(context.wrapping_mul(SPREAD)) * self.table.len() as u64) >> 32) as usize
    }

    /// Returns the entry that holds a context.
    fn find(&self, context: u32) -> Option<usize> {
        let place = self.place(context);
        (context != 0 && self.table[place].context == context).then_some(place)
    }

    /// Returns the entry of a context, which may replace another one.
    fn own(&mut self, context: u32) -> &mut Entry {
        let place = self.place(context);
        let entry = &mut self.table[place];
        if entry.context != context {
            self.replaced += u64::from(entry.context != 0);
            *entry = Entry { context, ..Entry::default() };
        }
        entry
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: ByContext =
        ByContext { horizon: 10, dying_share: 0.5, contexts: 64, confident_from: 2, prepared_units_max: 4 };

    fn table() -> ContextTable {
        ContextTable::new(SETTINGS)
    }

    /// The data of context 7 live for 100 writes, then for 104, 200 and 100.
    #[test]
    fn lives_are_expected_as_computed_by_hand() {
        let mut of = table();
        assert_eq!(of.dies(7, 100), None);
        assert!(!of.is_dying(7, 100), "one death teaches too little");
        assert_eq!(of.dies(7, 104), None);
        // 100 and a quarter of 4: 101, within 10 of which a page is dying.
        let dying = |of: &ContextTable| (0..300).filter(|&age| of.is_dying(7, age)).collect::<Vec<_>>();
        assert_eq!(dying(&of), (91..=111).collect::<Vec<_>>());
        // 101 and a quarter of 99: 125. The confidence falls from 2 to 1.
        assert_eq!(of.dies(7, 200), Some(false));
        assert_eq!(dying(&of), []);
        // 125 less a quarter of 25: 119. That was off by 25, which leaves no confidence.
        assert_eq!(of.dies(7, 100), None);
        // In time twice: 119, and 119 less a quarter of 4.
        assert_eq!((of.dies(7, 119), of.dies(7, 115)), (None, None));
        assert_eq!(dying(&of), (108..=128).collect::<Vec<_>>());
        assert_eq!(of.dies(7, 118), Some(true));
    }

    #[test]
    fn a_page_that_is_copied_too_late_lowers_the_confidence() {
        let mut of = table();
        (0..2).for_each(|_| _ = of.dies(7, 100));
        // At 110 it may still die in time.
        assert!(!of.lives_on(7, 110) && of.is_dying(7, 100));
        assert!(of.lives_on(7, 111) && !of.is_dying(7, 100));
        // Confidence 1, then 0: nothing is expected any more.
        assert!(of.lives_on(7, 111) && !of.lives_on(7, 111));
        assert!(!of.lives_on(8, 111), "an unknown context");
    }

    /// Of the valid pages of a victim half must be dying.
    #[test]
    fn victims_wait_from_a_share_of_dying_pages_on() {
        let of = table();
        assert!(of.passes_over(2, 4) && of.passes_over(1, 1));
        assert!(!of.passes_over(1, 3));
        assert!(!of.passes_over(0, 0), "a dead block gains by no wait");
        let any = ContextTable::new(ByContext { dying_share: 0.0, ..SETTINGS });
        assert!(any.passes_over(1, 100) && !any.passes_over(0, 100));
    }

    /// Two programs in turn: context 1 begins bursts of 40 pages that end with context 2, and context 3 bursts of 4.
    #[test]
    fn bursts_are_expected_as_computed_by_hand() {
        let mut of = table();
        let burst = |of: &mut ContextTable, first: u32, last: u32, pages: u64| {
            of.writes(first);
            (2..pages).for_each(|_| of.writes(0));
            of.writes(last);
            assert_eq!(of.burst_ends(), pages);
            of.next_burst()
        };
        let predicted: Vec<_> =
            (0..4).flat_map(|_| [burst(&mut of, 1, 2, 40), burst(&mut of, 3, 3, 4)]).collect();
        // After 2 came 3 twice once the fourth burst is over, and 3 has begun two of 4 pages; 1 follows 3 from the
        // fifth on.
        assert_eq!(predicted, [None, None, None, None, Some(4), Some(40), Some(4), Some(40)]);
        assert_eq!(of.burst_ends(), 0, "nothing was written");
        assert_eq!(of.next_burst(), Some(40), "and the next burst is still to come");
        // 48 is 40 and a quarter of 32; 72 is at most twice 40.
        burst(&mut of, 1, 2, 72);
        assert_eq!(burst(&mut of, 3, 3, 4), Some(48));
        // 200 is not near 48; the estimate follows, at less confidence: 4 of 6 bursts so far, one more, one less.
        burst(&mut of, 1, 2, 200);
        assert_eq!(burst(&mut of, 3, 3, 4), Some(86));
        // Another context follows once: the confidence in 3 after 2 falls from 5 to 4.
        burst(&mut of, 1, 2, 86);
        assert_eq!(burst(&mut of, 9, 2, 5), Some(4));
    }

    #[test]
    fn a_burst_without_contexts_teaches_and_predicts_nothing() {
        let mut of = table();
        for _ in 0..9 {
            of.writes(0);
            assert_eq!((of.burst_ends(), of.next_burst()), (1, None));
        }
        assert_eq!(of.entries(), (0, 0));
    }

    #[test]
    fn the_table_is_bounded_and_a_new_context_takes_the_place_of_an_old_one() {
        let mut of = ContextTable::new(ByContext { contexts: 1, ..SETTINGS });
        (0..3).for_each(|_| _ = of.dies(7, 100));
        assert!(of.is_dying(7, 100));
        of.dies(8, 100);
        assert!(!of.is_dying(7, 100) && !of.is_dying(8, 100));
        assert_eq!(of.entries(), (1, 1));
        let mut of = table();
        (1..1000).for_each(|context| _ = of.dies(context, 5));
        let (used, replaced) = of.entries();
        assert!(used <= 64 && used + replaced == 999, "{used} {replaced}");
        assert!(of.is_sound());
    }
}
