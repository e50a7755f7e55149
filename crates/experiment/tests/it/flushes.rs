//! FLUSH, FUA and collection on drives that lose gathering data in a power cut: padding to the page, compared with
//! separate models.

use crate::common::recorder::{Command, Recorder};
use crate::common::{number, run_ok};
use floatgate_base::batch::flags::{FLUSH, FUA};
use floatgate_base::testing::Bound;
use floatgate_base::{DomainId, ExtentKind as Kind, Extents, Lpn, Op, Ppn, RequestBatch, Rng, UnitId};
use floatgate_experiment::load;
use floatgate_flash::{Cause, Flash, Functional, Layout, Shadow};
use floatgate_ftl::Ftl;
use floatgate_sim::plan::Workload;
use floatgate_trace::{Generator, Source};
use std::collections::BTreeMap;

fn pick<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.below(of.len() as u64) as usize]
}

/// How full the flash pages are that host writes gather in, with the flash pages padded and the pages of padding.
struct Fill {
    subpages: u64,
    /// One for all, or by plane where the page number names it; with whether the present request is in it.
    filled: Vec<(u64, bool)>,
    programs: u64,
    padding: u64,
}

impl Fill {
    fn write(&mut self, lpn: u64) {
        let n = self.filled.len() as u64;
        let (filled, is_in) = &mut self.filled[(lpn / self.subpages % n) as usize];
        *filled = (*filled + 1) % self.subpages;
        *is_in = *filled > 0;
    }

    fn pad(&mut self, is_it: impl Fn(bool) -> bool) {
        for (filled, is_in) in &mut self.filled {
            if *filled > 0 && is_it(*is_in) {
                self.programs += 1;
                self.padding += self.subpages - *filled;
                *filled = 0;
            }
        }
    }

    fn request(&mut self, batch: &RequestBatch, i: usize, page_bytes: u64) {
        let flags = batch.flags_of(i);
        if flags & FLUSH != 0 {
            self.pad(|_| true);
        }
        self.filled.iter_mut().for_each(|(_, is_in)| *is_in = false);
        if batch.op[i] != Op::Write {
            return;
        }
        let (start, end) = (batch.offset[i], batch.offset[i] + batch.bytes[i]);
        (start / page_bytes..end.div_ceil(page_bytes)).for_each(|lpn| self.write(lpn));
        if flags & FUA != 0 {
            self.pad(|is_in| is_in);
        }
    }
}

/// Without collection a counter per filling flash page is a full model; both modes agree.
#[test]
fn host_writes_are_padded_as_counters_of_what_gathers_say() {
    let mut padded = 0.0;
    for seed in crate::common::seeds(60) {
        let mut rng = Rng::new(seed, "padding of host writes");
        let (channels, bytes) = (1 + rng.below(3), pick(&mut rng, &[2048, 4096, 8192]));
        let mode = pick(&mut rng, &["dynamic", "static"]);
        let (fua, every) = (pick(&mut rng, &[0.0, 0.1, 0.7]), pick(&mut rng, &[0, 1, 3, 20]));
        let mut toml = format!(
            "seed = {seed}\n[drive]\nplp = false\n[drive.geometry]\nchannels = {channels}\nblocks_per_plane = 400\n\
             pages_per_block = 16\npage_bytes = 16384\n[ftl]\nspare_factor = 0.5\nmapping_bytes = {bytes}\n\
             [ftl.allocation]\nmode = \"{mode}\"\n[workload]\nrequests = 1000\nrequest_bytes = {}\n\
             read_share = 0.2\ntrim_share = 0.1\nfua_share = {fua}\nflush_every = {every}\n",
            1 + rng.below(40_000)
        );
        if rng.below(2) == 0 {
            toml = format!("mode = \"timed\"\n{toml}");
        }
        let plan = load(Some(&toml), "t.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{toml}")).plan;
        let Workload::Synthetic(config) = &plan.workload.source else { panic!("a synthetic workload") };
        let mut source = Generator::new(config.clone()).unwrap();
        let mut batch = RequestBatch::default();
        let mut bound = Bound::new(100_000_000);
        while {
            bound.step();
            let before = batch.len();
            source.fill(&mut batch, 1000).unwrap();
            batch.len() > before
        } {}
        let counters = if mode == "static" { channels as usize } else { 1 };
        let filled = vec![(0, false); counters];
        let mut fill = Fill { subpages: 16384 / bytes, filled, programs: 0, padding: 0 };
        (0..batch.len()).for_each(|i| fill.request(&batch, i, bytes));
        let result = run_ok(&toml, &[]).result;
        assert_eq!(number(&result, "/gc/victims"), 0.0, "nothing is collected\n{toml}");
        let padding =
            ["pages_written", "programs"].map(|of| number(&result, &format!("/flash/{of}/padding")));
        assert_eq!(padding, [fill.padding as f64, fill.programs as f64], "{toml}");
        padded += padding[0];
        let protected = run_ok(
            &toml.replace("plp = false", "plp = true"),
            &[("workload.fua_share", "0".into()), ("workload.flush_every", "0".into())],
        );
        assert_eq!(number(&protected.result, "/flash/pages_written/padding"), 0.0);
    }
    assert!(padded > 1000.0, "{padded} pages of padding");
}

