//! Random commands on random drives must execute in an order that flash permits. A log of the execution is checked by
//! rules that are independent of queues and tickets.

use super::drawn_settings::settings;
use super::queue::Kind;
use super::scale_tests::Scales;
use super::schedule::Happened;
use super::*;
use crate::Cause;
use floatgate_base::Rng;
use floatgate_base::testing::Bound;
use floatgate_base::{Lpn, Owner, Ppn, UnitId};
use floatgate_nand::Geometry;
use std::collections::BTreeMap;

/// Number of requests per drive.
pub(super) const REQUESTS: u32 = 150;

/// A command to a page or block, in the order of issue.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Issued {
    Program(Ppn),
    Read(Ppn),
    /// Of the block with this first page.
    Erase(Ppn),
}

/// A drive with a generator of legal commands: programs in the order of pages, reads and moves of written pages,
/// erases.
pub(super) struct Driver {
    pub timed: Timed,
    pub rng: Rng,
    /// Next page to program, by unit; a unit may be erased once it is full.
    next: Vec<u32>,
    issued: Vec<Issued>,
    /// Mode by unit.
    modes: Vec<u8>,
    scales: Scales,
    /// Service time of operations without spread and multi-plane commands, nanoseconds.
    service_ns: u64,
    /// Moves, as source and index of the program in `issued`.
    moves: Vec<(Ppn, usize)>,
    /// Most moves to issue together.
    pub run_max: u64,
}

impl Driver {
    fn new(seed: u64) -> Self {
        Self::with(seed, |_, _| {})
    }

    /// Creates a random drive after some changes.
    pub fn with(seed: u64, change: impl FnOnce(&mut Geometry, &mut Settings)) -> Self {
        let mut rng = Rng::new(seed, "order");
        let mut geometry = Geometry {
            channels: 1 + rng.below(3) as u32,
            chips_per_channel: 1 + rng.below(3) as u32,
            dies_per_chip: 1 + rng.below(2) as u32,
            planes_per_die: 1 + rng.below(3) as u32,
            blocks_per_plane: 3 + rng.below(3) as u32,
            pages_per_block: 1 + rng.below(6) as u32,
            page_bytes: 4096,
        };
        let mut settings = settings(&mut rng, seed);
        change(&mut geometry, &mut settings);
        let scope = if rng.below(2) == 0 { Scope::Plane } else { Scope::Superblock };
        let layout = Layout::new(geometry, scope);
        let next = vec![0; layout.units() as usize];
        let scales = Scales::draw(seed, &layout, &mut settings.phases);
        let mut timed = scales.array(layout, settings);
        timed.start();
        let modes = vec![0; next.len()];
        Self {
            timed,
            rng,
            next,
            issued: Vec::new(),
            modes,
            scales,
            service_ns: 0,
            moves: Vec::new(),
            run_max: 6,
        }
    }

    /// Returns an array as this one was at first.
    pub fn restarted(&self, settings: Settings) -> Timed {
        self.scales.array(self.layout(), settings)
    }

    fn layout(&self) -> Layout {
        self.timed.layout().clone()
    }

    fn below(&mut self, n: u32) -> u32 {
        self.rng.below(u64::from(n)) as u32
    }

    /// Returns the next page of some unit with room.
    fn fresh(&mut self) -> Option<Ppn> {
        let unit = self.below(self.timed.layout().units());
        self.fresh_in(unit)
    }

    /// Returns the next page of a unit, if it has room.
    fn fresh_in(&mut self, unit: u32) -> Option<Ppn> {
        let layout = self.layout();
        let offset = self.next[unit as usize];
        if offset == 0 && self.rng.below(4) > 0 {
            let mode = self.below(self.timed.schedule.settings.phases.modes) as u8;
            self.modes[unit as usize] = mode;
            self.timed.set_mode(UnitId(unit), mode);
        }
        (offset < layout.pages_per_unit()).then(|| {
            self.next[unit as usize] += 1;
            layout.first_page(UnitId(unit)) + offset
        })
    }

