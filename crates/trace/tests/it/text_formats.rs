//! The text formats after the first nine, by hand-written lines: the meaning of each field, requests and other records,
//! errors.

use crate::common::{Row, open_bytes, options, refusal, rows_of};
use floatgate_base::Op::{self, Read, Trim, Write};
use floatgate_trace::OpenOptions;

fn row(time_ns: i64, device: &str, op: Op, offset: u64, bytes: u64) -> Row {
    (time_ns, device.to_owned(), op, offset, bytes)
}

/// Reads requests and the number of other records.
fn read(format: &str, content: &str) -> (Vec<Row>, u64) {
    let mut source = open_bytes(content.as_bytes(), "t", &options(Some(format))).unwrap();
    let rows = rows_of(&mut *source, 2).unwrap();
    (rows, source.summary().other_records)
}

fn assumed(format: &str, content: &str) -> Vec<String> {
    open_bytes(content.as_bytes(), "t", &options(Some(format))).unwrap().assumed()
}

#[test]
fn blkparse_without_plus_and_with_summaries_of_processes() {
    let text = "259,0 0 1 0.000000000 77 Q R 2048 8\n259,0 0 2 0.000001000 77 G R 2048 8\n259,0 1 3 0.5 78 Q WS 8 16 \
                [a]\n259,0 1 4 0.6 78 Q N 0 (00 ..) [k w]\n259,0 1 5 0.7 78 Q W 8 / 16 [a]\nmy app (77)\n Reads Queued: \
                1, 4KiB\n";
    let expected =
        vec![row(0, "259,0", Read, 2048 * 512, 4096), row(500_000_000, "259,0", Write, 8 * 512, 8192)];
    assert_eq!(read("blkparse", text), (expected, 5));
}

#[test]
fn ftrace() {
    let text = "# tracer: nop\n#\n  app-77 [000] d..1. 100.000000: block_rq_issue: 8,0 R 4096 () 2048 + 8 [app]\n  \
                kworker/0:1-9 (  9) [001] .... 100.000001500: block_rq_issue: 8,16 FWFS 8192 () 8 + 16 be,0,4 [k]\n  \
                app-77 [000] d..1. 100.1: block_rq_complete: 8,0 R () 2048 + 8 [0]\n  app-77 [000] d..1. 100.2: \
                block_rq_issue: 8,0 FF 0 () 0 + 0 [app]\n  app-77 [000] d..1. 100.3: sched_switch: prev_comm=app\n  a \
                [1]-b-77 [000] 101: block_rq_issue: 8,0 D 4096 (2a 00 ..) 64 + 8 [app]\n";
    let expected = vec![
        row(0, "8,0", Read, 2048 * 512, 4096),
        row(1500, "8,16", Write, 4096, 8192),
        row(1_000_000_000, "8,0", Trim, 64 * 512, 4096),
    ];
    assert_eq!(read("ftrace", text), (expected, 5));
    assert_eq!(assumed("ftrace", text), ["requests are the events D (default for this trace)"]);
    let mut source = open_bytes(text.as_bytes(), "t", &options(None)).unwrap();
    assert_eq!(source.format(), "ftrace");
    let mut batch = floatgate_base::RequestBatch::default();
    source.fill(&mut batch, 9).unwrap();
    assert_eq!((&*batch.stream, &*batch.flags), (&[0, 1, 0][..], &[0, 3, 2][..]));
    // Bios as they are queued, and a remapping behind the plus.
    let text = "app-77 [000] 100.0: block_bio_queue: 8,0 WS 8 + 8 [app]\napp-77 [000] 100.1: block_bio_remap: 8,0 WS 8 + 8 \
                <- (8,1) 0\n";
    assert_eq!(read("ftrace", text), (vec![row(0, "8,0", Write, 4096, 4096)], 1));
    assert_eq!(
        refusal(
            b"app-77 [000] soon: block_rq_issue: 8,0 R 4096 () 8 + 8 [app]\n",
            "t",
            &options(Some("ftrace"))
        ),
        "t:1:14: 'soon:' is not a time stamp; expected seconds"
    );
}

