//! Jobs of a domain that wait for idle time, or for their turn: by urgency, then in the order of their requests.

use super::job::Job;
use super::request::Urgency;
use floatgate_base::UnitId;
use serde::{Deserialize, Serialize};

/// Leveling jobs that may wait in a domain; with one more the first runs at once. More wait only while too few units
/// are free for any of them.
const LEVELING_MAX: usize = 2;

/// The queue of a domain. It is short, since a unit is in one request at most. Incremental collection takes a job out
/// and puts it back with every step; jobs are boxed because they are large.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::vec_box, reason = "jobs are taken out and put back, and must not be copied for it")]
pub(crate) struct Waiting(Vec<Box<Job>>);

impl Waiting {
    /// Inserts a job behind those of its urgency.
    pub fn push(&mut self, job: Box<Job>) {
        let at = self.0.partition_point(|other| other.request.urgency <= job.request.urgency);
        self.0.insert(at, job);
    }

    /// Returns an unfinished job to the front of those of its urgency.
    pub fn put_back(&mut self, job: Box<Job>) {
        let at = self.0.partition_point(|other| other.request.urgency < job.request.urgency);
        self.0.insert(at, job);
    }

    /// Returns the urgency of the first job.
    pub fn urgency(&self) -> Option<Urgency> {
        self.0.first().map(|job| job.request.urgency)
    }

    /// Takes out the first job.
    pub fn pop(&mut self) -> Option<Box<Job>> {
        (!self.0.is_empty()).then(|| self.0.remove(0))
    }

    /// Takes out the first job that a host write in need of room waits for: one at least as urgent as collection. When
    /// only the `last` free units are left, a job that has begun qualifies, too, for it holds units. Before that,
    /// patient work stays patient: it moves more pages per freed unit than a victim does.
    pub fn pop_for_room(&mut self, last: bool) -> Option<Box<Job>> {
        self.pop_if(|job| last && job.begun || job.request.urgency <= Urgency::Collection)
    }

    /// Takes out the first job that is at least as urgent as collection.
    pub fn pop_pressing(&mut self) -> Option<Box<Job>> {
        self.pop_if(|job| job.request.urgency <= Urgency::Collection)
    }

    /// Returns the first job that can wait longer than collection.
    pub fn patient(&self) -> Option<&Job> {
        self.iter().find(|job| job.request.urgency > Urgency::Collection)
    }

    /// Takes out the first job that can wait longer than collection.
    pub fn pop_patient(&mut self) -> Option<Box<Job>> {
        self.pop_if(|job| job.request.urgency > Urgency::Collection)
    }

    /// Takes out the first leveling job if more wait than may: wear is thus evened out without idle time, too.
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

    /// Checks whether no job waits.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Yields the jobs in their order.
    pub fn iter(&self) -> impl Iterator<Item = &Job> {
        self.0.iter().map(|job| &**job)
    }
}
