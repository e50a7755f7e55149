//! The flash array: what state its blocks are in, and what each command costs.
//!
//! The FTL issues commands through [`Flash`]; a back end counts them (functional) or also times them. The shadow
//! model wraps a back end and checks every command against what an honest drive would hold.
//!
//! Must not know: policies, victims, streams, requests.

pub mod causes;
mod class;
mod disturbance;
pub mod functional;
pub mod layout;
mod rest;
pub mod shadow;
pub mod timed;

pub use causes::{Cause, CauseInfo, Counters};
pub use class::Class;
pub use functional::{Functional, SavedCounts};
pub use layout::{Address, Layout, Level, Scope};
pub use rest::Rest;
pub use shadow::Shadow;
pub use timed::Timed;

use floatgate_base::{IdSlice, Lpn, Owner, Ppn, UnitId};

/// Content that lies somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// What a page holds.
    Page(Ppn),
    /// A slot of a chunk that gathers in the controller.
    Gathered {
        /// Its number.
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

/// The commands that the FTL issues. State changes when a command is issued; a timed back end decides when it is
/// done.
pub trait Flash {
    /// Writes `ppn` with host data for `lpn`. Where several pages share a flash page, that is programmed when it is full.
    fn program(&mut self, ppn: Ppn, lpn: Lpn, cause: Cause);
    /// The next program writes a logical page anew that lies in `before`, which a power cut brings back until `ppn` is on
    /// flash. Only told where power cuts lose anything.
    fn replace(&mut self, _ppn: Ppn, _before: Ppn) {}
    /// Moves a live page with its owner: reads `source` (unless it was fetched), programs `destination`.
    fn copy(&mut self, source: Ppn, destination: Ppn, owner: Owner, cause: Cause);
    /// Moves live pages, given with their owners, to consecutive pages from `destination` on.
    #[inline(always)]
    fn copy_run(&mut self, sources: &[(Ppn, Owner)], destination: Ppn, cause: Cause) {
        for (&(source, owner), at) in sources.iter().zip(0..) {
            self.copy(source, destination + at, owner, cause);
        }
    }
    /// Where several pages share a flash page: the flash pages that hold these live pages of one unit, in ascending order,
    /// are read, before [`Flash::copy_run`] moves them.
    fn fetch(&mut self, _sources: &[(Ppn, Owner)], _cause: Cause) {}
    /// Reads pages that lie in one flash page, with the logical pages that the map holds them for.
    #[inline(always)]
    fn read_run(&mut self, pages: &[(Ppn, Lpn)], cause: Cause) {
        for &(ppn, lpn) in pages {
            self.read(ppn, lpn, cause);
        }
    }
    /// Fills the flash page that `first` is within: so many pages that hold nothing. The flash page is programmed on
    /// behalf of `cause`.
    fn pad(&mut self, first: Ppn, pages: u32, cause: Cause);
    /// The request at hand is done when all that the host has written so far is on flash; what gathered of it has been padded.
    fn flush(&mut self) {}
    /// The same of the pages given, with the logical pages that the map holds them for.
    fn force(&mut self, _pages: &[(Ppn, Lpn)]) {}
    /// The host is about to write `lpn` with content of this fingerprint, 0 for not known: the shadow model holds what the drive
    /// does with it against that.
    #[inline(always)]
    fn host_content(&mut self, _lpn: Lpn, _fingerprint: u64) {}
    /// The host wrote `lpn` with what lies there already: nothing is programmed, and the content has one owner more.
    #[inline(always)]
    fn share(&mut self, _part: Part, _lpn: Lpn) {}
    /// The host wrote `lpn`, which joins a chunk that gathers in the controller, in this slot.
    #[inline(always)]
    fn gather(&mut self, _chunk: u32, _slot: u8, _lpn: Lpn) {}
    /// Nothing of a chunk that gathered is needed; its number may be used again.
    #[inline(always)]
    fn forget_gathered(&mut self, _chunk: u32) {}
    /// The host reads what gathers in the controller in a chunk.
    fn read_gathered(&mut self, chunk: u32, lpn: Lpn);
    /// The host reads a chunk that lies on pages that follow one another, because it wants `lpn`.
    fn read_chunk(&mut self, first: Ppn, pages: u32, lpn: Lpn, cause: Cause);
    /// Chunks, by first page and number of pages, are read, before [`Flash::program_chunk`] packs what is left of them.
    fn fetch_chunks(&mut self, sources: &[(Ppn, u32)], cause: Cause);
    /// Programs parts into pages that follow one another: a single one as it is into one page, or several as a chunk.
    fn program_chunk(&mut self, first: Ppn, pages: u32, parts: &[Part], cause: Cause);
    /// After [`Flash::install`] of all pages: these hold a chunk with such slots; nobody has those that are none.
    fn install_chunk(&mut self, _first: Ppn, _pages: u32, _slots: &[Option<Lpn>]) {}
    /// The same of a slot of a chunk that gathers in the controller.
    fn install_gathered(&mut self, _chunk: u32, _slot: u8, _lpn: Lpn) {}
    /// Whether what the host wrote last to a page gathers in a chunk of this number; only the shadow model knows.
    fn is_gathered(&self, _chunk: u32, _lpn: Lpn) -> bool {
        true
    }
    /// Reads `ppn`, which the map holds for `lpn`.
    fn read(&mut self, ppn: Ppn, lpn: Lpn, cause: Cause);
    /// The host read a page that it never wrote: no flash read.
    fn read_unmapped(&mut self, lpn: Lpn);
    /// Erases a unit.
    fn erase(&mut self, unit: UnitId, cause: Cause);
    /// From its next program on until it is erased, a unit is in this mode, which decides how long operations take. Comes
    /// between the erase of a unit and its first program; without it the mode is 0.
    fn set_mode(&mut self, _unit: UnitId, _mode: u8) {}

    /// The mode of a unit.
    fn mode(&self, unit: UnitId) -> u8;

    /// Whether a page lies in a flash page that is not full yet: in the controller's buffer.
    fn is_gathering(&self, ppn: Ppn) -> bool;
    /// Whether blocks stand more programs than counted so far; without an endurance model they do.
    fn stands_more(&mut self) -> bool;
    /// Whether the moves and erases that follow belong to a job in idle time; else a host write needs them now.
    fn in_background(&mut self, _on: bool) {}
    /// The host gave up `lpn`.
    fn trim(&mut self, lpn: Lpn);
    /// Preconditioning: `ppn` holds `lpn`, or dead data. Counts nothing.
    fn install(&mut self, ppn: Ppn, lpn: Option<Lpn>);
    /// [`Flash::install`] of so many pages of a unit, ascending from `first` on.
    fn install_run(&mut self, first: Ppn, pages: u32, lpn_of: impl Fn(Ppn) -> Option<Lpn>) {
        Ppn::each(first..first + pages).for_each(|ppn| self.install(ppn, lpn_of(ppn)));
    }
    /// After [`Flash::install`] of all pages: `ppn` holds what `original` holds.
    fn install_replica(&mut self, _ppn: Ppn, _original: Ppn) {}

    /// After [`Flash::install`] of all pages: reads have disturbed a block, numbered over the drive, by so many thousandths of
    /// a read.
    fn install_disturbance(&mut self, _block: u32, _sum: u32) {}

    /// Erases that `unit` has seen since counting began.
    fn erase_count(&self, unit: UnitId) -> u32;
    /// Starts counting afresh: counters and wear go to 0, the state stays.
    fn reset_counts(&mut self);
    /// What has been counted.
    fn counters(&self) -> &Counters;
    /// Erase counts of all units.
    fn erase_counts(&self) -> &IdSlice<UnitId, u32>;
    /// How units and pages lie on the chips.
    fn layout(&self) -> &Layout;
    /// Whether a page (none for nowhere) holds what the host wrote to `lpn` last; only the shadow model knows.
    fn is_newest(&self, _lpn: Lpn, _ppn: Option<Ppn>) -> bool {
        true
    }
    /// What the shadow model found first, if one is on and found anything.
    fn violation(&self) -> Option<&str> {
        None
    }
}
