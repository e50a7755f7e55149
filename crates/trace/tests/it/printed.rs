//! Random requests printed in each format by this file, read back by the format's reader.
//!
//! The printers are independent of the readers: each follows the format's description alone. `FLOATGATE_TRACES=n` sets how
//! many random traces go through each format. Formats with a model behind them (`strace`, `perf-script`, `disksim-valid`),
//! `srt`, `parquet` and described columns have tests of their own.

use crate::common::{Row, open_bytes, options, rows_of};
use floatgate_base::{Op, Rng};
use std::fmt::Write as _;

/// A request in the units of its format.
struct Request {
    tick: u64,
    op: Op,
    lba: u64,
    size: u64,
    device: usize,
    /// Number of the request, from 0.
    number: usize,
}

impl Request {
    /// Writes the time with `decimals` digits behind the point.
    fn decimal(&self, decimals: u32) -> String {
        let unit = 10u64.pow(decimals);
        format!("{}.{:0width$}", self.tick / unit, self.tick % unit, width = decimals as usize)
    }

    /// Selects the word of the operation.
    fn word<'a>(&self, read: &'a str, write: &'a str, trim: &'a str) -> &'a str {
        match self.op {
            Op::Read => read,
            Op::Write => write,
            Op::Trim => trim,
        }
    }
}

/// A format, its units and its printer.
struct Format {
    name: &'static str,
    /// Nanoseconds of a tick; 0 for formats without times.
    tick_ns: u64,
    lba_bytes: u64,
    size_bytes: u64,
    /// Least size, in its unit.
    least: u64,
    ops: &'static [Op],
    /// Names of devices as they are read.
    devices: &'static [&'static str],
    head: &'static str,
    print: fn(&Request, &mut Vec<u8>),
}

const RW: &[Op] = &[Op::Read, Op::Write];
const RWT: &[Op] = &[Op::Read, Op::Write, Op::Trim];
const READS: &[Op] = &[Op::Read];
const ONE: &[&str] = &["0"];
const NUMBERED: &[&str] = &["0", "1"];
const PAIRS: &[&str] = &["8,0", "8,1"];

/// Makes a printer of text out of an expression.
macro_rules! line {
    (|$r:ident| $($text:tt)*) => {
        |$r, out| out.extend_from_slice((format!($($text)*) + "\n").as_bytes())
    };
}

macro_rules! format_of {
    ($name:literal, $tick:expr, $lba:expr, $size:expr, $ops:expr, $devices:expr, $head:expr, $print:expr) => {
        Format {
            name: $name,
            tick_ns: $tick,
            lba_bytes: $lba,
            size_bytes: $size,
            least: 1,
            ops: $ops,
            devices: $devices,
            head: $head,
            print: $print,
        }
    };
}

