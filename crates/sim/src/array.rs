//! The flash array: functional or timed, with or without the shadow model around it, chosen once per batch.

use crate::plan::Mode;
use floatgate_base::Extents;
use floatgate_flash::timed::Settings;
use floatgate_flash::{Counters, Flash, Functional, Layout, Shadow, Timed};
use floatgate_ftl::{Failure, Ftl, Stopped};
use floatgate_nand::Endurance;
use std::ops::Range;

/// The back end of a run.
#[derive(Clone, Debug)]
pub enum Array {
    /// Counts only.
    Functional(Functional),
    /// Counts, and is checked.
    Shadowed(Shadow<Functional>),
    /// Counts and times.
    Timed(Timed),
    /// Counts and times, and is checked.
    ShadowedTimed(Shadow<Timed>),
}

/// Requests, or extents, that happen at one time.
#[derive(Clone, Copy, Debug)]
pub struct Together {
    /// One past the last of them; they begin where the run before ended.
    pub end: usize,
    /// Nanoseconds since counting began.
    pub now_ns: u64,
}

/// Runs `$body` with `$flash` bound to the back end, in code made for its type.
macro_rules! with_flash {
    ($array:expr, $flash:ident => $body:expr) => {
        match $array {
            $crate::array::Array::Functional($flash) => $body,
            $crate::array::Array::Shadowed($flash) => $body,
            $crate::array::Array::Timed($flash) => $body,
            $crate::array::Array::ShadowedTimed($flash) => $body,
        }
    };
}
pub(crate) use with_flash;

impl Array {
    /// A fresh array, whose blocks wear out if it is said what they stand.
    #[must_use]
    pub fn new(
        layout: Layout,
        logical_pages: u32,
        mode: Mode,
        settings: Settings,
        shadow: bool,
        endurance: Option<Endurance>,
    ) -> Self {
        let mut array = match (mode, shadow) {
            (Mode::Functional, false) => Self::Functional(Functional::new(layout)),
            (Mode::Functional, true) => Self::Shadowed(Shadow::new(Functional::new(layout), logical_pages)),
            (Mode::Timed(_), false) => Self::Timed(Timed::new(layout, settings)),
            (Mode::Timed(_), true) => {
                Self::ShadowedTimed(Shadow::new(Timed::new(layout, settings), logical_pages))
            }
        };
        if let Some(endurance) = endurance {
            array.counts_mut().set_endurance(endurance);
        }
        array
    }

    /// Serves runs of extents from `begin` on through `ftl`, each at its time.
    ///
    /// # Errors
    /// When the drive cannot go on.
    pub fn serve_runs(
        &mut self,
        ftl: &mut Ftl,
        extents: &Extents,
        mut begin: usize,
        runs: &[Together],
    ) -> Result<(), Stopped> {
        for run in runs {
            self.counts_mut().set_now(run.now_ns);
            self.serve(ftl, extents, begin..run.end)?;
            begin = run.end;
        }
        Ok(())
    }

    /// Serves the extents in `range` through `ftl`.
    ///
    /// # Errors
    /// When the drive cannot go on.
    pub fn serve(&mut self, ftl: &mut Ftl, extents: &Extents, range: Range<usize>) -> Result<(), Stopped> {
        with_flash!(self, flash => ftl.serve_range(flash, extents, range))
    }

    /// A job in idle time takes its next step in a domain; see [`Ftl::background_step`].
    ///
    /// # Errors
    /// When the drive cannot go on.
    pub fn background_step(&mut self, ftl: &mut Ftl, domain: u32) -> Result<bool, Failure> {
        with_flash!(self, flash => ftl.background_step(flash, domain))
    }

    /// The timed back end, if it is one.
    pub fn timed_mut(&mut self) -> Option<&mut Timed> {
        match self {
            Self::Timed(timed) => Some(timed),
            Self::ShadowedTimed(shadow) => Some(shadow.inner_mut()),
            _ => None,
        }
    }

    /// The timed back end, if it is one.
    #[must_use]
    pub fn timed(&self) -> Option<&Timed> {
        match self {
            Self::Timed(timed) => Some(timed),
            Self::ShadowedTimed(shadow) => Some(shadow.inner()),
            _ => None,
        }
    }

    /// State and counts of the array, without time and without the shadow model.
    #[must_use]
    pub fn counts(&self) -> &Functional {
        match self {
            Self::Functional(counts) => counts,
            Self::Shadowed(shadow) => shadow.inner(),
            Self::Timed(timed) => timed.counts(),
            Self::ShadowedTimed(shadow) => shadow.inner().counts(),
        }
    }

    /// State and counts of the array, without time and without the shadow model.
    pub fn counts_mut(&mut self) -> &mut Functional {
        match self {
            Self::Functional(counts) => counts,
            Self::Shadowed(shadow) => shadow.inner_mut(),
            Self::Timed(timed) => timed.counts_mut(),
            Self::ShadowedTimed(shadow) => shadow.inner_mut().counts_mut(),
        }
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
