//! Twins as TOML: the catalogue `configs/twins/*.toml`, compiled in, and files of users.
//!
//! Every figure of a twin stands by name in its table `[source]`, with the place in the paper, or in `[assumed]`, with
//! the reason. A name may be a whole table, such as `rate`; the longest name that fits a figure counts.

use crate::tables::listing;
use crate::toml_errors::{Origin, refusal};
use floatgate_base::error::quote;
use floatgate_base::names::remedy;
use floatgate_base::{Error, Place, Result};
use floatgate_trace::generate::Twin;
use floatgate_trace::generate::twin::{Content, Fit, Loops, Rate, Side, SizeLaw, Skew, Visits};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Read;
use toml::{Table, Value};

/// A twin of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct TwinPreset {
    /// Name, as in `workload.twin`.
    pub name: &'static str,
    /// Its TOML; the first line, a comment, is its summary.
    pub toml: &'static str,
}

macro_rules! twins {
    ($($name:literal),* $(,)?) => {
        &[$(TwinPreset { name: $name, toml: include_str!(concat!("../../../../configs/twins/", $name, ".toml")) },)*]
    };
}

/// All twins, by paper.
pub const TWINS: &[TwinPreset] = twins![
    "proxy",
    "proj",
    "exchange",
    "map",
    "msnfs",
    "proj_0",
    "pc-server-1",
    "pc-server-2",
    "pc-server-3",
    "wksn",
    "media",
    "dvmt",
    "ads",
    "mds",
    "tpc-h",
    "websearch",
    "multi",
    "tpc-e",
    "tatp",
    "financial1",
    "financial2",
];

impl TwinPreset {
    /// Finds a twin by name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        TWINS.iter().find(|preset| preset.name == name)
    }

    /// Returns what the twin imitates.
    #[must_use]
    pub fn summary(&self) -> &'static str {
        self.toml.lines().next().unwrap_or("").trim_start_matches('#').trim()
    }
}

/// A twin as a file holds it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TwinFile {
    /// From the first to the last request.
    pub duration_s: f64,
    /// Requests; or one of the next two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// GiB (2^30 bytes) written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written_gib: Option<f64>,
    /// GiB (2^30 bytes) written in an hour, on average.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written_gib_per_hour: Option<f64>,
    /// Share of the requests that reads.
    pub read_share: f64,
    /// Mean of all requests, where it is known for no operation by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_request_bytes: Option<f64>,
    /// Size of the address space.
    pub footprint_bytes: u64,
    /// How writes look.
    #[serde(default)]
    pub writes: SideFile,
    /// How reads look.
    #[serde(default)]
    pub reads: SideFile,
    /// Places that are written together.
    #[serde(default, skip_serializing_if = "SetsFile::is_none")]
    pub sets: SetsFile,
    /// When requests come.
    #[serde(default)]
    pub rate: RateFile,
    /// What is written.
    #[serde(default)]
    pub content: ContentFile,
    /// Figures from the paper or the trace, with the place.
    #[serde(default)]
    pub source: BTreeMap<String, String>,
    /// Figures that are assumed, with the reason.
    #[serde(default)]
    pub assumed: BTreeMap<String, String>,
}

/// Requests of one operation.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SideFile {
    /// Mean size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_bytes: Option<f64>,
    /// Sizes with their weights; or a lognormal law by the next four.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<(u64, f64)>,
    /// Standard deviation of the logarithm of the size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sigma: Option<f64>,
    /// Smallest size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_bytes: Option<u64>,
    /// Largest size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
    /// Sizes are multiples of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_bytes: Option<u64>,
    /// Share that begins where the request before ended.
    pub sequential_share: f64,
    /// Share of the others that begins at a multiple of 4 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aligned_share: Option<f64>,
    /// Share of the requests to known pages that are made once more as they were when their pages were new; those that run on
    /// from them have sizes that go by the place.
    #[serde(skip_serializing_if = "is_zero")]
    pub recurring_share: f64,
    /// reads: loops, as pairs of the bytes that one goes over and the share of the reads that do so. All keys that
    /// follow are of the other reads, and so is sequential_share.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub loops: Vec<(u64, f64)>,
    /// reads: pages of a loop lie in clusters of varied length, each in a space of so many bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loop_cluster_bytes: Option<u64>,
    /// 1 - distinct / all page accesses; of reads: of pages that are never written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again_share: Option<f64>,
    /// reads: share that goes to pages written before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written_share: Option<f64>,
    /// reads: 1 - distinct / all page accesses, of written pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again_share_of_written: Option<f64>,
    /// Distinct pages grow with this power of the requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<f64>,
    /// Exponent of popularity; or the next two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zipf_theta: Option<f64>,
    /// Share of the pages that is hot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot_share_of_pages: Option<f64>,
    /// Share of the accesses to known pages that goes there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot_share_of_accesses: Option<f64>,
    /// Pages of equal popularity lie in runs of this length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_bytes: Option<u64>,
}

