use super::*;
use floatgate_base::testing::Bound;
use floatgate_base::{Lpn, Op, Rng};

fn queues(priorities: &[u32]) -> Queues {
    Queues::new(QueueSetup { priorities: priorities.to_vec(), ..QueueSetup::default() })
}

fn join(queues: &mut Queues, number: u64, queue: u16, op: Op, extents: &[(u32, u32)]) {
    let kind = [Kind::Read, Kind::Write, Kind::Trim][op as usize];
    let mut all = Extents::default();
    extents.iter().for_each(|&(lpn, pages)| all.push(Lpn(lpn), pages, kind));
    let request = Request {
        number,
        index: number - 1,
        stamp_ns: 0,
        arrival_ns: 0,
        entry_ns: 0,
        op,
        flags: 0,
        device: 0,
        offset: 0,
        bytes: 1,
        queue,
    };
    queues.join(request, &all, 0..all.len());
}

fn drain(queues: &mut Queues) -> Vec<u64> {
    std::iter::from_fn(|| queues.fetch(&mut Extents::default())).map(|request| request.number).collect()
}

#[test]
fn the_best_priority_goes_first_and_equals_take_turns() {
    let mut q = queues(&[1, 0, 1]);
    for (number, queue) in [(1, 0), (2, 0), (3, 2), (4, 2), (5, 1), (6, 0)] {
        join(&mut q, number, queue, Op::Write, &[(10 * number as u32, 1)]);
    }
    assert_eq!(q.waiting_pages(), (0, 6));
    assert_eq!(drain(&mut q), [5, 1, 3, 2, 4, 6]);
    assert!(q.is_empty() && q.sharing.is_empty());
    assert_eq!(q.waiting_pages(), (0, 0));
    // Queue 0 was served last.
    join(&mut q, 7, 0, Op::Read, &[(1, 1)]);
    join(&mut q, 8, 2, Op::Read, &[(1, 1)]);
    assert_eq!(drain(&mut q), [8, 7]);
}

#[test]
fn nobody_passes_an_earlier_overlapping_change() {
    // The read of pages 5 and 6 waits for the write of page 6, and requests behind the read wait with it.
    let mut q = queues(&[0, 1]);
    join(&mut q, 1, 1, Op::Write, &[(0, 1)]);
    join(&mut q, 2, 1, Op::Write, &[(6, 3)]);
    join(&mut q, 3, 0, Op::Read, &[(5, 2)]);
    join(&mut q, 4, 0, Op::Read, &[(100, 1)]);
    assert_eq!(drain(&mut q), [1, 2, 3, 4]);
    // Reads overtake reads; a trim overtakes neither.
    join(&mut q, 5, 1, Op::Read, &[(5, 2)]);
    join(&mut q, 6, 0, Op::Read, &[(6, 1)]);
    join(&mut q, 7, 0, Op::Trim, &[(0, 1000)]);
    assert_eq!(drain(&mut q), [6, 5, 7]);
}

#[test]
fn a_closed_loop_joins_the_next_queue_with_room() {
    let mut q = queues(&[0, 0, 0]);
    assert_eq!(q.choose(0, |_| true), Some(0));
    assert_eq!(q.choose(0, |queue| queue == 0), Some(0));
    assert_eq!(q.choose(0, |queue| queue != 1), Some(2));
    assert_eq!(q.choose(0, |_| false), None);
    assert_eq!(q.choose(0, |_| true), Some(0));
    q.setup.queue_of = QueueOf::Device;
    assert_eq!(q.choose(5, |_| true), Some(2));
    assert_eq!(q.choose(5, |queue| queue != 2), None);
}

/// A request of the naive model: number, queue, whether it changes, extents.
type Naive = (u64, u16, bool, Vec<(u32, u32)>);

