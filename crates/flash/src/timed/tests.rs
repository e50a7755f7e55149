//! Worked timelines, to the nanosecond, and queueing laws.

use super::*;
use crate::{Cause, Part};
use floatgate_base::Rng;
use floatgate_base::testing::Bound;
use floatgate_base::{Lpn, Owner, Ppn, UnitId};
use floatgate_nand::Geometry;

const PHASES: Phases = Phases::plain(10, 50, 600, 3000);

fn geometry(channels: u32, chips: u32) -> Geometry {
    Geometry {
        channels,
        chips_per_channel: chips,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 8,
        pages_per_block: 16,
        page_bytes: 4096,
    }
}

fn array(channels: u32, chips: u32, phases: Phases) -> Timed {
    let mut timed = Timed::new(Layout::new(geometry(channels, chips), Scope::Plane), Settings::plain(phases));
    timed.start();
    timed
}

/// Returns the first page of a die.
fn page(die: u32, offset: u32) -> Ppn {
    Ppn(die * 8 * 16 + offset)
}

/// Issues a request made by `make`.
fn request(timed: &mut Timed, number: u32, now: u64, make: impl FnOnce(&mut Timed)) {
    timed.arrive(number, now);
    make(timed);
    timed.issued();
}

/// Runs everything to its end; returns the times by number of request.
fn ends(timed: &mut Timed) -> Vec<(u32, u64)> {
    let mut done = Vec::new();
    let mut bound = Bound::new(100_000_000);
    loop {
        bound.step();
        timed.take_done(&mut done);
        let before = done.len();
        timed.advance_to_completion();
        timed.take_done(&mut done);
        if done.len() == before {
            timed.schedule.advance(u64::MAX - 1);
            return done;
        }
    }
}

#[test]
fn one_die_does_one_thing_at_a_time() {
    let mut t = array(1, 1, PHASES);
    request(&mut t, 0, 100, |t| t.program(page(0, 0), Lpn(0), Cause::Host));
    request(&mut t, 1, 100, |t| t.program(page(0, 1), Lpn(1), Cause::Host));
    // 100 + 10 + 600, twice.
    assert_eq!(ends(&mut t), [(0, 710), (1, 1320)]);
    assert_eq!(t.times()[Class::Write as usize].die_wait_ns, 610);
    assert_eq!(t.times()[Class::Write as usize].service_ns, 1220);
}

#[test]
fn dies_of_one_channel_share_it() {
    let mut t = array(1, 2, PHASES);
    request(&mut t, 0, 0, |t| t.program(page(0, 0), Lpn(0), Cause::Host));
    request(&mut t, 1, 0, |t| t.program(page(1, 0), Lpn(1), Cause::Host));
    request(&mut t, 2, 2000, |t| t.read(page(0, 0), Lpn(0), Cause::Host));
    request(&mut t, 3, 2000, |t| t.read(page(1, 0), Lpn(1), Cause::Host));
    // The second program's data wait 10 ns for the channel, and so do the second read's.
    assert_eq!(ends(&mut t), [(0, 610), (1, 620), (2, 2060), (3, 2070)]);
    assert_eq!(t.times()[Class::Write as usize].channel_wait_ns, 10);
    assert_eq!(t.times()[Class::Read as usize].channel_wait_ns, 10);
}

#[test]
fn a_write_waits_for_the_programs_of_the_chunk_that_it_fills() {
    let mut t = array(2, 1, PHASES);
    let parts = [0, 1, 2].map(|slot| Part::Gathered { chunk: 5, slot });
    request(&mut t, 0, 100, |t| t.program_chunk(page(0, 0), 2, &parts, Cause::Host));
    assert_eq!(ends(&mut t), [(0, 100 + 2 * 610)]);
    // No request waits for the programs of a job.
    request(&mut t, 1, 2000, |t| t.program_chunk(page(1, 0), 2, &parts, Cause::Repack));
    assert_eq!(ends(&mut t), [(1, 2000)]);
    let counters = t.counters();
    assert_eq!([Cause::Host, Cause::Repack].map(|cause| counters.programs[cause as usize]), [2, 2]);
}

