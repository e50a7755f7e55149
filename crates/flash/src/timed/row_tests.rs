//! Rows change no result: random drives with and without them, compared at every step, and worked timelines.

use super::order_tests::{Driver, REQUESTS};
use super::*;
use crate::Cause;
use floatgate_base::{Lpn, Owner, Ppn, UnitId};
use serde_json::{Value, json};

/// Creates a random drive that may have rows; most have plain commands, channels of their own and long blocks.
fn driver(seed: u64) -> Driver {
    let mut driver = Driver::with(seed, |geometry, settings| {
        if !seed.is_multiple_of(4) {
            geometry.pages_per_block += 8 + 3 * (seed % 11) as u32;
            settings.commands = Commands { copyback: settings.commands.copyback, ..Commands::PLAIN };
        }
        if seed % 4 > 1 {
            (geometry.chips_per_channel, geometry.dies_per_chip) = (1, 1);
            settings.phases.program_spread = 0.0;
            settings.phases.page_types = if seed % 8 > 3 { settings.phases.page_types } else { 1 };
        }
        // Dies that share channels, and whose moves begin without a command.
        if seed % 4 == 1 {
            geometry.chips_per_channel = 1 + (seed / 4 % 3) as u32;
            settings.phases.command_ns = 0;
            // Makes moves that have begun without an event frequent.
            settings.phases.rows.as_flattened_mut().iter_mut().for_each(|row| row.read_ns *= 6);
        }
        if seed.is_multiple_of(5) {
            settings.order = Order::Priority(Class::ALL);
        }
        if seed % 97 == 2 {
            settings.phases = Phases::plain(0, 0, 0, 0);
        }
    });
    driver.run_max = 6 + seed % 30;
    driver
}

/// Lists the operations under way as if every move were an operation of its own.
fn canonical(timed: &Timed) -> Value {
    let mut schedule = timed.schedule.clone();
    (0..schedule.dies.len()).for_each(|die| schedule.end_row(die));
    let page_types = schedule.settings.phases.page_types;
    let done = |die: usize, class: usize| schedule.dies[die].queues[class].done;
    let queues = |die: usize| -> Vec<Value> {
        let of_class = |class: Class| {
            let others = class.others();
            let ops = schedule.dies[die].queues[class as usize].one_by_one(page_types);
            let of_op = |&(ticket, ref op): &(u64, queue::Op)| {
                let after = [0, 1].map(|i| op.after[i].ticket(done(die, others[i] as usize)));
                let far = match op.far_class {
                    joins::JOIN => 1,
                    class => op.far.ticket(done(op.far_die as usize, usize::from(class))),
                };
                let previous = op.previous.ticket(done(die, class as usize));
                let op = queue::Op { after: Default::default(), previous: Default::default(), ..*op };
                let op =
                    if far == 0 { queue::Op { far: Default::default(), far_class: 0, ..op } } else { op };
                json!([ticket, op, after, previous, far])
            };
            json!([ops.iter().map(of_op).collect::<Vec<_>>(), done(die, class as usize)])
        };
        Class::ALL.map(of_class).to_vec()
    };
    let mut value = serde_json::to_value(&schedule).unwrap();
    for die in 0..schedule.dies.len() {
        value["dies"][die]["queues"] = json!(queues(die));
    }
    value.as_object_mut().unwrap().retain(|key, _| key != "reached" && key != "rows" && key != "plain");
    json!([value, timed.blocks, timed.saved_beside()])
}

/// Describes the first difference between two values.
fn difference(a: &Value, b: &Value) -> Option<String> {
    let within = |key: String, a: &Value, b: &Value| difference(a, b).map(|what| format!("{key}.{what}"));
    match (a, b) {
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => {
            a.iter().find_map(|(key, a)| within(key.clone(), a, &b[key]))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(i, (a, b))| within(i.to_string(), a, b))
        }
        _ => (a != b).then(|| format!(" {a} and {b}")),
    }
}

/// The course of a drive and its results.
#[derive(Debug, PartialEq)]
struct Drive {
    states: Vec<Value>,
    done: Vec<(u32, u64)>,
    phases: Vec<ArrayPhase>,
}

