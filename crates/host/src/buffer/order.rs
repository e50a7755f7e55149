//! Recency order: a doubly linked list over the numbers of places.

use super::NOWHERE;
use serde::{Deserialize, Serialize};

/// A list without allocation; it contains each place at most once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Order {
    /// By place: the next more recently used one, and the next less recently used one.
    newer: Vec<u32>,
    older: Vec<u32>,
    newest: u32,
    oldest: u32,
    len: u32,
}

impl Order {
    pub fn new(places: u32) -> Self {
        let links = || vec![NOWHERE; places as usize];
        Self { newer: links(), older: links(), newest: NOWHERE, oldest: NOWHERE, len: 0 }
    }

    /// Returns the place used least recently, or [`NOWHERE`].
    #[inline]
    pub fn oldest(&self) -> u32 {
        self.oldest
    }

    /// Returns the next more recently used place, or [`NOWHERE`].
    pub fn newer(&self, place: u32) -> u32 {
        self.newer[place as usize]
    }

    /// Iterates over all places, from the least recently used one.
    pub fn places(&self) -> impl Iterator<Item = u32> {
        let next = |&place: &u32| Some(self.newer(place)).filter(|&next| next != NOWHERE);
        std::iter::successors(Some(self.oldest).filter(|&oldest| oldest != NOWHERE), next)
    }

    /// Returns whether the list has no more than `places` entries and contains none twice.
    pub fn is_sound(&self, places: usize) -> bool {
        let (mut place, mut older, mut len) = (self.oldest, NOWHERE, 0);
        let tables = self.newer.len() == places && self.older.len() == places;
        while tables && place != NOWHERE {
            match self.older.get(place as usize) {
                Some(&before) if before == older => {}
                _ => return false,
            }
            (older, place, len) = (place, self.newer[place as usize], len + 1);
        }
        tables && older == self.newest && len == self.len
    }

    pub fn len(&self) -> u32 {
        self.len
    }

    /// Adds a place that is not in the list, as the one used last.
    #[inline]
    pub fn add(&mut self, place: u32) {
        self.newer[place as usize] = NOWHERE;
        self.older[place as usize] = self.newest;
        match self.newest {
            NOWHERE => self.oldest = place,
            before => self.newer[before as usize] = place,
        }
        self.newest = place;
        self.len += 1;
    }

    /// Removes a place from the list.
    #[inline]
    pub fn remove(&mut self, place: u32) {
        let (newer, older) = (self.newer[place as usize], self.older[place as usize]);
        match newer {
            NOWHERE => self.newest = older,
            newer => self.older[newer as usize] = older,
        }
        match older {
            NOWHERE => self.oldest = newer,
            older => self.newer[older as usize] = newer,
        }
        self.len -= 1;
    }

    /// Makes a place of the list the one used last.
    #[inline]
    pub fn touch(&mut self, place: u32) {
        if self.newest != place {
            self.remove(place);
            self.add(place);
        }
    }
}
