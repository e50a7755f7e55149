//! Writes that recur together: sets of addresses.
//!
//! A set is a number of starts of earlier writes, scattered over all of them. A visit writes its members one after the
//! other, interleaved with other requests. Each set has its own order, in which some members may be swapped, and some
//! left out if not all are written each time. A set is visited a few times in turn with the other active ones. Then
//! another one, old or new, takes its place; every set returns now and then.
//!
//! The members of a set are computed from its number: inactive sets take no memory.

use super::laws::{refuse, share, within};
use super::mix;
use crate::generate::sizes::{Sizes, Weighted};
use floatgate_base::{Result, Rng};

/// Most members of a set.
const MEMBERS_MAX: u64 = 64;
/// Most visits of a set in turn.
const VISITS_MAX: u64 = 1 << 20;
/// Most sets that are active at once.
const ACTIVE_MAX: u64 = 64;

/// The sets of a twin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sets {
    /// Share of the writes that are members of a visit; 0 for no sets.
    pub share: f64,
    /// Number of members of a set, with weights.
    pub addresses: Weighted,
    /// Sets per pass.
    pub count: u64,
    /// Number of active sets, which are visited in turn.
    pub active: u64,
    /// Number of visits to a set before another one takes its place, with weights.
    pub visits: Weighted,
    /// Share of the members that a visit writes.
    pub member_share: f64,
    /// Share of the members of a visit that are swapped.
    pub moved_share: f64,
}

impl Sets {
    /// Returns whether there are any sets.
    #[must_use]
    pub fn any(&self) -> bool {
        self.share > 0.0
    }

    pub(super) fn validate(&self, read_share: f64) -> Result<()> {
        within("sets.share", self.share, 0.0, 0.99)?;
        if !self.any() {
            return Ok(());
        }
        if read_share >= 1.0 {
            let what = "sets without writes";
            return Err(refuse("sets.share", what, "expected a read_share below 1"));
        }
        for (key, list, most) in
            [("sets.addresses", &self.addresses, MEMBERS_MAX), ("sets.visits", &self.visits, VISITS_MAX)]
        {
            let good = |&(n, weight): &(u64, f64)| (1..=most).contains(&n) && weight > 0.0;
            if list.is_empty() || !list.iter().all(|entry| good(entry) && entry.1.is_finite()) {
                let expected = format!("expected pairs of a number from 1 to {most} and its weight");
                return Err(refuse(key, "not a list of numbers with weights", expected));
            }
        }
        for (key, value, most) in
            [("sets.count", self.count, 1 << 32), ("sets.active", self.active, ACTIVE_MAX)]
        {
            if !(1..=most).contains(&value) {
                let expected = format!("expected a whole number from 1 to {most}");
                return Err(refuse(key, format!("{value} sets"), expected));
            }
        }
        within("sets.member_share", self.member_share, 0.01, 1.0)?;
        share("sets.moved_share", self.moved_share)
    }

    /// Divides the number of sets by `k`; each recurs as often as before.
    pub(super) fn thinned(&self, k: u64) -> Self {
        let count = (self.count / k.max(1)).max(self.count.min(1));
        Self { count, ..self.clone() }
    }

    /// Returns the share of writes that begin elsewhere than the previous one ended: runs of other writes begin once.
    pub(super) fn begun(&self, sequential_share: f64) -> f64 {
        (1.0 - self.share) * (1.0 - sequential_share) + self.share
    }
}

/// An active set.
#[derive(Clone, Copy, Default)]
struct Active {
    set: u64,
    visits_left: u64,
}

/// A member of a set.
#[derive(Clone, Copy)]
pub(super) struct Member {
    set: u64,
    number: u64,
}

impl Member {
    /// Returns its position among the starts, `all` per pass. Early sets lie among early writes: set `n` in the first
    /// `(n + 1) / count` of the starts.
    pub fn start(self, count: u64, all: u64) -> u64 {
        let among = u128::from(self.set + 1) * u128::from(all) / u128::from(count);
        let drawn = u128::from(mix(self.set << 8 | self.number));
        ((drawn * among.max(1)) >> 64) as u64
    }
}

/// The sets of a run.
pub(super) struct Recurring {
    /// Share of the writes that do not continue a run.
    begun_share: f64,
    addresses: Sizes,
    visits: Sizes,
    pub count: u64,
    member_share: f64,
    moved_share: f64,
    active: Vec<Active>,
    /// The current set, and its members still to be written; the last one is next.
    set: u64,
    order: [u8; MEMBERS_MAX as usize],
    left: usize,
    rng: Rng,
}

impl Recurring {
    /// Creates the state before the first request; `sequential_share` is that of the other writes.
    pub fn new(sets: &Sets, sequential_share: f64, seed: u64) -> Option<Self> {
        sets.any().then(|| Self {
            begun_share: sets.share / sets.begun(sequential_share),
            addresses: Sizes::new(&sets.addresses),
            visits: Sizes::new(&sets.visits),
            count: sets.count,
            member_share: sets.member_share,
            moved_share: sets.moved_share,
            active: vec![Active::default(); sets.active as usize],
            set: 0,
            order: [0; MEMBERS_MAX as usize],
            left: 0,
            rng: Rng::new(seed, "twin sets"),
        })
    }

    /// Returns the member to write next, if the next write that begins a run is one; `there` sets can be visited.
    #[inline]
    pub fn next(&mut self, there: u64) -> Option<Member> {
        if there == 0 || self.rng.unit() >= self.begun_share {
            return None;
        }
        while self.left == 0 {
            self.visit(there);
        }
        self.left -= 1;
        Some(Member { set: self.set, number: u64::from(self.order[self.left]) })
    }

    fn visit(&mut self, there: u64) {
        let turn = self.rng.below(self.active.len() as u64) as usize;
        let active = &mut self.active[turn];
        if active.visits_left == 0 {
            active.set = self.rng.below(there);
            active.visits_left = self.visits.draw(&mut self.rng);
        }
        active.visits_left -= 1;
        self.set = active.set;
        let members = self.addresses.of(mix(!self.set)) as usize;
        for member in (0..members).rev() {
            if self.member_share >= 1.0 || self.rng.unit() < self.member_share {
                self.order[self.left] = member as u8;
                self.left += 1;
            }
        }
        if self.moved_share > 0.0 {
            for place in 0..self.left {
                if self.rng.unit() < self.moved_share {
                    let other = self.rng.below(self.left as u64) as usize;
                    self.order.swap(place, other);
                }
            }
        }
    }
}
