//! The owner of a physical page and the location of a logical page: both directions of the map in one encoding.
//!
//! | bits | plain word | word with the side bit |
//! |---|---|---|
//! | 31 | 0 | 1: see the side table |
//! | 30-29 | page number | kind of side table |
//! | 28-0 | page number | entry of the side table |
//!
//! In the map, a plain word is a physical page; in the reverse map, it is the only logical page stored there. Whether a
//! page is mapped and whether it is plain are separate questions: a shared page is mapped, but not plain.

use crate::{Lpn, Ppn};
use serde::{Deserialize, Serialize};

const SIDE: u32 = 1 << 31;
const KIND_SHIFT: u32 = 29;
/// Most entries of a side table, plus 1.
pub const SIDE_ENTRIES_MAX: u32 = 1 << KIND_SHIFT;

/// Kind of side table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum SideKind {
    /// Several logical pages have the same content on one physical page.
    Shared = 0,
    /// Several logical pages are packed into fewer physical pages.
    Packed = 1,
    /// A logical page lies on more than one physical page.
    Replicated = 2,
}

/// The kind bits of an unmapped page.
const UNMAPPED_BITS: u32 = 0b111;

/// A word of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(transparent)]
#[serde(transparent)]
pub struct MapWord(u32);

impl MapWord {
    /// The word of a logical page that was never written, or was trimmed.
    pub const UNMAPPED: Self = Self(u32::MAX);

    /// Returns the word of a logical page that lies on this physical page alone and shares it with no other.
    #[inline(always)]
    #[must_use]
    pub const fn plain(ppn: Ppn) -> Self {
        Self(ppn.0)
    }

    /// Returns the word of a logical page that an entry of a side table describes.
    #[must_use]
    pub const fn side(kind: SideKind, entry: u32) -> Self {
        Self(side_word(kind, entry))
    }

    /// Returns the word with these stored bits; every value is valid.
    #[inline(always)]
    #[must_use]
    pub const fn of_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Returns the bits to store.
    #[inline(always)]
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Returns whether the word is a physical page.
    #[inline(always)]
    #[must_use]
    pub const fn is_plain(self) -> bool {
        self.0 & SIDE == 0
    }

    /// Returns whether the logical page is mapped.
    #[inline(always)]
    #[must_use]
    pub const fn is_mapped(self) -> bool {
        self.0 >> KIND_SHIFT != UNMAPPED_BITS
    }

    /// Returns the physical page of a plain word.
    #[inline(always)]
    #[must_use]
    pub const fn ppn(self) -> Option<Ppn> {
        if self.is_plain() { Some(Ppn(self.0)) } else { None }
    }

    /// Returns the side table and entry of a word that is mapped and not plain.
    #[must_use]
    pub const fn entry(self) -> Option<(SideKind, u32)> {
        entry_of(self.0)
    }
}

/// The owner of a physical page: a word of the reverse map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(transparent)]
#[serde(transparent)]
pub struct Owner(u32);

impl Owner {
    /// Returns the owner of a page that holds one logical page with no other copy.
    #[inline(always)]
    #[must_use]
    pub const fn page(lpn: Lpn) -> Self {
        Self(lpn.0)
    }

    /// Returns the owner that an entry of a side table describes.
    #[must_use]
    pub const fn side(kind: SideKind, entry: u32) -> Self {
        Self(side_word(kind, entry))
    }

    /// Returns the owner with these stored bits.
    #[inline(always)]
    #[must_use]
    pub const fn of_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Returns the bits to store: the logical page itself if the drive has no side tables.
    #[inline(always)]
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Returns the logical page if it is the only owner.
    #[inline(always)]
    #[must_use]
    pub const fn lpn(self) -> Option<Lpn> {
        if self.0 & SIDE == 0 { Some(Lpn(self.0)) } else { None }
    }

    /// Returns the side table and entry of any other owner.
    #[must_use]
    pub const fn entry(self) -> Option<(SideKind, u32)> {
        entry_of(self.0)
    }
}

/// # Panics
/// When the side table is full: whatever adds entries counts them.
const fn side_word(kind: SideKind, entry: u32) -> u32 {
    assert!(entry < SIDE_ENTRIES_MAX, "no more than 2^29 entries fit into a map word");
    SIDE | (kind as u32) << KIND_SHIFT | entry
}

const fn entry_of(word: u32) -> Option<(SideKind, u32)> {
    let kind = match word >> KIND_SHIFT {
        0b100 => SideKind::Shared,
        0b101 => SideKind::Packed,
        0b110 => SideKind::Replicated,
        _ => return None,
    };
    Some((kind, word & (SIDE_ENTRIES_MAX - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PAGES_MAX;

    #[test]
    fn what_is_coded_is_what_is_read() {
        for page in [0, 1, 12345, (PAGES_MAX - 1) as u32] {
            let (word, owner) = (MapWord::plain(Ppn(page)), Owner::page(Lpn(page)));
            assert!(word.is_plain() && word.is_mapped());
            assert_eq!((word.ppn(), word.entry()), (Some(Ppn(page)), None));
            assert_eq!((owner.lpn(), owner.entry()), (Some(Lpn(page)), None));
        }
        for kind in [SideKind::Shared, SideKind::Packed, SideKind::Replicated] {
            for entry in [0, 1, 12345, SIDE_ENTRIES_MAX - 1] {
                let (word, owner) = (MapWord::side(kind, entry), Owner::side(kind, entry));
                assert!(!word.is_plain() && word.is_mapped());
                assert_eq!((word.ppn(), word.entry()), (None, Some((kind, entry))));
                assert_eq!((owner.lpn(), owner.entry()), (None, Some((kind, entry))));
                assert_eq!((MapWord::of_bits(word.bits()), Owner::of_bits(owner.bits())), (word, owner));
            }
        }
        let nowhere = MapWord::UNMAPPED;
        assert!(!nowhere.is_plain() && !nowhere.is_mapped());
        assert_eq!((nowhere.ppn(), nowhere.entry()), (None, None));
    }
}
