//! Unusable input: one clear message with the place.

use crate::common::{Folder, open_bytes, options, refusal, rows_of};
use floatgate_trace::{FORMATS, OpenOptions, open};

fn message(path: &str) -> String {
    let error = open(path, &OpenOptions::default()).err().expect("should be refused");
    assert_eq!(error.status(), 2);
    error.to_string()
}

/// Returns the message about a bad line of the named format, without the name of the file.
fn bad(format: &str, content: &str) -> String {
    let text = refusal(content.as_bytes(), "t", &options(Some(format)));
    text.strip_prefix("t").unwrap_or(&text).to_owned()
}

#[test]
fn files_that_cannot_be_read() {
    let folder = Folder::new("files");
    let path = folder.path();
    assert_eq!(message(&path), format!("{path}: is a directory; expected a trace file"));
    let path = format!("{path}/none.csv");
    assert_eq!(message(&path), format!("{path}: no such file; expected a trace file"));
    let path = folder.file("empty.csv", b"");
    assert_eq!(message(&path), format!("{path}: the file is empty; expected a trace"));
    let path = folder.file("a.zip", b"PK\x03\x04....");
    assert_eq!(
        message(&path),
        format!("{path}: is a zip archive; expected plain text or gz, xz, zst, bz2 (unpack it first)")
    );
}

#[test]
fn content_that_is_no_trace() {
    let all: Vec<&str> = FORMATS.iter().map(|f| f.name).collect();
    let all = format!(
        "{} or {} others ('floatgate schema' lists all)",
        all[..5].iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", "),
        all.len() - 5
    );
    let none = OpenOptions::default();
    assert_eq!(
        refusal(b"hello\nworld\n", "t", &none),
        format!(
            "t: unknown format (first line 'hello'); expected one of {all}; for any other log: --columns, as in \
             --columns \"time:s op:RW offset:sectors size:bytes\""
        )
    );
    assert_eq!(
        refusal(b"ab\x00\x01\x02", "t", &none),
        format!("t@2: binary content of an unknown format; expected one of {all}")
    );
    assert_eq!(
        refusal(b"abc\xff\xfe\n", "t", &none),
        format!("t@3: binary content of an unknown format; expected one of {all}")
    );
    assert_eq!(
        refusal(b"Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n", "t", &none),
        "t: no request in 1 line; expected at least one read, write or TRIM"
    );
    assert_eq!(
        refusal(b"\n\n\n", "t", &options(Some("msr"))),
        "t: no request in 3 lines; expected at least one read, write or TRIM"
    );
}

#[test]
fn formats_that_share_a_grammar() {
    let none = OpenOptions::default();
    // Both read it alike.
    let source = open_bytes(b"5 0 8 8 0\n", "t.txt", &none).unwrap();
    assert_eq!(source.format(), "ssdsim");
    let noted = |one: &String| {
        one.starts_with("read as ssdsim; the content would also fit ") && one.contains("mqsim")
    };
    assert!(source.assumed().iter().any(noted), "{:?}", source.assumed());
    assert_eq!(
        refusal(b"5.5\t0\t8\t8\t0\n", "-", &none),
        "-: the content fits both disksim and flashsim; use --format"
    );
    // Content that is typical of one format but possible for others is not guessed, either.
    assert_eq!(
        refusal(b"5.0 0 8 8 0\n", "-", &none),
        "-: the content fits disksim, ssdsim, mqsim, flashsim, replayer and sepbit; use --format"
    );
    for (name, content, format) in [
        ("t.ssdsim", "5 0 8 8 0\n", "ssdsim"),
        ("t.mqsim.zst", "5 0 8 8 0\n", "mqsim"),
        ("t.disksim", "5 0 8 8 0\n", "disksim"),
        ("t.flashsim", "5.0 0 8 8 0\n", "flashsim"),
    ] {
        assert_eq!(open_bytes(content.as_bytes(), name, &none).unwrap().format(), format, "{name}");
    }
}

#[test]
fn settings_that_a_format_has_no_use_for() {
    let with = |format, time, lba, action, content: &str| {
        let options = OpenOptions::parse(Some(format), time, lba, action, None).unwrap();
        refusal(content.as_bytes(), "t", &options)
    };
    assert_eq!(
        with("msr", None, None, Some("Q"), "x"),
        "--action: msr has no actions; only blkparse, blktrace, ftrace and ssdtrace have; leave it out"
    );
    assert_eq!(
        with("nbdkit-log", Some("ms"), None, None, "x"),
        "--time-unit: nbdkit-log states its own unit of time; leave it out"
    );
    assert_eq!(
        with("nbdkit-log", None, Some("byte"), None, "x"),
        "--lba-unit: nbdkit-log states its own unit of addresses; leave it out"
    );
    assert_eq!(
        with("fio-iolog", Some("ms"), None, None, "fio version 2 iolog\n"),
        "--time-unit: fio iolog version 2 without waits has no times; leave it out"
    );
}

