//! Random drives whose flash pages hold several pages of the map. A log of the execution is checked: every program has
//! its data, and every erase follows the pending operations of its block. If a power cut loses gathering data, an erase
//! must also follow the programs of moved data, and no FLUSH or FUA write may complete before its data are on flash.
//! Where host reads take old copies, such a read finds the data that moved, on the flash or in the controller.

use super::queue::Kind;
use super::*;
use crate::Cause;
use floatgate_base::{Lpn, Owner, Ppn, Rng};
use floatgate_nand::Geometry;
use std::collections::{BTreeMap, BTreeSet};

/// Number of requests per drive.
const REQUESTS: u32 = 200;

/// How a page came to its place by a move.
#[derive(Clone, Copy)]
struct Came {
    /// Its flash page before.
    source: u32,
    /// The program of that flash page, and the read for the move.
    written: Operation,
    fetched: Operation,
    /// The program of the flash page at the new place; none while that is incomplete.
    moved: Option<Operation>,
}

/// The nth operation of a class and kind on a flash page, by its first page.
type Operation = (usize, u8, u32, usize);

struct Driver {
    timed: Timed,
    rng: Rng,
    /// Next page by unit.
    next: Vec<u32>,
    /// Number of operations by class, kind and flash page.
    counts: BTreeMap<(usize, u8, u32), usize>,
    /// Reads whose data each open flash page holds, by unit.
    holds: Vec<Vec<Operation>>,
    /// Pairs of operations: the first must end before the second begins.
    before: Vec<(Operation, Operation)>,
    /// The newest program of each flash page.
    programs: BTreeMap<u32, Operation>,
    /// By block, the operations issued since its erase.
    of_block: Vec<Vec<Operation>>,
    /// Whether a power cut loses gathering data; the fields below serve that case.
    loses: bool,
    /// By unit, whether its open flash page holds host data, and the units from which the other data came.
    written: Vec<bool>,
    from: Vec<BTreeSet<u32>>,
    /// By unit, programs of data moved out of it.
    moved: Vec<Vec<Operation>>,
    /// Programs of host data.
    of_host: Vec<Operation>,
    /// Operations that must end before a request does.
    owes: Vec<(u32, Operation)>,
    request: u32,
    /// By page, its latest move.
    came: BTreeMap<u32, Came>,
    /// Reads of old copies, and reads from the controller by their time.
    old: Vec<(Operation, Came)>,
    from_controller: Vec<(u64, Came)>,
}

