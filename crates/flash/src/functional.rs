//! The functional back end counts operations by cause and keeps wear; the caller sets its time.
//!
//! Beside the wear it keeps the mode of each block, from the first program to the erase; drive files hold both.

use crate::{Cause, Counters, Flash, Layout, Part, Rest, SavedScaling, Scaling};
use floatgate_base::{IdSlice, IdVec, Lpn, Owner, Ppn, UnitId};
use floatgate_nand::erase_modes::WEAR_UNIT;
use floatgate_nand::{Endurance, EraseModes};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The functional back end.
#[derive(Clone, Debug)]
pub struct Functional {
    layout: Layout,
    blocks_per_unit: u64,
    counters: Counters,
    erases: IdVec<UnitId, u32>,
    /// Sum of the squares of `erases`: measures the spread of wear without a scan of all units.
    erase_squares: u64,
    /// Modes by unit; empty while all are 0.
    modes: IdVec<UnitId, u8>,
    /// Modes of erases, if there are several.
    scaling: Option<Box<Scaling>>,
    /// Whether programs are counted by mode: some unit has another mode than 0, or erases have modes.
    counts_modes: bool,
    rest: Rest,
    /// If several pages share a flash page: the end of the written part of each unit.
    written: IdVec<UnitId, Ppn>,
    /// The endurance of blocks; none if blocks do not wear out.
    endurance: Option<Endurance>,
}

impl Functional {
    /// Creates a fresh array.
    #[must_use]
    pub fn new(layout: Layout) -> Self {
        let units = layout.units();
        Self {
            blocks_per_unit: u64::from(layout.blocks_per_unit()),
            written: IdVec::filled(Ppn(0), if layout.is_packed() { units } else { 0 }),
            counters: Counters::new(layout.is_packed()),
            layout,
            erases: IdVec::filled(0, units),
            erase_squares: 0,
            modes: IdVec::default(),
            scaling: None,
            counts_modes: false,
            rest: Rest::new(units),
            endurance: None,
        }
    }
}

impl Functional {
    /// Makes blocks wear out. An erase wears a block by a cycle, or by its mode's share of one.
    pub fn set_endurance(&mut self, endurance: Endurance) {
        self.endurance = Some(endurance.wearing(1.0));
    }

    /// Gives erases these modes; units that were not erased yet are in mode `start`.
    pub fn set_scaling(&mut self, modes: EraseModes, start: u8) {
        let units = self.layout.units();
        self.scaling = Some(Box::new(Scaling::new(modes, start, units, self.blocks_per_unit)));
        self.counts_modes = true;
    }

    /// Counts a move if pages are flash pages.
    #[inline(always)]
    pub(crate) fn count_copy(&mut self, destination: Ppn, cause: Cause) {
        self.counters.reads[cause as usize] += 1;
        self.counters.programs[cause as usize] += 1;
        self.count_mode(destination, 1, cause);
    }

    /// Counts flash pages programmed from `destination` by the modes of their block.
    #[inline(always)]
    fn count_mode(&mut self, destination: Ppn, flash_pages: u64, cause: Cause) {
        if self.counts_modes {
            self.count_in_modes(destination, flash_pages, cause);
        }
    }

    fn count_in_modes(&mut self, destination: Ppn, flash_pages: u64, cause: Cause) {
        let unit = self.layout.unit_of(destination);
        let mode = self.mode(unit);
        self.counters.programmed_in(mode, cause, flash_pages);
        if let Some(scaling) = &mut self.scaling {
            scaling.count_programs(unit, mode, cause, flash_pages);
        }
    }

    /// Writes pages, and programs the flash pages that become full.
    #[inline(never)]
    fn pack(&mut self, first: Ppn, pages: u32, cause: Cause) {
        let end = first + pages;
        let full = self.layout.flash_page_of(end) - self.layout.flash_page_of(first);
        if let Some(packed) = &mut self.counters.packed {
            packed[cause as usize] += u64::from(full);
        }
        self.count_mode(first, u64::from(full), cause);
        self.written[self.layout.unit_of(first)] = end;
    }

    /// Returns the sum of the squares of the units' erases since counting began.
    #[must_use]
    pub fn erase_squares(&self) -> u64 {
        self.erase_squares
    }

    /// Sets the time of further operations to `now_ns` after the start of counting. Time never decreases.
    #[inline]
    pub fn set_now(&mut self, now_ns: u64) {
        self.rest.set_now(now_ns);
    }

    /// Adds `more(unit, erases)` erases to each unit without an operation, as erases of collection. Returns their sum.
    pub fn leap(&mut self, mut more: impl FnMut(UnitId, u32) -> u32) -> u64 {
        let mut all = 0;
        let mean = self.scaling.as_ref().map(|scaling| scaling.mean_wear() * f64::from(WEAR_UNIT));
        for unit in UnitId::all(self.erases.len() as u32) {
            let erases = &mut self.erases[unit];
            let added = u64::from(more(unit, *erases));
            if let (Some(scaling), Some(mean)) = (&mut self.scaling, mean) {
                scaling.leap(unit, added, mean);
            }
            self.erase_squares += added * (2 * u64::from(*erases) + added);
            *erases += added as u32;
            all += added;
        }
        self.counters.erases[Cause::Gc as usize] += all * self.blocks_per_unit;
        all
    }

