//! Every format by hand-written lines: the meaning of each field, requests and other records.

use crate::common::{Row, open_bytes, options, rows, rows_of};
use floatgate_base::Op::{self, Read, Trim, Write};
use floatgate_base::RequestBatch;
use floatgate_trace::{FORMATS, OpenOptions, info};

fn row(time_ns: i64, device: &str, op: Op, offset: u64, bytes: u64) -> Row {
    (time_ns, device.to_owned(), op, offset, bytes)
}

/// Reads requests, and the numbers of other records and of stamps that decrease.
fn read(format: &str, content: &str) -> (Vec<Row>, u64, u64) {
    read_with(&options(Some(format)), content)
}

fn read_with(options: &OpenOptions, content: &str) -> (Vec<Row>, u64, u64) {
    let mut source = open_bytes(content.as_bytes(), "t", options).unwrap();
    let rows = rows_of(&mut *source, 2).unwrap();
    let summary = source.summary();
    (rows, summary.other_records, summary.stamps_backwards)
}

#[test]
fn msr() {
    let rows = read(
        "msr",
        "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n\
         128166391024154329,prxy,0,Write,1105182720,1024,1514\n\
         128166391024154330,prxy,1,Read,512,4096,0\n\
         Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n\
         128166391024154319,hm,0,read,0,1\n\
         128166391024154340,hm,0,Write,8,0,7\n",
    );
    let expected = vec![
        row(0, "prxy_0", Write, 1_105_182_720, 1024),
        row(100, "prxy_1", Read, 512, 4096),
        row(-1000, "hm_0", Read, 0, 1),
    ];
    assert_eq!(rows, (expected, 3, 1));
}

#[test]
fn spc() {
    let rows = read(
        "spc",
        "0,20941264,8192,W,0.551706,Alpha/NT\n0,20939840,0,W,0.554041\n 2 , 8 ,512, r , 1.5 ,a,b\n",
    );
    let expected =
        vec![row(0, "asu0", Write, 20_941_264 * 512, 8192), row(948_294_000, "asu2", Read, 4096, 512)];
    assert_eq!(rows, (expected, 1, 0));
}

#[test]
fn ssdsim_and_mqsim() {
    for format in ["ssdsim", "mqsim"] {
        let rows = read(format, "5 0 303567 7 0\n5 1 55590 6 1\n26214000 0 8 1 0 \n7 0 8 0 0");
        let expected = vec![
            row(0, "0", Write, 303_567 * 512, 7 * 512),
            row(0, "1", Read, 55_590 * 512, 6 * 512),
            row(26_213_995, "0", Write, 4096, 512),
        ];
        assert_eq!(rows, (expected, 1, 0));
    }
}

#[test]
fn units_can_be_overridden() {
    let with = |time, lba| OpenOptions::parse(Some("mqsim"), time, lba, None, None).unwrap();
    let time_of = |unit| read_with(&with(Some(unit), None), "1 0 8 1 0\n2 0 8 1 0\n").0[1].0;
    for (unit, ns) in [("ns", 1), ("us", 1000), ("ms", 1_000_000), ("s", 1_000_000_000), ("filetime", 100)] {
        assert_eq!(time_of(unit), ns, "{unit}");
    }
    // The unit of addresses does not affect the sizes.
    for (unit, offset) in [("byte", 8), ("sector", 4096), ("page4k", 32_768)] {
        let rows = read_with(&with(None, Some(unit)), "1 0 8 2 0\n").0;
        assert_eq!((rows[0].3, rows[0].4), (offset, 1024), "{unit}");
    }
    let source = open_bytes(b"1 0 8 2 0\n", "t", &with(Some("us"), Some("byte"))).unwrap();
    assert_eq!(
        source.assumed(),
        [
            "time in us (--time-unit)",
            "address in bytes (--lba-unit)",
            "assumed: size in sectors of 512 bytes, 1 = read"
        ]
    );
}

#[test]
fn disksim() {
    let rows = read("disksim", "7961.833 0 20228336 8 0\n8346.206 1 6397360 496 3\n8000\t0\t8\t1\tA0\n");
    let expected = vec![
        row(0, "0", Write, 20_228_336 * 512, 4096),
        row(384_373_000, "1", Read, 6_397_360 * 512, 496 * 512),
        row(38_167_000, "0", Write, 4096, 512),
    ];
    assert_eq!(rows, (expected, 0, 1));
}

#[test]
fn flashsim() {
    let rows = read("flashsim", "26.214000\t0\t303574\t1\t0\n78.643000\t0\t55596\t3\t1\n");
    let expected =
        vec![row(0, "0", Write, 303_574 * 512, 4096), row(52_429_000, "0", Read, 55_596 * 512, 3 * 4096)];
    assert_eq!(rows, (expected, 0, 0));
}

