//! One pass of a workload, condensed to runs of page writes at even distances.

use std::ops::Range;

/// Parts per block.
const PARTS: usize = 16;

/// Page writes at even distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Arrival of the first page write, since the beginning of the pass.
    pub at_ns: u64,
    /// Page writes.
    pub pages: u32,
    /// Time from one page write to the next.
    pub gap_ns: u32,
}

impl Run {
    fn end_ns(&self) -> u64 {
        self.at_ns + u64::from(self.gap_ns) * u64::from(self.pages.saturating_sub(1))
    }

    /// Counts its page writes that arrive before a time of the pass.
    fn pages_before(&self, time_ns: u64) -> u64 {
        let Some(since_ns) = time_ns.checked_sub(self.at_ns).filter(|&since_ns| since_ns > 0) else {
            return 0;
        };
        let gap_ns = u64::from(self.gap_ns);
        if gap_ns == 0 { self.pages.into() } else { since_ns.div_ceil(gap_ns).min(self.pages.into()) }
    }
}

/// Sums over neighbouring runs or blocks.
#[derive(Clone, Copy, Debug)]
struct Block {
    at_ns: u64,
    end_ns: u64,
    pages: u64,
}

/// One pass of a workload: its writes in order of time, with sums over blocks of them, and over blocks of blocks at
/// every level.
#[derive(Clone, Debug, Default)]
pub struct Demand {
    runs: Vec<Run>,
    /// The levels of blocks, the lowest first; the top has at most [`PARTS`] blocks.
    levels: Vec<Vec<Block>>,
    period_ns: u64,
    pages: u64,
    request_pages: u64,
}

impl Demand {
    /// Time from one pass to the next.
    #[must_use]
    pub fn period_ns(&self) -> u64 {
        self.period_ns
    }

    /// Returns the page writes of a pass.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// Counts the page writes that arrive within `time_ns` while passes repeat without a delay. The last pass counts as
    /// far as it goes: its writes are not those of a mean part.
    #[must_use]
    pub fn pages_within(&self, time_ns: u64) -> u64 {
        let period_ns = self.period_ns.max(1);
        let rest_ns = time_ns % period_ns;
        let begun = self.runs.iter().take_while(|run| run.at_ns < rest_ns);
        time_ns / period_ns * self.pages + begun.map(|run| run.pages_before(rest_ns)).sum::<u64>()
    }

    /// Returns the pages that arrive together in a run: those of a mean write, or of the whole run if it is a single
    /// write.
    pub(super) fn request_pages(&self) -> u64 {
        self.request_pages
    }

    /// Returns the number of runs in the pass.
    #[must_use]
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Returns whether nothing is written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Counts page writes in each of `parts` equally long parts of the pass.
    #[must_use]
    pub fn by_part(&self, parts: usize) -> Vec<u64> {
        let mut pages = vec![0; parts];
        for run in &self.runs {
            let part = u128::from(run.at_ns) * parts as u128 / u128::from(self.period_ns.max(1));
            // A run that begins at the very end belongs to the last part.
            if let Some(count) = pages.get_mut((part as usize).min(parts.saturating_sub(1))) {
                *count += u64::from(run.pages);
            }
        }
        pages
    }

    pub(super) fn top(&self) -> usize {
        self.levels.len().saturating_sub(1)
    }

    pub(super) fn blocks(&self, level: usize) -> usize {
        self.levels.get(level).map_or(0, Vec::len)
    }

    /// Returns when a block's first page arrives, the time until its last, and its pages.
    pub(super) fn block(&self, level: usize, block: usize) -> (u64, u64, u64) {
        let Block { at_ns, end_ns, pages } = self.levels[level][block];
        (at_ns, end_ns - at_ns, pages)
    }

    /// Returns the blocks one level below.
    pub(super) fn parts(&self, level: usize, block: usize) -> Range<usize> {
        block * PARTS..((block + 1) * PARTS).min(self.blocks(level - 1))
    }