#[test]
fn a_read_of_a_page_that_moves_takes_the_old_copy() {
    let ends_with = |reads_old_copies: bool| {
        let settings = Settings { reads_old_copies, ..Settings::plain(PHASES) };
        let mut t = Timed::new(Layout::new(geometry(1, 1), Scope::Plane), settings);
        t.start();
        (0..16).for_each(|n| request(&mut t, n, 0, |t| t.program(page(0, n), Lpn(n), Cause::Host)));
        ends(&mut t);
        // Three moves of 670 ns each, then the erase of their block.
        request(&mut t, 20, 10_000, |t| {
            (0..3).for_each(|n| t.copy(page(0, n), page(0, 16 + n), Owner::page(Lpn(n)), Cause::Gc));
            t.erase(UnitId(0), Cause::Gc);
        });
        request(&mut t, 21, 10_100, |t| t.read(page(0, 18), Lpn(2), Cause::Host));
        request(&mut t, 22, 10_200, |t| t.read(page(0, 17), Lpn(1), Cause::Host));
        let ends = ends(&mut t);
        let erases = t.schedule.log.0.iter().filter(|o| o.kind == queue::Kind::Erase);
        (ends, erases.map(|o| o.from).collect::<Vec<_>>())
    };
    // The second read waits behind the first, which waits for all moves.
    assert_eq!(ends_with(false), (vec![(20, 10_000), (21, 12_070), (22, 12_130)], vec![12_130]));
    assert_eq!(ends_with(true), (vec![(20, 10_000), (21, 10_730), (22, 10_790)], vec![12_130]));
}

/// A read-modify-write that must follow a write to a block, which follows its erase: were its read to take the old copy, the
/// erase would wait for that read.
#[test]
fn a_read_that_is_held_takes_no_old_copy() {
    let settings = Settings { reads_old_copies: true, ..Settings::plain(PHASES) };
    let mut t = Timed::new(Layout::new(geometry(1, 1), Scope::Plane), settings);
    t.start();
    (0..16).for_each(|n| request(&mut t, n, 0, |t| t.program(page(0, n), Lpn(n), Cause::Host)));
    ends(&mut t);
    request(&mut t, 20, 10_000, |t| {
        (0..3).for_each(|n| t.copy(page(0, n), page(0, 16 + n), Owner::page(Lpn(n)), Cause::Gc));
        t.erase(UnitId(0), Cause::Gc);
    });
    request(&mut t, 21, 10_100, |t| t.program(page(0, 0), Lpn(40), Cause::Host));
    let write = t.newest();
    request(&mut t, 22, 10_200, |t| {
        t.hold(write);
        t.read(page(0, 18), Lpn(2), Cause::Partial);
        t.program(page(0, 1), Lpn(2), Cause::Host);
    });
    assert_eq!(ends(&mut t).iter().map(|&(number, _)| number).collect::<Vec<_>>(), [20, 21, 22]);
}

#[test]
fn nothing_is_issued_before_the_end_of_a_request_that_dram_delays() {
    let mut t = array(2, 1, PHASES);
    t.keep_links();
    request(&mut t, 0, 0, |t| {
        t.program(page(0, 0), Lpn(0), Cause::Host);
        t.shape_request(300, 0);
    });
    // A job's moves end at 1270 and 1940: no operation ends between 610 and 910.
    request(&mut t, 1, 600, |t| {
        (0..2).for_each(|n| t.copy(page(1, n), page(1, 16 + n), Owner::page(Lpn(n)), Cause::Gc));
    });
    let mut done = Vec::new();
    for _ in 0..2 {
        t.advance_to_completion();
        t.take_done(&mut done);
    }
    assert_eq!((done, t.last_ns()), (vec![(1, 600), (0, 910)], 610));
    assert_eq!((t.present_ns(), t.idle_from_ns()), (910, 910));
}

/// Creates two channels with a die each, whose flash pages hold four pages of the map.
fn packed() -> Timed {
    let layout = Layout::new(geometry(2, 1), Scope::Plane).with_subpages(4);
    let mut t = Timed::new(layout, Settings::plain(Phases { transfer_ns: 40, ..PHASES }));
    t.start();
    t
}

