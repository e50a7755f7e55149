//! Which waiting request another one must not pass: an index over pages.
//!
//! Pages are cut into segments where waiting requests begin and end, so that every request covers whole segments. A
//! segment knows the requests that wait for it. Looking one up costs a step a segment, however many wait.

use floatgate_base::Lpn;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A waiting request: its number in order of arrival, and where it is kept.
pub(crate) type Entry = (u64, u32);

/// Who waits for some pages that nobody tells apart.
#[derive(Clone, Debug)]
struct Segment {
    end: Lpn,
    /// Writes and trims. They must not pass one another, so they leave in order of arrival.
    changes: VecDeque<Entry>,
    /// Reads, which leave in any order.
    reads: BTreeSet<Entry>,
}

impl Segment {
    fn add(&mut self, entry: Entry, changes: bool) {
        if changes {
            self.changes.push_back(entry);
        } else {
            self.reads.insert(entry);
        }
    }
}

/// The pages that requests wait for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overlaps {
    /// By first page.
    segments: BTreeMap<Lpn, Segment>,
    /// Scratch: pages without a segment, segments without a request.
    gaps: Vec<(Lpn, Lpn)>,
    left: Vec<Lpn>,
}

impl Overlaps {
    /// A request waits for `pages` pages from `first` on; requests come in order of arrival.
    pub fn insert(&mut self, first: Lpn, pages: u32, changes: bool, entry: Entry) {
        let end = first + pages;
        self.cut(first);
        self.cut(end);
        let mut at = first;
        for (&start, segment) in self.segments.range_mut(first..end) {
            if at < start {
                self.gaps.push((at, start));
            }
            segment.add(entry, changes);
            at = segment.end;
        }
        if at < end {
            self.gaps.push((at, end));
        }
        for (start, end) in self.gaps.drain(..) {
            let mut segment = Segment { end, changes: VecDeque::new(), reads: BTreeSet::new() };
            segment.add(entry, changes);
            self.segments.insert(start, segment);
        }
    }

    /// Makes a segment end at `page`, if one goes over it.
    fn cut(&mut self, page: Lpn) {
        if let Some((_, segment)) = self.segments.range_mut(..page).next_back()
            && segment.end > page
        {
            let rest = segment.clone();
            segment.end = page;
            self.segments.insert(page, rest);
        }
    }

    /// The request no longer waits.
    pub fn remove(&mut self, first: Lpn, pages: u32, changes: bool, entry: Entry) {
        for (&start, segment) in self.segments.range_mut(first..first + pages) {
            if changes {
                let gone = segment.changes.pop_front();
                debug_assert_eq!(gone, Some(entry));
            } else {
                segment.reads.remove(&entry);
            }
            if segment.changes.is_empty() && segment.reads.is_empty() {
                self.left.push(start);
            }
        }
        for start in self.left.drain(..) {
            self.segments.remove(&start);
        }
    }

    /// An earlier request that the waiting one of this number, extent for extent, must not pass.
    pub fn earlier(&self, first: Lpn, pages: u32, changes: bool, number: u64) -> Option<Entry> {
        let before = |entry: Option<&Entry>| entry.copied().filter(|&(other, _)| other < number);
        self.segments.range(first..first + pages).find_map(|(_, segment)| {
            before(segment.changes.front()).or_else(|| before(segment.reads.first()).filter(|_| changes))
        })
    }

    /// Whether nobody waits.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }
}
