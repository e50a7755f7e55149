use super::super::Hints;
use super::*;
use floatgate_base::Rng;
use std::collections::BTreeMap;

const PAGES: u32 = 400;

fn state(dominates_from: u32, groups: u32, contexts: u32) -> State {
    let shape =
        Shape { logical_pages: PAGES, pages_per_unit: 4, units: 8, domains: 1, page_bytes: 4096, seed: 0 };
    State::new(
        &Params { dominates_from, groups, contexts, update_blocks: UpdateBlocks::LastUnlessDead },
        &shape,
    )
}

/// Successive host writes; a rewrite of a page is an update.
struct Host {
    state: State,
    live: Vec<bool>,
    now: u64,
}

impl Host {
    fn new(state: State) -> Self {
        Self { state, live: vec![false; PAGES as usize], now: 0 }
    }

    fn write(&mut self, lpn: u32, context: u32) -> StreamId {
        let hints = Hints { context, ..Hints::default() };
        let update = std::mem::replace(&mut self.live[lpn as usize], true);
        self.now += 1;
        self.state.write(&Written { lpn: Lpn(lpn), update, hints, now: self.now - 1 })
    }

    fn writes<const N: usize>(&mut self, all: [(u32, u32); N]) -> [StreamId; N] {
        all.map(|(lpn, context)| self.write(lpn, context))
    }

    fn trim(&mut self, lpn: u32) {
        self.live[lpn as usize] = false;
        self.state.trimmed(Lpn(lpn), self.now);
    }

    fn moves_to(&self, lpn: u32) -> StreamId {
        self.state.move_stream(&Moved { lpn: Lpn(lpn), from: StreamId(0), now: self.now })
    }

    fn figure(&self, name: &str) -> f64 {
        self.state.figures().into_iter().find(|&(n, _)| n == name).unwrap().1
    }
}

/// Algorithm 1 by hand, threshold 3. Context 1 dominates with the third update of its data and gets group 1. Context 2,
/// whose data were updated before, joins it by an update of the next page.
#[test]
fn contexts_dominate_at_the_threshold_and_join_by_sequence() {
    let mut host = Host::new(state(3, 8, 100));
    // No data are updated yet: all is written once.
    assert_eq!([10, 11, 12].map(|lpn| host.write(lpn, 1)), [0, 0, 0].map(StreamId));
    assert_eq!([13, 20].map(|lpn| host.write(lpn, 2)), [0, 0].map(StreamId));
    // Context 2 is only entered in the table; an update that follows no other joins no group.
    assert_eq!(host.write(20, 2), StreamId(0));
    assert_eq!([10, 11].map(|lpn| host.write(lpn, 1)), [0, 0].map(StreamId));
    assert_eq!(host.moves_to(12), StreamId(0));
    // The third: this write already goes to the new group, as do its earlier pages when moved.
    assert_eq!(host.write(12, 1), StreamId(1));
    assert_eq!(host.moves_to(10), StreamId(1));
    // Page 13 is context 2's; its update follows that of page 12.
    assert_eq!(host.write(13, 2), StreamId(1));
    assert_eq!((host.figure("groups"), host.figure("contexts_sequential")), (1.0, 1.0));
    assert_eq!(host.state.contexts(), [(1, StreamId(1)), (2, StreamId(1))]);
    assert!(host.state.is_last(StreamId(1)) && !host.state.is_last(StreamId(0)));
}

#[test]
fn what_counts_is_who_had_written_not_who_writes() {
    let mut host = Host::new(state(2, 8, 100));
    (0..2).for_each(|lpn| _ = host.write(lpn, 1));
    assert_eq!([0, 1].map(|lpn| host.write(lpn, 2)), [0, 0].map(StreamId));
    // Context 1 dominates, though it writes no more; context 2 does not.
    assert_eq!((host.write(5, 1), host.write(6, 2)), (StreamId(1), StreamId(0)));
}

#[test]
fn an_update_of_unknown_data_breaks_the_sequence() {
    let run = |between: u32| {
        let mut host = Host::new(state(3, 8, 100));
        host.writes([(0, 1), (1, 1), (2, 1), (4, 2), (9, 2), (3, between)]);
        host.write(9, 2);
        host.writes([0, 1, 2, 3].map(|lpn| (lpn, 1)));
        host.write(4, 2)
    };
    // Page 3 is context 1's: the update of page 4 follows one of its group. An unknown writer is no link.
    assert_eq!((run(1), run(UNKNOWN.into())), (StreamId(1), StreamId(0)));
}

