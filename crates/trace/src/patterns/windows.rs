//! The windows of a trace, one after the other.

use super::addresses::{Addresses, share};
use super::course::Course;
use super::figures::{PatternsInfo, SizeCounts};
use super::settings::PatternSettings;
use super::strongest::{Key, Strongest};
use crate::source::Source;
use floatgate_base::{Error, Op, RequestBatch, Result};
use floatgate_patterns::Window;

/// Results of the windows so far, and the requests of the current one.
#[derive(Debug)]
pub(super) struct Windows {
    settings: PatternSettings,
    /// Requests of the current window, the addresses of its writes, and how many of these are mined.
    requests: u32,
    writes: Vec<Key>,
    mined: usize,
    window: Window<Key>,
    addresses: Addresses,
    strongest: Strongest,
    course: Course,
    /// Patterns by size.
    sizes: Vec<u64>,
    by_op: [u64; 3],
    windows: u64,
    windows_with_patterns: u64,
    patterns: u64,
    items: u64,
    supports: u64,
    writes_in_patterns: u64,
    writes_mined: u64,
}

impl Windows {
    pub fn new(settings: PatternSettings) -> Self {
        Self {
            settings,
            requests: 0,
            writes: Vec::new(),
            mined: 0,
            window: Window::default(),
            addresses: Addresses::default(),
            strongest: Strongest::default(),
            course: Course::default(),
            sizes: Vec::new(),
            by_op: [0; 3],
            windows: 0,
            windows_with_patterns: 0,
            patterns: 0,
            items: 0,
            supports: 0,
            writes_in_patterns: 0,
            writes_mined: 0,
        }
    }

    /// Adds requests.
    ///
    /// # Errors
    /// A window has more sets than the miner can list.
    pub fn add(&mut self, batch: &RequestBatch) -> Result<()> {
        for (i, &op) in batch.op.iter().enumerate() {
            let key = (batch.device[i], batch.offset[i]);
            self.by_op[op as usize] += 1;
            if op != Op::Trim {
                self.addresses.access(key, op);
            }
            if op == Op::Write {
                self.writes.push(key);
                if self.requests < self.settings.mined {
                    self.mined = self.writes.len();
                }
            }
            self.requests += 1;
            if self.requests == self.settings.window {
                self.close()?;
            }
        }
        Ok(())
    }

    /// Ends the last window, if it has begun.
    ///
    /// # Errors
    /// As for [`Windows::add`].
    pub fn end(&mut self) -> Result<()> {
        if self.requests > 0 { self.close() } else { Ok(()) }
    }

    fn close(&mut self) -> Result<()> {
        let run = self.settings.transaction as usize;
        let patterns = self.window.mine(&self.writes[..self.mined], run, &self.settings.of_miner());
        if patterns.is_err() {
            let what = format!("window {} of the trace has too many patterns", self.windows);
            let expected = "expected a larger --support, a larger --items-min, or a smaller --mined";
            return Err(Error::run(what, expected));
        }
        let patterns = self.window.patterns();
        for (items, support) in patterns.iter() {
            if self.sizes.len() <= items.len() {
                self.sizes.resize(items.len() + 1, 0);
            }
            self.sizes[items.len()] += 1;
            self.supports += u64::from(support);
            let keys = items.iter().map(|&item| self.window.name(item));
            self.strongest.add(self.windows, support, keys);
        }
        let count = patterns.len() as u64;
        self.items += patterns.total_items() as u64;
        self.patterns += count;
        self.course.add(count);
        if count > 0 {
            self.windows_with_patterns += 1;
            self.window.names_in_patterns().for_each(|key| self.addresses.in_pattern(key));
            let inside = self.writes.iter().filter(|key| self.window.is_in_pattern(key)).count();
            self.writes_in_patterns += inside as u64;
        }
        self.windows += 1;
        self.writes_mined += self.mined as u64;
        self.requests = 0;
        self.mined = 0;
        self.writes.clear();
        Ok(())
    }

    pub fn describe(self, source: &dyn Source) -> PatternsInfo {
        let summary = source.summary();
        let addresses = self.addresses.describe();
        let [reads, writes, trims] = [Op::Read, Op::Write, Op::Trim].map(|op| self.by_op[op as usize]);
        let sizes = (0..self.sizes.len()).filter(|&size| self.sizes[size] > 0);
        PatternsInfo {
            format: source.format().to_owned(),
            requests: reads + writes + trims,
            reads,
            writes,
            trims,
            windows: self.windows,
            patterns: self.patterns,
            patterns_per_window: share(self.patterns, self.windows),
            pattern_size_mean: share(self.items, self.patterns),
            address_share: share(addresses.in_patterns, addresses.written),
            write_share: share(self.writes_in_patterns, writes),
            windows_with_patterns: self.windows_with_patterns,
            support_mean: share(self.supports, self.patterns),
            writes_mined: self.writes_mined,
            writes_in_patterns: self.writes_in_patterns,
            sizes: SizeCounts {
                size: sizes.clone().map(|size| size as u64).collect(),
                patterns: sizes.map(|size| self.sizes[size]).collect(),
            },
            course: self.course,
            addresses,
            strongest: self.strongest.describe(source.devices()),
            stamps_backwards: summary.stamps_backwards,
            stamps_backwards_s_max: summary.furthest_back_s(),
            stamps_backwards_first: summary.first_backwards,
            bad_lines_skipped: summary.bad_lines_skipped,
            first_bad_line: summary.first_bad_line,
            suspicions: summary.suspicions,
            assumed: source.assumed(),
            content_hash: summary.content_hash,
            slice: source.slice_report(),
        }
    }
}
