//! A trace that is read once and then served from memory: parsing takes most of the time of a pass over a short trace.
//!
//! Only whole passes of small traces are kept. Several sources of one trace may share the result of one of them.

use crate::open::open;
use crate::options::OpenOptions;
use crate::source::{Context, Source, Summary};
use floatgate_base::{OptionalColumns, RequestBatch, Result};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Most bytes of a trace's requests.
const BYTES_MAX: usize = 256 << 20;

/// The shared place of a trace's requests; by default none. Copies share the place.
#[derive(Clone, Default)]
pub struct Keep(Option<Arc<OnceLock<Trace>>>);

/// All plans that share a trace look alike, wherever it is kept.
impl fmt::Debug for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keep")
    }
}

impl Keep {
    /// Creates a place for one trace.
    #[must_use]
    pub fn place() -> Self {
        Self(Some(Arc::default()))
    }

    /// Returns the same place, or a new one for none.
    #[must_use]
    pub fn or_place(&self) -> Self {
        if self.0.is_some() { self.clone() } else { Self::place() }
    }

    /// Opens a trace as [`open`] does, always with the same arguments. A source that cannot be read twice, such as a
    /// pipe, is not kept.
    ///
    /// # Errors
    /// As for [`open`].
    pub fn open(&self, path: &str, options: &OpenOptions) -> Result<Box<dyn Source>> {
        self.open_within(BYTES_MAX, path, options)
    }

    fn open_within(&self, bytes_max: usize, path: &str, options: &OpenOptions) -> Result<Box<dyn Source>> {
        let Some(place) = self.0.as_ref().filter(|_| Path::new(path).is_file()) else {
            return open(path, options);
        };
        let reads = match place.get() {
            Some(_) => Reads::Memory { next: 0, ended: false },
            None => Reads::Trace { inner: open(path, options)?, so_far: Some(Box::default()) },
        };
        let (place, path, options) = (place.clone(), path.into(), *options);
        Ok(Box::new(Kept { place, path, options, bytes_max, whole: false, reads }))
    }
}

/// A trace in memory.
struct Trace {
    requests: RequestBatch,
    devices: Vec<String>,
    contexts: Vec<Context>,
    /// At the end of a pass.
    summary: Summary,
    assumed: Vec<String>,
    format: &'static str,
    has_times: bool,
    columns: OptionalColumns,
}

impl Trace {
    fn of(inner: &dyn Source, requests: RequestBatch) -> Self {
        Self {
            requests,
            devices: inner.devices().to_vec(),
            contexts: inner.contexts().to_vec(),
            summary: inner.summary(),
            assumed: inner.assumed(),
            format: inner.format(),
            has_times: inner.has_times(),
            columns: inner.columns(),
        }
    }
}

/// Origin of the requests.
enum Reads {
    Trace {
        inner: Box<dyn Source>,
        /// The requests of this pass, unless they are too many.
        so_far: Option<Box<RequestBatch>>,
    },
    Memory {
        next: usize,
        /// Whether the end of the pass was reached.
        ended: bool,
    },
}

/// A trace, or its copy in memory.
struct Kept {
    place: Arc<OnceLock<Trace>>,
    path: String,
    options: OpenOptions,
    bytes_max: usize,
    /// Whether this source has reached the end of a pass: from then on a summary has the hash of the content.
    whole: bool,
    reads: Reads,
}

impl Kept {
    /// Returns the trace in memory.
    fn trace(&self) -> &Trace {
        self.place.get().expect("requests come from memory")
    }

    /// Returns a source that has read so many requests; none if the trace can no longer be read.
    fn read_anew(&self, requests: u64) -> Option<Box<dyn Source>> {
        let mut source = open(&self.path, &self.options).ok()?;
        let (mut batch, mut left) = (RequestBatch::default(), requests);
        while left > 0 {
            batch.clear();
            source.fill(&mut batch, left.min(RequestBatch::DEFAULT_LEN as u64) as usize).ok()?;
            left -= batch.len() as u64;
            if batch.is_empty() {
                break;
            }
        }
        Some(source)
    }
}

