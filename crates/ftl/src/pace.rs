//! Collection that does not wait until blocks are wanted (`ftl.collect`), in functional mode.
//!
//! At a pace (`paced_from_writes`): from a host page write on, one victim every so many, however much is free. It stands for
//! collection in idle time, which the experiments of IDS (section 6.3) begin after 30 % of the writes.
//!
//! By garbage (`garbage_share`): one victim whenever the dead pages of closed blocks are more than a share of all written
//! pages, those of open blocks among them. Evaluations of log-structured stores hold the share of garbage so (SepBIT,
//! FAST 2022, section 2.3, and its public simulator), and compare schemes at the same space.

use crate::ftl::Ftl;
use crate::setup::{Failure, Pace};
use floatgate_base::DomainId;
use floatgate_flash::Flash;

impl Ftl {
    /// Collects a victim if one is due.
    #[inline(always)]
    pub(crate) fn keep_pace<F: Flash>(&mut self, flash: &mut F) -> Result<(), Failure> {
        if self.now >= self.paced_at {
            let every = self.setup.pace.map_or(Pace::NEVER, |pace| pace.every_writes);
            self.paced_at = self.paced_at.saturating_add(every);
            self.collect_in_turn(flash)?;
        }
        match self.setup.garbage_share {
            Some(share) if self.has_garbage(share) => self.collect_in_turn(flash),
            _ => Ok(()),
        }
    }

    /// Whether the dead pages of closed units are more than a share of all written pages.
    fn has_garbage(&self, share: f64) -> bool {
        self.candidates.garbage.is_some_and(|garbage| {
            let (open, free) = self.open_pages.held(self.now);
            let pages = (u64::from(garbage.units) + open) * u64::from(self.layout.pages_per_unit()) - free;
            garbage.dead_pages as f64 > share * pages as f64
        })
    }

    /// Collects a victim of the first domain, in turn, that has one worth it and room for what may move.
    #[cold]
    fn collect_in_turn<F: Flash>(&mut self, flash: &mut F) -> Result<(), Failure> {
        let domains = self.layout.domains();
        for turn in 0..domains {
            let domain = DomainId((self.paced_domain.0 + turn) % domains);
            if self.free[domain].len() >= self.setup.separate.reserve() && self.collect_one(flash, domain)? {
                self.paced_domain = DomainId((domain.0 + 1) % domains);
                self.start_asked(flash)?;
                break;
            }
        }
        Ok(())
    }
}
