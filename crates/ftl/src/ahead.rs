//! Room ahead of need: the pages at hand of a domain, below which incremental collection begins, when collection can
//! wait, and how many free units idle time prepares. Program contexts may time the latter two (`ftl.collect.timing`).

use crate::collect::Need;
use crate::ftl::Ftl;
use floatgate_base::DomainId;

/// Free units of a domain that the host leaves alone. A host write with no other unit left waits until whole units are
/// collected.
pub(crate) const LAST_UNITS: u32 = 1;

impl Ftl {
    /// Counts the pages of a domain that can be written before anything is collected.
    pub(crate) fn pages_at_hand(&self, domain: DomainId) -> u64 {
        let free = u64::from(self.free[domain].len()) * u64::from(self.layout.pages_per_unit());
        free + self.open_rooms(domain).map(u64::from).sum::<u64>()
    }

    /// Returns the pages at hand below which a job begins.
    ///
    /// Write amplification is to be that of whole-block collection, where free units swing between trigger and stop
    /// level and the open units of all streams but one are half full. Half a unit is added because pages at hand fall
    /// by one unit during a job. Half a unit is subtracted because the dead pages of the source are spare space out of
    /// use.
    ///
    /// The minimum is one unit and an eighth beyond the open ones. Pages at hand are lowest when a job is about to
    /// erase its source; a host that opens a unit then still meets two free ones. Many open units seldom have all their
    /// room left, hence two of them are counted.
    pub(crate) fn target_at_hand(&self, domain: DomainId) -> u64 {
        // A job that waits for two target units needs one more than the others. With victims that gain little this
        // would cost more than it is worth; the job then runs once it cannot wait.
        let unit = u64::from(self.layout.pages_per_unit());
        let gains = self.gc.copied_pages * 4 < self.gc.victims * unit * 3;
        let waited_for = u64::from(gains && self.mixing_job_waits(domain));
        let setup = &self.setup;
        let streams = u64::from(setup.separate.streams());
        let levels = u64::from(setup.trigger_free_units) + u64::from(setup.stop_free_units);
        let eighths = (4 * (levels + streams - 1)).max(self.least_eighths_at_hand());
        eighths * unit / 8 + waited_for * unit
    }

    /// Returns the minimum of that target, in eighths of a unit.
    fn least_eighths_at_hand(&self) -> u64 {
        8 * u64::from(self.setup.separate.streams().min(2)) + 9
    }

    /// Checks whether collection cannot wait, because pages at hand are below the minimum of the target.
    fn is_pressed(&self, domain: DomainId) -> bool {
        let least = self.least_eighths_at_hand() * u64::from(self.layout.pages_per_unit()) / 8;
        self.free[domain].len() <= LAST_UNITS || self.pages_at_hand(domain) < least
    }

    /// Returns the free units from which on no host write begins a collection.
    fn units_for_no_job(&self, domain: DomainId) -> u32 {
        self.target_at_hand(domain).div_ceil(self.layout.pages_per_unit().into()) as u32
    }

    /// Returns whether collection in a domain can wait if contexts say so. It cannot where a host write would find fewer
    /// free units than the trigger, or, under incremental collection, fewer pages than a job needs to end in time.
    pub(crate) fn need(&self, domain: DomainId) -> Need {
        if self.timing.is_none() {
            return Need::Ahead;
        }
        let setup = &self.setup;
        let pressed = match setup.incremental {
            true => self.is_pressed(domain),
            false => self.free[domain].len() < setup.trigger_free_units.max(setup.separate.reserve()),
        };
        if pressed { Need::Space } else { Need::Ahead }
    }

    /// Checks whether all victims of a domain could wait a short time ago.
    pub(crate) fn can_wait(&self, domain: DomainId) -> bool {
        self.timing.as_ref().is_some_and(|timing| timing.waits(domain))
    }

    /// Notes the end of a burst: the host has been idle for long enough.
    pub fn burst_ends(&mut self) {
        let free_units = self.free_units();
        if let Some(timing) = &mut self.timing {
            timing.burst_ends(free_units, self.layout.pages_per_unit());
        }
    }

    /// Returns the free units of a domain below which idle time collects: those that a predicted burst will need beyond
    /// the ones at which its writes would collect, otherwise a fixed number.
    pub(crate) fn idle_goal(&self, domain: DomainId) -> u32 {
        let setup = &self.setup;
        let burst = self.timing.as_ref().and_then(|timing| timing.units_to_prepare(&self.layout));
        match burst.filter(|_| setup.background_free_units > 0) {
            None => setup.background_free_units,
            Some(units) if setup.incremental => self.units_for_no_job(domain).saturating_add(units),
            Some(units) => setup.trigger_free_units.saturating_add(units),
        }
    }
}