#[test]
fn biosnoop() {
    let text = "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  LAT(ms)\n0.000000    app            77     \
                sda     R 2048       4096      0.10\n0.001000    my app         78     sdb     WS 8      8192      \
                0.25\n0.002 app 77 sda F 0 0 0.1\n";
    let expected = vec![row(0, "sda", Read, 2048 * 512, 4096), row(1_000_000, "sdb", Write, 4096, 8192)];
    assert_eq!(read("biosnoop", text), (expected.clone(), 2));
    let queued =
        text.replace("LAT(ms)", "QUE(ms) LAT(ms)").replace("0.10", "0.01 0.10").replace("0.25", "0.00 0.25");
    let queued = queued.replace("0 0 0.1\n", "0 0 0.0 0.1\n");
    assert_eq!(read("biosnoop", &queued), (expected, 2));
    assert_eq!(open_bytes(queued.as_bytes(), "t", &options(None)).unwrap().format(), "biosnoop");
    let refused = |line: &str| refusal(format!("{text}{line}\n").as_bytes(), "t", &options(None));
    assert_eq!(
        refused("soon app 77 sda R 8 4096 0.1"),
        "t:5:1: 'soon' is not a time stamp; expected seconds"
    );
    assert!(
        refused("1 app sda R 8 4096 0.1").contains("has too few fields"),
        "{}",
        refused("1 app sda R 8 4096 0.1")
    );
    assert!(refused("1 app 77 sda R x 4096 0.1").contains("has no sector and bytes"));
}

#[test]
fn disksim_valid() {
    let rows = read(
        "disksim-valid",
        "R Miss  564347     2     14095.370     13876.270\nW Doub 8 1 1.5 0\nR Hit   564349     2      1414.270     18746.770\n",
    );
    let expected = vec![
        row(0, "0", Read, 564_347 * 512, 1024),
        row(27_971_640, "0", Write, 4096, 512),
        row(27_973_140, "0", Read, 564_349 * 512, 1024),
    ];
    assert_eq!(rows, (expected, 0));
    // Another pass begins at 0 again; rewinding must reset it.
    let mut source = open_bytes(b"R Hit 1 1 5 5\n", "-", &options(Some("disksim-valid"))).unwrap();
    assert_eq!(rows_of(&mut *source, 5).unwrap().len(), 1);
}

#[test]
fn fiu() {
    const MD5: &str = "d6c75ba46e82326fefa545b57a12e221";
    let rows = read(
        "fiu",
        &format!(
            "89966522969723 4270 rpc.mountd 18579576 8 W 6 0 {MD5}\n\
             89966522969823 4253 kworker/u2:1 R W 8 16 R 8 1 {MD5} {MD5}\n\
             89966522969623 1 a  b\t508516680\t8 R 6 0 {}\n",
            MD5.to_uppercase()
        ),
    );
    let expected = vec![
        row(0, "6,0", Write, 18_579_576 * 512, 4096),
        row(100, "8,1", Read, 4096, 8192),
        row(-100, "6,0", Read, 508_516_680 * 512, 4096),
    ];
    assert_eq!(rows, (expected, 0));
}

#[test]
fn ssdtrace() {
    const LINES: &str = "259,2    0        1     0.000000000  4020  Q   R 282624 + 8 [java]\n\
         259,2    0        3     0.000003650  4020  U   N [java] 1\n\
         259,2    0        5     0.000005462  4020  D  RS 282624 + 16 [java]\n";
    assert_eq!(read("ssdtrace", LINES), (vec![row(0, "259,2", Read, 282_624 * 512, 8192)], 2));
    let source = open_bytes(LINES.as_bytes(), "ssdtrace-00.ssdtrace.gz", &OpenOptions::default()).unwrap();
    assert_eq!(source.format(), "ssdtrace");
    // Without a D the usual order decides; without an extension it is blkparse and reports the alternative.
    let without = LINES.replace('D', "C");
    assert_eq!(assumed("ssdtrace", &without), ["requests are the events Q (default for this trace)"]);
    let source = open_bytes(LINES.as_bytes(), "ssdtrace-00", &OpenOptions::default()).unwrap();
    assert_eq!(source.format(), "blkparse");
    assert_eq!(
        source.assumed()[0],
        "read as blkparse; the content would also fit ssdtrace (select with --format)"
    );
}

