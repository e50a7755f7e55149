//! Two-level LRU: a page is hot while it is in the first of two lists of recently written pages.
//!
//! A page in no list joins the head of the second, the candidates. A candidate that is written again joins the head of
//! the first, the hot list. Each write returns a hot page to the head. A page that falls off the end of the hot list
//! becomes the first candidate; one that falls off the end of the candidates is forgotten. Source: Chang and Kuo, RTAS
//! 2002, as the dissertation on PDS (section 2.4.2) describes it. It states no values for the lengths; the defaults are
//! ours: as many hot pages as HASH has counters, and twice as many candidates. Moved pages use the same lists. Cost: a
//! look-up and a few links. Memory: 4 bytes per page and 12 per entry.

use super::{ChosenPolicy, Moved, Separator, Shape, StreamId, Written};
use floatgate_base::memory::table;
use floatgate_base::prefetch::prefetch;
use floatgate_base::{IdVec, Lpn, ParamInfo, PolicyInfo};
use serde::{Deserialize, Serialize};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "two-level-lru",
    summary: "hot pages are those in the first of two lists of recently written pages",
    source: "Chang and Kuo, RTAS 2002",
    params: &[
        ParamInfo::whole("hot_pages", "entries of the hot list", 4096, (1, 1 << 30)),
        ParamInfo::whole("candidate_pages", "entries of the candidate list", 8192, (1, 1 << 30)),
    ],
    cost: "a look-up",
    memory: "4 bytes per page",
};

const HOT: StreamId = StreamId(0);
const COLD: StreamId = StreamId(1);
/// Marks a page in no list.
const NONE: u32 = u32::MAX;

/// Parameters of two-level LRU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    hot_pages: u32,
    candidate_pages: u32,
}

impl Params {
    pub fn of(settings: &ChosenPolicy) -> Self {
        Self { hot_pages: settings.whole("hot_pages"), candidate_pages: settings.whole("candidate_pages") }
    }

    pub fn streams(self) -> u32 {
        2
    }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Entry {
    /// Its page; none in the two list heads.
    lpn: Lpn,
    /// The neighbours towards the head and towards the end, in a ring through the head.
    before: u32,
    after: u32,
}

/// Entry 0 is the head of the hot list, entry 1 that of the candidates.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    /// Entry of each page, doubled, plus one if it is hot.
    entry_of: IdVec<Lpn, u32>,
    entries: Vec<Entry>,
    /// Present and largest lengths of the two lists.
    held: [u32; 2],
    most: [u32; 2],
}

const HOT_LIST: u32 = 0;
const CANDIDATES: u32 = 1;

impl State {
    pub fn new(params: &Params, shape: &Shape) -> Self {
        // No list holds more pages than the drive has; an entry's number has 31 bits.
        let most =
            [params.hot_pages, params.candidate_pages].map(|n| n.min(shape.logical_pages).min(1 << 29));
        let head = |at| Entry { lpn: Lpn::MAX, before: at, after: at };
        let mut entries = table((most[0] + most[1]) as usize + 2, head(0));
        entries.truncate(0);
        entries.extend([head(HOT_LIST), head(CANDIDATES)]);
        Self { entry_of: table(shape.logical_pages as usize, NONE).into(), entries, held: [0; 2], most }
    }

    fn unlink(&mut self, at: u32) {
        let Entry { before, after, .. } = self.entries[at as usize];
        self.entries[before as usize].after = after;
        self.entries[after as usize].before = before;
    }

    /// Inserts an entry behind the head of a list.
    fn link(&mut self, list: u32, at: u32) {
        let first = std::mem::replace(&mut self.entries[list as usize].after, at);
        self.entries[first as usize].before = at;
        let entry = &mut self.entries[at as usize];
        (entry.before, entry.after) = (list, first);
        self.entry_of[entry.lpn] = at << 1 | u32::from(list == HOT_LIST);
    }

    fn last(&self, list: u32) -> u32 {
        self.entries[list as usize].before
    }

    /// Makes a candidate hot; with too many hot pages, the last one becomes a candidate.
    fn promote(&mut self, at: u32) {
        self.unlink(at);
        self.link(HOT_LIST, at);
        if self.held[0] < self.most[0] {
            self.held[0] += 1;
            self.held[1] -= 1;
        } else {
            let last = self.last(HOT_LIST);
            self.unlink(last);
            self.link(CANDIDATES, last);
        }
    }

