//! Wearing a drive in: laps of the trace before the first request that counts, until they are alike.
//!
//! A lap is as many passes over the trace as it takes to write a quarter of the drive. Where write amplification goes is
//! judged as in [`crate::laps`], and the laps end when it is there, or when they have written as much as they may. They
//! are told to end by what they read as well: a trace that writes little would otherwise go on for long. Nothing of them
//! counts, wear included, and no time passes.

use crate::plan::{Plan, Precondition, Workload};
use crate::reading::survey::PassSize;
use crate::trend::trend;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Laps in a drive write.
const LAPS_PER_WRITE: u64 = 4;
/// Pages of the drive that laps are made for at least: on a small one fewer writes would scatter.
const PAGES_MIN: u64 = 1 << 16;
/// Relative distance to the limit of write amplification that counts as none. Laps are short; a life, which is to be told
/// from laps alone, is stricter (`lifetime.forecast.waf_error_max`).
const ERROR_MAX: f64 = 0.02;
/// Requests and page writes together that laps may take for each page that they may write: as many requests as pages, where
/// each writes one.
const WORK_PER_PAGE: f64 = 2.0;

/// Why there were no more laps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ended {
    /// They were alike.
    Stationary,
    /// They had written all that they may (`ftl.wear_in_max`).
    Bounded,
    /// A pass writes the drive at least once: the run wears it in itself.
    Long,
    /// The trace writes nothing.
    NoWrites,
    /// Already one pass reads and writes more than laps may.
    TooMuch,
    /// The trace comes from a pipe, which can be read but once.
    Pipe,
    /// A generator goes on, and has no passes.
    Generator,
    /// The separator knows the workload to its end, of which laps would be no part.
    Foreseen,
    /// None were asked for.
    NotAsked,
}

impl Ended {
    /// For people.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Stationary => "write amplification no longer moves from lap to lap",
            Self::Bounded => "write amplification still moves, and ftl.wear_in_max ends the laps",
            Self::Long => "a pass over the trace writes the drive at least once",
            Self::NoWrites => "the trace writes nothing",
            Self::TooMuch => "a single pass reads and writes more than laps may (ftl.wear_in_max)",
            Self::Pipe => "a trace from a pipe cannot be read twice",
            Self::Generator => "a generator has no passes (workload.warmup_requests warms up)",
            Self::Foreseen => "the separator knows the workload to its end",
            Self::NotAsked => "none are asked for",
        }
    }
}

/// Programs and host page writes so far.
type Mark = (u64, u64);

/// The laps before counting begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WearIn {
    /// Passes so far.
    pub passes: u64,
    /// Passes at most; 0 before the trace is known, and where there are none.
    pub passes_max: u64,
    /// What a pass holds, where that had to be known.
    pub pass: Option<PassSize>,
    /// Why there are no more, once there are none.
    pub ended: Option<Ended>,
    /// Relative distance to where write amplification goes, once there are three laps.
    pub error: Option<f64>,
    /// Before the first lap and after each.
    marks: Vec<Mark>,
    /// What the last pass left.
    now: Mark,
}

/// Pages that laps are made for.
fn drive_pages(plan: &Plan) -> u64 {
    u64::from(plan.ftl.setup.logical_pages).max(PAGES_MIN)
}

/// Pages that laps may write.
fn budget(plan: &Plan) -> f64 {
    let share = plan.ftl.auto.and_then(|auto| auto.wear_in_max).unwrap_or(0.0);
    share * drive_pages(plan) as f64
}

impl WearIn {
    /// Of a plan; none where it asks for no such thing.
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

    /// Whether the trace is to be read before it can be said how many laps there are, and how the drive is filled.
    pub(crate) fn wants_survey(&self) -> bool {
        let readable = !matches!(self.ended, Some(Ended::Generator | Ended::Pipe));
        readable && self.pass.is_none()
    }

    /// A pass holds this.
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

    /// The drive is full; true where laps come now.
    pub(crate) fn begin(&mut self, programs: u64, page_writes: u64) -> bool {
        self.now = (programs, page_writes);
        self.marks = vec![self.now];
        self.ended.is_none()
    }

    /// A pass is over; true where it was the last one.
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

    /// Page writes of the laps.
    #[must_use]
    pub fn page_writes(&self) -> u64 {
        self.marks.first().map_or(0, |first| self.now.1 - first.1)
    }

    /// Page writes that the laps come to at most.
    #[must_use]
    pub fn page_writes_max(&self) -> u64 {
        self.pass.map_or(0, |pass| pass.page_writes * self.passes_max)
    }

    /// Requests of the laps, and of as many as there may be.
    #[must_use]
    pub fn requests(&self) -> (u64, u64) {
        let of = |passes| self.pass.map_or(0, |pass| pass.requests * passes);
        (of(self.passes), of(self.passes_max))
    }

    /// Write amplification of each lap.
    #[must_use]
    pub fn waf_by_lap(&self) -> Vec<f64> {
        let laps = self.marks.windows(2);
        laps.map(|lap| (lap[1].0 - lap[0].0) as f64 / (lap[1].1 - lap[0].1) as f64).collect()
    }
}
