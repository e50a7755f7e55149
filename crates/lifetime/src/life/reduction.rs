//! What reduction leaves of the page writes of a pass.

use super::Demand;
use crate::reduce::{ByChoice, CHOICES};

/// What reduction does to the writes of a life.
#[derive(Clone, Debug)]
pub enum Reduction {
    /// The same schemes are on all the time; write amplification knows of them.
    Always,
    /// The integrated manager chooses from epoch to epoch.
    Managed(Box<Managed>),
}

impl Reduction {
    /// The same where each page write programs `factor` times as much.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        match self {
            // Write amplification is the life's.
            Self::Always => Self::Always,
            Self::Managed(managed) => {
                let mut managed = managed.clone();
                managed.amplification = managed.amplification.map(|one| one * factor);
                Self::Managed(managed)
            }
        }
    }
}

/// What the integrated manager has to choose from.
#[derive(Clone, Debug)]
pub struct Managed {
    /// Page writes that reach the FTL / page writes; a write buffer absorbs the others.
    pub through: f64,
    /// Programs of any cause / programs for the host.
    pub amplification: ByChoice,
    left: LeftOf,
}

impl Managed {
    /// Of the windows of a pass, `width_ns` each, that leave so much by choice of schemes.
    #[must_use]
    pub fn new(
        demand: &Demand,
        (width_ns, windows): (u64, Vec<ByChoice>),
        (through, amplification): (f64, ByChoice),
    ) -> Self {
        Self { through, amplification, left: LeftOf::new(demand, width_ns, windows) }
    }

    /// What the page writes at a time of the pass leave.
    pub(super) fn left_at(&self, at_ns: u64) -> ByChoice {
        self.left.at(at_ns)
    }

    /// What those of a block leave.
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

/// The mean by pages; nothing is reduced where there are none.
fn mean(parts: impl Iterator<Item = (f64, ByChoice)>) -> ByChoice {
    let (mut pages, mut sums) = (0.0, [0.0; CHOICES]);
    for (count, left) in parts {
        pages += count;
        sums.iter_mut().zip(left).for_each(|(sum, left)| *sum += count * left);
    }
    if pages > 0.0 { sums.map(|sum| sum / pages) } else { [1.0; CHOICES] }
}
