//! The chain of groups as it is: which streams are queues, how many units each may hold, and where pages of a victim go.
//!
//! Stream 0 is the hot group, stream i is group i. Groups in front of the last one are queues. While the last one is *merged* (at
//! first, and where a prediction was wrong) its pages are told apart by how often they moved: they go through as many streams as
//! there are left, up to a number of them, and the victim policy chooses among the units of all (MiDA, the simple scheme that the
//! authors' programs fall back on). If all groups are merged, so is the hot one.

use crate::separate::{Regroup, StreamId};
use serde::{Deserialize, Serialize};

/// The groups of a drive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chain {
    /// The last group, from which on streams are no queues.
    last: u32,
    /// Whether it is merged.
    merged: bool,
    /// The last stream in use.
    top: u32,
    /// The most streams of a merged group, and of all groups.
    generations: u32,
    groups: u32,
    /// By stream: closed units of each domain that are no reason to collect.
    quotas: Vec<u32>,
}

impl Chain {
    /// All groups merged, with so many streams of them at most.
    pub fn new(groups: u32, generations: u32) -> Self {
        let top = generations.min(groups);
        Self { last: 1, merged: true, top, generations, groups, quotas: vec![0; groups as usize + 1] }
    }

    /// The last group.
    pub fn last(&self) -> StreamId {
        StreamId(self.last)
    }

    /// Whether it is merged.
    pub fn is_merged(&self) -> bool {
        self.merged
    }

    /// Whether closed units of a stream are a queue.
    pub fn is_queued(&self, stream: StreamId) -> bool {
        self.last > 1 && stream.0 < self.last
    }

    /// The first group that is larger than it should be; none where that is up to the last one.
    pub fn oversized(&self, closed: &[u32]) -> Option<StreamId> {
        if self.last == 1 {
            return None;
        }
        let queues = closed.iter().zip(&self.quotas).take(self.last as usize);
        let found = queues.into_iter().position(|(closed, quota)| closed > quota)?;
        Some(StreamId(found as u32))
    }

    /// Where pages of a stream's units go.
    #[inline(always)]
    pub fn next(&self, from: StreamId) -> StreamId {
        StreamId((from.0 + 1).min(self.top))
    }

    /// Groups of these sizes in segments, the hot one's in front; the last one has what they leave.
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
            // One is open.
            *quota = size.saturating_sub(1);
        }
        self.regroup(becomes)
    }

    /// Merges the groups from one on; none where they are already.
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
        // The host goes on to fill the units of the hot group and of group 1.
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
        // All merged: pages go through four streams, and the victim policy chooses among all.
        assert_eq!([0, 1, 3, 4, 5].map(|from| chain.next(StreamId(from)).0), [1, 2, 4, 4, 4]);
        assert_eq!((chain.is_queued(StreamId(0)), chain.oversized(&[9; 6])), (false, None));

        // Hot of 2 segments, groups of 4 and 5, and the rest: what is there becomes the third group.
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

        // More groups: the third one's units are the fifth one's now. What groups hold beyond their size leaves.
        let regroup = chain.apply(&[1, 3, 5, 6, 7, 40]);
        assert_eq!(regroup.becomes, streams(&[0, 1, 2, 5, 5, 5]));
        assert_eq!(regroup.keeps, [0, 2, 4, 5, 6, 0]);
        assert_eq!(regroup.closes, streams(&[3, 4]));

        // Group 2 was not as foretold.
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

        // A merge of all takes the hot group in, too; its units keep their stream.
        chain.apply(&[1, 3, 50]);
        let regroup = chain.merge(StreamId(0)).unwrap();
        assert_eq!((regroup.becomes, regroup.keeps), (streams(&[0, 1, 1, 1, 1, 1]), vec![0; 6]));
        assert_eq!((chain.last(), chain.oversized(&[9; 6])), (StreamId(1), None));
    }

    /// The last group alone goes back to be merged: nothing leaves a queue, and no stream changes hands.
    #[test]
    fn the_last_group_may_be_merged_alone() {
        let mut chain = Chain::new(5, 4);
        chain.apply(&[2, 4, 50]);
        let regroup = chain.merge(StreamId(2)).unwrap();
        assert_eq!(regroup.becomes, streams(&[0, 1, 2, 2, 2, 2]));
        assert_eq!((regroup.keeps, chain.next(StreamId(2))), (vec![1, 3, 0, 0, 0, 0], StreamId(3)));
    }
}
