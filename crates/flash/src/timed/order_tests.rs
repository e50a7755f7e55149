//! Whatever is asked of random drives, things happen in an order that flash could keep: judged from a log of what
//! happened, by rules that know nothing of queues and tickets.

use super::queue::Kind;
use super::schedule::Happened;
use super::settings::ROWS_MAX;
use super::*;
use crate::Cause;
use floatgate_base::Rng;
use floatgate_base::testing::Bound;
use floatgate_base::{Lpn, Owner, Ppn, UnitId};
use floatgate_nand::Geometry;
use std::collections::BTreeMap;

/// Of each drive.
pub(super) const REQUESTS: u32 = 150;

/// What was asked of a page or block, in the order of asking.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Asked {
    Program(Ppn),
    Read(Ppn),
    /// Of the block with this first page.
    Erase(Ppn),
}

/// A drive that asks for legal things: programs in the order of pages, reads and moves of written pages, erases.
pub(super) struct Driver {
    pub timed: Timed,
    pub rng: Rng,
    /// Next page to program, by unit; a unit may be erased once it is full.
    next: Vec<u32>,
    asked: Vec<Asked>,
    /// Mode by unit.
    modes: Vec<u8>,
    /// What operations need for themselves, without spread and multi-plane commands, nanoseconds.
    service_ns: u64,
    /// Moves, as source and the place of the program in `asked`.
    moves: Vec<(Ppn, usize)>,
    /// Moves asked for together, at most.
    pub run_max: u64,
}

/// Any durations, optional commands and orders of service.
fn settings(rng: &mut Rng, seed: u64) -> Settings {
    let yes = |rng: &mut Rng| rng.below(2) == 0;
    let phases = Phases {
        command_ns: rng.below(4),
        transfer_ns: 1 + rng.below(40),
        rows: [(); ROWS_MAX]
            .map(|()| PageTimes { read_ns: 1 + rng.below(60), program_ns: 1 + rng.below(600) }),
        page_types: 1 + rng.below(4) as u32,
        modes: 1 + rng.below(3) as u32,
        program_spread: if yes(rng) { 0.0 } else { 0.3 },
        erase_ns: 1 + rng.below(3000),
        erase_spread: if yes(rng) { 0.0 } else { 0.4 },
    };
    let rules = [MultiPlane::None, MultiPlane::SamePage, MultiPlane::SameBlockAndPage, MultiPlane::Any];
    let (suspend_ns, resume_ns) = (rng.below(20), rng.below(20));
    let suspend = Suspend {
        program: yes(rng),
        erase: yes(rng),
        suspend_ns,
        resume_ns,
        reads_max: 1 + rng.below(4) as u32,
    };
    let commands = Commands {
        multi_plane: rules[rng.below(4) as usize],
        cache_read: yes(rng),
        cache_program: yes(rng),
        copyback: yes(rng),
        suspend,
    };
    let [r, w, b] = Class::ALL;
    let orders = [[r, w, b], [r, b, w], [w, r, b], [w, b, r], [b, r, w], [b, w, r]];
    let order = match rng.below(7) {
        6 => Order::Fcfs,
        n => Order::Priority(orders[n as usize]),
    };
    Settings { phases, commands, order, urgent_as_writes: yes(rng), seed, plp: true }
}

impl Driver {
    fn new(seed: u64) -> Self {
        Self::with(seed, |_, _| {})
    }