/// When requests come.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RateFile {
    /// Daily swing as a share of the mean rate.
    pub daily_swing: f64,
    /// Hour of the largest rate.
    pub peak_hour: f64,
    /// Relative rates of equal parts of the span, in place of the swing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub profile: Vec<f64>,
    /// Standard deviation of the logarithm of the rate between windows.
    pub noise: f64,
    /// Length of a window.
    pub noise_window_s: f64,
    /// Requests that come at once, on average.
    pub burst_requests: f64,
}

impl Default for RateFile {
    fn default() -> Self {
        Self {
            daily_swing: 0.0,
            peak_hour: 0.0,
            profile: vec![],
            noise: 0.0,
            noise_window_s: 600.0,
            burst_requests: 1.0,
        }
    }
}

/// What is written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ContentFile {
    /// Share of the page writes that duplicate stored ones.
    pub duplicate_share: f64,
    /// Compressed size / size, incompressible pages included.
    pub compressed_share: f64,
    /// Share of new content that cannot be compressed at all.
    #[serde(skip_serializing_if = "is_zero")]
    pub incompressible_share: f64,
}

fn is_zero(share: &f64) -> bool {
    *share == 0.0
}

impl Default for ContentFile {
    fn default() -> Self {
        Self { duplicate_share: 0.0, compressed_share: 1.0, incompressible_share: 0.0 }
    }
}

/// Space of a cluster of a loop where the twin does not say it.
const LOOP_CLUSTER_BYTES: u64 = 1 << 20;
/// Most bytes of a twin in a file.
const BYTES_MAX: u64 = 16 << 20;
const GIB: f64 = (1u64 << 30) as f64;

impl TwinFile {
    /// Converts the file to a twin, checked.
    fn twin(&self, name: &str, summary: &str) -> Result<Twin> {
        let means = self.means()?;
        let mut twin = Twin {
            name: name.to_owned(),
            summary: summary.to_owned(),
            duration_s: self.duration_s,
            requests: 1,
            read_share: self.read_share,
            reads: self.reads.side(means[0], "reads")?,
            writes: self.writes.side(means[1], "writes")?,
            rewrites: self.writes.visits(self.writes.again_share, "writes")?,
            loops: self.loops()?,
            sets: self.sets.sets(),
            reads_of_written_share: self.reads.written_share.unwrap_or(0.0),
            rereads_of_written: self.reads.visits(self.reads.again_share_of_written, "reads")?,
            rereads: self.reads.visits(self.reads.again_share, "reads")?,
            rate: Rate {
                daily_swing: self.rate.daily_swing,
                peak_hour: self.rate.peak_hour,
                profile: self.rate.profile.clone(),
                noise: self.rate.noise,
                noise_window_s: self.rate.noise_window_s,
                burst_requests: self.rate.burst_requests,
            },
            footprint_bytes: self.footprint_bytes,
            content: Content {
                duplicate_share: self.content.duplicate_share,
                compressed_share: self.content.compressed_share,
                incompressible_share: self.content.incompressible_share,
            },
        };
        twin.requests = self.number_of_requests(&twin)?;
        twin.validate()?;
        Ok(twin)
    }

