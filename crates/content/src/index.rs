//! The distinct contents so far: by fingerprint, then by their bytes.

use crate::codec::Sizes;
use rustc_hash::FxHashMap;

/// A content, in 12 bytes.
pub struct Content {
    /// The first page with this content; pages are numbered through all files.
    pub first: u32,
    /// The latest page with this content.
    pub last: u32,
    sizes: [u16; 2],
}

impl Content {
    /// Returns the compressed sizes.
    pub fn sizes(&self) -> Sizes {
        self.sizes.map(u32::from)
    }
}

/// Result of comparing a page with the first copy of a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// The bytes are the same.
    Same,
    /// They differ.
    Different,
    /// The first copy can no longer be read, or has changed.
    Unknown,
}

/// Result of looking up a page's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The content with this number.
    Known(u32),
    /// A new content. `after` is the last content with the same fingerprint. `collided`: the bytes of one of these
    /// differ. `unknown`: one of these could not be compared.
    New { after: Option<u32>, collided: bool, unknown: bool },
}

/// All distinct contents, numbered in the order of their first occurrence.
#[derive(Default)]
pub struct Index {
    by_fingerprint: FxHashMap<u64, u32>,
    /// The next content with the same fingerprint; rare.
    next: FxHashMap<u32, u32>,
    contents: Vec<Content>,
}

impl Index {
    /// Looks up a content; `compare` compares it with each content of the same fingerprint.
    pub fn find(&self, fingerprint: u64, mut compare: impl FnMut(u32, &Content) -> Compared) -> Lookup {
        let (mut after, mut collided, mut unknown) = (None, false, false);
        let mut at = self.by_fingerprint.get(&fingerprint).copied();
        while let Some(number) = at {
            match compare(number, &self.contents[number as usize]) {
                Compared::Same => return Lookup::Known(number),
                Compared::Different => collided = true,
                Compared::Unknown => unknown = true,
            }
            after = Some(number);
            at = self.next.get(&number).copied();
        }
        Lookup::New { after, collided, unknown }
    }

    /// Adds a content that [`Self::find`] reported as new, and returns its number.
    pub fn add(&mut self, fingerprint: u64, after: Option<u32>, page: u32, sizes: Sizes) -> u32 {
        let number = self.contents.len() as u32;
        self.contents.push(Content { first: page, last: page, sizes: sizes.map(|size| size as u16) });
        match after {
            None => self.by_fingerprint.insert(fingerprint, number),
            Some(before) => self.next.insert(before, number),
        };
        number
    }

    /// Returns the content with this number.
    pub fn content(&mut self, number: u32) -> &mut Content {
        &mut self.contents[number as usize]
    }

    /// Returns the number of distinct contents.
    pub fn len(&self) -> u64 {
        self.contents.len() as u64
    }
}