#[test]
fn wiscsee() {
    let rows = read(
        "wiscsee",
        "39949 D read 299008 4096 0.000000000 0 False\n0 C read 299008 4096 0.000122793 0.000122793 False\n\
         1386 D discard 136314880 4096 0.439239477 4.43e-06 True\n1 D write 0 512 0.5 7.3902e-05 True\n1 D flush 0 0 0.6 0.1 True\n",
    );
    let expected = vec![
        row(0, "0", Read, 299_008, 4096),
        row(439_239_477, "0", Trim, 136_314_880, 4096),
        row(500_000_000, "0", Write, 0, 512),
    ];
    assert_eq!(rows, (expected, 2));
}

#[test]
fn cloudphysics() {
    let rows = read(
        "cloudphysics",
        "version,time,op,size,lbn\n1,5633898368802,2a,512,42932745\n1,5633898611441,28,1024,8\n1,5633898611442,35,0,0\n\
         2,5633898611443,0x8A,4096,16\n",
    );
    let expected = vec![
        row(0, "0", Write, 42_932_745 * 512, 512),
        row(242_639_000, "0", Read, 4096, 1024),
        row(242_641_000, "0", Write, 8192, 4096),
    ];
    assert_eq!(rows, (expected, 2));
}

#[test]
fn pages_as_text() {
    let expected = vec![row(0, "0", Read, 5 * 4096, 4096), row(0, "0", Read, 0, 4096)];
    assert_eq!(read("pages", "5\n*\n 0 \n\n"), (expected, 1));
    assert_eq!(
        assumed("pages", "5\n"),
        [
            "assumed: pages of 4 KiB; no operation in the file, all requests are reads",
            "page numbers are read as text, one per line"
        ]
    );
    let options = OpenOptions::parse(Some("pages"), None, Some("sector"), None, None).unwrap();
    let rows = rows_of(&mut *open_bytes(b"5\n", "t", &options).unwrap(), 3).unwrap();
    assert_eq!(rows, [row(0, "0", Read, 2560, 512)]);
}

#[test]
fn arc() {
    let expected = vec![row(0, "0", Read, 512, 512), row(0, "0", Read, 1024, 4096)];
    assert_eq!(read("arc", "1 1 0 0\n2 8 0 1\n3 0 0 2\n"), (expected, 1));
    assert!(!open_bytes(b"1 1 0 0\n", "OLTP.lis", &OpenOptions::default()).unwrap().has_times());
}

#[test]
fn etw() {
    let rows = read(
        "etw",
        "BeginHeader\n DiskRead,  TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum\n\
         EndHeader\n  OS Version: 6.0\n               DiskRead,     723291, p0 (11008),      12260, 0xfffffade691b3010, \
         0x4e5ec22e00, 0x00002000,        4388,        4, 0x000901,        4388,       0,  Unknown, \
         0xfffffade6bd7d7a0, \"Disk6\"\n DiskWrite, 723300, a b (1), 2, 0x1, 0x200, 0x400, 5, 0, 0x1, 5, 0, Unknown, 0x2, \
         \"a, b\"\nDiskFlush, 723301, p0 (1), 2, 0x1\nFileIoCreate, 1, x\n",
    );
    let expected = vec![row(0, "disk4", Read, 0x4e_5ec2_2e00, 8192), row(9000, "disk0", Write, 512, 1024)];
    assert_eq!(rows, (expected, 6));
}

