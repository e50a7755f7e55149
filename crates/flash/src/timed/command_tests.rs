//! Worked timelines of the optional commands, to the nanosecond, computed by hand.

use super::*;
use crate::Cause;
use floatgate_base::{Lpn, Owner, Ppn, UnitId};
use floatgate_nand::Geometry;

/// Transfer 10, read 50, program 600, erase 3000.
const PHASES: Phases = Phases::plain(10, 50, 600, 3000);

/// Creates dies of two planes on one channel; blocks of 16 pages.
pub(super) fn array(dies: u32, settings: Settings) -> Timed {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: dies,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane: 8,
        pages_per_block: 16,
        page_bytes: 4096,
    };
    let mut timed = Timed::new(Layout::new(geometry, Scope::Plane), settings);
    timed.start();
    timed
}

fn with(commands: Commands) -> Settings {
    Settings { commands, ..Settings::plain(PHASES) }
}

/// Returns a page of a block of a plane of the only die.
pub(super) fn page(plane: u32, block: u32, offset: u32) -> Ppn {
    Ppn((plane * 8 + block) * 16 + offset)
}

pub(super) fn request(timed: &mut Timed, number: u32, now: u64, make: impl FnOnce(&mut Timed)) {
    timed.arrive(number, now);
    make(timed);
    timed.issued();
}

pub(super) fn program(t: &mut Timed, number: u32, now: u64, ppn: Ppn) {
    request(t, number, now, |t| t.program(ppn, Lpn(number), Cause::Host));
}

fn read(t: &mut Timed, number: u32, now: u64, ppn: Ppn) {
    request(t, number, now, |t| t.read(ppn, Lpn(number), Cause::Host));
}

/// Runs everything to its end; returns the times in the order of the requests' numbers.
pub(super) fn ends(timed: &mut Timed) -> Vec<u64> {
    timed.finish();
    let mut done = Vec::new();
    timed.take_done(&mut done);
    done.sort_unstable();
    done.into_iter().map(|(_, time)| time).collect()
}

const TOGETHER: Commands = Commands { multi_plane: MultiPlane::SamePage, ..Commands::PLAIN };

#[test]
fn two_planes_program_and_read_together() {
    let mut t = array(1, with(TOGETHER));
    program(&mut t, 0, 0, page(0, 0, 0));
    // The die is busy, so the next four wait: two pairs with equal page numbers.
    for (number, (plane, block, offset)) in
        [(1, 1, 0), (0, 0, 1), (1, 1, 1), (0, 0, 2)].into_iter().enumerate()
    {
        program(&mut t, 1 + number as u32, 0, page(plane, block, offset));
    }
    // 610; then page 0 of plane 1 alone (page 1 of plane 0 is another page): 610 more; then both pages of number 1 in
    // one command: 2 x 10 + 600; then the last.
    assert_eq!(ends(&mut t), [610, 1220, 1840, 1840, 2450]);
    assert_eq!((t.command_counts().multi_plane, t.command_counts().multi_plane_pages), (1, 2));

    // One read goes alone; two that wait share the array time and leave one after the other.
    let mut t = array(1, with(TOGETHER));
    for (number, plane) in [(0, 0), (1, 0), (2, 1)] {
        read(&mut t, number, 0, page(plane, plane, 3));
    }
    assert_eq!(ends(&mut t), [60, 60 + 50 + 10, 60 + 50 + 20]);
}

#[test]
fn the_address_rule_decides_who_goes_together() {
    // Pages 0 and 1 of blocks 0 and 1, in planes 0 and 1, after a program of plane 0.
    let finish = |rule, second: (u32, u32)| {
        let mut t = array(1, with(Commands { multi_plane: rule, ..Commands::PLAIN }));
        program(&mut t, 0, 0, page(0, 7, 0));
        program(&mut t, 1, 0, page(0, 0, 0));
        program(&mut t, 2, 0, page(1, second.0, second.1));
        ends(&mut t)[2]
    };
    let (together, apart) = (610 + 620, 3 * 610);
    for (rule, same, other_block, other_page) in [
        (MultiPlane::None, apart, apart, apart),
        (MultiPlane::SameBlockAndPage, together, apart, apart),
        (MultiPlane::SamePage, together, together, apart),
        (MultiPlane::Any, together, together, together),
    ] {
        let ends = [finish(rule, (0, 0)), finish(rule, (1, 0)), finish(rule, (0, 1))];
        assert_eq!(ends, [same, other_block, other_page], "{rule:?}");
    }
}

