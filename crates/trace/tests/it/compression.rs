//! Compressed traces: every compression, several frames in one file, long windows, and truncated or damaged files.

use crate::common::{Folder, Row, rows_of};
use floatgate_base::testing::Bound;
use floatgate_base::{RequestBatch, Result, Rng};
use floatgate_trace::{OpenOptions, open};
use std::io::{Read, Write};

fn content(lines: u64) -> Vec<u8> {
    let mut rng = Rng::new(5, "compression");
    (0..lines)
        .flat_map(|i| {
            let (offset, bytes) = (rng.below(1 << 30) * 512, 512 + rng.below(9) * 512);
            format!("{},srv,{},Write,{offset},{bytes},9\n", 1000 + i, rng.below(3)).into_bytes()
        })
        .collect()
}

fn gz(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn xz(data: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    liblzma::read::XzEncoder::new(data, 6).read_to_end(&mut packed).unwrap();
    packed
}

fn bz2(data: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn zst(data: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    // As with the command-line tool; without it damage may go undetected.
    encoder.include_checksum(true).unwrap();
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// Returns a frame whose window is larger than decoders accept by default.
fn zst_long(data: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.long_distance_matching(true).unwrap();
    encoder.window_log(30).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

type Packer = fn(&[u8]) -> Vec<u8>;
const PACKERS: [(&str, Packer); 5] = [("gz", gz), ("xz", xz), ("zst", zst), ("zst", zst_long), ("bz2", bz2)];

/// Reads a trace, also decompressed ahead, which makes no difference.
fn read(path: &str) -> Result<(Vec<Row>, Option<String>)> {
    let read_with = |decompress_ahead| {
        let mut source = open(path, &OpenOptions::default().decompressing_ahead(decompress_ahead))?;
        let rows = rows_of(&mut *source, 1000)?;
        source.rewind()?;
        assert_eq!(rows_of(&mut *source, 999)?, rows);
        Ok((rows, source.summary().content_hash))
    };
    let result = read_with(false);
    let text = |result: &Result<_>| result.as_ref().map_err(ToString::to_string).cloned();
    assert_eq!(text(&read_with(true)), text(&result));
    result
}

fn refusal(path: &str) -> String {
    match read(path) {
        Ok(_) => panic!("{path} should be refused"),
        Err(e) => {
            assert_eq!(e.status(), 2);
            e.to_string()
        }
    }
}

#[test]
fn every_packing_reads_the_same() {
    let folder = Folder::new("packings");
    let data = content(20_000);
    let plain = read(&folder.file("t.csv", &data)).unwrap();
    assert_eq!(plain.0.len(), 20_000);
    assert_eq!(plain.1, Some(blake3::hash(&data).to_hex().to_string()));
    // The first bytes decide, not the extension.
    for (suffix, pack) in PACKERS {
        assert!(read(&folder.file("t.csv", &pack(&data))).unwrap() == plain, "{suffix}");
        assert!(read(&folder.file(&format!("t.csv.{suffix}"), &pack(&data))).unwrap() == plain, "{suffix}");
    }
}

#[test]
fn several_frames_are_read_to_the_end() {
    let folder = Folder::new("frames");
    let data = content(20_000);
    let plain = read(&folder.file("t.csv", &data)).unwrap();
    for (suffix, pack) in PACKERS {
        // The second frame begins in the middle of a line; an empty one follows.
        let (head, tail) = data.split_at(data.len() / 2 + 7);
        let packed = [pack(head), pack(tail), pack(b"")].concat();
        assert!(read(&folder.file("t.csv", &packed)).unwrap() == plain, "{suffix}");
    }
    // zstd may begin with a frame without data.
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4][..], &zst(&data)].concat();
    assert!(read(&folder.file("t.csv", &skippable)).unwrap() == plain);
}

#[test]
fn empty_content_is_an_empty_file() {
    let folder = Folder::new("empty");
    for (suffix, pack) in PACKERS {
        let path = folder.file(&format!("t.csv.{suffix}"), &pack(b""));
        assert_eq!(refusal(&path), format!("{path}: the file is empty; expected a trace"));
    }
}

#[test]
fn cut_files_are_refused_wherever_they_are_cut() {
    let folder = Folder::new("cut");
    let data = content(30_000);
    for (suffix, pack) in PACKERS {
        let packed = pack(&data);
        let name = ["gzip", "xz", "zstd", "bzip2"].into_iter().find(|n| n.starts_with(&suffix[..1])).unwrap();
        for cut in [12, packed.len() / 3, packed.len() - 9, packed.len() - 1] {
            let path = folder.file(&format!("t.csv.{suffix}"), &packed[..cut]);
            let text = refusal(&path);
            let start = format!("{path}@{cut}: the {name} stream is cut short after ");
            let end = format!(" decompressed bytes; expected a complete {name} file");
            assert!(text.starts_with(&start) && text.ends_with(&end), "{text}");
        }
    }
}

#[test]
fn damaged_files_are_refused() {
    let folder = Folder::new("damaged");
    let data = content(30_000);
    for (suffix, pack) in PACKERS {
        let mut packed = pack(&data);
        let middle = packed.len() / 2;
        for byte in &mut packed[middle..middle + 64] {
            *byte ^= 0x5a;
        }
        let path = folder.file(&format!("t.csv.{suffix}"), &packed);
        // Data decompressed before a checksum fails are rejected as lines.
        let text = refusal(&path);
        assert!(text.starts_with(&format!("{path}@")) || text.starts_with(&format!("{path}:")), "{text}");
    }
}

#[test]
fn what_was_read_before_the_damage_is_there() {
    let folder = Folder::new("before");
    let packed = zst(&content(200_000));
    let path = folder.file("t.csv.zst", &packed[..packed.len() - 100]);
    let mut source = open(&path, &OpenOptions::default()).unwrap();
    let mut batch = RequestBatch::default();
    source.fill(&mut batch, 1000).unwrap();
    assert_eq!(batch.len(), 1000);
    assert!(source.fill(&mut batch, 1_000_000).is_err());
}

/// Returns the requests before an error, and the error.
fn until_error(path: &str, decompress_ahead: bool) -> (Vec<u64>, String) {
    let mut offsets = Vec::new();
    let mut batch = RequestBatch::default();
    let options = OpenOptions::default().decompressing_ahead(decompress_ahead);
    let mut read = || {
        let mut source = open(path, &options)?;
        let mut bound = Bound::new(100_000);
        loop {
            bound.step();
            batch.clear();
            source.fill(&mut batch, 500)?;
            offsets.extend(&batch.offset);
            if batch.is_empty() {
                return Ok(());
            }
        }
    };
    let result: Result<()> = read();
    (offsets, result.map_or_else(|error| error.to_string(), |()| String::new()))
}

#[test]
fn errors_of_damaged_files_do_not_depend_on_the_thread_that_decompresses() {
    let folder = Folder::new("ahead");
    let seed = std::env::var("FLOATGATE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut rng = Rng::new(seed, "damage");
    let data = content(40_000);
    for (name, pack) in PACKERS {
        let whole = pack(&data);
        for case in 0..30 {
            let mut packed = whole.clone();
            for _ in 0..rng.below(3) {
                let at = rng.below(packed.len() as u64) as usize;
                packed[at] ^= 1 << rng.below(8);
            }
            packed.truncate(packed.len() - rng.below(2) as usize * rng.below(packed.len() as u64) as usize);
            let path = folder.file("t.csv", &packed);
            let (plain, ahead) = (until_error(&path, false), until_error(&path, true));
            assert!(plain == ahead, "{name} {case}, FLOATGATE_SEED={seed}: {} {}", plain.1, ahead.1);
        }
    }
}
