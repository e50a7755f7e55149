//! State and decisions of the buffer.

use super::aware::{Aware, AwareConfig};
use super::order::Order;
use super::pages::{Part, SECTOR_BYTES, low, parts, touch};
use super::{NOWHERE, Step, Why};
use floatgate_base::{
    ExtentKind as Kind, Extents, IdVec, Lpn, batch::flags, memory::table, prefetch::prefetch,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;

/// Size and options of the buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BufferConfig {
    /// Its size in pages, at least 1.
    pub pages: u32,
    /// Bytes per page, a power of two from 512 to 65536.
    pub page_bytes: u32,
    /// Number of logical pages of the drive.
    pub logical_pages: u32,
    /// Whether pages that were read stay in the buffer.
    pub read_cache: bool,
    /// Above the first number of dirty pages, pages are flushed until the second number is left.
    pub watermarks: Option<(u32, u32)>,
    /// The disturb-aware order; none for plain LRU.
    pub aware: Option<AwareConfig>,
}

/// Counters of the buffer. Hits and misses count pages of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferCounters {
    /// Page writes to pages in the buffer.
    pub write_hits: u64,
    /// Page writes to other pages.
    pub write_misses: u64,
    /// Page reads whose sectors were all in the buffer.
    pub read_hits: u64,
    /// Other page reads.
    pub read_misses: u64,
    /// Pages of disturbed blocks read ahead of the host; neither hits nor misses.
    pub preloaded_pages: u64,
    /// Page writes to pages that were already dirty, which saves a program.
    pub pages_merged: u64,
    /// Pages evicted for others, dirty or not.
    pub evictions: u64,
    /// Dirty pages that the host trimmed.
    pub pages_dropped: u64,
    /// Pages flushed because their place was needed.
    pub flushed_evict: u64,
    /// Pages flushed because too many were dirty.
    pub flushed_watermark: u64,
    /// Pages flushed for forced unit access.
    pub flushed_fua: u64,
    /// Pages flushed by flush requests.
    pub flushed_flush: u64,
    /// Pages flushed at the end.
    pub flushed_end: u64,
    /// Number of flush requests.
    pub flushes: u64,
}

impl BufferCounters {
    /// Returns the pages flushed for any reason.
    #[must_use]
    pub fn flushed_pages(&self) -> u64 {
        self.flushed_evict + self.flushed_watermark + self.flushed_fua + self.flushed_flush + self.flushed_end
    }
}

/// The buffer.
#[derive(Clone, Debug)]
pub struct Buffer {
    config: BufferConfig,
    /// Mask of all sectors of a page.
    full: u128,
    /// By logical page: its place, or [`NOWHERE`].
    place_of: IdVec<Lpn, u32>,
    lpn: Vec<Lpn>,
    valid: Vec<u128>,
    dirty: Vec<u128>,
    /// Recency order of all pages except those that the disturb-aware order keeps, and of the dirty ones among them.
    used: Order,
    unsaved: Order,
    free: Vec<u32>,
    aware: Option<Aware>,
    counters: BufferCounters,
}

impl Buffer {
    /// Creates an empty buffer.
    #[must_use]
    pub fn new(config: BufferConfig) -> Self {
        let n = config.pages as usize;
        Self {
            full: low(u64::from(config.page_bytes) / SECTOR_BYTES),
            place_of: table(config.logical_pages as usize, NOWHERE).into(),
            lpn: vec![Lpn(0); n],
            valid: vec![0; n],
            dirty: vec![0; n],
            used: Order::new(config.pages),
            unsaved: Order::new(config.pages),
            free: (0..config.pages).rev().collect(),
            aware: config.aware.map(|_| Aware::new(config.pages, config.logical_pages)),
            counters: BufferCounters::default(),
            config,
        }
    }

    /// Prefetches the state of a page that is soon to be read or written.
    #[inline(always)]
    pub fn prefetch(&self, lpn: Lpn) {
        prefetch(self.place_of.as_slice(), lpn.index());
    }

    /// Returns the number of places.
    #[must_use]
    pub fn places(&self) -> u32 {
        self.config.pages
    }

