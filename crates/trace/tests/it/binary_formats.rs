//! The binary formats by records built here: the meaning of each field, requests and other records, errors.

use crate::common::{Folder, Row, open_bytes, options, refusal, rows_of};
use floatgate_base::Op::{self, Read, Write};
use floatgate_base::RequestBatch;
use floatgate_trace::{OpenOptions, open};

fn row(time_ns: i64, device: &str, op: Op, offset: u64, bytes: u64) -> Row {
    (time_ns, device.to_owned(), op, offset, bytes)
}

fn read(format: &str, content: &[u8]) -> (Vec<Row>, u64) {
    let mut source = open_bytes(content, "t", &options(Some(format))).unwrap();
    let rows = rows_of(&mut *source, 2).unwrap();
    (rows, source.summary().other_records)
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let digit = |b: u8| char::from(b).to_digit(16).unwrap() as u8;
    digits.chunks(2).map(|d| digit(d[0]) << 4 | digit(d[1])).collect()
}

/// Three real records of a CloudPhysics trace.
const VSCSI_V1: &str = "f4000080 00020000 01000000 2a00 0001 091a8f0200000000 22cf82be1f050000
    61000080 00020000 01000000 2a00 0001 0a1a8f0200000000 f18286be1f050000
    e8000080 00020000 01000000 2800 0001 0b1a8f0200000000 c48e88be1f050000";

/// Version 2, constructed from the schema.
fn vscsi_v2(records: &[(u16, u32, u64, u64)]) -> Vec<u8> {
    let record = |&(command, bytes, sector, micros): &(u16, u32, u64, u64)| {
        [
            &command.to_le_bytes()[..],
            &0x0200u16.to_le_bytes(),
            &7u32.to_le_bytes(),
            &bytes.to_le_bytes(),
            &1u32.to_le_bytes(),
            &sector.to_le_bytes(),
            &micros.to_le_bytes(),
            &99u64.to_le_bytes(),
        ]
        .concat()
    };
    records.iter().flat_map(record).collect()
}

#[test]
fn vscsi() {
    let v1 = hex(VSCSI_V1);
    let expected = vec![
        row(0, "0", Write, 42_932_745 * 512, 512),
        row(242_639_000, "0", Write, 42_932_746 * 512, 512),
        row(376_738_000, "0", Read, 42_932_747 * 512, 512),
    ];
    assert_eq!(read("vscsi", &v1), (expected, 0));
    let v2 = vscsi_v2(&[(0x2a, 4096, 8, 5), (0x88, 512, 0, 7), (0x42, 24, 0, 8), (0x2e, 512, 1, 9)]);
    let expected =
        vec![row(0, "0", Write, 4096, 4096), row(2000, "0", Read, 0, 512), row(4000, "0", Write, 512, 512)];
    assert_eq!(read("vscsi", &v2), (expected, 1));
    for (content, version) in [(&v1, 1), (&v2, 2)] {
        let source = open_bytes(content, "w01.bin", &OpenOptions::default()).unwrap();
        assert_eq!(source.format(), "vscsi");
        assert_eq!(source.assumed(), [format!("records have version {version}, as in the first record")]);
    }
}

fn oracle(records: &[(u32, u64, u32, i64)]) -> Vec<u8> {
    let record = |&(time, object, bytes, next): &(u32, u64, u32, i64)| {
        [&time.to_le_bytes()[..], &object.to_le_bytes(), &bytes.to_le_bytes(), &next.to_le_bytes()].concat()
    };
    records.iter().flat_map(record).collect()
}

#[test]
fn oracle_general() {
    let content = oracle(&[(5, 8, 4096, 2), (6, 9, 0, -1), (7, 8, 512, i64::MAX)]);
    let expected = vec![row(0, "0", Read, 4096, 4096), row(2_000_000_000, "0", Read, 4096, 512)];
    assert_eq!(read("oracle-general", &content), (expected, 1));
    let options = OpenOptions::parse(None, None, Some("page4k"), None, None).unwrap();
    let mut source = open_bytes(&content, "x.bin", &options).unwrap();
    assert_eq!(source.format(), "oracle-general");
    assert_eq!(rows_of(&mut *source, 3).unwrap()[0].3, 32_768);
    assert_eq!(
        source.assumed(),
        [
            "address in pages of 4096 bytes (--lba-unit)",
            "assumed: time in seconds, size in bytes, no operation in the file, all requests are reads"
        ]
    );
}