/// A page that gathers: whether the host wrote it, and the unit where it lay before, if it did.
type Page = (Ppn, bool, Option<UnitId>);

/// Steps through commands: flash pages to pad before each command, and the total of padding.
fn judge(layout: &Layout, commands: &[Command]) -> u64 {
    let (mut padding, mut padded_units) = (0, BTreeMap::new());
    let mut gathered: BTreeMap<UnitId, Vec<Page>> = BTreeMap::new();
    let mut map: BTreeMap<Lpn, Ppn> = BTreeMap::new();
    for command in commands {
        let by_host = |pages: &[Page]| pages.iter().any(|(_, by_host, _)| *by_host);
        let is_due = |pages: &[Page]| match command {
            Command::Flush => by_host(pages),
            Command::Force(forced) => by_host(pages) && pages.iter().any(|(ppn, ..)| forced.contains(ppn)),
            Command::Erase(erased) => pages.iter().any(|(.., before)| *before == Some(*erased)),
            _ => false,
        };
        if let Command::Pad(first, pages) = command {
            padded_units.insert(layout.unit_of(*first), *pages);
            continue;
        }
        let due = gathered.iter().filter(|(_, pages)| is_due(pages));
        let due: BTreeMap<_, _> =
            due.map(|(&unit, pages)| (unit, layout.subpages() - pages.len() as u32)).collect();
        assert_eq!(padded_units, due, "before {command:?}");
        for (unit, pages) in std::mem::take(&mut padded_units) {
            gathered.remove(&unit);
            padding += u64::from(pages);
        }
        let (ppn, lpn, by_host) = match *command {
            Command::Program(ppn, lpn) => (ppn, lpn, true),
            Command::Copy(_, ppn, lpn) => (ppn, lpn, false),
            Command::Trim(lpn) => {
                map.remove(&lpn);
                continue;
            }
            _ => continue,
        };
        let before = map.insert(lpn, ppn).map(|before| layout.unit_of(before));
        let pages = gathered.entry(layout.unit_of(ppn)).or_default();
        pages.push((ppn, by_host, before));
        if pages.len() as u32 == layout.subpages() {
            pages.clear();
        }
    }
    assert!(padded_units.is_empty());
    padding
}