const BLKPARSE: &str = "\
  8,16   5        1     0.000000000 18615  A   R 1444645666 + 256 <- (8,17) 1444645632
  8,16   5        2     0.000001850 18615  Q   R 1444645666 + 256 [java]
  8,16   5        4     0.000008750 18615  P   N [java]
  8,16   5        0     0.000009000     0  m   N cfq18615S / alloced
  8,16   5        5     0.000010000 18615  D   R 1444645666 + 256 [java]
  8,33   4        1     0.000000500  3922  Q FWS 800 + 8 [a b c]
  8,33   4        2     0.000002000  3922  Q  FN 0 + 0 [kworker]
  8,33   4        3     0.000002100  3922  Q   N 0 (00 ..) [kworker]
  8,33   4        4     0.000003850  3922  Q  DS 4096 + 1024 [fstrim]
  8,33   4        5     0.000004850  3922  Q  WS 8 + 0 [sync]
CPU5 (8,16):
 Reads Queued:           0,        0KiB\t Writes Queued:           0,        0KiB

Total (8,16):
 Read depth:             7        \t Write depth:            33
Throughput (R/W): 0KiB/s / 0KiB/s
Events (8,16): 29662 entries
Skips: 0 forward (0 -   0.0%)
";

#[test]
fn blkparse() {
    let rows = read("blkparse", BLKPARSE);
    let expected = vec![
        row(0, "8,16", Read, 1_444_645_666 * 512, 131_072),
        row(-1350, "8,33", Write, 800 * 512, 4096),
        row(2000, "8,33", Trim, 4096 * 512, 524_288),
    ];
    assert_eq!(rows, (expected, 14, 1));
}

#[test]
fn blkparse_actions() {
    let of = |action, content: &str| {
        let options = OpenOptions::parse(Some("blkparse"), None, None, action, None).unwrap();
        let source = open_bytes(content.as_bytes(), "t", &options).unwrap();
        (source.assumed(), rows(content.as_bytes(), "t", &options).unwrap().len())
    };
    assert_eq!(of(None, BLKPARSE), (vec!["requests are the events Q (default for this trace)".into()], 3));
    assert_eq!(of(Some("D"), BLKPARSE), (vec!["requests are the events D (chosen)".into()], 1));
    let issued: String = BLKPARSE.lines().filter(|l| !l.contains("  Q ")).map(|l| format!("{l}\n")).collect();
    assert_eq!(of(None, &issued), (vec!["requests are the events D (default for this trace)".into()], 1));
}

#[test]
fn fio_iolog() {
    let rows = read(
        "fio-iolog",
        "fio version 3 iolog\n30 /dev/a add\n31 /dev/a open\n36 /dev/a trim 0 2147483648\n\
         52 /dev/a write 4096 8192\n53 /dev/a sync 0 0\n54 /dev/b read 1 2\n60 /dev/a datasync 0 0\n61 /dev/a close\n",
    );
    let expected = vec![
        row(0, "/dev/a", Trim, 0, 1 << 31),
        row(16_000, "/dev/a", Write, 4096, 8192),
        row(18_000, "/dev/b", Read, 1, 2),
    ];
    assert_eq!(rows, (expected, 6, 0));
    let content = "fio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/a write 0 4096\n/dev/a wait 5000 0\n\
                   /dev/a read 4096 512\n/dev/a close\n";
    let rows = read("fio-iolog", content);
    let expected = vec![row(0, "/dev/a", Write, 0, 4096), row(5_000_000, "/dev/a", Read, 4096, 512)];
    assert_eq!(rows, (expected, 5, 0));
    let times = |content: &str| {
        let mut source = open_bytes(content.as_bytes(), "t", &options(None)).unwrap();
        (source.has_times(), info(&mut *source).unwrap().duration_s)
    };
    assert_eq!(times(content), (true, Some(0.005)));
    // A second pass begins at 0 again.
    let mut source = open_bytes(content.as_bytes(), "-", &options(None)).unwrap();
    assert_eq!(rows_of(&mut *source, 9).unwrap().len(), 2);
    assert_eq!(
        times(&content.replace("/dev/a wait 5000 0\n", "/dev/b mkdir\n/dev/b rename\n")),
        (false, None)
    );
}