    /// Returns the runs of a block of the lowest level.
    pub(super) fn runs(&self, block: usize) -> &[Run] {
        &self.runs[block * PARTS..((block + 1) * PARTS).min(self.runs.len())]
    }
}

/// Builds a demand from writes in order of time.
#[derive(Clone, Debug)]
pub struct DemandBuilder {
    /// None: every request is a run of its own.
    window_ns: Option<u64>,
    runs: Vec<Run>,
    writes: u64,
    pages: u64,
    /// The growing run: its first and last stamp, its pages, and the end of its window.
    first_ns: u64,
    last_ns: u64,
    growing: u64,
    end_ns: u64,
}

/// A run ends where the next write is further away than this fraction of a window; bursts keep their shape.
const PAUSE_SHARE: u64 = 16;

impl DemandBuilder {
    /// Builds runs within windows of `window_ns`; without it, every request is a run.
    #[must_use]
    pub fn new(window_ns: Option<u64>) -> Self {
        Self {
            window_ns,
            runs: Vec::new(),
            writes: 0,
            pages: 0,
            first_ns: 0,
            last_ns: 0,
            growing: 0,
            end_ns: 0,
        }
    }

    /// Adds a write of `pages` pages at a time since the beginning of the pass. A write with an out-of-order stamp
    /// arrives with the request before it.
    pub fn add(&mut self, stamp_ns: u64, pages: u64) {
        if pages == 0 {
            return;
        }
        let stamp_ns = stamp_ns.max(self.last_ns);
        let belongs = self.window_ns.is_some_and(|window_ns| {
            self.growing > 0
                && stamp_ns - self.last_ns <= window_ns / PAUSE_SHARE
                && stamp_ns < self.end_ns
                && self.growing + pages <= u64::from(u32::MAX)
        });
        if !belongs {
            self.close();
            self.first_ns = stamp_ns;
            if let Some(window_ns) = self.window_ns {
                self.end_ns = (stamp_ns / window_ns + 1).saturating_mul(window_ns);
            }
        }
        (self.last_ns, self.growing) = (stamp_ns, self.growing + pages);
        self.pages += pages;
        self.writes += 1;
    }

    fn close(&mut self) {
        while self.growing > 0 {
            let pages = self.growing.min(u64::from(u32::MAX));
            let gap_ns = (self.last_ns - self.first_ns) / (pages - 1).max(1);
            let gap_ns = u32::try_from(gap_ns).unwrap_or(u32::MAX);
            self.runs.push(Run { at_ns: self.first_ns, pages: pages as u32, gap_ns });
            self.growing -= pages;
        }
    }

    /// Returns the pass, which repeats after `period_ns`.
    #[must_use]
    pub fn finish(mut self, period_ns: u64) -> Demand {
        self.close();
        let block = |at_ns, end_ns, pages| Block { at_ns, end_ns, pages };
        let mut levels: Vec<Vec<Block>> = vec![];
        let lowest = self.runs.chunks(PARTS).map(|runs| {
            let end_ns = runs.iter().map(Run::end_ns).max().unwrap_or(0);
            block(runs[0].at_ns, end_ns, runs.iter().map(|run| u64::from(run.pages)).sum())
        });
        let mut level: Vec<Block> = lowest.collect();
        while level.len() > PARTS {
            let above = level.chunks(PARTS).map(|parts| {
                let end_ns = parts.iter().map(|part| part.end_ns).max().unwrap_or(0);
                block(parts[0].at_ns, end_ns, parts.iter().map(|part| part.pages).sum())
            });
            let above = above.collect();
            levels.push(std::mem::replace(&mut level, above));
        }
        levels.push(level);
        let request_pages = match self.window_ns {
            None => u64::MAX,
            Some(_) => (self.pages as f64 / self.writes.max(1) as f64).round().max(1.0) as u64,
        };
        Demand { runs: self.runs, levels, period_ns, pages: self.pages, request_pages }
    }
}
