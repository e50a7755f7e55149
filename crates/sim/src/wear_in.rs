//! Wear-in of a drive: laps of the trace before the first counted request, until they converge.
//!
//! A lap consists of as many passes over the trace as write a quarter of the drive. Convergence is determined as in
//! [`crate::laps`]. The laps end on convergence, or at their limit of writes. Reads count towards the limit, too:
//! otherwise a trace that writes little would continue for long. The laps are not counted, including their wear, and
//! take no time.

use crate::plan::{Plan, Precondition, Workload};
use crate::reading::survey::PassSize;
use crate::trend::trend;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Laps per drive write.
const LAPS_PER_WRITE: u64 = 4;
/// Minimum size of the drive for the length of laps, in pages: on a small one fewer writes would scatter.
const PAGES_MIN: u64 = 1 << 16;
/// Relative distance to the limit of write amplification that is acceptable. These laps are short; a life, forecast
/// from laps alone, requires less (`lifetime.forecast.waf_error_max`).
const ERROR_MAX: f64 = 0.02;
/// Requests plus page writes of laps per page that they may write: as many requests as pages, if each writes one.
const WORK_PER_PAGE: f64 = 2.0;

/// The reason for the end of the laps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ended {
    /// They converged.
    Stationary,
    /// They reached their limit of writes (`ftl.wear_in_max`).
    Bounded,
    /// A pass writes the drive at least once: the run itself wears it in.
    Long,
    /// The trace writes nothing.
    NoWrites,
    /// A single pass reads and writes more than laps may.
    TooMuch,
    /// The trace comes from a pipe, which can be read only once.
    Pipe,
    /// A generator continues, without passes.
    Generator,
    /// The separator knows the workload to its end, and laps are not part of it.
    Foreseen,
    /// Laps were not requested.
    NotAsked,
}

impl Ended {
    /// Describes the reason for people.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Stationary => "write amplification no longer changes from lap to lap",
            Self::Bounded => "write amplification still changes; ftl.wear_in_max ended the laps",
            Self::Long => "a pass over the trace writes the drive at least once",
            Self::NoWrites => "the trace writes nothing",
            Self::TooMuch => "a single pass reads and writes more than laps may (ftl.wear_in_max)",
            Self::Pipe => "a trace from a pipe cannot be read twice",
            Self::Generator => "a generator has no passes (workload.warmup_requests warms up)",
            Self::Foreseen => "the separator knows the workload to its end",
            Self::NotAsked => "not requested",
        }
    }
}

/// Programs and host page writes so far.
type Mark = (u64, u64);

/// The laps before counting begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WearIn {
    /// Complete passes.
    pub passes: u64,
    /// Maximum of passes; 0 before the trace is known, and without laps.
    pub passes_max: u64,
    /// Size of a pass, if it had to be determined.
    pub pass: Option<PassSize>,
    /// The reason for the end, once it is reached.
    pub ended: Option<Ended>,
    /// Relative distance to the limit of write amplification, from three laps on.
    pub error: Option<f64>,
    /// Marks before the first lap and after each.
    marks: Vec<Mark>,
    /// Counts after the last pass.
    now: Mark,
}

/// Returns the size of the drive for the length of laps.
fn drive_pages(plan: &Plan) -> u64 {
    u64::from(plan.ftl.setup.logical_pages).max(PAGES_MIN)
}

/// Returns the limit of page writes of the laps.
fn budget(plan: &Plan) -> f64 {
    let share = plan.ftl.auto.and_then(|auto| auto.wear_in_max).unwrap_or(0.0);
    share * drive_pages(plan) as f64
}

