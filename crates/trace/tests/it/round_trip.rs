//! Written traces are read back: everything that the format can represent, and the rest is counted.

use crate::common::memory::{Memory, any_source};
use crate::common::{Row, open_bytes, options, rows_of};
use floatgate_base::Op;
use floatgate_trace::write::write;
use floatgate_trace::{Generator, GeneratorConfig, Source, WriteFormat, WriteReport};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Writes a source and reads it back.
fn round(source: &mut dyn Source, format: WriteFormat, name: &str) -> (Vec<Row>, WriteReport) {
    let mut out = Vec::new();
    let report = write(source, format, &mut out).unwrap();
    (rows_of(&mut *open_bytes(&out, "t", &options(Some(name))).unwrap(), 100).unwrap(), report)
}

/// A format's effect on a stamp, on the bytes addressed, and on a TRIM.
struct Holds {
    format: WriteFormat,
    name: &'static str,
    unit_ns: i64,
    negative: bool,
    sectors: bool,
    trims: bool,
}

const FORMATS: [Holds; 5] = [
    Holds {
        format: WriteFormat::FioIologV2,
        name: "fio-iolog",
        unit_ns: 0,
        negative: false,
        sectors: false,
        trims: true,
    },
    Holds {
        format: WriteFormat::FioIologV3,
        name: "fio-iolog",
        unit_ns: 1000,
        negative: false,
        sectors: false,
        trims: true,
    },
    Holds {
        format: WriteFormat::Msr,
        name: "msr",
        unit_ns: 100,
        negative: true,
        sectors: false,
        trims: false,
    },
    Holds {
        format: WriteFormat::MqSim,
        name: "mqsim",
        unit_ns: 1,
        negative: false,
        sectors: true,
        trims: false,
    },
    Holds {
        format: WriteFormat::BlkParse,
        name: "blkparse",
        unit_ns: 1,
        negative: false,
        sectors: true,
        trims: true,
    },
];

/// Returns the whole sectors around some bytes, within 2^64 bytes and, for transfers, 1 TiB.
fn whole_sectors(op: Op, offset: u64, bytes: u64) -> (u64, u64) {
    let end = (u128::from(offset) + u128::from(bytes)).div_ceil(512) * 512;
    let end = end.min((1 << 64) - 512) as u64;
    let first = (offset / 512 * 512).min(end - 512);
    let most = if op == Op::Trim { u64::MAX } else { 1 << 40 };
    (first, (end - first).min(most))
}

