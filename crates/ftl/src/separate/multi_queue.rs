//! MultiQueue: chunks of addresses in queues by the logarithm of their accesses; idle chunks sink.
//!
//! Each request counts once in every chunk of 1 MiB that it writes to; time is the number of these accesses. The chunk
//! joins the tail of the queue that corresponds to the binary logarithm of its count, rounded down. It expires if it is
//! not accessed for a lifetime: the time between the last two accesses of the hottest chunk when its count last rose.
//! After each access the head of every queue is checked. An expired chunk goes to the tail of the queue below, in the
//! lowest queue to the tail of its own. If it is the hottest, the next in its queue takes its place. The stream of a
//! write is the queue of its chunk; the first is the coldest. Moved pages have the last stream to themselves. Source:
//! Yang, Pandurangan, Choi, Balakrishnan, SYSTOR 2017 (AutoStream), after the multi-queue cache of Zhou, Philbin, Li,
//! USENIX ATC 2001. In that cache the count stays; a chunk that sank would return to its old queue at its next access,
//! and sinking would not affect writes. Here the count falls to the highest of the lower queue. That is our choice; we
//! do not know how AutoStream counts then. Moved pages are as in Wang et al., FAST 2022. `variant = "artifact"`: the
//! public simulator of that evaluation takes the natural logarithm, and counts never fall. The stream is then the
//! logarithm of all accesses so far. Cost: one look-up per page; an access of a chunk checks the head of each queue.
//! Memory: 40 bytes per chunk.

use super::requests::Requests;
use super::{ChosenPolicy, Moved, Separator, Shape, StreamId, Written, variant};
use floatgate_base::memory::table;
use floatgate_base::prefetch::prefetch;
use floatgate_base::{Lpn, ParamInfo, PolicyInfo};
use serde::{Deserialize, Serialize};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "multi-queue",
    summary: "chunks of addresses in queues by the logarithm of their accesses (AutoStream's MQ)",
    source: "Yang et al., SYSTOR 2017; Zhou et al., USENIX ATC 2001",
    params: &[
        ParamInfo::whole("classes", "streams", 6, (2, 64)),
        ParamInfo::whole("chunk_bytes", "bytes per chunk", 1 << 20, (512, 1 << 31)),
        variant::PARAM,
    ],
    cost: "one look-up",
    memory: "40 bytes per chunk",
};

/// No chunk.
const NIL: u32 = u32::MAX;
/// Queue of a chunk that was never accessed.
const NO_QUEUE: u32 = u32::MAX;

/// Parameters of MultiQueue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    classes: u32,
    chunk_bytes: u32,
    artifact: bool,
}

impl Params {
    pub fn of(settings: &ChosenPolicy) -> Self {
        Self {
            classes: settings.whole("classes"),
            chunk_bytes: settings.whole("chunk_bytes"),
            artifact: variant::is_artifact(settings),
        }
    }

    pub fn streams(self) -> u32 {
        self.classes
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Chunk {
    count: u64,
    /// Accesses of all chunks up to its last one, and up to its expiry.
    accessed: u64,
    expires: u64,
    queue: u32,
    /// Its neighbours in the queue.
    before: u32,
    after: u32,
}

/// The ends of a queue: the chunk that has waited longest, and the last arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Queue {
    head: u32,
    tail: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    chunks: Vec<Chunk>,
    queues: Vec<Queue>,
    /// Binary logarithm of the pages of a chunk.
    shift: u32,
    artifact: bool,
    accesses: u64,
    /// The hottest chunk, its count, and its time between accesses when it reached that.
    hottest: u32,
    most: u64,
    lifetime: u64,
    demoted: u64,
    requests: Requests,
}

impl State {
    pub fn new(params: &Params, shape: &Shape) -> Self {
        let shift = (params.chunk_bytes / shape.page_bytes).max(1).ilog2();
        let chunks = (shape.logical_pages as usize).div_ceil(1 << shift);
        let chunk = Chunk { count: 0, accessed: 0, expires: 0, queue: NO_QUEUE, before: NIL, after: NIL };
        Self {
            chunks: table(chunks, chunk),
            queues: vec![Queue { head: NIL, tail: NIL }; params.classes as usize - 1],
            shift,
            artifact: params.artifact,
            accesses: 0,
            hottest: NIL,
            most: 0,
            lifetime: 0,
            demoted: 0,
            requests: Requests::new(),
        }
    }