/// Drives the array with or without rows; `kept` saves and restores the array now and then. Returns also how many moves
/// began without a choice.
fn drive(seed: u64, rows: bool, kept: bool) -> (Drive, u64) {
    let mut driver = driver(seed);
    // Without rows, events take the general path.
    driver.timed.schedule.rows &= rows;
    driver.timed.schedule.plain &= rows;
    let (settings, mut now) = (driver.timed.schedule.settings, 0);
    let (mut states, mut phases) = (Vec::new(), Vec::new());
    let tapped = if seed % 6 == 1 { REQUESTS * 4 / 5 } else { REQUESTS };
    for number in 0..REQUESTS {
        now += driver.rng.below(3600 << (seed % 3 * 2));
        match driver.rng.below(6) {
            0 => driver.timed.advance_to_completion_until(now),
            1 => {
                let next = driver.timed.next_ns();
                driver.timed.advance(next.min(now));
            }
            _ => {}
        }
        if number == tapped {
            // All dies, or one: the others keep their rows.
            driver.timed.tap(Signal::Array, (seed % 12 == 7).then_some(0));
        }
        let timed = &driver.timed;
        let beside = (timed.next_ns(), timed.last_ns(), timed.times(), timed.jobs_ns());
        if driver.rng.clone().below(3) == 0 {
            states.push(json!([number, canonical(timed), beside]));
        }
        if kept && driver.rng.clone().below(4) == 0 && number < tapped {
            let saved = serde_json::to_string(&driver.timed.saved()).unwrap();
            let counts = serde_json::to_string(&driver.timed.counts().saved()).unwrap();
            driver.timed = driver.restarted(settings);
            assert!(driver.timed.counts_mut().restore(serde_json::from_str(&counts).unwrap()));
            assert!(driver.timed.restore(serde_json::from_str(&saved).unwrap()));
            assert_eq!(serde_json::to_string(&driver.timed.saved()).unwrap(), saved, "seed {seed}");
        }
        driver.timed.arrive(number, now);
        for _ in 0..driver.rng.below(3) {
            driver.issue_any();
            driver.issue_moves();
            driver.issue_erase();
        }
        driver.timed.issued();
    }
    driver.timed.finish();
    let mut done = Vec::new();
    driver.timed.take_done(&mut done);
    driver.timed.take_phases(&mut phases);
    states.push(canonical(&driver.timed));
    (Drive { states, done, phases }, driver.timed.schedule.unchosen)
}

/// Compares drives with rows and without.
fn rows_change_nothing_with(seeds: u64) {
    let (mut closed, mut stepped) = (0, 0);
    for seed in 0..seeds {
        let (plain, none) = drive(seed, false, false);
        assert_eq!(none, 0);
        for kept in [false, true] {
            let (with_rows, unchosen) = drive(seed, true, kept);
            for (a, b) in with_rows.states.iter().zip(&plain.states) {
                assert_eq!(difference(a, b), None, "seed {seed}, before request {}", b[0]);
            }
            assert_eq!(with_rows, plain, "seed {seed}");
            *(if driver(seed).timed.schedule.closed() { &mut closed } else { &mut stepped }) += unchosen;
        }
    }
    let enough = closed > 20 * seeds && stepped > 5 * seeds;
    assert!(enough, "hardly any moves in rows: {closed}, {stepped}");
}

#[test]
fn rows_change_nothing() {
    rows_change_nothing_with(25);
}

#[test]
#[ignore = "takes long: `make long` runs it"]
fn rows_change_nothing_in_many_runs() {
    rows_change_nothing_with(100);
}

/// Creates dies on one channel. Transfer 10, read 50, program 600, erase 3000: a move takes 670.
fn dies(chips_per_channel: u32) -> Timed {
    let geometry = floatgate_nand::Geometry {
        channels: 1,
        chips_per_channel,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 8,
        pages_per_block: 16,
        page_bytes: 4096,
    };
    let settings = Settings::plain(Phases::plain(10, 50, 600, 3000));
    let mut timed = Timed::new(Layout::new(geometry, Scope::Plane), settings);
    timed.start();
    timed
}

