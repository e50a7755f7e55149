use super::*;
use crate::formats::FORMATS;
use crate::options::OpenOptions;
use floatgate_base::Op;
use floatgate_base::testing::Bound;

/// Rows in memory, returned a few at a time.
struct Fake {
    all: ColumnChunk,
    step: usize,
    at: usize,
}

impl ColumnReader for Fake {
    fn next(&mut self, chunk: &mut ColumnChunk) -> Result<bool> {
        let n = self.all.rows.len();
        let to = n.min(self.at + self.step);
        let from = std::mem::replace(&mut self.at, to);
        for i in from..to {
            let rows = &self.all.rows;
            chunk.rows.push(rows.time_ns[i], rows.device[i], rows.op[i], rows.offset[i], rows.bytes[i]);
            chunk.rows.stream.push(rows.stream[i]);
            chunk.rows.predicted_life.push(rows.predicted_life[i]);
            for k in rows.content.range(i) {
                chunk.rows.content.push(rows.content.fingerprint[k], rows.content.compressed_bytes[k]);
            }
            chunk.rows.content.close();
            chunk.context_ids.push(self.all.context_ids[i]);
        }
        chunk.devices.clone_from(&self.all.devices);
        if from == 0 {
            chunk.contexts.clone_from(&self.all.contexts);
        }
        Ok(from < n)
    }

    fn restart(&mut self) -> Result<()> {
        self.at = 0;
        Ok(())
    }

    fn columns(&self) -> OptionalColumns {
        OptionalColumns {
            context: true,
            stream: true,
            stream_is_process: false,
            predicted_life: true,
            content: true,
            flags: false,
        }
    }

    fn has_times(&self) -> bool {
        true
    }

    fn assumed(&self) -> Vec<String> {
        vec!["said by the reader".into()]
    }
}

fn rows() -> ColumnChunk {
    let mut all = ColumnChunk { devices: vec!["b".into(), "a".into()], ..ColumnChunk::default() };
    for i in 0..10u64 {
        let op = if i % 5 == 4 { Op::Trim } else { Op::Write };
        all.rows.push(i as i64 * 1000 + 50, (i % 2) as u16, op, i * 4096, 4096 * (1 + i % 2));
        all.rows.stream.push(i as u32 % 3);
        all.rows.predicted_life.push(i as u32 * 10);
        if op == Op::Write {
            (0..1 + i % 2).for_each(|k| all.rows.content.push(100 + i + k, 2000));
        }
        all.rows.content.close();
        all.context_ids.push([0, 7, 9][i as usize % 3]);
    }
    all.contexts.push(Context { id: 9, name: "nine".into() });
    all
}

fn source(all: ColumnChunk, step: usize, on_bad_line: OnBadLine) -> ColumnSource {
    let info = FORMATS.iter().find(|f| f.name == "parquet").unwrap();
    let setup = Setup::new("t", info, OpenOptions { on_bad_line, ..OpenOptions::default() }).unwrap();
    ColumnSource::new(Box::new(Fake { all, step, at: 0 }), setup, None)
}

fn read(source: &mut ColumnSource, batch: usize) -> Result<RequestBatch> {
    let mut all = RequestBatch::default();
    let mut bound = Bound::new(100_000_000);
    loop {
        bound.step();
        let before = all.len();
        source.fill(&mut all, batch)?;
        if all.len() == before {
            return Ok(all);
        }
    }
}

#[test]
fn chunks_and_batches_make_no_difference() {
    let mut whole = source(rows(), 100, OnBadLine::Stop);
    let expected = read(&mut whole, 100).unwrap();
    assert_eq!(expected.time_ns[..3], [0, 1000, 2000]);
    assert_eq!(expected.context[..6], [0, 2, 1, 0, 2, 1], "the named one is known first");
    let contexts =
        [Context::default(), Context { id: 9, name: "nine".into() }, Context { id: 7, name: String::new() }];
    assert_eq!(whole.contexts(), contexts);
    assert_eq!(whole.devices(), ["b", "a"]);
    assert!(whole.assumed().contains(&"said by the reader".to_owned()));
    for (step, batch) in [(1, 3), (3, 1), (4, 4), (7, 2)] {
        let mut source = source(rows(), step, OnBadLine::Stop);
        for _pass in 0..2 {
            let rows = read(&mut source, batch).unwrap();
            assert_eq!(format!("{rows:?}"), format!("{expected:?}"), "{step} {batch}");
            assert_eq!(source.summary().content_hash, whole.summary().content_hash);
            assert_eq!(source.contexts(), whole.contexts());
            source.rewind().unwrap();
        }
    }
}

#[test]
fn the_hash_is_of_what_the_rows_say() {
    let hash = |all: ColumnChunk| {
        let mut source = source(all, 3, OnBadLine::Stop);
        read(&mut source, 4).unwrap();
        source.summary().content_hash.unwrap()
    };
    let plain = hash(rows());
    let mut renumbered = rows();
    renumbered.devices.swap(0, 1);
    renumbered.rows.device.iter_mut().for_each(|d| *d = 1 - *d);
    assert_eq!(hash(renumbered), plain);
    let changes: [fn(&mut ColumnChunk); 6] = [
        |c| c.rows.offset[3] += 1,
        |c| c.rows.stream[3] += 1,
        |c| c.rows.predicted_life[3] += 1,
        |c| c.context_ids[3] += 1,
        |c| c.rows.content.fingerprint[3] += 1,
        |c| c.devices[0].push('x'),
    ];
    for change in changes {
        let mut all = rows();
        change(&mut all);
        assert_ne!(hash(all), plain);
    }
}

#[test]
fn bad_rows_stop_or_are_counted() {
    let bad = || {
        let mut all = rows();
        all.rows.bytes[2] = 0;
        all.rows.offset[3] = u64::MAX;
        all
    };
    let error = read(&mut source(bad(), 3, OnBadLine::Stop), 10).unwrap_err().to_string();
    assert!(error.starts_with("t:4: the request ends beyond 2^64 bytes in this row; "), "{error}");
    let mut skipping = source(bad(), 3, OnBadLine::Skip);
    let rest = read(&mut skipping, 10).unwrap();
    assert_eq!((rest.len(), rest.context.len(), rest.content.end.len()), (8, 8, 8));
    let summary = skipping.summary();
    assert_eq!((summary.bad_lines_skipped, summary.other_records), (1, 1));
    assert_eq!(skipping.place_of(0), "t (request 0)");
}

#[test]
fn columns_that_do_not_fit_together_are_refused() {
    let mut all = rows();
    all.rows.device[4] = 2;
    let error = read(&mut source(all, 10, OnBadLine::Skip), 10).unwrap_err().to_string();
    assert!(error.starts_with("t: columns of different lengths; expected columns time_ns"), "{error}");
}