    /// Returns the number of dirty pages.
    #[must_use]
    pub fn dirty_pages(&self) -> u32 {
        self.unsaved.len()
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> &BufferCounters {
        &self.counters
    }

    /// Resets the counters; the content stays.
    pub fn reset_counts(&mut self) {
        self.counters = BufferCounters::default();
    }

    /// Returns whether the buffer needs to know which blocks are disturbed.
    #[must_use]
    pub fn is_aware(&self) -> bool {
        self.aware.is_some()
    }

    /// Returns the number of pages that the disturb-aware order keeps now.
    #[must_use]
    pub fn kept_pages(&self) -> u32 {
        self.aware.as_ref().map_or(0, |aware| aware.kept.len())
    }

    /// Appends the steps of one request: the extents in `range`, which have edges, and its [`flags`].
    /// `disturbed` reports whether a page lies in a disturbed block; only the disturb-aware order calls it.
    pub fn request(
        &mut self,
        (extents, range): (&Extents, Range<usize>),
        request_flags: u8,
        disturbed: impl Fn(Lpn) -> bool,
        out: &mut Vec<Step>,
    ) {
        if request_flags & flags::FLUSH != 0 {
            self.counters.flushes += 1;
            self.flush_all(Why::Flush, out);
        }
        let fua = request_flags & flags::FUA != 0;
        let page_bytes = u64::from(self.config.page_bytes);
        for i in range {
            match extents.kind[i] {
                Kind::Write | Kind::WritePartial => {
                    parts(extents, i, page_bytes).for_each(|part| self.write(part, fua, out));
                }
                Kind::Read => parts(extents, i, page_bytes).for_each(|part| self.read(part, &disturbed, out)),
                Kind::Trim => self.trim(extents.lpn[i], extents.pages[i], out),
                Kind::Flush => out.push(Step::Force { lpn: extents.lpn[i], pages: extents.pages[i] }),
            }
        }
        if let Some((high, low)) = self.config.watermarks
            && self.unsaved.len() > high
        {
            while self.unsaved.len() > low {
                self.flush(self.unsaved.oldest(), Why::Watermark, out);
            }
        }
    }

    /// Appends the flushes of all dirty pages, from the least recently used one; the pages stay and are clean.
    pub fn flush_all(&mut self, why: Why, out: &mut Vec<Step>) {
        while self.unsaved.len() > 0 {
            self.flush(self.unsaved.oldest(), why, out);
        }
    }

    /// Returns whether the buffer holds all sectors touched by the bytes `from..to` of a page.
    #[must_use]
    pub fn holds(&self, lpn: Lpn, from: u32, to: u32) -> bool {
        let touched = touch(lpn, from.into(), to.into()).touched;
        let place = self.place_of[lpn];
        place != NOWHERE && self.valid[place as usize] & touched == touched
    }

    #[inline]
    fn write(&mut self, part: Part, fua: bool, out: &mut Vec<Step>) {
        let place = match self.place_of[part.lpn] {
            NOWHERE => {
                self.counters.write_misses += 1;
                self.take(part.lpn, out)
            }
            place => {
                self.counters.write_hits += 1;
                self.touch(place);
                place
            }
        };
        let i = place as usize;
        if self.dirty[i] == 0 {
            self.unsaved.add(place);
        } else {
            self.counters.pages_merged += 1;
            self.unsaved.touch(place);
        }
        self.valid[i] |= part.covered;
        self.dirty[i] |= part.touched;
        out.push(Step::Wait { place });
        if fua {
            self.flush(place, Why::Fua, out);
        }
    }

    #[inline]
    fn read(&mut self, part: Part, disturbed: &impl Fn(Lpn) -> bool, out: &mut Vec<Step>) {
        if let Some(aware) = &mut self.aware {
            aware.count(part.lpn);
        }
        let mut place = self.place_of[part.lpn];
        if place != NOWHERE {
            self.touch(place);
            if self.dirty[place as usize] != 0 {
                self.unsaved.touch(place);
            }
            self.consider(place, disturbed);
            out.push(Step::Wait { place });
            if self.valid[place as usize] & part.touched == part.touched {
                self.counters.read_hits += 1;
                return;
            }
        } else if self.config.read_cache {
            place = self.take(part.lpn, out);
            self.consider(place, disturbed);
        }
        self.counters.read_misses += 1;
        if place != NOWHERE {
            // The whole page comes from flash; dirty sectors here are newer.
            self.valid[place as usize] = self.full;
        } else if let Some(Step::Read { lpn, pages, place: NOWHERE }) = out.last_mut()
            && *lpn + *pages == part.lpn
        {
            *pages += 1;
            return;
        }
        out.push(Step::Read { lpn: part.lpn, pages: 1, place });
    }

    /// Marks a place as used last.
    #[inline]
    fn touch(&mut self, place: u32) {
        match &mut self.aware {
            Some(aware) if aware.keeps(place) => aware.kept.touch(place),
            _ => self.used.touch(place),
        }
    }

    /// Keeps the page of a place that is not kept, if it is admitted.
    fn consider(&mut self, place: u32, disturbed: &impl Fn(Lpn) -> bool) {
        let keeps = self.aware.as_ref().is_none_or(|aware| aware.keeps(place));
        if !keeps && self.admit(self.lpn[place as usize], disturbed) {
            self.keep(place);
        }
    }

    fn keep(&mut self, place: u32) {
        if let Some(aware) = &mut self.aware {
            self.used.remove(place);
            aware.keep(place);
        }
    }

    /// Returns whether a page may be kept: it is hot, lies in a disturbed block, and there is room or a kept page gives
    /// way.
    fn admit(&mut self, lpn: Lpn, disturbed: &impl Fn(Lpn) -> bool) -> bool {
        let (Some(aware), Some(config)) = (&mut self.aware, self.config.aware) else { return false };
        if !aware.is_hot(lpn) || !disturbed(lpn) {
            return false;
        }
        if aware.kept.len() < config.kept_pages {
            return true;
        }
        let other = aware.kept.oldest();
        if other == NOWHERE {
            return false;
        }
        let held = self.lpn[other as usize];
        if aware.is_hot(held) && disturbed(held) && !aware.is_hotter(lpn, held) {
            // The next page will be compared with another one.
            aware.kept.touch(other);
            return false;
        }
        aware.give_up(other);
        self.used.add(other);
        true
    }

    /// Appends the steps that preload pages of a block that has become disturbed: those not in the buffer that may be
    /// kept.
    pub fn preload(&mut self, pages: &[Lpn], disturbed: impl Fn(Lpn) -> bool, out: &mut Vec<Step>) {
        if self.config.aware.is_none_or(|config| !config.preload) {
            return;
        }
        for &lpn in pages {
            if self.place_of[lpn] == NOWHERE && self.admit(lpn, &disturbed) {
                let place = self.take(lpn, out);
                self.keep(place);
                self.valid[place as usize] = self.full;
                self.counters.preloaded_pages += 1;
                out.push(Step::Preload { lpn, place });
            }
        }
    }

    /// Removes trimmed pages.
    fn trim(&mut self, first: Lpn, pages: u32, out: &mut Vec<Step>) {
        let end = first + pages;
        if end - first <= self.used.len() + self.kept_pages() {
            Lpn::each(first..end).for_each(|lpn| self.drop_page(lpn));
        } else {
            for kept in [false, true].into_iter().take(1 + usize::from(self.is_aware())) {
                let mut place = self.order(kept).oldest();
                while place != NOWHERE {
                    let next = self.order(kept).newer(place);
                    let lpn = self.lpn[place as usize];
                    if (first..end).contains(&lpn) {
                        self.drop_page(lpn);
                    }
                    place = next;
                }
            }
        }
        out.push(Step::Trim { lpn: first, pages });
    }

    /// Returns the order of the kept pages, or of the others.
    fn order(&self, kept: bool) -> &Order {
        match &self.aware {
            Some(aware) if kept => &aware.kept,
            _ => &self.used,
        }
    }

    fn drop_page(&mut self, lpn: Lpn) {
        let place = std::mem::replace(&mut self.place_of[lpn], NOWHERE);
        if place == NOWHERE {
            return;
        }
        match &mut self.aware {
            Some(aware) if aware.keeps(place) => aware.give_up(place),
            _ => self.used.remove(place),
        }
        if std::mem::take(&mut self.dirty[place as usize]) != 0 {
            self.unsaved.remove(place);
            self.counters.pages_dropped += 1;
        }
        self.free.push(place);
    }

    /// Returns a place for a page without one: a free place, or that of the page used least recently.
    #[inline]
    fn take(&mut self, lpn: Lpn, out: &mut Vec<Step>) -> u32 {
        let place = match self.free.pop() {
            Some(place) => place,
            None => {
                self.release_cold();
                let place = self.used.oldest();
                if self.dirty[place as usize] != 0 {
                    self.flush(place, Why::Evict, out);
                }
                self.counters.evictions += 1;
                self.used.remove(place);
                self.place_of[self.lpn[place as usize]] = NOWHERE;
                place
            }
        };
        let i = place as usize;
        (self.lpn[i], self.valid[i]) = (lpn, 0);
        self.place_of[lpn] = place;
        self.used.add(place);
        out.push(Step::Take { place });
        place
    }

    /// Stops keeping the kept page used least recently if it is hardly read any more.
    #[inline]
    fn release_cold(&mut self) {
        let Some(aware) = &mut self.aware else { return };
        let place = aware.kept.oldest();
        if place != NOWHERE && !aware.is_hot(self.lpn[place as usize]) {
            aware.give_up(place);
            self.used.add(place);
        }
    }

    /// Makes a dirty page clean.
    #[inline]
    fn flush(&mut self, place: u32, why: Why, out: &mut Vec<Step>) {
        let i = place as usize;
        self.dirty[i] = 0;
        self.unsaved.remove(place);
        let counters = &mut self.counters;
        *match why {
            Why::Evict => &mut counters.flushed_evict,
            Why::Watermark => &mut counters.flushed_watermark,
            Why::Fua => &mut counters.flushed_fua,
            Why::Flush => &mut counters.flushed_flush,
            Why::End => &mut counters.flushed_end,
        } += 1;
        out.push(Step::Flush { place, lpn: self.lpn[i], whole: self.valid[i] == self.full, why });
    }
}

/// The content of a buffer in a snapshot.
#[derive(Debug, Serialize, Deserialize)]
pub struct SavedBuffer<'a> {
    lpn: Cow<'a, [Lpn]>,
    valid: Cow<'a, [u128]>,
    dirty: Cow<'a, [u128]>,
    used: Cow<'a, Order>,
    unsaved: Cow<'a, Order>,
    free: Cow<'a, [u32]>,
    aware: Cow<'a, Option<Aware>>,
    counters: BufferCounters,
}