    /// Returns the queue of a chunk by its count.
    fn queue_of(&self, count: u64) -> u32 {
        let queue = if self.artifact { libm::log(count as f64) as u32 } else { count.ilog2() };
        queue.min(self.queues.len() as u32 - 1)
    }

    /// Removes a chunk from its queue.
    fn take(&mut self, chunk: u32) {
        let Chunk { queue, before, after, .. } = self.chunks[chunk as usize];
        if queue == NO_QUEUE {
            return;
        }
        match before {
            NIL => self.queues[queue as usize].head = after,
            before => self.chunks[before as usize].after = after,
        }
        match after {
            NIL => self.queues[queue as usize].tail = before,
            after => self.chunks[after as usize].before = before,
        }
    }

    /// Appends a chunk that is in no queue to one.
    fn put(&mut self, chunk: u32, queue: u32) {
        let before = std::mem::replace(&mut self.queues[queue as usize].tail, chunk);
        match before {
            NIL => self.queues[queue as usize].head = chunk,
            before => self.chunks[before as usize].after = chunk,
        }
        let entry = &mut self.chunks[chunk as usize];
        (entry.queue, entry.before, entry.after) = (queue, before, NIL);
    }

    /// Counts an access of a chunk by a request.
    fn access(&mut self, chunk: u32) {
        self.accesses += 1;
        let count = self.chunks[chunk as usize].count + 1;
        if count > self.most {
            self.hottest = chunk;
            self.most = count;
            self.lifetime = self.accesses - self.chunks[chunk as usize].accessed;
        }
        self.take(chunk);
        self.put(chunk, self.queue_of(count));
        let (accesses, expires) = (self.accesses, self.accesses + self.lifetime);
        let entry = &mut self.chunks[chunk as usize];
        (entry.count, entry.accessed, entry.expires) = (count, accesses, expires);
        if !self.artifact {
            self.demote();
        }
    }

    /// Demotes expired chunks at the head of each queue.
    fn demote(&mut self) {
        for queue in 0..self.queues.len() as u32 {
            let chunk = self.queues[queue as usize].head;
            if chunk == NIL || self.chunks[chunk as usize].expires >= self.accesses {
                continue;
            }
            self.chunks[chunk as usize].expires = self.accesses + self.lifetime;
            let next = self.chunks[chunk as usize].after;
            self.take(chunk);
            self.put(chunk, queue.saturating_sub(1));
            if queue > 0 {
                let most = (1 << queue) - 1;
                let count = &mut self.chunks[chunk as usize].count;
                *count = most.min(*count);
                self.demoted += 1;
            }
            if chunk == self.hottest && next != NIL {
                (self.hottest, self.most) = (next, self.chunks[next as usize].count);
            }
        }
    }
}

impl Separator for State {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        let begins = self.requests.write(page).begins;
        let chunk = page.lpn.0 >> self.shift;
        if begins || page.lpn.0 & ((1 << self.shift) - 1) == 0 {
            self.access(chunk);
        }
        StreamId(self.chunks[chunk as usize].queue)
    }

