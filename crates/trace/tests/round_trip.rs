//! What is written is read back: all of it where the format can hold it, and counted where not.
#![allow(missing_docs)]

mod common;

use common::{Row, open_bytes, options, rows_of};
use floatgate_base::Op;
use floatgate_trace::write::write;
use floatgate_trace::{Generator, GeneratorConfig, Source, WriteFormat, WriteReport};
use proptest::prelude::*;

/// Writes a source and reads it back.
fn round(source: &mut dyn Source, format: WriteFormat, name: &str) -> (Vec<Row>, WriteReport) {
    let mut out = Vec::new();
    let report = write(source, format, &mut out).unwrap();
    (rows_of(&mut *open_bytes(&out, "t", &options(Some(name))).unwrap(), 100).unwrap(), report)
}

/// A source of the given requests, by way of an iolog that names devices and microseconds.
fn source_of(rows: &[(u64, u8, u8, u64, u64)]) -> Box<dyn Source> {
    let mut text = "fio version 3 iolog\n".to_owned();
    for (us, device, op, offset, bytes) in rows {
        let op = ["read", "write", "trim"][usize::from(*op)];
        text += &format!("{us} disk_{device} {op} {offset} {bytes}\n");
    }
    open_bytes(text.as_bytes(), "t", &options(Some("fio-iolog"))).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn requests_survive(
        rows in prop::collection::vec((0u64..1 << 40, 0u8..5, 0u8..3, 0u64..1 << 45, 1u64..1 << 30), 1..60),
    ) {
        let mut rows = rows;
        // The first stamp is the smallest, since fio and MQSim know no negative times.
        rows[0].0 = 0;
        let original = rows_of(&mut *source_of(&rows), 9).unwrap();
        let (found, report) = round(&mut *source_of(&rows), WriteFormat::FioIolog, "fio-iolog");
        prop_assert_eq!(&found, &original);
        prop_assert_eq!(report, WriteReport { requests: rows.len() as u64, ..WriteReport::default() });

        let kept: Vec<Row> = original.iter().filter(|r| r.2 != Op::Trim).cloned().collect();
        prop_assume!(!kept.is_empty());
        let first = kept[0].0;
        let expected: Vec<Row> = kept.iter().cloned().map(|r| (r.0 - first, r.1, r.2, r.3, r.4)).collect();
        let (found, report) = round(&mut *source_of(&rows), WriteFormat::Msr, "msr");
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(report.trims_left_out as usize, original.len() - kept.len());
        prop_assert_eq!(report.stamps_rounded, 0);

        let (found, report) = round(&mut *source_of(&rows), WriteFormat::MqSim, "mqsim");
        let mut widened = 0;
        for (f, e) in found.iter().zip(&expected) {
            widened += u64::from(e.3 % 512 != 0 || e.4 % 512 != 0);
            prop_assert_eq!((f.0, f.2), (e.0, e.2));
            prop_assert_eq!(format!("disk_{}", f.1), e.1.clone());
            prop_assert!(f.3 <= e.3 && f.3 + 512 > e.3 && f.3 + f.4 >= e.3 + e.4 && f.3 + f.4 < e.3 + e.4 + 512);
        }
        prop_assert_eq!((found.len(), report.widened), (expected.len(), widened));
    }
}

#[test]
fn what_a_format_cannot_hold_is_counted() {
    let content = b"2000.0 7 8 1 0\n2000.0000015 7 8 1 1\n1999 3 8 1 0\n";
    let open = || open_bytes(content, "t", &options(Some("disksim"))).unwrap();
    let (found, report) = round(&mut *open(), WriteFormat::FioIologV3, "fio-iolog");
    assert_eq!(found.iter().map(|r| (r.0, r.1.as_str())).collect::<Vec<_>>(), [(0, "7"), (0, "7"), (0, "3")]);
    assert_eq!((report.stamps_clamped, report.stamps_rounded), (1, 1));
    let (found, report) = round(&mut *open(), WriteFormat::Msr, "msr");
    let times: Vec<_> = found.iter().map(|r| (r.0, r.1.as_str())).collect();
    assert_eq!(times, [(0, "7_0"), (0, "7_0"), (-1_000_000, "3_0")]);
    assert_eq!((report.stamps_clamped, report.stamps_rounded), (0, 1));
    let (found, report) = round(&mut *open(), WriteFormat::MqSim, "mqsim");
    assert_eq!(found.iter().map(|r| (r.0, r.1.as_str())).collect::<Vec<_>>(), [(0, "7"), (2, "7"), (0, "3")]);
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
    // Exports may have blanks, and two names may become one: they are told apart by a number.
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
    ] {
        let mut source = open_bytes(log.as_bytes(), "t", &options(Some("nbdkit-log"))).unwrap();
        let found: Vec<String> = round(&mut *source, format, name).0.into_iter().map(|r| r.1).collect();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn unknown_targets_are_refused() {
    assert_eq!(WriteFormat::parse("msr").unwrap(), WriteFormat::Msr);
    assert_eq!(
        WriteFormat::parse("parquet").unwrap_err().to_string(),
        "--to: 'parquet' cannot be written; expected one of fio-iolog, fio-iolog-v2, fio-iolog-v3, msr, mqsim"
    );
}