impl Buffer {
    /// Returns the content for a snapshot. The pattern without `..` makes the compiler report a new field.
    #[must_use]
    pub fn saved(&self) -> SavedBuffer<'_> {
        let Self {
            lpn,
            valid,
            dirty,
            used,
            unsaved,
            free,
            aware,
            counters,
            // Part of the plan.
            config: _,
            full: _,
            // The inverse of `lpn`.
            place_of: _,
        } = self;
        SavedBuffer {
            lpn: Cow::from(lpn),
            valid: Cow::from(valid),
            dirty: Cow::from(dirty),
            used: Cow::Borrowed(used),
            unsaved: Cow::Borrowed(unsaved),
            free: Cow::from(free),
            aware: Cow::Borrowed(aware),
            counters: *counters,
        }
    }

    /// Restores the content from a snapshot of a buffer of the same size; returns false for another size.
    #[must_use]
    pub fn restore(&mut self, state: SavedBuffer<'_>) -> bool {
        let SavedBuffer { lpn, valid, dirty, used, unsaved, free, aware, counters } = state;
        let n = self.config.pages as usize;
        let kept = aware.as_ref().as_ref().map_or(0, |aware| aware.kept.len());
        let logical = self.config.logical_pages as usize;
        let fits = [lpn.len(), valid.len(), dirty.len(), (used.len() + kept) as usize + free.len()] == [n; 4]
            && aware.is_some() == self.aware.is_some()
            && aware.iter().all(|aware| aware.is_sound(n, logical))
            && used.is_sound(n)
            && unsaved.is_sound(n)
            && free.iter().all(|&place| (place as usize) < n)
            && lpn.iter().all(|&lpn| lpn.0 < self.config.logical_pages);
        if fits {
            self.place_of.fill(NOWHERE);
            let kept = aware.iter().flat_map(|aware| aware.kept.places());
            used.places().chain(kept).for_each(|place| self.place_of[lpn[place as usize]] = place);
            (self.lpn, self.valid, self.dirty) = (lpn.into_owned(), valid.into_owned(), dirty.into_owned());
            (self.used, self.unsaved) = (used.into_owned(), unsaved.into_owned());
            (self.free, self.aware, self.counters) = (free.into_owned(), aware.into_owned(), counters);
        }
        fits
    }
}
