use super::super::Hints;
use super::*;

const PAGES: u32 = 400;

fn params() -> Params {
    Params {
        consecutive_over: 1,
        window: 64,
        period: 1000,
        level_difference: 2,
        groups: 4,
        contexts: 100,
        archive_per_group: false,
        history_updates: 0,
        update_blocks: UpdateBlocks::LastUnlessDead,
    }
}

fn state(params: Params) -> State {
    let shape =
        Shape { logical_pages: PAGES, pages_per_unit: 4, units: 8, domains: 1, page_bytes: 4096, seed: 0 };
    State::new(&params, &shape)
}

fn write(state: &mut State, lpn: u32, context: u32) -> StreamId {
    state.write(&Written {
        lpn: Lpn(lpn),
        update: false,
        hints: Hints { context, ..Hints::default() },
        now: 0,
    })
}

fn moves_to(state: &State, lpn: u32) -> StreamId {
    state.move_stream(&Moved { lpn: Lpn(lpn), from: StreamId(0), now: 0 })
}

fn figure(state: &State, name: &str) -> f64 {
    state.figures().into_iter().find(|&(n, _)| n == name).unwrap().1
}

/// Fills the log to make the clusters of Figure 34: ul is 1 between 1 and 2, 7/6 between 4 and 5, 2.5 between 2 and 3,
/// and 2.6 between 3 and 4.
fn figure_34(state: &mut State) {
    // 1 2 1 2 1 2 3 ... 4 . 5, far apart from the former.
    let entries = [1, 2, 1, 2, 1, 2, 3, 4, 4, 5, 4, 4, 5];
    entries.iter().for_each(|&context| state.log.push(context));
}

fn groups(state: &State) -> Vec<Group> {
    state.contexts[1..=5].iter().map(|context| context.group).collect()
}

/// PC1 and PC2 share a group, PC4 and PC5 another. PC3, whose original cluster C3 is two after its root C1, joins at a
/// threshold of 2 and not at 1. The first call only registers.
#[test]
fn algorithm_2_on_figure_34() {
    for (level_difference, third) in [(2, 1), (1, NONE)] {
        let mut state = state(Params { level_difference, ..params() });
        figure_34(&mut state);
        state.regroup();
        assert_eq!(groups(&state), [NONE; 5]);
        assert_eq!(figure(&state, "contexts_registered"), 5.0);
        state.regroup();
        let clusters = state.scratch.clusters.of(&state.scratch.localities).to_vec();
        let of = |context: u32| {
            let place = state.scratch.localities.contexts().iter().position(|&c| c == context).unwrap();
            clusters[place]
        };
        assert_eq!([1, 2, 3, 4, 5].map(of), [(1, 1), (1, 1), (3, 1), (2, 2), (2, 2)]);
        assert_eq!(groups(&state), [1, 1, third, 2, 2]);
        assert_eq!(figure(&state, "groups"), 2.0);
        // Nothing has changed: groups keep their numbers, period after period.
        state.regroup();
        assert_eq!(groups(&state), [1, 1, third, 2, 2]);
    }
}

/// A group keeps the number of its first member; contexts that left the log keep theirs.
#[test]
fn groups_keep_their_numbers_when_others_go() {
    let mut state = state(Params { window: 16, ..params() });
    figure_34(&mut state);
    (0..2).for_each(|_| state.regroup());
    (0..8).flat_map(|_| [4, 5]).for_each(|context| state.log.push(context));
    state.regroup();
    assert_eq!(groups(&state), [1, 1, 1, 2, 2]);
    // Contexts 6 and 7, once registered, get number 1, which is free: 1, 2 and 3 are not in the window.
    (0..2).flat_map(|_| [6, 7, 6, 7]).for_each(|context| state.log.push(context));
    (0..2).for_each(|_| state.regroup());
    assert_eq!((state.contexts[6].group, state.contexts[7].group, state.contexts[4].group), (1, 1, 2));
}

/// With one group at most, the second root cluster shares it.
#[test]
fn beyond_the_bound_groups_are_shared() {
    let mut state = state(Params { groups: 1, ..params() });
    figure_34(&mut state);
    (0..2).for_each(|_| state.regroup());
    assert_eq!(groups(&state), [1; 5]);
    assert_eq!(figure(&state, "groups"), 2.0);
}

/// Threshold 1: the counter is 0 at the first update of a context's data, 1 at the second and 2 at the third in a row.
#[test]
fn consecutive_updates_make_an_update_context() {
    let mut state = state(params());
    (0..20).for_each(|lpn| _ = write(&mut state, lpn, 1 + lpn % 2));
    for lpn in [0, 2, 1, 4, 6] {
        write(&mut state, lpn, 1);
        assert_eq!(figure(&state, "contexts_updating"), 0.0);
    }
    // Data of contexts 1, 1, 2, 1, 1 so far; a third of 1 in a row.
    write(&mut state, 8, 1);
    assert!(state.contexts[1].updating && !state.contexts[2].updating);
}