impl Source for Kept {
    fn fill(&mut self, batch: &mut RequestBatch, max: usize) -> Result<()> {
        match &mut self.reads {
            Reads::Memory { next, ended } => {
                let requests = &self.place.get().expect("requests come from memory").requests;
                let end = next.saturating_add(max).min(requests.len());
                batch.extend_of(requests, *next..end);
                (*next, *ended) = (end, end - *next < max);
                self.whole |= *ended;
            }
            Reads::Trace { inner, so_far } => {
                let before = batch.len();
                inner.fill(batch, max)?;
                if let Some(requests) = so_far {
                    requests.extend_of(batch, before..batch.len());
                    if requests.bytes_in_memory() > self.bytes_max {
                        *so_far = None;
                    }
                }
                if batch.len() - before < max {
                    self.whole = true;
                    // Another source of the same trace may have been faster.
                    if let Some(requests) = so_far.take() {
                        self.place.get_or_init(|| Trace::of(inner.as_ref(), *requests));
                    }
                }
            }
        }
        Ok(())
    }

    fn rewind(&mut self) -> Result<()> {
        match &mut self.reads {
            _ if self.place.get().is_some() => self.reads = Reads::Memory { next: 0, ended: false },
            Reads::Memory { .. } => unreachable!("what is kept stays"),
            Reads::Trace { inner, so_far } => {
                inner.rewind()?;
                // A trace that is too long will be too long again.
                so_far.iter_mut().for_each(|requests| requests.clear());
            }
        }
        Ok(())
    }