impl Holds {
    /// Returns what must be read back, with the source's names of devices, and what must be counted.
    fn expected(&self, source: &Memory) -> (Vec<Row>, WriteReport) {
        let (mut rows, mut report) = (Vec::new(), WriteReport::default());
        let all = &source.rows;
        for i in 0..all.len() {
            let (mut time, op, mut offset, mut bytes) =
                (all.time_ns[i], all.op[i], all.offset[i], all.bytes[i]);
            report.contexts_left_out += u64::from(source.columns.context && all.context[i] != 0);
            report.streams_left_out += u64::from(source.columns.stream && all.stream[i] != 0);
            report.contents_left_out += u64::from(source.columns.content && !all.content.range(i).is_empty());
            if op == Op::Trim && !self.trims {
                report.trims_left_out += 1;
                continue;
            }
            if self.unit_ns == 0 {
                report.stamps_left_out += u64::from(source.times);
                time = 0;
            } else {
                report.stamps_made_up += u64::from(!source.times);
                if time < 0 && !self.negative {
                    report.stamps_clamped += 1;
                    time = 0;
                }
                report.stamps_rounded += u64::from(time % self.unit_ns != 0);
                time = time.div_euclid(self.unit_ns) * self.unit_ns;
            }
            if self.sectors {
                report.widened += u64::from(offset % 512 != 0 || bytes % 512 != 0);
                (offset, bytes) = whole_sectors(op, offset, bytes);
            }
            report.requests += 1;
            rows.push((time, source.devices[usize::from(all.device[i])].clone(), op, offset, bytes));
        }
        let first = rows.first().map_or(0, |r| r.0);
        rows.iter_mut().for_each(|r| r.0 -= first);
        (rows, report)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Everything that a format can represent survives unchanged, and everything else is counted, to the request.
    #[test]
    fn requests_survive(mut source in any_source(1..60)) {
        for holds in FORMATS {
            let (expected, mut counted) = holds.expected(&source);
            source.rewind().unwrap();
            let mut out = Vec::new();
            let written = write(&mut source, holds.format, &mut out);
            if expected.is_empty() {
                let error = written.unwrap_err().to_string();
                let all = format!("--to: all {} requests are TRIMs", source.rows.len());
                prop_assert!(error.starts_with(&all), "{}", error);
                continue;
            }
            let report = written.unwrap();
            let read_back = rows_of(&mut *open_bytes(&out, "t", &options(Some(holds.name))).unwrap(), 100).unwrap();
            // Devices stay distinct, each with one name, and renamed ones are counted.
            let pairs: BTreeSet<(&str, &str)> =
                expected.iter().zip(&read_back).map(|(e, f)| (e.1.as_str(), f.1.as_str())).collect();
            prop_assert_eq!(pairs.len(), pairs.iter().map(|p| p.0).collect::<BTreeSet<_>>().len());
            prop_assert_eq!(pairs.len(), pairs.iter().map(|p| p.1).collect::<BTreeSet<_>>().len());
            counted.devices_renamed = pairs.iter().filter(|(own, new)| own != new).count() as u64;
            let named = |rows: &[Row]| rows.iter().map(|r| (r.0, r.2, r.3, r.4)).collect::<Vec<_>>();
            prop_assert_eq!(named(&read_back), named(&expected), "{}", holds.name);
            prop_assert_eq!(report, counted, "{}", holds.name);
        }
    }

    /// A second conversion to blkparse text is lossless, whatever the first one lost.
    #[test]
    fn a_second_time_nothing_is_lost(mut source in any_source(1..40)) {
        for holds in FORMATS {
            source.rewind().unwrap();
            let mut out = Vec::new();
            if write(&mut source, holds.format, &mut out).is_err() {
                continue;
            }
            let read = |text: &[u8]| open_bytes(text, "t", &options(Some(holds.name))).unwrap();
            let (mut again, mut first) = (Vec::new(), read(&out));
            // Stamps count from the first request, which may have been the only one of its size.
            let report = write(&mut *first, holds.format, &mut again).unwrap();
            let kept = WriteReport { requests: report.requests, stamps_clamped: report.stamps_clamped, ..WriteReport::default() };
            prop_assert_eq!(report, kept);
            if report.stamps_clamped == 0 {
                let rows = |text: &[u8]| rows_of(&mut *read(text), 9).unwrap();
                prop_assert_eq!(rows(&again), rows(&out));
            }
        }
    }
}

#[test]
fn blkparse_is_recognised_by_its_content() {
    let log = "fio version 3 iolog\n0 sdb read 512 1000\n1500001 sdc trim 0 4096\n";
    let mut source = open_bytes(log.as_bytes(), "t", &options(None)).unwrap();
    let mut out = Vec::new();
    let report = write(&mut *source, WriteFormat::BlkParse, &mut out).unwrap();
    assert_eq!(
        String::from_utf8(out.clone()).unwrap(),
        "259,0 0 1 0.000000000 0 Q R 1 + 2 [floatgate]\n259,1 0 2 1.500001000 0 Q D 0 + 8 [floatgate]\n"
    );
    assert_eq!((report.requests, report.widened, report.devices_renamed), (2, 1, 2));
    for name in ["t", "t.blkparse", "t.txt"] {
        assert_eq!(open_bytes(&out, name, &options(None)).unwrap().format(), "blkparse");
    }
}

#[test]
fn what_a_format_cannot_hold_is_counted() {
    let content = b"2000.0 7 8 1 0\n2000.0000015 7 8 1 1\n1999 3 8 1 0\n";
    let open = || open_bytes(content, "t", &options(Some("disksim"))).unwrap();
    let (read_back, report) = round(&mut *open(), WriteFormat::FioIologV3, "fio-iolog");
    assert_eq!(
        read_back.iter().map(|r| (r.0, r.1.as_str())).collect::<Vec<_>>(),
        [(0, "7"), (0, "7"), (0, "3")]
    );
    assert_eq!((report.stamps_clamped, report.stamps_rounded), (1, 1));
    let (read_back, report) = round(&mut *open(), WriteFormat::Msr, "msr");
    let times: Vec<_> = read_back.iter().map(|r| (r.0, r.1.as_str())).collect();
    assert_eq!(times, [(0, "7_0"), (0, "7_0"), (-1_000_000, "3_0")]);
    assert_eq!((report.stamps_clamped, report.stamps_rounded), (0, 1));
    let (read_back, report) = round(&mut *open(), WriteFormat::BlkParse, "blkparse");
    let times: Vec<_> = read_back.iter().map(|r| (r.0, r.1.as_str())).collect();
    assert_eq!(times, [(0, "259,0"), (2, "259,0"), (0, "259,1")]);
    assert_eq!((report.stamps_clamped, report.stamps_rounded, report.devices_renamed), (1, 0, 2));
    let (read_back, report) = round(&mut *open(), WriteFormat::MqSim, "mqsim");
    assert_eq!(
        read_back.iter().map(|r| (r.0, r.1.as_str())).collect::<Vec<_>>(),
        [(0, "7"), (2, "7"), (0, "3")]
    );
    assert_eq!((report.stamps_clamped, report.stamps_rounded), (1, 0));
}

#[test]
fn a_source_without_times_becomes_version_2() {
    let config = GeneratorConfig { requests: 1000, trim_share: 0.2, ..GeneratorConfig::default() };
    let mut out = Vec::new();
    let mut source = Generator::new(config.clone()).unwrap();
    write(&mut source, WriteFormat::FioIolog, &mut out).unwrap();
    assert!(out.starts_with(b"fio version 2 iolog\nsynthetic add\nsynthetic open\nsynthetic write "));
    assert!(out.ends_with(b"\nsynthetic close\n"));
    let mut source = Generator::new(config).unwrap();
    let original = rows_of(&mut source, 100).unwrap();
    source.rewind().unwrap();
    assert_eq!(round(&mut source, WriteFormat::FioIologV2, "fio-iolog").0, original);
    source.rewind().unwrap();
    assert_eq!(round(&mut source, WriteFormat::FioIologV3, "fio-iolog").0, original);
}

#[test]
fn devices_keep_apart_whatever_they_are_called() {
    // Exports may contain blanks, and two names may become one: a number distinguishes them.
    let log: String = ["a b", "a_b", "c,0", "c"]
        .iter()
        .enumerate()
        .map(|(i, export)| {
            format!(
                "2026-11-21 02:56:1{i}.0 connection={i} Connect export=\"{export}\" tls=0\n\
                 2026-11-21 02:56:1{i}.5 connection={i} Write id=1 offset=0x0 count=0x200 fua=0 ...\n"
            )
        })
        .collect();
    for (format, name, expected) in [
        (WriteFormat::FioIolog, "fio-iolog", ["a_b", "a_b_2", "c,0", "c"]),
        (WriteFormat::Msr, "msr", ["a b_0", "a_b_0", "c_0_0", "c_0"]),
        (WriteFormat::MqSim, "mqsim", ["0", "1", "2", "3"]),
        (WriteFormat::BlkParse, "blkparse", ["259,0", "259,1", "259,2", "259,3"]),
    ] {
        let mut source = open_bytes(log.as_bytes(), "t", &options(Some("nbdkit-log"))).unwrap();
        let names: Vec<String> = round(&mut *source, format, name).0.into_iter().map(|r| r.1).collect();
        assert_eq!(names, expected, "{name}");
    }
}

#[test]
fn unknown_targets_are_refused() {
    assert_eq!(WriteFormat::parse("msr").unwrap(), WriteFormat::Msr);
    assert_eq!(
        WriteFormat::parse("parquet").unwrap_err().to_string(),
        "--to: 'parquet' cannot be written; expected one of 'fio-iolog', 'fio-iolog-v2', 'fio-iolog-v3', 'msr', 'mqsim' or 1 other ('floatgate trace convert --help' lists all)"
    );
}