const TEXT_FORMATS: &[Format] = &[
    format_of!(
        "msr",
        100,
        1,
        1,
        RW,
        &["h_0", "h_1"],
        "",
        line!(
            |r| "{},h,{},{},{},{},7",
            128_166_372_003_061_629 + r.tick,
            r.device,
            r.word("Read", "Write", ""),
            r.lba,
            r.size
        )
    ),
    format_of!(
        "spc",
        1000,
        512,
        1,
        RW,
        &["asu0", "asu1"],
        "",
        line!(|r| "{},{},{},{},{}", r.device, r.lba, r.size, r.word("R", "w", ""), r.decimal(6))
    ),
    format_of!(
        "disksim",
        1000,
        512,
        512,
        RW,
        NUMBERED,
        "",
        line!(|r| "{} {} {} {} {}", r.decimal(3), r.device, r.lba, r.size, r.word("1", "0", ""))
    ),
    format_of!(
        "ssdsim",
        1,
        512,
        512,
        RW,
        NUMBERED,
        "",
        line!(|r| "{} {} {} {} {}", r.tick, r.device, r.lba, r.size, r.word("1", "0", ""))
    ),
    format_of!(
        "mqsim",
        1,
        512,
        512,
        RW,
        NUMBERED,
        "",
        line!(|r| "{} {} {} {} {}", r.tick, r.device, r.lba, r.size, r.word("1", "0", ""))
    ),
    format_of!(
        "flashsim",
        1,
        512,
        4096,
        RW,
        NUMBERED,
        "",
        line!(|r| "{}\t{}\t{}\t{}\t{}", r.decimal(6), r.device, r.lba, r.size, r.word("1", "0", ""))
    ),
    format_of!(
        "blkparse",
        1,
        512,
        512,
        RWT,
        PAIRS,
        "",
        line!(
            |r| "  8,{} 0 {} {} 77  Q {} {} + {} [a b]",
            r.device,
            r.number + 1,
            r.decimal(9),
            r.word("RA", "WS", "D"),
            r.lba,
            r.size
        )
    ),
    format_of!(
        "ssdtrace",
        1,
        512,
        512,
        RW,
        PAIRS,
        "",
        line!(
            |r| "8,{} 0 {} {} 77 D {} {} + {} [java]",
            r.device,
            r.number + 1,
            r.decimal(9),
            r.word("R", "W", ""),
            r.lba,
            r.size
        )
    ),
    format_of!(
        "ftrace",
        1000,
        512,
        512,
        RWT,
        PAIRS,
        "# tracer: nop\n",
        line!(
            |r| "   a b-{} [000] d..1. {}: block_rq_issue: 8,{} {} {} () {} + {} [a b]",
            70 + r.number % 3,
            r.decimal(6),
            r.device,
            r.word("R", "FWFS", "D"),
            r.size * 512,
            r.lba,
            r.size
        )
    ),
    format_of!(
        "biosnoop",
        1000,
        512,
        1,
        RW,
        &["sda", "sdb"],
        "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  LAT(ms)\n",
        line!(
            |r| "{} my app {} {} {} {} {} 0.25",
            r.decimal(6),
            70 + r.number % 3,
            ["sda", "sdb"][r.device],
            r.word("R", "W", ""),
            r.lba,
            r.size
        )
    ),
    format_of!(
        "fio-iolog",
        1000,
        1,
        1,
        RWT,
        &["/a", "/b"],
        "fio version 3 iolog\n0 /a add\n0 /b add\n",
        line!(
            |r| "{} {} {} {} {}",
            r.tick,
            ["/a", "/b"][r.device],
            r.word("read", "write", "trim"),
            r.lba,
            r.size
        )
    ),
    format_of!(
        "fio-log",
        1_000_000,
        1,
        1,
        RWT,
        ONE,
        "",
        line!(|r| "{}, {}, {}, {}, {}, 0", r.tick, 80_000 + r.number, r.word("0", "1", "2"), r.size, r.lba)
    ),
    format_of!(
        "nbdkit-log",
        1000,
        1,
        1,
        RWT,
        &["a"],
        "2026-11-21 00:00:00.000000 connection=1 Connect export=\"a\" tls=0 size=0x40000000\n",
        |r, out| {
            let (s, us) = (r.tick / 1_000_000 % 86_400, r.tick % 1_000_000);
            let clock = format!("{:02}:{:02}:{:02}.{us:06}", s / 3600, s / 60 % 60, s % 60);
            let (op, n) = (r.word("Read", "Write", "Trim"), r.number);
            let text = format!(
                "2026-11-21 {clock} connection=1 {op} id={n} offset={:#x} count={:#x} ...\n",
                r.lba, r.size
            );
            out.extend_from_slice(text.as_bytes());
        }
    ),
    format_of!(
        "fiu",
        1,
        512,
        512,
        RW,
        &["6,0", "6,1"],
        "",
        line!(
            |r| "{} 42 a/b {} {} {} 6 {} {:032x}",
            89_966_522_969_723 + r.tick,
            r.lba,
            r.size,
            r.word("R", "W", ""),
            r.device,
            r.number + 1
        )
    ),
    format_of!(
        "wiscsee",
        1,
        1,
        1,
        RWT,
        ONE,
        "",
        line!(
            |r| "39 D {} {} {} {} 0 False",
            r.word("read", "write", "discard"),
            r.lba,
            r.size,
            r.decimal(9)
        )
    ),
    format_of!(
        "cloudphysics",
        1000,
        512,
        1,
        RW,
        ONE,
        "version,time,op,size,lbn\n",
        line!(|r| "1,{},{},{},{}", r.tick, r.word("28", "2a", ""), r.size, r.lba)
    ),
    format_of!("pages", 0, 4096, 4096, READS, ONE, "", line!(|r| "{}", r.lba)),
    format_of!("arc", 0, 512, 512, READS, ONE, "", line!(|r| "{} {} 0 {}", r.lba, r.size, r.number)),
    format_of!(
        "etw",
        1000,
        1,
        1,
        RW,
        &["disk0", "disk1"],
        "BeginHeader\nEndHeader\n",
        line!(
            |r| " {}, {}, p0 ({}), 2, 0x1, {:#x}, {:#x}, 5, {}, 0x1, 5, 0, Unknown, 0x2",
            r.word("DiskRead", "DiskWrite", ""),
            r.tick,
            r.number,
            r.lba,
            r.size,
            r.device
        )
    ),
    format_of!(
        "alibaba",
        1000,
        1,
        1,
        RW,
        NUMBERED,
        "",
        line!(
            |r| "{},{},{},{},{}",
            r.device,
            r.word("R", "W", ""),
            r.lba,
            r.size,
            1_577_808_000_000_626 + r.tick
        )
    ),
    format_of!(
        "tencent",
        1_000_000_000,
        512,
        512,
        RW,
        NUMBERED,
        "",
        line!(|r| "{},{},{},{},{}", 1_538_323_200 + r.tick, r.lba, r.size, r.word("0", "1", ""), r.device)
    ),
    format_of!(
        "systor17",
        1,
        1,
        1,
        RW,
        &["LUN0", "LUN1"],
        "Timestamp,Response,IOType,LUN,Offset,Size\n",
        line!(|r| "{},,{},{},{},{}", r.decimal(9), r.word("R", "W", ""), r.device, r.lba, r.size)
    ),
    format_of!(
        "k5cloud",
        1000,
        1,
        1,
        RW,
        NUMBERED,
        "",
        line!(|r| "{},{},{},{},{}", r.device, r.decimal(6), r.word("R", "W", ""), r.lba, r.size)
    ),
    format_of!(
        "baleen",
        1_000_000_000,
        65_536,
        1,
        RW,
        ONE,
        "# block_id io_offset io_size op_time op_name\n",
        line!(
            |r| "{} {} {} {} {} 0 0 7 3 0",
            r.lba / 128,
            r.lba % 128 * 65_536,
            r.size,
            r.tick,
            r.word("2", "4", "")
        )
    ),
    format_of!(
        "thesios",
        1000,
        1,
        1,
        RW,
        ONE,
        "filename,op_type,start_time,file_offset,request_io_size_bytes\n",
        line!(|r| "a1f,{},{},{},{}", r.word("READ", "WRITE", ""), r.decimal(6), r.lba, r.size)
    ),
    format_of!(
        "replayer",
        1000,
        1,
        1,
        RW,
        NUMBERED,
        "",
        line!(|r| "{},{},{},{},{}", r.decimal(3), r.device, r.lba, r.size, r.word("1", "0", ""))
    ),
    Format {
        least: 4096,
        ..format_of!(
            "sepbit",
            1_000_000_000,
            4096,
            1,
            RWT,
            ONE,
            "",
            line!(|r| "{} {} {} {} 0", r.tick, r.word("0", "1", "3"), r.lba, r.size)
        )
    },
];

