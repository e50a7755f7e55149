use super::*;
use floatgate_base::Rng;
use std::path::Path;

const VERSION: u32 = 7;
type State = (u64, String, Vec<(u32, i64)>);

fn state() -> State {
    (3, "name".into(), (0..50).map(|i| (i, -i64::from(i))).collect())
}

fn words(n: u32) -> Vec<u32> {
    let mut rng = Rng::new(1, "words");
    (0..n).map(|_| rng.below(1 << 25) as u32).collect()
}

fn written(words: &[u32]) -> (Vec<u8>, String) {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, Kind::Drive, VERSION).unwrap();
    writer.state("state", &state()).unwrap();
    writer.words("map", words.iter().copied()).unwrap();
    writer.long_words("bits", &[1, 2, u64::MAX]).unwrap();
    let hash = writer.finish().unwrap();
    (bytes, hash.to_hex().to_string())
}

fn read(bytes: &[u8], n: usize) -> floatgate_base::Result<(State, Vec<u32>, String)> {
    let mut reader = Reader::new("f.snapshot", bytes, Kind::Drive, VERSION)?;
    let state = reader.state("state")?;
    let (mut words, mut bits) = (vec![0; n], [0; 3]);
    reader.words("map", &mut words)?;
    reader.long_words("bits", &mut bits)?;
    assert_eq!(bits, [1, 2, u64::MAX]);
    Ok((state, words, reader.finish()?))
}

#[test]
fn what_is_written_is_read() {
    for n in [0, 1, 1000, (CHUNK / 4) as u32, (CHUNK / 4) as u32 * 2 + 5] {
        let words = words(n);
        let (bytes, hash) = written(&words);
        assert_eq!(read(&bytes, n as usize).unwrap(), (state(), words, hash));
    }
}

#[test]
fn any_flipped_byte_and_any_cut_is_an_error() {
    let (bytes, _) = written(&words(300));
    for at in 0..bytes.len() {
        for bits in [1u8, 0x80, 0xff] {
            let mut bad = bytes.clone();
            bad[at] ^= bits;
            assert!(read(&bad, 300).is_err(), "byte {at} ^ {bits:#x} went unseen");
        }
        assert!(read(&bytes[..at], 300).is_err(), "cut at {at}");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert!(read(&longer, 300).unwrap_err().to_string().contains("something follows its end"));
}

#[test]
fn random_bytes_behind_an_honest_head_are_an_error() {
    let (bytes, _) = written(&words(300));
    for seed in 0..2000 {
        let mut rng = Rng::new(seed, "garbage");
        let mut bad = bytes[..15 + rng.below(bytes.len() as u64 - 15) as usize].to_vec();
        (0..rng.below(200)).for_each(|_| bad.push(rng.below(256) as u8));
        assert!(read(&bad, 300).is_err(), "seed {seed}");
    }
}

#[test]
fn other_lengths_sections_kinds_and_versions_are_named() {
    let (bytes, _) = written(&words(300));
    let says = |result: floatgate_base::Result<(State, Vec<u32>, String)>, what: &str| {
        let error = result.unwrap_err();
        assert_eq!(error.status(), 2);
        assert!(error.to_string().contains(what), "{error}");
    };
    says(read(&bytes, 299), "section 'map' has another length");
    says(read(&bytes, 301), "section 'map' has another length");
    says(read(b"# a TOML file\n", 300), "is not a snapshot");
    says(read(b"", 300), "is not a snapshot");
    says(read(&bytes[..200], 300), "cut off");
    let open =
        |kind, version| Reader::new("f", &bytes[..], kind, version).map(|_| (state(), vec![], String::new()));
    says(open(Kind::Run, VERSION + 1), "holds a drive");
    says(open(Kind::Run, VERSION), "holds a drive (--save-drive); expected an interrupted run");
    says(open(Kind::Drive, VERSION + 1), "version 1.7; expected version 1.8");
    let mut reader = Reader::new("f", &bytes[..], Kind::Drive, VERSION).unwrap();
    assert!(reader.state::<State>("other").unwrap_err().to_string().contains("section 'other' is missing"));
    let mut reader = Reader::new("f", &bytes[..], Kind::Drive, VERSION).unwrap();
    assert!(reader.state::<(u64, String)>("state").is_err(), "a part of the state is not all of it");
}

#[test]
fn a_file_is_replaced_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.snapshot");
    let write = |value: u64| replace_file(&path, Kind::Drive, VERSION, |w| w.state("state", &value));
    let value =
        || Reader::open(path.to_str().unwrap(), Kind::Drive, VERSION).unwrap().state::<u64>("state").unwrap();
    write(1).unwrap();
    assert_eq!(value(), 1);
    let failed = replace_file(&path, Kind::Drive, VERSION, |w| {
        w.state("state", &2u64)?;
        Err(std::io::Error::other("disk full"))
    });
    assert!(failed.unwrap_err().to_string().contains("disk full"));
    assert_eq!(value(), 1);
    write(3).unwrap();
    assert_eq!(value(), 3);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "a temporary file is left");
    let says = |path: &Path, what: &str| {
        let error = replace_file(path, Kind::Drive, VERSION, |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains(what), "{error}");
    };
    says(folder.path(), "is a directory");
    says(&folder.path().join("none/b"), "cannot be written");
    let open = |path: &str| Reader::open(path, Kind::Drive, VERSION).map(|_| ()).unwrap_err().to_string();
    assert!(open(folder.path().to_str().unwrap()).contains("is a directory"));
    assert!(open("/none/x").contains("no such file"));
}