impl Driver {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed, "packed order");
        let subpages = 2 << rng.below(2);
        let geometry = Geometry {
            channels: 1 + rng.below(3) as u32,
            chips_per_channel: 1 + rng.below(2) as u32,
            dies_per_chip: 1 + rng.below(2) as u32,
            planes_per_die: 1 + rng.below(2) as u32,
            blocks_per_plane: 3 + rng.below(3) as u32,
            pages_per_block: subpages * (1 + rng.below(4) as u32),
            page_bytes: 4096,
        };
        let scope = if rng.below(2) == 0 { Scope::Plane } else { Scope::Superblock };
        let layout = Layout::new(geometry, scope).with_subpages(subpages);
        let yes = |rng: &mut Rng| rng.below(2) == 0;
        let mut settings = Settings::plain(Phases::plain(8, 60, 500, 2000));
        settings.commands.multi_plane = if yes(&mut rng) { MultiPlane::None } else { MultiPlane::Any };
        (settings.commands.cache_read, settings.commands.cache_program) = (yes(&mut rng), yes(&mut rng));
        (settings.commands.suspend.program, settings.commands.suspend.erase) = (yes(&mut rng), yes(&mut rng));
        let loses = yes(&mut rng);
        settings.plp = !loses;
        settings.reads_old_copies = yes(&mut rng);
        let mut timed = Timed::new(layout.clone(), settings);
        timed.start();
        let units = layout.units() as usize;
        Self {
            rng,
            next: vec![0; units],
            counts: BTreeMap::new(),
            holds: vec![Vec::new(); units],
            before: Vec::new(),
            programs: BTreeMap::new(),
            of_block: vec![Vec::new(); timed.blocks.len()],
            loses,
            written: vec![false; units],
            from: vec![BTreeSet::new(); units],
            moved: vec![Vec::new(); units],
            of_host: Vec::new(),
            owes: Vec::new(),
            request: 0,
            came: BTreeMap::new(),
            old: Vec::new(),
            from_controller: Vec::new(),
            timed,
        }
    }

    fn below(&mut self, n: u32) -> u32 {
        self.rng.below(u64::from(n)) as u32
    }

    fn base(&self, ppn: Ppn) -> Ppn {
        Ppn(ppn.0 & !(self.timed.layout().subpages() - 1))
    }

    /// Records an operation on the flash page of `ppn` that is issued now.
    fn record(&mut self, class: Class, kind: Kind, ppn: Ppn) -> Operation {
        let base = self.base(ppn);
        let count = self.counts.entry((class as usize, kind as u8, base.0)).or_insert(0);
        *count += 1;
        let operation = (class as usize, kind as u8, base.0, *count - 1);
        let block = self.timed.place(base).block;
        if kind == Kind::Erase {
            let earlier = std::mem::take(&mut self.of_block[block]);
            self.before.extend(earlier.into_iter().map(|earlier| (earlier, operation)));
        }
        match kind {
            Kind::Program => _ = self.programs.insert(base.0, operation),
            Kind::Read => self.before.push((self.programs[&base.0], operation)),
            _ => {}
        }
        self.of_block[block].push(operation);
        operation
    }

    /// Issues a host read and records where it goes; returns the operation, if there is one.
    fn reads(&mut self, ppn: Ppn, cause: Cause) -> Option<Operation> {
        self.timed.read(ppn, Lpn(0), cause);
        let Far { die, ticket, .. } = self.timed.newest;
        if ticket == 0 {
            self.from_controller.push((self.timed.now_ns, self.came[&ppn.0]));
            return None;
        }
        let reads = self.timed.schedule.dies[die as usize].queues[Class::Read as usize].one_by_one(1);
        let read = reads.iter().find(|(of, _)| *of == ticket).map(|(_, op)| op.ppn)?;
        if read == self.base(ppn) {
            return Some(self.record(Class::Read, Kind::Read, ppn));
        }
        let count = self.counts.entry((Class::Read as usize, Kind::Read as u8, read.0)).or_insert(0);
        *count += 1;
        let operation = (Class::Read as usize, Kind::Read as u8, read.0, *count - 1);
        let block = self.timed.place(read).block;
        self.of_block[block].push(operation);
        self.old.push((operation, self.came[&ppn.0]));
        Some(operation)
    }

    /// Checks that reads of old copies and from the controller found their data; returns how many there were.
    fn check_old_copies(
        &self,
        span: &dyn Fn(&Operation) -> (u64, u64),
        log: &BTreeMap<Operation, (u64, u64)>,
        seed: u64,
    ) -> (usize, usize) {
        for (read, Came { source, written, .. }) in &self.old {
            assert_eq!(read.2, *source, "seed {seed}: of another page");
            let ((from, to), (_, programmed)) = (span(read), span(written));
            assert!(programmed <= from, "seed {seed}: {read:?} at {from} before its program");
            let block = self.timed.place(Ppn(*source)).block;
            let erased = log.iter().find(|(key, at)| {
                key.1 == Kind::Erase as u8
                    && self.timed.place(Ppn(key.2)).block == block
                    && at.0 >= programmed
                    && at.0 < to
            });
            assert!(erased.is_none(), "seed {seed}: {read:?} until {to} after {erased:?}");
        }
        for (now, Came { fetched, moved, .. }) in &self.from_controller {
            let moved = moved.as_ref().map_or(u64::MAX, |program| span(program).1);
            let fetched = span(fetched).1;
            assert!(fetched <= *now && *now <= moved, "seed {seed}: {fetched} {now} {moved}");
        }
        (self.old.len(), self.from_controller.len())
    }

    /// Returns a page that is written and on flash.
    fn on_flash(&mut self) -> Option<Ppn> {
        let layout = self.timed.layout().clone();
        let unit = self.below(layout.units());
        let full = self.next[unit as usize] / layout.subpages() * layout.subpages();
        (full > 0).then(|| layout.first_page(UnitId(unit)) + self.below(full))
    }

    /// Returns the next page of some unit with room.
    fn fresh(&mut self) -> Option<Ppn> {
        let layout = self.timed.layout().clone();
        let unit = self.below(layout.units());
        let offset = self.next[unit as usize];
        (offset < layout.pages_per_unit()).then(|| layout.first_page(UnitId(unit)) + offset)
    }

    /// Records a written page with data of these reads, and the program of its flash page if that is full.
    fn wrote(&mut self, ppn: Ppn, reads: &[Operation], class: Class) {
        let layout = self.timed.layout().clone();
        let unit = layout.unit_of(ppn).index();
        self.next[unit] += 1;
        self.holds[unit].extend_from_slice(reads);
        self.programs_if_full(ppn + 1, class);
    }

    /// Records the program of the flash page that ends there, if one does.
    fn programs_if_full(&mut self, end: Ppn, class: Class) {
        let layout = self.timed.layout().clone();
        let ppn = Ppn(end.0 - 1);
        let unit = layout.unit_of(ppn).index();
        if layout.left_of_flash_page(end) == 0 {
            let earlier = self.of_block[self.timed.place(self.base(ppn)).block].clone();
            let program = self.record(class, Kind::Program, ppn);
            let base = self.base(ppn);
            for (_, came) in self.came.range_mut(base.0..base.0 + layout.subpages()) {
                came.moved.get_or_insert(program);
            }
            let held = std::mem::take(&mut self.holds[unit]);
            self.before.extend(held.into_iter().map(|read| (read, program)));
            // Programs of a block execute in order, and after its erase.
            let changes = earlier.into_iter().filter(|&(_, kind, ..)| kind != Kind::Read as u8);
            self.before.extend(changes.map(|earlier| (earlier, program)));
            if std::mem::take(&mut self.written[unit]) {
                self.of_host.push(program);
            }
            for source in std::mem::take(&mut self.from[unit]) {
                self.moved[source as usize].push(program);
            }
        }
    }

    /// Pads the open flash pages for which `is_it` holds.
    fn pads(&mut self, cause: Cause, is_it: impl Fn(&Self, usize) -> bool) {
        let layout = self.timed.layout().clone();
        for unit in 0..self.next.len() {
            let next = layout.first_page(UnitId(unit as u32)) + self.next[unit];
            let left = layout.left_of_flash_page(next);
            if left > 0 && is_it(self, unit) {
                self.timed.pad(next, left, cause);
                self.next[unit] += left;
                self.programs_if_full(next + left, cause.class());
            }
        }
    }

    /// Issues a FLUSH, or a FUA of a page that is in a full flash page.
    fn flushes(&mut self) {
        if self.rng.below(3) > 0 {
            self.pads(Cause::Padding, |driver, unit| driver.written[unit]);
            self.timed.flush();
            self.owes.extend(self.of_host.iter().map(|&program| (self.request, program)));
        } else if let Some(ppn) = self.on_flash() {
            self.timed.force(&[(ppn, Lpn(0))]);
            self.owes.push((self.request, self.programs[&self.base(ppn).0]));
        }
    }

    fn issue_any(&mut self) {
        let layout = self.timed.layout().clone();
        if self.loses && self.rng.below(8) == 0 {
            return self.flushes();
        }
        match self.rng.below(10) {
            0..=4 => {
                let (Some(ppn), old) = (self.fresh(), self.on_flash()) else { return };
                self.written[layout.unit_of(ppn).index()] = true;
                match old.filter(|_| self.rng.below(3) == 0) {
                    Some(old) => {
                        let read = self.reads(old, Cause::Partial);
                        self.timed.replace(ppn, old);
                        self.from[layout.unit_of(ppn).index()].insert(layout.unit_of(old).0);
                        self.timed.program(ppn, Lpn(0), Cause::Partial);
                        self.came.remove(&ppn.0);
                        self.wrote(ppn, read.as_slice(), Class::Write);
                    }
                    None => {
                        self.timed.program(ppn, Lpn(0), Cause::Host);
                        self.came.remove(&ppn.0);
                        self.wrote(ppn, &[], Class::Write);
                    }
                }
            }
            5 => {
                let Some(ppn) = self.on_flash() else { return };
                self.reads(ppn, Cause::Host);
            }
            6..=8 => {
                let Some(from) = self.on_flash() else { return };
                let unit = layout.unit_of(from).index();
                let full = self.next[unit] / layout.subpages() * layout.subpages();
                let end = layout.first_page(UnitId(unit as u32)) + full;
                let sources: Vec<_> =
                    Ppn::each(from..end).take(6).map(|ppn| (ppn, Owner::page(Lpn(0)))).collect();
                self.timed.fetch(&sources, Cause::Gc);
                let mut reads = BTreeMap::new();
                for &(ppn, _) in &sources {
                    let base = self.base(ppn).0;
                    reads.entry(base).or_insert_with(|| self.record(Class::Background, Kind::Read, ppn));
                }
                for source in sources {
                    let Some(to) = self.fresh() else { break };
                    self.timed.copy_run(&[source], to, Cause::Gc);
                    self.from[layout.unit_of(to).index()].insert(unit as u32);
                    let (source, fetched) = (self.base(source.0).0, reads[&self.base(source.0).0]);
                    let came = Came { source, written: self.programs[&source], fetched, moved: None };
                    self.came.insert(to.0, came);
                    self.wrote(to, &[fetched], Class::Background);
                }
            }
            _ => self.erases(),
        }
    }

    /// Issues the erase of some unit, if it is full.
    fn erases(&mut self) {
        let layout = self.timed.layout().clone();
        let unit = self.below(layout.units());
        if self.next[unit as usize] < layout.pages_per_unit() {
            return;
        }
        if self.loses {
            self.pads(Cause::Gc, |driver, other| driver.from[other].contains(&unit));
        }
        self.timed.erase(UnitId(unit), Cause::Gc);
        self.next[unit as usize] = 0;
        let moved = std::mem::take(&mut self.moved[unit as usize]);
        for i in 0..layout.blocks_per_unit() {
            let first = layout.first_page(UnitId(unit)) + i * layout.subpages();
            let erase = self.record(Class::Background, Kind::Erase, first);
            let moved = moved.iter().filter(|_| self.loses);
            self.before.extend(moved.map(|&program| (program, erase)));
        }
    }
}