#[test]
fn alibaba() {
    let rows = read(
        "alibaba",
        "device_id,opcode,offset,length,timestamp\n0,R,126703644672,4096,1577808000000626\n7,W,0,512,1577808000000627\n",
    );
    let expected = vec![row(0, "0", Read, 126_703_644_672, 4096), row(1000, "7", Write, 0, 512)];
    assert_eq!(rows, (expected, 1));
}

#[test]
fn tencent() {
    let rows = read("tencent", "1538323200,12910952,128,0,1063\n1538323201,8,1,1,7\n");
    let expected =
        vec![row(0, "1063", Read, 12_910_952 * 512, 65_536), row(1_000_000_000, "7", Write, 4096, 512)];
    assert_eq!(rows, (expected, 0));
}

#[test]
fn systor17() {
    let rows = read(
        "systor17",
        "Timestamp,Response,IOType,LUN,Offset,Size\n1455592181.070220000,,R,1,1131012096,65536\n\
         1455592181.070221,0.000125,W,3,0,4096\n1455592182,,,3,,\n",
    );
    let expected = vec![row(0, "LUN1", Read, 1_131_012_096, 65_536), row(1000, "LUN3", Write, 0, 4096)];
    assert_eq!(rows, (expected, 2));
}

#[test]
fn k5cloud() {
    let rows = read("k5cloud", "12,0.5,R,8192,4096\n3,0.500125,W,0,512,7\n");
    let expected = vec![row(0, "12", Read, 8192, 4096), row(125_000, "3", Write, 0, 512)];
    assert_eq!(rows, (expected, 0));
}

#[test]
fn baleen() {
    let rows = read(
        "baleen",
        "# block_id io_offset io_size op_time op_name user_namespace user_name rs_shard_id op_count host_name\n\
         10 0 131072 1000 2 0 0 7 3 0\n3 8384512 4096 1000.5 3 0 0 7 1 0\n3 0 4096 1001 6 0 0 0\n",
    );
    let expected = vec![
        row(0, "0", Read, 10 << 23, 131_072),
        row(500_000_000, "0", Write, (3 << 23) + 8_384_512, 4096),
        row(1_000_000_000, "0", Write, 3 << 23, 4096),
    ];
    assert_eq!(rows, (expected, 1));
}

#[test]
fn replayer() {
    let expected = vec![row(0, "0", Read, 4096, 8192), row(1_250_000, "1", Write, 0, 512)];
    assert_eq!(read("replayer", "0.0,0,4096,8192,1\n1.25,1,0,512,0\n"), (expected.clone(), 0));
    assert_eq!(read("replayer", "0.0 0\t4096 8192 1\n1.25, 1, 0 ,512, 0\n"), (expected, 0));
}

/// The lines of fio 3 with `--log_offset=1`, of older ones, and with priorities and issue times.
#[test]
fn fio_log() {
    let expected = vec![row(0, "0", Write, 8192, 4096), row(2_000_000, "0", Read, 0, 16_384)];
    assert_eq!(read("fio-log", "5, 81250, 1, 4096, 8192\n7, 9, 0, 16384, 0\n"), (expected.clone(), 0));
    assert_eq!(read("fio-log", "5, 81250, 1, 4096, 8192, 0\n7, 9, 0, 16384, 0, 1\n"), (expected.clone(), 0));
    let with_issue = "5, 81250, 1, 4096, 8192, 0x0004, 51234567\n7, 9, 0, 16384, 0, 0x0000, 6\n";
    assert_eq!(read("fio-log", with_issue), (expected, 0));
    let trim = vec![row(0, "0", Trim, 1 << 40, 1 << 20)];
    assert_eq!(read("fio-log", "1, 2, 2, 1048576, 1099511627776, 0\n2, 3, 0, 0, 0, 0\n"), (trim, 1));
    let chosen = options(Some("fio-log"));
    for (content, expected) in [
        (
            "5, 1, 1, 4096\n",
            "t:1: no offset in '5, 1, 1, 4096'; expected an offset: run fio with --log_offset=1",
        ),
        (
            "5, 1, 1, 4096, 0x0004\n",
            "t:1: no offset in '5, 1, 1, 4096, 0x0004'; expected an offset: run fio with",
        ),
        (
            "500, 1, 1, 0, 0\n",
            "t: no request in 1 line; expected lines of single requests: run fio without --log_avg",
        ),
    ] {
        let error = refusal(content.as_bytes(), "t", &chosen);
        assert!(error.starts_with(expected), "{error}");
    }
}