#[test]
fn two_planes_erase_together() {
    let mut t = array(1, with(TOGETHER));
    request(&mut t, 0, 0, |t| {
        t.erase(UnitId(0), Cause::Gc);
        t.erase(UnitId(1), Cause::Gc);
        t.erase(UnitId(8), Cause::Gc);
    });
    // Blocks 0 and 1 lie in plane 0: the second one is paired with block 8, which lies in plane 1.
    t.finish();
    assert_eq!(t.last_ns(), 3000 + 3000);
}

#[test]
fn a_cached_program_takes_its_data_while_the_array_programs() {
    let mut t = array(1, with(Commands { cache_program: true, ..Commands::PLAIN }));
    for i in 0..4 {
        program(&mut t, i, 0, page(0, 0, i));
    }
    // Data in 0..10, programs 10..610, 610..1210, ...: only the first transfer is visible.
    assert_eq!(ends(&mut t), [610, 1210, 1810, 2410]);
    assert_eq!(t.command_counts().cache_programs, 3);

    // Data that arrive while the array works are loaded at once; here the transfer outlasts the program by 100.
    let phases = Phases { transfer_ns: 700, ..PHASES };
    let settings = Settings { phases, ..with(Commands { cache_program: true, ..Commands::PLAIN }) };
    let mut t = array(1, settings);
    program(&mut t, 0, 0, page(0, 0, 0));
    program(&mut t, 1, 750, page(0, 0, 1));
    // 700 + 600 = 1300; data of the second 750..1450, then 600.
    assert_eq!(ends(&mut t), [1300, 2050]);
}

#[test]
fn a_cached_read_lets_the_array_read_on() {
    let settings = |cache_read| {
        let phases = Phases { transfer_ns: 30, command_ns: 2, ..PHASES };
        Settings { phases, ..with(Commands { cache_read, ..Commands::PLAIN }) }
    };
    let run = |cache_read| {
        let mut t = array(1, settings(cache_read));
        (0..3).for_each(|i| read(&mut t, i, 0, page(0, 0, i)));
        ends(&mut t)
    };
    // 2 + 50 + 30, one after the other.
    assert_eq!(run(false), [82, 164, 246]);
    // Command and array until 52. The next command is 52..54 and its array time ends at 104, while the page leaves
    // 54..84. Then 104..106 and 106..136, array until 156, and 156..186.
    assert_eq!(run(true), [84, 136, 186]);
    // A transfer that takes longer than the array: the channel is never idle after the first page.
    let phases = Phases { transfer_ns: 80, ..PHASES };
    let mut t = array(1, Settings { phases, ..with(Commands { cache_read: true, ..Commands::PLAIN }) });
    (0..4).for_each(|i| read(&mut t, i, 0, page(0, 0, i)));
    assert_eq!(ends(&mut t), [130, 210, 290, 370]);
}

#[test]
fn a_move_within_a_plane_stays_inside_the_die() {
    let finish = |copyback, destination| {
        let mut t = array(1, with(Commands { copyback, ..Commands::PLAIN }));
        request(&mut t, 0, 0, |t| t.copy(page(0, 0, 0), destination, Owner::page(Lpn(0)), Cause::Gc));
        t.finish();
        t.last_ns()
    };
    assert_eq!(finish(false, page(0, 1, 0)), 50 + 2 * 10 + 600);
    assert_eq!(finish(true, page(0, 1, 0)), 50 + 600);
    // Into the other plane the page must cross the channel.
    assert_eq!(finish(true, page(1, 1, 0)), 50 + 2 * 10 + 600);
}