#[test]
fn bad_lines_of_msr() {
    let good = "128166391024154329,prxy,0,Write,1105182720,1024,1514\n";
    for (line, expected) in [
        ("x,prxy,0,Write,0,512,1", ":2:1: 'x' is not a time stamp; expected ticks of 100 ns"),
        ("12x,prxy,0,Write,0,512,1", ":2:1: '12x' is not a time stamp; expected ticks of 100 ns"),
        ("1,,0,Write,0,512,1", ":2:3: '' is not a host name; expected a host name"),
        ("1,h,a,Write,0,512,1", ":2:5: 'a' is not a disk number; expected a whole number"),
        ("1,h,0,Erase,0,512,1", ":2:7: 'Erase' is not a type; expected Read or Write"),
        ("1,h,0,Write,1k,512,1", ":2:13: '1k' is not an offset; expected bytes"),
        ("1,h,0,Write,-8,512,1", ":2:13: '-8' is not an offset; expected bytes"),
        ("1,h,0,Write,0,-5,1", ":2:15: '-5' is not a size; expected bytes"),
        ("1,h,0,Write,0,5.5,1", ":2:15: '5.5' is not a size; expected bytes"),
        ("1,h,0,Write,0", ":2:14: the line ends too early; expected bytes"),
        ("1,h", ":2:4: the line ends too early; expected a host name"),
        (
            "1,h,0,Write,0,512,1,9",
            ":2:19: '1,9' is not a response time; expected ticks of 100 ns and the end of the line",
        ),
        (
            "1,h,0,Write,99999999999999999999,512,1",
            ":2:13: '99999999999999999999' is not an offset; expected bytes",
        ),
        (
            "1,h,0,Write,18446744073709551615,512,1",
            ":2: the request ends beyond 2^64 bytes in '1,h,0,Write,18446744073709551615,512,1'; expected an address and a size that end before",
        ),
        (
            "1,h,0,Write,0,2199023255552,1",
            ":2: a transfer of more than 1 TiB in '1,h,0,Write,0,2199023255552,1'; expected at most 1099511627776 bytes",
        ),
        (
            "1,h,0,Write,0,512,1",
            ":2: the time stamp lies more than 292 years from the first in '1,h,0,Write,0,512,1'; expected stamps of one clock, in the format's unit of time",
        ),
    ] {
        assert_eq!(bad("msr", &format!("{good}{line}\n{good}")), expected);
    }
    let mut content = good.as_bytes().to_vec();
    content.extend(b"1,h\xff,0,Write,0,512,1\n");
    let text = refusal(&content, "t", &OpenOptions::default());
    assert_eq!(text, "t:2:4: '\u{fffd}' is not UTF-8; expected a line of text");
    let long = format!("{good}{}\n", "9".repeat(70_000));
    assert_eq!(
        bad("msr", &long),
        ":2: the line is longer than 65536 bytes; expected \
         Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime"
    );
}

