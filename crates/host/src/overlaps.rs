//! Finds the waiting request that another one must not overtake: an index over pages.
//!
//! Pages are divided into segments at the boundaries of waiting requests; every request covers whole segments. A
//! segment lists the requests that wait for it. A lookup costs one step per segment, however many requests wait.

use floatgate_base::Lpn;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque, btree_map};

/// A waiting request: its number in order of arrival, and its slot.
pub(crate) type Entry = (u64, u32);

/// Several requests that wait for the same pages.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Several {
    /// Writes and trims. They must not overtake one another and leave in order of arrival.
    changes: VecDeque<Entry>,
    /// Reads, which leave in any order.
    reads: BTreeSet<Entry>,
}

impl Several {
    fn add(&mut self, entry: Entry, changes: bool) {
        if changes {
            self.changes.push_back(entry);
        } else {
            self.reads.insert(entry);
        }
    }
}

/// The requests that wait for some pages; usually a single one, with whether it changes them.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Who {
    One(Entry, bool),
    Several(Box<Several>),
}

/// Pages with the same waiting requests.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Segment {
    end: Lpn,
    who: Who,
}

impl Segment {
    fn add(&mut self, entry: Entry, changes: bool) {
        match &mut self.who {
            Who::Several(several) => several.add(entry, changes),
            Who::One(first, first_changes) => {
                let mut several = Box::<Several>::default();
                several.add(*first, *first_changes);
                several.add(entry, changes);
                self.who = Who::Several(several);
            }
        }
    }

    /// Removes a request; returns whether the segment is now empty.
    fn remove(&mut self, entry: Entry, changes: bool) -> bool {
        match &mut self.who {
            Who::One(..) => true,
            Who::Several(several) => {
                if changes {
                    let gone = several.changes.pop_front();
                    debug_assert_eq!(gone, Some(entry));
                } else {
                    several.reads.remove(&entry);
                }
                several.changes.is_empty() && several.reads.is_empty()
            }
        }
    }

    /// Returns a request before `number` that must not be overtaken by one that changes (or only reads) the pages.
    fn earlier(&self, changes: bool, number: u64) -> Option<Entry> {
        let before = |entry: Option<&Entry>| entry.copied().filter(|&(other, _)| other < number);
        match &self.who {
            Who::One(entry, others) => before(Some(entry)).filter(|_| changes || *others),
            Who::Several(several) => {
                before(several.changes.front()).or_else(|| before(several.reads.first()).filter(|_| changes))
            }
        }
    }
}

/// The pages for which requests wait.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Overlaps {
    /// By first page.
    segments: BTreeMap<Lpn, Segment>,
    /// Scratch: pages without a segment, segments without a request.
    gaps: Vec<(Lpn, Lpn)>,
    left: Vec<Lpn>,
}

impl Overlaps {
    /// Adds a request that waits for `pages` pages from `first`, in order of arrival; returns whether it shares a page
    /// with another one.
    pub fn insert(&mut self, first: Lpn, pages: u32, changes: bool, entry: Entry) -> bool {
        let end = first + pages;
        let shares = self.segments.range(..end).next_back().is_some_and(|(_, last)| last.end > first);
        if !shares {
            self.segments.insert(first, Segment { end, who: Who::One(entry, changes) });
            return false;
        }
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
            self.segments.insert(start, Segment { end, who: Who::One(entry, changes) });
        }
        true
    }

    /// Splits a segment that crosses `page`.
    fn cut(&mut self, page: Lpn) {
        if let Some((_, segment)) = self.segments.range_mut(..page).next_back()
            && segment.end > page
        {
            let rest = segment.clone();
            segment.end = page;
            self.segments.insert(page, rest);
        }
    }

    /// Removes a request that no longer waits.
    pub fn remove(&mut self, first: Lpn, pages: u32, changes: bool, entry: Entry) {
        if let btree_map::Entry::Occupied(entry) = self.segments.entry(first)
            && entry.get().end == first + pages
            && matches!(entry.get().who, Who::One(..))
        {
            entry.remove();
            return;
        }
        for (&start, segment) in self.segments.range_mut(first..first + pages) {
            if segment.remove(entry, changes) {
                self.left.push(start);
            }
        }
        for start in self.left.drain(..) {
            self.segments.remove(&start);
        }
    }

    /// Returns an earlier request that the waiting request `number` must not overtake, by extent.
    pub fn earlier(&self, first: Lpn, pages: u32, changes: bool, number: u64) -> Option<Entry> {
        self.segments.range(first..first + pages).find_map(|(_, segment)| segment.earlier(changes, number))
    }

    /// Returns whether no request waits.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }
}
