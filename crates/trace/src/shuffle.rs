//! A control experiment for patterns: the same requests, with writes regrouped at random.
//!
//! In each window of requests the writes are shuffled: address, length, content and context move together. Times and
//! operations stay, and so do flags, which concern the order. Every window thus has the same addresses with the same
//! frequencies, but their neighbourhood is random. A gain of a scheduler on a trace that vanishes on the shuffled one
//! comes from writes that belong together.

use crate::intake::Trail;
use crate::source::Source;
use floatgate_base::error::quote;
use floatgate_base::{Error, Op, Place, RequestBatch, Result, Rng};

/// Most requests per window.
const WINDOW_MAX: u64 = 1 << 20;

/// How writes are mixed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shuffle {
    /// Requests per window, reads and TRIMs included, counted from the first.
    pub window: u64,
    /// Seed of its own random stream.
    pub seed: u64,
}

impl Shuffle {
    /// The option keys, which the command line writes with dashes.
    pub const KEYS: [&str; 2] = ["shuffle_window", "shuffle_seed"];

    /// Parses the options; returns none without a window. Default: seed 1.
    ///
    /// # Errors
    /// Quotes an invalid value; a seed without a window.
    pub fn parse<'a>(get: impl Fn(&str) -> Option<&'a str>) -> Result<Option<Self>> {
        let place = |key: &str| Place::Setting(format!("--{}", key.replace('_', "-")));
        let number = |key: &str| -> Result<Option<u64>> {
            let Some(text) = get(key) else { return Ok(None) };
            let number = text.trim().parse().map_err(|_| {
                let what = format!("{} is not a number", quote(text.as_bytes()));
                Error::input(place(key), what, "expected a whole number")
            });
            number.map(Some)
        };
        let (window, seed) = (number("shuffle_window")?, number("shuffle_seed")?);
        let Some(window) = window else {
            return match seed {
                None => Ok(None),
                Some(_) => {
                    let what = "nothing is shuffled";
                    Err(Error::input(place("shuffle_seed"), what, "add --shuffle-window"))
                }
            };
        };
        let shuffle = Self { window, seed: seed.unwrap_or(1) };
        match shuffle.validate() {
            Err(e) => Err(Error::input(place("shuffle_window"), e.what.clone(), e.expected.clone())),
            Ok(()) => Ok(Some(shuffle)),
        }
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// Names the key and the valid values.
    pub fn validate(&self) -> Result<()> {
        if (1..=WINDOW_MAX).contains(&self.window) {
            return Ok(());
        }
        let place = Place::Setting("shuffle_window".into());
        let what = format!("a window of {} requests", self.window);
        Err(Error::input(place, what, format!("expected a whole number from 1 to {WINDOW_MAX}")))
    }
}

/// Shuffles the writes of a source, if requested.
///
/// # Errors
/// As for [`Shuffle::validate`].
pub fn shuffled(inner: Box<dyn Source>, shuffle: Option<Shuffle>) -> Result<Box<dyn Source>> {
    Ok(match shuffle {
        None => inner,
        Some(shuffle) => Box::new(Shuffled::new(inner, shuffle)?),
    })
}

/// A source with shuffled writes.
pub struct Shuffled {
    inner: Box<dyn Source>,
    shuffle: Shuffle,
    rng: Rng,
    /// The requests of this window, and by position the request that moves there.
    window: RequestBatch,
    order: Vec<u32>,
    writes: Vec<u32>,
    at: usize,
    /// Requests before this window.
    before: u64,
    trail: Trail,
}

impl Shuffled {
    /// Shuffles a source at its beginning.
    ///
    /// # Errors
    /// As for [`Shuffle::validate`].
    pub fn new(inner: Box<dyn Source>, shuffle: Shuffle) -> Result<Self> {
        shuffle.validate()?;
        Ok(Self {
            inner,
            rng: stream(shuffle),
            shuffle,
            window: RequestBatch::default(),
            order: Vec::new(),
            writes: Vec::new(),
            at: 0,
            before: 0,
            trail: Trail::default(),
        })
    }

    /// Reads the next window and draws the positions of its writes.
    fn next_window(&mut self) -> Result<()> {
        self.before += self.window.len() as u64;
        self.at = 0;
        self.window.clear();
        self.inner.fill(&mut self.window, self.shuffle.window as usize)?;
        self.order.clear();
        self.order.extend(0..self.window.len() as u32);
        self.writes.clear();
        let ops = &self.window.op;
        self.writes.extend((0..).zip(ops).filter(|(_, op)| **op == Op::Write).map(|(i, _)| i));
        for i in (1..self.writes.len()).rev() {
            let other = self.rng.below(i as u64 + 1) as usize;
            self.order.swap(self.writes[i] as usize, self.writes[other] as usize);
        }
        Ok(())
    }

    /// Appends the request for this position of the window.
    fn hand_out(&mut self, place: usize, batch: &mut RequestBatch) {
        let from = self.order[place] as usize;
        batch.push_of(&self.window, from, self.window.time_ns[place]);
        if let (Some(last), Some(&stays)) = (batch.flags.last_mut(), self.window.flags.get(place)) {
            *last = stays;
        }
        self.trail.places.push(self.before + from as u64);
    }
}

fn stream(shuffle: Shuffle) -> Rng {
    Rng::new(shuffle.seed, "shuffle")
}

impl Source for Shuffled {
    fn fill(&mut self, batch: &mut RequestBatch, max: usize) -> Result<()> {
        self.trail.first_request = self.before + self.at as u64;
        self.trail.places.clear();
        for _ in 0..max {
            if self.at == self.window.len() {
                self.next_window()?;
                if self.window.is_empty() {
                    break;
                }
            }
            self.hand_out(self.at, batch);
            self.at += 1;
        }
        Ok(())
    }

    fn rewind(&mut self) -> Result<()> {
        self.inner.rewind()?;
        self.window.clear();
        self.trail.places.clear();
        (self.at, self.before, self.rng) = (0, 0, stream(self.shuffle));
        Ok(())
    }

    fn place_of(&self, index: u64) -> String {
        self.inner.place_of(self.trail.of(index).unwrap_or(index))
    }

    fn assumed(&self) -> Vec<String> {
        let mut out = self.inner.assumed();
        let Shuffle { window, seed } = self.shuffle;
        out.push(format!("writes are shuffled in windows of {window} requests, seed {seed}"));
        out
    }

    crate::forward_to_inner!(
        format,
        devices,
        summary,
        has_times,
        columns,
        contexts,
        writers,
        writer_fields,
        slice_report
    );
}