/// Format, content, and the message after the name of the file.
const BAD_LINES: &[(&str, &str, &str)] = &[
    ("spc", "0,8,512,X,1.0", ":1:9: 'X' is not an opcode; expected R or W"),
    ("spc", "0,8,512,W,", ":1:11: the line ends too early; expected seconds"),
    ("spc", "0,8,512,W,1.0x", ":1:11: '1.0x' is not a time stamp; expected seconds"),
    ("spc", "0,-8,512,W,1.0", ":1:3: '-8' is not an LBA; expected sectors of 512 bytes"),
    ("mqsim", "5 0 8 8 2", ":1:9: '2' is not an operation; expected 1 (read) or 0 (write)"),
    ("mqsim", "5 0 8 8 10", ":1:9: '10' is not an operation; expected 1 (read) or 0 (write)"),
    ("mqsim", "5 0 8 8", ":1:8: the line ends too early; expected 1 (read) or 0 (write)"),
    ("mqsim", "5 0 8 -8 1", ":1:7: '-8' is not a size; expected a whole number"),
    ("mqsim", "5 0 8 8 1 7", ":1:11: '7' is one column too many; expected time device lba size op"),
    ("mqsim", "nan 0 8 8 1", ":1:1: 'nan' is not a time stamp; expected a number"),
    (
        "ssdsim",
        "1 0 99999999999999999 8 1",
        ":1: an address or size beyond 2^64 bytes in '1 0 99999999999999999 8 1'; expected one below",
    ),
    (
        "disksim",
        "1.0 0 8 8 z",
        ":1:11: 'z' is not a set of flags; expected a hexadecimal number whose bit 0 means read",
    ),
    ("flashsim", "1.0\t0\t8\t8\tW", ":1:11: 'W' is not an operation; expected 1 (read) or 0 (write)"),
    (
        "blkparse",
        "8,16 0 4 0.1 5 Q R 8 + 8 [a]\nfoo bar",
        ":2:1: 'foo' is not a device; expected major,minor and an event, or a summary",
    ),
    ("blkparse", "8,16 0 x 0.1 5 Q R 8 + 8", ":1:8: 'x' is not a sequence number; expected a whole number"),
    ("blkparse", "8,16 0 1 zero 5 Q R 8 + 8", ":1:10: 'zero' is not a time stamp; expected seconds"),
    (
        "blkparse",
        "8,16 0 1 0.5 5 C R 8 + 8\n8,16 0 1 0.5 5 Q N [x]",
        ": no request in 2 lines; expected events Q; the trace has C",
    ),
    (
        "fio-iolog",
        "/dev/a write 0 4096",
        ":1:1: '/dev/a write 0 4096' is not a header; expected 'fio version 2 iolog' or 'fio version 3 iolog' first",
    ),
    (
        "fio-iolog",
        "fio version 3 iolog\n5 /dev/a scribble 0 4096",
        ":2:10: 'scribble' is not an action; expected read, write, trim, sync, datasync, wait, add, open or close",
    ),
    (
        "fio-iolog",
        "fio version 3 iolog\n/dev/a write 0 4096",
        ":2:1: '/dev/a' is not a time stamp; expected microseconds",
    ),
    (
        "nbdkit-log",
        "2026-13-21 02:56:10.8 Flush id=1 ...",
        ":1:1: '2026-13-21' is not a time stamp; expected YYYY-MM-DD HH:MM:SS.ffffff",
    ),
    (
        "nbdkit-log",
        "2026-11-21 02:56:10.8 connection=1 Write id=1 offset=12 count=0x10 ...",
        ":1:47: 'offset=12' is not an offset; expected offset=0x...",
    ),
    (
        "nbdkit-log",
        "2026-11-21 02:56:10.8 connection=1 Scrub id=1",
        ":1:36: 'Scrub' is not an action; expected Read, Write, Trim, Zero, Flush, Connect or another nbdkit action",
    ),
];

#[test]
fn bad_lines_of_the_others() {
    for (format, content, expected) in BAD_LINES {
        // Alone, the default action of blkparse would be that of the only event.
        let mut options = options(Some(format));
        if *format == "blkparse" {
            options = OpenOptions::parse(Some(format), None, None, Some("Q"), None).unwrap();
        }
        // The same line without a break at its end is one that the file ends within.
        let whole = refusal(format!("{content}\n").as_bytes(), "t", &options);
        assert_eq!(whole, format!("t{expected}"));
        let cut = refusal(content.as_bytes(), "t", &options);
        let bytes = content.rsplit('\n').next().map_or(0, str::len);
        let end =
            format!(", and the file ends within this line, after {bytes} bytes: it was probably cut when");
        assert!(cut == whole || (content.contains('\n') && cut.contains(&end)), "{cut}");
    }
}

#[test]
fn bad_lines_can_be_skipped_and_are_counted() {
    let content = b"1,h,0,Write,0,512,1\nrubbish\n2,h,0,Read,512,512,1\n3,\xff,0,Read,512,512,1\n";
    let options = OpenOptions::parse(Some("msr"), None, None, None, Some("skip")).unwrap();
    let mut source = open_bytes(content, "t", &options).unwrap();
    let rows = rows_of(&mut *source, 10).unwrap();
    assert_eq!((rows.len(), rows[1].0), (2, 100));
    let summary = source.summary();
    assert_eq!(summary.bad_lines_skipped, 2);
    let first = "t:2:1: 'rubbish' is not a time stamp; expected ticks of 100 ns";
    assert_eq!(summary.first_bad_line.as_deref(), Some(first));
    let alone = first.replace("t:2", "t:1");
    assert_eq!(
        refusal(b"rubbish\n", "t", &options),
        format!(
            "t: no request in 1 line (1 bad line skipped: {alone}); expected at least one read, write or TRIM"
        )
    );
}

#[test]
fn a_pipe_is_read_once() {
    let mut source = open_bytes(b"1,h,0,Write,0,512,1\n", "-", &options(Some("msr"))).unwrap();
    assert_eq!(rows_of(&mut *source, 10).unwrap().len(), 1);
    assert_eq!(
        source.rewind().unwrap_err().to_string(),
        "-: a pipe can be read only once; save the trace to a file"
    );
}
