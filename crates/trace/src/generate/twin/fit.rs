//! Fits a twin to a trace, in one pass.
//!
//! The fit measures the statistics of a twin. Operations, sizes, span and distinct pages are counted exactly. The rate
//! is kept in equal parts of the span, popularity as the share of the accesses to the most popular fifth of the
//! clusters. TRIMs are left out, and devices lie side by side. Properties that a twin cannot hold are listed in
//! [`Fit::assumed`] with the keys that replace them.

use super::laws::{Content, REQUEST_BYTES_MAX, Rate, Side, SizeLaw, Skew, Visits};
use super::loops::Loops;
use super::sets::Sets;
use super::statistics::{Twin, least_bytes};
use crate::source::Source;
use floatgate_base::{Error, Op, Place, RequestBatch, Result, TRACE_PAGE_BYTES};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

const PAGE: u64 = TRACE_PAGE_BYTES;
/// Parts of the span whose rates are kept.
const PARTS: usize = 168;
/// Sizes that are kept individually, the others by powers of two.
const SIZES_KEPT: usize = 48;
/// Clusters of pages whose popularity is counted.
const CLUSTER: u64 = 65_536;
/// Share of the clusters that is called hot.
const HOT: f64 = 0.2;
/// Keys of reads and of writes that replace properties not kept by a twin.
const STAND_INS: [(&str, &str); 7] = [
    ("writes.growth", GROWTH),
    ("writes.hot_share_of_pages", POPULARITY),
    ("writes.cluster_bytes", CLUSTERS),
    ("reads.growth", GROWTH),
    ("reads.hot_share_of_pages", POPULARITY),
    ("reads.cluster_bytes", CLUSTERS),
    ("reads.sequential_share", RUNS),
];
const GROWTH: &str = "one power of the requests instead of the course of first accesses; new pages lie in the order \
                      of their first access, so first accesses run on in the twin where they need not in the trace";
const POPULARITY: &str = "the busiest fifth has its share; which page follows which, and so the intervals of updates \
                          and the distances of reuse, are not kept";
const CLUSTERS: &str = "pages are counted in pieces of 64 KiB; neighbours farther off are not kept";
const RUNS: &str = "counted where the request just before ends; first accesses run on besides";

/// A twin and the properties that the trace did not determine.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The twin; its footprint has no holes.
    pub twin: Twin,
    /// Keys that do not come from the trace, with the reason.
    pub assumed: Vec<(&'static str, String)>,
    /// TRIMs left out.
    pub trims_left_out: u64,
}

/// Reads a source from its current position to its end, and fits a twin.
///
/// # Errors
/// Those of the source, and a source without a read or a write.
pub fn fit(source: &mut dyn Source, name: &str, path: &str) -> Result<Fit> {
    let mut counts = Counts::default();
    let mut batch = RequestBatch::with_capacity(RequestBatch::DEFAULT_LEN);
    loop {
        batch.clear();
        source.fill(&mut batch, RequestBatch::DEFAULT_LEN)?;
        if batch.is_empty() {
            break;
        }
        counts.add(&batch);
    }
    if counts.requests() == 0 {
        let expected = "expected at least one read or write";
        return Err(Error::input(
            Place::Path(path.into()),
            "the trace has neither reads nor writes to fit a twin to",
            expected,
        ));
    }
    counts.twin(name, source.format(), source.has_times())
}

/// State of 64 pages.
#[derive(Clone, Copy, Default)]
struct Pages {
    written: u64,
    /// Written and read.
    read_written: u64,
    /// Read but not yet written.
    read_only: u64,
}

/// Accesses to pages of one kind.
#[derive(Clone, Debug, Default)]
struct Kind {
    accesses: u64,
    distinct: u64,
    /// Distinct pages when the number of requests was a power of two.
    at_powers: Vec<u64>,
    /// Accesses to known pages by cluster.
    again: FxHashMap<u64, u32>,
}

/// Requests of one operation.
#[derive(Clone, Debug, Default)]
struct Requests {
    sizes: BTreeMap<u64, u64>,
    sequential: u64,
    aligned: u64,
}

/// Content of page writes.
#[derive(Debug, Default)]
struct Contents {
    known: u64,
    distinct: FxHashSet<u64>,
    compressed: u64,
    compressed_bytes: u64,
    incompressible: u64,
}

