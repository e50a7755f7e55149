//! Tests of the labels.

use super::*;
use floatgate_base::Rng;

fn dispatcher(policy: &str, values: &[(&str, f64)]) -> Dispatcher {
    Dispatcher::of(Dispatch::of(&SLOT.with(policy, values)).unwrap()).unwrap()
}

/// Makes requests by address; a negative address is a read.
fn batch(starts: &[i64]) -> RequestBatch {
    let mut batch = RequestBatch::default();
    for &start in starts {
        let op = if start < 0 { Op::Read } else { Op::Write };
        batch.push(0, 0, op, start.unsigned_abs() * 4096, 4096);
    }
    batch
}

/// Returns the group of each request; 0 for no label, 9 for frequently written addresses.
fn groups(batch: &RequestBatch) -> Vec<u32> {
    let number = |label: &Label| match label.group() {
        Some(group) => group + 1,
        None if label.is_apart() => 9,
        None => 0,
    };
    batch.label.iter().map(number).collect()
}

/// Figure 3: of the requests in the queue, {a, c, e, f} are a pattern, and d is in none.
#[test]
fn the_example_of_figure_3() {
    let [a, b, c, d, e, f] = [1, 2, 3, 4, 5, 6];
    let queue = [a, c, e, f, b, a, c, e, f, d, -a, f, e, c, a, d, a, e, c, f, b];
    let mut figure = batch(&queue);
    let values = [("window", 32.0), ("mined", 32.0), ("transaction", 5.0), ("support", 4.0)];
    let mut patterns = dispatcher("patterns", &values);
    patterns.label(&mut figure);
    assert_eq!(groups(&figure), [1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0]);
    let mut counters = DispatchCounters::default();
    patterns.count(&figure, (0, queue.len()), &mut counters);
    let expected =
        DispatchCounters { windows: 1, patterns: 1, items: 4, windows_too_dense: 0, matched_requests: 16 };
    assert_eq!(counters, expected);
    // By frequency, an address written four times is hot, whatever is written with it.
    let values = [("window", 32.0), ("mined", 32.0), ("support", 4.0)];
    dispatcher("pgis", &values).label(&mut figure);
    let hot = |start: &i64| if [a, c, e, f].contains(start) { 9 } else { 0 };
    assert_eq!(groups(&figure), queue.iter().map(hot).collect::<Vec<_>>());
}