#[test]
fn pages_as_numbers() {
    let content = [5u32, 0, u32::MAX].map(u32::to_le_bytes).concat();
    let expected = vec![
        row(0, "0", Read, 5 * 4096, 4096),
        row(0, "0", Read, 0, 4096),
        row(0, "0", Read, 4096 * u64::from(u32::MAX), 4096),
    ];
    assert_eq!(read("pages", &content), (expected, 0));
    // Any content could be page numbers: without the extension it is not recognised.
    assert!(open_bytes(&content, "t.pages.zst", &OpenOptions::default()).is_ok());
    let text = refusal(&content, "t", &OpenOptions::default());
    assert!(text.starts_with("t@1: binary content of an unknown format; expected one of 'msr', "), "{text}");
    assert!(text.ends_with("; for page numbers of 4 bytes each: --format pages"), "{text}");
}

#[test]
fn archives_and_pointers_are_named() {
    let header = [&b"x.bin"[..], &[0; 252], b"ustar\x0000", &[0; 247]].concat();
    let tar = [header, oracle(&[(5, 8, 4096, -1); 3])].concat();
    for name in ["t.tar", "t.pages"] {
        assert_eq!(
            refusal(&tar, name, &OpenOptions::default()),
            format!("{name}: is a tar archive; unpack it first")
        );
    }
    assert_eq!(refusal(&tar, "t", &options(Some("oracle-general"))), "t: is a tar archive; unpack it first");
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    assert_eq!(
        refusal(pointer, "t.csv", &OpenOptions::default()),
        "t.csv: is a Git LFS pointer, not the trace itself; fetch it with git lfs pull"
    );
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_be_bytes()).collect()
}

fn srt(header: &str, records: &[&[u32]]) -> Vec<u8> {
    let mut content = format!("$$TR_IOREC-1.3 (test)\0\n{header}\n\x0c").into_bytes();
    content.extend(records.iter().flat_map(|r| words(r)));
    content
}