#[test]
fn a_flash_page_is_programmed_when_it_is_full() {
    let mut t = packed();
    let write = |t: &mut Timed, n: u32| t.program(page(0, n), Lpn(n), Cause::Host);
    (0..3).for_each(|n| request(&mut t, n, 100 * u64::from(n), |t| write(t, n)));
    // Gathering data are done at once, and read without the flash.
    request(&mut t, 3, 300, |t| t.read(page(0, 1), Lpn(1), Cause::Host));
    request(&mut t, 4, 1000, |t| write(t, 3));
    assert_eq!(ends(&mut t), [(0, 0), (1, 100), (2, 200), (3, 300), (4, 1640)]);
    // A requested page takes a quarter of the channel's time, two of them half.
    request(&mut t, 5, 2000, |t| t.read(page(0, 2), Lpn(2), Cause::Host));
    assert_eq!(ends(&mut t), [(5, 2000 + 50 + 10)]);
    request(&mut t, 6, 3000, |t| t.read_run(&[(page(0, 0), Lpn(0)), (page(0, 1), Lpn(1))], Cause::Host));
    assert_eq!(ends(&mut t), [(6, 3000 + 50 + 20)]);
    let counters = t.counters();
    assert_eq!((counters.programs_total(), counters.flash_programs_total()), (4, 1));
    assert_eq!((counters.reads[Cause::Host as usize], counters.gathered_reads), (2, 1));
}

#[test]
fn a_packed_program_waits_for_reads_at_all_dies() {
    let mut t = packed();
    for n in 0..8 {
        request(&mut t, n, 0, |t| t.program(page(n / 4, n % 4), Lpn(n), Cause::Host));
    }
    t.finish();
    ends(&mut t);
    // Two pages move from each die to block 1 of die 0: one read at each, side by side, then one program of 640.
    let moved = |die: u32| [0, 1].map(|n| (page(die, n), Owner::page(Lpn(4 * die + n))));
    request(&mut t, 0, 5000, |t| {
        for die in [0, 1] {
            t.fetch(&moved(die), Cause::Gc);
            t.copy_run(&moved(die), page(0, 16 + 2 * die), Cause::Gc);
        }
    });
    t.finish();
    assert_eq!(t.last_ns(), 5000 + 50 + 20 + 640);
    let gc = Cause::Gc as usize;
    assert_eq!((t.counters().reads[gc], t.counters().flash_programs(Cause::Gc)), (2, 1));
    // A page that begins with data still being read at die 1 is padded, and waits for them all the same.
    request(&mut t, 1, 10_000, |t| {
        t.fetch(&moved(1), Cause::Level);
        t.copy_run(&moved(1), page(0, 20), Cause::Level);
        t.pad(page(0, 22), 2, Cause::Level);
    });
    t.finish();
    assert_eq!(t.last_ns(), 10_000 + 50 + 20 + 640);
    assert_eq!(t.counters().programs[Cause::Padding as usize], 2);
}

#[test]
fn a_command_takes_the_channel_too() {
    let mut t = array(1, 1, Phases { command_ns: 3, ..PHASES });
    request(&mut t, 0, 0, |t| t.program(page(0, 0), Lpn(0), Cause::Host));
    request(&mut t, 1, 0, |t| t.read(page(0, 0), Lpn(0), Cause::Host));
    assert_eq!(ends(&mut t), [(0, 613), (1, 613 + 3 + 50 + 10)]);
}

#[test]
fn reads_pass_writes_but_not_the_program_of_their_page() {
    let mut t = array(1, 1, PHASES);
    request(&mut t, 0, 0, |t| t.program(page(0, 0), Lpn(0), Cause::Host));
    request(&mut t, 1, 0, |t| t.program(page(0, 1), Lpn(1), Cause::Host));
    request(&mut t, 2, 0, |t| t.program(page(0, 2), Lpn(2), Cause::Host));
    // Of page 0, whose program is under way: right after it, before the second program.
    request(&mut t, 3, 5, |t| t.read(page(0, 0), Lpn(0), Cause::Host));
    assert_eq!(ends(&mut t), [(0, 610), (3, 670), (1, 1280), (2, 1890)]);
    let mut t = array(1, 1, PHASES);
    request(&mut t, 0, 0, |t| t.program(page(0, 0), Lpn(0), Cause::Host));
    request(&mut t, 1, 0, |t| t.program(page(0, 1), Lpn(1), Cause::Host));
    request(&mut t, 2, 0, |t| t.read(page(0, 1), Lpn(1), Cause::Host));
    assert_eq!(ends(&mut t), [(0, 610), (1, 1220), (2, 1280)]);
}

