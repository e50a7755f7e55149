//! Twins with sets of places that are written together: frequency, number, order, and errors.

use floatgate_base::testing::Bound;
use floatgate_base::{Op, RequestBatch};
use floatgate_trace::generate::Twin;
use floatgate_trace::generate::twin::{Content, Loops, Rate, Sets, Side, SizeLaw, Skew, Visits};
use floatgate_trace::{Generator, GeneratorConfig, Pattern, Source};
use std::collections::BTreeMap;
use std::sync::Arc;

fn sets(share: f64) -> Sets {
    Sets {
        share,
        addresses: vec![(6, 1.0)],
        count: 40,
        active: 1,
        visits: vec![(5, 1.0)],
        member_share: 1.0,
        moved_share: 0.0,
    }
}

fn twin(sets: Sets, recurring_share: f64) -> Twin {
    let sizes = SizeLaw::List { sizes: vec![(4096, 1.0), (12_288, 1.0)], mean_bytes: None };
    let side = Side { sizes, sequential_share: 0.2, aligned_share: 1.0, recurring_share };
    let visits = Visits { again_share: 0.9, growth: 0.7, skew: Skew::Zipf(0.5), cluster_bytes: 65_536 };
    Twin {
        name: "sets".into(),
        summary: "a test".into(),
        duration_s: 3600.0,
        requests: 40_000,
        read_share: 0.25,
        reads: side.clone(),
        writes: side,
        rewrites: visits.clone(),
        loops: Loops::default(),
        sets,
        reads_of_written_share: 0.5,
        rereads_of_written: visits.clone(),
        rereads: visits,
        rate: Rate {
            daily_swing: 0.0,
            peak_hour: 0.0,
            profile: vec![],
            noise: 0.0,
            noise_window_s: 600.0,
            burst_requests: 1.0,
        },
        footprint_bytes: 1 << 30,
        content: Content::default(),
    }
}

fn config(twin: &Twin) -> GeneratorConfig {
    GeneratorConfig {
        pattern: Pattern::Twin,
        logical_bytes: twin.footprint_bytes,
        requests: twin.requests,
        twin: Some(Arc::new(twin.clone())),
        ..GeneratorConfig::default()
    }
}

fn all(twin: &Twin) -> RequestBatch {
    let mut batch = RequestBatch::default();
    Generator::new(config(twin)).unwrap().fill(&mut batch, usize::MAX).unwrap();
    batch
}

/// Start and length of each write.
fn writes(batch: &RequestBatch) -> Vec<(u64, u64)> {
    let is_write = |i: &usize| batch.op[*i] == Op::Write;
    (0..batch.len()).filter(is_write).map(|i| (batch.offset[i], batch.bytes[i])).collect()
}

#[test]
fn a_set_is_visited_as_often_and_as_whole_as_said() {
    // With sets hardly any other writes occur: five visits of six writes are one run of 30.
    let batch = all(&twin(sets(0.99), 0.0));
    let late = &writes(&batch)[20_000..];
    let again = late.windows(7).filter(|w| w[0] == w[6]).count() as f64 / late.len() as f64;
    // Of 30 writes in a row the last 6 do not recur; each write of another kind breaks 7 windows of 100.
    assert!((0.70..0.82).contains(&again), "{again}");
    let reads = batch.op.iter().filter(|&&op| op == Op::Read).count() as f64 / batch.len() as f64;
    assert!((reads - 0.25).abs() < 0.02, "{reads}");
}

#[test]
fn shares_of_other_writes_stay() {
    for share in [0.0, 0.3, 0.8] {
        let batch = all(&twin(sets(share), 1.0));
        let reads = batch.op.iter().filter(|&&op| op == Op::Read).count() as f64 / batch.len() as f64;
        assert!((reads - 0.25).abs() < 0.02, "{share}: {reads}");
        let mut pages = BTreeMap::<u64, u32>::new();
        for (offset, bytes) in writes(&batch) {
            (offset / 4096..(offset + bytes).div_ceil(4096))
                .for_each(|page| *pages.entry(page).or_default() += 1);
        }
        let accesses: u32 = pages.values().sum();
        let again = 1.0 - pages.len() as f64 / f64::from(accesses);
        assert!((again - 0.9).abs() < 0.01, "{share}: {again}");
    }
}

#[test]
fn what_recurs_begins_again_with_the_same_size() {
    // Without runs: a request that continues may also begin where another one began.
    let mut twin = twin(Sets::default(), 1.0);
    twin.writes.sequential_share = 0.0;
    let batch = all(&twin);
    let mut sizes = BTreeMap::<u64, Vec<u64>>::new();
    writes(&batch).iter().for_each(|&(offset, bytes)| sizes.entry(offset).or_default().push(bytes));
    let (same, often) =
        sizes.values().filter(|sizes| sizes.len() > 3).fold((0, 0), |(same, often), sizes| {
            (same + usize::from(sizes.iter().all(|size| *size == sizes[0])), often + 1)
        });
    assert!(often > 300 && same as f64 > 0.95 * often as f64, "{same} of {often}");
}

#[test]
fn runs_repeat_and_a_pass_begins_the_sets_again() {
    let moved = Sets { member_share: 0.8, moved_share: 0.3, active: 3, ..sets(0.6) };
    let twin = Twin { requests: 7000, ..twin(moved, 0.7) };
    let once = all(&twin);
    let mut twice = RequestBatch::default();
    let mut source = Generator::new(GeneratorConfig { requests: 14_000, ..config(&twin) }).unwrap();
    let mut bound = Bound::new(100_000_000);
    while twice.len() < 14_000 {
        bound.step();
        source.fill(&mut twice, 331).unwrap();
    }
    assert_eq!(once.offset, twice.offset[..7000]);
    assert_eq!(once.offset, twice.offset[7000..]);
    source.rewind().unwrap();
    let mut again = RequestBatch::default();
    source.fill(&mut again, 7000).unwrap();
    assert_eq!((&once.offset, &once.bytes, &once.op), (&again.offset, &again.bytes, &again.op));
}

#[test]
fn sets_that_cannot_be_made_are_refused() {
    let refusal = |twin: Twin| Generator::new(config(&twin)).err().expect("should be refused").to_string();
    let pairs = "not a list of numbers with weights; expected pairs of a number from 1 to";
    for (sets, start) in [
        (sets(1.0), "sets.share: 1 is out of range; expected a number from 0 to 0.99".to_owned()),
        (Sets { addresses: vec![], ..sets(0.5) }, format!("sets.addresses: {pairs} 64 and its weight")),
        (
            Sets { visits: vec![(4, 0.0)], ..sets(0.5) },
            format!("sets.visits: {pairs} 1048576 and its weight"),
        ),
        (Sets { count: 0, ..sets(0.5) }, "sets.count: 0 sets; expected a whole number from 1 to".to_owned()),
        (
            Sets { active: 65, ..sets(0.5) },
            "sets.active: 65 sets; expected a whole number from 1 to 64".to_owned(),
        ),
        (Sets { member_share: 0.0, ..sets(0.5) }, "sets.member_share: 0 is out of range".to_owned()),
        (Sets { moved_share: 1.5, ..sets(0.5) }, "sets.moved_share: 1.5 is not a share".to_owned()),
    ] {
        let message = refusal(twin(sets, 0.0));
        assert!(message.starts_with(&start), "{message}");
    }
    let only_reads = Twin { read_share: 1.0, reads_of_written_share: 0.0, ..twin(sets(0.5), 0.0) };
    assert!(refusal(only_reads).starts_with("sets.share: sets without writes"));
}
