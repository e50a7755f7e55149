//! What the host wrote, and where it lies: tokens by logical page, by physical page, in chunks and in the controller.
//!
//! Every host write makes a token. A physical page holds one token, or is part of a chunk, which has a token of its own and
//! holds those of its slots. Several logical pages may have one token: where the drive finds equal content it says so, and
//! must have been told an equal fingerprint by the host.

use crate::Part;
use floatgate_base::{IdVec, Lpn, Ppn};
use std::collections::BTreeMap;

/// Writer of a page that holds nothing.
const NOBODY: Lpn = Lpn::MAX;
/// Token of a page that was never written, or was trimmed.
const GONE: u64 = 0;

/// A token with the logical page for which it was made.
type Made = (Lpn, u64);

/// A chunk that lies on flash.
#[derive(Clone, Debug)]
struct Chunk {
    /// By slot.
    slots: Vec<Made>,
    /// Pages that it takes.
    pages: u32,
    /// Pages that hold a part of it, copies included.
    held_by: u32,
}

/// Logical pages that have a token which was shared, and its fingerprint.
#[derive(Clone, Copy, Debug)]
struct Sharers {
    pages: u32,
    fingerprint: u64,
}

/// All contents.
#[derive(Clone, Debug)]
pub(super) struct Contents {
    /// Tokens given out.
    made: u64,
    /// By logical page, what the host wrote last.
    newest: IdVec<Lpn, u64>,
    /// The fingerprint of it, where the host says any; 0 for not known.
    fingerprint: IdVec<Lpn, u64>,
    /// What the host said of the write at hand.
    told: Option<(Lpn, u64)>,
    /// Whether contents were installed, of which nobody said what they are.
    installed: bool,
    /// By physical page, the token that it holds (that of a chunk for a part of it), and the logical page for which that
    /// was made (the number of the part).
    content: IdVec<Ppn, u64>,
    writer: IdVec<Ppn, Lpn>,
    /// Tokens that were shared and are still needed.
    sharers: BTreeMap<u64, Sharers>,
    /// Chunks by token.
    chunks: BTreeMap<u64, Chunk>,
    /// What gathers in the controller, by the number of the chunk and the slot.
    gathered: BTreeMap<(u32, u8), Made>,
}

impl Contents {
    /// Nothing was written.
    pub fn new(logical_pages: u32, pages: u32) -> Self {
        Self {
            made: GONE,
            newest: IdVec::filled(GONE, logical_pages),
            fingerprint: IdVec::default(),
            told: None,
            installed: false,
            content: IdVec::filled(GONE, pages),
            writer: IdVec::filled(NOBODY, pages),
            sharers: BTreeMap::new(),
            chunks: BTreeMap::new(),
            gathered: BTreeMap::new(),
        }
    }

    /// Token of what the host wrote last to a page; 0 if there is nothing.
    pub fn newest(&self, lpn: Lpn) -> u64 {
        self.newest[lpn]
    }

    /// The page for which what a page holds was made, with its token.
    pub fn at(&self, ppn: Ppn) -> Made {
        (self.writer[ppn], self.content[ppn])
    }

    fn is_needed_token(&self, (writer, token): Made) -> bool {
        token != GONE && (self.newest[writer] == token || self.sharers.contains_key(&token))
    }

    /// Whether some logical page has what a page holds, or a part of it.
    pub fn is_needed(&self, ppn: Ppn) -> bool {
        match self.chunks.get(&self.content[ppn]) {
            Some(chunk) => chunk.slots.iter().any(|&slot| self.is_needed_token(slot)),
            None => self.content[ppn] != GONE && self.is_needed_token(self.at(ppn)),
        }
    }

    /// Whether a page (none for nowhere) holds what the host wrote to `lpn` last, by itself or with the rest of its chunk.
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

    /// Whether these are all pages of a chunk, in order.
    pub fn is_whole(&self, first: Ppn, pages: u32) -> bool {
        let token = self.content[first];
        let is_part = |(part, ppn)| self.content[ppn] == token && self.writer[ppn] == Lpn(part);
        self.chunks.get(&token).is_some_and(|chunk| chunk.pages == pages)
            && (0..).zip(Ppn::each(first..first + pages)).all(is_part)
    }

    /// Whether what the host wrote last to a page gathers in a chunk of this number.
    pub fn gathers(&self, chunk: u32, lpn: Lpn) -> bool {
        let newest = self.newest[lpn];
        newest != GONE
            && self.gathered.range((chunk, 0)..=(chunk, u8::MAX)).any(|(_, &(_, token))| token == newest)
    }

    /// Whether anything that somebody needs gathers in a chunk of this number.
    pub fn needs_gathered(&self, chunk: u32) -> bool {
        self.gathered.range((chunk, 0)..=(chunk, u8::MAX)).any(|(_, &made)| self.is_needed_token(made))
    }

    /// The host says what it is about to write.
    pub fn tell(&mut self, lpn: Lpn, fingerprint: u64) {
        if self.fingerprint.is_empty() {
            self.fingerprint = IdVec::filled(0, self.newest.len() as u32);
        }
        self.told = Some((lpn, fingerprint));
    }

