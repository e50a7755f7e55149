//! Phases of a pin, low or high, from changes in order of time.

use crate::lengths::Lengths;
use crate::level::Level;

/// The beginning of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Since {
    /// The level is unknown.
    Nowhere,
    /// An edge.
    Edge(i64),
    /// Before the capture, or during an unknown level.
    Before,
}

/// A completed phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The pin was low for this time.
    Low(u64),
    /// The pin was high for this time.
    High(u64),
    /// The pin was low, but an edge is missing.
    Cut,
}

/// The current level of a pin and its beginning.
#[derive(Clone, Debug)]
pub(crate) struct Edges {
    level: Option<Level>,
    since: Since,
}

impl Edges {
    pub fn new() -> Self {
        Self { level: None, since: Since::Nowhere }
    }

    /// Returns the current level.
    #[inline]
    pub fn level(&self) -> Option<Level> {
        self.level
    }

    /// Sets the level of the pin from `time_ps`; returns the phase that ends.
    #[inline]
    pub fn change(&mut self, time_ps: i64, level: Level) -> Option<Phase> {
        let before = self.level.replace(level);
        if before == Some(level) {
            return None;
        }
        let now = match (level, before) {
            (Level::Unknown, _) => Since::Nowhere,
            (_, Some(Level::Low | Level::High)) => Since::Edge(time_ps),
            _ => Since::Before,
        };
        let from = std::mem::replace(&mut self.since, now);
        match (from, before?, level) {
            (Since::Edge(from_ps), Level::Low, Level::High) => Some(Phase::Low(time_ps.abs_diff(from_ps))),
            (Since::Edge(from_ps), Level::High, Level::Low) => Some(Phase::High(time_ps.abs_diff(from_ps))),
            (_, Level::Low, _) => Some(Phase::Cut),
            _ => None,
        }
    }

    /// Returns the time of the last edge, unless an unknown level follows it.
    pub fn last_edge_ps(&self) -> Option<i64> {
        match self.since {
            Since::Edge(time_ps) => Some(time_ps),
            Since::Nowhere | Since::Before => None,
        }
    }

    /// Ends the capture at `time_ps`; returns the phase that it cuts.
    pub fn end(&mut self, time_ps: i64) -> Option<Phase> {
        match (std::mem::replace(&mut self.since, Since::Nowhere), self.level) {
            (Since::Edge(from_ps), Some(Level::High)) => Some(Phase::High(time_ps.abs_diff(from_ps))),
            (_, Some(Level::Low)) => Some(Phase::Cut),
            _ => None,
        }
    }
}

/// Counts of low phases.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub lengths: Lengths,
    /// Low phases below, within and above the interval.
    pub classed: [u64; 3],
}

impl Counts {
    /// Counts a low phase of this length.
    #[inline]
    pub fn add(&mut self, length_ps: u64, interval_ps: (u64, u64)) {
        self.lengths.add(length_ps);
        let class = usize::from(length_ps > interval_ps.0) + usize::from(length_ps >= interval_ps.1);
        self.classed[class] += 1;
    }

    /// Moves the counts of another pin here.
    pub fn take(&mut self, other: &mut Self) {
        let other = std::mem::take(other);
        self.lengths.join(&other.lengths);
        self.classed.iter_mut().zip(other.classed).for_each(|(ours, theirs)| *ours += theirs);
    }

    /// Replaces `parts`, which are counted here, with `wholes`.
    pub fn replace(&mut self, parts: &Self, wholes: &Self) {
        self.lengths.remove(&parts.lengths);
        self.lengths.join(&wholes.lengths);
        for (ours, (part, whole)) in self.classed.iter_mut().zip(parts.classed.iter().zip(wholes.classed)) {
            *ours = ours.saturating_sub(*part) + whole;
        }
    }
}
