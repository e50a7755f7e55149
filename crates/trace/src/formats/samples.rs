//! Some lines or records of every format, shown in docs/format-samples.md and damaged by the property tests.

/// A sample of one format.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Name of the format.
    pub format: &'static str,
    /// The text, or the bytes in hexadecimal, 16 per line.
    pub shown: String,
    /// Whether these are bytes.
    pub binary: bool,
    /// Its origin.
    pub origin: &'static str,
}

const CONSTRUCTED: &str = "constructed from the documented schema; no real sample was at hand";
const REAL: &str = "after lines of a real trace";

/// Returns the origin of a format's sample.
fn origin(format: &str) -> &'static str {
    match format {
        "ftrace" | "biosnoop" | "fio-log" => "in the form of the tool's own output",
        "alibaba" | "k5cloud" | "oracle-general" | "pages" | "replayer" | "sepbit" | "systor17"
        | "tencent" | "thesios" => CONSTRUCTED,
        "baleen" => {
            "constructed in the shape of a unit test of ben-manes/caffeine; no real sample was at hand"
        }
        "etw" => {
            "the first record from a unit test of ben-manes/caffeine, the rest constructed from the schema"
        }
        "srt" => "constructed in the layout of a real trace",
        "blktrace" => "constructed in the layout of the kernel's header; equal to blkparse's text in tests",
        "vscsi" => "version 1, constructed in the layout of real records",
        "nbdkit-log" => "recorded for floatgate",
        "strace" | "perf-script" | "live" => "in the form of our own recordings",
        _ => REAL,
    }
}

/// Returns the sample of a format; none for Parquet, which is binary and too long for a listing.
#[must_use]
pub fn sample(format: &'static str) -> Option<Sample> {
    let texts = SAMPLES.iter().chain(EXTERNAL_SAMPLES).filter(|(name, _)| *name != "parquet");
    let text = texts.into_iter().find(|(name, _)| *name == format).map(|(_, text)| (*text).to_owned());
    let bytes =
        || binary_samples().into_iter().find(|(name, _)| *name == format).map(|(_, bytes)| hex(&bytes));
    let binary = text.is_none();
    let shown = text.or_else(bytes)?;
    Some(Sample { format, shown, binary, origin: origin(format) })
}

/// Returns the sample of a format as the bytes of a file.
#[must_use]
pub fn bytes(format: &str) -> Vec<u8> {
    let text = SAMPLES.iter().chain(EXTERNAL_SAMPLES).find(|(name, _)| *name == format);
    let binary = || binary_samples().into_iter().find(|(name, _)| *name == format).map(|(_, bytes)| bytes);
    text.map(|(_, text)| text.as_bytes().to_vec()).or_else(binary).unwrap_or_default()
}

fn hex(bytes: &[u8]) -> String {
    let line = |row: &[u8]| row.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ") + "\n";
    bytes.chunks(16).map(line).collect()
}

