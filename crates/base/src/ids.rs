//! Identifiers as distinct types, which the compiler does not let a caller confuse, and tables indexed by one of them.
//!
//! Why not a crate: `typed-index-collections` requires `From<usize>` of every id before it can enumerate. Then any code
//! could turn any number into an id. The code needed here is short.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Add, AddAssign, Deref, DerefMut, Index, IndexMut, Range, Sub};

/// An index of a table.
pub trait Id: Copy {
    /// Returns the position in a table.
    fn index(self) -> usize;
    /// Returns the id of a position in a table.
    fn at(index: usize) -> Self;
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[repr(transparent)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The largest number, which no drive uses.
            pub const MAX: Self = Self(u32::MAX);

            /// Returns the position in a table.
            #[inline(always)]
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// Iterates over the first `count` ids, from 0.
            #[inline(always)]
            pub fn all(count: u32) -> impl ExactSizeIterator<Item = Self> + DoubleEndedIterator + Clone {
                (0..count).map(Self)
            }

            /// Iterates over the ids of a range.
            #[inline(always)]
            pub fn each(range: Range<Self>) -> impl ExactSizeIterator<Item = Self> + DoubleEndedIterator + Clone {
                (range.start.0..range.end.0).map(Self)
            }
        }

        impl Id for $name {
            #[inline(always)]
            fn index(self) -> usize {
                self.0 as usize
            }

            #[inline(always)]
            fn at(index: usize) -> Self {
                Self(index as u32)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

ids! {
    /// A logical page number: the host's address divided by the page size.
    Lpn;
    /// A physical page number, `unit * pages_per_unit + offset`; at most 2^31 - 1.
    Ppn;
    /// Number of an erase unit: a block under plane scope, a superblock under superblock scope.
    UnitId;
    /// Number of a domain: a pool of units that allocates and collects for itself.
    DomainId;
    /// Number of a stream of writes; each has an open unit of its own in every domain.
    StreamId;
}

/// Arithmetic for consecutive numbers, whose distances have a meaning.
macro_rules! rows {
    ($($name:ident)*) => {$(
        impl Add<u32> for $name {
            type Output = Self;

            #[inline(always)]
            fn add(self, distance: u32) -> Self {
                Self(self.0 + distance)
            }
        }

        impl AddAssign<u32> for $name {
            #[inline(always)]
            fn add_assign(&mut self, distance: u32) {
                self.0 += distance;
            }
        }

        impl Sub for $name {
            type Output = u32;

            #[inline(always)]
            fn sub(self, other: Self) -> u32 {
                self.0 - other.0
            }
        }
    )*};
}

rows! { Lpn Ppn }

/// A table indexed by an id, or a part of one.
#[repr(transparent)]
pub struct IdSlice<I, T> {
    id: PhantomData<fn(I)>,
    raw: [T],
}

impl<I: Id, T> IdSlice<I, T> {
    /// Views a slice, whose values are in the order of the ids, as a table.
    #[inline(always)]
    #[must_use]
    pub fn of(raw: &[T]) -> &Self {
        // SAFETY: the type is a transparent wrapper of `[T]`.
        unsafe { &*(std::ptr::from_ref(raw) as *const Self) }
    }

    /// Views a mutable slice as a table.
    #[inline(always)]
    #[must_use]
    pub fn of_mut(raw: &mut [T]) -> &mut Self {
        // SAFETY: the type is a transparent wrapper of `[T]`.
        unsafe { &mut *(std::ptr::from_mut(raw) as *mut Self) }
    }

    /// Returns the values in the order of the ids.
    #[inline(always)]
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.raw
    }

    /// Returns the values in the order of the ids, mutable.
    #[inline(always)]
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.raw
    }

    /// Returns the number of values.
    #[inline(always)]
    #[must_use]
    pub fn len(&self) -> usize {
        self.raw.len()
    }

    /// Returns whether the table is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// Returns the value of an id, if the table has one.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, id: I) -> Option<&T> {
        self.raw.get(id.index())
    }