    /// A logical page has other content from now on.
    fn set_newest(&mut self, lpn: Lpn, token: u64) {
        let told = self.told.take().filter(|&(told, _)| told == lpn);
        if let Some(fingerprint) = self.fingerprint.get_mut(lpn) {
            *fingerprint = told.map_or(0, |(_, fingerprint)| fingerprint);
        }
        let before = std::mem::replace(&mut self.newest[lpn], token);
        if let Some(sharers) = self.sharers.get_mut(&before) {
            sharers.pages -= 1;
            if sharers.pages == 0 {
                self.sharers.remove(&before);
            }
        }
    }

    /// A logical page has no content any more.
    pub fn give_up(&mut self, lpn: Lpn) {
        self.set_newest(lpn, GONE);
    }

    fn make(&mut self, lpn: Lpn) -> Made {
        self.made += 1;
        self.set_newest(lpn, self.made);
        (lpn, self.made)
    }

    /// A page takes on new content for a logical page.
    pub fn write(&mut self, ppn: Ppn, lpn: Lpn) {
        let made = self.make(lpn);
        (self.writer[ppn], self.content[ppn]) = made;
    }

    /// As [`Contents::write`], where nobody says what it is.
    pub fn install(&mut self, ppn: Ppn, lpn: Lpn) {
        self.installed = true;
        self.write(ppn, lpn);
    }

    /// New content for a logical page gathers in the controller.
    pub fn gather(&mut self, chunk: u32, slot: u8, lpn: Lpn) {
        let made = self.make(lpn);
        self.gathered.insert((chunk, slot), made);
    }

    /// As [`Contents::gather`], where nobody says what it is.
    pub fn install_gathered(&mut self, chunk: u32, slot: u8, lpn: Lpn) {
        self.installed = true;
        self.gather(chunk, slot, lpn);
    }

    /// Nothing gathers in a chunk of this number any more.
    pub fn forget_gathered(&mut self, chunk: u32) {
        self.gathered.retain(|&(number, _), _| number != chunk);
    }

    /// What a part is.
    fn part(&self, part: Part) -> Option<Made> {
        match part {
            Part::Page(ppn) => Some(self.at(ppn)).filter(|made| made.1 != GONE),
            Part::Gathered { chunk, slot } => self.gathered.get(&(chunk, slot)).copied(),
            Part::Packed { first, slot } => {
                self.chunks.get(&self.content[first])?.slots.get(usize::from(slot)).copied()
            }
        }
    }

    /// Pages take on parts that lie elsewhere: one page a single one, several pages a chunk. What is wrong, if anything.
    pub fn pack(&mut self, first: Ppn, pages: u32, parts: &[Part]) -> Option<String> {
        let mut slots = Vec::with_capacity(parts.len());
        for &part in parts {
            match self.part(part).filter(|&made| self.is_needed_token(made)) {
                Some(made) => slots.push(made),
                None => return Some(format!("{part:?} is packed at page {first}, and nobody needs it")),
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

    /// Pages hold a chunk whose slots are these; nobody has those that are none.
    pub fn install_chunk(&mut self, first: Ppn, pages: u32, slots: &[Option<Lpn>]) {
        self.installed = true;
        if let ([Some(lpn)], 1) = (slots, pages) {
            return self.write(first, *lpn);
        }
        let made = slots.iter().map(|slot| slot.map_or((Lpn(0), GONE), |lpn| self.make(lpn))).collect();
        self.hold_chunk(first, pages, made);
    }

    /// A page holds what another one does.
    pub fn copy(&mut self, source: Ppn, destination: Ppn) {
        let token = self.content[source];
        if let Some(chunk) = self.chunks.get_mut(&token) {
            chunk.held_by += 1;
        }
        (self.writer[destination], self.content[destination]) = (self.writer[source], token);
    }

    /// A page was erased.
    pub fn erase(&mut self, ppn: Ppn) {
        let token = self.content[ppn];
        if let Some(chunk) = self.chunks.get_mut(&token) {
            chunk.held_by -= 1;
            if chunk.held_by == 0 {
                self.chunks.remove(&token);
            }
        }
        (self.writer[ppn], self.content[ppn]) = (NOBODY, GONE);
    }

    /// The host wrote `lpn` with what lies elsewhere. What is wrong, if anything.
    pub fn share(&mut self, part: Part, lpn: Lpn) -> Option<String> {
        let Some((writer, token)) = self.part(part).filter(|&(_, token)| token != GONE) else {
            return Some(format!("logical page {lpn} was to share {part:?}, which holds nothing"));
        };
        let has_it = self.newest[writer] == token;
        let held = match self.sharers.get(&token) {
            Some(sharers) => sharers.fingerprint,
            None if has_it => self.fingerprint.get(writer).copied().unwrap_or(0),
            None => {
                return Some(format!("logical page {lpn} was to share {part:?}, which nobody has any more"));
            }
        };
        let told = self.told.filter(|&(told, _)| told == lpn).map(|(_, fingerprint)| fingerprint);
        if let Some(told) = told.filter(|&told| told != held || told == 0)
            && !(self.installed && held == 0)
        {
            return Some(format!(
                "logical page {lpn} was given content {told:#x} and was to share {part:?}, which holds {held:#x}"
            ));
        }
        // The first to have it is still there, or nobody is.
        let first = Sharers { pages: u32::from(has_it), fingerprint: held };
        self.sharers.entry(token).or_insert(first).pages += 1;
        self.set_newest(lpn, token);
        None
    }
}