    /// Returns the loops of the reads; writes have none.
    fn loops(&self) -> Result<Loops> {
        let (reads, writes) = (&self.reads, &self.writes);
        if !writes.loops.is_empty() || writes.loop_cluster_bytes.is_some() {
            let key = if writes.loops.is_empty() { "writes.loop_cluster_bytes" } else { "writes.loops" };
            return Err(wrong(key, "writes have no loops", "expected it under [reads]"));
        }
        if reads.loops.is_empty() && reads.loop_cluster_bytes.is_some() {
            let what = "loop_cluster_bytes has no effect without loops";
            return Err(wrong("reads.loop_cluster_bytes", what, "expected reads.loops too"));
        }
        let cluster_bytes = reads.loop_cluster_bytes.unwrap_or(LOOP_CLUSTER_BYTES);
        Ok(match reads.loops.is_empty() {
            true => Loops::default(),
            false => Loops { sets: reads.loops.clone(), cluster_bytes },
        })
    }

    /// Returns the mean sizes of reads and writes: their own, or derived from the mean of all.
    fn means(&self) -> Result<[Option<f64>; 2]> {
        let (reads, writes) = (self.reads.mean_bytes, self.writes.mean_bytes);
        let Some(all) = self.mean_request_bytes else { return Ok([reads, writes]) };
        let share = self.read_share;
        let rest = |known: f64, part: f64| (all - known * part) / (1.0 - part);
        Ok(match (reads, writes) {
            (None, None) => [Some(all), Some(all)],
            (Some(reads), None) => [Some(reads), Some(rest(reads, share))],
            (None, Some(writes)) => [Some(rest(writes, 1.0 - share)), Some(writes)],
            (Some(_), Some(_)) => {
                let what = "the mean of all beside those of reads and of writes";
                return Err(wrong("mean_request_bytes", what, "expected two of the three"));
            }
        })
    }

    fn number_of_requests(&self, twin: &Twin) -> Result<u64> {
        let per_hour = self.written_gib_per_hour.map(|rate| rate * self.duration_s / 3600.0);
        let gib = match (self.requests, self.written_gib, per_hour) {
            (Some(requests), None, None) => return Ok(requests),
            (None, Some(gib), None) | (None, None, Some(gib)) => gib,
            _ => {
                let what = "one of requests, written_gib and written_gib_per_hour is wanted";
                return Err(wrong("requests", what, "expected just one of them"));
            }
        };
        let of_one = (1.0 - self.read_share) * twin.mean_write_bytes();
        let requests = gib * GIB / of_one;
        if requests.is_finite() && (1.0..1e15).contains(&requests) {
            return Ok(requests.round() as u64);
        }
        let what = format!("{gib} GiB in writes of {of_one} bytes per request");
        Err(wrong("written_gib", what, "expected a volume above 0, and writes"))
    }
}

impl SideFile {
    fn side(&self, mean: Option<f64>, key: &str) -> Result<Side> {
        let lognormal = [self.min_bytes, self.max_bytes, self.step_bytes];
        let sizes = match self.sigma {
            Some(sigma) if self.sizes.is_empty() => {
                let ([Some(min_bytes), Some(max_bytes), Some(step_bytes)], Some(mean_bytes)) =
                    (lognormal, mean)
                else {
                    let expected = "expected mean_bytes, sigma, min_bytes, max_bytes and step_bytes";
                    return Err(wrong(&format!("{key}.sigma"), "a lognormal law lacks parameters", expected));
                };
                SizeLaw::Lognormal { mean_bytes, sigma, min_bytes, max_bytes, step_bytes }
            }
            None if lognormal == [None; 3] => {
                let sizes = if self.sizes.is_empty() { vec![(4096, 1.0)] } else { self.sizes.clone() };
                SizeLaw::List { sizes, mean_bytes: mean }
            }
            _ => {
                let expected = "expected sizes, or sigma, min_bytes, max_bytes and step_bytes";
                return Err(wrong(&format!("{key}.sizes"), "a list of sizes and a lognormal law", expected));
            }
        };
        Ok(Side {
            sizes,
            sequential_share: self.sequential_share,
            aligned_share: self.aligned_share.unwrap_or(1.0),
            recurring_share: self.recurring_share,
        })
    }

