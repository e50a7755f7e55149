//! The host's contents and their locations: tokens by logical page, by physical page, in chunks and in the controller.
//!
//! Every host write creates a token. A physical page holds one token, or is part of a chunk, which has a token of its
//! own and holds those of its slots. Several logical pages may have the same token: the drive reports equal content,
//! and the host must have announced an equal fingerprint.

use crate::Part;
use floatgate_base::{IdVec, Lpn, Ppn};
use std::collections::BTreeMap;

/// Writer of a page without content.
const NO_WRITER: Lpn = Lpn::MAX;
/// Token of a page that was never written, or was trimmed.
const GONE: u64 = 0;

/// A token with the logical page for which it was created.
type Made = (Lpn, u64);

/// A chunk on flash.
#[derive(Clone, Debug)]
struct Chunk {
    /// By slot.
    slots: Vec<Made>,
    /// Number of its pages.
    pages: u32,
    /// Pages that hold a part of it, including copies.
    held_by: u32,
}

/// The number of logical pages with a shared token, and its fingerprint.
#[derive(Clone, Copy, Debug)]
struct Sharers {
    pages: u32,
    fingerprint: u64,
}

/// All contents.
#[derive(Clone, Debug)]
pub(super) struct Contents {
    /// Tokens created so far.
    made: u64,
    /// By logical page, the token of the host's newest write.
    newest: IdVec<Lpn, u64>,
    /// Its fingerprint, if the host announces any; 0 for unknown.
    fingerprint: IdVec<Lpn, u64>,
    /// The host's announcement for the current write.
    announced: Option<(Lpn, u64)>,
    /// Whether any contents were installed, whose fingerprints are unknown.
    installed: bool,
    /// By physical page, its token (for part of a chunk, that of the chunk), and the logical page for which it was
    /// created (for part of a chunk, the number of the part).
    content: IdVec<Ppn, u64>,
    writer: IdVec<Ppn, Lpn>,
    /// Shared tokens that are still needed.
    sharers: BTreeMap<u64, Sharers>,
    /// Chunks by token.
    chunks: BTreeMap<u64, Chunk>,
    /// Contents that gather in the controller, by the number of the chunk and the slot.
    gathered: BTreeMap<(u32, u8), Made>,
}

impl Contents {
    /// Creates the contents of an empty drive.
    pub fn new(logical_pages: u32, pages: u32) -> Self {
        Self {
            made: GONE,
            newest: IdVec::filled(GONE, logical_pages),
            fingerprint: IdVec::default(),
            announced: None,
            installed: false,
            content: IdVec::filled(GONE, pages),
            writer: IdVec::filled(NO_WRITER, pages),
            sharers: BTreeMap::new(),
            chunks: BTreeMap::new(),
            gathered: BTreeMap::new(),
        }
    }

    /// Returns the token of the host's newest write to a page; 0 without content.
    pub fn newest(&self, lpn: Lpn) -> u64 {
        self.newest[lpn]
    }

    /// Returns the logical page for which the content of a page was created, with its token.
    pub fn at(&self, ppn: Ppn) -> Made {
        (self.writer[ppn], self.content[ppn])
    }

    fn is_needed_token(&self, (writer, token): Made) -> bool {
        token != GONE && (self.newest[writer] == token || self.sharers.contains_key(&token))
    }

    /// Returns whether some logical page needs the content of a page, or a part of it.
    pub fn is_needed(&self, ppn: Ppn) -> bool {
        match self.chunks.get(&self.content[ppn]) {
            Some(chunk) => chunk.slots.iter().any(|&slot| self.is_needed_token(slot)),
            None => self.content[ppn] != GONE && self.is_needed_token(self.at(ppn)),
        }
    }

    /// Returns whether a page (none for nowhere) holds the host's newest content of `lpn`, alone or as part of its
    /// chunk.
    pub fn is_newest(&self, lpn: Lpn, ppn: Option<Ppn>) -> bool {
        let newest = self.newest[lpn];
        match ppn.map(|ppn| self.content[ppn]) {
            Some(content) => newest != GONE && (content == newest || self.is_in_chunk(content, newest)),
            None => newest == GONE,
        }
    }