const SRT_READ: &[u32] = &[56, 0x4_0001, 10, 5, 1, 2, 4096, 1056, 0x0800_0107, 4, 1, 27, 0, 1];
const SRT_WRITE: &[u32] = &[52, 0x1_0001, 11, 0, 1, 2, 512, 8, 0x0700_000f, 4, 1, 0, 0];
const SRT_SUSPECT: &[u32] = &[56, 0x3_0002, 11, 9, 1, 2, 512, 8, 0x0800_000f, 4, 1, 0, 0, 7];
const SRT_OTHER: &[u32] = &[64, 0x3_0009, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

#[test]
fn srt_records_of_every_version() {
    let content = srt("sectorsize  = 256,", &[SRT_READ, SRT_SUSPECT, SRT_OTHER, SRT_WRITE]);
    let expected = vec![row(0, "disk1", Read, 1056 * 256, 4096), row(999_995_000, "disk0", Write, 2048, 512)];
    assert_eq!(read("srt", &content), (expected, 2));
    let source = open_bytes(&content, "t", &OpenOptions::default()).unwrap();
    assert_eq!((source.format(), source.assumed().len()), ("srt", 0));
    // The sector size of the header, if present, prevails.
    for (header, bytes, assumed) in [
        ("sectorsize = 512, sectorsize = 512", 512, 0),
        ("sectorsize = 512, sectorsize = 256", 256, 1),
        ("", 256, 1),
        ("sectorsize = big", 256, 1),
    ] {
        let content = srt(header, &[SRT_READ]);
        assert_eq!(read("srt", &content).0[0].3, 1056 * bytes, "{header}");
        assert_eq!(open_bytes(&content, "t", &OpenOptions::default()).unwrap().assumed().len(), assumed);
    }
}

#[test]
fn what_is_wrong_with_a_record_is_said_by_its_byte() {
    let refused = |format: &str, content: &[u8]| refusal(content, "t", &options(Some(format)));
    let good = oracle(&[(5, 8, 4096, -1); 3]);
    let short = "the last record is cut short: 5 of 24 bytes; expected records of 24 bytes";
    assert_eq!(refused("oracle-general", &good[..53]), format!("t@48: {short}"));
    let far = oracle(&[(5, 8, 4096, -1), (5, u64::MAX, 512, -1)]);
    assert_eq!(
        refused("oracle-general", &far),
        "t@24: an address or size beyond 2^64 bytes; expected one below"
    );
    assert_eq!(
        refused("oracle-general", &oracle(&[(5, 8, 0, -1)])),
        "t: no request in 1 record; expected at least one read, write or TRIM"
    );
    let pages = "expected page numbers: one per line, or 4 bytes each";
    assert_eq!(
        refused("pages", &[1, 0, 0, 0, 1]),
        format!("t@4: the last record is cut short: 1 of 4 bytes; {pages}")
    );
    let mut v1 = hex(VSCSI_V1);
    v1[32 + 15] = 2;
    assert_eq!(refused("vscsi", &v1), "t@46: '00 02' is another version; expected that of the first record");
    let layout = "expected records of 32 (version 1) or 40 bytes (version 2)";
    assert_eq!(
        refused("vscsi", &[0; 50]),
        format!("t@0: the first record has neither version 1 nor 2; {layout}")
    );
    assert_eq!(
        refused("srt", b"$$TR_IOREC-1.3 and no end"),
        "t@25: the header has no end; expected a form feed after the header"
    );
    assert_eq!(refused("srt", b"hello"), "t@0: no SRT header; expected $$TR_IOREC-1.3 or an earlier version");
    let base = srt("", &[]).len();
    let mut record = SRT_READ.to_vec();
    record[0] = 52;
    assert_eq!(
        refused("srt", &srt("", &[SRT_READ, &record])),
        format!("t@{}: '00 00 00 34' is not the size of such a record; expected 52 to 60 bytes", base + 56)
    );
    (record[0], record[1]) = (56, 0x5_0001);
    assert_eq!(
        refused("srt", &srt("", &[&record])),
        format!(
            "t@{}: '00 05 00 01' is not a record; expected a version from 1 to 4 in the upper half",
            base + 4
        )
    );
    (record[1], record[3]) = (0x4_0001, 1_000_000);
    assert_eq!(
        refused("srt", &srt("", &[&record])),
        format!(
            "t@{}: '00 0f 42 40' is not a time stamp; expected less than 1000000 microseconds",
            base + 12
        )
    );
}

#[test]
fn bad_records_can_be_skipped_and_are_counted() {
    let skip = |format, content: &[u8]| {
        let options = OpenOptions::parse(Some(format), None, None, None, Some("skip")).unwrap();
        let mut source = open_bytes(content, "t", &options).unwrap();
        let rows = rows_of(&mut *source, 2);
        let summary = source.summary();
        (rows.map(|r| r.len()), summary.bad_lines_skipped, summary.first_bad_line)
    };
    let good = oracle(&[(5, 8, 4096, -1); 3]);
    let (rows, bad, first) = skip("oracle-general", &good[..53]);
    assert_eq!((rows.unwrap(), bad), (2, 1));
    assert_eq!(
        first.as_deref(),
        Some("t@48: the last record is cut short: 5 of 24 bytes; expected records of 24 bytes")
    );
    let far = oracle(&[(5, 8, 4096, -1), (5, u64::MAX, 512, -1), (6, 9, 512, -1)]);
    let (rows, bad, first) = skip("oracle-general", &far);
    assert_eq!((rows.unwrap(), bad), (2, 1));
    assert_eq!(first.as_deref(), Some("t@24: an address or size beyond 2^64 bytes; expected one below"));
    // In a format with record lengths, nothing after a wrong one can be trusted.
    let mut record = SRT_READ.to_vec();
    record[0] = 4;
    assert!(skip("srt", &srt("", &[SRT_READ, &record, SRT_READ])).0.is_err());
}

#[test]
fn passes_places_and_packings() {
    let folder = Folder::new("binary");
    let records: Vec<_> = (0..100_000u32).map(|i| (i, u64::from(i) * 8, 4096, -1i64)).collect();
    let content = oracle(&records);
    let plain = folder.file("t.oraclegeneral", &content);
    let packed = folder.file("t.bin.zst", &zstd::encode_all(&content[..], 3).unwrap());
    for path in [plain, packed] {
        let mut source = open(&path, &OpenOptions::default()).unwrap();
        let first = rows_of(&mut *source, 4096).unwrap();
        assert_eq!((first.len(), first[99_999].3), (100_000, 99_999 * 4096));
        assert_eq!(source.place_of(3), format!("{path}@72"));
        assert_eq!(source.place_of(99_999), format!("{path}@{}", 99_999 * 24));
        assert_eq!(source.summary().content_hash, Some(blake3::hash(&content).to_hex().to_string()));
        source.rewind().unwrap();
        assert_eq!(rows_of(&mut *source, 1000).unwrap(), first);
        // Half a pass, then again.
        source.rewind().unwrap();
        source.fill(&mut RequestBatch::default(), 70_001).unwrap();
        source.rewind().unwrap();
        assert_eq!(rows_of(&mut *source, 1000).unwrap(), first);
    }
}