    /// Returns the value of an id for modification, if the table has one.
    #[inline(always)]
    #[must_use]
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.raw.get_mut(id.index())
    }

    /// Iterates over the values in the order of the ids.
    #[inline(always)]
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.raw.iter()
    }

    /// Iterates over mutable values in the order of the ids.
    #[inline(always)]
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.raw.iter_mut()
    }

    /// Iterates over the values with their ids.
    pub fn enumerate(&self) -> impl Iterator<Item = (I, &T)> {
        self.raw.iter().enumerate().map(|(at, value)| (I::at(at), value))
    }

    /// Returns the first id whose value satisfies `is_it`.
    pub fn position(&self, is_it: impl FnMut(&T) -> bool) -> Option<I> {
        self.raw.iter().position(is_it).map(I::at)
    }

    /// Sets all values to `value`.
    pub fn fill(&mut self, value: T)
    where
        T: Clone,
    {
        self.raw.fill(value);
    }
}

impl<I: Id, T> Index<I> for IdSlice<I, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, id: I) -> &T {
        &self.raw[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for IdSlice<I, T> {
    #[inline(always)]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.raw[id.index()]
    }
}

impl<I, T: PartialEq> PartialEq for IdSlice<I, T> {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl<I, T: fmt::Debug> fmt::Debug for IdSlice<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw.fmt(f)
    }
}

impl<'a, I: Id, T> IntoIterator for &'a IdSlice<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// A table indexed by an id; serialized as a vector.
#[derive(Serialize, Deserialize)]
#[serde(transparent, bound(serialize = "T: Serialize", deserialize = "T: Deserialize<'de>"))]
pub struct IdVec<I, T> {
    raw: Vec<T>,
    #[serde(skip)]
    id: PhantomData<fn(I)>,
}

impl<I: Id, T> IdVec<I, T> {
    /// Creates a table of `count` equal values.
    #[must_use]
    pub fn filled(value: T, count: u32) -> Self
    where
        T: Clone,
    {
        vec![value; count as usize].into()
    }

    /// Returns the values in the order of the ids, as a vector.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.raw
    }
}

impl<I, T> From<Vec<T>> for IdVec<I, T> {
    fn from(raw: Vec<T>) -> Self {
        Self { raw, id: PhantomData }
    }
}

impl<I, T> FromIterator<T> for IdVec<I, T> {
    fn from_iter<V: IntoIterator<Item = T>>(values: V) -> Self {
        Vec::from_iter(values).into()
    }
}

impl<I, T> Default for IdVec<I, T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<I, T: Clone> Clone for IdVec<I, T> {
    fn clone(&self) -> Self {
        self.raw.clone().into()
    }
}

impl<I, T: PartialEq> PartialEq for IdVec<I, T> {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl<I, T: Eq> Eq for IdVec<I, T> {}

impl<I, T: fmt::Debug> fmt::Debug for IdVec<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw.fmt(f)
    }
}

impl<I: Id, T> Deref for IdVec<I, T> {
    type Target = IdSlice<I, T>;

    #[inline(always)]
    fn deref(&self) -> &IdSlice<I, T> {
        IdSlice::of(&self.raw)
    }
}

impl<I: Id, T> DerefMut for IdVec<I, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut IdSlice<I, T> {
        IdSlice::of_mut(&mut self.raw)
    }
}

impl<'a, I: Id, T> IntoIterator for &'a IdVec<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_that_of_its_ids() {
        let mut table: IdVec<UnitId, u32> = IdVec::filled(7, 3);
        table[UnitId(1)] = 8;
        assert_eq!((table[UnitId(0)], table.get(UnitId(1)), table.get(UnitId(3))), (7, Some(&8), None));
        assert_eq!(
            table.enumerate().collect::<Vec<_>>(),
            [(UnitId(0), &7), (UnitId(1), &8), (UnitId(2), &7)]
        );
        assert_eq!(table.position(|&value| value == 8), Some(UnitId(1)));
        assert_eq!(IdSlice::<UnitId, _>::of(&[7, 8, 7]), &*table);
        assert_eq!(UnitId::all(3).rev().collect::<Vec<_>>(), [UnitId(2), UnitId(1), UnitId(0)]);
        assert_eq!(DomainId::each(DomainId(2)..DomainId(4)).collect::<Vec<_>>(), [DomainId(2), DomainId(3)]);
        assert_eq!((format!("{}", UnitId(5)), format!("{table:?}")), ("5".into(), "[7, 8, 7]".into()));
    }
}