const SUSPEND: Suspend = Suspend { program: true, erase: true, suspend_ns: 5, resume_ns: 7, reads_max: 2 };

#[test]
fn a_read_stops_a_program() {
    let mut t = array(1, with(Commands { suspend: SUSPEND, ..Commands::PLAIN }));
    program(&mut t, 0, 0, page(0, 0, 0));
    read(&mut t, 1, 100, page(1, 0, 0));
    // Programming 10..100, free at 105, read until 165, resumed at 172 with 510 left.
    assert_eq!(ends(&mut t), [172 + 510, 165]);
    let times = t.times();
    assert_eq!(times[Class::Write as usize].suspended_ns, 72);
    assert_eq!(times[Class::Read as usize].die_wait_ns, 5);
    assert_eq!(t.command_counts().program_suspends, 1);

    // A read that arrives during the data transfer waits for its end, and one of the page itself for the whole program.
    let mut t = array(1, with(Commands { suspend: SUSPEND, ..Commands::PLAIN }));
    program(&mut t, 0, 0, page(0, 0, 0));
    read(&mut t, 1, 3, page(1, 0, 0));
    read(&mut t, 2, 200, page(0, 0, 0));
    // Stopped at 10, free at 15, read until 75, resumed at 82 with all 600 left; the second read does not justify a
    // stop.
    assert_eq!(ends(&mut t), [682, 75, 742]);
}

/// The read phase of a move is not stopped, but its program is, whenever the read came.
#[test]
fn a_read_that_comes_while_a_move_reads_stops_its_program() {
    for arrival in [3, 49, 60] {
        let mut t = array(1, with(Commands { suspend: SUSPEND, ..Commands::PLAIN }));
        request(&mut t, 0, 0, |t| t.copy(page(0, 1, 0), page(0, 2, 0), Owner::page(Lpn(0)), Cause::Gc));
        read(&mut t, 1, arrival, page(1, 0, 0));
        // Read until 50, two transfers until 70; stopped then, free at 75, read until 135, resumed at 142 with all 600
        // left.
        assert_eq!((ends(&mut t)[1], t.last_ns()), (135, 742), "arrival at {arrival}");
        assert_eq!(t.command_counts().program_suspends, 1);
    }
}

#[test]
fn a_ready_busy_pin_shows_the_array_alone() {
    let phases = Phases { command_ns: 1, ..PHASES };
    let commands = Commands { suspend: SUSPEND, ..Commands::PLAIN };
    let mut t = array(1, Settings { commands, ..Settings::plain(phases) });
    t.tap(Signal::Array, None);
    program(&mut t, 0, 0, page(0, 0, 0));
    read(&mut t, 1, 100, page(1, 0, 0));
    request(&mut t, 2, 101, |t| t.copy(page(0, 1, 0), page(0, 2, 0), Owner::page(Lpn(0)), Cause::Gc));
    request(&mut t, 3, 102, |t| t.erase(UnitId(8), Cause::Gc));
    t.finish();
    let mut phases = Vec::new();
    t.take_phases(&mut phases);
    let shown: Vec<_> = phases.iter().map(|p| (p.die, p.work, p.from_ns, p.to_ns)).collect();
    // Data in until 11, stopped at 100, free at 105, a command, read until 156, sent until 166, resumed at 173 with 511
    // left. Then a command, the move's read, a command, two transfers and its program; a command and the erase.
    let moved = 684 + 1 + 50 + 1 + 20;
    assert_eq!(
        shown,
        [
            (0, Work::Program, 11, 100),
            (0, Work::Read, 106, 156),
            (0, Work::Program, 173, 684),
            (0, Work::Read, 685, 735),
            (0, Work::Program, moved, moved + 600),
            (0, Work::Erase, moved + 601, moved + 3601),
        ]
    );
    t.take_phases(&mut phases);
    assert_eq!(phases.len(), 6, "phases are handed out once");
}

