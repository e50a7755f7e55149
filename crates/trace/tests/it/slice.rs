//! Slices agree with a plain second implementation of the settings, in batches of any size, and count the rest.

use crate::common::memory::{Memory, NAMES, any_source};
use crate::common::{Folder, Row, open_bytes, options, rows_of};
use floatgate_base::testing::Bound;
use floatgate_base::{Op, RequestBatch, Result};
use floatgate_trace::slice::Scale;
use floatgate_trace::{Slice, SliceReport, Sliced, Source};
use proptest::prelude::*;

/// Collects the output of a slice, in batches of `batch` requests.
fn all_of(source: &mut dyn Source, batch: usize) -> Result<RequestBatch> {
    let mut all = RequestBatch::default();
    let mut bound = Bound::new(100_000_000);
    loop {
        bound.step();
        let before = all.len();
        source.fill(&mut all, batch)?;
        assert!(all.len() - before <= batch);
        if all.len() == before {
            return Ok(all);
        }
    }
}

fn any_slice() -> impl Strategy<Value = Slice> {
    let bound = || prop::option::weighted(0.3, -(1i64 << 58)..1 << 60);
    let devices = prop_oneof![3 => Just(vec![]), 1 => prop::sample::subsequence(NAMES.to_vec(), 1..4)];
    let ops = prop::option::weighted(0.3, any::<[bool; 3]>());
    let fold = prop::option::of((1u64..40, 12u32..40).prop_map(|(n, bits)| n << bits));
    let scale = prop::option::weighted(0.3, prop::sample::select(vec!["0.5", "2", "0.001", "1.5"]));
    (bound(), bound(), devices, ops, prop::option::weighted(0.3, 1u64..20), fold, scale).prop_map(
        |(from_ns, until_ns, devices, ops, requests, fold_bytes, scale)| Slice {
            from_ns,
            until_ns,
            devices: devices.iter().map(|&d| d.to_owned()).collect(),
            ops,
            requests,
            fold_bytes,
            time_scale: scale.and_then(Scale::parse),
        },
    )
}

/// Returns the requests that a slice keeps, by their numbers, and whether the trace has all selected devices.
fn kept(source: &Memory, slice: &Slice) -> Vec<usize> {
    let rows = &source.rows;
    let keeps = |&i: &usize| {
        let name = &source.devices[usize::from(rows.device[i])];
        (slice.devices.is_empty() || slice.devices.contains(name))
            && slice.ops.is_none_or(|ops| ops[rows.op[i] as usize])
            && rows.time_ns[i] >= slice.from_ns.unwrap_or(i64::MIN)
            && slice.until_ns.is_none_or(|until| rows.time_ns[i] < until)
    };
    (0..rows.len()).filter(keeps).take(slice.requests.unwrap_or(u64::MAX) as usize).collect()
}