/// A drive with the separator and scope of the seed.
fn drive(seed: u64, rng: &mut Rng) -> (Layout, floatgate_ftl::Setup) {
    let policy = pick(rng, &["none", "host-gc", "hash"]);
    let scope = pick(rng, &["plane", "superblock"]);
    let victim = pick(rng, &["greedy", "fifo", "cost-benefit"]);
    let toml = format!(
        "seed = {seed}\n[drive]\nplp = false\n[drive.geometry]\nchannels = {}\nblocks_per_plane = 60\n\
         pages_per_block = {}\npage_bytes = {}\n[ftl]\nspare_factor = 0.45\nmapping_bytes = 4096\n\
         [ftl.separate]\npolicy = \"{policy}\"\n[ftl.collect]\nscope = \"{scope}\"\npolicy = \"{victim}\"\n",
        1 + rng.below(3),
        12 + rng.below(20),
        8192 << rng.below(2)
    );
    let plan = load(Some(&toml), "t.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{toml}")).plan;
    (plan.layout(), plan.ftl.setup)
}

/// Some requests as extents.
fn requests(rng: &mut Rng, logical: u32) -> Extents {
    let mut out = Extents::default();
    for _ in 0..1 + rng.below(20) {
        let pages = 1 + rng.below(9) as u32;
        let lpn = Lpn(rng.below(u64::from(logical - pages)) as u32);
        match rng.below(12) {
            0 => out.push(Lpn(0), 0, Kind::Flush),
            1 => out.push(lpn, pages, Kind::Trim),
            2 => out.push(lpn, pages, Kind::Read),
            3 => out.push(lpn, 1, Kind::WritePartial),
            4 | 5 => {
                out.push(lpn, pages, Kind::Write);
                out.push(lpn, pages, Kind::Flush);
            }
            _ => out.push(lpn, pages, Kind::Write),
        }
    }
    out
}

/// Serves random requests, with jobs in idle time in between.
fn serve<F: Flash>(rng: &mut Rng, ftl: &mut Ftl, flash: &mut F, setup: &floatgate_ftl::Setup) {
    for _ in 0..300 {
        ftl.serve(flash, &requests(rng, setup.logical_pages)).unwrap();
        for domain in DomainId::all(ftl.domains()) {
            for _ in 0..rng.below(4) {
                if ftl.wants_background_in(domain) {
                    ftl.background_step(flash, domain).unwrap();
                }
            }
        }
        ftl.audit(flash).unwrap_or_else(|e| panic!("{e}"));
    }
}

/// With collection: a flash page is padded when the host must find its data, or when the only other copy of a page
/// disappears, including the old one of a rewritten page.
#[test]
fn padding_is_what_power_cuts_make_necessary() {
    let (mut padding, mut moved) = (0, 0);
    for seed in crate::common::seeds(60) {
        let mut rng = Rng::new(seed, "padding of moves");
        let (layout, mut setup) = drive(seed, &mut rng);
        setup.background_free_units = if rng.below(2) == 0 { setup.stop_free_units + 2 } else { 0 };
        let mut ftl = Ftl::new(layout.clone(), setup);
        let mut flash = Recorder::new(layout.clone());
        serve(&mut rng, &mut ftl, &mut flash, &setup);
        let pages = judge(&layout, &flash.commands);
        assert_eq!(pages, flash.counters().programs[Cause::Padding as usize], "seed {seed}");
        padding += pages;
        moved += ftl.gc().copied_pages;
    }
    assert!(padding > 10_000 && moved > 50_000, "{padding} pages of padding, {moved} moved");
}

/// The shadow model detects what a power cut would lose.
#[test]
fn power_cuts_lose_nothing_that_the_host_may_count_on() {
    for seed in crate::common::seeds(60) {
        let mut rng = Rng::new(seed, "power cuts");
        let (layout, mut setup) = drive(seed, &mut rng);
        setup.background_free_units = if rng.below(2) == 0 { setup.stop_free_units + 2 } else { 0 };
        let mut ftl = Ftl::new(layout.clone(), setup);
        let mut flash = Shadow::new(Functional::new(layout), setup.logical_pages).with_power_cuts();
        serve(&mut rng, &mut ftl, &mut flash, &setup);
    }
}