fn pin_phases(commands: Commands, phases: Phases, issue: fn(&mut Timed, u32)) -> Vec<(u64, u64)> {
    let mut t = array(1, Settings { phases, ..with(commands) });
    t.tap(Signal::Pin, Some(0));
    (0..3).for_each(|number| issue(&mut t, number));
    t.finish();
    let mut phases = Vec::new();
    t.take_phases(&mut phases);
    phases.iter().map(|phase| (phase.from_ns, phase.to_ns)).collect()
}

/// With cache commands the pin shows when the register is busy, not when the array is.
#[test]
fn a_pin_shows_the_register_with_cache_commands() {
    let busy = 3000;
    // Data of the first until 10, and to the array at once. Those of the second are there at 20 and wait for the array
    // until 610; those of the third arrive at 620 and wait until 1210.
    let programs = |t: &mut Timed, number: u32| program(t, number, 0, page(0, 0, number));
    let commands = Commands { cache_program: true, ..Commands::PLAIN };
    let shown = pin_phases(commands, PHASES, programs);
    assert_eq!(shown, [(10, 10 + busy), (20, 610 + busy), (620, 1210 + busy)]);
    // The second read begins at 50, while the first leaves until 60; the third at 100, while the second leaves until
    // 110.
    let reads = |t: &mut Timed, number: u32| read(t, number, 0, page(0, 0, number));
    let commands = Commands { cache_read: true, ..Commands::PLAIN };
    assert_eq!(pin_phases(commands, PHASES, reads), [(0, 50), (60, 100), (110, 150)]);
    // Transfers slower than the array: each page waits for the register, and moves there when it is free.
    let slow = Phases { transfer_ns: 100, ..PHASES };
    assert_eq!(pin_phases(commands, slow, reads), [(0, 50), (150, 150 + busy), (250, 250 + busy)]);
}

#[test]
fn reads_pass_an_erase_only_so_often() {
    let mut t = array(1, with(Commands { suspend: SUSPEND, ..Commands::PLAIN }));
    request(&mut t, 0, 0, |t| t.erase(UnitId(0), Cause::Gc));
    for (number, now) in [(1, 100), (2, 110), (3, 120), (4, 3000)] {
        read(&mut t, number, now, page(1, 0, 0));
    }
    // Stopped at 100, free at 105; reads until 165 and 225; the third exceeds the limit: resumed at 232 with 2900 left.
    assert_eq!(ends(&mut t)[1..], [165, 225, 3132 + 60, 3132 + 120]);
    assert_eq!(t.command_counts().erase_suspends, 1);
}

#[test]
fn work_that_would_end_sooner_is_not_stopped() {
    let mut t = array(1, with(Commands { suspend: SUSPEND, ..Commands::PLAIN }));
    program(&mut t, 0, 0, page(0, 0, 0));
    read(&mut t, 1, 606, page(1, 0, 0));
    assert_eq!(ends(&mut t), [610, 670]);
}

#[test]
fn classes_are_served_in_the_configured_order() {
    // During a program a write, a read and a move arrive, in this order.
    let run = |order| {
        let mut t = array(1, Settings { order, ..Settings::plain(PHASES) });
        program(&mut t, 0, 0, page(0, 0, 0));
        program(&mut t, 1, 1, page(0, 0, 1));
        read(&mut t, 2, 2, page(1, 0, 0));
        request(&mut t, 3, 3, |t| t.copy(page(1, 0, 1), page(1, 1, 0), Owner::page(Lpn(9)), Cause::Gc));
        let ends = ends(&mut t);
        (ends[1], ends[2], t.last_ns())
    };
    let [r, w, b] = Class::ALL;
    // A program takes 610, a read 60, a move 670.
    assert_eq!(run(Order::Priority([r, w, b])), (610 + 60 + 610, 610 + 60, 610 + 60 + 610 + 670));
    assert_eq!(run(Order::Priority([w, r, b])), (1220, 1280, 1950));
    assert_eq!(run(Order::Priority([b, w, r])), (610 + 670 + 610, 610 + 670 + 610 + 60, 1950));
    assert_eq!(run(Order::Fcfs), (1220, 1280, 1950));
}

