//! The optional columns of extents: what consumers can request beside pages and operation.
//!
//! Each is a row of the table below, with the function that derives it from a request. The carriers of extents
//! (splitter, queues, buffer) call the operations of [`ExtentColumns`] and [`PageColumns`]. These iterate over all
//! rows, and no carrier names a column. A column without a consumer is never filled and costs nothing.
//!
//! `sim` derives from the plan which columns a run needs ([`Wanted`]).

use crate::batch::{Op, RequestBatch};
use crate::label::Label;
use crate::{IdVec, Lpn, TRACE_PAGE_BYTES};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Attributes of a request beside its address, from the host or the dispatcher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hints {
    /// Program context of the write; 0 if unknown.
    pub context: u32,
    /// Stream or placement handle assigned by the host; 0 without one.
    pub handle: u32,
    /// Number of pages that the request touches.
    pub request_pages: u32,
    /// Label assigned by the dispatcher.
    pub label: Label,
}

/// Content of a whole page of the drive after a write.
///
/// A trace records the content of each 4096 bytes of a request, counted from its first byte
/// ([`ContentColumns`](crate::ContentColumns)). A page that coincides with one of these pieces takes its values
/// unchanged. Other pages consist of several pieces or of parts of pieces: page sizes differ, or the request begins
/// inside a page. Such a page has a fingerprint of its pieces and of the positions of the cuts. Its compressed size is
/// their sum, with parts in proportion. Equal fingerprints still mean equal content, but equal content that was cut
/// elsewhere goes unrecognised. The content is unknown for a page with an unknown piece and for a page written in part.
/// piece is not known, or that is written in part, is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// Equal only for equal content; 0 if unknown.
    pub fingerprint: u64,
    /// Bytes after compression; 0 if unknown.
    pub compressed_bytes: u32,
}

/// A column with one value per page of an extent, or with no value for the whole extent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerPage<T> {
    /// End of each extent's values; they begin where those of the previous extent end.
    end: Vec<usize>,
    value: Vec<T>,
}

impl<T> PerPage<T> {
    /// Returns the values of the pages of extent `i`, in order; empty if unknown.
    #[inline]
    #[must_use]
    pub fn of(&self, i: usize) -> &[T] {
        match self.end.get(i) {
            Some(&end) => &self.value[if i == 0 { 0 } else { self.end[i - 1] }..end],
            None => &[],
        }
    }

    /// Returns the value `ahead` places after the first of extent `i`; it may belong to a later extent.
    #[inline]
    #[must_use]
    pub fn ahead_of(&self, i: usize, ahead: usize) -> Option<&T> {
        let first = if i == 0 { 0 } else { *self.end.get(i - 1)? };
        self.value.get(first + ahead)
    }

    /// Appends an extent with one value per page, or without values.
    pub fn push(&mut self, values: impl IntoIterator<Item = T>) {
        self.value.extend(values);
        self.end.push(self.value.len());
    }
}

/// The interface of a column in the table below. Extents beyond the end of a column have defaults.
trait Column: Default {
    /// Value of one page.
    type Value: Copy + Default;

    fn is_empty(&self) -> bool;

    fn clear(&mut self);

    /// Extends the column to `extents` values with defaults.
    fn pad(&mut self, extents: usize);

    /// Appends the values of the extents in `range` of `other`, after the first `at` extents.
    fn append_range(&mut self, at: usize, other: &Self, range: Range<usize>);

    /// Moves all values of `other` behind the first `at` extents.
    fn append_all(&mut self, at: usize, other: &mut Self);

    /// Reads the values of the pages of extent `i`, which has `into.len()` pages.
    fn read_pages(&self, i: usize, into: &mut [Self::Value]);

    /// Sets the value of extent `at`, the last one, which has one page.
    fn push_page(&mut self, at: usize, value: Self::Value);
}

/// One value per extent, for all of its pages.
impl<T: Copy + Default> Column for Vec<T> {
    type Value = T;

    fn is_empty(&self) -> bool {
        self.is_empty()
    }

