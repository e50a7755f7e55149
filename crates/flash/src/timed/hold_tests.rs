//! Jobs that hold their channel: worked timelines, and random drives whose log is checked against the rule.

use super::order_tests::{Driver, REQUESTS, judge};
use super::*;
use crate::Cause;
use floatgate_base::{Lpn, Owner, Ppn, UnitId};
use floatgate_nand::Geometry;

/// Creates an array of two chips per channel, a die of eight blocks of 16 pages each.
fn array(channels: u32, jobs_hold_channel: bool) -> Timed {
    let geometry = Geometry {
        channels,
        chips_per_channel: 2,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 8,
        pages_per_block: 16,
        page_bytes: 4096,
    };
    let settings = Settings { jobs_hold_channel, ..Settings::plain(Phases::plain(10, 50, 600, 3000)) };
    let mut timed = Timed::new(Layout::new(geometry, Scope::Plane), settings);
    timed.start();
    timed
}

/// Returns the first page of a plane, by its number.
fn page(plane: u32, offset: u32) -> Ppn {
    Ppn(plane * 8 * 16 + offset)
}

/// Two moves and an erase at plane 0 from 0 on; reads at 100. Returns when the reads at these planes end.
fn reads_beside_a_job(mut t: Timed, planes: &[u32]) -> Vec<u64> {
    let read = |t: &mut Timed, number: u32, now: u64, plane: u32| {
        t.arrive(number, now);
        t.read(page(plane, 0), Lpn(0), Cause::Host);
        t.issued();
    };
    t.arrive(0, 0);
    (0..2).for_each(|n| t.copy(page(0, n), page(0, 16 + n), Owner::page(Lpn(n)), Cause::Gc));
    t.erase(UnitId(0), Cause::Gc);
    t.issued();
    // Reads of a page that was not moved: block 2.
    (1..).zip(planes).for_each(|(number, &plane)| read(&mut t, number, 100, plane));
    t.finish();
    let mut done = Vec::new();
    t.take_done(&mut done);
    done.sort_unstable();
    done[1..].iter().map(|&(_, end_ns)| end_ns).collect()
}

/// A move takes 50 + 20 + 600, an erase 3,000: the job ends at 4,340. Planes 0 and 2 share a channel of two.
#[test]
fn a_job_keeps_reads_off_its_channel_until_its_end() {
    let plane_of = |t: &Timed, die: usize| t.plane_at.iter().position(|at| at.die as usize == die).unwrap();
    let t = array(2, false);
    // Dies are dealt to the channels in turn: 0 and 2 are on that of the job.
    let [same, other] = [2, 1].map(|die| plane_of(&t, die) as u32);
    assert_eq!(t.plane_at[0].die, 0);
    assert_eq!(reads_beside_a_job(t, &[same, other]), [160, 160]);
    assert_eq!(reads_beside_a_job(array(2, true), &[same, other]), [4400, 160]);
}

/// Under priorities a read overtakes what a job has waiting at its die; a job that holds its channel goes on.
#[test]
fn a_job_that_holds_its_channel_is_not_overtaken_at_its_die() {
    let read_block_2 = |mut t: Timed| {
        t.arrive(0, 0);
        (0..2).for_each(|n| t.copy(page(0, n), page(0, 16 + n), Owner::page(Lpn(n)), Cause::Gc));
        t.erase(UnitId(0), Cause::Gc);
        t.issued();
        t.arrive(1, 100);
        t.read(page(0, 32), Lpn(9), Cause::Host);
        t.issued();
        t.finish();
        let mut done = Vec::new();
        t.take_done(&mut done);
        done.iter().find(|&&(number, _)| number == 1).unwrap().1
    };
    assert_eq!(read_block_2(array(1, false)), 670 + 60);
    assert_eq!(read_block_2(array(1, true)), 4340 + 60);
}

/// What began before the job goes on to its end, and a job of another die of the channel may begin.
#[test]
fn what_is_under_way_ends_and_jobs_do_not_wait_for_each_other() {
    let mut t = array(1, true);
    t.arrive(0, 0);
    t.read(page(1, 40), Lpn(0), Cause::Host);
    t.issued();
    t.arrive(1, 10);
    t.erase(UnitId(0), Cause::Gc);
    t.issued();
    t.arrive(2, 20);
    t.erase(UnitId(8), Cause::Gc);
    t.issued();
    t.arrive(3, 30);
    t.read(page(0, 40), Lpn(1), Cause::Host);
    t.issued();
    t.finish();
    let mut done = Vec::new();
    t.take_done(&mut done);
    done.sort_unstable();
    // The erase at plane 1 follows the read, at 60, and ends at 3,060; the channel is held until then.
    assert_eq!([done[0].1, done[3].1], [60, 3060 + 60]);
}

/// Creates a random drive whose jobs hold their channel, without cache commands and suspension.
fn driver(seed: u64, jobs_hold_channel: bool) -> Driver {
    Driver::with(seed, |_, settings| {
        settings.jobs_hold_channel = jobs_hold_channel;
        let Commands { multi_plane, copyback, .. } = settings.commands;
        settings.commands = Commands { multi_plane, copyback, ..Commands::PLAIN };
    })
}

/// Returns how many host operations begin while an operation of a job is in service at another die of their channel.
fn host_starts_beside_jobs(driver: &Driver) -> usize {
    let timed = &driver.timed;
    let channels = timed.layout().geometry().channels as usize;
    let operations = &timed.schedule.log.0;
    let die = |ppn: Ppn| timed.place(ppn).die;
    let (jobs, hosts): (Vec<&schedule::Happened>, Vec<&schedule::Happened>) =
        operations.iter().partition(|o| o.class == Class::Background);
    let beside = |host: &schedule::Happened| {
        jobs.iter().any(|job| {
            let (at, other) = (die(host.ppn), die(job.ppn));
            at != other && at % channels == other % channels && job.from < host.from && host.from < job.to
        })
    };
    hosts.into_iter().filter(|host| beside(host)).count()
}

#[test]
fn no_host_operation_begins_on_a_channel_that_is_held() {
    let mut without = 0;
    for seed in 0..400 {
        // All requests end, in an order that flash permits.
        judge(driver(seed, true), seed);
        let run = |holds| {
            let mut driver = driver(seed, holds);
            assert_eq!(driver.drive().len(), REQUESTS as usize, "seed {seed}: every request ends");
            host_starts_beside_jobs(&driver)
        };
        assert_eq!(run(true), 0, "seed {seed}");
        without += run(false);
    }
    assert!(without > 1000, "{without}");
}
