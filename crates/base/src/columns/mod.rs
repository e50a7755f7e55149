//! The optional columns of extents: what consumers may ask for beside pages and operation.
//!
//! Each is a row of the table below, with the function that makes it of a request. Whoever carries extents (splitter,
//! queues, buffer) calls the operations of [`ExtentColumns`] and [`PageColumns`], which go through all rows, so none of
//! them names a column. A column that nobody wants is never made, stays empty, and is stepped over.
//!
//! `sim` derives from the plan which columns a run wants ([`Wanted`]).

use crate::batch::{Op, RequestBatch};
use crate::label::Label;
use crate::{IdVec, Lpn, TRACE_PAGE_BYTES};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What is said of a request beside its address, by the host or by the dispatcher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hints {
    /// Program context that writes; 0 where none is known.
    pub context: u32,
    /// Stream or placement handle that the host gave; 0 where it gave none.
    pub handle: u32,
    /// Pages that the request touches.
    pub request_pages: u32,
    /// What the dispatcher says of it.
    pub label: Label,
}

/// What a whole page of the drive holds after a write.
///
/// A trace knows the content of each 4096 bytes of a request, counted from its first byte
/// ([`ContentColumns`](crate::ContentColumns)). A page that is one of these has its values as they stand. A page that
/// consists of several, or of parts of them (other page sizes, requests that do not begin where a page does), has a
/// fingerprint of theirs and of where they were cut, and the sum of their compressed sizes, parts in proportion: equal
/// fingerprints still mean equal content, but content that was cut in another way is not recognised. A page of which one
/// piece is not known, or that is written in part, is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// Equal only where the content is equal; 0 where it is not known.
    pub fingerprint: u64,
    /// Bytes after compression; 0 where it is not known.
    pub compressed_bytes: u32,
}

/// A column with a value for each page of an extent, or with none for all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerPage<T> {
    /// Where the values of each extent end; they begin where those of the extent before end.
    end: Vec<usize>,
    value: Vec<T>,
}

impl<T> PerPage<T> {
    /// The values of the pages of extent `i`, in order; empty where nothing is known of them.
    #[inline]
    #[must_use]
    pub fn of(&self, i: usize) -> &[T] {
        match self.end.get(i) {
            Some(&end) => &self.value[if i == 0 { 0 } else { self.end[i - 1] }..end],
            None => &[],
        }
    }

    /// The value that is `ahead` values after the first of extent `i`, whose extent it may be of.
    #[inline]
    #[must_use]
    pub fn ahead_of(&self, i: usize, ahead: usize) -> Option<&T> {
        let first = if i == 0 { 0 } else { *self.end.get(i - 1)? };
        self.value.get(first + ahead)
    }

    /// Appends an extent with a value for each of its pages, or with none.
    pub fn push(&mut self, values: impl IntoIterator<Item = T>) {
        self.value.extend(values);
        self.end.push(self.value.len());
    }
}

/// What the table below asks of a column. One that ends before the extents do has defaults from there on.
trait Column: Default {
    /// Of one page.
    type Value: Copy + Default;

    fn is_empty(&self) -> bool;

    fn clear(&mut self);

    /// Gives the first `extents` a value each, if they have none.
    fn pad(&mut self, extents: usize);

    /// Appends what `other` has of the extents in `range`, behind the first `at` extents.
    fn append_range(&mut self, at: usize, other: &Self, range: Range<usize>);

    /// Moves all of `other` behind the first `at` extents.
    fn append_all(&mut self, at: usize, other: &mut Self);

    /// The values of the pages of extent `i`, of which there are `into.len()`.
    fn read_pages(&self, i: usize, into: &mut [Self::Value]);

    /// Sets extent `at`, which has one page and comes last.
    fn push_page(&mut self, at: usize, value: Self::Value);
}

/// One value an extent, for all of its pages.
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