/// Issues eight moves from block 0 to block 1, and the erase, at 0.
fn empty_a_block(timed: &mut Timed) {
    let moving: Vec<_> = (0..8).map(|n| (Ppn(2 * n), Owner::page(Lpn(n)))).collect();
    timed.arrive(0, 0);
    timed.copy_run(&moving, Ppn(16), Cause::Gc);
    timed.erase(UnitId(0), Cause::Gc);
    timed.issued();
}

#[test]
fn a_row_has_one_event_and_says_what_has_happened_meanwhile() {
    let mut timed = dies(1);
    empty_a_block(&mut timed);
    timed.advance(0);
    assert_eq!((timed.schedule.order.first(), timed.schedule.dies[0].ahead), ((8 * 670, 0), 7));
    timed.advance(2 * 670 - 1);
    assert_eq!((timed.last_ns(), timed.next_ns()), (670, 2 * 670));
    timed.advance(2 * 670);
    assert_eq!((timed.last_ns(), timed.next_ns()), (2 * 670, 3 * 670));
    // The third move has begun.
    let background = timed.times()[Class::Background as usize];
    assert_eq!((background.operations, background.service_ns), (3, 3 * 670));
    assert_eq!((background.foreground_wait_ns, timed.jobs_ns()), (670 + 2 * 670, [2 * 670, 0]));
    timed.finish();
    assert_eq!(timed.last_ns(), 8 * 670 + 3000);
}

#[test]
fn a_row_ends_where_a_host_may_go_before_it() {
    let mut timed = dies(1);
    empty_a_block(&mut timed);
    // A write elsewhere comes after the second move, a read of the page that the sixth move programs after that.
    timed.arrive(1, 700);
    timed.program(Ppn(32), Lpn(20), Cause::Host);
    timed.read(Ppn(21), Lpn(5), Cause::Host);
    timed.issued();
    timed.arrive(2, 2000);
    // And a write into the erased block at the end.
    timed.program(Ppn(0), Lpn(21), Cause::Host);
    timed.issued();
    timed.finish();
    let mut done = Vec::new();
    timed.take_done(&mut done);
    // Moves until 1340, the write, four moves from 1950 to 4630, the read, two moves until 6030, the erase, the other
    // write.
    assert_eq!(done, [(0, 0), (1, 4630 + 60), (2, 6030 + 3000 + 610)]);
    let writes = timed.times()[Class::Write as usize];
    assert_eq!(writes.foreground_wait_ns, (1340 - 700) + (4630 - 2000) + (6030 - 4690) + 3000);
    assert_eq!(writes.die_wait_ns, 4690 - 4630);
}

/// Two dies of one channel, whose moves begin without a command.
#[test]
fn on_a_shared_channel_a_move_has_one_event_and_the_next_one_begins_unseen() {
    let mut timed = dies(2);
    let first = timed.layout().first_page(UnitId(0));
    let moving: Vec<_> = (0..8).map(|n| (first + n, Owner::page(Lpn(n)))).collect();
    let to = timed.layout().first_page(UnitId(1));
    timed.arrive(0, 0);
    timed.copy_run(&moving, to, Cause::Gc);
    timed.issued();
    timed.advance(50);
    // The page has been read and is programmed until 670; the second one is read until 720, which is the next event.
    assert_eq!((timed.schedule.order.first(), timed.schedule.dies[0].ahead), ((720, 0), 7));
    assert_eq!((timed.last_ns(), timed.next_ns()), (0, 670));
    timed.advance(669);
    assert_eq!((timed.last_ns(), timed.next_ns()), (0, 670));
    assert_eq!(timed.times()[Class::Background as usize].operations, 1);
    timed.advance(670);
    assert_eq!((timed.last_ns(), timed.next_ns()), (670, 720));
    let background = timed.times()[Class::Background as usize];
    assert_eq!((background.operations, background.service_ns), (2, 670 + 50));
    // A host write to the same die, between two moves: it follows the current one.
    timed.arrive(1, 700);
    timed.program(timed.layout().first_page(UnitId(2)), Lpn(20), Cause::Host);
    timed.issued();
    timed.finish();
    let mut done = Vec::new();
    timed.take_done(&mut done);
    assert_eq!((done, timed.last_ns()), (vec![(0, 0), (1, 2 * 670 + 610)], 8 * 670 + 610));
}
