//! Generates the content of writes by a seeded model, for traces and generators without content.

use crate::page_slots::PageSlots;
use crate::source::Source;
use floatgate_base::error::quote;
use floatgate_base::{
    ContentColumns, Error, Op, OptionalColumns, Place, RequestBatch, Result, Rng, TRACE_PAGE_BYTES,
};

/// Pages whose current content may be repeated.
const POOL: usize = 1 << 16;
/// Limit on writes with content: a transfer of more than 1 GiB is implausible, and its pages would fill the memory.
const PAGES_MAX: u64 = 1 << 18;

/// A model of the content of page writes.
///
/// A page write either repeats the current content of another page, or is new. Equal content has equal compressed size.
/// The sizes of compressible pages have a triangular distribution around their mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContentModel {
    /// Share of the page writes that repeat stored content.
    pub duplicate_share: f64,
    /// Mean compressed size / page, over new content including incompressible pages; 1 is incompressible.
    pub compressed_share: f64,
    /// Share of new content that cannot be compressed at all.
    pub incompressible_share: f64,
    /// Seed of its own random stream.
    pub seed: u64,
}

impl ContentModel {
    /// The option keys, which the command line writes with dashes.
    pub const KEYS: [&str; 4] =
        ["duplicate_share", "compressed_share", "incompressible_share", "content_seed"];

    /// Parses the model; returns none without a share. Defaults: unique, incompressible, seed 1.
    ///
    /// # Errors
    /// Quotes an invalid value; a seed without a model.
    pub fn parse<'a>(get: impl Fn(&str) -> Option<&'a str>) -> Result<Option<Self>> {
        let share =
            |key: &str| get(key).map(|text| number::<f64>(key, text, "a share such as 0.3")).transpose();
        let seed = get("content_seed").map(|text| number::<u64>("content_seed", text, "a whole number"));
        let seed = seed.transpose()?;
        let shares = (share("duplicate_share")?, share("compressed_share")?, share("incompressible_share")?);
        let (None, None, None) = shares else {
            let model = Self {
                duplicate_share: shares.0.unwrap_or(0.0),
                compressed_share: shares.1.unwrap_or(1.0),
                incompressible_share: shares.2.unwrap_or(0.0),
                seed: seed.unwrap_or(1),
            };
            return model.validate().map(|()| Some(model));
        };
        match seed {
            None => Ok(None),
            Some(_) => {
                let what = "a seed without synthetic content has no effect";
                Err(Error::input(
                    setting("content_seed"),
                    what,
                    "add --duplicate-share or --compressed-share",
                ))
            }
        }
    }

    /// Checks the shares.
    ///
    /// # Errors
    /// Names the setting and the valid values.
    pub fn validate(&self) -> Result<()> {
        let refuse = |key: &str, value: f64, expected: String| {
            Err(Error::input(setting(key), format!("{value} is out of range"), expected))
        };
        if !(0.0..1.0).contains(&self.duplicate_share) {
            let expected = "expected a share of at least 0 and below 1";
            return refuse("duplicate_share", self.duplicate_share, expected.into());
        }
        if !(self.compressed_share > 0.0 && self.compressed_share <= 1.0) {
            return refuse(
                "compressed_share",
                self.compressed_share,
                "expected compressed / plain size above 0 and at most 1".into(),
            );
        }
        let hard = self.incompressible_share;
        if !(0.0..1.0).contains(&hard) {
            return refuse("incompressible_share", hard, "expected a share of at least 0 and below 1".into());
        }
        if hard >= self.compressed_share {
            let expected = format!("expected less than compressed_share = {}", self.compressed_share);
            return refuse("incompressible_share", hard, expected);
        }
        Ok(())
    }

    /// Returns the mean compressed size / page of compressible pages.
    fn mean(&self) -> f64 {
        (self.compressed_share - self.incompressible_share) / (1.0 - self.incompressible_share)
    }
}

/// Returns the place of an option for messages.
fn setting(key: &str) -> Place {
    Place::Setting(format!("--{}", key.replace('_', "-")))
}

fn number<T: std::str::FromStr>(key: &str, text: &str, expected: &str) -> Result<T> {
    let refuse = |_| {
        let what = format!("{} is not a number", quote(text.as_bytes()));
        Error::input(setting(key), what, format!("expected {expected}"))
    };
    text.trim().parse().map_err(refuse)
}

/// Pages and their current content, as many as fit: the content that can be repeated.
struct Pool {
    pages: Vec<(u64, u64)>,
    slots: PageSlots,
    oldest: usize,
}

impl Pool {
    fn new() -> Self {
        Self { pages: Vec::new(), slots: PageSlots::new(), oldest: 0 }
    }

    /// Sets the content of a page.
    fn set(&mut self, page: u64, fingerprint: u64) {
        if let Some(slot) = self.slots.get(page) {
            self.pages[slot as usize].1 = fingerprint;
        } else if self.pages.len() < POOL {
            self.slots.insert(page, self.pages.len() as u32);
            self.pages.push((page, fingerprint));
        } else {
            self.slots.remove(self.pages[self.oldest].0);
            self.slots.insert(page, self.oldest as u32);
            self.pages[self.oldest] = (page, fingerprint);
            self.oldest = (self.oldest + 1) % POOL;
        }
    }

