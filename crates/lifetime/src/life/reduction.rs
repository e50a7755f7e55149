//! Share of the page writes of a pass that remains after reduction.

use super::Demand;
use crate::reduce::{ByChoice, CHOICES};

/// Effect of reduction on the writes of a life.
#[derive(Clone, Debug)]
pub enum Reduction {
    /// The same schemes are always active; write amplification includes their effect.
    Always,
    /// The integrated manager chooses schemes per epoch.
    Managed(Box<Managed>),
}

impl Reduction {
    /// Returns the same reduction where each page write programs `factor` times as much.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        match self {
            // Write amplification is a property of the life.
            Self::Always => Self::Always,
            Self::Managed(managed) => {
                let mut managed = managed.clone();
                managed.amplification = managed.amplification.map(|one| one * factor);
                Self::Managed(managed)
            }
        }
    }
}

/// Input of the integrated manager's choice.
#[derive(Clone, Debug)]
pub struct Managed {
    /// Page writes that reach the FTL / page writes; a write buffer absorbs the others.
    pub through: f64,
    /// Programs of any cause / programs for the host.
    pub amplification: ByChoice,
    left: LeftOf,
}

impl Managed {
    /// Builds it from the shares left by choice of schemes, in windows of a pass of `width_ns` each.
    #[must_use]
    pub fn new(
        demand: &Demand,
        (width_ns, windows): (u64, Vec<ByChoice>),
        (through, amplification): (f64, ByChoice),
    ) -> Self {
        Self { through, amplification, left: LeftOf::new(demand, width_ns, windows) }
    }

    /// Returns the shares left of the page writes at a time of the pass.
    pub(super) fn left_at(&self, at_ns: u64) -> ByChoice {
        self.left.at(at_ns)
    }

    /// Returns the shares left of the page writes of a block.
    pub(super) fn left_of(&self, level: usize, block: usize) -> ByChoice {
        self.left.levels[level][block]
    }
}

/// Ratios of windows, and of the blocks of a demand.
#[derive(Clone, Debug)]
struct LeftOf {
    width_ns: u64,
    windows: Vec<ByChoice>,
    levels: Vec<Vec<ByChoice>>,
}

impl LeftOf {
    fn new(demand: &Demand, width_ns: u64, windows: Vec<ByChoice>) -> Self {
        let mut of = Self { width_ns, windows, levels: vec![] };
        for level in 0..=demand.top() {
            let blocks = (0..demand.blocks(level)).map(|block| match level {
                0 => mean(demand.runs(block).iter().map(|run| (f64::from(run.pages), of.at(run.at_ns)))),
                _ => mean(
                    demand
                        .parts(level, block)
                        .map(|part| (demand.block(level - 1, part).2 as f64, of.levels[level - 1][part])),
                ),
            });
            let blocks = blocks.collect();
            of.levels.push(blocks);
        }
        of
    }

    fn at(&self, at_ns: u64) -> ByChoice {
        let window = (at_ns / self.width_ns) as usize;
        self.windows.get(window).or(self.windows.last()).copied().unwrap_or([1.0; CHOICES])
    }
}

/// Returns the mean weighted by pages; 1, no reduction, without pages.
fn mean(parts: impl Iterator<Item = (f64, ByChoice)>) -> ByChoice {
    let (mut pages, mut sums) = (0.0, [0.0; CHOICES]);
    for (count, left) in parts {
        pages += count;
        sums.iter_mut().zip(left).for_each(|(sum, left)| *sum += count * left);
    }
    if pages > 0.0 { sums.map(|sum| sum / pages) } else { [1.0; CHOICES] }
}