#[test]
fn nbdkit_log() {
    let rows = read(
        "nbdkit-log",
        "2026-12-31 23:59:59.743285 Ready thread_model=3\n\
         2026-12-31 23:59:59.744876 Preconnect id=1 readonly=0 ...\n\
         2026-12-31 23:59:59.744896 ...Preconnect id=1 return=0\n\
         2026-12-31 23:59:59.744991 connection=1 Connect export=\"\" tls=0 size=0x40000000 write=1\n\
         2026-12-31 23:59:59.744992 connection=2 Connect export=\"disk 2\" tls=0 size=0x40000000 write=1\n\
         2026-12-31 23:59:59.839179 connection=1 Flush id=1 ...\n\
         2026-12-31 23:59:59.839209 connection=1 ...Flush id=1 return=0\n\
         2026-12-31 23:59:59.999999 connection=1 Read id=3 offset=0x0 count=0x4000 ...\n\
         2027-01-01 00:00:00.000001 connection=2 Write id=3 offset=0x80000 count=0x2000 fua=0 ...\n\
         2027-01-01 00:00:00.000002 connection=1 ...Read id=3 return=-1 error=EIO\n\
         2027-01-01 00:00:01.000000 connection=1 Trim id=6 offset=0x0 count=0x40000000 fua=0 ...\n\
         2027-01-01 00:01:00.000000 connection=1 Zero id=8 offset=0x3fff0000 count=0x10000 trim=1 fua=0 fast=0 ...\n\
         2027-01-01 00:01:00.000000 connection=1 Zero id=9 offset=0x1000 count=0x1000 trim=0 fua=0 fast=0 ...\n\
         2027-01-01 00:01:00.000001 connection=1 Extents id=10 offset=0x0 count=0x1000 req_one=0 ...\n\
         2027-01-01 00:01:00.000001 connection=1 Disconnect transactions=52302\n",
    );
    let expected = vec![
        row(0, "nbd", Read, 0, 0x4000),
        row(2000, "disk 2", Write, 0x80000, 0x2000),
        row(1_000_001_000, "nbd", Trim, 0, 0x4000_0000),
        row(60_000_001_000, "nbd", Trim, 0x3fff_0000, 0x10000),
        row(60_000_001_000, "nbd", Write, 0x1000, 0x1000),
    ];
    assert_eq!(rows, (expected, 10, 0));
    // A log cut out of a longer one contains no export; leap years count.
    let rows = read(
        "nbdkit-log",
        "2024-02-28 23:00:00.000000 connection=9 Write id=1 offset=0x0 count=0x200 fua=0 ...\n\
         2024-03-01 00:00:00.000000 connection=9 Write id=2 offset=0x0 count=0x200 fua=0 ...\n",
    );
    let day = 86_400_000_000_000;
    let expected = vec![row(0, "nbd", Write, 0, 512), row(day + day / 24, "nbd", Write, 0, 512)];
    assert_eq!(rows, (expected, 0, 0));
}

#[test]
fn places_are_exact_and_rewinding_starts_again() {
    let folder = crate::common::Folder::new("places");
    let mut content = String::new();
    for i in 0..500 {
        // An empty line or a header before some of the requests.
        content += ["", "\n", "Timestamp,x\n"][i % 3];
        content += &format!("{},h,0,Write,{},512,1\n", 1000 + i, i * 512);
    }
    let number_of = |i: usize| {
        content.lines().enumerate().filter(|(_, l)| l.contains(",Write,")).nth(i).map(|(n, _)| n + 1).unwrap()
    };
    let path = folder.file("t.csv", content.as_bytes());
    let mut source = floatgate_trace::open(&path, &OpenOptions::default()).unwrap();
    let mut batch = RequestBatch::default();
    source.fill(&mut batch, 60).unwrap();
    source.fill(&mut batch, 70).unwrap();
    for i in [60, 61, 99, 129, 0, 30, 59, 130, 499] {
        assert_eq!(source.place_of(i), format!("{path}:{}", number_of(i as usize)));
    }
    assert_eq!(source.place_of(500), format!("{path} (request 500)"));
    source.rewind().unwrap();
    let first = rows_of(&mut *source, 100).unwrap();
    source.rewind().unwrap();
    assert_eq!((first.len(), rows_of(&mut *source, 3).unwrap()), (500, first.clone()));
    assert_eq!(first[499].3, 499 * 512);
}

#[test]
fn the_table_is_complete() {
    let names: Vec<&str> = FORMATS.iter().map(|f| f.name).collect();
    assert_eq!(
        names.join(", "),
        "msr, spc, disksim, ssdsim, mqsim, flashsim, blkparse, blktrace, ftrace, biosnoop, fio-iolog, fio-log, \
         nbdkit-log, disksim-valid, srt, fiu, ssdtrace, wiscsee, vscsi, cloudphysics, oracle-general, pages, arc, etw, alibaba, tencent, systor17, k5cloud, baleen, \
         thesios, replayer, sepbit, strace, perf-script, parquet, live"
    );
    for format in FORMATS {
        assert!(!format.summary.is_empty() && format.line.starts_with("expected "));
        assert!(format.states_units != format.units.starts_with("assumed"), "{}", format.name);
        assert!(!format.extensions.is_empty());
    }
}
