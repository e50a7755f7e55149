//! The flash array: the state of its blocks, and the cost of each command.
//!
//! The FTL issues commands through [`Flash`]; a back end counts them (functional) or also times them. The shadow model
//! wraps a back end and checks every command against the correct content of the drive.
//!
//! Must not depend on policies, victims, streams or requests.

pub mod causes;
mod class;
mod disturbance;
pub mod functional;
pub mod layout;
mod rest;
mod scaling;
pub mod shadow;
pub mod timed;

pub use causes::{Cause, CauseInfo, Counters};
pub use class::Class;
pub use functional::{Functional, SavedCounts};
pub use layout::{Address, Layout, Level, Scope};
pub use rest::Rest;
pub use scaling::{SavedScaling, Scaling, ScalingCounts};
pub use shadow::Shadow;
pub use timed::Timed;

use floatgate_base::{IdSlice, Lpn, Owner, Ppn, UnitId};

/// The location of a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The content of a page.
    Page(Ppn),
    /// A slot of a chunk that gathers in the controller.
    Gathered {
        /// Number of the chunk.
        chunk: u32,
        /// The slot.
        slot: u8,
    },
    /// A slot of a chunk on flash.
    Packed {
        /// The first page of the chunk.
        first: Ppn,
        /// The slot.
        slot: u8,
    },
}

/// The commands that the FTL issues. The state changes at the issue; a timed back end decides when a command completes.
pub trait Flash {
    /// Writes `ppn` with host data for `lpn`. If several pages share a flash page, it is programmed when it is full.
    fn program(&mut self, ppn: Ppn, lpn: Lpn, cause: Cause);
    /// Announces that the next program replaces a logical page stored in `before`, which a power cut restores until
    /// `ppn` is on flash. Called only if power cuts lose data.
    fn replace(&mut self, _ppn: Ppn, _before: Ppn) {}
    /// Moves a live page with its owner: reads `source` (unless it was fetched), programs `destination`.
    fn copy(&mut self, source: Ppn, destination: Ppn, owner: Owner, cause: Cause);
    /// Moves live pages with their owners to consecutive pages from `destination`.
    #[inline(always)]
    fn copy_run(&mut self, sources: &[(Ppn, Owner)], destination: Ppn, cause: Cause) {
        for (&(source, owner), at) in sources.iter().zip(0..) {
            self.copy(source, destination + at, owner, cause);
        }
    }
    /// Reads the flash pages of these live pages of one unit, in ascending order, before [`Flash::copy_run`] moves
    /// them. Called only if several pages share a flash page.
    fn fetch(&mut self, _sources: &[(Ppn, Owner)], _cause: Cause) {}
    /// Reads pages of one flash page, with the logical pages that the map stores there.
    #[inline(always)]
    fn read_run(&mut self, pages: &[(Ppn, Lpn)], cause: Cause) {
        for &(ppn, lpn) in pages {
            self.read(ppn, lpn, cause);
        }
    }
    /// Pads the flash page that contains `first` with pages without data. `cause` counts for the program.
    fn pad(&mut self, first: Ppn, pages: u32, cause: Cause);
    /// Delays the completion of the current request until all earlier host writes are on flash; incomplete flash pages
    /// with such data have been padded.
    fn flush(&mut self) {}
    /// Delays the completion of the current request until these pages, with their logical pages, are on flash.
    fn force(&mut self, _pages: &[(Ppn, Lpn)]) {}
    /// Announces a host write to `lpn` with content of this fingerprint, 0 for unknown; the shadow model checks the
    /// drive against it.
    #[inline(always)]
    fn host_content(&mut self, _lpn: Lpn, _fingerprint: u64) {}
    /// Records a host write to `lpn` whose content is already stored: nothing is programmed, and the content has one
    /// more owner.
    #[inline(always)]
    fn share(&mut self, _part: Part, _lpn: Lpn) {}
    /// Adds the host write to `lpn` to a slot of a chunk that gathers in the controller.
    #[inline(always)]
    fn gather(&mut self, _chunk: u32, _slot: u8, _lpn: Lpn) {}
    /// Discards a gathered chunk of which nothing is needed; its number may be reused.
    #[inline(always)]
    fn forget_gathered(&mut self, _chunk: u32) {}
    /// Serves a host read of `lpn` from a chunk that gathers in the controller.
    fn read_gathered(&mut self, chunk: u32, lpn: Lpn);
    /// Reads a chunk on consecutive pages because the host reads `lpn`.
    fn read_chunk(&mut self, first: Ppn, pages: u32, lpn: Lpn, cause: Cause);
    /// Reads chunks, by first page and number of pages, before [`Flash::program_chunk`] repacks their valid parts.
    fn fetch_chunks(&mut self, sources: &[(Ppn, u32)], cause: Cause);
    /// Programs parts to consecutive pages: a single part unchanged to one page, or several as a chunk.
    fn program_chunk(&mut self, first: Ppn, pages: u32, parts: &[Part], cause: Cause);
    /// After [`Flash::install`] of all pages: declares that these hold a chunk with such slots; empty slots have no
    /// owner.
    fn install_chunk(&mut self, _first: Ppn, _pages: u32, _slots: &[Option<Lpn>]) {}
    /// After [`Flash::install`] of all pages: declares a slot of a chunk that gathers in the controller.
    fn install_gathered(&mut self, _chunk: u32, _slot: u8, _lpn: Lpn) {}
    /// Returns whether the newest content of a page gathers in a chunk of this number; only the shadow model knows.
    fn is_gathered(&self, _chunk: u32, _lpn: Lpn) -> bool {
        true
    }
    /// Reads `ppn`, where the map stores `lpn`.
    fn read(&mut self, ppn: Ppn, lpn: Lpn, cause: Cause);
    /// Serves a host read of a page that was never written, without a flash read.
    fn read_unmapped(&mut self, lpn: Lpn);
    /// Erases a unit.
    fn erase(&mut self, unit: UnitId, cause: Cause);
    /// Sets the mode of a unit, which determines the times of operations, from its next program until its erase. Called
    /// between the erase of a unit and its first program; otherwise the mode is 0.
    fn set_mode(&mut self, _unit: UnitId, _mode: u8) {}