impl WearIn {
    /// Creates the laps of a plan; None if it has none.
    pub(crate) fn of(plan: &Plan) -> Option<Self> {
        let auto = plan.ftl.auto.filter(|_| plan.ftl.precondition == Precondition::Auto)?;
        let ended = match &plan.workload.source {
            Workload::Synthetic(_) => Some(Ended::Generator),
            Workload::Trace { path, .. } if !Path::new(path).is_file() => Some(Ended::Pipe),
            Workload::Trace { .. } if plan.ftl.setup.separate.foresees() => Some(Ended::Foreseen),
            Workload::Trace { .. } if auto.wear_in_max.is_none_or(|max| max == 0.0) => Some(Ended::NotAsked),
            Workload::Trace { .. } => None,
        };
        Some(Self { passes: 0, passes_max: 0, pass: None, ended, error: None, marks: vec![], now: (0, 0) })
    }

    /// Returns whether the trace must be read before the number of laps and the fill of the drive are known.
    pub(crate) fn wants_survey(&self) -> bool {
        let readable = !matches!(self.ended, Some(Ended::Generator | Ended::Pipe));
        readable && self.pass.is_none()
    }

    /// Sets the size of a pass.
    pub(crate) fn learn(&mut self, plan: &Plan, pass: PassSize) {
        self.pass = Some(pass);
        if self.ended.is_some() {
            return;
        }
        let (writes, work) = (pass.page_writes as f64, (pass.requests + pass.page_writes) as f64);
        let budget = budget(plan);
        self.passes_max = ((budget / writes).ceil()).min((WORK_PER_PAGE * budget / work).floor()) as u64;
        self.ended = match pass.page_writes {
            0 => Some(Ended::NoWrites),
            n if n >= u64::from(plan.ftl.setup.logical_pages) => Some(Ended::Long),
            _ if self.passes_max == 0 => Some(Ended::TooMuch),
            _ => None,
        };
        if self.ended.is_some() {
            self.passes_max = 0;
        }
    }

    /// Begins the laps on the full drive; returns whether there are any.
    pub(crate) fn begin(&mut self, programs: u64, page_writes: u64) -> bool {
        self.now = (programs, page_writes);
        self.marks = vec![self.now];
        self.ended.is_none()
    }

    /// Ends a pass; returns whether it was the last one.
    pub(crate) fn end_pass(&mut self, plan: &Plan, programs: u64, page_writes: u64) -> bool {
        self.passes += 1;
        self.now = (programs, page_writes);
        let lap = drive_pages(plan) / LAPS_PER_WRITE;
        if page_writes - self.marks.last().map_or(0, |mark| mark.1) >= lap {
            self.marks.push(self.now);
            self.judge();
        }
        if self.ended.is_none() && self.passes >= self.passes_max {
            self.ended = Some(Ended::Bounded);
        }
        self.ended.is_some()
    }

    fn judge(&mut self) {
        let marks = &self.marks;
        let waf = |from: usize, to: usize| {
            (marks[to].0 - marks[from].0) as f64 / (marks[to].1 - marks[from].1) as f64
        };
        let (error, _) = trend(marks.len() - 1, waf, ERROR_MAX);
        self.error = error.is_finite().then_some(error);
        if error <= ERROR_MAX {
            self.ended = Some(Ended::Stationary);
        }
    }

    /// Returns the page writes of the laps.
    #[must_use]
    pub fn page_writes(&self) -> u64 {
        self.marks.first().map_or(0, |first| self.now.1 - first.1)
    }

    /// Returns the maximum of page writes of the laps.
    #[must_use]
    pub fn page_writes_max(&self) -> u64 {
        self.pass.map_or(0, |pass| pass.page_writes * self.passes_max)
    }

    /// Returns the requests of the laps, and their maximum.
    #[must_use]
    pub fn requests(&self) -> (u64, u64) {
        let of = |passes| self.pass.map_or(0, |pass| pass.requests * passes);
        (of(self.passes), of(self.passes_max))
    }

    /// Returns the write amplification of each lap.
    #[must_use]
    pub fn waf_by_lap(&self) -> Vec<f64> {
        let laps = self.marks.windows(2);
        laps.map(|lap| (lap[1].0 - lap[0].0) as f64 / (lap[1].1 - lap[0].1) as f64).collect()
    }
}