    fn visits(&self, again: Option<f64>, key: &str) -> Result<Visits> {
        let skew = match (self.zipf_theta, self.hot_share_of_pages, self.hot_share_of_accesses) {
            (theta, None, None) => Skew::Zipf(theta.unwrap_or(0.0)),
            (None, Some(pages), Some(accesses)) => Skew::HotCold { pages, accesses },
            _ => {
                let expected = "expected zipf_theta, or hot_share_of_pages and hot_share_of_accesses";
                return Err(wrong(
                    &format!("{key}.zipf_theta"),
                    "two laws of popularity, or half a one",
                    expected,
                ));
            }
        };
        Ok(Visits {
            again_share: again.unwrap_or(0.0),
            growth: self.growth.unwrap_or(1.0),
            skew,
            cluster_bytes: self.cluster_bytes.unwrap_or(65_536),
        })
    }

    fn of(side: &Side, visits: &Visits) -> Self {
        let (sizes, mean_bytes) = match &side.sizes {
            SizeLaw::List { sizes, mean_bytes } => (sizes.clone(), *mean_bytes),
            SizeLaw::Lognormal { mean_bytes, .. } => (vec![], Some(*mean_bytes)),
        };
        let mut file = Self {
            mean_bytes,
            sizes,
            sequential_share: side.sequential_share,
            aligned_share: Some(side.aligned_share),
            recurring_share: side.recurring_share,
            again_share: Some(visits.again_share),
            growth: Some(visits.growth),
            cluster_bytes: Some(visits.cluster_bytes),
            ..Self::default()
        };
        if let SizeLaw::Lognormal { sigma, min_bytes, max_bytes, step_bytes, .. } = side.sizes {
            (file.sigma, file.min_bytes) = (Some(sigma), Some(min_bytes));
            (file.max_bytes, file.step_bytes) = (Some(max_bytes), Some(step_bytes));
        }
        match visits.skew {
            Skew::Zipf(theta) => file.zipf_theta = Some(theta),
            Skew::HotCold { pages, accesses } => {
                (file.hot_share_of_pages, file.hot_share_of_accesses) = (Some(pages), Some(accesses));
            }
        }
        file
    }
}

fn wrong(key: &str, what: impl Into<String>, expected: impl Into<String>) -> Box<Error> {
    Error::input(Place::Setting(key.to_owned()), what, expected)
}

/// Reads a twin; `path` is where its text comes from, for messages.
///
/// # Errors
/// With line and column if it cannot be read, with the key if the twin cannot be made.
pub fn read(text: &str, path: &str) -> Result<Twin> {
    let name =
        std::path::Path::new(path).file_stem().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let kind = "a twin, such as those of configs/twins";
    let file: TwinFile = toml::from_str(text).map_err(|e| refusal(text, Origin::Other(path, kind), &e))?;
    let summary = text.lines().next().filter(|line| line.starts_with('#')).unwrap_or_default();
    file.twin(&name, summary.trim_start_matches('#').trim()).map_err(|e| match &e.place {
        Place::Setting(key) => {
            let what = format!("{key}: {}", e.what);
            Error::input(Place::Path(path.to_owned()), what, e.expected.clone())
        }
        _ => e,
    })
}

