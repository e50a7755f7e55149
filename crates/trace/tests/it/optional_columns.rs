//! Streams and content in text formats.

use crate::common::{open_bytes, options};
use floatgate_base::testing::Bound;
use floatgate_base::{Op, OptionalColumns, RequestBatch};
use std::collections::BTreeSet;
use std::path::PathBuf;

fn all(content: &[u8], format: &str) -> (RequestBatch, OptionalColumns) {
    let mut source = open_bytes(content, "t", &options(Some(format))).unwrap();
    let mut batch = RequestBatch::default();
    let mut bound = Bound::new(100_000_000);
    loop {
        bound.step();
        let before = batch.len();
        source.fill(&mut batch, 3).unwrap();
        if batch.len() == before {
            break;
        }
    }
    (batch, source.columns())
}

const MD5: &str = "d6c75ba46e82326fefa545b57a12e221";
const OTHER: &str = "00000000000000000000000000000001";

#[test]
fn a_page_has_the_first_bytes_of_its_md5() {
    let text = format!("1 4 p 8 8 W 6 0 {MD5}\n2 4 p 16 8 R 6 0 {OTHER}\n3 4 p 8 16 W 6 0 {OTHER} {MD5}\n");
    let (batch, columns) = all(text.as_bytes(), "fiu");
    assert!(columns.content && !columns.context && !columns.stream);
    assert_eq!(batch.content.end, [1, 2, 4]);
    // A value of 0 would stand for none.
    assert_eq!(batch.content.fingerprint, [0xd6c7_5ba4_6e82_326f, 1, 1, 0xd6c7_5ba4_6e82_326f]);
    assert_eq!(batch.content.compressed_bytes, [0; 4]);
}

#[test]
fn md5s_of_sectors_are_mixed_and_one_for_all_is_spread() {
    let sectors = |last: &str| format!("1 4 p 8 8 W 6 0 {}{last}\n", format!("{MD5} ").repeat(7));
    let text = [sectors(MD5), sectors(OTHER), sectors(MD5), format!("1 4 p 8 24 W 6 0 {MD5}\n")].concat();
    let (batch, _) = all(text.as_bytes(), "fiu");
    assert_eq!(batch.content.end, [1, 2, 3, 6]);
    let values = &batch.content.fingerprint;
    assert_eq!(values[0], values[2]);
    assert_eq!(values.iter().collect::<BTreeSet<_>>().len(), 5);
    // Neither one per page nor one per sector: unknown.
    let text = format!("1 4 p 8 24 W 6 0 {MD5} {MD5}\n1 4 p 8 8 W 6 0 {MD5}\n");
    assert_eq!(all(text.as_bytes(), "fiu").0.content.end, [0, 1]);
}

#[test]
fn streams_come_through() {
    let (batch, columns) = all(b"0 1 5 4096 3\n1 0 5 4096 0\n1 2 5 4096 9\n2 3 5 4096 70000\n", "sepbit");
    assert!(columns.stream && !columns.content);
    assert_eq!(batch.stream, [3, 0, 70_000], "a record that is not a request has none");
    let error = open_bytes(b"0 1 5 4096 4294967296\n", "t", &options(Some("sepbit")))
        .and_then(|mut s| s.fill(&mut RequestBatch::default(), 1))
        .unwrap_err();
    assert!(error.to_string().starts_with("t:1:12: '4294967296' is not a stream; "), "{error}");
}

/// INDEX.md: 798 distinct hashes among the writes.
#[test]
fn cheetah() {
    let name = "fiu/cheetah-110108-113008.2.first9998.blkparse.zst";
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces").join(name);
    if !path.exists() {
        return eprintln!("skipped: ../shared/traces/{name} is absent");
    }
    let mut source = floatgate_trace::open(&path.to_string_lossy(), &options(None)).unwrap();
    let mut batch = RequestBatch::default();
    source.fill(&mut batch, 100_000).unwrap();
    assert_eq!(batch.content.end.len(), 9998);
    let writes = (0..batch.len()).filter(|&i| batch.op[i] == Op::Write);
    let distinct: BTreeSet<u64> =
        writes.flat_map(|i| batch.content.fingerprint[batch.content.range(i)].to_vec()).collect();
    assert_eq!(distinct.len(), 798);
}