    /// Returns the statistics of rest between two erases.
    #[must_use]
    pub fn rest(&self) -> &Rest {
        &self.rest
    }

    /// Restores the rest from a snapshot of an array with the same layout; returns false for another layout.
    #[must_use]
    pub fn restore_rest(&mut self, rest: Rest) -> bool {
        let fits = rest.fits(self.erases.len());
        if fits {
            self.rest = rest;
        }
        fits
    }
}

/// The content of the array in a snapshot.
#[derive(Debug, Serialize, Deserialize)]
pub struct SavedCounts<'a> {
    counters: Cow<'a, Counters>,
    /// By unit.
    erases: Cow<'a, [u32]>,
    /// By unit, or empty.
    modes: Cow<'a, [u8]>,
    /// By unit, or empty.
    written: Cow<'a, [Ppn]>,
    scaling: Option<SavedScaling<'a>>,
}

impl Functional {
    /// Returns the content for a snapshot.
    #[must_use]
    pub fn saved(&self) -> SavedCounts<'_> {
        // A run that continues keeps the rest separately.
        let Self {
            counters,
            erases,
            modes,
            written,
            scaling,
            erase_squares: _,
            counts_modes: _,
            rest: _,
            layout: _,
            blocks_per_unit: _,
            endurance: _,
        } = self;
        SavedCounts {
            counters: Cow::Borrowed(counters),
            erases: Cow::from(erases.as_slice()),
            modes: Cow::from(modes.as_slice()),
            written: Cow::from(written.as_slice()),
            scaling: scaling.as_ref().map(|scaling| scaling.saved()),
        }
    }

    /// Restores the content from a snapshot of an array with the same layout; returns false for another layout.
    #[must_use]
    pub fn restore(&mut self, saved: SavedCounts<'_>) -> bool {
        let SavedCounts { counters, erases, modes, written, scaling } = saved;
        let units = self.erases.len();
        let fits = erases.len() == units
            && (modes.is_empty() || modes.len() == units)
            && written.len() == self.written.len()
            && self.scaling.as_mut().is_none_or(|own| own.restore(scaling))
            && counters.packed.is_some() == self.layout.is_packed();
        if fits {
            (self.counters, self.erases) = (counters.into_owned(), erases.into_owned().into());
            self.modes = modes.into_owned().into();
            self.counts_modes = !self.modes.is_empty() || self.scaling.is_some();
            self.written = written.into_owned().into();
            self.erase_squares = self.erases.iter().map(|&n| u64::from(n) * u64::from(n)).sum();
        }
        fits
    }
}

impl Flash for Functional {
    #[inline(always)]
    fn program(&mut self, ppn: Ppn, _lpn: Lpn, cause: Cause) {
        self.counters.programs[cause as usize] += 1;
        if self.layout.is_packed() {
            self.pack(ppn, 1, cause);
        }
    }

    #[inline(always)]
    fn copy(&mut self, _source: Ppn, destination: Ppn, _owner: Owner, cause: Cause) {
        if !self.layout.is_packed() {
            return self.count_copy(destination, cause);
        }
        self.counters.programs[cause as usize] += 1;
        self.pack(destination, 1, cause);
    }

    #[inline(always)]
    fn copy_run(&mut self, sources: &[(Ppn, Owner)], destination: Ppn, cause: Cause) {
        self.counters.programs[cause as usize] += sources.len() as u64;
        if self.layout.is_packed() {
            self.pack(destination, sources.len() as u32, cause);
        } else {
            self.counters.reads[cause as usize] += sources.len() as u64;
            self.count_mode(destination, sources.len() as u64, cause);
        }
    }

    fn fetch(&mut self, sources: &[(Ppn, Owner)], cause: Cause) {
        let flash_page = |&(ppn, _): &(Ppn, Owner)| self.layout.flash_page_of(ppn);
        let more = sources.windows(2).filter(|pair| flash_page(&pair[0]) != flash_page(&pair[1])).count();
        self.counters.reads[cause as usize] += more as u64 + u64::from(!sources.is_empty());
    }

    fn read_run(&mut self, pages: &[(Ppn, Lpn)], cause: Cause) {
        match pages {
            [] => {}
            [(ppn, _), ..] if self.is_gathering(*ppn) => self.counters.gathered_reads += pages.len() as u64,
            _ => self.counters.reads[cause as usize] += 1,
        }
    }

    fn read_gathered(&mut self, _chunk: u32, _lpn: Lpn) {
        self.counters.gathered_reads += 1;
    }

    fn read_chunk(&mut self, first: Ppn, pages: u32, _lpn: Lpn, cause: Cause) {
        for (ppn, pages) in self.layout.by_flash_page(first, pages) {
            if self.is_gathering(ppn) {
                self.counters.gathered_reads += u64::from(pages);
            } else {
                self.counters.reads[cause as usize] += 1;
            }
        }
    }