    /// A random drive after some changes.
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
        let mut timed = Timed::new(layout, settings);
        timed.start();
        let modes = vec![0; next.len()];
        Self { timed, rng, next, asked: Vec::new(), modes, service_ns: 0, moves: Vec::new(), run_max: 6 }
    }

    fn layout(&self) -> Layout {
        self.timed.layout().clone()
    }

    fn below(&mut self, n: u32) -> u32 {
        self.rng.below(u64::from(n)) as u32
    }

    /// The next page of some unit with room.
    fn fresh(&mut self) -> Option<Ppn> {
        let unit = self.below(self.timed.layout().units());
        self.fresh_in(unit)
    }

    /// The next page of a unit, if it has room.
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

    /// A page that has been programmed.
    fn written(&mut self) -> Option<Ppn> {
        let layout = self.layout();
        let unit = self.below(layout.units());
        let written = self.next[unit as usize];
        (written > 0).then(|| layout.first_page(UnitId(unit)) + self.below(written))
    }

    /// Array times of a page, looked up by its address.
    fn times(&self, ppn: Ppn) -> PageTimes {
        let phases = &self.timed.schedule.settings.phases;
        let layout = self.timed.layout();
        let mode = usize::from(self.modes[layout.unit_of(ppn).index()]);
        phases.rows
            [mode * phases.page_types as usize + (layout.address(ppn).page % phases.page_types) as usize]
    }

    fn reads(&mut self, ppn: Ppn) {
        let phases = self.timed.schedule.settings.phases;
        self.service_ns += phases.command_ns + self.times(ppn).read_ns + phases.transfer_ns;
        self.asked.push(Asked::Read(ppn));
    }

    fn programs(&mut self, ppn: Ppn) {
        let phases = self.timed.schedule.settings.phases;
        self.service_ns += phases.command_ns + phases.transfer_ns + self.times(ppn).program_ns;
        self.asked.push(Asked::Program(ppn));
    }

    /// Asks for one thing.
    pub fn ask(&mut self) {
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
            7..=8 => self.ask_to_move(),
            _ => self.ask_to_erase(),
        }
    }

    /// Asks for the erase of some unit, if it is full.
    pub fn ask_to_erase(&mut self) {
        let layout = self.layout();
        let unit = self.below(layout.units());
        if self.next[unit as usize] < layout.pages_per_unit() {
            return;
        }
        self.timed.erase(UnitId(unit), Cause::Gc);
        for i in 0..layout.blocks_per_unit() {
            self.asked.push(Asked::Erase(layout.first_page(UnitId(unit)) + i));
        }
        let phases = self.timed.schedule.settings.phases;
        self.service_ns += u64::from(layout.blocks_per_unit()) * (phases.command_ns + phases.erase_ns);
        (self.next[unit as usize], self.modes[unit as usize]) = (0, 0);
    }

    /// Asks for moves of pages of one unit to the next pages of another one.
    pub fn ask_to_move(&mut self) {
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
            // A page that is asked for now is not there yet.
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
            self.moves.push((source, self.asked.len()));
            self.programs(to);
            let [from, to] = [source, to].map(|ppn| self.timed.place(ppn).plane_number);
            if from == to && commands.copyback {
                self.service_ns -= 2 * phases.transfer_ns;
            }
        }
    }

    /// Lets so many requests arrive and end; when each was done.
    fn drive(&mut self) -> Vec<(u32, u64)> {
        self.drive_with(|_, _| {})
    }

    /// The same; between two requests something may happen to the array.
    fn drive_with(&mut self, mut between: impl FnMut(u32, &mut Timed)) -> Vec<(u32, u64)> {
        let mut now = 0;
        for number in 0..REQUESTS {
            between(number, &mut self.timed);
            now += self.rng.below(900);
            self.timed.arrive(number, now);
            for _ in 0..self.rng.below(4) {
                self.ask();
            }
            self.timed.issued();
        }
        self.timed.finish();
        let mut done = Vec::new();
        self.timed.take_done(&mut done);
        done
    }
}

/// The block of a page.
fn block_of(timed: &Timed, ppn: Ppn) -> usize {
    timed.place(ppn).block
}

