//! The flash array with or without the shadow model around it, chosen once per batch.

use floatgate_base::Extents;
use floatgate_flash::{Counters, Flash, Functional, Layout, Shadow};
use floatgate_ftl::{Ftl, Stopped};

/// The back end of a run.
#[derive(Clone, Debug)]
pub enum Array {
    /// Counts only.
    Functional(Functional),
    /// Counts, and is checked.
    Shadowed(Shadow<Functional>),
}

/// Runs `$body` with `$flash` bound to the back end, in code made for its type.
macro_rules! with_flash {
    ($array:expr, $flash:ident => $body:expr) => {
        match $array {
            $crate::array::Array::Functional($flash) => $body,
            $crate::array::Array::Shadowed($flash) => $body,
        }
    };
}
pub(crate) use with_flash;

impl Array {
    /// A fresh array.
    #[must_use]
    pub fn new(layout: Layout, logical_pages: u32, shadow: bool) -> Self {
        let functional = Functional::new(layout);
        if shadow {
            Self::Shadowed(Shadow::new(functional, logical_pages))
        } else {
            Self::Functional(functional)
        }
    }

    /// Serves extents through `ftl`.
    ///
    /// # Errors
    /// When the drive cannot go on.
    pub fn serve(&mut self, ftl: &mut Ftl, extents: &Extents) -> Result<(), Stopped> {
        with_flash!(self, flash => ftl.serve(flash, extents))
    }

    /// Starts counting afresh.
    pub fn reset_counts(&mut self, ftl: &mut Ftl) {
        with_flash!(self, flash => ftl.reset_counts(flash));
    }

    /// What has been counted.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        with_flash!(self, flash => flash.counters())
    }

    /// Erases by unit.
    #[must_use]
    pub fn erase_counts(&self) -> &[u32] {
        with_flash!(self, flash => flash.erase_counts())
    }

    /// What the shadow model found, if it found anything.
    #[must_use]
    pub fn violation(&self) -> Option<&str> {
        with_flash!(self, flash => flash.violation())
    }

    /// Checks all books of the drive.
    ///
    /// # Errors
    /// Says which do not agree.
    pub fn audit(&self, ftl: &Ftl) -> Result<(), String> {
        with_flash!(self, flash => ftl.audit(flash))
    }
}
