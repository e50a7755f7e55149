//! Faults of policies from outside, which stop the run: a call that failed, or an answer that the drive cannot follow.

use std::cell::Cell;

/// Calls of a victim policy that are all made twice; of later ones one in as many.
const CHECKED: u32 = 256;

/// The first fault; later ones follow from it.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    first: Cell<Option<&'static str>>,
    /// Calls of the victim policy so far.
    calls: Cell<u32>,
}

impl Faults {
    /// Keeps a fault, unless there is one. Its text stays for the life of the process: a run has one at most.
    #[cold]
    pub fn report(&self, what: String) {
        if self.first.get().is_none() {
            self.first.set(Some(what.leak()));
        }
    }

    /// Counts a call of the victim policy, and returns whether it is one that should be made twice.
    #[inline(always)]
    #[must_use]
    pub fn is_check_due(&self) -> bool {
        let calls = self.calls.get().wrapping_add(1);
        self.calls.set(calls);
        calls <= CHECKED || calls.is_multiple_of(CHECKED)
    }

    /// Returns the first fault.
    #[inline(always)]
    #[must_use]
    pub fn first(&self) -> Option<&'static str> {
        self.first.get()
    }
}
