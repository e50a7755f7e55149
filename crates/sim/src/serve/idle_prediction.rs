//! Prediction of long idle periods by program context (dissertation, section 7.2.1): after some contexts of a program
//! long idle periods follow, after others none do.
//!
//! As in the program-counter predictors of disks (Gniady, Butt and Hu, OSDI 2004), a table in bounded memory has a
//! saturating counter for each signature, the last contexts before an idle period. The counter rises with each long
//! period and falls with each short one. Gaps within a burst count as neither. An entry also estimates how long the
//! period will be: work ends before.

use crate::plan::ByContext;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Ends of a counter of confidence.
const CONFIDENCE_MAX: u8 = 7;
/// Share of a longer period by which the estimate grows; to a shorter period it falls at once.
const GROWTH: u64 = 4;
/// Knuth's multiplicative constant for 64 bits.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// An entry of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    /// 0 for an unused entry.
    signature: u64,
    confidence: u8,
    /// Estimated length of a long period.
    length_ns: u64,
}

/// Predicts from the contexts of requests how long the drive will be idle.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IdlePrediction {
    settings: ByContext,
    table: Vec<Entry>,
    /// The last contexts, the latest at the end.
    recent: VecDeque<u32>,
    /// Whether a request since the last idle period had a context.
    known: bool,
    /// Entries that another signature replaced.
    replaced: u64,
}

impl IdlePrediction {
    /// Creates an empty table.
    pub fn new(settings: ByContext) -> Self {
        Self {
            settings,
            table: vec![Entry::default(); settings.contexts as usize],
            recent: VecDeque::with_capacity(settings.path as usize),
            known: false,
            replaced: 0,
        }
    }

    /// Returns whether a restored state is one of these settings.
    pub fn fits(&self, settings: ByContext) -> bool {
        let confident = self.table.iter().all(|entry| entry.confidence <= CONFIDENCE_MAX);
        let sizes =
            self.table.len() == settings.contexts as usize && self.recent.len() <= settings.path as usize;
        self.settings == settings && sizes && confident
    }

    /// Notes the context of a request; 0 for none.
    #[inline]
    pub fn sees(&mut self, context: u32) {
        if context == 0 {
            return;
        }
        if self.recent.len() == self.settings.path as usize {
            self.recent.pop_front();
        }
        self.recent.push_back(context);
        self.known = true;
    }

    /// Returns how long the idle period that begins now will be, if it is predicted to be long.
    pub fn predict(&self) -> Option<u64> {
        let entry = self.table[self.place(self.signature()?)];
        let is_own = Some(entry.signature) == self.signature();
        (is_own && entry.confidence >= self.settings.confident_from).then_some(entry.length_ns)
    }

    /// Learns from an idle period that has ended, and was no gap in a burst.
    pub fn learn(&mut self, length_ns: u64) {
        let is_long = length_ns >= self.settings.long_ns;
        if let Some(signature) = self.signature() {
            let place = self.place(signature);
            let entry = &mut self.table[place];
            if entry.signature != signature {
                self.replaced += u64::from(entry.signature != 0);
                *entry = Entry { signature, ..Entry::default() };
            }
            if is_long {
                entry.confidence = (entry.confidence + 1).min(CONFIDENCE_MAX);
                entry.length_ns = match entry.length_ns {
                    0 => length_ns,
                    before if length_ns < before => length_ns,
                    before => before + (length_ns - before) / GROWTH,
                };
            } else {
                entry.confidence = entry.confidence.saturating_sub(1);
            }
        }
        // The next period follows requests that are still to come.
        self.known = false;
    }

    /// Returns the number of entries in use, and how often one replaced another.
    pub fn entries(&self) -> (u64, u64) {
        (self.table.iter().filter(|entry| entry.signature != 0).count() as u64, self.replaced)
    }

