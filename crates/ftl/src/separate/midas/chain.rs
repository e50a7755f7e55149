//! The present chain of groups: which streams are queues, how many units each may hold, and where pages of a victim go.
//!
//! Stream 0 is the hot group, stream i is group i. Groups before the last one are queues. The last one may be *merged*
//! (at first, and after a wrong prediction). It then separates its pages by how often they moved: they pass through the
//! remaining streams, up to a bound. The victim policy selects among the units of all of them (MiDA, the simple scheme
//! that the authors' programs fall back on). If all groups are merged, so is the hot one.

use crate::separate::{Regroup, StreamId};
use serde::{Deserialize, Serialize};

/// The groups of a drive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chain {
    /// The last group; streams from it on are not queues.
    last: u32,
    /// Whether the last group is merged.
    merged: bool,
    /// The last stream in use.
    top: u32,
    /// The most streams of a merged group, and of all groups.
    generations: u32,
    groups: u32,
    /// By stream: closed units per domain up to which nothing is collected.
    quotas: Vec<u32>,
}

impl Chain {
    /// Creates a chain of up to `groups`, all merged, with up to `generations` streams.
    pub fn new(groups: u32, generations: u32) -> Self {
        let top = generations.min(groups);
        Self { last: 1, merged: true, top, generations, groups, quotas: vec![0; groups as usize + 1] }
    }

    /// Returns the last group.
    pub fn last(&self) -> StreamId {
        StreamId(self.last)
    }

    /// Checks whether the last group is merged.
    pub fn is_merged(&self) -> bool {
        self.merged
    }

    /// Checks whether closed units of a stream form a queue.
    pub fn is_queued(&self, stream: StreamId) -> bool {
        self.last > 1 && stream.0 < self.last
    }

    /// Returns the first group that exceeds its size; none if only the last one can give a victim.
    pub fn oversized(&self, closed: &[u32]) -> Option<StreamId> {
        if self.last == 1 {
            return None;
        }
        let queues = closed.iter().zip(&self.quotas).take(self.last as usize);
        let oversized = queues.into_iter().position(|(closed, quota)| closed > quota)?;
        Some(StreamId(oversized as u32))
    }

    /// Returns the stream for pages that leave units of a stream.
    #[inline(always)]
    pub fn next(&self, from: StreamId) -> StreamId {
        StreamId((from.0 + 1).min(self.top))
    }

    /// Applies group sizes in segments, that of the hot group first; the last group gets the rest.
    pub fn apply(&mut self, sizes: &[u32]) -> Regroup {
        let last = sizes.len() as u32 - 1;
        let (start, all) = (self.last, self.last == 1);
        let becomes = self.relabel(|stream| {
            let was_last = stream >= start || (all && stream == 0);
            if was_last || stream >= last { last } else { stream }
        });
        (self.last, self.merged, self.top) = (last, false, last);
        self.quotas.fill(0);
        for (quota, &size) in self.quotas.iter_mut().zip(&sizes[..last as usize]) {
            // One of them is open.
            *quota = size.saturating_sub(1);
        }
        self.regroup(becomes)
    }

    /// Merges the groups from one on; none if they are merged already.
    pub fn merge(&mut self, from: StreamId) -> Option<Regroup> {
        let from = from.0.clamp(1, self.last);
        if self.merged && from == self.last {
            return None;
        }
        let becomes = self.relabel(|stream| stream.min(from));
        (self.last, self.merged) = (from, true);
        self.top = (from + self.generations - 1).min(self.groups);
        self.quotas[from as usize..].fill(0);
        if from == 1 {
            self.quotas[0] = 0;
        }
        Some(self.regroup(becomes))
    }

    fn relabel(&self, of: impl Fn(u32) -> u32) -> Vec<StreamId> {
        (0..=self.groups).map(of).map(StreamId).collect()
    }