/// Columns by their names, in any order; files in ranges of 64 MiB by their first request.
#[test]
fn thesios() {
    let heading = "filename,file_offset,op_type,request_io_size_bytes,start_time\n";
    let body = "a,0,WRITE,4096,10.5\nb,67108864,READ,512,11\na,4096,READ,8,12\nb,0,WRITE,1,13\n";
    let expected = vec![
        row(0, "0", Write, 0, 4096),
        row(500_000_000, "0", Read, 1 << 26, 512),
        row(1_500_000_000, "0", Read, 4096, 8),
        row(2_500_000_000, "0", Write, 2 << 26, 1),
    ];
    assert_eq!(read("thesios", &format!("{heading}{body}")), (expected.clone(), 1));
    let other = "start_time,x,op_type,filename,request_io_size_bytes,file_offset\n10.5,?,WRITE,a,4096,0\n11,,READ,b,512,67108864\n";
    assert_eq!(read("thesios", other), (expected[..2].to_vec(), 1));
    let error = |text: &str| refusal(format!("{heading}{text}").as_bytes(), "t", &OpenOptions::default());
    assert_eq!(error("a,0,APPEND,1,2\n"), "t:2:5: 'APPEND' is not an operation; expected READ or WRITE");
    assert_eq!(error("a,x,READ,1,2\n"), "t:2:3: 'x' is not an offset; expected bytes");
    let few = error("a,0,READ\n");
    assert_eq!(few, "t:2: too few fields in 'a,0,READ'; expected one for each column of the heading");
}

#[test]
fn sepbit() {
    let rows = read("sepbit", "0.5 1 100 4096 0\n1.5 3 0 8192 2\n2 0 7 4096 1\n3 2 0 4096 0\n");
    let expected = vec![
        row(0, "0", Write, 409_600, 4096),
        row(1_000_000_000, "0", Trim, 0, 8192),
        row(1_500_000_000, "0", Read, 28_672, 4096),
    ];
    assert_eq!(rows, (expected, 1));
    // The unit of the sizes is inferred from the sizes.
    let rows = read("sepbit", "0.5 1 100 1 0\n1.5 1 0 16 2\n");
    assert_eq!((rows.0[0].4, rows.0[1].4), (4096, 65_536));
    let assumption = |content: &str| assumed("sepbit", content)[1].clone();
    assert_eq!(assumption("0 1 1 4096 0\n"), "sizes are read as bytes, inferred from the first ones");
    assert_eq!(assumption("0 1 1 3 0\n"), "sizes are read as pages of 4 KiB, inferred from the first ones");
}

#[test]
fn what_cannot_be_told_apart_is_refused_naming_both() {
    let none = OpenOptions::default();
    assert_eq!(
        refusal(b"5,8,8,1,1\n6,8,8,0,0\n", "t.csv", &none),
        "t.csv: the content fits both tencent and replayer; use --format or the extension .tencent or .replayer"
    );
    for (name, format) in [("t.tencent", "tencent"), ("t.replayer.gz", "replayer")] {
        assert_eq!(open_bytes(b"5,8,8,1,1\n", name, &none).unwrap().format(), format);
    }
    assert_eq!(open_bytes(b"5.0 1 8 8 0\n", "t.sepbit", &none).unwrap().format(), "sepbit");
    assert_eq!(open_bytes(b"5.0 1 8 8 0\n", "t.replayer", &none).unwrap().format(), "replayer");
    // A header alone identifies its format.
    let refused = refusal(b"Timestamp,Response,IOType,LUN,Offset,Size\n", "t", &none);
    assert_eq!(refused, "t: no request in 1 line; expected at least one read, write or TRIM");
}