    /// Returns a page that has been programmed.
    fn written(&mut self) -> Option<Ppn> {
        let layout = self.layout();
        let unit = self.below(layout.units());
        let written = self.next[unit as usize];
        (written > 0).then(|| layout.first_page(UnitId(unit)) + self.below(written))
    }

    /// Returns the array times of a page, looked up by its address.
    fn times(&self, ppn: Ppn) -> PageTimes {
        let phases = &self.timed.schedule.settings.phases;
        let layout = self.timed.layout();
        let unit = layout.unit_of(ppn).index();
        let mode = usize::from(self.modes[unit]);
        let row = mode * phases.page_types as usize + (layout.address(ppn).page % phases.page_types) as usize;
        self.scales.times(unit, phases.rows[0][row])
    }

    fn reads(&mut self, ppn: Ppn) {
        let phases = self.timed.schedule.settings.phases;
        self.service_ns += phases.command_ns + self.times(ppn).read_ns + phases.transfer_ns;
        self.issued.push(Issued::Read(ppn));
    }

    fn programs(&mut self, ppn: Ppn) {
        let phases = self.timed.schedule.settings.phases;
        self.service_ns += phases.command_ns + phases.transfer_ns + self.times(ppn).program_ns;
        self.issued.push(Issued::Program(ppn));
    }

    /// Issues one random command.
    pub fn issue_any(&mut self) {
        match self.rng.below(10) {
            0..=3 => {
                let Some(ppn) = self.fresh() else { return };
                if let (true, Some(old)) = (self.rng.below(4) == 0, self.written().filter(|&old| old != ppn))
                {
                    self.timed.read(old, Lpn(0), Cause::Partial);
                    self.reads(old);
                    self.timed.program(ppn, Lpn(0), Cause::Partial);
                } else {
                    self.timed.program(ppn, Lpn(0), Cause::Host);
                }
                self.programs(ppn);
            }
            4..=6 => {
                let Some(ppn) = self.written() else { return };
                self.timed.read(ppn, Lpn(0), Cause::Host);
                self.reads(ppn);
            }
            7..=8 => self.issue_moves(),
            _ => self.issue_erase(),
        }
    }

    /// Issues the erase of some unit, if it is full.
    pub fn issue_erase(&mut self) {
        let layout = self.layout();
        let unit = self.below(layout.units());
        if self.next[unit as usize] < layout.pages_per_unit() {
            return;
        }
        let (first, again) = self.scales.erased(unit);
        self.timed.set_erase_mode(UnitId(unit), first);
        self.timed.erase(UnitId(unit), Cause::Gc);
        self.erased(unit, first);
        if let Some(mode) = again {
            self.timed.deepen(UnitId(unit), mode, Cause::Gc);
            self.erased(unit, mode);
        }
        (self.next[unit as usize], self.modes[unit as usize]) = (0, 0);
    }

    fn erased(&mut self, unit: u32, mode: u8) {
        let layout = self.layout();
        for i in 0..layout.blocks_per_unit() {
            self.issued.push(Issued::Erase(layout.first_page(UnitId(unit)) + i));
        }
        let phases = self.timed.schedule.settings.phases;
        let erase_ns = self.scales.erase_ns(mode, phases.erase_ns);
        self.service_ns += u64::from(layout.blocks_per_unit()) * (phases.command_ns + erase_ns);
    }

    /// Issues moves of pages of one unit to the next pages of another one.
    pub fn issue_moves(&mut self) {
        let Some(first) = self.written() else { return };
        let (layout, run) = (self.layout(), 1 + self.rng.below(self.run_max));
        // Most moves stay in their die.
        let of_domain = layout.units_per_domain();
        let near = layout.domain_of(layout.unit_of(first)).0 * of_domain + self.below(of_domain);
        let to = if self.below(4) == 0 { self.fresh() } else { self.fresh_in(near) };
        let Some(to) = to else { return };
        let (source, target) = (layout.unit_of(first), layout.unit_of(to));
        let end = layout.first_page(source) + self.next[source.index()];
        let mut moving = vec![(first, Owner::page(Lpn(0)))];
        let mut bound = Bound::new(100_000_000);
        while let Some(&(last, owner)) = moving.last() {
            bound.step();
            let (page, room) = (last + 1 + self.below(2), layout.pages_per_unit());
            // A page issued just now is not there yet.
            let done = moving.len() as u64 == run || page >= end || self.next[target.index()] == room;
            if done || source == target {
                break;
            }
            moving.push((page, owner));
            self.next[target.index()] += 1;
        }
        self.timed.copy_run(&moving, to, Cause::Gc);
        let Settings { phases, commands, .. } = self.timed.schedule.settings;
        for (&(source, _), to) in moving.iter().zip(Ppn::each(to..to + moving.len() as u32)) {
            self.reads(source);
            self.moves.push((source, self.issued.len()));
            self.programs(to);
            let [from, to] = [source, to].map(|ppn| self.timed.place(ppn).plane_number);
            if from == to && commands.copyback {
                self.service_ns -= 2 * phases.transfer_ns;
            }
        }
    }

