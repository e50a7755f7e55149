//! Damaged sessions of sigrok yield results or an error, never a panic.

use crate::common::{fuzz_seeds, measurement};
use floatgate_base::{Result, Rng};
use floatgate_capture::Measured;
use std::io::{Cursor, Write as _};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

fn measure(path: &Path) -> Result<Measured> {
    floatgate_capture::measure(&measurement(&[path]), &mut |_, _| Ok(()))
}

const METADATA: &str = "[global]\nsigrok version=0.5.2\n\n[device 1]\ncapturefile=logic-1\ntotal probes=2\nsamplerate=100 kHz\ntotal analog=0\nprobe1=rb0\nprobe2=D1\nunitsize=1\n";

/// Generates samples of programs of 300 to 900 us and reads of 30 to 80 us, ten microseconds apart, with programs on
/// the first pin.
fn samples(rng: &mut Rng, unit: usize) -> (Vec<u8>, u64) {
    let (mut bytes, mut programs) = (vec![3; 5 * unit], 0);
    for _ in 0..60 + rng.below(60) {
        let is_program = rng.below(4) > 0;
        let len = if is_program { 30 + rng.below(60) } else { 3 + rng.below(5) };
        programs += u64::from(is_program);
        for (level, len) in [(2, len), (3, 1 + rng.below(9))] {
            for _ in 0..len {
                bytes.push(level);
                bytes.extend(std::iter::repeat_n(0, unit - 1));
            }
        }
    }
    bytes[..5 * unit].chunks_mut(unit).for_each(|sample| sample[1..].fill(0));
    (bytes, programs)
}

fn archive(metadata: &[u8], parts: &[&[u8]], method: CompressionMethod) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(method);
    let mut add = |name: &str, bytes: &[u8]| {
        zip.start_file(name, options).unwrap();
        zip.write_all(bytes).unwrap();
    };
    add("version", b"2");
    add("metadata", metadata);
    for (number, part) in parts.iter().enumerate() {
        add(&format!("logic-1-{}", number + 1), part);
    }
    zip.finish().unwrap().into_inner()
}

fn damage(rng: &mut Rng, bytes: &mut Vec<u8>) {
    for _ in 0..1 + rng.below(4) {
        let at = rng.below(bytes.len() as u64) as usize;
        match rng.below(4) {
            0 => bytes[at] = rng.below(256) as u8,
            1 => bytes[at] ^= 1 << rng.below(8),
            2 => bytes.insert(at, b"\n=0519[\xff"[rng.below(8) as usize]),
            _ => drop(bytes.drain(at..(at + 1 + rng.below(40) as usize).min(bytes.len()))),
        }
        if bytes.is_empty() {
            bytes.push(0);
        }
    }
}

#[test]
fn whole_sessions_of_any_unit_give_exact_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.sr");
    for seed in 0..64 {
        let mut rng = Rng::new(seed, "sessions");
        let unit = 1 + rng.below(8) as usize;
        let (bytes, programs) = samples(&mut rng, unit);
        let step = (1 + rng.below(bytes.len() as u64 / unit as u64) as usize).max(50) * unit;
        let parts: Vec<&[u8]> = bytes.chunks(step).collect();
        let metadata = METADATA.replace("unitsize=1", &format!("unitsize={unit}"));
        std::fs::write(&path, archive(metadata.as_bytes(), &parts, CompressionMethod::Deflated)).unwrap();
        let measured = measure(&path).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert_eq!((measured.programs, measured.signals.len()), (programs, 1), "seed {seed}");
        assert_eq!(measured.step_us, Some(10.0));
    }
}

/// Damages bytes of the archive, and bytes of its members, which are compressed again to have valid checksums.
#[test]
fn damaged_sessions_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.sr");
    let (mut read, mut rounds) = (0, 0);
    for seed in fuzz_seeds(2000) {
        rounds += 1;
        let mut rng = Rng::new(seed, "damaged sessions");
        let (mut bytes, _) = samples(&mut rng, 1);
        let mut metadata = METADATA.as_bytes().to_vec();
        let method = [CompressionMethod::Deflated, CompressionMethod::Stored][rng.below(2) as usize];
        let place = rng.below(4);
        match place {
            0 => damage(&mut rng, &mut metadata),
            1 => damage(&mut rng, &mut bytes),
            _ => {}
        }
        let half = bytes.len() / 2;
        let mut whole = archive(&metadata, &[&bytes[..half], &bytes[half..]], method);
        match place {
            2 => damage(&mut rng, &mut whole),
            3 => whole.truncate(rng.below(whole.len() as u64) as usize),
            _ => {}
        }
        std::fs::write(&path, &whole).unwrap();
        let measured = measure(&path);
        read += usize::from(measured.is_ok());
        let message = measured.map_or_else(|e| e.to_string(), |measured| measured.programs.to_string());
        assert!(!message.is_empty() && message.len() < 4000, "seed {seed}: {message}");
    }
    // Most damage within members leaves a readable session; otherwise the test would be idle.
    assert!(read > rounds / 10, "{read} of {rounds}");
}