    fn is_in_chunk(&self, chunk: u64, token: u64) -> bool {
        self.chunks.get(&chunk).is_some_and(|chunk| chunk.slots.iter().any(|&(_, slot)| slot == token))
    }

    /// Returns whether these are all pages of a chunk, in order.
    pub fn is_whole(&self, first: Ppn, pages: u32) -> bool {
        let token = self.content[first];
        let is_part = |(part, ppn)| self.content[ppn] == token && self.writer[ppn] == Lpn(part);
        self.chunks.get(&token).is_some_and(|chunk| chunk.pages == pages)
            && (0..).zip(Ppn::each(first..first + pages)).all(is_part)
    }

    /// Returns whether the newest content of a page gathers in a chunk of this number.
    pub fn gathers(&self, chunk: u32, lpn: Lpn) -> bool {
        let newest = self.newest[lpn];
        newest != GONE
            && self.gathered.range((chunk, 0)..=(chunk, u8::MAX)).any(|(_, &(_, token))| token == newest)
    }

    /// Returns whether a chunk of this number gathers content that some logical page needs.
    pub fn needs_gathered(&self, chunk: u32) -> bool {
        self.gathered.range((chunk, 0)..=(chunk, u8::MAX)).any(|(_, &made)| self.is_needed_token(made))
    }

    /// Records the host's announcement of its next write.
    pub fn announce(&mut self, lpn: Lpn, fingerprint: u64) {
        if self.fingerprint.is_empty() {
            self.fingerprint = IdVec::filled(0, self.newest.len() as u32);
        }
        self.announced = Some((lpn, fingerprint));
    }

    /// Sets the newest content of a logical page.
    fn set_newest(&mut self, lpn: Lpn, token: u64) {
        let announced = self.announced.take().filter(|&(announced, _)| announced == lpn);
        if let Some(fingerprint) = self.fingerprint.get_mut(lpn) {
            *fingerprint = announced.map_or(0, |(_, fingerprint)| fingerprint);
        }
        let before = std::mem::replace(&mut self.newest[lpn], token);
        if let Some(sharers) = self.sharers.get_mut(&before) {
            sharers.pages -= 1;
            if sharers.pages == 0 {
                self.sharers.remove(&before);
            }
        }
    }

    /// Removes the content of a logical page.
    pub fn give_up(&mut self, lpn: Lpn) {
        self.set_newest(lpn, GONE);
    }

    fn make(&mut self, lpn: Lpn) -> Made {
        self.made += 1;
        self.set_newest(lpn, self.made);
        (lpn, self.made)
    }

    /// Writes new content for a logical page to a page.
    pub fn write(&mut self, ppn: Ppn, lpn: Lpn) {
        let made = self.make(lpn);
        (self.writer[ppn], self.content[ppn]) = made;
    }

    /// Installs new content for a logical page, with an unknown fingerprint.
    pub fn install(&mut self, ppn: Ppn, lpn: Lpn) {
        self.installed = true;
        self.write(ppn, lpn);
    }

    /// Gathers new content for a logical page in the controller.
    pub fn gather(&mut self, chunk: u32, slot: u8, lpn: Lpn) {
        let made = self.make(lpn);
        self.gathered.insert((chunk, slot), made);
    }

    /// Gathers as [`Contents::gather`] does, with an unknown fingerprint.
    pub fn install_gathered(&mut self, chunk: u32, slot: u8, lpn: Lpn) {
        self.installed = true;
        self.gather(chunk, slot, lpn);
    }

    /// Forgets everything that gathers in a chunk of this number.
    pub fn forget_gathered(&mut self, chunk: u32) {
        self.gathered.retain(|&(number, _), _| number != chunk);
    }

    /// Returns the token of a part.
    fn part(&self, part: Part) -> Option<Made> {
        match part {
            Part::Page(ppn) => Some(self.at(ppn)).filter(|made| made.1 != GONE),
            Part::Gathered { chunk, slot } => self.gathered.get(&(chunk, slot)).copied(),
            Part::Packed { first, slot } => {
                self.chunks.get(&self.content[first])?.slots.get(usize::from(slot)).copied()
            }
        }
    }