    /// Combines the last contexts in their order; None if no request since the last idle period had one. Never 0.
    fn signature(&self) -> Option<u64> {
        let mix = |sum: u64, &context: &u32| (sum ^ u64::from(context)).wrapping_mul(SPREAD);
        self.known.then(|| self.recent.iter().fold(0, mix).max(1))
    }

    /// Returns the only entry in which a signature may stand.
    fn place(&self, signature: u64) -> usize {
        ((u128::from(signature.wrapping_mul(SPREAD)) * self.table.len() as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn prediction(path: u32) -> IdlePrediction {
        IdlePrediction::new(ByContext {
            settle_ns: 0,
            long_ns: 50 * MS,
            contexts: 64,
            confident_from: 2,
            path,
        })
    }

    /// An idle period after a request of `context`; returns what was predicted.
    fn period(of: &mut IdlePrediction, context: u32, length_ns: u64) -> Option<u64> {
        of.sees(context);
        let predicted = of.predict();
        of.learn(length_ns);
        predicted
    }

    #[test]
    fn two_long_periods_make_a_context_confident_and_one_short_one_unmakes_it() {
        let mut of = prediction(1);
        assert_eq!(period(&mut of, 7, 200 * MS), None);
        assert_eq!(period(&mut of, 7, 400 * MS), None);
        // 200 ms, and a quarter of the 200 ms by which the second was longer.
        assert_eq!(period(&mut of, 7, 10 * MS), Some(250 * MS));
        assert_eq!(period(&mut of, 7, 100 * MS), None);
        // The estimate falls at once.
        assert_eq!(period(&mut of, 7, 100 * MS), Some(100 * MS));
        assert_eq!(period(&mut of, 8, 100 * MS), None);
    }

    #[test]
    fn a_period_as_long_as_the_border_is_long() {
        let mut of = prediction(1);
        for _ in 0..4 {
            period(&mut of, 1, 50 * MS);
            period(&mut of, 2, 50 * MS - 1);
        }
        of.sees(1);
        assert_eq!(of.predict(), Some(50 * MS));
        of.sees(2);
        assert_eq!(of.predict(), None);
    }

    #[test]
    fn requests_without_a_context_predict_and_teach_nothing() {
        let mut of = prediction(1);
        (0..3).for_each(|_| _ = period(&mut of, 7, 100 * MS));
        // A request without a context leaves the last one of its burst.
        of.sees(7);
        of.sees(0);
        assert_eq!(of.predict(), Some(100 * MS));
        of.learn(100 * MS);
        // A burst without any context has none.
        of.sees(0);
        assert_eq!(of.predict(), None);
        of.learn(1);
        of.sees(7);
        assert_eq!(of.predict(), Some(100 * MS));
    }

    #[test]
    fn a_path_tells_apart_what_came_before() {
        let mut of = prediction(2);
        for _ in 0..4 {
            of.sees(1);
            period(&mut of, 9, 100 * MS);
            of.sees(2);
            period(&mut of, 9, MS);
        }
        of.sees(1);
        of.sees(9);
        assert_eq!(of.predict(), Some(100 * MS));
        of.sees(2);
        of.sees(9);
        assert_eq!(of.predict(), None);
    }

    #[test]
    fn the_table_is_bounded_and_a_new_signature_takes_the_place_of_an_old_one() {
        let mut of = IdlePrediction::new(ByContext {
            settle_ns: 0,
            long_ns: 50 * MS,
            contexts: 1,
            confident_from: 2,
            path: 1,
        });
        (0..3).for_each(|_| _ = period(&mut of, 7, 100 * MS));
        period(&mut of, 8, 100 * MS);
        assert_eq!(of.entries(), (1, 1));
        assert_eq!(period(&mut of, 7, 100 * MS), None);
        assert_eq!(of.entries(), (1, 2));
        let mut of = prediction(1);
        (1..1000).for_each(|context| _ = period(&mut of, context, 100 * MS));
        let (used, replaced) = of.entries();
        assert!(used <= 64 && used + replaced == 999, "{used} {replaced}");
    }
}
