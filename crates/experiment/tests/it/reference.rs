//! The engine compared with a second drive that follows the same rules by plain scans: every program, copy and erase,
//! the wear of every block and the place of every page must agree.

use crate::common::naive::{Moved, Naive, NamedStreams, Rule, Swaps};
use crate::common::policies::{separator, victim};
use crate::common::recorder::{Command, Recorder};
use floatgate_base::{ExtentKind, Extents, Hints, Lpn, Rng};
use floatgate_flash::{Cause, Flash, Layout, Scope};
use floatgate_ftl::level::HotColdSwap;
use floatgate_ftl::{FreeChoice, Ftl, Level, Pace, Separate, Setup, Victim};
use floatgate_nand::Geometry;

const CASES: u64 = 200;

/// One plane.
fn geometry(blocks: u32, pages_per_block: u32) -> Geometry {
    Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: blocks,
        pages_per_block,
        page_bytes: 4096,
    }
}

/// Writes and TRIMs of single pages: uniform, skewed or in runs.
fn workload(rng: &mut Rng, logical: u32, requests: u32) -> Extents {
    let mut extents = Extents::default();
    let (skew, trims) = (rng.below(3), rng.below(2) * 4);
    let mut at = 0;
    for _ in 0..requests {
        let any = rng.below(u64::from(logical)) as u32;
        at = match skew {
            0 => any,
            1 => (u64::from(any) * rng.below(u64::from(logical)) / u64::from(logical)) as u32,
            _ => {
                if rng.below(10) == 0 {
                    any
                } else {
                    (at + 1) % logical
                }
            }
        };
        let trim = rng.below(20) < trims;
        extents.push(Lpn(at), 1, if trim { ExtentKind::Trim } else { ExtentKind::Write });
    }
    extents
}

/// A leveler that takes blocks for worn after few erases, and never passes one over; the mean of the erases of 8, 16 or
/// 32 blocks is exact.
fn leveler(rng: &mut Rng, logical: u32, blocks: u32) -> (Level, Swaps) {
    let life = 2 + rng.below(10) as u32;
    let (part, whole) = [(3, 4), (7, 8), (1, 1)][rng.below(3) as usize];
    let policy = HotColdSwap {
        pe_cycles: life,
        retirement_age: part as f64 / whole as f64,
        age_variance: 1.0,
        lead_share_min: 0.0,
    };
    let valid_min = logical.div_ceil(blocks) as usize;
    let swaps = Swaps { life: u64::from(life), retirement: (part, whole), valid_min, ..Swaps::default() };
    (Level::HotColdSwap(policy), swaps)
}

/// Streams that the host names, some of which are update blocks.
fn named_streams(rng: &mut Rng) -> (Separate, NamedStreams) {
    let streams = 1 + rng.below(3);
    let last_from = rng.below(streams + 1);
    let mode = rng.below(3);
    let isolation = rng.below(3) as usize;
    let values = [
        ("handles", streams as f64),
        ("isolation", isolation as f64),
        ("update_from", last_from as f64),
        ("update_blocks_last", mode as f64),
    ];
    let separate = separator("host-given", &values);
    let last_from = if mode == 0 { usize::MAX } else { last_from as usize };
    let moved = [Moved::Home, Moved::Apart, Moved::Together][isolation];
    (separate, NamedStreams { streams: streams as usize, moved, last_from, even_dead: mode == 2 })
}

/// A drive for both, and what the second one must know of its policies.
struct Case {
    setup: Setup,
    blocks: u32,
    pages: u32,
    swaps: Option<Swaps>,
    streams_named: Option<NamedStreams>,
}

