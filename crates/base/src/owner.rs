//! To whom a physical page belongs, and where a logical page lies: the two directions of the map in one coding.
//!
//! | bits | of a plain word | of a word with the side bit |
//! |---|---|---|
//! | 31 | 0 | 1: a side table knows more |
//! | 30-29 | page number | the kind of side table |
//! | 28-0 | page number | the entry in it |
//!
//! In the map, a plain word is a physical page; in the reverse map, it is the one logical page that lies there. Whether a
//! page is mapped and whether it is plain are two questions: a shared page is mapped, but not plain.

use crate::{Lpn, Ppn};
use serde::{Deserialize, Serialize};

const SIDE: u32 = 1 << 31;
const KIND_SHIFT: u32 = 29;
/// Most entries of a side table, plus 1.
pub const SIDE_ENTRIES_MAX: u32 = 1 << KIND_SHIFT;

/// Which side table knows more.
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

/// The value of the kind's bits that says "nowhere".
const UNMAPPED_BITS: u32 = 0b111;

/// A word of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(transparent)]
#[serde(transparent)]
pub struct MapWord(u32);

impl MapWord {
    /// The word of a logical page that was never written, or was trimmed.
    pub const UNMAPPED: Self = Self(u32::MAX);

    /// The logical page lies on this page alone, and is alone there.
    #[inline(always)]
    #[must_use]
    pub const fn plain(ppn: Ppn) -> Self {
        Self(ppn.0)
    }

    /// A side table knows where it lies.
    #[must_use]
    pub const fn side(kind: SideKind, entry: u32) -> Self {
        Self(side_word(kind, entry))
    }

    /// The word that a table stores as these bits: any are a word.
    #[inline(always)]
    #[must_use]
    pub const fn of_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The word as it is stored.
    #[inline(always)]
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Whether the word is a physical page.
    #[inline(always)]
    #[must_use]
    pub const fn is_plain(self) -> bool {
        self.0 & SIDE == 0
    }

    /// Whether the logical page lies anywhere.
    #[inline(always)]
    #[must_use]
    pub const fn is_mapped(self) -> bool {
        self.0 >> KIND_SHIFT != UNMAPPED_BITS
    }

    /// The physical page of a plain word.
    #[inline(always)]
    #[must_use]
    pub const fn ppn(self) -> Option<Ppn> {
        if self.is_plain() { Some(Ppn(self.0)) } else { None }
    }

    /// Side table and entry of a word that is mapped and not plain.
    #[must_use]
    pub const fn entry(self) -> Option<(SideKind, u32)> {
        entry_of(self.0)
    }
}

/// To whom a physical page belongs: a word of the reverse map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(transparent)]
#[serde(transparent)]
pub struct Owner(u32);

impl Owner {
    /// One logical page, which lies nowhere else.
    #[inline(always)]
    #[must_use]
    pub const fn page(lpn: Lpn) -> Self {
        Self(lpn.0)
    }

    /// An entry of a side table.
    #[must_use]
    pub const fn side(kind: SideKind, entry: u32) -> Self {
        Self(side_word(kind, entry))
    }

    /// The owner that a table stores as these bits.
    #[inline(always)]
    #[must_use]
    pub const fn of_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The word as it is stored: the logical page itself, where there are no side tables.
    #[inline(always)]
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The only logical page, if there is just one.
    #[inline(always)]
    #[must_use]
    pub const fn lpn(self) -> Option<Lpn> {
        if self.0 & SIDE == 0 { Some(Lpn(self.0)) } else { None }
    }

    /// Side table and entry, if there is no such page.
    #[must_use]
    pub const fn entry(self) -> Option<(SideKind, u32)> {
        entry_of(self.0)
    }
}

/// # Panics
/// When the side table is full: entries are counted by who adds them.
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