#[test]
fn urgent_jobs_may_rank_with_writes() {
    // During a program arrive a write, an urgent move, a second write and a read.
    let run = |urgent_as_writes| {
        let mut t = array(1, Settings { urgent_as_writes, ..Settings::plain(PHASES) });
        program(&mut t, 0, 0, page(0, 0, 0));
        program(&mut t, 1, 1, page(0, 0, 1));
        request(&mut t, 2, 2, |t| t.copy(page(1, 0, 1), page(1, 1, 0), Owner::page(Lpn(9)), Cause::Gc));
        program(&mut t, 3, 3, page(0, 0, 2));
        read(&mut t, 4, 4, page(1, 0, 0));
        let ends = ends(&mut t);
        (ends[1], ends[3], ends[4], t.last_ns())
    };
    // A program takes 610, a read 60, a move 670.
    assert_eq!(run(false), (1280, 1890, 670, 2560));
    assert_eq!(run(true), (1280, 2560, 670, 2560), "the move comes before the second write");
}

#[test]
fn page_types_take_their_own_times() {
    let phases = Phases {
        rows: settings::one_mode([40, 50, 60, 0], [300, 600, 900, 0]),
        page_types: 3,
        command_ns: 1,
        ..PHASES
    };
    let mut t = array(1, Settings::plain(phases));
    (0..4).for_each(|i| program(&mut t, i, 0, page(0, 0, i)));
    assert_eq!(ends(&mut t), [311, 311 + 611, 311 + 611 + 911, 2 * 311 + 611 + 911]);
    let mut t = array(1, Settings::plain(phases));
    // Moved from a CSB page to an MSB page.
    request(&mut t, 0, 0, |t| t.copy(page(0, 0, 1), page(0, 1, 2), Owner::page(Lpn(0)), Cause::Gc));
    t.finish();
    assert_eq!(t.last_ns(), 1 + 50 + 20 + 1 + 900);
}

/// Creates an array with two page types in three modes: programs of 100 and 200, then 8 % and 19 % longer; reads of 40
/// and 50, then 1 and 2 longer. Moves stay inside the die.
fn in_modes() -> Timed {
    let mut rows = PHASES.rows;
    for (row, (read_ns, program_ns)) in
        [(40, 100), (50, 200), (41, 108), (51, 216), (42, 119), (52, 238)].into_iter().enumerate()
    {
        rows[0][row] = PageTimes { read_ns, program_ns };
    }
    let phases = Phases { rows, page_types: 2, modes: 3, command_ns: 1, ..PHASES };
    array(1, Settings { phases, ..with(Commands { copyback: true, ..Commands::PLAIN }) })
}

