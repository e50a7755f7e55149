//! Collection at a pace: from a host page write on, one victim every so many, however much is free (`ftl.collect`,
//! `paced_from_writes`). Functional mode's stand-in for collection in idle time, which the experiments of IDS (section
//! 6.3) begin after 30 % of the writes.

use crate::ftl::Ftl;
use crate::setup::{Failure, Pace};
use floatgate_base::DomainId;
use floatgate_flash::Flash;

impl Ftl {
    /// Collects a victim if one is due.
    #[inline(always)]
    pub(crate) fn keep_pace<F: Flash>(&mut self, flash: &mut F) -> Result<(), Failure> {
        if self.now < self.paced_at { Ok(()) } else { self.collect_at_pace(flash) }
    }

    /// Collects a victim of the first domain, in turn, that has one worth it and room for what may move.
    #[cold]
    fn collect_at_pace<F: Flash>(&mut self, flash: &mut F) -> Result<(), Failure> {
        let every = self.setup.pace.map_or(Pace::NEVER, |pace| pace.every_writes);
        self.paced_at = self.paced_at.saturating_add(every);
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