/// Returns, for each part of a request, its first byte in the request, its address and its length.
fn parts(offset: u64, bytes: u64, fold: Option<u64>) -> Vec<(u64, u64, u64)> {
    let Some(fold) = fold else { return vec![(0, offset, bytes)] };
    let (at, bytes) = (offset % fold, bytes.min(fold));
    let first = bytes.min(fold - at);
    if first == bytes { vec![(0, at, bytes)] } else { vec![(0, at, first), (first, 0, bytes - first)] }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_slice_holds_what_was_asked_for(mut source in any_source(1..50), slice in any_slice(), batch in 1usize..9) {
        source.times = true;
        source.columns.content = true;
        source.columns.stream = true;
        source.columns.context = true;
        let slice = Slice { devices: slice.devices.iter().filter(|d| source.devices.contains(d)).cloned().collect(), ..slice };
        let wanted = kept(&source, &slice);
        let mut sliced = Sliced::new(Box::new(source.clone()), slice.clone(), "t").unwrap();
        let kept = match all_of(&mut sliced, batch) {
            Ok(kept) => kept,
            Err(error) => {
                // Nothing left, or a stamp beyond 64 bits when scaled.
                prop_assert!(wanted.is_empty() || error.to_string().contains("292 years"), "{}", error);
                return Ok(());
            }
        };
        prop_assert!(!wanted.is_empty());
        let (rows, report) = (&source.rows, sliced.slice_report().unwrap());
        let (mut j, mut lost, mut split, mut cut) = (0, 0, 0, 0);
        for &i in &wanted {
            let known = |b: &RequestBatch, k: usize| b.content.fingerprint[k] != 0 || b.content.compressed_bytes[k] != 0;
            let entries = rows.content.range(i);
            let mut before = entries.clone().filter(|&k| known(rows, k)).count();
            let parts = parts(rows.offset[i], rows.bytes[i], slice.fold_bytes);
            if rows.bytes[i] > slice.fold_bytes.unwrap_or(u64::MAX) {
                cut += 1;
                let whole = (slice.fold_bytes.unwrap() / 4096) as usize;
                before -= entries.clone().skip(whole).filter(|&k| known(rows, k)).count();
            }
            split += u64::from(parts.len() == 2);
            for (start, offset, bytes) in parts {
                let since = rows.time_ns[i] - rows.time_ns[wanted[0]];
                let time = slice.time_scale.map_or(i128::from(since), |s| s.of(since.into()));
                prop_assert_eq!(i128::from(kept.time_ns[j]), time);
                prop_assert_eq!((kept.offset[j], kept.bytes[j], kept.op[j]), (offset, bytes, rows.op[i]));
                let device = &sliced.devices()[usize::from(kept.device[j])];
                prop_assert_eq!(device, &source.devices[usize::from(rows.device[i])]);
                prop_assert_eq!((kept.context[j], kept.stream[j]), (rows.context[i], rows.stream[i]));
                let mine = kept.content.range(j);
                prop_assert!(mine.is_empty() || mine.len() as u64 == bytes.div_ceil(4096));
                for (n, k) in mine.enumerate().filter(|&(_, k)| known(&kept, k)) {
                    // It must be the entry of exactly these bytes: the same beginning and the same length.
                    let at = start + 4096 * n as u64;
                    prop_assert_eq!(at % 4096, 0);
                    let origin = entries.start + (at / 4096) as usize;
                    let length = |of: u64, from: u64| (of - from).min(4096);
                    prop_assert!(length(bytes, 4096 * n as u64) == length(rows.bytes[i], at));
                    prop_assert_eq!(kept.content.fingerprint[k], rows.content.fingerprint[origin]);
                    prop_assert_eq!(kept.content.compressed_bytes[k], rows.content.compressed_bytes[origin]);
                    before -= 1;
                }
                j += 1;
            }
            lost += before as u64;
        }
        prop_assert_eq!(j, kept.len());
        prop_assert_eq!(kept.content.end.len(), j);
        prop_assert_eq!(
            (report.requests_kept, report.split, report.cut, report.contents_lost),
            (wanted.len() as u64, split, cut, lost)
        );
        let left_out = report.left_out_by_device + report.left_out_by_operation + report.left_out_by_time;
        prop_assert_eq!(report.requests_read, report.requests_kept + left_out);
        // The same again, in other batches.
        sliced.rewind().unwrap();
        let again = all_of(&mut sliced, 1000).unwrap();
        prop_assert_eq!((&again.time_ns, &again.device, &again.content), (&kept.time_ns, &kept.device, &kept.content));
        prop_assert_eq!((again.offset, again.bytes, sliced.slice_report()), (kept.offset, kept.bytes, Some(report)));
    }
}

const LOG: &str = "fio version 3 iolog\n10 a write 0 4096\n20 b read 8192 8192\n30 a read 4096 4096\n\
                   25 b write 12288 8192\n1000000 c trim 0 65536\n";

fn slice(settings: &[(&str, &str)]) -> Result<Slice> {
    Slice::parse(|key| settings.iter().find(|(k, _)| *k == key).map(|(_, v)| *v))
}

fn sliced(settings: &[(&str, &str)]) -> (Result<Vec<Row>>, Sliced) {
    let inner = open_bytes(LOG.as_bytes(), "t", &options(None)).unwrap();
    let mut source = Sliced::new(inner, slice(settings).unwrap(), "t").unwrap();
    (rows_of(&mut source, 3), source)
}

fn refused(settings: &[(&str, &str)]) -> String {
    sliced(settings).0.unwrap_err().to_string()
}