    fn clear(&mut self) {
        self.clear();
    }

    fn pad(&mut self, extents: usize) {
        if self.len() < extents {
            self.resize(extents, T::default());
        }
    }

    fn append_range(&mut self, at: usize, other: &Self, range: Range<usize>) {
        let end = range.end.min(other.len());
        if range.start < end {
            self.pad(at);
            self.extend_from_slice(&other[range.start..end]);
        }
    }

    fn append_all(&mut self, at: usize, other: &mut Self) {
        if !other.is_empty() {
            self.pad(at);
            self.append(other);
        }
    }

    fn read_pages(&self, i: usize, into: &mut [T]) {
        into.fill(self.get(i).copied().unwrap_or_default());
    }

    fn push_page(&mut self, at: usize, value: T) {
        self.pad(at);
        self.push(value);
    }
}

impl<T: Copy + Default> Column for PerPage<T> {
    type Value = T;

    fn is_empty(&self) -> bool {
        self.end.is_empty()
    }

    fn clear(&mut self) {
        self.end.clear();
        self.value.clear();
    }

    fn pad(&mut self, extents: usize) {
        if self.end.len() < extents {
            self.end.resize(extents, self.value.len());
        }
    }

    fn append_range(&mut self, at: usize, other: &Self, range: Range<usize>) {
        let end = range.end.min(other.end.len());
        if range.start < end {
            self.pad(at);
            (range.start..end).for_each(|i| self.push(other.of(i).iter().copied()));
        }
    }

    fn append_all(&mut self, at: usize, other: &mut Self) {
        self.append_range(at, other, 0..other.end.len());
        other.clear();
    }

    fn read_pages(&self, i: usize, into: &mut [T]) {
        match self.of(i) {
            [] => into.fill(T::default()),
            values => into.copy_from_slice(values),
        }
    }

    fn push_page(&mut self, at: usize, value: T) {
        self.pad(at);
        self.push([value]);
    }
}