#[test]
fn operations_take_the_times_of_the_mode_of_their_block() {
    let mut t = in_modes();
    let mut numbers = 0..;
    // Alone in the drive: its duration from the end of the previous operation.
    let mut takes = |t: &mut Timed, make: &dyn Fn(&mut Timed)| {
        let from = t.last_ns();
        request(t, numbers.next().unwrap(), from, |t| make(t));
        t.finish();
        t.last_ns() - from
    };
    for (mode, programs, reads) in
        [(0, [100, 200], [40, 50]), (1, [108, 216], [41, 51]), (2, [119, 238], [42, 52])]
    {
        let block = u32::from(mode);
        t.set_mode(UnitId(block), mode);
        for offset in 0..4u32 {
            let ppn = page(0, block, offset);
            let array_ns = programs[offset as usize % 2];
            assert_eq!(
                takes(&mut t, &|t| t.program(ppn, Lpn(0), Cause::Host)),
                1 + 10 + array_ns,
                "mode {mode}"
            );
            let array_ns = reads[offset as usize % 2];
            assert_eq!(
                takes(&mut t, &|t| t.read(ppn, Lpn(0), Cause::Host)),
                1 + array_ns + 10,
                "mode {mode}"
            );
        }
    }
    // Read in mode 2, page 1; programmed in mode 1, page 4; and the reverse.
    let copy = |from, to| move |t: &mut Timed| t.copy(from, to, Owner::page(Lpn(0)), Cause::Gc);
    assert_eq!(takes(&mut t, &copy(page(0, 2, 1), page(0, 1, 4))), 1 + 52 + 1 + 108);
    assert_eq!(takes(&mut t, &copy(page(0, 1, 4), page(0, 2, 4))), 1 + 41 + 1 + 119);
    // An erase resets the mode, and its time does not depend on it.
    assert_eq!(takes(&mut t, &|t| t.erase(UnitId(2), Cause::Gc)), 1 + 3000);
    assert_eq!(takes(&mut t, &|t| t.program(page(0, 2, 0), Lpn(0), Cause::Host)), 1 + 10 + 100);
    assert_eq!(takes(&mut t, &|t| t.erase(UnitId(2), Cause::Gc)), 1 + 3000);
    t.set_mode(UnitId(2), 1);
    assert_eq!(takes(&mut t, &|t| t.program(page(0, 2, 0), Lpn(0), Cause::Host)), 1 + 10 + 108);
    assert_eq!(
        takes(&mut t, &|t| t.read(page(0, 0, 1), Lpn(0), Cause::Host)),
        1 + 50 + 10,
        "others stay in theirs"
    );
}

#[test]
fn what_was_issued_before_an_erase_keeps_its_mode() {
    let mut t = in_modes();
    t.set_mode(UnitId(1), 2);
    program(&mut t, 0, 0, page(0, 1, 0));
    read(&mut t, 1, 0, page(0, 1, 0));
    request(&mut t, 2, 0, |t| t.erase(UnitId(1), Cause::Gc));
    t.set_mode(UnitId(1), 1);
    program(&mut t, 3, 0, page(0, 1, 0));
    // Program 11 + 119, read 1 + 42 + 10, erase 1 + 3000, program 11 + 108.
    assert_eq!(ends(&mut t), [130, 183, 0, 183 + 3001 + 119]);
}

/// Checks that the array works from 480 to 720 ns at a time, 600 on average, as drawn from the seed.
fn spread_evenly(phases: Phases, issue: fn(&mut Timed, u32)) {
    let lengths = |seed| {
        let mut t = array(1, Settings { seed, ..Settings::plain(phases) });
        t.tap(Signal::Array, Some(0));
        (0..16 * 64).for_each(|i| issue(&mut t, i));
        t.finish();
        let mut phases = Vec::new();
        t.take_phases(&mut phases);
        phases.iter().map(|phase| phase.to_ns - phase.from_ns).collect::<Vec<_>>()
    };
    let first = lengths(1);
    assert_eq!(first, lengths(1));
    assert_ne!(first, lengths(2));
    assert_eq!(first.len(), 16 * 64);
    assert!(first.iter().all(|ns| (480..=720).contains(ns)));
    let mean = first.iter().sum::<u64>() as f64 / first.len() as f64;
    // The standard error of 1024 even draws of half width 120 is 2.2.
    assert!((mean - 600.0).abs() < 8.0, "{mean}");
}

#[test]
fn programs_spread_evenly_around_their_time() {
    let phases = Phases { program_spread: 0.2, ..PHASES };
    spread_evenly(phases, |t, i| program(t, i, 0, page(i / 512, i / 16 % 8, i % 16)));
}

#[test]
fn erases_spread_evenly_around_their_time() {
    let phases = Phases { erase_ns: 600, erase_spread: 0.2, ..PHASES };
    spread_evenly(phases, |t, i| request(t, i, 0, |t| t.erase(UnitId(i % 8), Cause::Gc)));
}