#[test]
fn flushes_and_fua_of_blkparse() {
    // Letters, sector and length, and the flags of the request: a flush without one waits for the next.
    let lines = [
        ("W 8 + 8", Some(0)),
        ("WFS 8 + 8", Some(1)),
        ("FWS 8 + 8", Some(2)),
        ("FWFSM 8 + 8", Some(3)),
        ("RF 8 + 8", Some(1)),
        ("R 8 + 8", Some(0)),
        ("FN 0 + 0", None),
        ("RA 8 + 8", Some(2)),
        ("FF", None),
        ("FWS 0 + 0", None),
        ("WS 8 + 8", Some(2)),
        ("DS 8 + 8", Some(0)),
        ("WF", None),
        ("W 8 + 8", Some(0)),
    ];
    let event = |action: &str, rwbs: &str| format!("8,0 1 1 0.5 99 {action} {rwbs} [x]\n");
    let text: String = lines.iter().map(|(rwbs, _)| event("C", "FWFS 8 + 8") + &event("Q", rwbs)).collect();
    let (batch, columns) = all(text.as_bytes(), "blkparse");
    assert!(columns.flags && columns.stream);
    assert_eq!(batch.stream, vec![0; batch.flags.len()]);
    assert_eq!(batch.flags, lines.iter().filter_map(|line| line.1).collect::<Vec<u8>>());
}

#[test]
fn processes_of_blkparse_are_streams() {
    // Numbered in the order of appearance among the events that count; the kernel itself is a process, too.
    let lines =
        [(700, "Q", Some(0)), (31, "C", None), (700, "Q", Some(0)), (0, "Q", Some(1)), (31, "Q", Some(2))];
    let lines = [&lines[..], &[(700, "Q", Some(0)), (31, "Q", Some(2))]].concat();
    let event =
        |&(process, action, _): &(u32, &str, _)| format!("8,0 1 1 0.5 {process} {action} W 8 + 8 [x]\n");
    let text: String = lines.iter().map(event).collect();
    for format in ["blkparse", "ssdtrace"] {
        // One prefers Q, the other D; since D is missing, both take Q.
        let (batch, columns) = all(text.as_bytes(), format);
        assert!(columns.stream, "{format}");
        assert_eq!(batch.stream, lines.iter().filter_map(|line| line.2).collect::<Vec<u32>>(), "{format}");
    }
}

#[test]
fn flushes_and_fua_of_nbdkit() {
    let calls = [
        ("Write id=1 offset=0x0 count=0x200 fua=0 ...", Some(0)),
        ("Write id=1 offset=0x0 count=0x200 fua=1 ...", Some(1)),
        ("Flush id=2 ...", None),
        ("...Flush id=2 return=0", None),
        ("Read id=3 offset=0x0 count=0x200 ...", Some(2)),
        ("Zero id=4 offset=0x0 count=0x200 trim=1 fua=1 fast=0 ...", Some(1)),
        ("Zero id=4 offset=0x0 count=0x200 trim=0 fua=1 fast=0 ...", Some(1)),
        ("Flush id=2 ...", None),
        ("Trim id=4 offset=0x0 count=0x200 fua=0 ...", Some(2)),
        ("Zero id=4 offset=0x0 count=0x200 trim=0 fua=0 fast=0 ...", Some(0)),
    ];
    let line = |call: &str| format!("2026-11-21 02:56:10.500000 connection=1 {call}\n");
    let text: String = calls.iter().map(|(call, _)| line(call)).collect();
    let (batch, columns) = all(text.as_bytes(), "nbdkit-log");
    assert!(columns.flags);
    assert_eq!(batch.flags, calls.iter().filter_map(|call| call.1).collect::<Vec<u8>>());
}
