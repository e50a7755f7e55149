//! What is measured, as JSON has it.

use serde::Serialize;

/// All figures. Shares and ratios are between 0 and 1, pages have 4 KiB.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Files with at least a byte that were read.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their pages; the last one of a file is filled up with zeros.
    pub pages: u64,
    /// What was left out.
    pub skipped: Skipped,
    /// Files and folders that could not be read.
    pub unreadable: Unreadable,
    /// Distinct contents of pages.
    pub unique_pages: u64,
    /// Pages whose content came before.
    pub duplicate_pages: u64,
    /// Of all pages.
    pub duplicate_share: f64,
    /// Pages that hold nothing but zeros.
    pub zero_pages: u64,
    /// Of all pages.
    pub zero_share: f64,
    /// Flash pages / host pages of deduplication alone.
    pub dedup_written_ratio: f64,
    /// Equal fingerprints that were no duplicates.
    pub fingerprints: Collisions,
    /// Compression, with and without deduplication before it.
    pub codecs: Vec<CodecFigures>,
    /// How far back duplicates lie; none where there are no duplicates.
    pub duplicate_distance: Option<Distances>,
}

/// What was left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Files without a byte.
    pub empty_files: u64,
    /// Further names of a file that was listed before.
    pub further_names: u64,
    /// Symbolic links.
    pub symbolic_links: u64,
    /// Devices, pipes, sockets.
    pub special_files: u64,
}

/// Files and folders that could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    /// How many.
    pub count: u64,
    /// The first 100 with what the system said.
    pub named: Vec<(String, String)>,
}

/// Equal fingerprints that were no duplicates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Collisions {
    /// Bits that were used.
    pub bits: u32,
    /// Contents whose fingerprint another content has.
    pub collisions: u64,
    /// Pages with a known fingerprint whose first copy could not be read any more; they count as new content.
    pub not_compared: u64,
}

/// What a codec makes of the pages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CodecFigures {
    /// `lz4` or `zstd`.
    pub codec: &'static str,
    /// The level of zstd.
    pub level: Option<i32>,
    /// Compressed / plain bytes of all pages, each compressed for itself.
    pub compressed_share: f64,
    /// The same of the distinct contents.
    pub unique_compressed_share: f64,
    /// Share of the pages that do not shrink.
    pub incompressible_share: f64,
    /// By size of the chunk.
    pub chunks: Vec<ChunkFigures>,
}

/// Chunks of one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChunkFigures {
    /// Pages of a chunk.
    pub chunk_pages: u32,
    /// All pages compressed.
    pub compression: Written,
    /// Duplicates left out, the others compressed.
    pub dedup_compression: Written,
}

/// What is written.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Written {
    /// Flash pages.
    pub flash_pages: u64,
    /// Flash pages / host pages.
    pub written_ratio: f64,
    /// Sampled chunks compressed as one piece; none where no chunk was sampled.
    pub joint: Option<Joint>,
}

/// Chunks that were drawn by chance and compressed as one piece.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Joint {
    /// How many.
    pub sampled_chunks: u64,
    /// Their pages.
    pub sampled_pages: u64,
    /// Flash pages / pages of these chunks where each is compressed as one piece.
    pub chunk_ratio: f64,
    /// The same where each page is compressed for itself.
    pub chunk_ratio_by_page: f64,
}

/// Quantiles and histogram of a distance; quantiles at most 0.1 % too large.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DistanceFigures {
    /// Mean.
    pub mean: f64,
    /// A tenth of the distances is not larger.
    pub p10: u64,
    /// Median.
    pub p50: u64,
    /// Nine tenths are not larger.
    pub p90: u64,
    /// 99 % are not larger.
    pub p99: u64,
    /// The largest one.
    pub max: u64,
    /// Lower bounds of the histogram; each bucket ends before the next one's, the last one at twice its bound.
    pub from: Vec<u64>,
    /// Duplicates in each bucket.
    pub count: Vec<u64>,
}

/// How far back duplicates lie.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distances {
    /// Page writes between a page and its latest copy before it.
    pub page_writes: DistanceFigures,
    /// The index that finds the duplicates.
    pub index: IndexFigures,
}

/// What an index finds that keeps the contents met last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IndexFigures {
    /// Numbers of entries.
    pub entries: Vec<u64>,
    /// Duplicates that it finds.
    pub found: Vec<u64>,
    /// Entries for 90 % of the duplicates (at most 0.1 % too many).
    pub entries_for_90_percent: u64,
    /// Entries for 99 % (at most 0.1 % too many).
    pub entries_for_99_percent: u64,
    /// Entries for all.
    pub entries_for_all: u64,
}
