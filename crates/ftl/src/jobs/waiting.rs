//! Jobs of a domain that wait for idle time, or for their turn: by urgency, then in the order in which they came.

use super::job::Job;
use super::request::Urgency;
use floatgate_base::UnitId;
use serde::{Deserialize, Serialize};

/// Jobs of wear-leveling that may wait in a domain; with one more the first is carried out at once. More wait only while too few
/// units are free for any of them.
const LEVELING_MAX: usize = 2;

/// The queue of a domain. It is short: a unit is asked for once. Incremental collection takes a job out and puts it back with every
/// step; it stays where it is, because it is large.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::vec_box, reason = "jobs are taken out and put back, and must not be copied for it")]
pub(crate) struct Waiting(Vec<Box<Job>>);

impl Waiting {
    /// Takes in a job behind those of its urgency.
    pub fn push(&mut self, job: Box<Job>) {
        let at = self.0.partition_point(|other| other.request.urgency <= job.request.urgency);
        self.0.insert(at, job);
    }

    /// Takes back a job in front of those of its urgency: it was the first of them, and is not done.
    pub fn put_back(&mut self, job: Box<Job>) {
        let at = self.0.partition_point(|other| other.request.urgency < job.request.urgency);
        self.0.insert(at, job);
    }

    /// The urgency of the first job.
    pub fn urgency(&self) -> Option<Urgency> {
        self.0.first().map(|job| job.request.urgency)
    }

    /// Takes out the first job.
    pub fn pop(&mut self) -> Option<Box<Job>> {
        (!self.0.is_empty()).then(|| self.0.remove(0))
    }

    /// Takes out the first job that a host write which needs room waits for: what is at least as urgent as collection, and
    /// among the `last` free units what has begun, for it holds units. Before that patient work stays patient: it would move
    /// more pages for each unit that it gives back than a victim does.
    pub fn pop_for_room(&mut self, last: bool) -> Option<Box<Job>> {
        self.pop_if(|job| last && job.begun || job.request.urgency <= Urgency::Collection)
    }

    /// Takes out the first job that is at least as urgent as collection.
    pub fn pop_pressing(&mut self) -> Option<Box<Job>> {
        self.pop_if(|job| job.request.urgency <= Urgency::Collection)
    }

    /// The first job that can wait longer than collection.
    pub fn patient(&self) -> Option<&Job> {
        self.iter().find(|job| job.request.urgency > Urgency::Collection)
    }

    /// Takes it out.
    pub fn pop_patient(&mut self) -> Option<Box<Job>> {
        self.pop_if(|job| job.request.urgency > Urgency::Collection)
    }

    /// Where more jobs of wear-leveling wait than may, takes out the first of them: where idle time never comes, wear is
    /// evened out all the same.
    pub fn pop_overdue(&mut self) -> Option<Box<Job>> {
        let levels = |job: &Job| job.request.urgency == Urgency::Leveling;
        let waiting = self.iter().filter(|job| levels(job)).count();
        (waiting > LEVELING_MAX).then(|| self.pop_if(levels)).flatten()
    }

    /// Takes out the job that has begun to empty or to fill a unit.
    pub fn pop_begun_with(&mut self, unit: UnitId) -> Option<Box<Job>> {
        self.pop_if(|job| {
            job.begun && job.held().any(|held| held == unit)
                || job.targets().any(|target| target.unit == unit)
        })
    }

    fn pop_if(&mut self, wanted: impl Fn(&Job) -> bool) -> Option<Box<Job>> {
        let at = self.iter().position(wanted)?;
        Some(self.0.remove(at))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The jobs, the first one first.
    pub fn iter(&self) -> impl Iterator<Item = &Job> {
        self.0.iter().map(|job| &**job)
    }
}