    fn fetch_chunks(&mut self, sources: &[(Ppn, u32)], cause: Cause) {
        let mut last = None;
        for (ppn, _) in sources.iter().flat_map(|&(first, pages)| self.layout.by_flash_page(first, pages)) {
            let flash_page = Some(self.layout.flash_page_of(ppn));
            self.counters.reads[cause as usize] += u64::from(flash_page != last);
            last = flash_page;
        }
    }

    #[inline(always)]
    fn program_chunk(&mut self, first: Ppn, pages: u32, _parts: &[Part], cause: Cause) {
        self.counters.programs[cause as usize] += u64::from(pages);
        if self.layout.is_packed() {
            self.pack(first, pages, cause);
        } else {
            self.count_mode(first, u64::from(pages), cause);
        }
    }

    fn pad(&mut self, first: Ppn, pages: u32, cause: Cause) {
        self.counters.programs[Cause::Padding as usize] += u64::from(pages);
        self.pack(first, pages, cause);
    }

    #[inline(always)]
    fn read(&mut self, ppn: Ppn, lpn: Lpn, cause: Cause) {
        if self.layout.is_packed() {
            return self.read_run(&[(ppn, lpn)], cause);
        }
        self.counters.reads[cause as usize] += 1;
    }

    #[inline(always)]
    fn read_unmapped(&mut self, _lpn: Lpn) {
        self.counters.unmapped_reads += 1;
    }

    #[inline(always)]
    fn erase(&mut self, unit: UnitId, cause: Cause) {
        self.counters.erases[cause as usize] += self.blocks_per_unit;
        let erases = &mut self.erases[unit];
        self.erase_squares += 2 * u64::from(*erases) + 1;
        *erases += 1;
        self.rest.erase(unit);
        if !self.modes.is_empty() {
            self.modes[unit] = 0;
        }
        if let Some(scaling) = &mut self.scaling {
            scaling.erase(unit, cause);
        }
        if self.layout.is_packed() {
            self.written[unit] = self.layout.first_page(unit);
        }
    }

    fn set_mode(&mut self, unit: UnitId, mode: u8) {
        if self.modes.is_empty() && mode > 0 {
            self.modes = IdVec::filled(0, self.layout.units());
            self.counts_modes = true;
        }
        if let Some(now) = self.modes.get_mut(unit) {
            *now = mode;
        }
    }

    #[inline]
    fn mode(&self, unit: UnitId) -> u8 {
        self.modes.get(unit).copied().unwrap_or(0)
    }

    fn set_erase_mode(&mut self, unit: UnitId, mode: u8) {
        if let Some(scaling) = &mut self.scaling {
            scaling.set_mode(unit, mode);
        }
    }

    fn deepen(&mut self, unit: UnitId, mode: u8, cause: Cause) {
        if let Some(scaling) = &mut self.scaling {
            scaling.deepen(unit, mode, cause);
        }
    }

    #[inline]
    fn count_scaled(&mut self, ppn: Ppn, cause: Cause) {
        // Pages that share a flash page are counted when it is full.
        if !self.layout.is_packed() {
            self.count_in_modes(ppn, 1, cause);
        }
    }

    fn scaling(&self) -> Option<&Scaling> {
        self.scaling.as_deref()
    }

    fn is_gathering(&self, ppn: Ppn) -> bool {
        if !self.layout.is_packed() {
            return false;
        }
        let end = self.written[self.layout.unit_of(ppn)];
        self.layout.left_of_flash_page(end) > 0
            && self.layout.flash_page_of(ppn) == self.layout.flash_page_of(end)
    }

    fn endures_more(&mut self) -> bool {
        let (programs, pages) = (self.counters.programs_total(), u64::from(self.layout.pages()));
        let wear = self.scaling.as_ref().map_or(1.0, |scaling| scaling.mean_wear());
        self.endurance.is_none_or(|endurance| self.rest.admits(endurance, (programs, wear), pages))
    }

    #[inline(always)]
    fn trim(&mut self, _lpn: Lpn) {}

    #[inline(always)]
    fn install(&mut self, ppn: Ppn, _lpn: Option<Lpn>) {
        if self.layout.is_packed() {
            self.written[self.layout.unit_of(ppn)] = ppn + 1;
        }
    }

    fn install_run(&mut self, first: Ppn, pages: u32, _lpn_of: impl Fn(Ppn) -> Option<Lpn>) {
        if pages > 0 {
            self.install(first + (pages - 1), None);
        }
    }

    fn erase_count(&self, unit: UnitId) -> u32 {
        self.erases[unit]
    }

    fn reset_counts(&mut self) {
        self.counters = Counters::new(self.layout.is_packed());
        self.erases.fill(0);
        self.erase_squares = 0;
        if let Some(scaling) = &mut self.scaling {
            scaling.reset_counts();
        }
        self.rest.restart();
    }

    fn counters(&self) -> &Counters {
        &self.counters
    }

    fn erase_counts(&self) -> &IdSlice<UnitId, u32> {
        &self.erases
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }
}
