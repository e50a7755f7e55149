//! What the dispatcher says of a request (`ftl.dispatch`).
//!
//! Only a dispatcher fills this column of a batch; no source does.

use serde::{Deserialize, Serialize};

/// With which other writes a write belongs together. Labels of one window differ by group; a later window may use the
/// same numbers again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label(u32);

impl Label {
    /// Belongs to no other.
    pub const REST: Self = Self(0);
    /// Is written often, and belongs to all others that are, in whichever plane.
    pub const OFTEN: Self = Self(u32::MAX);

    /// Member of a group whose writes go to one plane. Group numbers wrap around.
    #[inline]
    #[must_use]
    pub fn of_group(group: u32) -> Self {
        Self(1 + group % (u32::MAX - 1))
    }

    /// The group, if it is a member of one.
    #[inline]
    #[must_use]
    pub fn group(self) -> Option<u32> {
        (self != Self::REST && self != Self::OFTEN).then(|| self.0 - 1)
    }

    /// Whether it is kept apart from what belongs to no other.
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