/// A page of an update context is hot from its second update on, also when it is moved; a page of another context is
/// not.
#[test]
fn pages_updated_before_go_to_the_archive() {
    let mut state = state(params());
    state.contexts[1].updating = true;
    state.contexts[1].group = 3;
    let archive = state.archive(NONE);
    assert_eq!(archive, StreamId(5));
    assert_eq!((write(&mut state, 7, 1), moves_to(&state, 7)), (StreamId(3), StreamId(3)));
    // Updated now, for the first time.
    assert_eq!((write(&mut state, 7, 1), moves_to(&state, 7)), (StreamId(3), archive));
    assert_eq!((write(&mut state, 7, 1), moves_to(&state, 7)), (archive, archive));
    // Context 2 is no update context: its page is written once, and still in context 1's history.
    assert_eq!((write(&mut state, 7, 2), moves_to(&state, 7)), (WRITE_ONCE, WRITE_ONCE));
    assert_eq!(write(&mut state, 7, 1), archive);
    assert_eq!(figure(&state, "hot_pages"), 2.0);
    assert!(state.is_last(archive) && state.is_last(StreamId(1)) && !state.is_last(WRITE_ONCE));
    assert_eq!(state.contexts(), [(1, StreamId(3))]);
}

#[test]
fn an_update_context_without_a_group_writes_once() {
    let mut state = state(params());
    state.contexts[1].updating = true;
    assert_eq!(write(&mut state, 7, 1), WRITE_ONCE);
    assert!(state.contexts().is_empty());
}

/// One context for all: no other to share a cluster with, hence no group; rewritten pages are hot.
#[test]
fn one_context_for_all_fills_the_archive() {
    let mut state = state(Params { period: 10, ..params() });
    let streams: Vec<_> = (0..100).map(|i| write(&mut state, i % 20, 1)).collect();
    assert!(streams[..42].iter().all(|&stream| stream == WRITE_ONCE));
    assert!(streams[42..].iter().all(|&stream| stream == StreamId(5)));
    assert_eq!(figure(&state, "groups"), 0.0);
}

/// A million contexts: memory stays within the needs of the largest window.
#[test]
fn a_million_contexts_take_bounded_memory() {
    let mut state = state(Params { contexts: 1 << 16, window: WINDOW_MAX, period: 4096, ..params() });
    for context in 0..1_000_000 {
        let stream = write(&mut state, context % PAGES, context);
        assert!(context < 1 << 16 || stream == WRITE_ONCE);
    }
    assert_eq!(figure(&state, "contexts_compared_most"), 1024.0);
    assert_eq!(figure(&state, PAGES_BEYOND), f64::from(1_000_000 - (1 << 16)));
    assert!(state.memory_bytes() < 8 << 20, "{}", state.memory_bytes());
}

/// Section 1.2: hot data of each group in an archive of its own; without a group they share another.
#[test]
fn each_group_has_an_archive() {
    let mut state = state(Params { archive_per_group: true, ..params() });
    assert_eq!(Params { archive_per_group: true, ..params() }.streams(), 10);
    for (context, group) in [(1, 3), (2, 4), (3, NONE)] {
        (state.contexts[context].updating, state.contexts[context].group) = (true, group);
    }
    for (context, group) in [(1, 3), (2, 4), (3, NONE)] {
        assert_eq!(write(&mut state, context, context), StreamId(group));
        assert_eq!(write(&mut state, context, context), StreamId(group));
        let archive = StreamId(5 + group);
        assert_eq!((write(&mut state, context, context), moves_to(&state, context)), (archive, archive));
        assert!(state.is_last(archive));
    }
    // A context that changes its group takes its hot pages along.
    state.contexts[1].group = 2;
    assert_eq!(moves_to(&state, 1), StreamId(7));
    assert_eq!(figure(&state, "hot_pages"), 3.0);
}

/// With a history of two updates a page is hot until the third update after its own.
#[test]
fn pages_leave_a_history_that_expires() {
    let mut state = state(Params { history_updates: 2, ..params() });
    (state.contexts[1].updating, state.contexts[1].group) = (true, 3);
    let archive = state.archive(NONE);
    for lpn in [7, 8, 9, 7] {
        assert_eq!(write(&mut state, lpn, 1), StreamId(3));
    }
    // Page 7 was updated once.
    assert_eq!(moves_to(&state, 7), archive);
    for (lpn, hot) in [(8, true), (9, true), (8, false)] {
        write(&mut state, lpn, 1);
        assert_eq!(moves_to(&state, 7) == archive, hot);
    }
    // Its own update is the fourth since it entered; it enters again.
    assert_eq!((write(&mut state, 7, 1), moves_to(&state, 7)), (StreamId(3), archive));
}