impl Contents {
    fn add(&mut self, batch: &RequestBatch, i: usize) {
        let content = &batch.content;
        if content.end.is_empty() {
            return;
        }
        for entry in content.range(i) {
            let (fingerprint, bytes) = (content.fingerprint[entry], content.compressed_bytes[entry]);
            if fingerprint != 0 {
                self.known += 1;
                self.distinct.insert(fingerprint);
            }
            self.compressed += u64::from(bytes != 0);
            self.compressed_bytes += u64::from(bytes);
            self.incompressible += u64::from(u64::from(bytes) >= PAGE);
        }
    }

    /// Returns the shares, and the assumptions about them.
    fn shares(&self) -> (Content, Option<&'static str>) {
        let duplicates = self.known - self.distinct.len() as u64;
        let compressed_share = match self.compressed {
            0 => 1.0,
            pages => self.compressed_bytes as f64 / (pages * PAGE) as f64,
        };
        let some_shrink = self.incompressible < self.compressed;
        let content = Content {
            duplicate_share: ratio(duplicates, self.known),
            compressed_share,
            incompressible_share: if some_shrink { ratio(self.incompressible, self.compressed) } else { 0.0 },
        };
        let assumed = match (self.known, self.compressed) {
            (0, 0) => Some("the trace has no content: assumed unique and incompressible"),
            (0, _) => Some("the trace has no fingerprints: assumed unique"),
            (_, 0) => Some("the trace has no compressed sizes: assumed incompressible"),
            _ => None,
        };
        (content, assumed)
    }
}

#[derive(Default)]
struct Counts {
    contents: Contents,
    pages: FxHashMap<u64, Pages>,
    /// Written, read of the written, only read.
    kinds: [Kind; 3],
    /// Reads, writes.
    sides: [Requests; 2],
    trims: u64,
    made: u64,
    seconds: BTreeMap<i64, u64>,
    short_gaps: ShortGaps,
    first_ns: Option<i64>,
    last_ns: i64,
    before: Option<(Op, u16, u64)>,
}

/// Gaps by powers of two of nanoseconds: the mean is known only at the end.
#[derive(Default)]
struct ShortGaps {
    before_ns: Option<i64>,
    by_power: BTreeMap<u32, u64>,
}

impl Counts {
    fn requests(&self) -> u64 {
        self.sides.iter().map(Requests::count).sum()
    }

    fn add(&mut self, batch: &RequestBatch) {
        for i in 0..batch.len() {
            let (op, device) = (batch.op[i], batch.device[i]);
            if op == Op::Write {
                self.contents.add(batch, i);
            }
            if op == Op::Trim {
                self.trims += 1;
                continue;
            }
            let (offset, bytes) = (batch.offset[i], batch.bytes[i].min(REQUEST_BYTES_MAX));
            self.time(batch.time_ns[i]);
            let side = &mut self.sides[op as usize];
            *side.sizes.entry(bytes).or_default() += 1;
            if self.before == Some((op, device, offset)) {
                side.sequential += 1;
            } else {
                side.aligned += u64::from(offset % PAGE == 0);
            }
            self.before = Some((op, device, offset + bytes));
            for page in offset / PAGE..=(offset + bytes - 1) / PAGE {
                self.page(op, device, page);
            }
            self.made += 1;
            if self.made.is_power_of_two() {
                self.kinds.iter_mut().for_each(|kind| kind.at_powers.push(kind.distinct));
            }
        }
    }

    fn time(&mut self, ns: i64) {
        let first = *self.first_ns.get_or_insert(ns);
        self.last_ns = self.last_ns.max(ns);
        *self.seconds.entry(ns.saturating_sub(first).max(0) / 1_000_000_000).or_default() += 1;
        let gaps = &mut self.short_gaps;
        if let Some(before) = gaps.before_ns {
            let gap = ns.saturating_sub(before).max(0) as u64;
            *gaps.by_power.entry(64 - gap.leading_zeros()).or_default() += 1;
        }
        gaps.before_ns = Some(ns);
    }

