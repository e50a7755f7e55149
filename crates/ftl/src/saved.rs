//! The drive's state to a snapshot and back.
//!
//! The forward map goes out as it is; the reverse map and the live bits say the same the other way round and are made
//! from it again. All other state is small and goes through serde. Both directions take the drive apart without `..`:
//! state that is added later does not compile until it is said here what becomes of it.

use crate::ftl::{Ftl, SIDE_TABLE, Setup};
use crate::live::Live;
use crate::units::NO_UNIT;
use floatgate_base::{Lpn, Result, memory::table};
use floatgate_flash::{Flash, Layout};
use floatgate_snapshot::{Reader, Writer, damaged};
use std::io::{self, Read, Write};

const MAP: &str = "map";
const STATE: &str = "ftl";

impl Ftl {
    /// Writes the state. What the setup and the layout say is not part of it.
    ///
    /// # Errors
    /// Those of the file.
    pub fn save<W: Write>(&self, out: &mut Writer<W>) -> io::Result<()> {
        let Self {
            map,
            units,
            index,
            free,
            frontiers,
            next_domain,
            now,
            rng,
            gc,
            free_pages,
            pass_over,
            jobs,
            futile_at,
            counting,
            // Made again from the map.
            reverse: _,
            live: _,
            // From the plan.
            layout: _,
            setup: _,
            programs_max: _,
            prefetching: _,
            // Empty between two steps of a job.
            moving: _,
        } = self;
        out.words(MAP, map)?;
        let drive = (units, index, free, frontiers, next_domain, jobs, futile_at);
        out.state(STATE, &(drive, now, rng, gc, free_pages, pass_over, counting))
    }

    /// The drive that was written, for a plan of equal layout and setup; what else the plan says is the plan's.
    ///
    /// # Errors
    /// A damaged file.
    pub fn load<R: Read>(
        layout: Layout,
        setup: Setup,
        programs_max: u64,
        from: &mut Reader<R>,
    ) -> Result<Self> {
        let (pages, pages_per_unit) = (layout.pages(), layout.pages_per_unit() as usize);
        let mut map = table(setup.logical_pages as usize, 0);
        from.words(MAP, &mut map)?;
        let (drive, now, rng, gc, free_pages, pass_over, counting) = from.state(STATE)?;
        let (units, index, free, frontiers, next_domain, jobs, futile_at) = drive;
        let mut ftl = Self {
            map,
            reverse: table(pages as usize, 0),
            live: Live::new(pages),
            units,
            index,
            free,
            frontiers,
            next_domain,
            now,
            rng,
            gc,
            free_pages,
            pass_over,
            jobs,
            futile_at,
            moving: Vec::with_capacity(pages_per_unit),
            programs_max,
            counting,
            prefetching: true,
            layout,
            setup,
        };
        let fault = ftl.fault().or_else(|| ftl.mirror());
        fault.map_or(Ok(ftl), |what| Err(damaged(from.path(), 0, format!("the snapshot is damaged: {what}"))))
    }

    /// What cannot be, if anything: checksums find damage, this finds a file that was written wrong.
    fn fault(&self) -> Option<String> {
        let (units, domains) = (self.layout.units(), self.layout.domains());
        let lengths = [
            ("units", self.units.meta.len(), units),
            ("times of closing", self.units.closed_at.len(), units),
            ("units worth collecting", self.units.worthwhile.len(), domains),
            ("free pools", self.free.len(), domains),
            ("open units", self.frontiers.len(), self.setup.separate.streams() * domains),
            ("domains passed over", self.pass_over.len(), domains),
            ("jobs", self.jobs.len(), domains),
            ("times without gain", self.futile_at.len(), domains),
        ];
        if let Some((name, found, due)) = lengths.into_iter().find(|&(_, found, due)| found != due as usize) {
            return Some(format!("{found} {name}, {due} were due"));
        }
        let pages = self.layout.pages();
        let open = |f: &crate::units::Frontier| {
            f.next <= f.end && f.end <= pages && (f.unit == NO_UNIT || f.unit < units)
        };
        let free = self.free.iter().flat_map(|pool| pool.iter()).all(|unit| unit < units);
        let jobs = self.jobs.iter().flatten().all(|job| job.is_within(units, pages));
        let sound = self.next_domain < domains && free && jobs && self.frontiers.iter().all(open);
        (!sound).then(|| "units beyond the drive".into())
    }

    /// Makes the reverse map and the live bits from the map.
    fn mirror(&mut self) -> Option<String> {
        let pages = self.layout.pages();
        for (lpn, &word) in self.map.iter().enumerate() {
            if word & SIDE_TABLE != 0 {
                continue;
            }
            if word >= pages || self.live.get(word) {
                return Some(format!(
                    "logical page {lpn} maps to physical page {word}, as no other page may"
                ));
            }
            self.live.set(word);
            self.reverse[word as usize] = lpn as Lpn;
        }
        None
    }

    /// Tells a fresh back end what the pages hold, for those that look (the shadow model).
    pub fn show_content<F: Flash>(&self, flash: &mut F) {
        let mut written = vec![self.layout.pages_per_unit(); self.layout.units() as usize];
        self.free.iter().flat_map(|pool| pool.iter()).for_each(|unit| written[unit as usize] = 0);
        for frontier in self.frontiers.iter().filter(|f| f.unit != NO_UNIT) {
            written[frontier.unit as usize] -= frontier.room();
        }
        for (unit, &pages) in (0..).zip(&written) {
            let first = self.layout.first_page(unit);
            for ppn in first..first + pages {
                flash.install(ppn, self.live.get(ppn).then(|| self.reverse[ppn as usize]));
            }
        }
    }

    /// Puts the drive at the start of another run: its stream of random numbers begins anew with the seed, and nothing
    /// has been counted.
    pub fn start_over(&mut self, reseed: bool) {
        self.counting = false;
        if reseed {
            self.rng = floatgate_base::Rng::new(self.setup.seed, "ftl");
        }
    }
}
