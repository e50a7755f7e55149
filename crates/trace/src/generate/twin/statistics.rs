//! A workload described by its statistics, and the space that it takes.

use super::laws::{Content, Rate, Side, Visits, refuse, share};
use super::loops::Loops;
use super::sets::Sets;
use crate::generate::sizes::mean;
use floatgate_base::{Result, TRACE_PAGE_BYTES};

/// A workload described by its statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct Twin {
    /// Name.
    pub name: String,
    /// Description in one line.
    pub summary: String,
    /// Time from the first to the last request, seconds.
    pub duration_s: f64,
    /// Number of requests.
    pub requests: u64,
    /// Share of reads; the others write.
    pub read_share: f64,
    /// Properties of reads.
    pub reads: Side,
    /// Properties of writes.
    pub writes: Side,
    /// Page writes: repeated accesses to written pages.
    pub rewrites: Visits,
    /// Repeated reads over the same pages. The statistics below cover the other reads.
    pub loops: Loops,
    /// Sets of places that are repeatedly written together. The statistics of `writes` cover the other writes.
    pub sets: Sets,
    /// Share of the reads that goes to earlier written pages, if there are any.
    pub reads_of_written_share: f64,
    /// Reads of written pages: repeated accesses.
    pub rereads_of_written: Visits,
    /// Reads of pages that are never written: repeated accesses.
    pub rereads: Visits,
    /// Arrivals of requests.
    pub rate: Rate,
    /// Size of the address space over which the pages are scattered.
    pub footprint_bytes: u64,
    /// Content of writes; kept as parameters until requests have content.
    pub content: Content,
}

impl Twin {
    /// Checks the statistics.
    ///
    /// # Errors
    /// Names the setting and the valid values.
    pub fn validate(&self) -> Result<()> {
        if !(self.duration_s > 0.0 && self.duration_s <= 9e9) {
            let what = format!("{} is not a span", self.duration_s);
            return Err(refuse("duration_s", what, "expected seconds above 0"));
        }
        if self.requests == 0 || self.requests > 1 << 48 {
            let what = format!("{} requests", self.requests);
            return Err(refuse("requests", what, "expected a whole number from 1 to 281474976710656"));
        }
        share("read_share", self.read_share)?;
        if self.read_share > 0.0 {
            self.reads.validate("reads")?;
        }
        if self.read_share < 1.0 {
            self.writes.validate("writes")?;
        }
        self.loops.validate(&self.reads, self.read_share)?;
        self.sets.validate(self.read_share)?;
        share("reads.written_share", self.reads_of_written_share)?;
        self.rewrites.validate("writes")?;
        self.rereads_of_written.validate("reads")?;
        self.rereads.validate("reads")?;
        self.rate.validate(self.duration_s)?;
        share("content.duplicate_share", self.content.duplicate_share)?;
        share("content.compressed_share", self.content.compressed_share)?;
        share("content.incompressible_share", self.content.incompressible_share)?;
        let least = least_bytes(self)?;
        if self.footprint_bytes < least {
            let what = format!("a footprint of {} bytes", self.footprint_bytes);
            let expected = format!("expected at least {least}, the size of the distinct pages");
            return Err(refuse("footprint_bytes", what, expected));
        }
        Ok(())
    }

    /// Returns the mean size of a write in bytes; 0 without writes.
    #[must_use]
    pub fn mean_write_bytes(&self) -> f64 {
        self.writes.sizes.table("writes").map_or(0.0, |list| mean(&list))
    }

    /// Returns the mean size of a read in bytes; 0 without reads.
    #[must_use]
    pub fn mean_read_bytes(&self) -> f64 {
        self.reads.sizes.table("reads").map_or(0.0, |list| mean(&list))
    }

    /// Returns the bytes written per pass, on average over the draws.
    #[must_use]
    pub fn write_bytes(&self) -> f64 {
        self.requests as f64 * (1.0 - self.read_share) * self.mean_write_bytes()
    }

    /// Samples the twin: the same laws, shares and span with a `k`-th of the requests. Serves for a quick look at a
    /// long twin. Its totals and the sizes of its loops are a `k`-th, its shares and means the same.
    #[must_use]
    pub fn thinned(&self, k: u64) -> Self {
        let loops = self.loops.thinned(k);
        let sets = self.sets.thinned(k);
        Self { requests: (self.requests / k.max(1)).max(1), loops, sets, ..self.clone() }
    }

    /// Reduces the twin for a `k`-th of the drive: as [`Twin::thinned`] does, in a `k`-th of the space.
    ///
    /// # Errors
    /// As for [`Twin::validate`].
    pub fn reduced(&self, k: u64) -> Result<Self> {
        let thinned = self.thinned(k);
        let footprint_bytes = (self.footprint_bytes / k.max(1)).max(least_bytes(&thinned)?);
        Ok(Self { footprint_bytes, ..thinned })
    }
}

/// Division of the space: extents of written pages first, then those of read-only pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Division {
    pub extent_pages: u64,
    pub written: u64,
    pub read_only: u64,
    /// Expected accessed pages: written, read of those, only read.
    pub due: [u64; 3],
}

/// Computes the bytes that the distinct pages of a twin take.
pub(super) fn least_bytes(twin: &Twin) -> Result<u64> {
    let division = Division::of(twin)?;
    Ok((division.written + division.read_only) * division.extent_pages * TRACE_PAGE_BYTES)
}

impl Division {
    pub fn of(twin: &Twin) -> Result<Self> {
        let n = twin.requests as f64;
        let (mut page_reads, mut page_writes, mut largest) = (0.0, 0.0, 1);
        let sides =
            [(&twin.reads, "reads", twin.read_share), (&twin.writes, "writes", 1.0 - twin.read_share)];
        for (side, key, share) in sides {
            if share > 0.0 {
                let pages = n * share * side.pages(key)?;
                *(if key == "reads" { &mut page_reads } else { &mut page_writes }) = pages;
                let bytes = side.sizes.table(key)?.iter().map(|(b, _)| *b).max().unwrap_or(1);
                largest = largest.max(bytes.div_ceil(TRACE_PAGE_BYTES) + 1);
            }
        }
        page_reads *= 1.0 - twin.loops.share();
        let (loop_pages, slot_pages) = twin.loops.space(&twin.reads)?;
        largest = largest.max(slot_pages);
        let of_written = if page_writes > 0.0 { twin.reads_of_written_share } else { 0.0 };
        let written = page_writes * (1.0 - twin.rewrites.again_share);
        let read_written =
            (page_reads * of_written * (1.0 - twin.rereads_of_written.again_share)).min(written);
        let only_read = page_reads * (1.0 - of_written) * (1.0 - twin.rereads.again_share);
        // Large extents break few runs, but a small footprint must not be rounded up much.
        let mut extent_pages = largest.next_power_of_two();
        let taken = written + only_read.max(loop_pages as f64);
        while extent_pages < 4096 && taken / (extent_pages as f64) > 128.0 {
            extent_pages *= 2;
        }
        // Room for random excess, and for one more request.
        let extents = |pages: f64, there: bool| {
            let room = pages * 1.01 + 4.0 * pages.sqrt() + largest as f64;
            if there { (room / extent_pages as f64).ceil() as u64 } else { 0 }
        };
        let whole = |pages: f64| (pages.ceil() as u64).max(1);
        Ok(Self {
            extent_pages,
            written: extents(written, page_writes > 0.0),
            read_only: extents(only_read, page_reads > 0.0 && of_written < 1.0)
                .max(loop_pages.div_ceil(extent_pages)),
            due: [whole(written), whole(read_written), whole(only_read)],
        })
    }
}
