//! Predicted lives: classifies pages by the rest of a life that was predicted when they were written.
//!
//! The interface for schemes that learn when data die, and a measure of how good they must be. A prediction is the life
//! of a page's data in host page writes. It comes from the workload itself (`lives = "exact"`, the knowledge of `ora`
//! and `fk`) or from a column of the trace made by another program (`"column"`, `predicted_life`; 0 for an unlimited
//! life). Without predictions (`"none"`) all pages share the first stream. `error_sigma` blurs each prediction: it is
//! multiplied by `exp(sigma z)`, with z from the standard normal distribution, drawn for each write of the workload
//! from the run's seed. Unlimited lives stay so. Classes follow from the rest of the life, at each write and again at
//! each move, as under `ora` or `fk` (`classes_by`); the bounds of `ora`'s follow from all predictions, blurred ones
//! too. A page that outlives its prediction is expected to die at once, or after as much time as it has lived
//! (`overdue`), as with heavy-tailed lives. Source: floatgate; the classes are those of [`super::ora`] and
//! [`super::fk`], which makes exact predictions equal to these. Data from before the workload are predicted under
//! `exact` alone. The workload is read twice if lives are exact or in a column. Parameters: above, and the number of
//! streams. Cost: two look-ups; two logarithms, a cosine and a power per write if predictions are blurred. Memory: 8
//! bytes per logical page, 4 per host page write of the workload.

use super::foresight::{Foresight, NEVER};
use super::last_writes::LastWrites;
use super::ora::{Classes, STREAMS_MAX};
use super::{ChosenPolicy, Moved, Separator, Shape, StreamId, Written};
use floatgate_base::{Lpn, ParamInfo, PolicyInfo};
use serde::{Deserialize, Serialize};

/// Sources of predictions, with descriptions.
const LIVES: &[(&str, &str)] = &[
    ("exact", "the workload, which is read ahead"),
    ("column", "the trace's column predicted_life"),
    ("none", "no predictions: all pages are alike"),
];

/// Rules for classes, with descriptions.
const CLASSES_BY: &[(&str, &str)] = &[
    ("ora", "by bounds that waste the least space, the last class for data that live on"),
    ("fk", "by the rest in units of a block's (superblock's) writes"),
];

/// Expected rest of a life beyond its prediction, with descriptions.
const OVERDUE: &[(&str, &str)] = &[("soon", "nothing"), ("as-long-again", "as much as it has lived")];

pub const INFO: PolicyInfo = PolicyInfo {
    name: "predicted",
    summary: "pages by the rest of a predicted life: exact, blurred, or from a column of the trace",
    source: "floatgate; classes as ora or fk",
    params: &[
        ParamInfo::whole("streams", "streams", 8, (1, STREAMS_MAX)),
        ParamInfo::name("lives", "where predictions come from: exact, column or none", LIVES),
        ParamInfo::name("classes_by", "classes of ora or fk", CLASSES_BY),
        ParamInfo::real(
            "error_sigma",
            "standard deviation of the natural logarithm of predicted over true life",
            0.0,
            (0.0, 20.0),
        ),
        ParamInfo::name(
            "overdue",
            "rest of life of pages that outlive their prediction: soon or as-long-again",
            OVERDUE,
        ),
    ],
    cost: "two look-ups",
    memory: "8 bytes per logical page, 4 per host page write of the workload",
};

/// The source of predictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Lives {
    /// The workload.
    Exact,
    /// A column of the trace.
    Column,
    /// No predictions.
    None,
}

/// Parameters of predicted lives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    streams: u32,
    lives: Lives,
    by_unit: bool,
    error_sigma: f64,
    as_long_again: bool,
}

impl Params {
    pub fn of(settings: &ChosenPolicy) -> Self {
        Self {
            streams: settings.whole("streams"),
            lives: match settings.text("lives") {
                name if name == LIVES[0].0 => Lives::Exact,
                name if name == LIVES[1].0 => Lives::Column,
                _ => Lives::None,
            },
            by_unit: settings.text("classes_by") == CLASSES_BY[1].0,
            error_sigma: settings.real("error_sigma"),
            as_long_again: settings.text("overdue") == OVERDUE[1].0,
        }
    }

    pub fn streams(self) -> u32 {
        self.streams
    }

    /// Checks whether a column of the trace has the predictions.
    pub fn goes_by_column(self) -> bool {
        self.lives == Lives::Column
    }

    /// Checks whether predictions exist, for which the workload is read ahead.
    pub fn reads_ahead(self) -> bool {
        self.lives != Lives::None
    }
}

/// Errors of predictions, reproducible per write.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Blur {
    sigma: f64,
    seed: u64,
}