    fn format(&self) -> &'static str {
        match &self.reads {
            Reads::Trace { inner, .. } => inner.format(),
            Reads::Memory { .. } => self.trace().format,
        }
    }

    fn devices(&self) -> &[String] {
        match &self.reads {
            Reads::Trace { inner, .. } => inner.devices(),
            Reads::Memory { .. } => &self.trace().devices,
        }
    }

    fn summary(&self) -> Summary {
        match &self.reads {
            Reads::Trace { inner, .. } => inner.summary(),
            Reads::Memory { ended: true, .. } => self.trace().summary.clone(),
            // Summaries in the middle of a pass are rare.
            Reads::Memory { next, ended: false } => match self.read_anew(*next as u64) {
                Some(source) => {
                    let mut summary = source.summary();
                    if self.whole {
                        summary.content_hash.clone_from(&self.trace().summary.content_hash);
                    }
                    summary
                }
                None => self.trace().summary.clone(),
            },
        }
    }

    fn place_of(&self, index: u64) -> String {
        match &self.reads {
            Reads::Trace { inner, .. } => inner.place_of(index),
            // Needed only for an error message, where time does not matter.
            Reads::Memory { .. } => match self.read_anew(index + 1) {
                Some(source) => source.place_of(index),
                None => format!("{} (request {index})", self.path),
            },
        }
    }

    fn has_times(&self) -> bool {
        match &self.reads {
            Reads::Trace { inner, .. } => inner.has_times(),
            Reads::Memory { .. } => self.trace().has_times,
        }
    }

    fn assumed(&self) -> Vec<String> {
        match &self.reads {
            Reads::Trace { inner, .. } => inner.assumed(),
            Reads::Memory { .. } => self.trace().assumed.clone(),
        }
    }

    fn columns(&self) -> OptionalColumns {
        match &self.reads {
            Reads::Trace { inner, .. } => inner.columns(),
            Reads::Memory { .. } => self.trace().columns,
        }
    }

    fn contexts(&self) -> &[Context] {
        match &self.reads {
            Reads::Trace { inner, .. } => inner.contexts(),
            Reads::Memory { .. } => &self.trace().contexts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FORMATS;
    use crate::formats::samples::{SAMPLES, binary_samples};
    use floatgate_base::testing::Bound;
    use floatgate_input::CHUNK;
    use std::io::Write;

    /// A trace with a bad line that is skipped, of two devices, whose stamps decrease once.
    const LINES: &str = "128166372003061629,a,0,Write,0,4096,1\nbad\n128166372003061729,a,1,Read,4096,512,1\n\
                         128166372003061719,a,1,Write,8192,8192,1\n128166372003161719,a,0,Write,0,512,1\n";

    fn file(name: &str, content: &[u8]) -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::File::create(&path).unwrap().write_all(content).unwrap();
        let path = path.to_str().unwrap().to_owned();
        (folder, path)
    }

    fn options() -> OpenOptions {
        OpenOptions { on_bad_line: crate::OnBadLine::Skip, ..OpenOptions::default() }
    }

    /// Records everything that a source returns in two passes, in batches of `max`, and at the beginning of a third.
    fn observe(source: &mut dyn Source, max: usize) -> Vec<String> {
        let mut log = vec![];
        let mut batch = RequestBatch::default();
        for pass in 0..3 {
            let (mut read, mut bound) = (0, Bound::new(100_000));
            loop {
                bound.step();
                batch.clear();
                source.fill(&mut batch, max).unwrap();
                read += batch.len() as u64;
                let places = [read - batch.len() as u64, read - u64::from(!batch.is_empty())];
                let places = places.map(|index| source.place_of(index));
                log.push(format!("{batch:?} {places:?} {:?}", source.summary()));
                log.push(format!("{} {:?} {:?}", source.format(), source.columns(), source.assumed()));
                log.push(format!("{} {:?}", source.has_times(), source.contexts()));
                if batch.is_empty() || pass == 2 {
                    break;
                }
            }
            log.push(format!("{:?} {}", source.devices(), source.place_of(0)));
            source.rewind().unwrap();
        }
        log
    }

    /// Compares two sources and reports the first difference.
    fn same(actual: &[String], expected: &[String], what: &str) {
        for (i, (actual, expected)) in actual.iter().zip(expected).enumerate() {
            assert_eq!(actual, expected, "{what}: {i}");
        }
        assert_eq!(actual.len(), expected.len(), "{what}");
    }

    #[test]
    fn what_is_kept_is_what_the_trace_says() {
        let samples = SAMPLES.iter().map(|&(name, lines)| (name, lines.as_bytes().to_vec()));
        let samples = samples.chain(binary_samples()).chain([("msr", LINES.as_bytes().to_vec())]);
        // Longer than the bytes read ahead.
        let samples = samples.chain([("msr", LINES.repeat(3 * CHUNK / LINES.len()).into_bytes())]);
        for (name, content) in samples {
            let (_folder, path) = &file("trace", &content);
            let format = FORMATS.iter().find(|format| format.name == name);
            let options = || OpenOptions { format, ..options() };
            for max in [1, 3, 4, RequestBatch::DEFAULT_LEN] {
                if content.len() > CHUNK && max < RequestBatch::DEFAULT_LEN {
                    continue;
                }
                let mut plain = open(path, &options()).unwrap();
                let expected = observe(plain.as_mut(), max);
                let place = Keep::place();
                let mut first = place.open(path, &options()).unwrap();
                same(&observe(first.as_mut(), max), &expected, &format!("{name} by {max}"));
                assert!(place.0.as_ref().unwrap().get().is_some(), "{path}");
                // From memory after the first pass; devices are then known from the beginning.
                let mut second = place.open(path, &options()).unwrap();
                same(&observe(second.as_mut(), max), &expected, &format!("{name} by {max} again"));
            }
        }
    }

    #[test]
    fn what_is_too_long_or_broken_off_is_not_kept() {
        let (_folder, path) = file("backwards.csv", LINES.as_bytes());
        let place = Keep::place();
        let expected = observe(open(&path, &options()).unwrap().as_mut(), 2);
        let mut source = place.open_within(60, &path, &options()).unwrap();
        same(&observe(source.as_mut(), 2), &expected, "too long");
        let mut source = place.open(&path, &options()).unwrap();
        source.fill(&mut RequestBatch::default(), 2).unwrap();
        source.rewind().unwrap();
        assert!(place.0.as_ref().unwrap().get().is_none());
        same(&observe(source.as_mut(), 2), &expected, "broken off");
        assert!(place.0.as_ref().unwrap().get().is_some());
    }

    /// A trace that is deleted after it was read is still available.
    #[test]
    fn the_file_is_read_once() {
        let (folder, path) = file("backwards.csv", LINES.as_bytes());
        let mut source = Keep::place().open(&path, &options()).unwrap();
        let mut all = [RequestBatch::default(), RequestBatch::default()];
        for batch in &mut all {
            source.fill(batch, 100).unwrap();
            drop(std::fs::remove_file(folder.path().join("backwards.csv")));
            source.rewind().unwrap();
        }
        assert_eq!(format!("{:?}", all[0]), format!("{:?}", all[1]));
        assert_eq!(all[0].len(), 4);
        assert_eq!(source.place_of(1), format!("{path} (request 1)"));
    }
}
