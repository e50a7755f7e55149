//! The distinct contents that were met: by fingerprint, then by their bytes.

use crate::codec::Sizes;
use rustc_hash::FxHashMap;

/// A content, in 12 bytes.
pub struct Content {
    /// The page that had it first; pages are counted through all files.
    pub first: u32,
    /// The page that had it last.
    pub last: u32,
    sizes: [u16; 2],
}

impl Content {
    /// Compressed sizes.
    pub fn sizes(&self) -> Sizes {
        self.sizes.map(u32::from)
    }
}

/// What came of comparing a page with the first copy of a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// The bytes are the same.
    Same,
    /// They differ.
    Different,
    /// The first copy cannot be read any more, or has changed.
    Unknown,
}

/// What came of looking for a page's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// It is this one.
    Known(u32),
    /// It is new. `after` is the last content with the same fingerprint; `collided` says that the bytes of one differ,
    /// `unknown` that they could not be compared with one.
    New { after: Option<u32>, collided: bool, unknown: bool },
}

/// All distinct contents, numbered in the order in which they were met.
#[derive(Default)]
pub struct Index {
    by_fingerprint: FxHashMap<u64, u32>,
    /// The next content with the same fingerprint; hardly ever there is one.
    next: FxHashMap<u32, u32>,
    contents: Vec<Content>,
}

impl Index {
    /// Looks for a content; `compare` is asked about each one with this fingerprint.
    pub fn find(&self, fingerprint: u64, mut compare: impl FnMut(u32, &Content) -> Compared) -> Found {
        let (mut after, mut collided, mut unknown) = (None, false, false);
        let mut at = self.by_fingerprint.get(&fingerprint).copied();
        while let Some(number) = at {
            match compare(number, &self.contents[number as usize]) {
                Compared::Same => return Found::Known(number),
                Compared::Different => collided = true,
                Compared::Unknown => unknown = true,
            }
            after = Some(number);
            at = self.next.get(&number).copied();
        }
        Found::New { after, collided, unknown }
    }

    /// Adds a content that [`Self::find`] has found to be new; its number.
    pub fn add(&mut self, fingerprint: u64, after: Option<u32>, page: u32, sizes: Sizes) -> u32 {
        let number = self.contents.len() as u32;
        self.contents.push(Content { first: page, last: page, sizes: sizes.map(|size| size as u16) });
        match after {
            None => self.by_fingerprint.insert(fingerprint, number),
            Some(before) => self.next.insert(before, number),
        };
        number
    }

    /// A content by its number.
    pub fn content(&mut self, number: u32) -> &mut Content {
        &mut self.contents[number as usize]
    }

    /// Number of distinct contents.
    pub fn len(&self) -> u64 {
        self.contents.len() as u64
    }
}
