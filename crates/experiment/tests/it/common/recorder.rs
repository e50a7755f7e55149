//! A back end that records the commands of the FTL.

use floatgate_base::{IdSlice, Lpn, Owner, Ppn, UnitId};
use floatgate_flash::{Cause, Counters, Flash, Functional, Layout, Part, SavedCounts};

/// One command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    Program(Ppn, Lpn),
    Copy(Ppn, Ppn, Lpn),
    Read(Ppn, Lpn),
    ReadUnmapped(Lpn),
    Erase(UnitId),
    Trim(Lpn),
    Pad(Ppn, u32),
    Flush,
    Force(Vec<Ppn>),
}

/// The functional back end with a list of its commands.
#[derive(Clone, Debug)]
pub struct Recorder {
    inner: Functional,
    pub commands: Vec<Command>,
}

impl Recorder {
    pub fn new(layout: Layout) -> Self {
        Self { inner: Functional::new(layout), commands: Vec::new() }
    }

    /// An array in which nothing but this was done so far.
    pub fn with_counts(layout: Layout, counts: SavedCounts<'_>) -> Self {
        let mut recorder = Self::new(layout);
        assert!(recorder.inner.restore(counts));
        recorder
    }

    /// What a snapshot keeps.
    pub fn saved(&self) -> SavedCounts<'_> {
        self.inner.saved()
    }

    /// Units in the order in which they were erased.
    pub fn erased(&self) -> impl Iterator<Item = UnitId> + '_ {
        self.commands.iter().filter_map(|c| if let Command::Erase(unit) = c { Some(*unit) } else { None })
    }
}

impl Flash for Recorder {
    fn program(&mut self, ppn: Ppn, lpn: Lpn, cause: Cause) {
        self.commands.push(Command::Program(ppn, lpn));
        self.inner.program(ppn, lpn, cause);
    }
    fn copy(&mut self, source: Ppn, destination: Ppn, owner: Owner, cause: Cause) {
        self.commands.push(Command::Copy(source, destination, owner.lpn().expect("one owner a page")));
        self.inner.copy(source, destination, owner, cause);
    }
    fn pad(&mut self, first: Ppn, pages: u32, cause: Cause) {
        self.commands.push(Command::Pad(first, pages));
        self.inner.pad(first, pages, cause);
    }
    fn flush(&mut self) {
        self.commands.push(Command::Flush);
    }
    fn force(&mut self, pages: &[(Ppn, Lpn)]) {
        self.commands.push(Command::Force(pages.iter().map(|&(ppn, _)| ppn).collect()));
    }
    fn read(&mut self, ppn: Ppn, lpn: Lpn, cause: Cause) {
        self.commands.push(Command::Read(ppn, lpn));
        self.inner.read(ppn, lpn, cause);
    }
    fn read_unmapped(&mut self, lpn: Lpn) {
        self.commands.push(Command::ReadUnmapped(lpn));
        self.inner.read_unmapped(lpn);
    }
    fn read_gathered(&mut self, chunk: u32, lpn: Lpn) {
        self.inner.read_gathered(chunk, lpn);
    }
    fn read_chunk(&mut self, first: Ppn, pages: u32, lpn: Lpn, cause: Cause) {
        self.inner.read_chunk(first, pages, lpn, cause);
    }
    fn fetch_chunks(&mut self, sources: &[(Ppn, u32)], cause: Cause) {
        self.inner.fetch_chunks(sources, cause);
    }
    fn program_chunk(&mut self, first: Ppn, pages: u32, parts: &[Part], cause: Cause) {
        self.inner.program_chunk(first, pages, parts, cause);
    }
    fn erase(&mut self, unit: UnitId, cause: Cause) {
        self.commands.push(Command::Erase(unit));
        self.inner.erase(unit, cause);
    }
    fn mode(&self, unit: UnitId) -> u8 {
        self.inner.mode(unit)
    }
    fn is_gathering(&self, ppn: Ppn) -> bool {
        self.inner.is_gathering(ppn)
    }
    fn endures_more(&mut self) -> bool {
        self.inner.endures_more()
    }
    fn trim(&mut self, lpn: Lpn) {
        self.commands.push(Command::Trim(lpn));
        self.inner.trim(lpn);
    }
    fn install(&mut self, ppn: Ppn, lpn: Option<Lpn>) {
        self.inner.install(ppn, lpn);
    }
    fn erase_count(&self, unit: UnitId) -> u32 {
        self.inner.erase_count(unit)
    }
    fn reset_counts(&mut self) {
        self.inner.reset_counts();
    }
    fn counters(&self) -> &Counters {
        self.inner.counters()
    }
    fn erase_counts(&self) -> &IdSlice<UnitId, u32> {
        self.inner.erase_counts()
    }
    fn layout(&self) -> &Layout {
        self.inner.layout()
    }
}