fn judge(seed: u64) -> CommandCounts {
    let mut driver = Driver::new(seed);
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
    let Settings { phases, commands, .. } = driver.timed.schedule.settings;
    if phases.program_spread + phases.erase_spread == 0.0 && commands.multi_plane == MultiPlane::None {
        let service_ns: u64 = driver.timed.times().iter().map(|t| t.service_ns).sum();
        assert_eq!(service_ns, driver.service_ns, "seed {seed}: {} modes", phases.modes);
    }
    apart(arrays, "an array does two things");
    apart(channels, "a channel carries two things");
    check_times(&driver.timed, &operations, seed);

    // Match what was asked with what happened: the operations of one kind on one page happen in the order of asking,
    // except that reads of a page may change places with one another.
    let times = |asked: &Asked, nth: usize| -> (u64, u64) {
        let fits = |&&Happened { kind, ppn, .. }: &&Happened| match *asked {
            Asked::Program(p) => ppn == p && matches!(kind, Kind::Program | Kind::Copy),
            Asked::Read(p) => ppn == p && kind == Kind::Read,
            Asked::Erase(p) => ppn == p && kind == Kind::Erase,
        };
        let found = operations.iter().filter(fits).nth(nth);
        found.map_or((u64::MAX, u64::MAX), |o| (o.from, o.to))
    };
    let mut seen: Vec<(Asked, (u64, u64))> = Vec::new();
    let mut spans = vec![(0, 0); driver.asked.len()];
    for (i, asked) in driver.asked.iter().enumerate() {
        // A move within a die logs one operation, by the page programmed: its read is not looked at here.
        if matches!(asked, Asked::Read(_)) {
            continue;
        }
        let nth = driver.asked[..i].iter().filter(|a| *a == asked).count();
        let span = times(asked, nth);
        assert_ne!(span.0, u64::MAX, "seed {seed}: {asked:?} never happened");
        seen.push((*asked, span));
        spans[i] = span;
    }
    check_moves(&driver, &spans, seed);
    check_blocks(&driver.timed, &seen, seed);
    check_reads(&driver, &operations, seed);
    driver.timed.command_counts()
}

/// The parts into which time is divided add up to the time from issue to end, whatever overlaps.
fn check_times(timed: &Timed, operations: &[Happened], seed: u64) {
    for class in Class::ALL {
        let of_class = operations.iter().filter(|o| o.class == class);
        let (n, whole) = of_class.fold((0, 0), |(n, sum), o| (n + 1, sum + (o.to - o.issued)));
        let t = timed.times()[class as usize];
        let waits = t.die_wait_ns + t.foreground_wait_ns + t.background_wait_ns + t.channel_wait_ns;
        assert_eq!((t.operations, waits + t.suspended_ns + t.service_ns), (n, whole), "seed {seed}: {t:?}");
    }
}

/// No block is erased before the pages that moved away from it have arrived, wherever that is.
fn check_moves(driver: &Driver, spans: &[(u64, u64)], seed: u64) {
    for &(source, program) in &driver.moves {
        let block = block_of(&driver.timed, source);
        let of_block = |a: &Asked| matches!(a, Asked::Erase(p) if block_of(&driver.timed, *p) == block);
        let later = driver.asked.iter().enumerate().skip(program);
        if let Some((i, erase)) = { later }.find(|(_, a)| of_block(a)) {
            let (arrived, erased) = (spans[program].1, spans[i].0);
            assert!(
                arrived <= erased,
                "seed {seed}: {erase:?} at {erased}, page {source} arrives at {arrived}"
            );
        }
    }
}

/// Programs and erases of a block happen one after another in the order of asking.
fn check_blocks(timed: &Timed, seen: &[(Asked, (u64, u64))], seed: u64) {
    let mut last: Vec<Option<(Asked, (u64, u64))>> = vec![None; timed.blocks.len()];
    for &(asked, span) in seen {
        let (Asked::Program(ppn) | Asked::Erase(ppn) | Asked::Read(ppn)) = asked;
        let block = block_of(timed, ppn);
        if let Some((before, earlier)) = last[block] {
            assert!(
                earlier.1 <= span.0,
                "seed {seed}: {asked:?} {span:?} before {before:?} {earlier:?} ended"
            );
        }
        last[block] = Some((asked, span));
    }
}