impl Case {
    fn draw(rng: &mut Rng, seed: u64, victim: Victim, leveled: bool, named: bool) -> Self {
        let mut blocks = 8 + rng.below(30) as u32;
        if leveled {
            blocks = [8, 16, 32][rng.below(3) as usize];
        }
        let pages = [1, 2, 3, 5, 8, 13][rng.below(6) as usize];
        let mut separate = [Separate::None, Separate::HostGc][rng.below(2) as usize];
        let mut streams_named = None;
        if named {
            // Room for as many streams of moved pages.
            blocks = blocks.max(16);
            let (policy, streams) = named_streams(rng);
            (separate, streams_named) = (policy, Some(streams));
        }
        let free_choice = [FreeChoice::LeastErased, FreeChoice::Fifo][rng.below(2) as usize];
        let trigger = separate.reserve() + rng.below(2) as u32;
        let stop = trigger + rng.below(2) as u32;
        let room = (blocks - stop - separate.streams()) * pages;
        let logical = (f64::from(room - 1) * (0.4 + 0.55 * rng.unit())) as u32 + 1;
        let (level, swaps) = match leveled {
            true => leveler(rng, logical, blocks),
            false => (Level::None, Swaps::default()),
        };
        // A block more every few pages, from some page on.
        let pace = (rng.below(3) == 0).then(|| Pace {
            from_writes: rng.below(4 * u64::from(logical)),
            every_writes: 1 + rng.below(40),
        });
        let garbage_share = (rng.below(4) == 0).then(|| 0.02 + 0.4 * rng.unit());
        let setup = Setup {
            victim,
            separate,
            level,
            free_choice,
            trigger_free_units: trigger,
            stop_free_units: stop,
            pace,
            garbage_share,
            seed,
            ..Setup::plain(logical)
        };
        Self { setup, blocks, pages, swaps: leveled.then_some(swaps), streams_named }
    }

    fn streams(&self) -> usize {
        self.setup.separate.streams() as usize
    }

    /// What the host does; it names streams where they are its own.
    fn work(&self, rng: &mut Rng) -> Extents {
        let logical = self.setup.logical_pages;
        // Every stream's block must be filled, even where the host sees few pages.
        let mut work = workload(rng, logical, 8 * logical + 4 * self.blocks * self.pages);
        let Some(streams_named) = &self.streams_named else { return work };
        let streams = streams_named.streams;
        // Pages of one stream are updated at a rate of their own, and now and then one goes elsewhere.
        let any = |rng: &mut Rng| rng.below(streams as u64) as u32;
        let handle = |&lpn: &Lpn| if rng.below(9) == 0 { any(rng) } else { lpn.0 % streams as u32 };
        let handles: Vec<u32> = work.lpn.iter().map(handle).collect();
        work.columns.hints = handles.into_iter().map(|handle| Hints { handle, ..Hints::default() }).collect();
        work
    }

    /// The second drive.
    fn naive(&self, rule: Rule) -> Naive {
        let setup = &self.setup;
        let mut naive = Naive::new(
            rule,
            self.blocks as usize,
            self.pages as usize,
            self.streams(),
            (setup.trigger_free_units, setup.stop_free_units),
            setup.free_choice == FreeChoice::Fifo,
        );
        naive.swaps.clone_from(&self.swaps);
        naive.streams_named.clone_from(&self.streams_named);
        naive.garbage_share = setup.garbage_share;
        naive.pace = setup.pace.map(|pace| (pace.from_writes + pace.every_writes, pace.every_writes));
        naive
    }
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { setup, blocks, pages, .. } = self;
        write!(f, "seed {}, {setup:?}, {blocks} blocks of {pages} pages", setup.seed)
    }
}

/// Runs both drives; how many blocks were swapped.
fn agree(seed: u64, victim: Victim, rule: Rule, leveled: bool, named: bool) -> u64 {
    let mut rng = Rng::new(seed, "reference");
    let case = Case::draw(&mut rng, seed, victim, leveled, named);
    let layout = Layout::new(geometry(case.blocks, case.pages), Scope::Plane);
    let mut ftl = Ftl::new(layout.clone(), case.setup);
    let mut flash = Recorder::new(layout);
    let work = case.work(&mut rng);
    let mut naive = case.naive(rule);
    ftl.reset_counts(&mut flash);
    ftl.serve(&mut flash, &work).unwrap_or_else(|e| panic!("{case}: {e:?}"));
    naive.victims = flash.erased().map(|unit| unit.0).collect();
    for i in 0..work.len() {
        if work.kind[i] == ExtentKind::Trim {
            naive.trim(work.lpn[i].0);
        } else {
            let stream = work.columns.hints.get(i).map_or(0, |hints| hints.handle as usize);
            naive.write(work.lpn[i].0, stream).unwrap_or_else(|e| panic!("{case}: request {i}: {e}"));
        }
    }
    ftl.audit(&flash).unwrap_or_else(|e| panic!("{case}: {e}"));
    let swaps = figures_agree(&ftl, &flash, &naive, &case);
    places_agree(&mut ftl, &mut flash, &naive, &case);
    swaps
}