/// The table's shape: each row a column, its type, and what makes it.
macro_rules! columns {
    (
        of extents alone { $($(#[$one_doc:meta])* $one:ident: $One:ty = $make_one:path;)+ }
        of pages too { $($(#[$page_doc:meta])* $page:ident: $Page:ty = $make_page:path;)+ }
    ) => {
        /// Which optional columns extents have: what their consumers ask for.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Wanted {
            $($(#[$one_doc])* pub $one: bool,)+
            $($(#[$page_doc])* pub $page: bool,)+
        }

        impl Wanted {
            /// How many optional columns there are.
            pub const COLUMNS: u32 = [$(stringify!($one),)+ $(stringify!($page),)+].len() as u32;

            /// The columns whose bits are set, in the order of the table: a test goes through all combinations.
            #[must_use]
            pub fn from_bits(mut bits: u32) -> Self {
                let mut next = || (bits & 1 != 0, bits >>= 1).0;
                Self { $($one: next(),)+ $($page: next(),)+ }
            }

            /// Whether extents have any.
            #[must_use]
            pub fn any(self) -> bool {
                $(self.$one ||)+ $(self.$page ||)+ false
            }

            /// Whether pages keep any, once their extents are gone.
            #[must_use]
            pub fn any_of_pages(self) -> bool {
                $(self.$page ||)+ false
            }
        }

        /// The optional columns of extents. Each is empty where it is not wanted; one that ends before the extents do
        /// has defaults from there on.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct ExtentColumns {
            $($(#[$one_doc])* pub $one: $One,)+
            $($(#[$page_doc])* pub $page: $Page,)+
        }

        impl ExtentColumns {
            /// Whether all are.
            #[inline]
            #[must_use]
            pub fn is_empty(&self) -> bool {
                $(Column::is_empty(&self.$one) &&)+ $(Column::is_empty(&self.$page) &&)+ true
            }

            /// Forgets all and keeps the memory.
            #[inline]
            pub fn clear(&mut self) {
                $(Column::clear(&mut self.$one);)+
                $(Column::clear(&mut self.$page);)+
            }

            /// Makes those that are `wanted`, for the extents that part of a request became. `runs` are first pages and
            /// numbers of pages of all extents, with those of the part last.
            #[inline(always)]
            pub fn make(&mut self, wanted: Wanted, part: &Part<'_>, runs: (&[Lpn], &[u32])) {
                $(if wanted.$one {
                    $make_one(&mut self.$one, part, runs);
                })+
                $(if wanted.$page {
                    $make_page(&mut self.$page, part, runs);
                })+
            }

            /// Gives the first `extents` defaults where they have nothing, in the columns that are `wanted`.
            pub fn pad(&mut self, wanted: Wanted, extents: usize) {
                $(if wanted.$one {
                    Column::pad(&mut self.$one, extents);
                })+
                $(if wanted.$page {
                    Column::pad(&mut self.$page, extents);
                })+
            }

            /// Appends what `other` has of the extents in `range`, behind the first `at` extents.
            #[inline]
            pub fn append_range(&mut self, at: usize, other: &Self, range: Range<usize>) {
                if !other.is_empty() {
                    $(self.$one.append_range(at, &other.$one, range.clone());)+
                    $(self.$page.append_range(at, &other.$page, range.clone());)+
                }
            }

            /// Moves all of `other` behind the first `at` extents.
            #[inline]
            pub fn append_all(&mut self, at: usize, other: &mut Self) {
                if !other.is_empty() {
                    $(self.$one.append_all(at, &mut other.$one);)+
                    $(self.$page.append_all(at, &mut other.$page);)+
                }
            }
        }

        /// Optional columns by logical page, for who keeps pages after their extents are gone. Each is empty where it is
        /// not wanted.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct PageColumns {
            $($page: IdVec<Lpn, <$Page as Column>::Value>,)+
        }

        impl PageColumns {
            /// Those that are wanted, for so many pages, with defaults.
            #[must_use]
            pub fn new(wanted: Wanted, pages: u32) -> Self {
                Self { $($page: IdVec::filled(Default::default(), if wanted.$page { pages } else { 0 }),)+ }
            }

            /// Whether both have the same columns of as many pages.
            #[must_use]
            pub fn is_like(&self, other: &Self) -> bool {
                $(self.$page.len() == other.$page.len() &&)+ true
            }

            /// Keeps what `columns` says of extent `i`, whose pages these are.
            pub fn put(&mut self, pages: Range<Lpn>, columns: &ExtentColumns, i: usize) {
                $(if !self.$page.is_empty() {
                    let into = &mut self.$page.as_mut_slice()[pages.start.index()..pages.end.index()];
                    columns.$page.read_pages(i, into);
                })+
            }

            /// Says in `columns` what was kept of a page, which is extent `i` and the last one.
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
        /// For a DRAM buffer: the first byte touched of the first page, and one past the last of the last page.
        edges: Vec<(u32, u32)> = make_edges;
    }
    of pages too {
        /// For separators and dispatchers: what is said of the request that the extent is of.
        hints: Vec<Hints> = make_hints;
        /// What pages hold that are written whole.
        content: PerPage<Content> = make_content;
    }
}

/// A part of a request that became extents: all of it, unless it was wrapped at the end of the drive.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// The batch of the request.
    pub batch: &'a RequestBatch,
    /// Its number in the batch.
    pub request: usize,
    /// The first extent of the request, in this part or an earlier one.
    pub extent: usize,
    /// First byte on the drive.
    pub start: u64,
    /// Bytes from there on.
    pub bytes: u64,
    /// Bytes of the request in the parts before.
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

/// Each part renews the hints of the parts before: the request has become larger.
#[inline(always)]
fn make_hints(hints: &mut Vec<Hints>, part: &Part<'_>, (lpn, pages): (&[Lpn], &[u32])) {
    let mut of_request = Hints {
        context: part.batch.context.get(part.request).copied().unwrap_or(0),
        handle: part.batch.stream.get(part.request).copied().unwrap_or(0),
        request_pages: 0,
        label: part.batch.label.get(part.request).copied().unwrap_or_default(),
    };
    // Nearly every request becomes one extent.
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

/// The content of these bytes of a request, counted from its first.
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

/// One value of two, so that equal pairs give equal values and others hardly ever do (the finaliser of SplitMix64).
fn mix(a: u64, b: u64) -> u64 {
    let mut x = a.rotate_left(5).wrapping_add(b).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests;
