//! SFR: sequentiality, frequency and recency of chunks of addresses.
//!
//! Each request adds one to the count of every chunk of 2 MiB that it touches. Before that the count fades by a half
//! per decay period since the last touch. The stream is the natural logarithm of the count, rounded down; a request
//! that begins where the preceding one ended joins its stream. Moved pages have the last stream to themselves. Source:
//! Yang, Pandurangan, Choi, Balakrishnan, SYSTOR 2017 (AutoStream), with chunk, logarithm, 16384 page writes of decay
//! period and the moved pages' stream as in the evaluation of Wang et al., FAST 2022. The age is in page writes and the
//! decay continuous; all pages of a request share a stream. `variant = "artifact"`: the public simulator of that
//! evaluation counts in whole numbers. A count is halved once per full period and rounded down, and the period restarts
//! with each request. The count of a chunk that is touched more than once per period thus never fades. A request that
//! does not follow the preceding one changes its stream when it enters the next chunk. Cost: one look-up, a power of
//! two per request and chunk. Memory: 16 bytes per chunk.

use super::requests::{RequestPosition, Requests};
use super::{ChosenPolicy, Moved, Separator, Shape, StreamId, Written, variant};
use floatgate_base::memory::table;
use floatgate_base::prefetch::prefetch;
use floatgate_base::{Lpn, ParamInfo, PolicyInfo};
use serde::{Deserialize, Serialize};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "sfr",
    summary: "sequentiality, frequency and recency of chunks of addresses (AutoStream)",
    source: "Yang et al., SYSTOR 2017",
    params: &[
        ParamInfo::whole("classes", "streams", 6, (2, 64)),
        ParamInfo::whole("chunk_bytes", "bytes per chunk", 1 << 21, (512, 1 << 31)),
        ParamInfo::whole(
            "decay_writes",
            "page writes in which a count fades to a half",
            16384,
            (1, u32::MAX),
        ),
        variant::PARAM,
    ],
    cost: "one look-up",
    memory: "16 bytes per chunk",
};

/// Parameters of SFR.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    classes: u32,
    chunk_bytes: u32,
    decay_writes: u32,
    artifact: bool,
}

impl Params {
    pub fn of(settings: &ChosenPolicy) -> Self {
        Self {
            classes: settings.whole("classes"),
            chunk_bytes: settings.whole("chunk_bytes"),
            decay_writes: settings.whole("decay_writes"),
            artifact: variant::is_artifact(settings),
        }
    }

    pub fn streams(self) -> u32 {
        self.classes
    }
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Chunk {
    count: f64,
    touched: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    chunks: Vec<Chunk>,
    /// Binary logarithm of the pages of a chunk.
    shift: u32,
    decay: f64,
    /// The stream of moved pages; host writes have those below.
    moved: StreamId,
    /// Whether counts are whole numbers, and requests change streams between chunks.
    artifact: bool,
    requests: Requests,
    /// Whether the present request follows the preceding one, and its stream.
    sequential: bool,
    stream: StreamId,
}

impl State {
    pub fn new(params: &Params, shape: &Shape) -> Self {
        let shift = (params.chunk_bytes / shape.page_bytes).max(1).ilog2();
        Self {
            chunks: table((shape.logical_pages as usize).div_ceil(1 << shift), Chunk::default()),
            shift,
            decay: f64::from(params.decay_writes),
            moved: StreamId(params.classes - 1),
            artifact: params.artifact,
            requests: Requests::new(),
            sequential: false,
            stream: StreamId(0),
        }
    }

    /// Counts a request in a chunk and returns the stream of the new count.
    fn touch(&mut self, lpn: Lpn, now: u64) -> StreamId {
        let chunk = &mut self.chunks[(lpn.0 >> self.shift) as usize];
        let mut periods = (now - chunk.touched) as f64 / self.decay;
        if self.artifact {
            periods = periods.floor();
        }
        let left = chunk.count * libm::exp2(-periods);
        *chunk = Chunk { count: if self.artifact { left.floor() } else { left } + 1.0, touched: now };
        StreamId((libm::log(chunk.count) as u32).min(self.moved.0 - 1))
    }
}

impl Separator for State {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        let RequestPosition { begins, follows } = self.requests.write(page);
        if begins {
            self.sequential = follows;
        }
        if begins || page.lpn.0 & ((1 << self.shift) - 1) == 0 {
            let stream = self.touch(page.lpn, page.now);
            // A request that follows the preceding one, and later pages of a request, keep the stream.
            let keeps = if self.artifact { self.sequential } else { follows };
            if !keeps {
                self.stream = stream;
            }
        }
        self.stream
    }

