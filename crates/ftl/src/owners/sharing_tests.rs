//! The seam of side tables, proven by a small one: logical pages that share a physical page.

use super::side_table::SideTable;
use crate::features::All;
use crate::ftl::Ftl;
use crate::{Allocation, FreeChoice, Level, Separate, Setup, Victim};
use floatgate_base::extents::{Extents, Kind};
use floatgate_base::{Lpn, MapWord, Owner, Ppn, Rng, SideKind};
use floatgate_flash::{Cause, Flash, Functional, Layout, Scope, Shadow};
use floatgate_nand::Geometry;
use floatgate_snapshot::{Kind as FileKind, Reader, Writer};
use serde::{Deserialize, Serialize};

/// Physical pages that several logical pages have, with their number; an entry without any is free.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sharing {
    entries: Vec<(Ppn, u32)>,
    free: Vec<u32>,
}

impl Sharing {
    fn add(&mut self, ppn: Ppn, pages: u32) -> u32 {
        let entry = self.free.pop().unwrap_or_else(|| {
            self.entries.push((Ppn(0), 0));
            self.entries.len() as u32 - 1
        });
        self.entries[entry as usize] = (ppn, pages);
        entry
    }
}

impl SideTable for Sharing {
    fn pages_of(&self, entry: u32, _: Lpn, each: &mut dyn FnMut(Ppn)) {
        each(self.entries[entry as usize].0);
    }

    fn relink(&mut self, entry: u32, from: Ppn, to: Ppn) {
        assert_eq!(std::mem::replace(&mut self.entries[entry as usize].0, to), from);
    }

    fn release(&mut self, entry: u32, _: Lpn, dead: &mut dyn FnMut(Ppn)) {
        let (ppn, pages) = &mut self.entries[entry as usize];
        *pages -= 1;
        if *pages == 0 {
            dead(*ppn);
            self.free.push(entry);
        }
    }

    fn each_page(&self, each: &mut dyn FnMut(u32, Ppn)) {
        let used = (0..).zip(&self.entries).filter(|(_, (_, pages))| *pages > 0);
        used.for_each(|(entry, &(ppn, _))| each(entry, ppn));
    }

    fn audit(&self, entry: u32, logical_pages: u32) -> Result<(), String> {
        let counted = self.entries[entry as usize].1;
        if counted == logical_pages {
            return Ok(());
        }
        Err(format!("{logical_pages} logical pages name entry {entry}, it counts {counted}"))
    }

    fn entries(&self) -> u32 {
        self.entries.len() as u32
    }
}

const LOGICAL: u32 = 40;

struct Drive {
    ftl: Ftl,
    flash: Shadow<Functional>,
}

impl Drive {
    fn new(separate: Separate) -> Self {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 2,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 8,
            pages_per_block: 8,
            page_bytes: 4096,
        };
        let setup = Setup {
            logical_pages: LOGICAL,
            allocation: Allocation::Dynamic,
            disturb: None,
            idle_jobs: false,
            background_free_units: 0,
            victim: Victim::named("greedy"),
            separate,
            level: Level::None,
            free_choice: FreeChoice::LeastErased,
            trigger_free_units: separate.streams().min(2),
            stop_free_units: 2,
            incremental: false,
            plp: true,
            pace: None,
            seed: 1,
        };
        let layout = Layout::new(geometry, Scope::Plane);
        let mut ftl = Ftl::new(layout.clone(), setup);
        ftl.mapping.sides.shared = Some(Box::default());
        Self { ftl, flash: Shadow::new(Functional::new(layout), LOGICAL) }
    }

    fn serve(&mut self, kind: Kind, lpn: Lpn) {
        let mut extents = Extents::default();
        extents.push(lpn, 1, kind);
        self.ftl.serve(&mut self.flash, &extents).unwrap();
    }

    /// The host writes `to` with what `from` has: nothing is programmed.
    fn share(&mut self, from: Lpn, to: Lpn) {
        let mapping = &mut self.ftl.mapping;
        let word = mapping.get(from);
        let table = mapping.sides.shared.as_mut().unwrap();
        let (entry, ppn) = match word.ppn() {
            Some(ppn) => (table.add(ppn, 1), ppn),
            None => {
                let (_, entry) = word.entry().unwrap();
                (entry, table.entries[entry as usize].0)
            }
        };
        table.entries[entry as usize].1 += 1;
        if word.is_plain() {
            mapping.place(ppn, Owner::side(SideKind::Shared, entry));
            mapping.replace(from, MapWord::side(SideKind::Shared, entry));
        }
        self.flash.share(ppn, to);
        let old = self.ftl.mapping.replace(to, MapWord::side(SideKind::Shared, entry));
        self.ftl.forget::<All>(to, old);
    }

    fn page_of(&self, lpn: Lpn) -> Option<Ppn> {
        let word = self.ftl.mapping.get(lpn);
        let mut page = word.ppn();
        self.ftl.mapping.pages_of(lpn, word, &mut |ppn| page = Some(ppn));
        page
    }

    fn is_mapped(&self, lpn: Lpn) -> bool {
        self.ftl.mapping.get(lpn).is_mapped()
    }

    fn audit(&self, what: &str) {
        self.ftl.audit(&self.flash).unwrap_or_else(|fault| panic!("{what}: {fault}"));
    }

    fn bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(Vec::new(), FileKind::Drive, 1).unwrap();
        self.ftl.save(&mut out).unwrap();
        out.state("array", &self.flash.inner().saved()).unwrap();
        out.finish().unwrap().0
    }

    /// A drive from a file, with a shadow model that learns from it what lies where.
    fn of_bytes(separate: Separate, bytes: &[u8]) -> Self {
        let mut drive = Self::new(separate);
        let mut reader = Reader::new("t", bytes, FileKind::Drive, 1).unwrap();
        drive.ftl.restore(&mut reader).unwrap();
        assert!(drive.flash.inner_mut().restore(reader.state("array").unwrap()));
        drive.ftl.show_content(&mut drive.flash);
        drive
    }
}