    /// Returns the mode of a unit.
    fn mode(&self, unit: UnitId) -> u8;

    /// Sets the mode of the next erase of a unit. Called right before [`Flash::erase`], on arrays with modes of erases.
    fn set_erase_mode(&mut self, _unit: UnitId, _mode: u8) {}
    /// Erases an erased unit once more, to a deeper mode.
    fn deepen(&mut self, _unit: UnitId, _mode: u8, _cause: Cause) {}
    /// Counts a host page, just programmed, by the modes of its unit; other programs are counted as they are issued.
    fn count_scaled(&mut self, _ppn: Ppn, _cause: Cause) {}
    /// Returns modes of erases and effective wear, if the array has them.
    fn scaling(&self) -> Option<&Scaling> {
        None
    }
    /// Returns the present time, nanoseconds since counting began, and the host programs issued and not done; only a
    /// timed back end knows them.
    fn load(&self) -> (u64, u64) {
        (0, 0)
    }

    /// Returns whether a page lies in an incomplete flash page, in the controller's buffer.
    fn is_gathering(&self, ppn: Ppn) -> bool;
    /// Returns whether blocks can endure more programs than counted so far; always true without an endurance model.
    fn endures_more(&mut self) -> bool;
    /// Declares whether the following moves and erases belong to a job in idle time; otherwise a host write needs them
    /// now.
    fn in_background(&mut self, _on: bool) {}
    /// Trims `lpn` for the host.
    fn trim(&mut self, lpn: Lpn);
    /// Stores `lpn` or dead data in `ppn`, for preconditioning. Counts nothing.
    fn install(&mut self, ppn: Ppn, lpn: Option<Lpn>);
    /// Installs a run of pages of a unit, ascending from `first`, as [`Flash::install`] does.
    fn install_run(&mut self, first: Ppn, pages: u32, lpn_of: impl Fn(Ppn) -> Option<Lpn>) {
        Ppn::each(first..first + pages).for_each(|ppn| self.install(ppn, lpn_of(ppn)));
    }
    /// After [`Flash::install`] of all pages: declares `ppn` a copy of `original`.
    fn install_replica(&mut self, _ppn: Ppn, _original: Ppn) {}

    /// After [`Flash::install`] of all pages: sets the disturbance of a block, numbered over the drive, in thousandths
    /// of a read.
    fn install_disturbance(&mut self, _block: u32, _sum: u32) {}

    /// Returns the erases of `unit` since counting began.
    fn erase_count(&self, unit: UnitId) -> u32;
    /// Resets counters and wear to 0; the state stays.
    fn reset_counts(&mut self);
    /// Returns the counters.
    fn counters(&self) -> &Counters;
    /// Returns the erase counts of all units.
    fn erase_counts(&self) -> &IdSlice<UnitId, u32>;
    /// Returns the placement of units and pages on the chips.
    fn layout(&self) -> &Layout;
    /// Returns whether a page (none for nowhere) holds the host's newest content of `lpn`; only the shadow model knows.
    fn is_newest(&self, _lpn: Lpn, _ppn: Option<Ppn>) -> bool {
        true
    }
    /// Returns the first violation that the shadow model detected, if it is on and detected one.
    fn violation(&self) -> Option<&str> {
        None
    }
}
