//! What is known of measured pins, and the doubts that follow from it.

use crate::humps::{ERASE_MIN_PS, Hump, Separation};
use crate::lengths::Lengths;
use crate::volume::Geometry;
use serde::Serialize;

/// Doubts that together exceed this share of the programs leave no estimate.
pub(crate) const WITHHELD_SHARE: f64 = 0.2;
/// Doubts below this share of the programs are not mentioned.
pub(crate) const LEAST_SHARE: f64 = 0.001;

/// A reason to doubt the count of programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Doubt {
    /// Its name in results.
    pub code: &'static str,
    /// Programs that may not be any.
    pub less: f64,
    /// Programs that may be missing.
    pub more: f64,
    /// Whether it leaves no estimate, however small.
    #[serde(skip)]
    pub is_open: bool,
    /// The warning.
    #[serde(skip)]
    pub text: String,
}

/// What is known of the measured pins.
pub(crate) struct Known<'a> {
    pub low: &'a Lengths,
    pub high: &'a Lengths,
    pub sums_around_reads: &'a Lengths,
    pub sums_adjacent: &'a Lengths,
    /// Low phases with a read before or after them, and those with a read before them.
    pub beside_reads: &'a Lengths,
    pub after_reads: &'a Lengths,
    /// High phases between a low phase of a register and a read.
    pub high_after_busy: &'a Lengths,
    /// High phases between two low phases longer than a read.
    pub high_between_programs: &'a Lengths,
    /// Time of all pins with an unknown level.
    pub lost_ps: u64,
    /// The lengths of programs; those that the user sets leave no doubt about classes.
    pub program_ps: (u64, u64),
    pub separation: Option<&'a Separation>,
    pub is_set: bool,
    pub step_ps: u64,
    /// Whether the step is known to be that of samples, not only a common divisor of times.
    pub is_sampled: bool,
    pub programs: u64,
    pub signals: u64,
    pub dies_per_signal: Option<u32>,
    pub geometry: &'a Geometry,
    /// Duration of the longest capture, 0 if unknown.
    pub duration_ps: u64,
}

/// Lower and upper end of the dense lengths of programs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Core {
    pub from_ps: u64,
    pub to_ps: u64,
}

impl Core {
    /// Returns whether two of the shortest programs are no longer than the longest one.
    pub fn is_wide(self) -> bool {
        self.to_ps >= 2 * self.from_ps
    }
}

impl Known<'_> {
    /// Returns the lengths of programs with at least one of `parts` of the highest density, in eighths of a doubling.
    pub fn core(&self, parts: u64) -> Option<Core> {
        self.core_within(parts, self.program_ps)
    }

    /// Returns the dense lengths within an interval.
    pub fn core_within(&self, parts: u64, (from_ps, to_ps): (u64, u64)) -> Option<Core> {
        let slots = self.slots(from_ps + 1, to_ps);
        let most = slots.iter().map(|slot| slot.2).max()?;
        let mut dense = slots.iter().filter(|slot| parts * slot.2 >= most);
        let (first, last) = (dense.next()?, dense.next_back());
        Some(Core { from_ps: first.0, to_ps: last.unwrap_or(first).1 })
    }

    /// Returns ends and counts of low phases in eighths of a doubling, without empty ones.
    fn slots(&self, from_ps: u64, to_ps: u64) -> Vec<(u64, u64, u64)> {
        let mut slots: Vec<(usize, (u64, u64, u64))> = Vec::new();
        for (bin, begin_ps, end_ps, count) in self.low.numbered() {
            if begin_ps < from_ps || begin_ps >= to_ps {
                continue;
            }
            match slots.last_mut() {
                Some((eighth, slot)) if *eighth == bin / 4 => (slot.1, slot.2) = (end_ps, slot.2 + count),
                _ => slots.push((bin / 4, (begin_ps, end_ps, count))),
            }
        }
        slots.into_iter().map(|(_, slot)| slot).collect()
    }

    /// Bounds the programs within low phases from `from_ps`: as many as fit, at `dies` at once.
    pub fn fitting(&self, core: Core, from_ps: u64, dies: u64) -> f64 {
        let bins = self.low.bins().filter(|&(begin_ps, ..)| begin_ps >= from_ps);
        bins.map(|(_, end_ps, count)| {
            let each = (end_ps + 2 * self.step_ps) / core.from_ps.max(1);
            count as f64 * (each * dies).max(1) as f64
        })
        .sum()
    }

    /// Returns the mean length of programs.
    pub fn mean_ps(&self) -> f64 {
        let (mut sum, mut programs) = (0.0, 0.0);
        for (begin_ps, end_ps, count) in self.low.bins() {
            if begin_ps > self.program_ps.0 && begin_ps < self.program_ps.1 {
                sum += begin_ps.midpoint(end_ps) as f64 * count as f64;
                programs += count as f64;
            }
        }
        if programs > 0.0 { sum / programs } else { f64::INFINITY }
    }

    /// Lists the humps above the programs.
    pub fn longer_humps(&self) -> &[Hump] {
        self.separation.map_or(&[], |parts| &parts.humps[parts.reads + parts.programs..])
    }

    /// Returns whether what counts as programs is as long and as rare as erases.
    pub fn are_programs_rare(&self) -> bool {
        let Some(parts) = self.separation.filter(|_| !self.is_set) else { return false };
        let counted = &parts.humps[parts.reads..parts.reads + parts.programs];
        let all: u64 = self.shorter_humps().iter().map(|hump| hump.count).sum();
        self.longer_humps().is_empty()
            && counted.iter().all(|hump| hump.median_ps >= ERASE_MIN_PS)
            && 16 * self.programs <= all
    }

    /// Lists the humps below the programs.
    pub fn shorter_humps(&self) -> &[Hump] {
        self.separation.map_or(&[], |parts| &parts.humps[..parts.reads])
    }
}