    fn page(&mut self, op: Op, device: u16, page: u64) {
        // Addresses end at 2^64 bytes, which leaves the upper bits of a page number for the device.
        let key = u64::from(device) << 46 ^ (page >> 6);
        let bit = 1u64 << (page & 63);
        let pages = self.pages.entry(key).or_default();
        if op == Op::Write && pages.written & bit == 0 && pages.read_only & bit != 0 {
            // The page was read before it was written. A twin reads written pages only after their first write. To keep
            // the footprint of the trace, the page's first read is moved there.
            pages.read_only &= !bit;
            pages.read_written |= bit;
            let [_, read_written, read_only] = &mut self.kinds;
            (read_only.accesses, read_only.distinct) = (read_only.accesses - 1, read_only.distinct - 1);
            (read_written.accesses, read_written.distinct) =
                (read_written.accesses + 1, read_written.distinct + 1);
        }
        let (kind, bits) = match op {
            Op::Write => (0, &mut pages.written),
            _ if pages.written & bit != 0 => (1, &mut pages.read_written),
            _ => (2, &mut pages.read_only),
        };
        let kind = &mut self.kinds[kind];
        kind.accesses += 1;
        if *bits & bit == 0 {
            *bits |= bit;
            kind.distinct += 1;
        } else {
            let cluster = u64::from(device) << 46 ^ (page / (CLUSTER / PAGE));
            let count = kind.again.entry(cluster).or_default();
            *count = count.saturating_add(1);
        }
    }

    fn twin(&self, name: &str, format: &str, has_times: bool) -> Result<Fit> {
        let requests = self.requests();
        let span_s = (self.last_ns as f64 - self.first_ns.unwrap_or(0) as f64) / 1e9;
        let timed = has_times && span_s > 0.0;
        let (content, no_content) = self.contents.shares();
        let mut assumed =
            vec![("footprint_bytes", "the distinct pages without the holes between them".to_owned())];
        assumed.extend(no_content.map(|why| ("content", why.to_owned())));
        if !timed {
            assumed.push(("duration_s", "the trace has no times: one millisecond per request".to_owned()));
        }
        assumed.extend(STAND_INS.map(|(key, why)| (key, why.to_owned())));
        for key in ["reads.aligned_share", "writes.aligned_share"] {
            assumed
                .push((key, "counted where requests begin; where they end follows from their sizes".into()));
        }
        if self.trims > 0 {
            assumed.push((
                "requests",
                format!("the trace's reads and writes; its {} TRIMs are left out", self.trims),
            ));
        }
        let [written, read_written, read_only] = &self.kinds;
        let page_reads = read_written.accesses + read_only.accesses;
        // Both kinds of reads share a law of popularity, that of the more frequent kind.
        let mostly = if read_written.accesses > read_only.accesses { read_written } else { read_only };
        let reads = |kind: &Kind| Visits { again_share: kind.again_share(), ..mostly.visits(self.made) };
        let mut twin = Twin {
            name: name.to_owned(),
            summary: format!("fitted to {requests} requests of a trace in format {format}"),
            duration_s: if timed { span_s } else { requests as f64 * 1e-3 },
            requests,
            read_share: self.sides[0].count() as f64 / requests as f64,
            reads: self.sides[0].side(),
            writes: self.sides[1].side(),
            rewrites: written.visits(self.made),
            loops: Loops::default(),
            sets: Sets::default(),
            reads_of_written_share: ratio(read_written.accesses, page_reads),
            rereads_of_written: reads(read_written),
            rereads: reads(read_only),
            rate: self.rate(timed, span_s),
            footprint_bytes: u64::MAX,
            content,
        };
        twin.footprint_bytes = least_bytes(&twin)?;
        Ok(Fit { twin, assumed, trims_left_out: self.trims })
    }

    fn rate(&self, timed: bool, span_s: f64) -> Rate {
        let mut profile = Vec::new();
        if timed && span_s >= PARTS as f64 {
            profile = vec![0.0; PARTS];
            for (&second, &count) in &self.seconds {
                let part = ((second as f64 + 0.5) / span_s * PARTS as f64) as usize;
                profile[part.min(PARTS - 1)] += count as f64;
            }
        }
        // Requests within a hundredth of the mean gap count as simultaneous; by chance one in a hundred is.
        let by_power = &self.short_gaps.by_power;
        let gaps: u64 = by_power.values().sum();
        let limit = span_s * 1e9 / gaps.max(1) as f64 / 100.0;
        let is_short = |power: u32| power < 63 && (1u64 << power) as f64 <= limit;
        let short: u64 = by_power.iter().filter(|(power, _)| is_short(**power)).map(|(_, n)| n).sum();
        let share = ratio(short, gaps);
        let burst_requests = if share < 0.05 { 1.0 } else { 1.0 / (1.0 - share).max(1e-3) };
        Rate {
            daily_swing: 0.0,
            peak_hour: 0.0,
            profile,
            noise: 0.0,
            noise_window_s: (span_s / PARTS as f64).max(1e-3),
            burst_requests,
        }
    }
}