#[test]
fn tar_headers_are_passed_over_and_counted() {
    let header = [b"a.csv\0\0\0".to_vec(), vec![b'7'; 249], b"ustar\x0000".to_vec(), vec![0; 247]].concat();
    let member = b"1,h,0,Write,0,512,1\n2,h,0,Read,512,512,1\n";
    let padding = vec![0; 1024];
    let content = [&header[..], member, &padding, &header, b"3,h,1,Read,0,512,1\n", &padding].concat();
    let mut source = open_bytes(&content, "t.tar", &OpenOptions::default()).unwrap();
    let rows = rows_of(&mut *source, 2).unwrap();
    assert_eq!(rows.iter().map(|r| r.0).collect::<Vec<_>>(), [0, 100, 200]);
    let summary = source.summary();
    assert_eq!((summary.tar_lines, summary.bad_lines_skipped), (3, 0));
    assert_eq!(source.assumed(), ["3 lines of tar headers and padding were skipped"]);
    // A broken record after a header is still a bad line, and so are NULs inside a record.
    let bad = [&header[..], b"x,h,0,Write,0,512,1\n"].concat();
    assert_eq!(
        refusal(&bad, "t", &options(Some("msr"))),
        "t:1:513: 'x' is not a time stamp; expected ticks of 100 ns"
    );
    let bad = refusal(b"1,h,0,Write,0,512,1\n2,h,0,Wr\0te,0,512,1\n", "t", &options(Some("msr")));
    assert_eq!(bad, "t:2:7: 'Wr\\0te' is not a type; expected Read or Write");
}

#[test]
fn absurd_and_rewinding_stamps_are_counted_and_pointed_out() {
    let content = "8,16 2 6 5.0 3646 D R 8 + 8 [java]\n8,16 2 6 1266874889.708668759 3646 D R 8 + 8 [java]\n\
                   8,16 2 6 4.0 3646 D R 8 + 8 [java]\n8,16 2 6 6.0 3646 D R 8 + 8 [java]\n";
    let mut source = open_bytes(content.as_bytes(), "t", &options(Some("blkparse"))).unwrap();
    let times: Vec<i64> = rows_of(&mut *source, 9).unwrap().iter().map(|r| r.0).collect();
    assert_eq!(times, [0, 1_266_874_884_708_668_759, -1_000_000_000, 1_000_000_000]);
    let summary = source.summary();
    assert_eq!((summary.stamps_backwards, summary.stamp_jumps), (1, 2));
    assert_eq!(
        summary.suspicions,
        ["2 time stamps lie more than 30 years from the previous one: span and rate mean little"]
    );
}

#[test]
fn a_wrong_unit_of_time_is_pointed_out() {
    let suspicions = |format, unit, content: &str| {
        let options = OpenOptions::parse(Some(format), unit, None, None, None).unwrap();
        let mut source = open_bytes(content.as_bytes(), "t", &options).unwrap();
        rows_of(&mut *source, 9).unwrap();
        source.summary().suspicions
    };
    // A trace of four seconds in microseconds; in nanoseconds it is fast but plausible.
    let micros = "0 0 8 8 0\n20 0 8 8 0\n40 0 8 8 0\n";
    assert_eq!(
        suspicions("mqsim", None, micros),
        ["50 million requests per second if the time stamps are in ns; if they are not, use --time-unit"]
    );
    assert_eq!(suspicions("mqsim", Some("us"), micros), [""; 0]);
    assert_eq!(
        suspicions("tencent", None, "1538323200000,8,8,0,1\n1538323201000,8,8,0,1\n1538323202000,8,8,0,1\n"),
        [""; 0]
    );
    assert_eq!(
        suspicions(
            "tencent",
            None,
            "1538323200000000,8,8,0,1\n1538323201000000,8,8,0,1\n1538323202000000,8,8,0,1\n"
        ),
        ["one request in 277.8 hours if the time stamps are in s; if they are not, use --time-unit"]
    );
    assert_eq!(suspicions("pages", None, "1\n2\n"), [""; 0]);
}