/// A few lines of every format.
pub(crate) const SAMPLES: &[(&str, &str)] = &[
    ("msr", "128166391024154329,prxy,0,Write,1105182720,1024,1514\n128166391024310068,hm,1,Read,0,4096,20\n"),
    ("spc", "0,20941264,8192,W,0.551706,Alpha/NT\n1,20939840,8192,r,0.554041\n"),
    ("disksim", "7961.833 0 20228336 8 0\n8346.206\t1\t6397360\t496\t1\n"),
    ("ssdsim", "0 0 303567 7 0\n0 1 55590 6 1\n26214000 0 303574 7 0\n"),
    ("mqsim", "11413000 0 657728 16 1\n11565000 1 31244784 64 0\n"),
    ("flashsim", "26.214000\t0\t303574\t1\t0\n78.643000\t0\t55596\t1\t1\n"),
    (
        "blkparse",
        "  8,16   0        4     0.000017985  5314  Q   R 1611592 + 256 [java]\n  8,16   0        7     \
         0.001092325  5314  C   R 1611592 + 256 [0]\n  8,33  4  1  0.5  3922  Q   N 0 (00 ..) [k w]\n  8,16   \
         1        8     0.002  5314  Q  DS 8 + 8 [java]\nCPU0 (8,16):\n Reads Queued:  0, 0KiB\n",
    ),
    (
        "ftrace",
        "# tracer: nop\n             app-77      [001] d..1. 100.001000: block_rq_issue: 8,0 WS 4096 () 2056 + 8 [app]\n    \
         kworker/0:1-9  [000] d..1. 100.001500: block_rq_complete: 8,0 WS () 2056 + 8 [0]\n    a b-1 (  1) [000] .... \
         100.002: block_rq_issue: 8,16 R 8192 () 64 + 16 be,0,4 [a b]\n",
    ),
    (
        "biosnoop",
        "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  LAT(ms)\n0.000000    app            77     sda     R \
         2048       4096      0.10\n0.001000    my app         78     sdb     WS 2056       8192      0.25\n",
    ),
    (
        "fio-iolog",
        "fio version 3 iolog\n30 /dev/null add\n10736 /dev/null trim 0 2147483648\n10752 /dev/null write 0 4096\n",
    ),
    (
        "nbdkit-log",
        "2026-11-21 02:56:10.744991 connection=1 Connect export=\"a\" tls=0 size=0x40000000\n2026-11-21 \
         02:56:10.852818 connection=1 Read id=3 offset=0x0 count=0x4000 ...\n2026-11-21 02:56:10.852837 \
         connection=1 ...Read id=3 return=0\n2026-11-21 02:56:10.853756 connection=1 Zero id=8 offset=0x3fff0000 \
         count=0x10000 trim=1 fua=0 fast=0 ...\n",
    ),
    (
        "disksim-valid",
        "R Miss  564347     2     14095.370     13876.270\nW Doub 1194877    15     17221.000     21894.380\n",
    ),
    (
        "fiu",
        "89966522969723 4270 rpc.mountd 18579576 8 W 6 0 d6c75ba46e82326fefa545b57a12e221\n89966527950584 4253 a b/c:0 \
         508516672 8 R 6 0 88b93b628d84082186026d9da044f173\n",
    ),
    (
        "ssdtrace",
        "259,2    0        1     0.000000000  4020  Q   R 282624 + 8 [java]\n259,2    0        3     0.000003650  4020  U   \
         N [java] 1\n259,2    0        5     0.000005462  4020  Q  RS 282624 + 8 [java]\n",
    ),
    (
        "wiscsee",
        "39949 D read 299008 4096 0.000000000 0 False\n0 C read 299008 4096 0.000122793 0.000122793 False\n1386 D discard \
         136314880 4096 0.439239477 4.43e-06 False\n",
    ),
    (
        "cloudphysics",
        "version,time,op,size,lbn\n1,5633898368802,2a,512,42932745\n1,5633898611441,28,512,42932746\n",
    ),
    ("pages", "5\n1048576\n*\n0\n"),
    ("arc", "1 1 0 0\n2 3 0 1\n"),
    (
        "etw",
        "BeginHeader\n               DiskRead,  TimeStamp,     Process Name ( PID)\nEndHeader\n               DiskRead,     \
         723291, p0 (11008),      12260, 0xfffffade691b3010, 0x4e5ec22e00, 0x00002000,        4388,        4, 0x000901,   \
              4388,       0,  Unknown, 0xfffffade6bd7d7a0, \"Disk6\"\n DiskWrite, 723300, p0 (1), 2, 0x1, 0x200, 0x400, 5, \
         0, 0x1, 5, 0, Unknown, 0x2, \"a, b\"\n DiskFlush, 723301, p0 (1), 2, 0x1\n",
    ),
    ("alibaba", "0,R,126703644672,4096,1577808000000626\n1,W,0,16384,1577808000000700\n"),
    ("tencent", "1538323200,12910952,128,0,1063\n1538323201,8,8,1,7\n"),
    (
        "systor17",
        "Timestamp,Response,IOType,LUN,Offset,Size\n1455592181.070220000,,R,1,1131012096,65536\n1455592181.5,0.001,W,3,0,\
         4096\n1455592182,,,3,,\n",
    ),
    ("k5cloud", "0,0.0,R,8192,4096\n1,0.000125,W,0,512\n"),
    (
        "baleen",
        "# block_id io_offset io_size op_time op_name\n10 0 131072 1000 2 0 0 7 3 0\n11 131072 4096 1001.5 4 0 0 7 1 0\n",
    ),
    ("fio-log", "0, 81250, 1, 4096, 8192, 0\n2, 93412, 0, 16384, 0, 0\n"),
    (
        "thesios",
        "filename,file_offset,application,op_type,request_io_size_bytes,start_time\n\
         a1f,0,spanner,WRITE,4096,1705276800.25\nb2e,8192,bigtable,READ,512,1705276800.5\n",
    ),
    ("replayer", "0.0,0,4096,8192,1\n1.25,1,0,512,0\n"),
    ("sepbit", "0.5 1 100 4096 0\n1.5 3 0 8192 2\n2 0 7 4096 1\n"),
];

