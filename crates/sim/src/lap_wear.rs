//! Erases of blocks over the life of a drive, and the mean wear at which the first blocks use up their cycles.
//!
//! Laps of a small drive continue for many lives. A block that is ahead by a constant number of erases then has an ever
//! smaller share of them; the wear that counts is that when the block uses up its cycles.

use crate::outcome::beyond_reserve;
use crate::serve::with_drive;
use crate::simulation::Simulation;
use floatgate_stats::{WearGrowth, growth_of};

/// Mean erases per block from which on the relative wear of the most erased block can be estimated; with fewer, a
/// single erase is a large share.
const ERASES_MIN: f64 = 10.0;

/// Wear of a block and of the mean block at one time, for a drive without initial wear.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BlockWear {
    /// Erases of the mean block.
    pub mean: f64,
    /// Erases of this block.
    pub erases: f64,
    /// Standard deviation of erases over blocks.
    pub sd: f64,
    /// Pages programmed by then.
    pub programs: f64,
    /// Page writes of the host by then.
    pub page_writes: f64,
}

/// Wear of the two blocks that end a life, each when it uses up its cycles, or at the end of the laps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LapWear {
    /// The most erased block.
    pub first: BlockWear,
    /// The first one beyond the reserve of spare blocks.
    pub beyond_reserve: BlockWear,
    /// Pages programmed per erase of the mean block, once free blocks are used up.
    pub programs_per_erase: f64,
}

impl LapWear {
    /// Measures the current wear of a drive, with a reserve of this share of its blocks.
    pub(crate) fn of(simulation: &Simulation, reserve: f64) -> Self {
        let erases = with_drive!(&simulation.stages.serving, drive => drive.array.erase_counts()).as_slice();
        let blocks = erases.len().max(1) as f64;
        let mean = erases.iter().map(|&n| f64::from(n)).sum::<f64>() / blocks;
        let variance =
            erases.iter().map(|&n| (f64::from(n) - mean) * (f64::from(n) - mean)).sum::<f64>() / blocks;
        let most = erases.iter().copied().max().unwrap_or(0);
        let programs = simulation.stages.serving.counters().programs_total() as f64;
        let page_writes = simulation.stages.addressing.total().page_writes as f64;
        let sd = variance.sqrt();
        let of = |erases: u32| BlockWear { mean, erases: f64::from(erases), sd, programs, page_writes };
        Self {
            first: of(most),
            beyond_reserve: of(beyond_reserve(erases, reserve)),
            programs_per_erase: programs / mean.max(f64::MIN_POSITIVE),
        }
    }
}

/// Returns the share of the blocks that were not erased since counting began.
pub(crate) fn never_erased(simulation: &Simulation) -> f64 {
    let erases = with_drive!(&simulation.stages.serving, drive => drive.array.erase_counts()).as_slice();
    erases.iter().filter(|&&n| n == 0).count() as f64 / erases.len().max(1) as f64
}

/// Growing wear, until the reserve of spare blocks is used up.
pub(crate) struct WearSoFar {
    cycles: f64,
    reserve: f64,
    /// Erases of the mean block, with their standard deviation over blocks, in order of growth.
    spreads: Vec<(f64, f64)>,
    /// Pages programmed at these samples.
    programs: Vec<f64>,
    /// The last sample.
    last: LapWear,
    /// Wear when they used up their cycles.
    worn: [Option<BlockWear>; 2],
}

impl WearSoFar {
    /// Begins with a drive without wear, whose blocks have so many cycles, and a reserve of this share of them.
    pub fn new(cycles: u32, reserve: f64) -> Self {
        Self {
            cycles: f64::from(cycles),
            reserve,
            spreads: vec![],
            programs: vec![],
            last: LapWear::default(),
            worn: [None; 2],
        }
    }

    /// Returns whether the reserve is used up.
    pub fn is_over(&self) -> bool {
        self.worn[1].is_some()
    }

    /// Returns the last sample.
    pub fn last(&self) -> &LapWear {
        &self.last
    }

    /// Returns the leads of the two blocks over the mean when they used up their cycles. A block with cycles left is at
    /// most as far ahead as the first at the last sample: if few blocks are erased, the others have not had their turn.
    pub fn leads(&self) -> [f64; 2] {
        let lead = |block: &BlockWear| (block.erases - block.mean).max(0.0);
        let first = lead(&self.worn[0].unwrap_or(self.last.first));
        [first, self.worn[1].as_ref().map_or(first, lead)]
    }

    /// Samples the drive.
    pub fn note(&mut self, simulation: &Simulation) {
        if self.is_over() {
            return;
        }
        let now = LapWear::of(simulation, self.reserve);
        self.spreads.push((now.first.mean, now.first.sd));
        self.programs.push(now.first.programs);
        let pairs = [(self.last.first, now.first), (self.last.beyond_reserve, now.beyond_reserve)];
        for (worn, (before, after)) in self.worn.iter_mut().zip(pairs) {
            if worn.is_none() && after.erases >= self.cycles {
                *worn = Some(between(before, after, self.cycles));
            }
        }
        self.last = now;
    }

    /// Returns the wear; None if blocks were erased too seldom for an estimate and `seldom` is false.
    pub fn estimate(&self, seldom: bool) -> Option<LapWear> {
        let [first, beyond_reserve] = self.worn;
        let wear = LapWear {
            first: first.unwrap_or(self.last.first),
            beyond_reserve: beyond_reserve.unwrap_or(self.last.beyond_reserve),
            programs_per_erase: self.programs_per_erase(),
        };
        let enough = if seldom { wear.first.mean > 0.0 } else { wear.first.mean >= ERASES_MIN };
        enough.then_some(wear)
    }

    /// Returns the pages programmed per erase of the mean block over the later half of the samples: a drive first
    /// programs its free blocks, without an erase.
    fn programs_per_erase(&self) -> f64 {
        let last = self.spreads.len().saturating_sub(1);
        let at = |i: usize| (self.spreads[i].0, self.programs[i]);
        match (self.spreads.len() > 1).then(|| (at(last / 2), at(last))) {
            Some(((mean, programs), (mean_end, programs_end))) if mean_end > mean => {
                (programs_end - programs) / (mean_end - mean)
            }
            _ => self.last.programs_per_erase,
        }
    }

    /// Returns the growth of the spread of wear; None if it is unknown.
    pub fn growth(&self) -> Option<WearGrowth> {
        growth_of(&self.spreads)
    }
}

/// Interpolates the wear at which a block had so many erases, between two samples.
fn between(before: BlockWear, after: BlockWear, erases: f64) -> BlockWear {
    let share = (erases - before.erases) / (after.erases - before.erases).max(f64::MIN_POSITIVE);
    let at = |from: f64, to: f64| from + share.clamp(0.0, 1.0) * (to - from);
    BlockWear {
        mean: at(before.mean, after.mean),
        erases,
        sd: at(before.sd, after.sd),
        programs: at(before.programs, after.programs),
        page_writes: at(before.page_writes, after.page_writes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_its_cycles_between_two_looks() {
        let at =
            |mean: f64, erases| BlockWear { mean, erases, sd: mean, programs: 2.0 * mean, page_writes: mean };
        let [before, after] = [at(10.0, 12.0), at(20.0, 32.0)];
        assert_eq!(between(before, after, 27.0), at(17.5, 27.0));
        assert_eq!(between(BlockWear::default(), before, 6.0), at(5.0, 6.0));
    }
}