/// The shape of the table: each row is a column with its type and the function that fills it.
macro_rules! columns {
    (
        of extents alone { $($(#[$one_doc:meta])* $one:ident: $One:ty = $make_one:path;)+ }
        of pages too { $($(#[$page_doc:meta])* $page:ident: $Page:ty = $make_page:path;)+ }
    ) => {
        /// The optional columns of extents that their consumers request.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Wanted {
            $($(#[$one_doc])* pub $one: bool,)+
            $($(#[$page_doc])* pub $page: bool,)+
        }

        impl Wanted {
            /// Number of optional columns.
            pub const COLUMNS: u32 = [$(stringify!($one),)+ $(stringify!($page),)+].len() as u32;

            /// Selects the columns whose bits are set, in the order of the table; tests use it to try all combinations.
            #[must_use]
            pub fn from_bits(mut bits: u32) -> Self {
                let mut next = || (bits & 1 != 0, bits >>= 1).0;
                Self { $($one: next(),)+ $($page: next(),)+ }
            }

            /// Returns whether extents have any optional column.
            #[must_use]
            pub fn any(self) -> bool {
                $(self.$one ||)+ $(self.$page ||)+ false
            }

            /// Returns whether pages keep any column after their extents are gone.
            #[must_use]
            pub fn any_of_pages(self) -> bool {
                $(self.$page ||)+ false
            }
        }

        /// The optional columns of extents. A column that is not wanted is empty. Extents beyond the end of a column
        /// have defaults.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct ExtentColumns {
            $($(#[$one_doc])* pub $one: $One,)+
            $($(#[$page_doc])* pub $page: $Page,)+
        }

        impl ExtentColumns {
            /// Returns whether all columns are empty.
            #[inline]
            #[must_use]
            pub fn is_empty(&self) -> bool {
                $(Column::is_empty(&self.$one) &&)+ $(Column::is_empty(&self.$page) &&)+ true
            }

            /// Removes all values and keeps the memory.
            #[inline]
            pub fn clear(&mut self) {
                $(Column::clear(&mut self.$one);)+
                $(Column::clear(&mut self.$page);)+
            }

            /// Fills the `wanted` columns for the extents made of a part of a request. `runs` holds first pages and
            /// page counts of all extents; those of the part come last.
            #[inline(always)]
            pub fn make(&mut self, wanted: Wanted, part: &Part<'_>, runs: (&[Lpn], &[u32])) {
                $(if wanted.$one {
                    $make_one(&mut self.$one, part, runs);
                })+
                $(if wanted.$page {
                    $make_page(&mut self.$page, part, runs);
                })+
            }

            /// Extends the `wanted` columns to `extents` values with defaults.
            pub fn pad(&mut self, wanted: Wanted, extents: usize) {
                $(if wanted.$one {
                    Column::pad(&mut self.$one, extents);
                })+
                $(if wanted.$page {
                    Column::pad(&mut self.$page, extents);
                })+
            }

            /// Appends the values of the extents in `range` of `other`, after the first `at` extents.
            #[inline]
            pub fn append_range(&mut self, at: usize, other: &Self, range: Range<usize>) {
                if !other.is_empty() {
                    $(self.$one.append_range(at, &other.$one, range.clone());)+
                    $(self.$page.append_range(at, &other.$page, range.clone());)+
                }
            }

            /// Moves all values of `other` behind the first `at` extents.
            #[inline]
            pub fn append_all(&mut self, at: usize, other: &mut Self) {
                if !other.is_empty() {
                    $(self.$one.append_all(at, &mut other.$one);)+
                    $(self.$page.append_all(at, &mut other.$page);)+
                }
            }
        }

        /// Optional columns by logical page, for consumers that keep pages after their extents are gone. A column that
        /// is not wanted is empty.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct PageColumns {
            $($page: IdVec<Lpn, <$Page as Column>::Value>,)+
        }

        impl PageColumns {
            /// Creates the wanted columns for `pages` pages, filled with defaults.
            #[must_use]
            pub fn new(wanted: Wanted, pages: u32) -> Self {
                Self { $($page: IdVec::filled(Default::default(), if wanted.$page { pages } else { 0 }),)+ }
            }

            /// Returns whether both have the same columns and the same number of pages.
            #[must_use]
            pub fn is_like(&self, other: &Self) -> bool {
                $(self.$page.len() == other.$page.len() &&)+ true
            }

            /// Stores the values of extent `i` of `columns` for its `pages`.
            pub fn put(&mut self, pages: Range<Lpn>, columns: &ExtentColumns, i: usize) {
                $(if !self.$page.is_empty() {
                    let into = &mut self.$page.as_mut_slice()[pages.start.index()..pages.end.index()];
                    columns.$page.read_pages(i, into);
                })+
            }

            /// Appends the values stored for a page to `columns`, as those of extent `i`, the last one.
            pub fn get(&self, page: Lpn, columns: &mut ExtentColumns, i: usize) {
                $(if let Some(&value) = self.$page.get(page) {
                    columns.$page.push_page(i, value);
                })+
            }
        }
    };
}

columns! {
    of extents alone {
        /// For a DRAM buffer: the first byte touched in the first page, and one past the last byte touched in the last
        /// page.
        edges: Vec<(u32, u32)> = make_edges;
    }
    of pages too {
        /// For separators and dispatchers: the hints of the request to which the extent belongs.
        hints: Vec<Hints> = make_hints;
        /// The content of pages that are written whole.
        content: PerPage<Content> = make_content;
    }
}

/// A part of a request that became extents; it is the whole request unless that wraps around at the end of the drive.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// The batch of the request.
    pub batch: &'a RequestBatch,
    /// Index of the request in the batch.
    pub request: usize,
    /// The first extent of the request, in this part or an earlier one.
    pub extent: usize,
    /// First byte on the drive.
    pub start: u64,
    /// Number of bytes from `start`.
    pub bytes: u64,
    /// Bytes of the request in earlier parts.
    pub before: u64,
    /// Logarithm of the bytes of a page.
    pub page_shift: u32,
}

#[inline(never)]
fn make_edges(edges: &mut Vec<(u32, u32)>, part: &Part<'_>, (lpn, pages): (&[Lpn], &[u32])) {
    let page = 1u64 << part.page_shift;
    for i in edges.len()..lpn.len() {
        let first = u64::from(lpn[i].0) << part.page_shift;
        let last = first + u64::from(pages[i] - 1) * page;
        let from = part.start.saturating_sub(first);
        let to = (part.start + part.bytes - last).min(page);
        edges.push((from as u32, to as u32));
    }
}

/// Recomputes the hints of the whole request: each part makes it larger.
#[inline(always)]
fn make_hints(hints: &mut Vec<Hints>, part: &Part<'_>, (lpn, pages): (&[Lpn], &[u32])) {
    let mut of_request = Hints {
        context: part.batch.context.get(part.request).copied().unwrap_or(0),
        handle: part.batch.stream.get(part.request).copied().unwrap_or(0),
        request_pages: 0,
        label: part.batch.label.get(part.request).copied().unwrap_or_default(),
    };
    // Nearly every request is a single extent.
    if hints.len() == part.extent && lpn.len() == part.extent + 1 {
        of_request.request_pages = pages[part.extent];
        hints.push(of_request);
        return;
    }
    of_request.request_pages = pages[part.extent..].iter().sum();
    hints.truncate(part.extent);
    hints.resize(lpn.len(), of_request);
}

#[inline(never)]
fn make_content(content: &mut PerPage<Content>, part: &Part<'_>, (lpn, pages): (&[Lpn], &[u32])) {
    let is_known = part.batch.op[part.request] == Op::Write
        && !part.batch.content.end.is_empty()
        && !part.batch.content.range(part.request).is_empty();
    for i in content.end.len()..lpn.len() {
        let known = if is_known { pages[i] } else { 0 };
        content.push((0..u64::from(known)).map(|page| {
            let first = (u64::from(lpn[i].0) + page) << part.page_shift;
            let end = first + (1 << part.page_shift);
            if part.start <= first && end <= part.start + part.bytes {
                let of_request = part.before + first - part.start;
                content_of(part, of_request..of_request + end - first)
            } else {
                Content::default()
            }
        }));
    }
}

/// Derives the content of a byte range of a request, counted from its first byte.
fn content_of(part: &Part<'_>, bytes: Range<u64>) -> Content {
    let batch = part.batch;
    let entries = batch.content.range(part.request);
    let mut all = Content::default();
    for k in bytes.start / TRACE_PAGE_BYTES..bytes.end.div_ceil(TRACE_PAGE_BYTES) {
        let place = entries.start + k as usize;
        if place >= entries.end || batch.content.fingerprint[place] == 0 {
            return Content::default();
        }
        let (fingerprint, size) =
            (batch.content.fingerprint[place], u64::from(batch.content.compressed_bytes[place]));
        let entry = k * TRACE_PAGE_BYTES..((k + 1) * TRACE_PAGE_BYTES).min(batch.bytes[part.request]);
        let piece = entry.start.max(bytes.start)..entry.end.min(bytes.end);
        let fingerprint = if piece == entry {
            fingerprint
        } else {
            mix(mix(fingerprint, piece.start - entry.start), piece.end - piece.start)
        };
        let size = (size * (piece.end - piece.start)).div_ceil(entry.end - entry.start) as u32;
        all = if piece.start == bytes.start {
            Content { fingerprint, compressed_bytes: size }
        } else {
            let sum = all.compressed_bytes + size;
            Content {
                fingerprint: mix(all.fingerprint, fingerprint),
                compressed_bytes: if all.compressed_bytes == 0 || size == 0 { 0 } else { sum },
            }
        };
    }
    Content { fingerprint: all.fingerprint.max(1), ..all }
}

/// Mixes two values into one: equal pairs give equal results, different pairs hardly ever (the finaliser of
/// SplitMix64).
fn mix(a: u64, b: u64) -> u64 {
    let mut x = a.rotate_left(5).wrapping_add(b).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests;