    /// Runs [`REQUESTS`] requests to their ends; returns their times.
    pub fn drive(&mut self) -> Vec<(u32, u64)> {
        self.drive_with(|_, _| {})
    }

    /// Runs the requests; `between` may act on the array between two of them.
    fn drive_with(&mut self, mut between: impl FnMut(u32, &mut Timed)) -> Vec<(u32, u64)> {
        let mut now = 0;
        for number in 0..REQUESTS {
            between(number, &mut self.timed);
            now += self.rng.below(900);
            self.timed.arrive(number, now);
            for _ in 0..self.rng.below(4) {
                self.issue_any();
            }
            self.timed.issued();
        }
        self.timed.finish();
        let mut done = Vec::new();
        self.timed.take_done(&mut done);
        done
    }
}

/// Returns the block of a page.
fn block_of(timed: &Timed, ppn: Ppn) -> usize {
    timed.place(ppn).block
}

/// Runs a drive and checks its log.
pub(super) fn judge(mut driver: Driver, seed: u64) -> CommandCounts {
    let done = driver.drive();
    assert_eq!(done.len(), REQUESTS as usize, "seed {seed}: every request ends");
    assert!(done.is_sorted_by_key(|&(_, time)| time), "seed {seed}: in the order of time");
    let (operations, channels, arrays) = driver.timed.schedule.log.clone();
    let apart = |mut spans: Vec<(usize, u64, u64)>, what: &str| {
        spans.sort_unstable();
        for pair in spans.windows(2) {
            assert!(pair[0].0 != pair[1].0 || pair[0].2 <= pair[1].1, "seed {seed}: {what} {pair:?}");
        }
    };
    let Settings { phases, commands, reads_old_copies, .. } = driver.timed.schedule.settings;
    let is_fixed =
        phases.program_spread + phases.erase_spread == 0.0 && commands.multi_plane == MultiPlane::None;
    // Reads of old copies may take other times, or none at all.
    if is_fixed && !reads_old_copies {
        let service_ns: u64 = driver.timed.times().iter().map(|t| t.service_ns).sum();
        assert_eq!(service_ns, driver.service_ns, "seed {seed}: {} modes", phases.modes);
    }
    apart(arrays, "an array does two things");
    apart(channels, "a channel carries two things");
    check_times(&driver.timed, &operations, seed);

    // Match the issued commands with the log: operations of one kind on one page execute in the order of issue, except
    // that reads of a page may be reordered among themselves.
    let times = |issued: &Issued, nth: usize| -> (u64, u64) {
        let fits = |&&Happened { kind, ppn, .. }: &&Happened| match *issued {
            Issued::Program(p) => ppn == p && matches!(kind, Kind::Program | Kind::Copy),
            Issued::Read(p) => ppn == p && kind == Kind::Read,
            Issued::Erase(p) => ppn == p && kind == Kind::Erase,
        };
        let entry = operations.iter().filter(fits).nth(nth);
        entry.map_or((u64::MAX, u64::MAX), |o| (o.from, o.to))
    };
    let mut seen: Vec<(Issued, (u64, u64))> = Vec::new();
    let mut spans = vec![(0, 0); driver.issued.len()];
    for (i, issued) in driver.issued.iter().enumerate() {
        // A move within a die logs one operation, by the page programmed; its read is not checked here.
        if matches!(issued, Issued::Read(_)) {
            continue;
        }
        let nth = driver.issued[..i].iter().filter(|a| *a == issued).count();
        let span = times(issued, nth);
        assert_ne!(span.0, u64::MAX, "seed {seed}: {issued:?} never happened");
        seen.push((*issued, span));
        spans[i] = span;
    }
    check_moves(&driver, &spans, seed);
    check_blocks(&driver.timed, &seen, seed);
    check_reads(&driver, &operations, seed);
    driver.timed.command_counts()
}