/// Draws a number from a seed (SplitMix64).
fn mixed(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Blur {
    /// Returns a standard normal number for each `of` (Box and Muller).
    fn normal(self, of: u64) -> f64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let state = mixed(self.seed.wrapping_add(STEP)).wrapping_add((2 * of).wrapping_mul(STEP));
        // From the open interval: no logarithm of 0.
        let unit = |x: u64| ((mixed(x) >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        let (radius, turn) = (unit(state), unit(state.wrapping_add(STEP)));
        libm::sqrt(-2.0 * libm::log(radius)) * libm::cos(std::f64::consts::TAU * turn)
    }

    /// Returns the predicted death of data that live from `born` to `dies`, for the write with number `of`.
    #[inline(always)]
    fn blurred(self, of: u64, born: u32, dies: u32) -> u32 {
        if self.sigma == 0.0 || dies == NEVER {
            return dies;
        }
        self.draw(of, born, dies)
    }

    #[inline(never)]
    fn draw(self, of: u64, born: u32, dies: u32) -> u32 {
        let life = f64::from(dies.saturating_sub(born)) * libm::exp(self.sigma * self.normal(of));
        // The cast saturates at the largest number.
        born.saturating_add(life.round().max(1.0) as u32).min(NEVER - 1)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    lives: Lives,
    classes: Classes,
    blur: Blur,
    /// The last host writes of pages, if the rest of overdue lives depends on them.
    written: Option<LastWrites>,
    future: Foresight,
    /// Pages that moved after they should have died.
    overdue_moves: u64,
}

impl State {
    pub fn new(params: &Params, shape: &Shape) -> Self {
        Self {
            lives: params.lives,
            classes: match params.by_unit {
                true => Classes::of_units(params.streams, shape.pages_per_unit),
                false => Classes::of_lives(params.streams),
            },
            blur: Blur { sigma: params.error_sigma, seed: shape.seed },
            written: params.as_long_again.then(|| LastWrites::new(shape.logical_pages)),
            future: Foresight::default(),
            overdue_moves: 0,
        }
    }

    /// Returns the rest of a page's life, and whether it should be dead.
    #[inline(always)]
    fn left(&self, lpn: Lpn, now: u64) -> (Option<u32>, bool) {
        let overdue = self.future.is_overdue(lpn, now);
        match &self.written {
            Some(written) if overdue => (Some(written.age(lpn, now)), overdue),
            _ => (self.future.left(lpn, now), overdue),
        }
    }
}

impl Separator for State {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        if self.lives == Lives::None {
            return StreamId(0);
        }
        if let Some(written) = &mut self.written {
            written.renew(page.lpn, page.now);
        }
        let blur = self.blur;
        let left = self
            .future
            .write_as(page.lpn, page.now, |number, dies| blur.blurred(u64::from(number), number, dies));
        self.classes.class(left)
    }

    #[inline(always)]
    fn move_stream(&self, page: &Moved) -> StreamId {
        match self.lives {
            Lives::None => StreamId(0),
            _ => self.classes.class(self.left(page.lpn, page.now).0),
        }
    }

    #[inline(always)]
    fn moved(&mut self, page: &Moved, _: StreamId) {
        self.overdue_moves += u64::from(self.future.is_overdue(page.lpn, page.now));
    }

    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        self.future.prefetch(lpn);
    }

    fn foresight(&self) -> Option<&Foresight> {
        Some(&self.future)
    }

    fn future(&mut self) -> Option<&mut Foresight> {
        Some(&mut self.future)
    }

    fn foreseen(&mut self) {
        let blur = self.blur;
        let predicted = |(number, &dies): (u32, &u32)| {
            let dies = blur.blurred(u64::from(number), number, dies);
            (dies != NEVER).then(|| dies - number)
        };
        self.classes.find((0..).zip(self.future.next()).map(predicted));
        // Data from before the workload have numbers beyond those of its writes.
        self.future.change_held(|lpn, dies| blur.blurred((1 << 32) + u64::from(lpn.0), 0, dies));
    }

    fn memory_bytes(&self) -> u64 {
        let written = self.written.as_ref().map_or(0, LastWrites::bytes);
        self.future.memory_bytes() + self.classes.bytes() + written
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        vec![("overdue_moved_pages", self.overdue_moves as f64)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::Hints;
    use super::*;

    const PLAIN: Params =
        Params { streams: 3, lives: Lives::Exact, by_unit: true, error_sigma: 0.0, as_long_again: false };

    fn state(params: &Params, next: Vec<u32>) -> State {
        let shape =
            Shape { logical_pages: 8, pages_per_unit: 4, units: 8, domains: 1, page_bytes: 4096, seed: 5 };
        let mut state = State::new(params, &shape);
        *state.future().unwrap() = Foresight::new(next, vec![NEVER; 8].into());
        state.future().unwrap().begin_at(0);
        state.foreseen();
        state
    }

    fn write(state: &mut State, lpn: u32, now: u64) -> StreamId {
        state.write(&Written { lpn: Lpn(lpn), update: false, hints: Hints::default(), now })
    }

    fn shift(state: &mut State, lpn: u32, now: u64) -> StreamId {
        let page = Moved { lpn: Lpn(lpn), from: StreamId(0), now };
        let stream = state.move_stream(&page);
        state.moved(&page, stream);
        stream
    }

    /// Units of four pages, three classes: lives of less than 4, of less than 8, and longer.
    #[test]
    fn a_page_that_outlives_its_prediction_is_overdue() {
        for as_long_again in [false, true] {
            let mut state = state(&Params { as_long_again, ..PLAIN }, vec![3, 9, NEVER]);
            let streams: Vec<_> = (0..3).map(|i| write(&mut state, i, u64::from(i))).collect();
            assert_eq!(streams, [0, 2, 2].map(StreamId));
            // Page 0 was to die at 3, and page 1 dies at 9; at these times they may still be alive.
            assert_eq!([shift(&mut state, 0, 3), shift(&mut state, 1, 5)], [0, 1].map(StreamId));
            assert_eq!(state.figures(), [("overdue_moved_pages", 0.0)]);
            // At 6 page 0 has lived for 6 writes, and page 2 is never overdue.
            assert_eq!(shift(&mut state, 0, 6), StreamId(u32::from(as_long_again)));
            assert_eq!(shift(&mut state, 2, 60), StreamId(2));
            assert_eq!(state.figures(), [("overdue_moved_pages", 1.0)]);
        }
    }

    #[test]
    fn without_predictions_all_are_alike() {
        let mut state = state(&Params { lives: Lives::None, ..PLAIN }, Vec::new());
        assert_eq!([write(&mut state, 0, 0), write(&mut state, 1, 1)], [0, 0].map(StreamId));
        assert_eq!(shift(&mut state, 1, 2), StreamId(0));
    }

    /// The logarithms of the errors have mean 0 and the required deviation. The same seed gives the same errors,
    /// another seed others. Unlimited lives stay so, and every life is at least one write.
    #[test]
    fn errors_are_lognormal_and_repeat() {
        let blur = Blur { sigma: 0.5, seed: 7 };
        let draws: Vec<f64> = (0..100_000).map(|of| blur.normal(of)).collect();
        let mean = draws.iter().sum::<f64>() / 1e5;
        let variance = draws.iter().map(|z| z * z).sum::<f64>() / 1e5;
        // Standard errors: 1 / sqrt(1e5) = 0.0032 and sqrt(2 / 1e5) = 0.0045; five of each.
        assert!(mean.abs() < 0.016 && (variance - 1.0).abs() < 0.023, "{mean}, {variance}");
        let beyond = draws.iter().filter(|z| z.abs() > 1.96).count();
        // 5 %, with a standard error of 69.
        assert!(beyond.abs_diff(5000) < 345, "{beyond}");
        assert!((0..100).all(|of| blur.normal(of) == draws[of as usize]));
        assert!((0..100).any(|of| Blur { seed: 8, ..blur }.normal(of) != draws[of as usize]));
        let longer = (0..10_000).filter(|&of| blur.blurred(of, 100, 1100) > 1100).count();
        // The median is the life itself: half, with a standard error of 50.
        assert!(longer.abs_diff(5000) < 250, "{longer}");
        let expected = (1000.0 * libm::exp(0.5 * draws[3])).round() as u32;
        assert_eq!(blur.blurred(3, 100, 1100), 100 + expected);
        assert_eq!((blur.blurred(3, 100, NEVER), Blur { sigma: 0.0, ..blur }.blurred(3, 1, 9)), (NEVER, 9));
        let wild = Blur { sigma: 20.0, ..blur };
        let all: Vec<u32> = (0..1000).map(|of| wild.blurred(of, 100, 101)).collect();
        assert!(all.iter().all(|&dies| (101..NEVER).contains(&dies)));
        assert!(all.contains(&101) && all.contains(&(NEVER - 1)));
    }

    /// Blurred predictions are the same at the write and when bounds are computed, also for data from before.
    #[test]
    fn data_from_before_are_blurred_once() {
        let params = Params { error_sigma: 1.0, ..PLAIN };
        let shape =
            Shape { logical_pages: 8, pages_per_unit: 4, units: 8, domains: 1, page_bytes: 4096, seed: 5 };
        let mut state = State::new(&params, &shape);
        let first: Vec<u32> = vec![10, 20, 30, NEVER, 50, 60, 70, 80];
        *state.future().unwrap() = Foresight::new(vec![NEVER; 4], first.clone().into());
        state.foreseen();
        let held = state.foresight().unwrap().dies().as_slice();
        let expected: Vec<u32> =
            (0..).zip(&first).map(|(lpn, &dies)| state.blur.blurred((1 << 32) + lpn, 0, dies)).collect();
        assert_eq!((held, held[3]), (&expected[..], NEVER));
        assert_ne!(held, first);
    }
}
