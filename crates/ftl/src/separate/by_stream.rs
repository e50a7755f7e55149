//! Pages that leave a unit, sorted by the streams that they join; the order within a stream stays.

use super::StreamId;
use floatgate_base::{Owner, Ppn};

/// Parts of a unit that are counted and placed side by side, each with counters of its own. Most pages join the same
/// few streams, and repeated additions to one counter would each wait for the last.
const LANES: usize = 4;

/// Calls `each` with lane, number and stream of every page. Pages of a lane come in order, lanes one after the other.
#[inline(always)]
fn for_each_lane(streams: &[u16], mut each: impl FnMut(usize, usize, u16)) {
    let part = streams.len() / LANES;
    let lanes: [&[u16]; LANES] = std::array::from_fn(|lane| &streams[lane * part..][..part]);
    for i in 0..part {
        for (lane, streams) in lanes.iter().enumerate() {
            each(lane, lane * part + i, streams[i]);
        }
    }
    for (i, &stream) in streams.iter().enumerate().skip(LANES * part) {
        each(LANES - 1, i, stream);
    }
}

/// Pages of a unit by stream; reuses its memory for each unit.
#[derive(Clone, Debug, Default)]
pub struct ByStream {
    /// Stream of each page, in the order of the unit.
    streams: Vec<u16>,
    /// By stream and lane: first the number of pages, then where the next of them goes, finally where they end.
    ends: Vec<[u32; LANES]>,
    sorted: Vec<(Ppn, Owner)>,
}

impl ByStream {
    /// Returns the slots for the streams of `pages` pages.
    pub fn begin(&mut self, pages: usize) -> &mut [u16] {
        self.streams.resize(pages, 0);
        &mut self.streams
    }

    /// Sorts the pages by `streams` streams.
    pub fn sort(&mut self, streams: usize, pages: &[(Ppn, Owner)]) {
        self.ends.clear();
        self.ends.resize(streams, [0; LANES]);
        for_each_lane(&self.streams, |lane, _, stream| self.ends[usize::from(stream)][lane] += 1);
        let mut start = 0;
        for end in self.ends.as_flattened_mut() {
            start += std::mem::replace(end, start);
        }
        self.sorted.resize(pages.len(), (Ppn(0), Owner::default()));
        for_each_lane(&self.streams, |lane, page, stream| {
            let at = &mut self.ends[usize::from(stream)][lane];
            self.sorted[*at as usize] = pages[page];
            *at += 1;
        });
    }

    /// Yields each stream that has pages, with its pages.
    pub fn runs(&self) -> impl Iterator<Item = (StreamId, &[(Ppn, Owner)])> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|ends| ends[LANES - 1]));
        let ends = self.ends.iter().map(|ends| ends[LANES - 1]);
        let runs = (0..).map(StreamId).zip(starts.zip(ends));
        runs.filter(|(_, (start, end))| start < end)
            .map(|(stream, (start, end))| (stream, &self.sorted[start as usize..end as usize]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::{Lpn, Rng};

    /// A few pages by hand, then units of any size in sequence, with few streams and many.
    #[test]
    fn streams_lie_together_and_keep_their_order() {
        let mut by_stream = ByStream::default();
        let mut rng = Rng::new(1, "by stream");
        let mut units = vec![[2, 0, 2, 5, 0, 2].map(StreamId).to_vec(), vec![StreamId(1); 2], vec![]];
        units.extend((0..200).map(|_| {
            let (pages, streams) = (rng.below(600), 1 + rng.below(300));
            (0..pages).map(|_| StreamId(rng.below(streams) as u32)).collect()
        }));
        for streams in &units {
            let pages: Vec<(Ppn, Owner)> =
                (0..streams.len() as u32).map(|i| (Ppn(i), Owner::page(Lpn(1000 - i)))).collect();
            for (place, &stream) in by_stream.begin(pages.len()).iter_mut().zip(streams) {
                *place = stream.0 as u16;
            }
            by_stream.sort(300, &pages);
            let mut expected: Vec<(StreamId, Vec<(Ppn, Owner)>)> = Vec::new();
            for stream in StreamId::all(300) {
                let of: Vec<_> =
                    pages.iter().zip(streams).filter(|(_, s)| **s == stream).map(|(&page, _)| page).collect();
                if !of.is_empty() {
                    expected.push((stream, of));
                }
            }
            let ours: Vec<_> = by_stream.runs().map(|(stream, pages)| (stream, pages.to_vec())).collect();
            assert_eq!(ours, expected);
        }
    }
}