#[test]
fn hosts_pass_moves_but_no_program_passes_the_erase_of_its_block() {
    let mut t = array(1, 1, PHASES);
    // Two moves from block 0 to block 1, and the erase.
    request(&mut t, 0, 0, |t| {
        t.copy(page(0, 0), page(0, 16), Owner::page(Lpn(0)), Cause::Gc);
        t.copy(page(0, 1), page(0, 17), Owner::page(Lpn(1)), Cause::Gc);
        t.erase(UnitId(0), Cause::Gc);
    });
    // A move takes 50 + 2 x 10 + 600. A write elsewhere comes between the moves and is done at 670 + 610.
    request(&mut t, 1, 1, |t| t.program(page(0, 32), Lpn(5), Cause::Host));
    // A write into the erased block waits for all of that: 1280 + 670 + 3000 + 610.
    request(&mut t, 2, 2, |t| t.program(page(0, 0), Lpn(6), Cause::Host));
    assert_eq!(ends(&mut t), [(0, 0), (1, 1280), (2, 5560)]);
    let times = t.times()[Class::Write as usize];
    // Both wait for the background, the second one also for the first write.
    assert_eq!((times.foreground_wait_ns, times.die_wait_ns), (669 + 668 + 670 + 3000, 610));
}

#[test]
fn a_read_modify_write_programs_after_its_read_on_another_die() {
    let mut t = array(2, 1, PHASES);
    request(&mut t, 0, 0, |t| t.read(page(1, 3), Lpn(9), Cause::Host));
    request(&mut t, 1, 0, |t| {
        t.read(page(1, 4), Lpn(7), Cause::Partial);
        t.program(page(0, 0), Lpn(7), Cause::Partial);
    });
    // Die 1 reads in 0..60 and 60..120; die 0 programs from 120.
    assert_eq!(ends(&mut t), [(0, 60), (1, 120 + 610)]);
}

#[test]
fn moves_between_dies_read_here_and_program_there() {
    let mut t = Timed::new(Layout::new(geometry(2, 1), Scope::Superblock), Settings::plain(PHASES));
    t.start();
    // Offset 0 of unit 0 lies on die 0, offset 1 of unit 1 on die 1.
    request(&mut t, 0, 0, |t| t.copy(Ppn(0), Ppn(33), Owner::page(Lpn(0)), Cause::Gc));
    request(&mut t, 1, 0, |t| t.erase(UnitId(0), Cause::Gc));
    assert_eq!(ends(&mut t), [(0, 0), (1, 0)]);
    // Read 0..60 on die 0, program 60..670 on die 1; both dies erase their block, die 0 after its read.
    assert_eq!(t.last_ns(), 3670, "die 1: program, then its block of the erased unit");
}

/// Waiting time in an M/D/1 queue: rho s / (2 (1 - rho)).
#[test]
fn one_die_waits_as_md1_does() {
    let service = 660.0;
    for load in [0.3, 0.6, 0.8] {
        let phases = Phases { transfer_ns: 60, ..PHASES };
        let mut t = array(1, 1, phases);
        let mut rng = Rng::new(11, "arrivals");
        let (mut now, n) = (0.0f64, 4_000_000u32);
        let mut done = Vec::new();
        for i in 0..n {
            now -= service / load * libm::log(1.0 - rng.unit());
            request(&mut t, i, now as u64, |t| t.program(Ppn(i % 128), Lpn(i), Cause::Host));
            t.take_done(&mut done);
        }
        t.schedule.advance(u64::MAX - 1);
        let times = t.times()[Class::Write as usize];
        let mean = times.die_wait_ns as f64 / f64::from(n);
        let law = load * service / (2.0 * (1.0 - load));
        assert!((mean / law - 1.0).abs() < 0.01, "load {load}: {mean} against {law}");
    }
}

