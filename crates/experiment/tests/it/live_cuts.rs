//! Power cuts of a live drive, simulated: flushed data and counts are never lost, whatever else is.

use crate::common::{Folder, seeds_or_one};
use floatgate_base::{Op, Rng};
use floatgate_experiment::live::{load_live, open};
use floatgate_live::journal::Limits;
use floatgate_live::{Drive, Onlookers, Request, Store};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const CASES: u64 = 60;
const BLOCK: u64 = 4096;
const BLOCKS: u64 = 256;

const TOML: &str = "[drive.geometry]\nblocks_per_plane = 24\npages_per_block = 16\npage_bytes = 4096\nchannels = 1\n\
                    [ftl]\nspare_factor = 0.25\n";

/// A drive with its data, and what a host knows of them.
struct Host {
    folder: PathBuf,
    drive: Drive,
    store: Store,
    /// Contents that each block may have after a cut, by their marks: that of the last flush, and all written since.
    may_be: BTreeMap<u64, Vec<u8>>,
    /// Contents of the block now.
    is: BTreeMap<u64, u8>,
    /// Bytes of the journal that are on disk, and the records in them.
    kept: (u64, u64),
    now_ns: u64,
}

fn opened(folder: &Path, seed: u64) -> (Drive, Store) {
    let resolved = load_live(Some(TOML), "test.toml", &[], folder).unwrap();
    // Parts are long: their rotation is tested elsewhere.
    let drive = open(&resolved, folder, Limits::default(), Onlookers::default()).unwrap();
    let store = Store::open(&folder.join("data.img"), drive.logical_bytes(), Some(seed)).unwrap();
    (drive, store)
}

impl Host {
    fn write(&mut self, rng: &mut Rng, mark: u8) {
        let (first, blocks) = (rng.below(BLOCKS - 3), 1 + rng.below(3));
        let zeros = mark == 0;
        let (offset, bytes) = (first * BLOCK, blocks * BLOCK);
        self.now_ns += rng.below(1_000_000);
        let op = if zeros { Op::Trim } else { Op::Write };
        let request = Request { op, offset, bytes: bytes as u32, flags: 0, stream: 0 };
        self.drive.take(request, self.now_ns).unwrap();
        match zeros {
            true => self.store.zero(offset, bytes).unwrap(),
            false => self.store.write(&vec![mark; bytes as usize], offset).unwrap(),
        }
        for block in first..first + blocks {
            self.may_be.entry(block).or_insert_with(|| vec![0]).push(mark);
            self.is.insert(block, mark);
        }
    }

    fn flush(&mut self) {
        self.store.flush().unwrap();
        self.drive.flush(self.now_ns).unwrap();
        for (block, marks) in &mut self.may_be {
            *marks = vec![self.is[block]];
        }
        self.keep();
    }

    fn save(&mut self) {
        self.drive.save().unwrap();
        self.keep();
    }

    /// Notes that the journal is on disk.
    fn keep(&mut self) {
        let length = std::fs::metadata(self.folder.join("journal")).unwrap().len();
        self.kept = (length, self.drive.position().records);
    }

    /// Cuts the power: the journal beyond the last flush may be lost in any part, or be damaged.
    fn cut(self, rng: &mut Rng) -> Self {
        let Self { folder, mut drive, store, may_be, mut is, kept, now_ns } = self;
        drive.hand_over().unwrap();
        drop(drive);
        store.cut_power();
        drop(store);
        let path = folder.join("journal");
        let mut journal = std::fs::read(&path).unwrap();
        let left = kept.0 + rng.below(journal.len() as u64 - kept.0 + 1);
        journal.truncate(left as usize);
        if left > kept.0 && rng.below(3) == 0 {
            let at = kept.0 + rng.below(left - kept.0);
            journal[at as usize] ^= 1 + rng.below(255) as u8;
        }
        std::fs::write(&path, journal).unwrap();
        let (drive, store) = opened(&folder, rng.next_u64());
        assert!(drive.position().records >= kept.1, "counts of flushed requests are lost");
        let counted = drive.glance().requests;
        assert!(counted <= drive.position().records, "counters are beyond the journal");
        let mut data = vec![0; BLOCK as usize];
        for (&block, marks) in &may_be {
            store.read(&mut data, block * BLOCK).unwrap();
            let mark = data[0];
            assert!(data.iter().all(|&byte| byte == mark), "block {block} is torn");
            assert!(marks.contains(&mark), "block {block} has {mark}, and may have {marks:?}");
            is.insert(block, mark);
        }
        let may_be = is.iter().map(|(&block, &mark)| (block, vec![mark])).collect();
        let length = std::fs::metadata(&path).unwrap().len();
        let kept = (length, drive.position().records);
        Self { folder, drive, store, may_be, is, kept, now_ns }
    }
}

/// `FLOATGATE_CASES=10000` is the run before a release.
#[test]
fn a_power_cut_loses_nothing_that_was_flushed() {
    for seed in seeds_or_one(CASES) {
        let mut rng = Rng::new(seed, "cut");
        let temporary = Folder::new("cut");
        let folder = PathBuf::from(temporary.path());
        let (drive, store) = opened(&folder, seed);
        let (may_be, is) = (BTreeMap::new(), BTreeMap::new());
        let mut host = Host { folder, drive, store, may_be, is, kept: (0, 0), now_ns: 1 };
        host.flush();
        for _ in 0..1 + rng.below(3) {
            for _ in 0..rng.below(120) {
                match rng.below(12) {
                    0 => host.flush(),
                    1 => host.save(),
                    2 => host.write(&mut rng, 0),
                    _ => {
                        let mark = 1 + rng.below(250) as u8;
                        host.write(&mut rng, mark);
                    }
                }
            }
            host = host.cut(&mut rng);
        }
    }
}