    #[inline(always)]
    fn move_stream(&self, _: &Moved) -> StreamId {
        StreamId(self.queues.len() as u32)
    }

    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        prefetch(&self.chunks, (lpn.0 >> self.shift) as usize);
    }

    fn memory_bytes(&self) -> u64 {
        self.chunks.len() as u64 * 40
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        vec![("lifetime_accesses", self.lifetime as f64), ("demoted_chunks", self.demoted as f64)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Hints, test_shape};
    use super::*;
    use floatgate_base::Rng;
    use floatgate_base::testing::Bound;

    /// Builds chunks of 4 pages.
    fn state(classes: u32, artifact: bool) -> State {
        State::new(&Params { classes, chunk_bytes: 16384, artifact }, &test_shape(64))
    }

    fn request(state: &mut State, lpn: u32, pages: u32) -> Vec<u32> {
        let hints = Hints { request_pages: pages, ..Hints::default() };
        let written = |i| Written { lpn: Lpn(lpn + i), update: true, hints, now: 0 };
        (0..pages).map(|i| state.write(&written(i)).0).collect()
    }

    fn queue(state: &State, queue: usize) -> Vec<u32> {
        let mut chunks = Vec::new();
        let mut chunk = state.queues[queue].head;
        let mut bound = Bound::new(100_000_000);
        while chunk != NIL {
            bound.step();
            chunks.push(chunk);
            let after = state.chunks[chunk as usize].after;
            let last = after == NIL;
            assert_eq!(
                if last { state.queues[queue].tail } else { state.chunks[after as usize].before },
                chunk
            );
            chunk = after;
        }
        chunks
    }

    #[test]
    fn queues_are_logarithms_of_requests() {
        let mut state = state(4, false);
        // Three queues: 1; 2 and 3; 4 and more.
        let queues: Vec<_> = (0..9).map(|_| request(&mut state, 1, 2)).collect();
        assert_eq!(queues.iter().map(|of| of[0]).collect::<Vec<_>>(), [0, 1, 1, 2, 2, 2, 2, 2, 2]);
        assert!(queues.iter().all(|of| of[0] == of[1]), "pages of a request");
        // A request over three chunks counts once in each.
        assert_eq!(request(&mut state, 3, 6), [2, 0, 0, 0, 0, 0]);
        // Chunk 0 had a lifetime of 1 access, and two have passed: it has sunk to the highest count of the queue below.
        assert_eq!((state.chunks[0].count, state.chunks[1].count, state.chunks[2].count), (3, 1, 1));
        assert_eq!((state.accesses, state.lifetime, state.demoted), (12, 1, 1));
        assert_eq!(state.move_stream(&Moved { lpn: Lpn(1), from: StreamId(0), now: 0 }), StreamId(3));
    }

    #[test]
    fn who_rests_for_longer_than_the_hottest_goes_down() {
        let mut state = state(4, false);
        (0..4).for_each(|_| _ = request(&mut state, 0, 1));
        // Chunk 0 has 4 accesses and a lifetime of 1; it expires at 5. Each further access checks the heads.
        assert_eq!((state.lifetime, state.chunks[0].expires, state.chunks[0].queue), (1, 5, 2));
        request(&mut state, 4, 1);
        assert_eq!(queue(&state, 2), [0]);
        request(&mut state, 8, 1);
        assert_eq!((queue(&state, 2), queue(&state, 1)), (vec![], vec![0]), "6 is past 5");
        assert_eq!((state.chunks[0].count, state.chunks[0].expires, state.demoted), (3, 7, 1));
        request(&mut state, 12, 1);
        request(&mut state, 16, 1);
        assert_eq!((queue(&state, 1), state.chunks[0].count, state.chunks[0].queue), (vec![], 1, 0));
        // It restarts from there, below the hottest count of 4, which stays: no chunk followed it in its queue.
        assert_eq!(request(&mut state, 0, 1), [1]);
        assert_eq!((state.hottest, state.most), (0, 4));
    }

    #[test]
    fn the_artifact_counts_for_ever() {
        let mut state = state(6, true);
        let queues: Vec<_> = (0..60).map(|_| request(&mut state, 0, 1)[0]).collect();
        let first = |queue| queues.iter().position(|&of| of == queue).unwrap() + 1;
        // The powers of e are 2.7, 7.4, 20.1 and 54.6.
        assert_eq!([1, 2, 3, 4].map(first), [3, 8, 21, 55]);
        (4..64).for_each(|lpn| _ = request(&mut state, lpn, 1));
        assert_eq!((request(&mut state, 0, 1), state.demoted), (vec![4], 0));
    }

    /// Every accessed chunk is in its queue exactly once, under random use.
    #[test]
    fn queues_hold_together() {
        for seed in 0..30 {
            let mut rng = Rng::new(seed, "multi-queue");
            let mut state = state(2 + rng.below(5) as u32, rng.below(2) == 0);
            for _ in 0..400 {
                let lpn = rng.below(64).min(rng.below(64)) as u32;
                let pages = (1 + rng.below(6) as u32).min(64 - lpn);
                let streams = request(&mut state, lpn, pages);
                assert!(streams.iter().all(|&of| of < state.queues.len() as u32), "seed {seed}");
            }
            let mut held: Vec<u32> = Vec::new();
            for (i, _) in state.queues.iter().enumerate() {
                let here = queue(&state, i);
                assert!(here.iter().all(|&c| state.chunks[c as usize].queue == i as u32), "seed {seed}");
                held.extend(here);
            }
            held.sort_unstable();
            let accessed = (0..16).filter(|&c| state.chunks[c as usize].count > 0);
            assert_eq!(held, accessed.collect::<Vec<u32>>(), "seed {seed}");
        }
    }
}