#[test]
fn the_worked_example() {
    let row = |time: i64, device: &str, op, offset, bytes| (time, device.to_owned(), op, offset, bytes);
    let (rows, source) = sliced(&[("device", "b"), ("fold", "16 KiB"), ("time_scale", "0.5")]);
    assert_eq!(
        rows.unwrap(),
        [
            row(0, "b", Op::Read, 8192, 8192),
            row(2500, "b", Op::Write, 12288, 4096),
            row(2500, "b", Op::Write, 0, 4096),
        ]
    );
    let report = SliceReport {
        requests_read: 5,
        requests_kept: 2,
        left_out_by_device: 3,
        split: 1,
        ..SliceReport::default()
    };
    assert_eq!(source.slice_report(), Some(report));
    assert_eq!(source.devices(), ["b"]);
    assert_eq!(source.assumed().last().unwrap(), "a slice: kept 2 of 5 requests");
    assert_eq!(
        (source.place_of(0).as_str(), source.summary().content_hash),
        ("t (request 0 of the slice)", None)
    );

    let (rows, source) = sliced(&[("from", "0.00001"), ("until", "20us"), ("op", "read,trim")]);
    assert_eq!(rows.unwrap(), [row(0, "b", Op::Read, 8192, 8192)]);
    let report = source.slice_report().unwrap();
    assert_eq!((report.left_out_by_operation, report.left_out_by_time), (2, 2));

    let (rows, source) = sliced(&[("fold", "8 KiB"), ("op", "trim")]);
    assert_eq!(rows.unwrap(), [row(0, "c", Op::Trim, 0, 8192)]);
    assert_eq!(source.slice_report().unwrap().cut, 1);
}

#[test]
fn places_are_those_of_the_trace() {
    let folder = Folder::new("slice");
    let path = folder.file("t", LOG.as_bytes());
    let inner = floatgate_trace::open(&path, &options(None)).unwrap();
    let mut source = Sliced::new(inner, slice(&[("device", "b")]).unwrap(), &path).unwrap();
    source.fill(&mut RequestBatch::default(), 10).unwrap();
    assert_eq!([source.place_of(0), source.place_of(1)], [format!("{path}:3"), format!("{path}:5")]);
    assert_eq!(source.summary().stamps_backwards, 0, "b's own stamps run forwards");
}

#[test]
fn requests_are_the_first_ones_and_no_more_is_read() {
    let (rows, source) = sliced(&[("requests", "2")]);
    assert_eq!(rows.unwrap().len(), 2);
    let report = source.slice_report().unwrap();
    assert_eq!((report.requests_read, report.requests_kept), (2, 2));
    // Selected devices are searched for even then.
    assert_eq!(sliced(&[("requests", "1"), ("device", "a\nc")]).0.unwrap().len(), 1);
    assert_eq!(
        refused(&[("requests", "1"), ("device", "a\nd")]),
        "--device: 'd' is not a device of t; expected one of 'a', 'b', 'c'"
    );
}

#[test]
fn an_empty_slice_says_what_there_is() {
    assert_eq!(
        refused(&[("from", "1.5")]),
        "t: the slice keeps none of the 5 requests; the trace spans 0 to 0.99999 s, has operations read, write, trim and \
         devices 'a', 'b', 'c'"
    );
    assert!(
        refused(&[("op", "trim"), ("device", "a")])
            .starts_with("t: the slice keeps none of the 5 requests; ")
    );
}

#[test]
fn a_trace_without_times_is_not_sliced_by_time() {
    for (key, setting) in [("from", "--from"), ("until", "--until"), ("time_scale", "--time-scale")] {
        let inner = open_bytes(b"fio version 2 iolog\na write 0 1\n", "t", &options(None)).unwrap();
        let error = Sliced::new(inner, slice(&[(key, "1")]).unwrap(), "t").err().unwrap();
        let expected = format!("{setting}: t has no time stamps; leave it out, or use --requests");
        assert_eq!((error.to_string(), error.status()), (expected, 2));
    }
}

#[test]
fn scaled_stamps_stay_in_range() {
    assert_eq!(
        refused(&[("time_scale", "100000000000")]),
        "t:6: the time stamp would lie more than 292 years from the first; expected a smaller --time-scale, or a \
         slice without this request"
    );
}