/// Formats that share their lines with others: only an extension or `--format` decides.
#[cfg(test)]
pub(crate) const SHARED: &[&str] = &["ssdsim", "mqsim", "flashsim", "disksim", "ssdtrace", "sepbit"];

/// Returns three records of every binary format.
pub(crate) fn binary_samples() -> Vec<(&'static str, Vec<u8>)> {
    let words = |words: &[u32]| words.iter().flat_map(|w| w.to_be_bytes()).collect::<Vec<u8>>();
    let mut srt = b"$$TR_IOREC-1.3 (test)\0\nsectorsize  = 256,\n\x0c".to_vec();
    srt.extend(words(&[56, 0x4_0001, 0, 5, 1, 2, 4096, 1056, 0x0800_0107, 4, 1, 1, 0, 1]));
    srt.extend(words(&[52, 0x3_0001, 1, 0, 1, 2, 512, 8, 0x0800_000f, 4, 1, 0, 0]));
    srt.extend(words(&[56, 0x3_0002, 1, 9, 1, 2, 512, 8, 0x0800_000f, 4, 1, 0, 0, 7]));
    let vscsi = |v2: bool| {
        let record = |(serial, command, sector, micros): (u32, u16, u64, u64)| {
            let head = [command.to_le_bytes(), (if v2 { 0x200u16 } else { 0x100 }).to_le_bytes()].concat();
            let counts = [serial.to_le_bytes(), 512u32.to_le_bytes(), 1u32.to_le_bytes()].concat();
            let tail = [sector.to_le_bytes(), micros.to_le_bytes()].concat();
            if v2 { [head, counts, tail, vec![9; 8]].concat() } else { [counts, head, tail].concat() }
        };
        [(1, 0x2a, 8, 100), (2, 0x28, 0, 200), (3, 0x35, 0, 300)].map(record).concat()
    };
    let blktrace = |(sequence, time, sector, action, payload): (u32, u64, u64, u32, &[u8])| {
        let words = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
        let head =
            [words(&[0x6561_7407, sequence]), time.to_le_bytes().to_vec(), sector.to_le_bytes().to_vec()];
        let tail = words(&[4096, action, 77, 8 << 20, 0, (payload.len() as u32) << 16]);
        [head.concat(), tail, payload.to_vec()].concat()
    };
    let oracle = |(time, object, bytes, next): (u32, u64, u32, i64)| {
        [&time.to_le_bytes()[..], &object.to_le_bytes(), &bytes.to_le_bytes(), &next.to_le_bytes()].concat()
    };
    vec![
        ("srt", srt),
        (
            "blktrace",
            [
                (0, 900, 0, 1 << 26, &b"app\0"[..]),
                (1, 1000, 2048, 0x11_0001, b""),
                (2, 1500, 2048, 0x41_0007, b""),
                (3, 2000, 8192, 0x12_0001, b""),
                (4, 3000, 8192, 0x2012_0001, b""),
            ]
            .map(blktrace)
            .concat(),
        ),
        ("vscsi", vscsi(false)),
        ("vscsi", vscsi(true)),
        ("oracle-general", [(5, 8, 4096, 2), (6, 9, 512, -1), (6, 8, 4096, i64::MAX)].map(oracle).concat()),
        ("live", super::live::sample()),
        ("pages", [5u32, 1 << 20, u32::MAX].map(u32::to_le_bytes).concat()),
    ]
}

/// Beginnings of traces that are parsed outside of the core.
pub(crate) const EXTERNAL_SAMPLES: &[(&str, &str)] = &[
    (
        "strace",
        "17 1732104000.000000001 openat(AT_FDCWD</w>, \"a\", O_RDWR|O_CREAT, 0644) = 3</w/a>\n\
         17 1732104000.000100001 pwrite64(3</w/a>, \"x\"..., 4096, 0) = 4096\n \
         > /usr/lib/libc.so.6(__pwrite64+0x12) [0xfd0e2]\n > /w/prog(flush+0x20) [0x1189]\n",
    ),
    (
        "perf-script",
        "prog    17 [001]   100.000000001: block:block_rq_issue: 8,16 W 4096 () 2048 + 8 none,0,0 [prog]\n\
         \t            1189 flush+0x20 (/w/prog)\n\n",
    ),
    ("parquet", "PAR1\u{15}\u{4}"),
];