    #[inline(always)]
    fn move_stream(&self, _: &Moved) -> StreamId {
        self.moved
    }

    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        prefetch(&self.chunks, (lpn.0 >> self.shift) as usize);
    }

    fn memory_bytes(&self) -> u64 {
        self.chunks.len() as u64 * 16
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Hints, test_shape};
    use super::*;

    /// Builds chunks of 4 pages, counts halved after 8 writes, two host streams and that of moved pages.
    fn state(pages: u32) -> State {
        state_of(pages, false)
    }

    fn state_of(pages: u32, artifact: bool) -> State {
        let params = Params { classes: 3, chunk_bytes: 16384, decay_writes: 8, artifact };
        State::new(&params, &test_shape(pages))
    }

    fn request(state: &mut State, lpn: u32, pages: u32, now: u64) -> Vec<StreamId> {
        let hints = Hints { request_pages: pages, ..Hints::default() };
        (0..pages).map(|i| state.write(&Written { lpn: Lpn(lpn + i), update: true, hints, now })).collect()
    }

    #[test]
    fn chunks_are_judged_by_a_fading_count_of_requests() {
        let mut state = state(64);
        // 1, then 1/2 + 1, then 1.5 + 1, then 3.5 > e.
        assert_eq!(request(&mut state, 1, 1, 0), [0].map(StreamId));
        assert_eq!(request(&mut state, 3, 1, 8), [0].map(StreamId));
        assert_eq!(request(&mut state, 1, 1, 8), [0].map(StreamId));
        assert_eq!(request(&mut state, 3, 1, 8), [1].map(StreamId));
        assert_eq!(state.chunks[0].count, 3.5);
        assert_eq!(request(&mut state, 1, 1, 24), [0].map(StreamId), "3.5 / 4 + 1");
        assert_eq!(state.move_stream(&Moved { lpn: Lpn(1), from: StreamId(1), now: 0 }), StreamId(2));
    }

    #[test]
    fn what_follows_keeps_the_stream_and_counts_all_the_same() {
        let mut state = state(64);
        (0..2).for_each(|_| assert_eq!(request(&mut state, 0, 2, 0), [0, 0].map(StreamId)));
        // Three chunks, each counted once; the stream is that of the first, whose third request this is.
        assert_eq!(request(&mut state, 1, 9, 0), [1; 9].map(StreamId));
        assert_eq!(state.chunks[..4].iter().map(|c| c.count).collect::<Vec<_>>(), [3.0, 1.0, 1.0, 0.0]);
        // From page 10 on it continues where the last one ended.
        assert_eq!(request(&mut state, 10, 1, 0), [1].map(StreamId));
        assert_eq!(request(&mut state, 20, 1, 0), [0].map(StreamId));
        assert_eq!(state.chunks[2].count, 2.0);
    }

    #[test]
    fn the_artifact_counts_in_whole_numbers_and_periods() {
        let mut state = state_of(64, true);
        // Seven writes apart no period is ever complete: the count does not fade.
        (0..3).for_each(|i| _ = request(&mut state, 1, 1, 7 * i));
        assert_eq!(state.chunks[0].count, 3.0);
        // Two and a half periods: 3 / 4 rounds to 0.
        assert_eq!(request(&mut state, 1, 1, 34), [0].map(StreamId));
        assert_eq!(state.chunks[0].count, 1.0);
        // Chunk 1 was touched three times. A request that enters it from chunk 0 changes its stream there, unless it
        // follows the preceding one.
        (0..3).for_each(|_| _ = request(&mut state, 5, 1, 34));
        assert_eq!(request(&mut state, 3, 3, 34), [0, 1, 1].map(StreamId));
        assert_eq!(request(&mut state, 6, 3, 34), [1, 1, 1].map(StreamId));
        assert_eq!(state.chunks[2].count, 1.0);
    }
}