/// Checks that the parts of the time add up to the time from issue to end, whatever overlaps.
fn check_times(timed: &Timed, operations: &[Happened], seed: u64) {
    for class in Class::ALL {
        let of_class = operations.iter().filter(|o| o.class == class);
        let (n, whole) = of_class.fold((0, 0), |(n, sum), o| (n + 1, sum + (o.to - o.issued)));
        let t = timed.times()[class as usize];
        let waits = t.die_wait_ns + t.foreground_wait_ns + t.background_wait_ns + t.channel_wait_ns;
        assert_eq!((t.operations, waits + t.suspended_ns + t.service_ns), (n, whole), "seed {seed}: {t:?}");
    }
}

/// Checks that no block is erased before the pages moved away from it have arrived on their dies.
fn check_moves(driver: &Driver, spans: &[(u64, u64)], seed: u64) {
    for &(source, program) in &driver.moves {
        let block = block_of(&driver.timed, source);
        let of_block = |a: &Issued| matches!(a, Issued::Erase(p) if block_of(&driver.timed, *p) == block);
        let later = driver.issued.iter().enumerate().skip(program);
        if let Some((i, erase)) = { later }.find(|(_, a)| of_block(a)) {
            let (arrived, erased) = (spans[program].1, spans[i].0);
            assert!(
                arrived <= erased,
                "seed {seed}: {erase:?} at {erased}, page {source} arrives at {arrived}"
            );
        }
    }
}

/// Checks that programs and erases of a block execute one after another in the order of issue.
fn check_blocks(timed: &Timed, seen: &[(Issued, (u64, u64))], seed: u64) {
    let mut last: Vec<Option<(Issued, (u64, u64))>> = vec![None; timed.blocks.len()];
    for &(issued, span) in seen {
        let (Issued::Program(ppn) | Issued::Erase(ppn) | Issued::Read(ppn)) = issued;
        let block = block_of(timed, ppn);
        if let Some((before, earlier)) = last[block] {
            assert!(
                earlier.1 <= span.0,
                "seed {seed}: {issued:?} {span:?} before {before:?} {earlier:?} ended"
            );
        }
        last[block] = Some((issued, span));
    }
}

/// Checks that each read lies after the program of its page and before the next erase of its block.
fn check_reads(driver: &Driver, operations: &[Happened], seed: u64) {
    for &Happened { kind, ppn, from, to, .. } in operations {
        if kind != Kind::Read {
            continue;
        }
        let block = block_of(&driver.timed, ppn);
        let erases =
            operations.iter().filter(|o| o.kind == Kind::Erase && block_of(&driver.timed, o.ppn) == block);
        let programs = operations
            .iter()
            .filter(|o| matches!(o.kind, Kind::Program | Kind::Copy) && o.ppn == ppn)
            .collect::<Vec<_>>();
        let program = programs.iter().filter(|o| o.to <= from).map(|o| o.to).max();
        let Some(program) = program else {
            panic!("seed {seed}: read of {ppn} at {from} before its program")
        };
        for erase in erases {
            let between = erase.from >= program && erase.from < to;
            assert!(
                !between,
                "seed {seed}: page {ppn} is erased at {} before it is read at {from}..{to}",
                erase.from
            );
        }
    }
}