    /// Packs parts from elsewhere into pages: a single part into one page, several into a chunk. Returns the violation,
    /// if any.
    pub fn pack(&mut self, first: Ppn, pages: u32, parts: &[Part]) -> Option<String> {
        let mut slots = Vec::with_capacity(parts.len());
        for &part in parts {
            match self.part(part).filter(|&made| self.is_needed_token(made)) {
                Some(made) => slots.push(made),
                None => return Some(format!("{part:?} is packed at page {first}, but no page needs it")),
            }
        }
        for part in parts {
            if let Part::Gathered { chunk, slot } = *part {
                self.gathered.remove(&(chunk, slot));
            }
        }
        if let ([made], 1) = (&slots[..], pages) {
            (self.writer[first], self.content[first]) = *made;
            return None;
        }
        self.hold_chunk(first, pages, slots);
        None
    }

    fn hold_chunk(&mut self, first: Ppn, pages: u32, slots: Vec<Made>) {
        self.made += 1;
        self.chunks.insert(self.made, Chunk { slots, pages, held_by: pages });
        for (part, ppn) in (0..).zip(Ppn::each(first..first + pages)) {
            (self.writer[ppn], self.content[ppn]) = (Lpn(part), self.made);
        }
    }

    /// Installs a chunk with these slots; empty slots have no owner.
    pub fn install_chunk(&mut self, first: Ppn, pages: u32, slots: &[Option<Lpn>]) {
        self.installed = true;
        if let ([Some(lpn)], 1) = (slots, pages) {
            return self.write(first, *lpn);
        }
        let made = slots.iter().map(|slot| slot.map_or((Lpn(0), GONE), |lpn| self.make(lpn))).collect();
        self.hold_chunk(first, pages, made);
    }

    /// Copies the content of a page to another one.
    pub fn copy(&mut self, source: Ppn, destination: Ppn) {
        let token = self.content[source];
        if let Some(chunk) = self.chunks.get_mut(&token) {
            chunk.held_by += 1;
        }
        (self.writer[destination], self.content[destination]) = (self.writer[source], token);
    }

    /// Erases a page.
    pub fn erase(&mut self, ppn: Ppn) {
        let token = self.content[ppn];
        if let Some(chunk) = self.chunks.get_mut(&token) {
            chunk.held_by -= 1;
            if chunk.held_by == 0 {
                self.chunks.remove(&token);
            }
        }
        (self.writer[ppn], self.content[ppn]) = (NO_WRITER, GONE);
    }

    /// Records a host write to `lpn` with content stored elsewhere. Returns the violation, if any.
    pub fn share(&mut self, part: Part, lpn: Lpn) -> Option<String> {
        let Some((writer, token)) = self.part(part).filter(|&(_, token)| token != GONE) else {
            return Some(format!("logical page {lpn} was to share {part:?}, which holds nothing"));
        };
        let has_it = self.newest[writer] == token;
        let held = match self.sharers.get(&token) {
            Some(sharers) => sharers.fingerprint,
            None if has_it => self.fingerprint.get(writer).copied().unwrap_or(0),
            None => {
                return Some(format!("logical page {lpn} was to share {part:?}, which no page has any more"));
            }
        };
        let announced =
            self.announced.filter(|&(announced, _)| announced == lpn).map(|(_, fingerprint)| fingerprint);
        if let Some(announced) = announced.filter(|&announced| announced != held || announced == 0)
            && !(self.installed && held == 0)
        {
            return Some(format!(
                "logical page {lpn} received content {announced:#x} but was to share {part:?}, which holds {held:#x}"
            ));
        }
        // The first owner still has it, or no page has.
        let first = Sharers { pages: u32::from(has_it), fingerprint: held };
        self.sharers.entry(token).or_insert(first).pages += 1;
        self.set_newest(lpn, token);
        None
    }
}
