//! The figures, in the form of the JSON output.

use serde::Serialize;

/// All figures. Shares and ratios are between 0 and 1; pages have 4 KiB.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Number of files with at least one byte that were read.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their pages; the last page of a file is padded with zeros.
    pub pages: u64,
    /// Items that were skipped.
    pub skipped: Skipped,
    /// Files and folders that could not be read.
    pub unreadable: Unreadable,
    /// Number of distinct page contents.
    pub unique_pages: u64,
    /// Pages with a content that occurred before.
    pub duplicate_pages: u64,
    /// Share of all pages.
    pub duplicate_share: f64,
    /// Pages that contain only zeros.
    pub zero_pages: u64,
    /// Share of all pages.
    pub zero_share: f64,
    /// Flash pages / host pages with deduplication alone.
    pub dedup_written_ratio: f64,
    /// Equal fingerprints of different contents.
    pub fingerprints: Collisions,
    /// Compression, with and without prior deduplication.
    pub codecs: Vec<CodecFigures>,
    /// Distances of duplicates to their previous copy; none without duplicates.
    pub duplicate_distance: Option<Distances>,
}

/// Items that were skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Empty files.
    pub empty_files: u64,
    /// Further names of files listed before.
    pub further_names: u64,
    /// Symbolic links.
    pub symbolic_links: u64,
    /// Devices, pipes, sockets.
    pub special_files: u64,
}

/// Files and folders that could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    /// Their number.
    pub count: u64,
    /// The first 100 with the error of the system.
    pub named: Vec<(String, String)>,
}

/// Equal fingerprints of different contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Collisions {
    /// Bits of a fingerprint that were used.
    pub bits: u32,
    /// Contents that share their fingerprint with another content.
    pub collisions: u64,
    /// Pages with a known fingerprint whose first copy could no longer be read; they count as new content.
    pub not_compared: u64,
}

/// The results of a codec.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CodecFigures {
    /// `lz4` or `zstd`.
    pub codec: &'static str,
    /// The level of zstd.
    pub level: Option<i32>,
    /// Compressed / plain bytes of all pages, each compressed on its own.
    pub compressed_share: f64,
    /// The same for the distinct contents.
    pub unique_compressed_share: f64,
    /// Share of pages that do not shrink.
    pub incompressible_share: f64,
    /// Results by chunk size.
    pub chunks: Vec<ChunkFigures>,
}

/// Results for chunks of one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChunkFigures {
    /// Pages per chunk.
    pub chunk_pages: u32,
    /// All pages are compressed.
    pub compression: Written,
    /// Duplicates are left out, the others compressed.
    pub dedup_compression: Written,
}

/// Pages written to flash.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Written {
    /// Number of flash pages.
    pub flash_pages: u64,
    /// Flash pages / host pages.
    pub written_ratio: f64,
    /// Sampled chunks compressed as one piece; none if no chunk was sampled.
    pub joint: Option<Joint>,
}

/// A random sample of chunks, compressed as one piece.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Joint {
    /// Number of chunks in the sample.
    pub sampled_chunks: u64,
    /// Their pages.
    pub sampled_pages: u64,
    /// Flash pages / pages of these chunks, each chunk compressed as one piece.
    pub chunk_ratio: f64,
    /// The same with each page compressed on its own.
    pub chunk_ratio_by_page: f64,
}

/// Quantiles and histogram of a distance; quantiles are at most 0.1 % too large.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DistanceFigures {
    /// Mean.
    pub mean: f64,
    /// 10 % quantile.
    pub p10: u64,
    /// Median.
    pub p50: u64,
    /// 90 % quantile.
    pub p90: u64,
    /// 99 % quantile.
    pub p99: u64,
    /// The maximum.
    pub max: u64,
    /// Lower bounds of the buckets; each ends before the next bound, the last one at twice its bound.
    pub from: Vec<u64>,
    /// Duplicates in each bucket.
    pub count: Vec<u64>,
}

/// Distances of duplicates to their previous copy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distances {
    /// Page writes since the latest earlier copy.
    pub page_writes: DistanceFigures,
    /// The index that detects the duplicates.
    pub index: IndexFigures,
}

/// Duplicates detected by an index that keeps the most recent contents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IndexFigures {
    /// Numbers of entries.
    pub entries: Vec<u64>,
    /// Number of duplicates that each detects.
    #[serde(rename = "found")]
    pub detected: Vec<u64>,
    /// Entries for 90 % of the duplicates (at most 0.1 % too many).
    pub entries_for_90_percent: u64,
    /// Entries for 99 % (at most 0.1 % too many).
    pub entries_for_99_percent: u64,
    /// Entries for all duplicates.
    pub entries_for_all: u64,
}