const BINARY_FORMATS: &[Format] = &[
    format_of!("vscsi", 1000, 512, 1, RW, ONE, "", |r, out| {
        let command = if r.op == Op::Read { 0x28u16 } else { 0x2a };
        out.extend([r.number as u32, r.size as u32, 1].map(u32::to_le_bytes).concat());
        out.extend([command, 0x100].map(u16::to_le_bytes).concat());
        out.extend([r.lba, r.tick].map(u64::to_le_bytes).concat());
    }),
    format_of!("oracle-general", 1_000_000_000, 512, 1, READS, ONE, "", |r, out| {
        out.extend((r.tick as u32).to_le_bytes());
        out.extend(r.lba.to_le_bytes());
        out.extend((r.size as u32).to_le_bytes());
        out.extend((-1i64).to_le_bytes());
    }),
    format_of!("blktrace", 1, 512, 512, RWT, PAIRS, "", |r, out| {
        // Queued (1), with bits of queueing and of the operation: write 1 << 17, read 1 << 16, discard as well.
        let bits = match r.op {
            Op::Read => 1u32 << 16,
            Op::Write => 1 << 17,
            Op::Trim => 1 << 17 | 1 << 29,
        };
        out.extend([0x6561_7407, r.number as u32].map(u32::to_le_bytes).concat());
        out.extend([r.tick, r.lba].map(u64::to_le_bytes).concat());
        let words = [r.size as u32 * 512, 0x10_0001 | bits, 77, 8 << 20 | r.device as u32, 0, 0];
        out.extend(words.map(u32::to_le_bytes).concat());
    }),
];

/// Prints random requests; returns the file and what must be read.
fn printed(format: &Format, rng: &mut Rng) -> (Vec<u8>, Vec<Row>) {
    let (mut out, mut expected, mut tick) = (format.head.as_bytes().to_vec(), Vec::new(), rng.below(1 << 20));
    let first = tick;
    for number in 0..1 + rng.below(30) as usize {
        // Pages are of one size.
        let size = if format.name == "pages" { 1 } else { format.least * (1 + rng.below(16)) };
        let request = Request {
            tick,
            op: format.ops[rng.below(format.ops.len() as u64) as usize],
            lba: rng.below(if format.name == "thesios" { 1 << 25 } else { 1 << 30 }),
            size: if format.size_bytes == 1 { size.max(rng.below(4096)) } else { size },
            device: rng.below(format.devices.len() as u64) as usize,
            number,
        };
        // Sizes in pages or in bytes are distinguished by the sizes.
        let request = if format.name == "sepbit" { Request { size, ..request } } else { request };
        (format.print)(&request, &mut out);
        expected.push((
            ((tick - first) * format.tick_ns) as i64,
            format.devices[request.device].to_owned(),
            request.op,
            request.lba * format.lba_bytes,
            request.size * format.size_bytes,
        ));
        tick += rng.below(100_000);
    }
    (out, expected)
}

#[test]
fn what_is_printed_is_read_back() {
    let traces = std::env::var("FLOATGATE_TRACES").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    for format in TEXT_FORMATS.iter().chain(BINARY_FORMATS) {
        for seed in 0..traces {
            let mut rng = Rng::new(seed, format.name);
            let (content, expected) = printed(format, &mut rng);
            let opened = open_bytes(&content, "t", &options(Some(format.name)));
            let rows = opened.and_then(|mut source| rows_of(&mut *source, 1 + rng.below(40) as usize));
            let mut shown = String::new();
            write!(shown, "{}, seed {seed}:\n{}", format.name, String::from_utf8_lossy(&content)).unwrap();
            assert_eq!(rows.unwrap_or_else(|error| panic!("{error}\n{shown}")), expected, "{shown}");
        }
    }
}