/// Searches all waiting requests at every call.
fn naive_fetch(waiting: &mut Vec<Naive>, priorities: &[u32], turns: &mut [u64]) -> Option<u64> {
    let overlap =
        |a: &Naive, b: &Naive| a.3.iter().any(|&(x, n)| b.3.iter().any(|&(y, m)| x < y + m && y < x + n));
    let heads = (0..priorities.len()).filter_map(|q| waiting.iter().find(|r| usize::from(r.1) == q));
    let free = heads.filter(|h| !waiting.iter().any(|e| e.0 < h.0 && (e.2 || h.2) && overlap(e, h)));
    // Equals take turns: the queue served longest ago is next, in the order of a ring.
    let best = free.min_by_key(|h| {
        let queue = usize::from(h.1);
        (priorities[queue], turns[queue])
    })?;
    let (number, queue) = (best.0, usize::from(best.1));
    // The ring continues after `queue`: all queues of its level get new distances.
    let level: Vec<usize> = (0..priorities.len()).filter(|&q| priorities[q] == priorities[queue]).collect();
    let at = level.iter().position(|&q| q == queue).unwrap();
    for k in 0..level.len() {
        turns[level[(at + 1 + k) % level.len()]] = k as u64;
    }
    waiting.retain(|r| r.0 != number);
    Some(number)
}

#[test]
fn the_index_and_a_search_through_all_agree() {
    for seed in 0..300 {
        let mut rng = Rng::new(seed, "queues");
        let n = 1 + rng.below(5) as usize;
        let priorities: Vec<u32> = (0..n).map(|_| rng.below(3) as u32).collect();
        let mut q = queues(&priorities);
        let mut waiting = Vec::new();
        let mut turns: Vec<u64> = Vec::new();
        for queue in 0..n {
            turns.push(priorities[..queue].iter().filter(|&&p| p == priorities[queue]).count() as u64);
        }
        // Few pages, or many more than cells; requests of up to 20 pages, or some that enter no cells.
        let pages = 1 + rng.below([60, 20_000][seed as usize % 2]);
        let most = 1 + rng.below([20, 80][seed as usize / 2 % 2]);
        let busy = 0.4 + 0.5 * rng.unit();
        for number in 1..400u64 {
            let queue = rng.below(n as u64) as u16;
            let op = [Op::Read, Op::Write, Op::Trim][rng.below(3) as usize];
            let extents: Vec<(u32, u32)> =
                (0..rng.below(3)).map(|_| (rng.below(pages) as u32, 1 + rng.below(most) as u32)).collect();
            // A request writes a page only once.
            let apart = extents.len() < 2 || {
                let ((a, m), (b, n)) = (extents[0], extents[1]);
                a + m <= b || b + n <= a
            };
            let extents = if apart { extents } else { extents[..1].to_vec() };
            join(&mut q, number, queue, op, &extents);
            if rng.below(50) == 0 {
                // A snapshot in between changes nothing.
                let saved = postcard::to_stdvec(&q).unwrap();
                q = postcard::from_bytes::<Queues>(&saved).unwrap().restored();
                assert_eq!(postcard::to_stdvec(&q).unwrap(), saved, "seed {seed}");
            }
            waiting.push((number, queue, op != Op::Read, extents));
            let mut bound = Bound::new(100_000_000);
            while rng.unit() < busy {
                bound.step();
                let fetched = q.fetch(&mut Extents::default()).map(|r| r.number);
                assert_eq!(fetched, naive_fetch(&mut waiting, &priorities, &mut turns), "seed {seed}");
            }
        }
        let mut bound = Bound::new(100_000_000);
        while !waiting.is_empty() {
            bound.step();
            let fetched = q.fetch(&mut Extents::default()).map(|r| r.number);
            assert!(fetched.is_some(), "seed {seed}: the earliest may always go");
            assert_eq!(fetched, naive_fetch(&mut waiting, &priorities, &mut turns), "seed {seed}");
        }
        assert!(q.is_empty() && q.sharing.is_empty(), "seed {seed}");
        assert_eq!(q.waiting_pages(), (0, 0));
    }
}