#[test]
fn packed_programs_have_their_data() {
    let (mut programs, mut late, mut old, mut from_controller) = (0, 0, 0, 0);
    for seed in 1..=400 {
        let mut driver = Driver::new(seed);
        let mut now = 0;
        for number in 0..REQUESTS {
            now += driver.rng.below(700);
            driver.timed.arrive(number, now);
            driver.request = number;
            (0..driver.rng.below(4)).for_each(|_| driver.issue_any());
            driver.timed.issued();
        }
        driver.timed.finish();
        let mut done = Vec::new();
        driver.timed.take_done(&mut done);
        assert_eq!(done.len(), REQUESTS as usize, "seed {seed}: every request ends");
        let mut happened = BTreeMap::new();
        let mut nth = BTreeMap::new();
        let mut log = driver.timed.schedule.log.0.clone();
        log.sort_by_key(|o| (o.issued, o.to));
        for o in log {
            let key = (o.class as usize, o.kind as u8, o.ppn.0);
            let n: &mut usize = nth.entry(key).or_insert(0);
            happened.insert((key.0, key.1, key.2, *n), (o.from, o.to));
            *n += 1;
        }
        let span = |operation: &Operation| {
            *happened.get(operation).unwrap_or_else(|| panic!("seed {seed}: {operation:?} never was"))
        };
        for (earlier, later) in &driver.before {
            let (first, second) = (span(earlier), span(later));
            assert!(
                first.1 <= second.0,
                "seed {seed}: {later:?} {second:?} before {earlier:?} {first:?} ended"
            );
        }
        let seen = driver.check_old_copies(&span, &happened, seed);
        (old, from_controller) = (old + seen.0, from_controller + seen.1);
        let done: BTreeMap<_, _> = done.into_iter().collect();
        for (request, program) in &driver.owes {
            let (end, to) = (done[request], span(program).1);
            assert!(to <= end, "seed {seed}: request {request} done at {end}, {program:?} at {to}");
            late += u64::from(to == end);
        }
        programs += driver.timed.counters().flash_programs_total();
        assert!(driver.timed.schedule.joins.is_idle(), "seed {seed}: a join is left");
    }
    assert!(programs > 10_000, "{programs} programs");
    assert!(late > 1000, "{late} requests waited for programs");
    assert!(
        old > 100 && from_controller > 100,
        "{old} reads of old copies, {from_controller} from the controller"
    );
}