/// Full dies on one channel: the channel's rate, or the dies' rate, whichever is smaller.
#[test]
fn throughput_is_bound_by_channel_or_dies() {
    for (chips, transfer_ns) in [(2u32, 10u64), (4, 10), (4, 300), (8, 100)] {
        let mut t = array(1, chips, Phases { transfer_ns, ..PHASES });
        let n = 4000;
        for i in 0..n {
            let ppn = page(i % chips, i / chips % 128);
            request(&mut t, i, 0, |t| t.program(ppn, Lpn(i), Cause::Host));
        }
        t.schedule.advance(u64::MAX - 1);
        let each = (transfer_ns as f64).max((600 + transfer_ns) as f64 / f64::from(chips));
        let span = t.last_ns() as f64;
        assert!((span / (each * f64::from(n)) - 1.0).abs() < 0.005, "{chips} {transfer_ns}: {span}");
    }
}

/// A read waits only for the program of its own page, even in a long queue.
#[test]
fn a_read_finds_its_program_in_a_long_queue() {
    let mut t = array(1, 1, PHASES);
    for i in 0..100 {
        request(&mut t, i, 0, |t| t.program(page(0, i), Lpn(i), Cause::Host));
    }
    for (number, offset) in [(100, 0), (101, 37), (102, 99)] {
        request(&mut t, number, 1, |t| t.read(page(0, offset), Lpn(offset), Cause::Host));
    }
    let ends = ends(&mut t);
    let end = |number: u32| ends.iter().find(|(n, _)| *n == number).unwrap().1;
    // Reads are preferred: each directly follows its program. Earlier reads delay later ones.
    assert_eq!([end(100), end(101), end(102)], [610 + 60, 38 * 610 + 2 * 60, 100 * 610 + 3 * 60]);
}

#[test]
fn a_program_held_for_another_waits_for_it_across_dies() {
    let mut t = array(2, 1, PHASES);
    t.keep_links();
    // A request with an aside between its own programs, for which no request waits.
    t.arrive(0, 0);
    t.program(page(0, 0), Lpn(0), Cause::Host);
    let first = t.newest();
    let aside = t.open_aside();
    t.hold(first);
    t.program(page(1, 0), Lpn(1), Cause::Host);
    let second = t.newest();
    let aside = t.close_aside(aside);
    t.program(page(0, 1), Lpn(2), Cause::Host);
    t.issued();
    // A read-modify-write holds back its read: 1220 + 60, then data in and program.
    t.arrive(1, 0);
    t.hold(second);
    t.read(page(1, 0), Lpn(1), Cause::Partial);
    t.program(page(1, 1), Lpn(1), Cause::Partial);
    t.issued();
    // No operation of its own, but the aside, and 7 ns more; the next request has nothing to wait for.
    t.arrive(2, 5);
    t.shape_request(7, 1);
    t.wait_for(aside, Reason::Place);
    t.issued();
    t.arrive(3, 5);
    t.shape_request(9, 1);
    t.issued();
    // Another one waits for that, and flash waits for it no longer than for its own operations.
    t.arrive(4, 6);
    t.wait_for_asides(Reason::Flushed);
    t.issued();
    t.advance_to_completion_until(13);
    let mut done = Vec::new();
    t.take_done(&mut done);
    assert_eq!(done, []);
    t.advance_to_completion_until(1219);
    t.take_done(&mut done);
    assert_eq!(done, [(3, 14)]);
    assert!(t.pending(aside));
    let mut rest = ends(&mut t);
    rest.sort_unstable();
    assert_eq!(rest, [(0, 1220), (1, 1890), (2, 1227), (4, 1220)]);
    assert!(!t.pending(aside));
    let [reads, writes] = t.link_times().unwrap();
    assert_eq!((writes.place_requests, writes.place_ns, reads.flushed_ns), (1, 1215, 1214));
}