    fn regroup(&self, becomes: Vec<StreamId>) -> Regroup {
        let keeps = StreamId::all(self.groups + 1)
            .map(|stream| if self.is_queued(stream) { self.quotas[stream.index()] } else { 0 })
            .collect();
        // The host continues to fill the units of the hot group and of group 1.
        let closes = StreamId::all(self.groups + 1)
            .skip(2)
            .filter(|&stream| becomes[stream.index()] != stream)
            .collect();
        Regroup { becomes, keeps, released: self.last(), closes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streams(of: &[u32]) -> Vec<StreamId> {
        of.iter().copied().map(StreamId).collect()
    }

    #[test]
    fn a_chain_is_made_changed_and_merged() {
        let mut chain = Chain::new(5, 4);
        // All merged: pages pass through four streams, and the victim policy selects among all units.
        assert_eq!([0, 1, 3, 4, 5].map(|from| chain.next(StreamId(from)).0), [1, 2, 4, 4, 4]);
        assert_eq!((chain.is_queued(StreamId(0)), chain.oversized(&[9; 6])), (false, None));

        // A hot group of 2 segments, groups of 4 and 5, and the rest: existing units become the third group.
        let regroup = chain.apply(&[2, 4, 5, 50]);
        assert_eq!(regroup.becomes, streams(&[3, 3, 3, 3, 3, 3]));
        assert_eq!(regroup.keeps, [1, 3, 4, 0, 0, 0]);
        assert_eq!((regroup.released, regroup.closes), (StreamId(3), streams(&[2, 4, 5])));
        assert_eq!([0, 1, 2, 3].map(|from| chain.next(StreamId(from)).0), [1, 2, 3, 3]);
        let is_queued = |chain: &Chain| [0, 1, 2, 3, 4].map(|stream| chain.is_queued(StreamId(stream)));
        assert_eq!(is_queued(&chain), [true, true, true, false, false]);
        assert_eq!(chain.oversized(&[1, 3, 4, 99, 0, 0]), None);
        assert_eq!(chain.oversized(&[1, 4, 9, 0, 0, 0]), Some(StreamId(1)));
        assert_eq!(chain.oversized(&[2, 4, 5, 0, 0, 0]), Some(StreamId(0)));

        // More groups: the third one's units are now the fifth one's. Units beyond a group's size leave its queue.
        let regroup = chain.apply(&[1, 3, 5, 6, 7, 40]);
        assert_eq!(regroup.becomes, streams(&[0, 1, 2, 5, 5, 5]));
        assert_eq!(regroup.keeps, [0, 2, 4, 5, 6, 0]);
        assert_eq!(regroup.closes, streams(&[3, 4]));

        // Group 2 deviated from the prediction.
        let regroup = chain.merge(StreamId(2)).unwrap();
        assert_eq!(regroup.becomes, streams(&[0, 1, 2, 2, 2, 2]));
        assert_eq!((regroup.keeps, regroup.released), (vec![0, 2, 0, 0, 0, 0], StreamId(2)));
        assert_eq!(regroup.closes, streams(&[3, 4, 5]));
        assert_eq!([1, 2, 3, 4, 5].map(|from| chain.next(StreamId(from)).0), [2, 3, 4, 5, 5]);
        assert_eq!(is_queued(&chain), [true, true, false, false, false]);
        assert_eq!(
            (chain.is_merged(), chain.merge(StreamId(2)), chain.merge(StreamId(4))),
            (true, None, None)
        );

        // Fewer groups after that.
        let regroup = chain.apply(&[1, 50]);
        assert_eq!(regroup.becomes, streams(&[0, 1, 1, 1, 1, 1]));
        assert_eq!(regroup.keeps, [0; 6]);

        // Merging all groups includes the hot one; its units keep their stream.
        chain.apply(&[1, 3, 50]);
        let regroup = chain.merge(StreamId(0)).unwrap();
        assert_eq!((regroup.becomes, regroup.keeps), (streams(&[0, 1, 1, 1, 1, 1]), vec![0; 6]));
        assert_eq!((chain.last(), chain.oversized(&[9; 6])), (StreamId(1), None));
    }

    /// The last group alone is merged again: no unit leaves a queue or changes its stream.
    #[test]
    fn the_last_group_may_be_merged_alone() {
        let mut chain = Chain::new(5, 4);
        chain.apply(&[2, 4, 50]);
        let regroup = chain.merge(StreamId(2)).unwrap();
        assert_eq!(regroup.becomes, streams(&[0, 1, 2, 2, 2, 2]));
        assert_eq!((regroup.keeps, chain.next(StreamId(2))), (vec![1, 3, 0, 0, 0, 0], StreamId(3)));
    }
}