/// Format, content, and the message after the name of the file.
const BAD_LINES: &[(&str, &str, &str)] = &[
    ("disksim-valid", "X Miss 1 2 3 4", ":1:1: 'X' is not an operation; expected R or W"),
    ("disksim-valid", "R 5 1 2 3 4", ":1:3: '5' is not a hit or miss; expected Hit, Miss, Doub or Trip"),
    ("disksim-valid", "R Hit 1 2 -3 4", ":1:11: '-3' is not a service time; expected microseconds"),
    ("disksim-valid", "R Hit 1 2 3", ":1:12: the line ends too early; expected microseconds"),
    ("disksim-valid", "R Hit 1 2 3 4 5", ":1:15: '5' is one field too many; expected the end of the line"),
    (
        "fiu",
        "1 2 p 8 8 W 6 0 88b93b628d84",
        ":1:17: '88b93b628d84' is not an MD5; expected 32 hexadecimal digits",
    ),
    (
        "fiu",
        "1 2 p 8 8 W 6 0 x6c75ba46e82326fefa545b57a12e221",
        ":1:17: 'x6c75ba46e82326fefa545b57a12e221' is not an MD5; expected 32 hexadecimal digits",
    ),
    ("fiu", "1 2 p 8 8 W 6 0", ":1:16: the line ends too early; expected 32 hexadecimal digits"),
    (
        "fiu",
        "1 2 p 8 8 X 6 0 d6c75ba46e82326fefa545b57a12e221",
        ":1:5: 'p 8 8 X 6 0 d6c75ba46e82326fefa545b57a12e221' has no R or W; expected ts_ns pid process lba size R|W major \
         minor md5",
    ),
    ("fiu", "1 2 8 8 W 6 0 d6c75ba46e82326fefa545b57a12e221", ":1:5: '8 8 ' has no process; expected a name"),
    ("fiu", "1 2 p -8 8 W 6 0 d6c", ":1:7: '-8' is not an address; expected sectors of 512 bytes"),
    (
        "wiscsee",
        "1 Q read 0 512 0.1 0 True",
        ":1:3: 'Q' is not an event; expected D (issued) or C (completed)",
    ),
    (
        "wiscsee",
        "1 D erase 0 512 0.1 0 True",
        ":1:5: 'erase' is not an operation; expected read, write or discard",
    ),
    ("wiscsee", "1 D read 0 512 now 0 True", ":1:16: 'now' is not a time stamp; expected seconds"),
    (
        "cloudphysics",
        "1,5,zz,512,8",
        ":1:5: 'zz' is not an operation; expected a SCSI operation code in hexadecimal",
    ),
    (
        "cloudphysics",
        "1,5,2a,512,8,9",
        ":1:13: ',9' is more than the format has; expected the end of the line",
    ),
    ("cloudphysics", "1,5,2a,512", ":1:11: the line ends too early; expected bytes"),
    ("pages", "5\n6 7\n", ":2:3: '7' is not a page number; expected a whole number or *"),
    ("pages", "-5\n", ":1:1: '-5' is not a page number; expected a whole number or *"),
    ("arc", "1 1 0", ":1:6: the line ends too early; expected a whole number"),
    (
        "arc",
        "1 1 0 0 5",
        ":1:9: '5' is not a request number; expected a whole number and the end of the line",
    ),
    (
        "etw",
        "DiskRead, soon, p (1), 2, 0x1, 0x0, 0x200, 5, 0",
        ":1:11: 'soon' is not a time stamp; expected microseconds",
    ),
    (
        "etw",
        "DiskRead, 5, p (1), 2, 0x1, 512, 0x200, 5, 0",
        ":1:29: '512' is not an offset; expected bytes as 0x...",
    ),
    (
        "etw",
        "DiskRead, 5, p (1), 2, 0x1, 0x0, 0x200",
        ":1:39: the line ends too early; expected bytes as 0x...",
    ),
    ("etw", "DiskFlush, 5", ": no request in 1 line; expected events DiskRead or DiskWrite"),
    ("alibaba", "0,X,0,512,5", ":1:3: 'X' is not an operation; expected R or W"),
    ("alibaba", "0,R,0,-1,5", ":1:7: '-1' is not a length; expected bytes"),
    ("alibaba", "0,R,0,512", ":1:10: the line ends too early; expected bytes"),
    ("tencent", "5,8,8,1 0,1", ":1:9: '0' is not an operation; expected 0 (read) or 1 (write)"),
    ("tencent", "5,8,8,1", ":1:8: the line ends too early; expected 0 (read) or 1 (write)"),
    ("msr", "1,h,0,Write", ":1:12: the line ends too early; expected Read or Write"),
    ("msr", "1,h,0,Writes,0,512", ":1:7: 'Writes' is not a type; expected Read or Write"),
    ("tencent", "5,8,8,2,1", ":1:7: '2' is not an operation; expected 0 (read) or 1 (write)"),
    (
        "tencent",
        "5,99999999999999999,8,1,1",
        ":1: an address or size beyond 2^64 bytes in '5,99999999999999999,8,1,1'; expected one below",
    ),
    ("systor17", "5.0,x,R,1,0,512", ":1:5: 'x' is not a response time; expected seconds or nothing"),
    ("systor17", "5.0,,R,a,0,512", ":1:8: 'a' is not a LUN; expected a whole number"),
    ("k5cloud", "0,zero,R,0,512", ":1:3: 'zero' is not a time stamp; expected seconds"),
    ("k5cloud", "0,0,R,0,512k", ":1:9: '512k' is not a length; expected bytes"),
    (
        "baleen",
        "1 0 512 5 9 0 0 0",
        ":1:11: '9' is not an operation; expected 1, 2, 5 (read) or 3, 4, 6 (write)",
    ),
    (
        "baleen",
        "1 8388608 512 5 1 0 0 0",
        ":1: the request reaches beyond the 8 MiB of its block in '1 8388608 512 5 1 0 0 0'; expected an offset and a size within them",
    ),
    ("replayer", "5,0,8,512,2", ":1:11: '2' is not an operation; expected 1 (read) or 0 (write)"),
    ("replayer", "5,0,8,512,10", ":1:11: '10' is not an operation; expected 1 (read) or 0 (write)"),
    ("sepbit", "5 4 8 512 0", ":1:3: '4' is not an operation; expected 0 (read), 1 (write) or 3 (TRIM)"),
    ("sepbit", "5 1 8 512", ":1:10: the line ends too early; expected a whole number"),
    ("sepbit", "5 1 8 512 s", ":1:11: 's' is not a stream; expected a whole number"),
];

#[test]
fn bad_lines() {
    for (format, content, expected) in BAD_LINES {
        assert_eq!(refusal(content.as_bytes(), "t", &options(Some(format))), format!("t{expected}"));
    }
}

#[test]
fn settings_that_a_format_has_no_use_for() {
    let with = |format, time, lba| {
        let options = OpenOptions::parse(Some(format), time, lba, None, None).unwrap();
        refusal(b"1\n", "t", &options)
    };
    assert_eq!(with("arc", Some("ms"), None), "--time-unit: arc has no times; leave it out");
    assert_eq!(with("pages", Some("ms"), None), "--time-unit: pages has no times; leave it out");
    assert_eq!(
        with("baleen", None, Some("byte")),
        "--lba-unit: baleen states its own unit of addresses; leave it out"
    );
    assert_eq!(
        with("etw", None, Some("byte")),
        "--lba-unit: etw states its own unit of addresses; leave it out"
    );
}