/// Finds a twin by a name of the catalogue, the path of a TOML file, or TOML itself (which has more than one
/// line). Returns it with the text that finds it again: the name, or the TOML.
///
/// # Errors
/// Quotes an unknown name and suggests close ones; those of [`read`].
pub fn find(text: &str, folder: Option<&std::path::Path>) -> Result<(Twin, String)> {
    if let Some(preset) = TwinPreset::find(text) {
        return Ok((read(preset.toml, preset.name)?, text.to_owned()));
    }
    if text.contains('\n') {
        return Ok((read(text, "twin")?, text.to_owned()));
    }
    if !(text.ends_with(".toml") || text.contains('/')) {
        let names: Vec<&str> = TWINS.iter().map(|t| t.name).collect();
        let what = format!("unknown twin {}", quote(text.as_bytes()));
        let expected =
            format!("{}; or the path of a TOML file", remedy(text, &names, listing("workload.twin")));
        return Err(wrong("workload.twin", what, expected));
    }
    let path = match folder {
        Some(folder) if std::path::Path::new(text).is_relative() => folder.join(text),
        _ => text.into(),
    };
    let shown = path.to_string_lossy();
    let cannot =
        |what: String| Error::input(Place::Path(shown.to_string()), what, "expected a twin in a TOML file");
    // A bound, since a device may have no end.
    let mut content = String::new();
    let read_text = |file: std::fs::File| file.take(BYTES_MAX + 1).read_to_string(&mut content);
    let read_bytes = std::fs::File::open(&path).and_then(read_text).map_err(|e| match e.kind() {
        std::io::ErrorKind::InvalidData => cannot("is not text".into()),
        std::io::ErrorKind::IsADirectory => cannot("is a directory".into()),
        std::io::ErrorKind::NotFound => cannot("no such file".into()),
        _ => cannot(format!("cannot be read: {e}")),
    })?;
    if read_bytes as u64 > BYTES_MAX {
        return Err(cannot(format!("is larger than {} MiB", BYTES_MAX >> 20)));
    }
    let twin = read(&content, &shown)?;
    // A path may not enter a result: the content does.
    let content = if content.contains('\n') { content } else { format!("{content}\n") };
    Ok((twin, content))
}

/// Formats a fitted twin as TOML.
///
/// # Panics
/// Never: a twin is TOML.
#[must_use]
pub fn to_toml(fit: &Fit) -> String {
    let twin = &fit.twin;
    let mut reads = SideFile::of(&twin.reads, &twin.rereads);
    reads.written_share = Some(twin.reads_of_written_share);
    reads.again_share_of_written = Some(twin.rereads_of_written.again_share);
    let mut file = TwinFile {
        duration_s: twin.duration_s,
        requests: Some(twin.requests),
        read_share: twin.read_share,
        footprint_bytes: twin.footprint_bytes,
        writes: SideFile::of(&twin.writes, &twin.rewrites),
        reads,
        rate: RateFile {
            daily_swing: twin.rate.daily_swing,
            peak_hour: twin.rate.peak_hour,
            profile: twin.rate.profile.clone(),
            noise: twin.rate.noise,
            noise_window_s: twin.rate.noise_window_s,
            burst_requests: twin.rate.burst_requests,
        },
        content: ContentFile {
            duplicate_share: twin.content.duplicate_share,
            compressed_share: twin.content.compressed_share,
            incompressible_share: twin.content.incompressible_share,
        },
        assumed: fit.assumed.iter().map(|(key, why)| ((*key).to_owned(), why.clone())).collect(),
        ..TwinFile::default()
    };
    for key in ["duration_s", "requests", "read_share", "writes", "reads", "rate"] {
        if !file.assumed.contains_key(key) {
            file.source.insert(key.to_owned(), "the trace".to_owned());
        }
    }
    format!("# {}\n{}", twin.summary, toml::to_string(&file).expect("a twin is TOML"))
}

/// Lists the figures of a twin that are in neither `[source]` nor `[assumed]`, or in both by the same name.
///
/// # Errors
/// When the text is not TOML.
pub fn unexplained(text: &str) -> std::result::Result<Vec<String>, toml::de::Error> {
    let table: Table = toml::from_str(text)?;
    let names = |key: &str| match table.get(key) {
        Some(Value::Table(named)) => named.keys().cloned().collect::<Vec<_>>(),
        _ => vec![],
    };
    let (source, assumed) = (names("source"), names("assumed"));
    let mut open: Vec<String> = source.iter().filter(|name| assumed.contains(name)).cloned().collect();
    for (key, value) in table.iter().filter(|(key, _)| !matches!(key.as_str(), "source" | "assumed")) {
        let figures = match value {
            Value::Table(inner) => inner.keys().map(|k| format!("{key}.{k}")).collect(),
            _ => vec![key.clone()],
        };
        let known = |name: &str| source.iter().chain(&assumed).any(|n| n == name);
        open.extend(figures.into_iter().filter(|figure| !known(figure) && !known(key)));
    }
    Ok(open)
}

mod sets;

pub use sets::SetsFile;

#[cfg(test)]
mod tests;