#[test]
fn first_sight_joins_nobody() {
    let mut host = Host::new(state(2, 8, 100));
    host.writes([(0, 1), (1, 1), (2, 2)]);
    host.writes([(0, 1), (1, 1)]);
    assert_eq!(host.write(2, 2), StreamId(0));
    assert_eq!(host.figure("contexts_updated"), 2.0);
}

/// The writer of a page is known after a TRIM: a later write then counts as an update of its data.
#[test]
fn a_page_written_after_a_trim_is_updated() {
    let mut host = Host::new(state(2, 8, 100));
    for _ in 0..3 {
        assert_eq!(host.figure("groups"), 0.0);
        host.write(7, 1);
        host.trim(7);
    }
    assert_eq!(host.figure("groups"), 1.0);
}

/// Contexts 1, 2 and 3 dominate, with two groups: the third shares the group written least recently.
#[test]
fn beyond_the_bound_the_least_recent_group_is_shared() {
    let mut host = Host::new(state(2, 2, 100));
    for (context, lpn) in [(1, 0), (2, 10)] {
        (0..3).for_each(|_| _ = host.write(lpn, context));
    }
    assert_eq!((host.write(0, 1), host.write(10, 2)), (StreamId(1), StreamId(2)));
    (0..2).for_each(|_| _ = host.write(20, 3));
    assert_eq!(host.write(20, 3), StreamId(1));
    assert_eq!((host.figure("groups"), host.figure("contexts_dominating")), (2.0, 3.0));
    assert_eq!(host.write(30, 4), StreamId(0));
}

/// A million contexts, most of them seen once: those beyond the table are written once, and memory stays the same.
#[test]
fn a_million_contexts_take_no_more_memory() {
    let mut host = Host::new(state(2, 8, 1000));
    let before = host.state.memory_bytes();
    for context in 1..1_000_000 {
        let stream = host.write(context % PAGES, context);
        assert!(context < 1000 || stream == WRITE_ONCE);
    }
    assert_eq!(host.state.memory_bytes(), before);
    assert!(host.figure("contexts_updated") <= 999.0);
    assert_eq!(host.figure(PAGES_BEYOND), 999_000.0);
}

#[test]
fn one_context_for_all_makes_one_group() {
    let mut host = Host::new(state(16, 8, 1000));
    let streams: Vec<_> = (0..60).map(|i| host.write(i % 20, 1)).collect();
    // Twenty first writes, fifteen updates.
    assert_eq!(streams.iter().position(|&stream| stream == StreamId(1)), Some(35));
    assert!(streams[35..].iter().all(|&stream| stream == StreamId(1)));
}

/// Algorithm 1 literally, on maps.
#[derive(Default)]
struct Printed {
    writer: BTreeMap<u32, u32>,
    table: BTreeMap<u32, (u32, Option<u32>)>,
    groups: u32,
    previous: Option<(u32, Option<u32>)>,
}

impl Printed {
    fn write(&mut self, lpn: u32, context: u32, threshold: u32) -> u32 {
        if let Some(writer) = self.writer.insert(lpn, context) {
            let group = self.updated(writer, lpn, threshold);
            self.previous = Some((lpn, group));
        }
        self.table.get(&context).and_then(|row| row.1).unwrap_or(0)
    }

    fn updated(&mut self, writer: u32, lpn: u32, threshold: u32) -> Option<u32> {
        let Some(row) = self.table.get_mut(&writer) else {
            self.table.insert(writer, (1, None));
            return None;
        };
        row.0 += 1;
        if row.1.is_none() {
            if row.0 >= threshold {
                self.groups += 1;
                row.1 = Some(self.groups);
            } else if let Some((before, Some(group))) = self.previous
                && before + 1 == lpn
            {
                row.1 = Some(group);
            }
        }
        row.1
    }
}

#[test]
fn it_is_the_printed_algorithm() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed, "pds is as printed");
        let threshold = 1 + rng.below(20) as u32;
        let mut host = Host::new(state(threshold, 64, 64));
        let mut printed = Printed::default();
        let mut lpn = 0;
        for _ in 0..2000 {
            lpn = if rng.below(3) == 0 { rng.below(u64::from(PAGES)) as u32 } else { (lpn + 1) % PAGES };
            let context = 1 + rng.below(40).min(rng.below(40)) as u32;
            if rng.below(10) == 0 {
                host.trim(lpn);
            }
            let expected = printed.write(lpn, context, threshold);
            assert_eq!(host.write(lpn, context), StreamId(expected), "seed {seed}, threshold {threshold}");
        }
    }
}