/// On dies with a channel each, passing through all phases at once or one by one gives the same times.
#[test]
fn going_through_at_once_changes_nothing() {
    let mut compared = 0;
    for seed in 0..400 {
        let run = |direct: bool| {
            let mut driver = Driver::with(seed, |geometry, settings| {
                (geometry.chips_per_channel, geometry.dies_per_chip) = (1, 1);
                // The two paths draw the times of moves at different moments.
                (settings.phases.program_spread, settings.phases.erase_spread) = (0.0, 0.0);
                settings.commands = Commands { copyback: settings.commands.copyback, ..Commands::PLAIN };
            });
            let was = driver.timed.schedule.direct;
            driver.timed.schedule.direct &= direct;
            let done = driver.drive();
            let mut happened = driver.timed.schedule.log.0.clone();
            happened.sort_by_key(|o| (o.to, o.ppn, o.issued));
            (was, done, format!("{happened:?}"), driver.timed.times(), driver.timed.jobs_ns())
        };
        let (at_once, one_by_one) = (run(true), run(false));
        compared += u32::from(at_once.0);
        assert_eq!(at_once, one_by_one, "seed {seed}");
    }
    assert_eq!(compared, 400);
}

/// A command at a die according to the log: array times of its slowest page, end of the last page, and pages.
#[derive(Default)]
struct Command {
    read_ns: u64,
    program_ns: u64,
    erase_ns: u64,
    to: u64,
    n: u64,
}

/// Checks the phases of the arrays against the log; returns how many phases are pieces of suspended work.
fn check_phases(timed: &Timed, phases: &[ArrayPhase], seed: u64) -> usize {
    let (operations, channels, _) = &timed.schedule.log;
    let settings = &timed.schedule.settings;
    let p = &settings.phases;
    // Operations that began together at a die are one command.
    let mut commands: BTreeMap<(usize, u64, u8), Command> = BTreeMap::new();
    for o in operations {
        let command = commands.entry((timed.place(o.ppn).die, o.from, o.kind as u8)).or_default();
        let [read, program] = o.rows.map(|row| *p.row(row));
        command.erase_ns = command.erase_ns.max(p.erase_ns_in(o.rows[1]));
        command.read_ns = command.read_ns.max(read.read_ns);
        command.program_ns = command.program_ns.max(program.program_ns);
        (command.to, command.n) = (command.to.max(o.to), command.n + 1);
    }
    let mut by_die: Vec<Vec<ArrayPhase>> = vec![Vec::new(); timed.schedule.dies.len()];
    phases.iter().for_each(|phase| by_die[phase.die as usize].push(*phase));
    for of_die in &by_die {
        assert!(of_die.iter().all(|phase| phase.from_ns < phase.to_ns), "seed {seed}");
        let apart = of_die.windows(2).all(|pair| pair[0].to_ns <= pair[1].from_ns);
        assert!(apart, "seed {seed}: phases of a die overlap, or come out of order");
    }
    let (mut matched, mut pieces_more) = (0, 0);
    for (&(die, from, kind), command) in &commands {
        let of_die =
            |work| by_die[die].iter().filter(move |phase| phase.work == work && phase.from_ns >= from);
        if kind == Kind::Read as u8 || kind == Kind::Copy as u8 {
            let read = of_die(Work::Read).next().expect("the array has read");
            assert_eq!(read.to_ns - read.from_ns, command.read_ns, "seed {seed}");
            // It reads as soon as it has the commands.
            let whole = command.n * p.command_ns;
            let carried = channels.contains(&(
                die % timed.layout().geometry().channels as usize,
                read.from_ns - whole,
                read.from_ns,
            ));
            assert!(if whole == 0 { read.from_ns == from } else { carried }, "seed {seed}: {read:?}");
            matched += 1;
        }
        if kind != Kind::Read as u8 {
            let erases = kind == Kind::Erase as u8;
            let work = if erases { Work::Erase } else { Work::Program };
            let pieces: Vec<_> = of_die(work).take_while(|phase| phase.to_ns <= command.to).collect();
            assert_eq!(pieces.last().map(|phase| phase.to_ns), Some(command.to), "seed {seed}");
            let sum: u64 = pieces.iter().map(|phase| phase.to_ns - phase.from_ns).sum();
            let (due, spread) = if erases {
                (command.erase_ns, p.erase_spread)
            } else {
                (command.program_ns, p.program_spread)
            };
            if spread == 0.0 {
                assert_eq!(sum, due, "seed {seed}: {pieces:?}");
            }
            (matched, pieces_more) = (matched + pieces.len(), pieces_more + pieces.len() - 1);
        }
    }
    assert_eq!(matched, phases.len(), "seed {seed}: every phase belongs to a command");
    pieces_more
}

