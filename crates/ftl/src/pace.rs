//! Collection that starts before free blocks run low (`ftl.collect`), in functional mode.
//!
//! At a pace (`paced_from_writes`): from a given host page write on, one victim per fixed number of writes, however
//! much is free. It models collection in idle time, which the experiments of IDS (section 6.3) begin after 30 % of the
//! writes.
//!
//! By garbage (`garbage_share`): one victim whenever the dead pages of closed blocks exceed a share of all written
//! pages, open blocks included. Evaluations of log-structured stores fix the share of garbage this way (SepBIT, FAST
//! 2022, section 2.3, and its public simulator), and compare schemes at equal space.

use crate::collect::Need;
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
            self.collect_in_turn(flash, Need::Ahead)?;
        }
        match self.setup.garbage_share {
            Some(share) if self.has_garbage(share) => self.collect_in_turn(flash, Need::Space),
            _ => Ok(()),
        }
    }

    /// Checks whether the dead pages of closed units exceed a share of all written pages.
    fn has_garbage(&self, share: f64) -> bool {
        self.candidates.garbage.is_some_and(|garbage| {
            let (open, free) = self.open_pages.held(self.now);
            let pages = (u64::from(garbage.units) + open) * u64::from(self.layout.pages_per_unit()) - free;
            garbage.dead_pages as f64 > share * pages as f64
        })
    }

    /// Collects a victim in the next domain, in turn, that has a worthwhile one and room for the pages to move.
    #[cold]
    fn collect_in_turn<F: Flash>(&mut self, flash: &mut F, need: Need) -> Result<(), Failure> {
        let domains = self.layout.domains();
        for turn in 0..domains {
            let domain = DomainId((self.paced_domain.0 + turn) % domains);
            if self.free[domain].len() >= self.setup.separate.reserve()
                && self.collect_one(flash, domain, need)?
            {
                self.paced_domain = DomainId((domain.0 + 1) % domains);
                self.start_requested(flash)?;
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Setup;
    use floatgate_base::extents::{Extents, Kind};
    use floatgate_base::{Lpn, Rng};
    use floatgate_flash::{Functional, Layout, Scope};
    use floatgate_nand::Geometry;

    const LOGICAL: u32 = 64;

    /// Creates a drive of 16 blocks of 8 pages, half of them spare, written once from end to end.
    fn drive(setup: Setup) -> (Functional, Ftl) {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 16,
            pages_per_block: 8,
            page_bytes: 4096,
        };
        let layout = Layout::new(geometry, Scope::Plane);
        let (mut flash, mut ftl) = (Functional::new(layout.clone()), Ftl::new(layout, setup));
        (0..LOGICAL).for_each(|lpn| write(&mut ftl, &mut flash, lpn));
        (flash, ftl)
    }

    fn write(ftl: &mut Ftl, flash: &mut Functional, lpn: u32) {
        let mut extents = Extents::default();
        extents.push(Lpn(lpn), 1, Kind::Write);
        ftl.serve(flash, &extents).unwrap();
    }

    #[test]
    fn at_a_pace_one_victim_is_collected_every_so_many_writes() {
        let pace = Pace { from_writes: 10, every_writes: 6 };
        let (mut flash, mut ftl) = drive(Setup { pace: Some(pace), ..Setup::plain(LOGICAL) });
        ftl.reset_counts(&mut flash);
        let before = ftl.gc().victims;
        for n in 1u32..=34 {
            write(&mut ftl, &mut flash, n);
            // The first is due after 10 + 6 writes.
            let due = u64::from(n.saturating_sub(10) / 6);
            assert_eq!(ftl.gc().victims - before, due, "after {n} writes");
        }
    }

    #[test]
    fn by_garbage_dead_pages_stay_below_their_share() {
        let share = 0.25;
        let (mut flash, mut ftl) = drive(Setup { garbage_share: Some(share), ..Setup::plain(LOGICAL) });
        let mut rng = Rng::new(3, "garbage");
        for n in 0..500 {
            write(&mut ftl, &mut flash, rng.below(u64::from(LOGICAL)) as u32);
            assert!(!ftl.has_garbage(share), "after {n} writes");
        }
        let plain = {
            let (mut flash, mut ftl) = drive(Setup::plain(LOGICAL));
            let mut rng = Rng::new(3, "garbage");
            (0..500).for_each(|_| write(&mut ftl, &mut flash, rng.below(u64::from(LOGICAL)) as u32));
            ftl.gc().victims
        };
        assert!(ftl.gc().victims > plain, "{} {plain}", ftl.gc().victims);
        let by_valid = ftl.victims_by_valid();
        assert_eq!((by_valid[0], by_valid.iter().sum()), (ftl.gc().dead_victims, ftl.gc().victims));
        assert_eq!((0..).zip(by_valid).map(|(valid, &n)| valid * n).sum::<u64>(), ftl.gc().copied_pages);
    }
}