#[test]
fn a_shared_page_is_moved_once_and_dies_with_its_last_owner() {
    let mut drive = Drive::new(Separate::HostGc);
    drive.serve(Kind::Write, Lpn(0));
    drive.share(Lpn(0), Lpn(1));
    let first = drive.page_of(Lpn(0)).unwrap();
    assert_eq!(drive.page_of(Lpn(1)), Some(first));
    drive.audit("shared");
    // Everything else is written, in no order, until the unit of the shared page was collected.
    let mut rng = Rng::new(1, "sharing by hand");
    for turn in 0.. {
        drive.serve(Kind::Write, Lpn(2 + rng.below(u64::from(LOGICAL) - 2) as u32));
        assert!(turn < 10_000, "the shared page was never moved");
        if drive.page_of(Lpn(0)) != Some(first) {
            break;
        }
    }
    drive.audit("collected");
    let moved = drive.page_of(Lpn(0)).unwrap();
    assert_eq!(drive.page_of(Lpn(1)), Some(moved));
    assert!(!drive.ftl.mapping.is_live(first) || drive.ftl.mapping.owner_of(first).lpn().is_some());
    let mut drive = Drive::of_bytes(Separate::HostGc, &drive.bytes());
    drive.audit("from the file");
    let programs = drive.flash.counters().programs_total();
    drive.serve(Kind::Read, Lpn(0));
    drive.serve(Kind::Read, Lpn(1));
    drive.serve(Kind::Trim, Lpn(0));
    drive.audit("one trimmed");
    assert!(!drive.is_mapped(Lpn(0)) && drive.ftl.mapping.is_live(moved));
    drive.serve(Kind::Read, Lpn(1));
    drive.serve(Kind::Trim, Lpn(1));
    drive.audit("both trimmed");
    assert!(!drive.ftl.mapping.is_live(moved));
    drive.serve(Kind::Read, Lpn(1));
    drive.audit("read in the end");
    assert_eq!(drive.flash.counters().programs_total(), programs);
}

/// Writes, writes of part of a page, reads, trims and shares at random; a twin goes through a file now and then and must
/// stay equal.
#[test]
fn random_drives_with_shared_pages_hold_what_was_written() {
    for seed in 0..40 {
        let mut rng = Rng::new(seed, "sharing test");
        let separate = match seed % 3 {
            0 => Separate::None,
            1 => Separate::HostGc,
            _ => Separate::of(&crate::separate::SLOT.with("hash", &[])),
        };
        let (mut drive, mut twin) = (Drive::new(separate), Drive::new(separate));
        for step in 0..3000 {
            let (lpn, other) =
                (Lpn(rng.below(u64::from(LOGICAL)) as u32), Lpn(rng.below(u64::from(LOGICAL)) as u32));
            let what = rng.below(10);
            for drive in [&mut drive, &mut twin] {
                match what {
                    0..=3 => drive.serve(Kind::Write, lpn),
                    4 => drive.serve(Kind::WritePartial, lpn),
                    5 => drive.serve(Kind::Trim, lpn),
                    6 | 7 if drive.is_mapped(lpn) && lpn != other => drive.share(lpn, other),
                    _ => drive.serve(Kind::Read, lpn),
                }
            }
            if step % 50 == 0 {
                drive.audit(&format!("seed {seed} step {step}"));
            }
            if rng.below(200) == 0 {
                twin = Drive::of_bytes(separate, &twin.bytes());
            }
        }
        let moved = drive.flash.counters().programs[Cause::Gc as usize];
        assert!(moved > 0, "seed {seed}: nothing was collected");
        assert!(drive.bytes() == twin.bytes(), "seed {seed}: another drive comes out of the file");
    }
}

#[test]
fn a_file_that_names_an_entry_which_is_not_there_is_damaged() {
    let mut drive = Drive::new(Separate::None);
    drive.serve(Kind::Write, Lpn(0));
    drive.ftl.mapping.replace(Lpn(3), MapWord::side(SideKind::Shared, 7));
    let bytes = drive.bytes();
    let mut again = Drive::new(Separate::None);
    let mut reader = Reader::new("t", &bytes[..], FileKind::Drive, 1).unwrap();
    let error = again.ftl.restore(&mut reader).unwrap_err().to_string();
    assert!(error.contains("logical page 3 belongs to an entry that no side table has"), "{error}");
}
