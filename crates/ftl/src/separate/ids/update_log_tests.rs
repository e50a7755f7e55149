use super::*;
use floatgate_base::Rng;

fn log_of(window: u32, entries: &[u32]) -> UpdateLog {
    let mut log = UpdateLog::new(window);
    entries.iter().for_each(|&context| log.push(context));
    log
}

fn ul(localities: &Localities, one: u32, other: u32) -> f64 {
    let place = |context| localities.contexts().iter().position(|&c| c == context).unwrap();
    localities.ul(place(one), place(other))
}

/// Computes equations 6.1 to 6.3 literally.
fn printed(entries: &[u32], one: u32, other: u32) -> f64 {
    let (mut sum, mut count) = (0, 0);
    for (of, to) in [(one, other), (other, one)] {
        for i in (0..entries.len()).filter(|&i| entries[i] == of) {
            let all = (0..entries.len()).filter(|&j| entries[j] == to);
            sum += all.map(|j| i.abs_diff(j)).min().unwrap();
            count += 1;
        }
    }
    sum as f64 / f64::from(count)
}

/// Figure 33: its log has six entries, though it says W = 7; 1.75 is printed as 1.8.
#[test]
fn figure_33() {
    let log = log_of(7, &[1, 1, 2, 3, 1, 2]);
    let mut localities = Localities::default();
    localities.compute(&log, 10);
    assert_eq!(ul(&localities, 1, 2), 1.2);
    assert_eq!(ul(&localities, 1, 3), 1.75);
    assert_eq!(ul(&localities, 2, 3), 4.0 / 3.0);
}

#[test]
fn localities_are_those_of_the_equations() {
    let mut localities = Localities::default();
    for seed in 0..150 {
        let mut rng = Rng::new(seed, "localities");
        let (window, contexts) = (2 + rng.below(120) as u32, 1 + rng.below(30));
        let pushed: Vec<u32> =
            (0..rng.below(400)).map(|_| rng.below(contexts).min(rng.below(contexts)) as u32).collect();
        localities.compute(&log_of(window, &pushed), 30);
        let entries = &pushed[pushed.len().saturating_sub(window as usize)..];
        let mut newest_first: Vec<u32> = Vec::new();
        for &context in entries.iter().rev() {
            if !newest_first.contains(&context) {
                newest_first.push(context);
            }
        }
        assert_eq!(localities.contexts(), newest_first, "seed {seed}");
        for (i, &one) in newest_first.iter().enumerate() {
            for &other in &newest_first[..i] {
                let (ours, theirs) = (ul(&localities, one, other), printed(entries, one, other));
                assert_eq!(ours, theirs, "seed {seed}: {one}, {other}");
                assert_eq!(ours, ul(&localities, other, one), "seed {seed}: {one}, {other}");
            }
        }
    }
}

/// Distances at both ends of the longest window fit.
#[test]
fn the_longest_window_counts_right() {
    let mut entries = vec![1; WINDOW_MAX as usize];
    (entries[0], entries[WINDOW_MAX as usize - 1]) = (2, 3);
    let mut localities = Localities::default();
    localities.compute(&log_of(WINDOW_MAX, &entries), 4);
    assert_eq!(ul(&localities, 2, 3), f64::from(WINDOW_MAX - 1));
    assert_eq!(ul(&localities, 1, 2), printed(&entries, 1, 2));
    assert_eq!(ul(&localities, 1, 3), printed(&entries, 1, 3));
}

/// Beyond the compared contexts, those seen last count; others keep their entries in the log.
#[test]
fn of_many_contexts_the_last_are_compared() {
    let entries: Vec<u32> = (1..=2000).collect();
    let mut localities = Localities::default();
    localities.compute(&log_of(4096, &entries), 2001);
    assert_eq!(localities.contexts().len(), COMPARED_MAX);
    assert!(localities.contexts().iter().all(|&context| context > 2000 - COMPARED_MAX as u32));
    assert_eq!(ul(&localities, 2000, 1900), 100.0);
    assert_eq!(localities.sums.len(), COMPARED_MAX * COMPARED_MAX);
}
