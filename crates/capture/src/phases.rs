//! Phases of a pin: how long it was low or high, from changes in order of time.

use crate::lengths::Lengths;
use crate::level::Level;

/// When a phase began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Since {
    /// The level is unknown.
    Nowhere,
    /// At an edge.
    Edge(i64),
    /// Before the capture, or while the level was unknown.
    Before,
}

/// A phase that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The pin was low so long.
    Low(u64),
    /// The pin was high so long.
    High(u64),
    /// The pin was low; an edge is missing.
    Cut,
}

/// Levels of a pin, and since when it is at the last one.
#[derive(Clone, Debug)]
pub(crate) struct Edges {
    level: Option<Level>,
    since: Since,
}

impl Edges {
    pub fn new() -> Self {
        Self { level: None, since: Since::Nowhere }
    }

    /// The last level.
    #[inline]
    pub fn level(&self) -> Option<Level> {
        self.level
    }

    /// The pin is at a level from `time_ps` on; the phase that ends.
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

    /// The capture ends at `time_ps`; the phase that it cuts.
    pub fn end(&mut self, time_ps: i64) -> Option<Phase> {
        match (std::mem::replace(&mut self.since, Since::Nowhere), self.level) {
            (Since::Edge(from_ps), Some(Level::High)) => Some(Phase::High(time_ps.abs_diff(from_ps))),
            (_, Some(Level::Low)) => Some(Phase::Cut),
            _ => None,
        }
    }
}

/// Low phases, counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub lengths: Lengths,
    /// Those below the interval that was given, within it and above it.
    pub classed: [u64; 3],
}

impl Counts {
    /// A low phase of this length ended.
    #[inline]
    pub fn add(&mut self, length_ps: u64, interval_ps: (u64, u64)) {
        self.lengths.add(length_ps);
        let class = usize::from(length_ps > interval_ps.0) + usize::from(length_ps >= interval_ps.1);
        self.classed[class] += 1;
    }

    /// Takes in those of another, which has none then.
    pub fn take(&mut self, other: &mut Self) {
        let other = std::mem::take(other);
        self.lengths.join(&other.lengths);
        self.classed.iter_mut().zip(other.classed).for_each(|(ours, theirs)| *ours += theirs);
    }
}