/// The tap shows the work of the arrays and changes nothing.
#[test]
fn the_tap_shows_when_arrays_work() {
    let mut pieces_more = 0;
    for seed in 0..600 {
        // Every third drive has a channel for each die and plain commands, and passes through operations at once.
        let new = || {
            Driver::with(seed, |geometry, settings| {
                if seed % 3 == 0 {
                    (geometry.chips_per_channel, geometry.dies_per_chip) = (1, 1);
                    settings.commands = Commands { copyback: settings.commands.copyback, ..Commands::PLAIN };
                }
            })
        };
        let (mut tapped, mut plain) = (new(), new());
        assert!(seed % 3 != 0 || tapped.timed.schedule.direct);
        tapped.timed.tap(Signal::Array, None);
        let mut phases: Vec<ArrayPhase> = Vec::new();
        let mut known = vec![0; tapped.timed.schedule.dies.len()];
        let done = tapped.drive_with(|_, timed| {
            let before = phases.len();
            timed.take_phases(&mut phases);
            for phase in &phases[before..] {
                assert!(phase.from_ns >= known[phase.die as usize], "seed {seed}: {phase:?} comes too late");
            }
            known.iter_mut().enumerate().for_each(|(die, known)| *known = timed.phases_known_ns(die as u32));
        });
        tapped.timed.take_phases(&mut phases);
        assert_eq!(done, plain.drive(), "seed {seed}");
        let figures = |t: &Timed| (t.times(), t.jobs_ns(), t.command_counts(), t.last_ns());
        assert_eq!(figures(&tapped.timed), figures(&plain.timed), "seed {seed}");
        assert!(plain.timed.schedule.tap.is_none() && !plain.timed.schedule.recording);
        pieces_more += check_phases(&tapped.timed, &phases, seed);
    }
    assert!(pieces_more > 100, "hardly anything was suspended: {pieces_more}");
}

/// An array saved in the middle of its work and restored continues unchanged.
#[test]
fn snapshots_go_on_equal() {
    let mut in_modes = 0;
    for seed in 0..100 {
        let run = |kept: Option<u32>| {
            let mut driver = Driver::new(seed);
            let (settings, scales) = (driver.timed.schedule.settings, driver.scales.clone());
            let done = driver.drive_with(|number, timed| {
                if kept == Some(number) {
                    let counts = serde_json::to_string(&timed.counts().saved()).unwrap();
                    let under_way = serde_json::to_string(&timed.saved()).unwrap();
                    *timed = scales.array(timed.layout().clone(), settings);
                    assert!(timed.counts_mut().restore(serde_json::from_str(&counts).unwrap()));
                    assert!(timed.restore(serde_json::from_str(&under_way).unwrap()));
                }
            });
            let t = &driver.timed;
            let modes: Vec<u8> = (0..t.layout().units()).map(|unit| t.counts().mode(UnitId(unit))).collect();
            let scaling = t.scaling().map(|s| (s.counts().clone(), s.worn_of_units().to_vec()));
            (done, t.times(), t.jobs_ns(), t.command_counts(), (t.counters().clone(), scaling), modes)
        };
        let whole = run(None);
        in_modes += u32::from(whole.5.iter().any(|&mode| mode > 0));
        assert_eq!(run(Some(REQUESTS / 2)), whole, "seed {seed}");
    }
    assert!(in_modes > 30, "{in_modes}");
}

#[test]
fn flash_could_keep_the_order_of_everything() {
    let mut used = [0; 6];
    for seed in 0..600 {
        let c = judge(Driver::new(seed), seed);
        let counts = [
            c.multi_plane,
            c.cache_reads,
            c.cache_programs,
            c.copybacks.iter().sum(),
            c.program_suspends,
            c.erase_suspends,
        ];
        for (used, count) in used.iter_mut().zip(counts) {
            *used += count;
        }
    }
    assert!(used.iter().all(|&n| n > 100), "some commands were hardly used: {used:?}");
}