fn ratio(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

impl Requests {
    fn count(&self) -> u64 {
        self.sizes.values().sum()
    }

    fn side(&self) -> Side {
        let count = self.count();
        if count == 0 {
            let sizes = SizeLaw::List { sizes: vec![(PAGE, 1.0)], mean_bytes: None };
            return Side { sizes, sequential_share: 0.0, aligned_share: 1.0, recurring_share: 0.0 };
        }
        Side {
            recurring_share: 0.0,
            sizes: self.law(count),
            sequential_share: ratio(self.sequential, count).min(0.999),
            aligned_share: if self.sequential == count {
                1.0
            } else {
                ratio(self.aligned, count - self.sequential)
            },
        }
    }

    /// Returns the most frequent sizes unchanged, the others by powers of two with their mean; the mean of all is
    /// exact.
    fn law(&self, count: u64) -> SizeLaw {
        let mut by_count: Vec<(u64, u64)> = self.sizes.iter().map(|(&bytes, &n)| (bytes, n)).collect();
        by_count.sort_by_key(|&(bytes, n)| (std::cmp::Reverse(n), bytes));
        let rest = by_count.split_off(by_count.len().min(SIZES_KEPT));
        let mut groups = BTreeMap::<u32, (u64, u64)>::new();
        for (bytes, n) in rest {
            let group = groups.entry(bytes.ilog2()).or_default();
            *group = (group.0 + bytes * n, group.1 + n);
        }
        let mean_of = |(sum, n): (u64, u64)| ((sum as f64 / n as f64 / 512.0).round() as u64 * 512).max(512);
        let grouped: Vec<(u64, u64)> = groups.into_values().map(|group| (mean_of(group), group.1)).collect();
        let mut all = BTreeMap::<u64, u64>::new();
        by_count.into_iter().chain(grouped).for_each(|(bytes, n)| *all.entry(bytes).or_default() += n);
        let sizes: Vec<(u64, f64)> = all.into_iter().map(|(b, n)| (b, n as f64 / count as f64)).collect();
        let sum: u64 = self.sizes.iter().map(|(bytes, n)| bytes * n).sum();
        let mean_bytes = (sizes.len() > 1).then_some(sum as f64 / count as f64);
        SizeLaw::List { sizes, mean_bytes }
    }
}

impl Kind {
    fn again_share(&self) -> f64 {
        1.0 - self.distinct as f64 / self.accesses.max(1) as f64
    }

    fn visits(&self, requests: u64) -> Visits {
        let mut counts: Vec<u32> = self.again.values().copied().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let hot = ((counts.len() as f64 * HOT).round() as usize).max(1).min(counts.len());
        let all: u64 = counts.iter().map(|&n| u64::from(n)).sum();
        let top: u64 = counts[..hot].iter().map(|&n| u64::from(n)).sum();
        let accesses = if all == 0 { HOT } else { ratio(top, all) };
        Visits {
            again_share: self.again_share(),
            growth: self.growth(requests),
            skew: Skew::HotCold { pages: HOT, accesses },
            cluster_bytes: CLUSTER,
        }
    }

    /// Estimates the growth from the distinct pages at the last power of two of requests, or the one before if none are
    /// left after it.
    fn growth(&self, requests: u64) -> f64 {
        let powers = (0..self.at_powers.len()).rev().find(|&p| (1u64 << p) * 4 <= requests * 3);
        let Some(power) = powers.filter(|&p| self.at_powers[p] > 0 && self.distinct > self.at_powers[p])
        else {
            return 1.0;
        };
        let grown = libm::log(self.distinct as f64 / self.at_powers[power] as f64);
        (grown / libm::log(requests as f64 / (1u64 << power) as f64)).clamp(0.05, 1.0)
    }
}
