//! Laws of the disturb-aware order.

use super::tests::{Op, ask_where, config};
use super::*;
use floatgate_base::Rng;

const PAGE: u64 = 4096;

fn aware(pages: u32, kept_pages: u32) -> Buffer {
    Buffer::new(BufferConfig {
        aware: Some(AwareConfig { kept_pages, preload: true }),
        ..config(pages, true)
    })
}

fn read(buffer: &mut Buffer, lpn: u64, disturbed: impl Fn(Lpn) -> bool) -> Vec<Step> {
    ask_where(buffer, (Op::Read, lpn * PAGE, PAGE), 0, disturbed)
}

fn is_held(buffer: &Buffer, lpn: u32) -> bool {
    buffer.holds(Lpn(lpn), 0, PAGE as u32)
}

/// Passes over more pages than fit: LRU never hits; the kept pages stay, and each pass hits them all.
#[test]
fn a_sweep_finds_the_pages_that_are_kept() {
    for (kept, expected_hits) in [(40, 40), (0, 0)] {
        let mut b = aware(50, kept);
        for pass in 0..30 {
            b.reset_counts();
            (0..100).for_each(|lpn| drop(read(&mut b, lpn, |_| true)));
            let hits = b.counters().read_hits;
            assert!(pass < 2 || hits == expected_hits, "pass {pass}: {hits}");
        }
        assert_eq!(b.kept_pages(), kept);
    }
}

/// Few hot pages among sweeps over many pages: after a while the hot ones are kept.
#[test]
fn hot_pages_win_their_place() {
    let mut b = aware(20, 10);
    let mut rng = Rng::new(1, "hot pages");
    for lpn in 0..1000 {
        read(&mut b, lpn, |_| true);
    }
    for _ in 0..20_000 {
        let hot = rng.below(2) == 0;
        read(&mut b, if hot { 500 + rng.below(10) } else { rng.below(1000) }, |_| true);
    }
    assert!((500..510).all(|lpn| is_held(&b, lpn)));
}

#[test]
fn pages_of_other_blocks_are_not_kept() {
    let mut b = aware(4, 2);
    (0..100).for_each(|n| drop(read(&mut b, n % 10, |lpn| lpn.0 == 7)));
    assert_eq!(b.kept_pages(), 1);
    assert!(is_held(&b, 7));
    // Its block is erased, and it gives way to a page with fewer reads.
    for lpn in [20, 20, 21, 21] {
        read(&mut b, lpn, |lpn| lpn.0 >= 20);
    }
    assert_eq!(b.kept_pages(), 2);
    (30..33).for_each(|lpn| drop(read(&mut b, lpn, |_| false)));
    assert!(!is_held(&b, 7) && is_held(&b, 20) && is_held(&b, 21));
}

/// When a block becomes disturbed, its pages with at least two reads that are not in the buffer are read ahead, as long
/// as they fit.
#[test]
fn hot_pages_are_read_ahead() {
    let mut b = aware(6, 3);
    for lpn in [0, 0, 1, 2, 2, 3, 3, 4, 4, 100, 101, 102, 103, 104, 105] {
        read(&mut b, lpn, |_| false);
    }
    let mut steps = Vec::new();
    let block: Vec<Lpn> = (0..8).map(Lpn).collect();
    b.preload(&block, |lpn| lpn.0 < 8, &mut steps);
    let ahead: Vec<u32> = steps
        .iter()
        .filter_map(|s| if let Step::Preload { lpn, .. } = s { Some(lpn.0) } else { None })
        .collect();
    assert_eq!(ahead, [0, 2, 3]);
    assert_eq!((b.counters().preloaded_pages, b.kept_pages()), (3, 3));
    assert!([0, 2, 3].into_iter().all(|lpn| is_held(&b, lpn)));
    // Trimmed pages leave without a write, and the state stays valid.
    ask_where(&mut b, (Op::Trim, 0, 200 * PAGE), 0, |_| false);
    assert_eq!((b.kept_pages(), b.counters().flushed_pages()), (0, 0));
}

/// The kept pages do not change what flash receives: the same pages and writes as without them, in any order.
#[test]
fn no_write_is_lost() {
    for seed in 0..100 {
        let mut rng = Rng::new(seed, "aware");
        let pages = 2 + rng.below(10) as u32;
        let mut b = aware(pages, rng.below(u64::from(pages)) as u32);
        let mut unsaved = std::collections::BTreeSet::new();
        for _ in 0..500 {
            let lpn = rng.below(30);
            let op = [Op::Read, Op::Read, Op::Write, Op::Trim][rng.below(4) as usize];
            let parity = rng.below(2) as u32;
            if op == Op::Write {
                unsaved.insert(lpn as u32);
            }
            let mut steps = ask_where(&mut b, (op, lpn * PAGE, PAGE), 0, |lpn| lpn.0 % 2 == parity);
            if rng.below(10) == 0 {
                b.preload(&[Lpn(1), Lpn(2), Lpn(3)], |_| true, &mut steps);
            }
            for step in steps {
                match step {
                    Step::Flush { lpn, .. } => assert!(unsaved.remove(&lpn.0), "seed {seed}: {lpn:?} twice"),
                    Step::Trim { lpn, .. } => drop(unsaved.remove(&lpn.0)),
                    _ => {}
                }
            }
            assert_eq!(b.dirty_pages() as usize, unsaved.len());
            assert!(
                unsaved.iter().all(|&lpn| is_held(&b, lpn)),
                "seed {seed}: a page that was written has gone"
            );
        }
    }
}
