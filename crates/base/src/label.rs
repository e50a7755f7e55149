//! Labels that the dispatcher assigns to requests (`ftl.dispatch`).
//!
//! Only a dispatcher fills this column of a batch; no source does.

use serde::{Deserialize, Serialize};

/// The group of writes to which a write belongs. Labels of one window differ by group; a later window may reuse the
/// numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label(u32);

impl Label {
    /// Belongs to no group.
    pub const REST: Self = Self(0);
    /// Is written often and belongs with all other such pages, regardless of the plane.
    pub const OFTEN: Self = Self(u32::MAX);

    /// Labels a member of a group whose writes go to one plane. Group numbers wrap around.
    #[inline]
    #[must_use]
    pub fn of_group(group: u32) -> Self {
        Self(1 + group % (u32::MAX - 1))
    }

    /// Returns the group of a member.
    #[inline]
    #[must_use]
    pub fn group(self) -> Option<u32> {
        (self != Self::REST && self != Self::OFTEN).then(|| self.0 - 1)
    }

    /// Returns whether the write is kept apart from writes without a group.
    #[inline]
    #[must_use]
    pub fn is_apart(self) -> bool {
        self != Self::REST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_none_of_the_others() {
        for group in [0, 1, u32::MAX - 2, u32::MAX - 1, u32::MAX] {
            let label = Label::of_group(group);
            assert!(label.is_apart() && label != Label::OFTEN);
            assert_eq!(label.group(), Some(group % (u32::MAX - 1)));
        }
        assert_eq!((Label::REST.group(), Label::OFTEN.group()), (None, None));
        assert!(!Label::REST.is_apart() && Label::OFTEN.is_apart());
    }
}
