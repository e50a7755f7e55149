//! The drive: the FTL over its flash array, with its audits.

use crate::array::{Array, BackEnd, Watched, with_flash};
use crate::plan::Plan;
use floatgate_base::{DomainId, Error, Extents, UnitId};
use floatgate_flash::{Counters, Functional};
use floatgate_ftl::{Failure, Ftl, Stopped};
use std::ops::Range;

/// Requests, or extents, of one moment.
#[derive(Clone, Copy, Debug)]
pub struct TimeSlice {
    /// One past the last of them; they begin at the end of the previous slice.
    pub end: usize,
    /// Nanoseconds since counting began.
    pub now_ns: u64,
}

/// A drive.
#[derive(Clone, Debug)]
pub struct Drive<F> {
    /// The FTL.
    pub ftl: Ftl,
    /// The flash array.
    pub array: Array<F>,
}

impl<F: BackEnd> Drive<F> {
    /// Creates the empty drive of a plan.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let mut ftl = Ftl::new(plan.layout(), plan.ftl.setup);
        ftl.set_prefetching(plan.prefetching);
        if let Some(buffer) = plan.buffer.filter(|buffer| buffer.config.aware.is_some()) {
            ftl.set_warning(buffer.disturbed_share);
        }
        Self::with_ftl(plan, ftl)
    }

    /// Creates a drive with an existing FTL over an empty array.
    fn with_ftl(plan: &Plan, ftl: Ftl) -> Self {
        let setup = &plan.ftl.setup;
        let watched = Watched { logical_pages: setup.mapped_pages_max(), disturb: setup.disturb };
        let mut array = Array::<F>::new(plan.layout(), plan.drive.array, plan.shadow.then_some(watched));
        if let Some(dpes) = &setup.dpes {
            array.counts_mut().set_scaling(dpes.modes, dpes.start());
        }
        if plan.wears_out {
            array.counts_mut().set_endurance(plan.drive.endurance);
        }
        Self { ftl, array }
    }

    /// Continues with the FTL of another drive, whose array had these counts, as the first drive of another run; None
    /// if the plan describes another drive.
    #[must_use]
    pub fn go_on(plan: &Plan, mut ftl: Ftl, counts: &Functional) -> Option<Self> {
        if !ftl.continue_as(plan.ftl.setup) {
            return None;
        }
        let mut drive = Self::with_ftl(plan, ftl);
        if !drive.array.counts_mut().restore(counts.saved()) {
            return None;
        }
        let Self { ftl, array } = &mut drive;
        ftl.learn_wear(array.erase_counts());
        if plan.shadow {
            with_flash!(array, flash => ftl.show_content(flash));
        }
        Some(drive)
    }

    /// Adds `more(unit, erases)` erases to each unit: a leap of wear.
    pub fn leap(&mut self, more: impl FnMut(UnitId, u32) -> u32) {
        let Self { ftl, array } = self;
        let erases = array.counts_mut().leap(more);
        ftl.leap(array.erase_counts(), erases);
    }

    /// Serves the extents in `range`.
    ///
    /// # Errors
    /// The drive cannot continue.
    #[inline(always)]
    pub fn serve(&mut self, extents: &Extents, range: Range<usize>) -> Result<(), Stopped> {
        self.array.serve(&mut self.ftl, extents, range)
    }

    /// Serves runs of extents from `begin` on, each at its time.
    ///
    /// # Errors
    /// The drive cannot continue.
    pub fn serve_runs(
        &mut self,
        extents: &Extents,
        mut begin: usize,
        runs: &[TimeSlice],
    ) -> Result<(), Stopped> {
        for run in runs {
            self.array.counts_mut().set_now(run.now_ns);
            self.tell_time(run.now_ns).map_err(|failure| Stopped { extent: begin, failure })?;
            self.serve(extents, begin..run.end)?;
            begin = run.end;
        }
        Ok(())
    }

    /// Sets the time for gathering chunks: those that have waited long enough are programmed.
    ///
    /// # Errors
    /// The drive cannot continue.
    #[inline(always)]
    pub fn tell_time(&mut self, now_ns: u64) -> Result<(), Failure> {
        if self.ftl.gathers_chunks() { self.array.tell_time(&mut self.ftl, now_ns) } else { Ok(()) }
    }

    /// Lets a background job take its next step in a domain; returns false if no job does.
    ///
    /// # Errors
    /// The drive cannot continue.
    pub fn background_step(&mut self, domain: DomainId) -> Result<bool, Failure> {
        self.array.background_step(&mut self.ftl, domain)
    }

    /// Resets the counts.
    pub fn reset_counts(&mut self) {
        self.array.reset_counts(&mut self.ftl);
    }

    /// Returns the counts.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.array.counters()
    }

    /// Checks all books, with or without the shadow model.
    ///
    /// # Errors
    /// A run error that names the invariant.
    pub fn audit(&self) -> floatgate_base::Result<()> {
        self.array.audit(&self.ftl).map_err(|what| shadow_error(&what))
    }

    /// Checks whether the shadow model, if there is one, detected a violation.
    ///
    /// # Errors
    /// A run error with the violation.
    pub fn check_shadow(&self) -> floatgate_base::Result<()> {
        self.array.violation().map_or(Ok(()), |what| Err(shadow_error(what)))
    }
}

fn shadow_error(what: &str) -> Box<Error> {
    Error::run(
        format!("the shadow model found a fault: {what}"),
        "this is an error in floatgate; please report it",
    )
}