    /// Makes a page the first candidate, in the place of the last one if there are too many.
    fn admit(&mut self, lpn: Lpn) {
        let at = if self.held[1] < self.most[1] {
            self.held[1] += 1;
            self.entries.push(Entry { lpn, before: 0, after: 0 });
            self.entries.len() as u32 - 1
        } else {
            let last = self.last(CANDIDATES);
            self.unlink(last);
            let forgotten = std::mem::replace(&mut self.entries[last as usize].lpn, lpn);
            self.entry_of[forgotten] = NONE;
            last
        };
        self.link(CANDIDATES, at);
    }
}

impl Separator for State {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        match self.entry_of[page.lpn] {
            NONE => {
                self.admit(page.lpn);
                COLD
            }
            hot if hot & 1 == 1 => {
                self.unlink(hot >> 1);
                self.link(HOT_LIST, hot >> 1);
                HOT
            }
            candidate => {
                self.promote(candidate >> 1);
                HOT
            }
        }
    }

    #[inline(always)]
    fn move_stream(&self, page: &Moved) -> StreamId {
        let entry = self.entry_of[page.lpn];
        if entry != NONE && entry & 1 == 1 { HOT } else { COLD }
    }

    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        prefetch(self.entry_of.as_slice(), lpn.index());
    }

    fn memory_bytes(&self) -> u64 {
        self.entry_of.len() as u64 * 4 + u64::from(self.most[0] + self.most[1] + 2) * 12
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_shape;
    use super::*;
    use floatgate_base::Rng;
    use std::collections::VecDeque;

    fn state(pages: u32, hot_pages: u32, candidate_pages: u32) -> State {
        State::new(&Params { hot_pages, candidate_pages }, &test_shape(pages))
    }

    fn write(state: &mut State, lpn: u32) -> StreamId {
        state.write(&Written { lpn: Lpn(lpn), update: true, hints: Default::default(), now: 0 })
    }

    #[test]
    fn a_page_is_hot_when_it_is_written_while_a_candidate() {
        let mut state = state(100, 1, 2);
        // 1 and 2 are candidates, 3 pushes 1 out: written again, 1 is cold and pushes 2 out.
        assert_eq!([1, 2, 3, 1].map(|lpn| write(&mut state, lpn)), [COLD; 4]);
        assert_eq!(write(&mut state, 3), HOT);
        let moved = |state: &State, lpn| state.move_stream(&Moved { lpn: Lpn(lpn), from: HOT, now: 0 });
        assert_eq!([1, 2, 3].map(|lpn| moved(&state, lpn)), [COLD, COLD, HOT]);
        // 1 takes the only hot place; 3 is a candidate again and so hot at its next write.
        assert_eq!(write(&mut state, 1), HOT);
        assert_eq!([1, 3].map(|lpn| moved(&state, lpn)), [HOT, COLD]);
        assert_eq!([write(&mut state, 3), write(&mut state, 2)], [HOT, COLD]);
    }

    /// Compares with two queues that are searched from end to end.
    #[test]
    fn agrees_with_plain_queues() {
        for seed in 0..30 {
            let mut rng = Rng::new(seed, "two-level-lru test");
            let (hot_most, candidates_most) = (1 + rng.below(6) as usize, 1 + rng.below(9) as usize);
            let mut state = state(40, hot_most as u32, candidates_most as u32);
            let (mut hot, mut candidates) = (VecDeque::new(), VecDeque::new());
            for step in 0..2000 {
                let range = 1 + rng.below(40);
                let lpn = rng.below(range) as u32;
                let expected = if hot.contains(&lpn) || candidates.contains(&lpn) {
                    hot.retain(|&other| other != lpn);
                    candidates.retain(|&other| other != lpn);
                    hot.push_front(lpn);
                    if hot.len() > hot_most {
                        candidates.push_front(hot.pop_back().unwrap());
                    }
                    HOT
                } else {
                    candidates.push_front(lpn);
                    candidates.truncate(candidates_most);
                    COLD
                };
                assert_eq!(write(&mut state, lpn), expected, "seed {seed} step {step}");
                for lpn in 0..40 {
                    let stream = if hot.contains(&lpn) { HOT } else { COLD };
                    let moved = state.move_stream(&Moved { lpn: Lpn(lpn), from: COLD, now: 0 });
                    assert_eq!(moved, stream, "seed {seed} step {step}");
                }
            }
        }
    }

    #[test]
    fn a_million_pages_take_no_more_memory() {
        let mut state = state(1_000_000, 100, 200);
        let (bytes, room) = (state.memory_bytes(), state.entries.capacity());
        assert!((0..1_000_000).all(|lpn| write(&mut state, lpn) == COLD));
        assert_eq!((state.memory_bytes(), state.entries.capacity()), (bytes, room));
        assert_eq!((state.held, state.entries.len()), ([0, 200], 202));
    }
}