    /// Removes the content of pages.
    fn forget(&mut self, pages: std::ops::Range<u64>) {
        if pages.end.saturating_sub(pages.start) > self.pages.len() as u64 {
            let gone: Vec<u64> = self.pages.iter().map(|p| p.0).filter(|p| pages.contains(p)).collect();
            gone.into_iter().for_each(|page| self.remove(page));
        } else {
            pages.for_each(|page| self.remove(page));
        }
    }

    fn remove(&mut self, page: u64) {
        let Some(slot) = self.slots.remove(page) else { return };
        self.pages.swap_remove(slot as usize);
        if let Some(moved) = self.pages.get(slot as usize) {
            self.slots.insert(moved.0, slot);
        }
        self.oldest = if self.pages.is_empty() { 0 } else { self.oldest % self.pages.len() };
    }
}

/// A source whose writes take content from a model.
pub struct WithContent {
    inner: Box<dyn Source>,
    model: ContentModel,
    rng: Rng,
    /// Contents created so far.
    made: u64,
    pool: Pool,
}

impl WithContent {
    /// Adds a model to a source.
    ///
    /// # Errors
    /// Invalid shares; a source with content of its own.
    pub fn new(inner: Box<dyn Source>, model: ContentModel) -> Result<Self> {
        model.validate()?;
        if inner.columns().content {
            let what = format!("this {} trace has content of its own", inner.format());
            return Err(Error::input(setting("duplicate_share"), what, "leave it out"));
        }
        let rng = Rng::new(model.seed, "content");
        Ok(Self { inner, model, rng, made: 0, pool: Pool::new() })
    }

    /// Draws the content of one page write.
    fn page(&mut self, page: u64) -> u64 {
        let repeats = self.rng.unit() < self.model.duplicate_share && !self.pool.pages.is_empty();
        let fingerprint = if repeats {
            self.pool.pages[self.rng.below(self.pool.pages.len() as u64) as usize].1
        } else {
            self.made += 1;
            // Odd steps of an odd multiplier: no value repeats, and 0 does not occur before 2^64.
            mixed(self.model.seed.wrapping_add(self.made.wrapping_mul(0x9e37_79b9_7f4a_7c15))).max(1)
        };
        self.pool.set(page, fingerprint);
        fingerprint
    }

    /// Returns the compressed size of a content.
    fn compressed(&self, fingerprint: u64) -> u16 {
        let bits = mixed(fingerprint ^ 0xa5a5_a5a5_a5a5_a5a5);
        let unit = |bits: u64| (bits & 0x1f_ffff) as f64 / (1u64 << 21) as f64;
        if unit(bits) < self.model.incompressible_share {
            return TRACE_PAGE_BYTES as u16;
        }
        let mean = self.model.mean();
        let spread = mean.min(1.0 - mean);
        let share = mean + spread * (unit(bits >> 21) + unit(bits >> 42) - 1.0);
        ((share * TRACE_PAGE_BYTES as f64).round() as u16).clamp(1, TRACE_PAGE_BYTES as u16)
    }
}

/// Mixes the bits (the finaliser of SplitMix64): one to one, and unpredictable from value to value.
fn mixed(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Source for WithContent {
    fn fill(&mut self, batch: &mut RequestBatch, max: usize) -> Result<()> {
        let before = batch.len();
        self.inner.fill(batch, max)?;
        let mut content: ContentColumns = std::mem::take(&mut batch.content);
        for i in before..batch.len() {
            // Devices have separate pages.
            let base = u64::from(batch.device[i]) << 52;
            let first = base + batch.offset[i] / TRACE_PAGE_BYTES;
            let pages = batch.bytes[i].div_ceil(TRACE_PAGE_BYTES);
            match batch.op[i] {
                Op::Write if pages <= PAGES_MAX => {
                    for page in first..first + pages {
                        let fingerprint = self.page(page);
                        content.push(fingerprint, self.compressed(fingerprint));
                    }
                }
                Op::Trim => self.pool.forget(first..first.saturating_add(pages)),
                _ => {}
            }
            content.close();
        }
        batch.content = content;
        Ok(())
    }

    fn rewind(&mut self) -> Result<()> {
        self.inner.rewind()?;
        self.rng = Rng::new(self.model.seed, "content");
        self.made = 0;
        self.pool = Pool::new();
        Ok(())
    }

    fn assumed(&self) -> Vec<String> {
        let mut out = self.inner.assumed();
        let m = &self.model;
        out.push(format!(
            "content is generated: {} of the page writes repeat stored content, compressed / plain size {}, \
             {} incompressible, seed {}",
            m.duplicate_share, m.compressed_share, m.incompressible_share, m.seed
        ));
        out
    }

    fn columns(&self) -> OptionalColumns {
        OptionalColumns { content: true, ..self.inner.columns() }
    }

    crate::forward_to_inner!(
        format,
        devices,
        summary,
        place_of,
        has_times,
        contexts,
        writers,
        writer_fields,
        slice_report
    );
}

/// Gives known content of a pass fingerprints that no other pass has; repetitions within the pass remain.
#[cold]
pub fn renew_content(batch: &mut RequestBatch, pass: u64) {
    let salt = pass.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for fingerprint in batch.content.fingerprint.iter_mut().filter(|fingerprint| **fingerprint != 0) {
        // One to one except for the value that maps to 0: different content stays different.
        let renewed = fingerprint.rotate_left(32).wrapping_add(salt);
        *fingerprint = if renewed == 0 { salt } else { renewed };
    }
}
