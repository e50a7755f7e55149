//! Optional columns, wanted or not, pass through splitter and queues unchanged.

use floatgate_base::batch::flags::{FLUSH, FUA};
use floatgate_base::testing::Bound;
use floatgate_base::{ExtentKind, Extents, Op, RequestBatch, Rng, Wanted};
use floatgate_host::{Beyond, Devices, Placement, QueueSetup, Queues, Request, Splitter};

const PAGES: u32 = 40;

/// Draws requests with all optional columns of a batch, or with none.
fn draw(rng: &mut Rng, requests: usize, is_filled: bool) -> RequestBatch {
    let mut batch = RequestBatch::default();
    for _ in 0..requests {
        let op = [Op::Read, Op::Write, Op::Write, Op::Trim][rng.below(4) as usize];
        let bytes = 512 * (1 + rng.below(40));
        batch.push(0, 0, op, 512 * rng.below(8 * u64::from(PAGES)), bytes);
        batch.flags.push([0, 0, FUA, FLUSH, FUA | FLUSH][rng.below(5) as usize]);
        if is_filled {
            batch.context.push(rng.below(100) as u32);
            batch.stream.push(rng.below(100) as u32);
            let entries = if rng.below(4) == 0 { 0 } else { bytes.div_ceil(4096) };
            (0..entries).for_each(|_| batch.content.push(rng.below(20), rng.below(4097) as u16));
            batch.content.close();
        }
    }
    batch
}

fn splitter(wanted: Wanted, flushes: bool) -> Splitter {
    let placement = Placement::new(4096, PAGES, Beyond::Wrap, Devices::Apart, &[]);
    Splitter::new(placement, 4096).with_columns(wanted).with_flushes(flushes)
}

#[test]
fn columns_pass_splitter_and_queues_as_they_are() {
    for (bits, is_filled) in (0..1 << Wanted::COLUMNS).flat_map(|bits| [(bits, false), (bits, true)]) {
        let wanted = Wanted::from_bits(bits);
        let mut rng = Rng::new(u64::from(bits), "optional columns");
        let batch = draw(&mut rng, 300, is_filled);
        let (mut all, mut ends) = (Extents::default(), Vec::new());
        let flushes = rng.below(2) == 0;
        splitter(wanted, flushes).split(&batch, 0..batch.len(), &mut all, &mut ends).unwrap();
        assert_eq!(all.kind.contains(&ExtentKind::Flush), flushes);
        assert_eq!(all.columns.is_empty(), !wanted.any());
        assert_eq!(all.columns.edges.is_empty(), !wanted.edges);
        assert_eq!(all.columns.hints.is_empty(), !wanted.hints);
        let has_content = (0..all.len()).any(|i| !all.columns.content.of(i).is_empty());
        assert_eq!(has_content, wanted.content && is_filled);

        let mut queues = Queues::new(QueueSetup { priorities: vec![1, 0, 1], ..QueueSetup::default() });
        let (mut joined, mut fetched, mut out) = (0, 0, Extents::default());
        let mut bound = Bound::new(100_000_000);
        while fetched < batch.len() {
            bound.step();
            if joined < batch.len() && rng.below(5) < 3 {
                let request = Request {
                    number: joined as u64 + 1,
                    index: joined as u64,
                    stamp_ns: 0,
                    arrival_ns: 0,
                    entry_ns: 0,
                    op: batch.op[joined],
                    flags: 0,
                    device: 0,
                    offset: batch.offset[joined],
                    bytes: batch.bytes[joined],
                    queue: rng.below(3) as u16,
                };
                let from = if joined == 0 { 0 } else { ends[joined - 1] };
                queues.join(request, &all, from..ends[joined]);
                joined += 1;
            }
            let Some(request) = queues.fetch(&mut out) else { continue };
            // The request alone, split again.
            let i = request.index as usize;
            let mut alone = Extents::default();
            splitter(wanted, flushes).split(&batch, i..i + 1, &mut alone, &mut Vec::new()).unwrap();
            let columns = (&out.lpn, &out.pages, &out.kind, &out.columns);
            assert_eq!(columns, (&alone.lpn, &alone.pages, &alone.kind, &alone.columns), "{wanted:?}");
            out.clear();
            fetched += 1;
        }
    }
}
