//! The flash array of a run: a back end, with or without the shadow model around it, selected once per batch.

use floatgate_base::{DomainId, Extents, IdSlice, UnitId};
use floatgate_flash::timed::Settings;
use floatgate_flash::{Counters, Flash, Functional, Layout, Shadow, Timed};
use floatgate_ftl::{Failure, Ftl, Reclaim, Stopped};
use floatgate_nand::Disturb;
use std::ops::Range;

/// A back end under the FTL. Its type determines whether operations take time.
pub trait BackEnd: Flash {
    /// Creates an empty array.
    fn new(layout: Layout, settings: Settings) -> Self;
    /// Returns state and counts, without time.
    fn counts(&self) -> &Functional;
    /// Returns state and counts, without time.
    fn counts_mut(&mut self) -> &mut Functional;
}

impl BackEnd for Functional {
    fn new(layout: Layout, _: Settings) -> Self {
        Self::new(layout)
    }

    fn counts(&self) -> &Functional {
        self
    }

    fn counts_mut(&mut self) -> &mut Functional {
        self
    }
}

impl BackEnd for Timed {
    fn new(layout: Layout, settings: Settings) -> Self {
        Self::new(layout, settings)
    }

    fn counts(&self) -> &Functional {
        self.counts()
    }

    fn counts_mut(&mut self) -> &mut Functional {
        self.counts_mut()
    }
}

/// Input of the shadow model.
#[derive(Clone, Copy, Debug)]
pub struct Watched {
    /// Logical pages, those of the metadata included.
    pub logical_pages: u32,
    /// Parameters of read disturb and its manager, if reads disturb.
    pub disturb: Option<(Disturb, Reclaim)>,
}

/// A back end, checked or not.
#[expect(clippy::large_enum_variant, reason = "there is one in a run")]
#[derive(Clone, Debug)]
pub enum Array<F> {
    /// The back end alone.
    Plain(F),
    /// With the shadow model around it.
    Shadowed(Shadow<F>),
}

/// Runs `$body` with `$flash` bound to the array, monomorphized for its type.
macro_rules! with_flash {
    ($array:expr, $flash:ident => $body:expr) => {
        match $array {
            $crate::array::Array::Plain($flash) => $body,
            $crate::array::Array::Shadowed($flash) => $body,
        }
    };
}
pub(crate) use with_flash;

impl<F: BackEnd> Array<F> {
    /// Creates an empty array, with a shadow model or without.
    #[must_use]
    pub fn new(layout: Layout, settings: Settings, shadow: Option<Watched>) -> Self {
        let loses_power = !settings.plp && layout.is_packed();
        let back_end = F::new(layout, settings);
        let Some(watched) = shadow else { return Self::Plain(back_end) };
        let mut shadow = Shadow::new(back_end, watched.logical_pages);
        if loses_power {
            shadow = shadow.with_power_cuts();
        }
        if let Some((disturb, reclaim)) = watched.disturb {
            shadow = shadow.with_disturb(disturb, !matches!(reclaim, Reclaim::None(_)));
        }
        Self::Shadowed(shadow)
    }

    /// Returns the back end.
    #[must_use]
    #[inline(always)]
    pub fn back_end(&self) -> &F {
        match self {
            Self::Plain(back_end) => back_end,
            Self::Shadowed(shadow) => shadow.inner(),
        }
    }

    /// Returns the back end.
    #[inline(always)]
    pub fn back_end_mut(&mut self) -> &mut F {
        match self {
            Self::Plain(back_end) => back_end,
            Self::Shadowed(shadow) => shadow.inner_mut(),
        }
    }

    /// Returns state and counts of the array, without time and without the shadow model.
    #[must_use]
    pub fn counts(&self) -> &Functional {
        self.back_end().counts()
    }

    /// Returns state and counts of the array, without time and without the shadow model.
    pub fn counts_mut(&mut self) -> &mut Functional {
        self.back_end_mut().counts_mut()
    }

    /// Serves the extents in `range` through `ftl`.
    ///
    /// # Errors
    /// The drive cannot continue.
    #[inline(always)]
    pub fn serve(&mut self, ftl: &mut Ftl, extents: &Extents, range: Range<usize>) -> Result<(), Stopped> {
        with_flash!(self, flash => ftl.serve_range(flash, extents, range))
    }

    /// Sets the current time; see [`Ftl::tell_time`].
    ///
    /// # Errors
    /// The drive cannot continue.
    pub fn tell_time(&mut self, ftl: &mut Ftl, now_ns: u64) -> Result<(), Failure> {
        with_flash!(self, flash => ftl.tell_time(flash, now_ns))
    }

    /// Lets a background job take its next step in a domain; see [`Ftl::background_step`].
    ///
    /// # Errors
    /// The drive cannot continue.
    pub fn background_step(&mut self, ftl: &mut Ftl, domain: DomainId) -> Result<bool, Failure> {
        with_flash!(self, flash => ftl.background_step(flash, domain))
    }

    /// Resets the counts.
    pub fn reset_counts(&mut self, ftl: &mut Ftl) {
        with_flash!(self, flash => ftl.reset_counts(flash));
    }

    /// Returns the counts.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        with_flash!(self, flash => flash.counters())
    }

    /// Returns erases by unit.
    #[must_use]
    pub fn erase_counts(&self) -> &IdSlice<UnitId, u32> {
        with_flash!(self, flash => flash.erase_counts())
    }

    /// Returns the violation that the shadow model detected, if any.
    #[must_use]
    pub fn violation(&self) -> Option<&str> {
        with_flash!(self, flash => flash.violation())
    }

    /// Checks all books of the drive.
    ///
    /// # Errors
    /// Names those that disagree.
    pub fn audit(&self, ftl: &Ftl) -> Result<(), String> {
        with_flash!(self, flash => ftl.audit(flash))
    }
}