/// Each read lies behind the program of its page and before the erase of its block that follow each other around it.
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

/// Dies with a channel each: whether phases are gone through at once or one by one, the same happens at the same times.
#[test]
fn going_through_at_once_changes_nothing() {
    let mut compared = 0;
    for seed in 0..400 {
        let run = |direct: bool| {
            let mut driver = Driver::with(seed, |geometry, settings| {
                (geometry.chips_per_channel, geometry.dies_per_chip) = (1, 1);
                // Each way draws the times of moves at another moment.
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

/// What a command did at a die by the log: array times of its slowest page, when the last page was done, and pages.
#[derive(Default)]
struct Command {
    read_ns: u64,
    program_ns: u64,
    to: u64,
    n: u64,
}

/// Holds the phases of the arrays to the log; how many phases are remains or beginnings of suspended work.
fn check_phases(timed: &Timed, phases: &[ArrayPhase], seed: u64) -> usize {
    let (operations, channels, _) = &timed.schedule.log;
    let settings = &timed.schedule.settings;
    let p = &settings.phases;
    // What began together at a die is one command.
    let mut commands: BTreeMap<(usize, u64, u8), Command> = BTreeMap::new();
    for o in operations {
        let command = commands.entry((timed.place(o.ppn).die, o.from, o.kind as u8)).or_default();
        let [read, program] = o.rows.map(|row| p.rows[usize::from(row)]);
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
    let (mut found, mut pieces_more) = (0, 0);
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
            found += 1;
        }
        if kind != Kind::Read as u8 {
            let erases = kind == Kind::Erase as u8;
            let work = if erases { Work::Erase } else { Work::Program };
            let pieces: Vec<_> = of_die(work).take_while(|phase| phase.to_ns <= command.to).collect();
            assert_eq!(pieces.last().map(|phase| phase.to_ns), Some(command.to), "seed {seed}");
            let sum: u64 = pieces.iter().map(|phase| phase.to_ns - phase.from_ns).sum();
            let (due, spread) =
                if erases { (p.erase_ns, p.erase_spread) } else { (command.program_ns, p.program_spread) };
            if spread == 0.0 {
                assert_eq!(sum, due, "seed {seed}: {pieces:?}");
            }
            (found, pieces_more) = (found + pieces.len(), pieces_more + pieces.len() - 1);
        }
    }
    assert_eq!(found, phases.len(), "seed {seed}: every phase belongs to a command");
    pieces_more
}

/// The tap shows what the arrays do and changes nothing.
#[test]
fn the_tap_shows_when_arrays_work() {
    let mut pieces_more = 0;
    for seed in 0..600 {
        // Every third drive has a channel for each die and plain commands, and goes through operations at once.
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

/// An array that is written down in the middle of its work and taken up again goes on as if nothing had happened.
#[test]
fn snapshots_go_on_equal() {
    let mut in_modes = 0;
    for seed in 0..100 {
        let run = |kept: Option<u32>| {
            let mut driver = Driver::new(seed);
            let settings = driver.timed.schedule.settings;
            let done = driver.drive_with(|number, timed| {
                if kept == Some(number) {
                    let counts = serde_json::to_string(&timed.counts().saved()).unwrap();
                    let under_way = serde_json::to_string(&timed.saved()).unwrap();
                    *timed = Timed::new(timed.layout().clone(), settings);
                    assert!(timed.counts_mut().restore(serde_json::from_str(&counts).unwrap()));
                    assert!(timed.restore(serde_json::from_str(&under_way).unwrap()));
                }
            });
            let t = &driver.timed;
            let modes: Vec<u8> = (0..t.layout().units()).map(|unit| t.counts().mode(UnitId(unit))).collect();
            (done, t.times(), t.jobs_ns(), t.command_counts(), t.counters().clone(), modes)
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
        let c = judge(seed);
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