/// Holds both to the same programs, copies, swaps and erases; how many blocks were swapped.
fn figures_agree(ftl: &Ftl, flash: &Recorder, naive: &Naive, case: &Case) -> u64 {
    assert!(naive.victims.is_empty(), "{case}: the engine collected {} blocks more", naive.victims.len());
    assert!(naive.collected > 0, "{case}: nothing was collected");
    let programs = |cause| flash.counters().programs[cause as usize];
    assert_eq!(
        (programs(Cause::Host), programs(Cause::Gc)),
        (naive.host_programs, naive.copies),
        "{case}: programs"
    );
    let swapped = naive.swaps.as_ref().map_or((0, 0), |swaps| swaps.count);
    assert_eq!((ftl.leveled().swaps, ftl.leveled().moved_pages), swapped, "{case}: swaps");
    let erases = flash.counters().erases[Cause::Level as usize];
    assert_eq!((erases, programs(Cause::Level)), swapped, "{case}: cost of swaps");
    assert_eq!(flash.erase_counts().as_slice(), naive.erases(), "{case}: wear");
    let gc = ftl.gc();
    assert_eq!(
        (gc.victims, gc.dead_victims, gc.copied_pages),
        (naive.collected, naive.dead, naive.copies),
        "{case}"
    );
    assert_eq!(ftl.free_units(), naive.free_blocks() as u64, "{case}: free blocks");
    swapped.0
}

/// Holds both to the same place of every page.
fn places_agree(ftl: &mut Ftl, flash: &mut Recorder, naive: &Naive, case: &Case) {
    for lpn in 0..case.setup.logical_pages {
        let mut read = Extents::default();
        read.push(Lpn(lpn), 1, ExtentKind::Read);
        ftl.serve(flash, &read).unwrap();
        let ppn = match flash.commands.last() {
            Some(&Command::Read(ppn, _)) => Some(ppn),
            _ => None,
        };
        assert_eq!(ppn.map(|ppn| ppn.0), naive.find(lpn), "{case}: place of logical page {lpn}");
    }
}

fn all(rule: Rule, victim: impl Fn(u64) -> Victim) {
    for seed in crate::common::seeds(CASES) {
        agree(seed, victim(seed), rule, false, false);
        agree(seed, victim(seed), rule, seed % 2 == 0, true);
    }
    // Many of these drives swap; FIFO wears its blocks evenly by itself.
    let least = if rule == Rule::Fifo { 5 } else { CASES as usize / 5 };
    let swaps =
        crate::common::seeds(CASES).filter(|&seed| agree(seed, victim(seed), rule, true, false) > 0).count();
    assert!(swaps > least, "{swaps}");
}

#[test]
fn fifo_is_exact() {
    all(Rule::Fifo, |_| Victim::named("fifo"));
}

#[test]
fn cost_benefit_is_exact() {
    all(Rule::CostBenefit, |_| Victim::named("cost-benefit"));
}

#[test]
fn cost_benefit_with_age_since_the_last_change_is_exact() {
    all(Rule::CostBenefitChanged, |_| victim("cost-benefit", &[("age_since", 1.0)]));
}

#[test]
fn cost_benefit_with_the_root_of_age_is_exact_up_to_ties() {
    all(Rule::CostBenefitSqrt, |_| Victim::named("cost-benefit-sqrt"));
}

#[test]
fn greedy_is_exact_up_to_ties() {
    all(Rule::Greedy, |_| Victim::named("greedy"));
}

#[test]
fn windowed_greedy_is_exact_up_to_ties() {
    for window in [1, 3, 10, 1000] {
        crate::common::seeds(CASES / 2).for_each(|seed| {
            for leveled in [false, true] {
                for named in [false, true] {
                    agree(
                        seed,
                        victim("windowed-greedy", &[("window", window.into())]),
                        Rule::Window(window as usize),
                        leveled,
                        named,
                    );
                }
            }
        });
    }
}

#[test]
fn cost_age_time_keeps_its_bound() {
    all(Rule::CostAgeTime, |_| Victim::named("cost-age-time"));
}

#[test]
fn random_choices_are_closed_blocks() {
    all(Rule::Any, |_| Victim::named("random"));
    all(Rule::Any, |seed| victim("d-choices", &[("choices", 1.0 + (seed % 9) as f64)]));
}