/// Returns two transactions of {1, 2, 3} and two of {4, 5, 6} in turn, then all but the requests of the last window.
fn windows() -> (RequestBatch, [(&'static str, f64); 5]) {
    let two = [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6];
    let one = [7, 8, 9, 1, 2, 3, 7, 8, 9, 1, 2, 3];
    let values =
        [("window", 12.0), ("mined", 12.0), ("transaction", 3.0), ("support", 2.0), ("items_min", 3.0)];
    (batch(&[&two[..], &one[..], &two[..5]].concat()), values)
}

#[test]
fn groups_of_a_later_window_are_others() {
    let (mut batch, values) = windows();
    let mut patterns = dispatcher("patterns", &values);
    assert_eq!((patterns.batch_len(4096), patterns.batch_len(1)), (4104, 12));
    patterns.label(&mut batch);
    let expected =
        [&[1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2][..], &[4, 4, 4, 3, 3, 3, 4, 4, 4, 3, 3, 3], &[0; 5]];
    assert_eq!(groups(&batch), expected.concat());
    // Counting in parts gives the same sum: a window belongs to the part of its first request.
    for cut in 0..=batch.len() {
        let mut counters = DispatchCounters::default();
        patterns.count(&batch, (0, cut), &mut counters);
        assert_eq!(counters.windows, cut.div_ceil(12) as u64);
        patterns.count(&batch, (cut, batch.len()), &mut counters);
        let expected = DispatchCounters {
            windows: 3,
            patterns: 4,
            items: 12,
            windows_too_dense: 0,
            matched_requests: 24,
        };
        assert_eq!(counters, expected, "cut at {cut}");
    }
    // The next pass begins like the first.
    patterns.restart();
    let (mut again, _) = windows();
    patterns.label(&mut again);
    assert_eq!(again.label, batch.label);
}

#[test]
fn causal_labels_go_by_the_window_before() {
    let (mut batch, values) = windows();
    let with_look: Vec<_> = values.iter().copied().chain([("look", 1.0)]).collect();
    let mut patterns = dispatcher("patterns", &with_look);
    patterns.label(&mut batch);
    // In the second window, only {1, 2, 3} was a set of the first; the third uses {1, 2, 3} and {7, 8, 9}.
    let second = [0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1];
    assert_eq!(groups(&batch), [&[0; 12][..], &second, &[3, 3, 3, 0, 0]].concat());
    // The next pass starts without knowledge of this one.
    patterns.restart();
    let (mut again, _) = windows();
    patterns.label(&mut again);
    assert_eq!(again.label, batch.label);
}

/// An address in several sets joins the set of which the window writes most.
#[test]
fn shared_addresses_join_the_set_that_is_written_most() {
    let (strong, weak) = ([1, 2, 3, 4], [3, 4, 5, 6]);
    let mined = [strong, weak, strong, weak].concat();
    let values = |window: usize| {
        [
            ("window", window as f64),
            ("mined", mined.len() as f64),
            ("transaction", 4.0),
            ("support", 2.0),
            ("items_min", 3.0),
        ]
    };
    // Equal sums: the set with the lower addresses. Later writes of the window can change the result.
    let mut equal = batch(&mined);
    dispatcher("patterns", &values(mined.len())).label(&mut equal);
    assert_eq!(groups(&equal), [[1, 1, 1, 1], [1, 1, 2, 2], [1, 1, 1, 1], [1, 1, 2, 2]].concat());
    let later = [&mined[..], &[6, 6]].concat();
    let mut other = batch(&later);
    dispatcher("patterns", &values(later.len())).label(&mut other);
    assert_eq!(groups(&other)[..8], [1, 1, 2, 2, 2, 2, 2, 2]);
    assert_eq!(groups(&other)[16..], [2, 2]);
}

/// The sizes of the mined part and of batches do not change the labels of a window.
#[test]
fn batches_do_not_matter() {
    for seed in 0..50 {
        let mut rng = Rng::new(seed, "dispatch test");
        let window = 1 + rng.below(40) as usize;
        let starts: Vec<i64> = (0..400).map(|_| rng.below(12).cast_signed() - 2).collect();
        let mined = 1 + rng.below(window as u64) as usize;
        let values = [
            ("window", window as f64),
            ("mined", mined as f64),
            ("support", 1.0 + rng.below(window.min(3) as u64) as f64),
            ("look", rng.below(2) as f64),
        ];
        let policy = if rng.below(2) == 0 { "pgis" } else { "patterns" };
        let mut whole = batch(&starts);
        let mut dispatch = dispatcher(policy, &values);
        dispatch.label(&mut whole);
        let mut counted = DispatchCounters::default();
        dispatch.count(&whole, (0, starts.len()), &mut counted);
        let mut dispatch = dispatcher(policy, &values);
        let (mut labels, mut counters) = (Vec::new(), DispatchCounters::default());
        for part in starts.chunks(dispatch.batch_len(1 + rng.below(90) as usize)) {
            let mut part = batch(part);
            dispatch.label(&mut part);
            dispatch.count(&part, (0, part.len()), &mut counters);
            labels.extend_from_slice(&part.label);
        }
        assert_eq!(labels, whole.label, "seed {seed} {policy}");
        assert_eq!(counters, counted, "seed {seed} {policy}");
        assert_eq!(counted.windows, starts.len().div_ceil(window) as u64);
        let reads = labels.iter().zip(&starts).filter(|(label, start)| **start < 0 && label.is_apart());
        assert_eq!(reads.count(), 0, "seed {seed} {policy}");
    }
}

/// Compares a dispatcher with one that searches the mined sets for each write, without items or sums.
#[test]
fn a_label_names_a_set_that_has_the_address() {
    for seed in 0..50 {
        let mut rng = Rng::new(seed, "dispatch sets");
        let starts: Vec<i64> = (0..64).map(|_| rng.below(9).cast_signed()).collect();
        let values = [("window", 64.0), ("mined", 40.0), ("transaction", 5.0), ("support", 3.0)];
        let mut labelled = batch(&starts);
        dispatcher("patterns", &values).label(&mut labelled);
        let transactions: Vec<Vec<i64>> = starts[..40].chunks(5).map(<[i64]>::to_vec).collect();
        let settings = floatgate_patterns::Settings {
            support: 3,
            items_min: 3,
            kind: floatgate_patterns::Kind::Maximal,
        };
        let sets = floatgate_patterns::mine(&transactions, &settings).unwrap();
        for (start, label) in starts.iter().zip(&labelled.label) {
            match label.group() {
                Some(group) => assert!(sets[group as usize].items.contains(start), "seed {seed}"),
                None => assert!(sets.iter().all(|set| !set.items.contains(start)), "seed {seed}"),
            }
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |policy: &str, values: &[(&str, f64)]| {
        let misfit = Dispatch::of(&SLOT.with(policy, values)).unwrap_err();
        format!("{}; {}", misfit.what, misfit.expected)
    };
    let expected = "expected no more than ftl.dispatch.window";
    let mined = refused("patterns", &[("window", 100.0)]);
    assert_eq!(mined, format!("mined is 256, but a window has 100 requests; {expected}"));
    let support = refused("pgis", &[("window", 300.0), ("support", 301.0)]);
    assert_eq!(support, format!("support is 301, but a window has 300 requests; {expected}"));
    assert_eq!(Dispatch::of(&SLOT.with("fcfs", &[])), Ok(Dispatch::Fcfs));
    assert!(Dispatcher::of(Dispatch::Fcfs).is_none() && !Dispatch::Fcfs.labels());
}
